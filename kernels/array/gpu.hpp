#pragma once
// The GPU behind arrays and launches. Every build defines these functions once (kernels/CMakeLists.txt): for CUDA
// (kernels/cuda, compiled by nvcc), for the emulated GPU (the same sources, kernels/emulation), or for no GPU, where they
// throw (kernels/cuda/absent.cpp). Nothing else differs between such builds.

#include <cstddef>
#include <memory>

namespace supple {

void* allocate_cuda(int device, std::size_t bytes);
void release_cuda(int device, void* data) noexcept;
void copy_cuda(int device, void* target, const void* source, std::size_t bytes);
void synchronize_cuda(int device);
std::size_t free_cuda(int device);

void* allocate_pinned_cuda(int device, std::size_t bytes);
void release_pinned_cuda(int device, void* data) noexcept;
void copy_queued_cuda(int device, void* target, const void* source, std::size_t bytes);
std::shared_ptr<void> make_event_cuda(int device);
void record_event_cuda(int device, void* event);
void wait_event_cuda(int device, void* event);
double event_seconds_cuda(int device, void* from, void* to);

// Instantiated for every op in kernels/cuda/*.cu.
template <class Op>
void launch_cuda(int device, int n, const Op& op);
template <class Op>
void launch_teams_cuda(int device, int n, int teams, const Op& op);
int cuda_team_count(int device);

}  // namespace supple

// What stands for the GPU in a build without CUDA: none is found, and asking for one is an error.

#include "kernels/cuda/absent.hpp"
#include "kernels/array/device.hpp"
#include "kernels/array/gpu.hpp"

namespace supple {

void no_cuda() {
  throw CapabilityError("no CUDA code in this build", "configure with -DSUPPLE_CUDA=ON, or use --device cpu");
}

int cuda_device_count() {
  return 0;
}
std::string cuda_absence_reason() {
  return "this build has no CUDA code (configured with SUPPLE_CUDA=OFF or without nvcc)";
}

void* allocate_cuda(int, std::size_t) {
  no_cuda();
}
std::size_t free_cuda(int) {
  no_cuda();
}
void* allocate_pinned_cuda(int, std::size_t) {
  no_cuda();
}
std::shared_ptr<void> make_event_cuda(int) {
  no_cuda();
}
int cuda_team_count(int) {
  no_cuda();
}
// Without an array on a GPU nothing can ask for these.
void release_cuda(int, void*) noexcept {}
void copy_cuda(int, void*, const void*, std::size_t) {}
void synchronize_cuda(int) {}
void release_pinned_cuda(int, void*) noexcept {}
void copy_queued_cuda(int, void*, const void*, std::size_t) {}
void record_event_cuda(int, void*) {}
void wait_event_cuda(int, void*) {}
double event_seconds_cuda(int, void*, void*) {
  return 0;
}

}  // namespace supple

#pragma once
// Definitions of launch_cuda and launch_teams_cuda (kernels/array/launch.hpp): one thread per index in blocks of 256;
// one block of 64 threads per team. Only the .cu files of this folder include it, and each ends in a list of explicit
// instantiations, so an op without one is a link error. nvcc compiles it, or a host compiler for the emulated GPU
// (SUPPLE_EMULATED_CUDA) or for no GPU at all (SUPPLE_NO_CUDA).

#ifdef SUPPLE_NO_CUDA

#include "kernels/array/launch.hpp"
#include "kernels/cuda/absent.hpp"

namespace supple {

template <class Op>
void launch_cuda(int, int, const Op&) {
  no_cuda();
}
template <class Op>
void launch_teams_cuda(int, int, int, const Op&) {
  no_cuda();
}

}  // namespace supple

#else

#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/array/launch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/cuda/check.hpp"

// Starts a kernel: grid blocks of `block` threads, which may meet at barriers (`together`) or do not (`apart`).
#ifdef SUPPLE_EMULATED_CUDA
#define SUPPLE_START(threads, kernel, grid, block, ...) \
  ::supple::emulation::start(::supple::emulation::Threads::threads, &kernel, grid, block, __VA_ARGS__)
#else
#define SUPPLE_START(threads, kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#endif

namespace supple {

inline constexpr unsigned threads_per_block = 256;

template <class Op>
__global__ void __launch_bounds__(threads_per_block) run_op(unsigned n, Op op) {
  // Unsigned: the last block's indices may pass the largest int.
  const unsigned i = blockIdx.x * threads_per_block + threadIdx.x;
  if (i < n) op(static_cast<int>(i));
}

// Queues the work on the device's default stream and returns: launches of one device run in the order of their calls.
// An error of the work itself (a bad address) shows at the next call that waits for the device.
template <class Op>
void launch_cuda(int device, int n, const Op& op) {
  static_assert(std::is_trivially_copyable_v<Op>, "an op travels to the device byte by byte");
  SUPPLE_EXPECT(n >= 0);
  if (n == 0) return;
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  const unsigned count = static_cast<unsigned>(n);
  SUPPLE_START(apart, run_op<Op>, (count + threads_per_block - 1) / threads_per_block, threads_per_block, count, op);
  check_cuda(cudaGetLastError(), "starting a CUDA kernel");
}

// A team of 64 shares the 45 blocks of 4 x 4 of a 34 x 34 stiffness; several teams fill a multiprocessor.
inline constexpr unsigned threads_per_team = 64;

template <class Op>
__global__ void __launch_bounds__(threads_per_team) run_team_op(unsigned n, Op op) {
  BlockTeam team;
  if constexpr (requires { Op::block_memory; }) {
    alignas(16) __shared__ std::byte memory[Op::block_memory];
    team.memory = memory;
  }
  // Unsigned: the index after the last may pass the largest int.
  for (unsigned i = blockIdx.x; i < n; i += gridDim.x) op(team, static_cast<int>(blockIdx.x), static_cast<int>(i));
}

template <class Op>
void launch_teams_cuda(int device, int n, int teams, const Op& op) {
  static_assert(std::is_trivially_copyable_v<Op>, "an op travels to the device byte by byte");
  SUPPLE_EXPECT(n >= 0 && (teams > 0 || n == 0));
  if (n == 0) return;
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  SUPPLE_START(together, run_team_op<Op>, static_cast<unsigned>(teams < n ? teams : n), threads_per_team,
               static_cast<unsigned>(n), op);
  check_cuda(cudaGetLastError(), "starting a CUDA kernel");
}

}  // namespace supple

#endif

// One instantiation, for the lists in the .cu files.
#define SUPPLE_LAUNCH(...) template void launch_cuda<__VA_ARGS__>(int, int, const __VA_ARGS__&)
#define SUPPLE_LAUNCH_TEAMS(...) template void launch_teams_cuda<__VA_ARGS__>(int, int, int, const __VA_ARGS__&)

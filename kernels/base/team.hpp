#pragma once
// A team of threads that works on one robot together. Team operations divide their loops by rank and size and separate
// phases by sync(), a barrier that also makes the members' writes visible. On the CPU a team has one member and
// everything runs as written; on a GPU it is a thread block. Tests use teams of CPU threads.

#include <cstddef>

#include "kernels/base/macros.hpp"

namespace supple {

struct SingleTeam {
  SUPPLE_INLINE constexpr int rank() const { return 0; }
  SUPPLE_INLINE constexpr int size() const { return 1; }
  SUPPLE_INLINE void sync() const {}
};

#ifdef __CUDACC__
// The host pass of nvcc compiles team operations too, and never calls them.
struct BlockTeam {
  // Memory that the threads of the block share, Op::block_memory bytes aligned to 16; null where the op asks for none.
  std::byte* memory = nullptr;
#ifdef __CUDA_ARCH__
  __device__ int rank() const {
    return static_cast<int>(threadIdx.x);
  }
  __device__ int size() const {
    return static_cast<int>(blockDim.x);
  }
  __device__ void sync() const {
    __syncthreads();
  }
#else
  int rank() const {
    return 0;
  }
  int size() const {
    return 1;
  }
  void sync() const {}
#endif
};
#endif

}  // namespace supple

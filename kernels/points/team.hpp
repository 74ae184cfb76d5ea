#pragma once
// A team of threads that works on one robot together. On the CPU it is a team of one (everything runs as written, the
// barrier is empty); on a GPU a thread block. Team operations divide their loops by rank and size and separate phases
// by sync().

#include "kernels/base/macros.hpp"

namespace supple {

struct SingleTeam {
  SUPPLE_INLINE constexpr int rank() const { return 0; }
  SUPPLE_INLINE constexpr int size() const { return 1; }
  SUPPLE_INLINE void sync() const {}
};

#ifdef __CUDACC__
struct BlockTeam {
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ void sync() const { __syncthreads(); }
};
#endif

// SIMD lanes of a tile row: on the CPU 64-byte vectors, elsewhere the scalar itself.
template <class S>
struct Lanes {
#if defined(__CUDA_ARCH__)
  using type = S;
  static constexpr int width = 1;
#else
  typedef S type __attribute__((vector_size(64), aligned(sizeof(S)), may_alias));
  static constexpr int width = 64 / static_cast<int>(sizeof(S));
#endif
};

// Sum of the lanes in a fixed tree order, the same for every instruction set.
template <class S>
SUPPLE_INLINE S lane_sum(const typename Lanes<S>::type& v) {
#if defined(__CUDA_ARCH__)
  return v;
#else
  constexpr int width = Lanes<S>::width;
  S part[width];
  for (int i = 0; i < width; ++i) part[i] = v[i];
  for (int step = width / 2; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) part[i] += part[i + step];
  return part[0];
#endif
}

}  // namespace supple

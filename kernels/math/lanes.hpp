#pragma once
// SIMD lanes of a tile row: whole registers where a team member is a CPU thread; a GPU thread is one lane itself.

#include <type_traits>

#include "kernels/base/team.hpp"

namespace supple {

template <class S, class Team>
struct Lanes {
  typedef S type __attribute__((vector_size(SUPPLE_SIMD_BYTES), aligned(sizeof(S)), may_alias));
  static constexpr int width = SUPPLE_SIMD_BYTES / static_cast<int>(sizeof(S));
};
#ifdef __CUDACC__
// nvcc knows no vector types: in a .cu, operations on lanes are for BlockTeam only.
template <class S>
struct Lanes<S, BlockTeam> {
  using type = S;
  static constexpr int width = 1;
};
#endif

// Sum of the lanes in a fixed tree order. By value: deduced behind a reference, V
// would ask for the alignment of a whole vector, which Lanes' type does not have.
template <class S, class V>
SUPPLE_INLINE S lane_sum(V v) {
  if constexpr (std::is_same_v<S, V>) {
    return v;
  } else {
    constexpr int width = static_cast<int>(sizeof(V) / sizeof(S));
    S part[width];
    for (int i = 0; i < width; ++i) part[i] = v[i];
    for (int step = width / 2; step > 0; step /= 2)
      for (int i = 0; i < step; ++i) part[i] += part[i + step];
    return part[0];
  }
}

}  // namespace supple

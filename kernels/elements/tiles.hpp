#pragma once
// Layout of per-point data. Points go in tiles of 32 (SIMD across points on a CPU, coalesced on a GPU); inside a tile
// data are component-major: entry (point p, component c) of n components lies at ((p / 32) n + c) 32 + p % 32. The last
// tile is padded with points of weight zero.
//
// The reduced gradient operator G (9 rows per point, r columns: F_p = F_p0 + G_p alpha) is stored per tile as a
// column-major matrix of 288 rows (component, lane) and r columns, so a tile of F is one matrix-vector product and a
// tile of B robots one matrix product.

#include <cstddef>

#include "kernels/base/macros.hpp"

namespace supple {

inline constexpr int tile_size = 32;
inline constexpr int gradient_components = 9;
inline constexpr int tile_rows = gradient_components * tile_size;  // 288

SUPPLE_INLINE constexpr int tile_count(int points) {
  return (points + tile_size - 1) / tile_size;
}
SUPPLE_INLINE constexpr int padded(int points) {
  return tile_count(points) * tile_size;
}

SUPPLE_INLINE constexpr std::size_t tile_index(int point, int component, int components) {
  return (static_cast<std::size_t>(point / tile_size) * static_cast<std::size_t>(components) +
          static_cast<std::size_t>(component)) *
             tile_size +
         static_cast<std::size_t>(point % tile_size);
}

}  // namespace supple

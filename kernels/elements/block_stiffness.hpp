#pragma once
// The projected stiffness K += X Y^T of a tile (reduced_tile.hpp) by one thread block of a GPU. The block computes the rows
// of a few neighbouring points, keeps them in the memory that its threads share, as [kind of row][point][mode], and adds
// their products: every thread owns squares of 4 x 4 entries, so threads read neighbouring modes of one row.

#include <cstddef>

#include "kernels/elements/reduced_tile.hpp"

namespace supple {

enum class TangentRows { four, nine };
SUPPLE_INLINE constexpr int row_kinds(TangentRows rows) {
  return rows == TangentRows::four ? 4 : 9;
}

// Eight blocks find room on a multiprocessor of 228 kB, four on one of 100 kB.
inline constexpr std::size_t stage_bytes = 24 * 1024;
inline constexpr int block_square = 4;  // entries of K a side

// Rows X and Y of `points` points at once. Where even four do not fit the memory that threads share, the stage lies in
// the team's scratch, eight at once.
struct RowStage {
  int points;        // 4, 8, 16 or 32
  int stride;        // modes, padded: threads that write neighbouring points use different banks
  std::size_t size;  // scalars of X; Y has as many
  bool in_scratch;
};
template <class S>
SUPPLE_INLINE constexpr std::size_t stage_room() {
  return stage_bytes / (2 * sizeof(S));
}
template <class S>
SUPPLE_INLINE constexpr RowStage row_stage(TangentRows rows, int r) {
  const int fours = (r + 3) / 4 * 4, stride = fours + (20 - fours % 16) % 16;
  const std::size_t point = static_cast<std::size_t>(row_kinds(rows)) * static_cast<std::size_t>(stride);
  int points = tile_size;
  while (points > 4 && static_cast<std::size_t>(points) * point > stage_room<S>()) points /= 2;
  const bool in_scratch = static_cast<std::size_t>(points) * point > stage_room<S>();
  if (in_scratch) points = 8;
  return {points, stride, static_cast<std::size_t>(points) * point, in_scratch};
}

// Sums of the squares of the lower triangle, entry e of square s at [e][s].
SUPPLE_INLINE constexpr int block_squares(int r) {
  const int side = (r + block_square - 1) / block_square;
  return side * (side + 1) / 2;
}
SUPPLE_INLINE constexpr std::size_t block_sums(int r) {
  return static_cast<std::size_t>(block_squares(r)) * block_square * block_square;
}

// Scalars of a block's scratch.
template <class S>
SUPPLE_INLINE constexpr std::size_t block_scratch(TangentRows rows, int r) {
  const RowStage stage = row_stage<S>(rows, r);
  return block_sums(r) + (stage.in_scratch ? 2 * stage.size : 0);
}

// Rows of the points from `first`; the size of the team is a multiple of the stage's points.
template <TangentRows kind, class S, class Team>
SUPPLE_HD inline void stage_rows(Team team, int r, const S* G, const S* tangent, int first, const RowStage& stage, S* X,
                                 S* Y) {
  constexpr int kinds = row_kinds(kind);
  const int point = team.rank() % stage.points, l = first + point;
  for (int j = team.rank() / stage.points; j < r; j += team.size() / stage.points) {
    const S* g = G + static_cast<std::size_t>(j) * tile_rows + l;
    S x[kinds], y[kinds];
    if constexpr (kind == TangentRows::four) {
      const ModeRows<Team, S> row = four_rows<Team>(g, tangent + l), times = times_law(row, tangent + l);
      x[0] = row.t, x[1] = row.w0, x[2] = row.w1, x[3] = row.w2;
      y[0] = times.t, y[1] = times.w0, y[2] = times.w1, y[3] = times.w2;
    } else {
      tangent_rows_at<Team>(g, tangent + l, x, y);
    }
    SUPPLE_UNROLL for (int k = 0; k < kinds; ++k) {
      const int at = (k * stage.points + point) * stage.stride + j;
      X[at] = x[k];
      Y[at] = y[k];
    }
  }
  team.sync();
}

// index -> (row block, column block) of the lower triangle.
SUPPLE_INLINE void triangle_block(int index, int& bi, int& bj) {
  bi = 0;
  while ((bi + 1) * (bi + 2) / 2 <= index) ++bi;
  bj = index - bi * (bi + 1) / 2;
}

// sums += X Y^T of the staged rows.
template <class S, class Team>
SUPPLE_HD inline void add_staged_rows(Team team, int r, int rows, int stride, const S* X, const S* Y, S* sums) {
  constexpr int n = block_square;
  struct alignas(16) Modes {
    S value[n];
  };
  const int squares = block_squares(r);
  for (int index = team.rank(); index < squares; index += team.size()) {
    int bi, bj;
    triangle_block(index, bi, bj);
    S s[n][n];
    SUPPLE_UNROLL for (int e = 0; e < n * n; ++e) s[e / n][e % n] = sums[e * squares + index];
    for (int l = 0; l < rows; ++l) {
      const Modes x = *reinterpret_cast<const Modes*>(X + l * stride + n * bi),
                  y = *reinterpret_cast<const Modes*>(Y + l * stride + n * bj);
      SUPPLE_UNROLL for (int a = 0; a < n; ++a) SUPPLE_UNROLL for (int b = 0; b < n; ++b) s[a][b] +=
          x.value[a] * y.value[b];
    }
    SUPPLE_UNROLL for (int e = 0; e < n * n; ++e) sums[e * squares + index] = s[e / n][e % n];
  }
  team.sync();
}

// K += the sums, r x r row-major, lower triangle.
template <class S, class Team>
SUPPLE_HD inline void add_square_sums(Team team, int r, const S* sums, S* K) {
  constexpr int n = block_square;
  const int squares = block_squares(r);
  for (int index = team.rank(); index < squares; index += team.size()) {
    int bi, bj;
    triangle_block(index, bi, bj);
    for (int e = 0; e < n * n; ++e) {
      const int i = n * bi + e / n, j = n * bj + e % n;
      if (i < r && j <= i) K[i * r + j] += sums[e * squares + index];
    }
  }
  team.sync();
}

}  // namespace supple

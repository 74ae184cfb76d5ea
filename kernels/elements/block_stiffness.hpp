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

// What a thread reads at once, 16 bytes, and the parts in which a square's modes lie so that neighbouring squares read
// neighbouring parts: modes 4 s and 4 s + 1 of FP64 in the first half of a row, the other two in the second.
template <class S>
inline constexpr int part_modes = 16 / static_cast<int>(sizeof(S));
template <class S>
inline constexpr int row_parts = block_square / part_modes<S>;

// Rows X and Y of `points` points at once. Where even four do not fit the memory that threads share, the stage lies in
// the team's scratch, eight at once.
struct RowStage {
  int points;        // 4, 8, 16 or 32
  int part;          // scalars from one part of a row to the next
  int stride;        // from one point to the next
  std::size_t size;  // scalars of X; Y has as many
  bool in_scratch;
};
template <class S>
SUPPLE_INLINE constexpr std::size_t stage_room() {
  return stage_bytes / (2 * sizeof(S));
}
// In one turn threads write banks / points neighbouring modes of each point: points lie an odd multiple of these apart,
// as far as parts of 16 bytes allow, and two parts 2 modulo 4. So 4 and 8 points use every bank once; 16 and 32 write in
// two and four turns. Reading, threads at the end of a row of squares and at the beginning of the next share a bank
// where there are more than eight parts.
template <class S>
SUPPLE_INLINE constexpr RowStage stage_of(TangentRows rows, int r, int points) {
  constexpr int banks = 128 / static_cast<int>(sizeof(S));
  const auto up_to = [](int least, int rest, int unit) { return least + (rest - least % unit + unit) % unit; };
  const int modes = (r + block_square - 1) / block_square * part_modes<S>;
  const int part = row_parts<S> > 1 ? up_to(modes, 2, 4) : modes;
  const int apart = banks / points > part_modes<S> ? banks / points : part_modes<S>;
  const int stride = up_to(part * row_parts<S>, apart, 2 * apart);
  return {points, part, stride, static_cast<std::size_t>(points * row_kinds(rows)) * static_cast<std::size_t>(stride),
          false};
}
template <class S>
SUPPLE_INLINE constexpr RowStage row_stage(TangentRows rows, int r) {
  for (int points = tile_size; points >= 4; points /= 2)
    if (const RowStage stage = stage_of<S>(rows, r, points); stage.size <= stage_room<S>()) return stage;
  RowStage stage = stage_of<S>(rows, r, 8);
  stage.in_scratch = true;
  return stage;
}
// Where mode j is in a row.
template <class S>
SUPPLE_INLINE int place_in_row(const RowStage& stage, int j) {
  constexpr int n = part_modes<S>;
  return j % block_square / n * stage.part + j / block_square * n + j % n;
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
      const int at = (k * stage.points + point) * stage.stride + place_in_row<S>(stage, j);
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

// sums += X Y^T of so many staged rows.
template <class S, class Team>
SUPPLE_HD inline void add_staged_rows(Team team, int r, int rows, const RowStage& stage, const S* X, const S* Y,
                                      S* sums) {
  constexpr int n = block_square, parts = row_parts<S>, modes = part_modes<S>;
  struct alignas(16) Part {
    S value[modes];
  };
  const int squares = block_squares(r);
  for (int index = team.rank(); index < squares; index += team.size()) {
    int bi, bj;
    triangle_block(index, bi, bj);
    S s[n][n];
    SUPPLE_UNROLL for (int e = 0; e < n * n; ++e) s[e / n][e % n] = sums[e * squares + index];
    for (int l = 0; l < rows; ++l) {
      Part x[parts], y[parts];
      SUPPLE_UNROLL for (int p = 0; p < parts; ++p) {
        x[p] = *reinterpret_cast<const Part*>(X + l * stage.stride + p * stage.part + modes * bi);
        y[p] = *reinterpret_cast<const Part*>(Y + l * stage.stride + p * stage.part + modes * bj);
      }
      SUPPLE_UNROLL for (int a = 0; a < n; ++a) SUPPLE_UNROLL for (int b = 0; b < n; ++b) s[a][b] +=
          x[a / modes].value[a % modes] * y[b / modes].value[b % modes];
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

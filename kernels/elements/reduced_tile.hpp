#pragma once
// The reduced model's work on one tile of 32 points (tiles.hpp): deformation gradients F = I + G alpha, generalised
// forces f += G^T P and the projected stiffness K += G^T (w dP/dF) G. Team operations; K is r x r row-major, lower
// triangle, leading dimension ld.
//
// Stiffness, per tile: two sets of rows X, Y over (mode, row kind, lane) with K += X Y^T (add_block_sums at the end).
// clang-format off
//   corotational: 4 kinds, X = (t, w0, w1, w2), Y = (lambda t, Q w)      70 r + 4 r (r+1) flop a point
//                 frozen rotation: X alone, scaled (RowForm::squares)    58 r + 4 r (r+1)
//   other laws:   9 kinds, X = G itself,        Y = C G
// clang-format on

#include "kernels/elements/tiles.hpp"
#include "kernels/math/lanes.hpp"

namespace supple {

// F[288] = I + G alpha.
template <class S, class Team>
SUPPLE_HD inline void tile_gradient(Team team, int r, const S* G, const S* alpha, S* F) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  constexpr int group = 6;  // vectors kept in registers
  for (int row = team.rank() * group * width; row < tile_rows; row += team.size() * group * width) {
    V sum[group];
    for (int k = 0; k < group; ++k) {
      const int at = row + k * width;
      if (at >= tile_rows) break;
      const int c = at / tile_size;
      sum[k] = V{} + ((c == 0 || c == 4 || c == 8) ? S(1) : S(0));
    }
    for (int j = 0; j < r; ++j) {
      const S a = alpha[j];
      const S* column = G + static_cast<std::size_t>(j) * tile_rows + row;
      for (int k = 0; k < group; ++k)
        if (row + k * width < tile_rows) sum[k] += a * *reinterpret_cast<const V*>(column + k * width);
    }
    for (int k = 0; k < group; ++k)
      if (row + k * width < tile_rows) *reinterpret_cast<V*>(F + row + k * width) = sum[k];
  }
}

// Sums over points are kept as vectors of lanes from tile to tile and added up once at the end, by add_lanes:
// out[k] += the sum of vector k, k < count.
template <class S, class Team>
SUPPLE_HD inline void add_lanes(Team team, int count, const S* vectors, S* out) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  for (int k = team.rank(); k < count; k += team.size())
    out[k] += lane_sum<S>(V(*reinterpret_cast<const V*>(vectors + static_cast<std::size_t>(k) * width)));
}

// Generalised forces: f[r] += G^T P, and magnitude[r] += the sum of the absolute values of every point's part (for
// judging residuals). Both are vectors of lanes.
template <class S>
struct TileForces {
  const S* P;
  S* f;
  S* magnitude;
};
struct NoForces {};

template <class S, class Team>
SUPPLE_HD inline void tile_forces(Team team, int r, const S* G, const TileForces<S>& forces) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  for (int j = team.rank(); j < r; j += team.size()) {
    const S* column = G + static_cast<std::size_t>(j) * tile_rows;
    V& total = *reinterpret_cast<V*>(forces.f + static_cast<std::size_t>(j) * width);
    V& size = *reinterpret_cast<V*>(forces.magnitude + static_cast<std::size_t>(j) * width);
    for (int l = 0; l < tile_size; l += width) {
      V part = V{};
      for (int c = 0; c < gradient_components; ++c)
        part += *reinterpret_cast<const V*>(column + c * tile_size + l) *
                *reinterpret_cast<const V*>(forces.P + c * tile_size + l);
      total += part;
      size += part < S(0) ? -part : part;
    }
  }
}

// The rows of one mode at one point (or one vector of points) of a corotational tile: t = R : dF, w the axial vector of
// R^T dF; what they are multiplied with: lambda t and Q w. rows = StressFourRowOp's 19 components at the point.
template <class Team, class S>
struct ModeRows {
  using V = typename Lanes<S, Team>::type;
  V t{}, w0{}, w1{}, w2{};
};
template <class Team, class S>
SUPPLE_INLINE ModeRows<Team, S> four_rows(const S* g, const S* rows) {
  using V = typename Lanes<S, Team>::type;
  const auto load = [](const S* from) { return *reinterpret_cast<const V*>(from); };
  ModeRows<Team, S> row;
  for (int i = 0; i < 3; ++i) {
    const V a = load(g + 3 * i * tile_size), b = load(g + (3 * i + 1) * tile_size),
            c = load(g + (3 * i + 2) * tile_size);
    const V Ra = load(rows + 3 * i * tile_size), Rb = load(rows + (3 * i + 1) * tile_size),
            Rc = load(rows + (3 * i + 2) * tile_size);
    row.t += Ra * a + Rb * b + Rc * c;
    row.w0 += Rc * b - Rb * c;
    row.w1 += Ra * c - Rc * a;
    row.w2 += Rb * a - Ra * b;
  }
  return row;
}
template <class Team, class S>
SUPPLE_INLINE ModeRows<Team, S> times_law(const ModeRows<Team, S>& row, const S* rows) {
  using V = typename Lanes<S, Team>::type;
  const auto Q = [&](int c) { return *reinterpret_cast<const V*>(rows + (9 + c) * tile_size); };
  return {Q(9) * row.t, Q(0) * row.w0 + Q(1) * row.w1 + Q(2) * row.w2, Q(3) * row.w0 + Q(4) * row.w1 + Q(5) * row.w2,
          Q(6) * row.w0 + Q(7) * row.w1 + Q(8) * row.w2};
}

// How the rows of a corotational tile enter K. general: K += X Y^T. squares: the frozen rotation with lambda >= 0, rows
// scaled by sqrt(w lambda) and sqrt(w mu), K += X_t X_t^T - X_w X_w^T; Y is not used.
enum class RowForm { general, squares };

// Rows of a corotational tile: rows = StressFourRowOp's 19 components. X, Y: [r][4][32], the kinds t, w0, w1, w2. With
// TileForces, the forces in the same pass over G.
template <RowForm form, class S, class Team, class Forces>
SUPPLE_HD inline void tile_four_rows(Team team, int r, const S* G, const S* rows, S* X, S* Y, const Forces& forces) {
  using std::sqrt;
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  constexpr bool with_forces = !std::is_same_v<Forces, NoForces>;
  const auto load = [](const S* from) { return *reinterpret_cast<const V*>(from); };
  const auto store = [](S* to, const V& v) { *reinterpret_cast<V*>(to) = v; };
  S scale[2][tile_size];  // of t and w
  if constexpr (form == RowForm::squares)
    for (int l = 0; l < tile_size; ++l) {
      scale[0][l] = sqrt(rows[18 * tile_size + l]);
      scale[1][l] = sqrt(-rows[9 * tile_size + l]);
    }
  const auto mode = [&](int j, int l) {
    const S* g = G + static_cast<std::size_t>(j) * tile_rows + l;
    const ModeRows<Team, S> row = four_rows<Team>(g, rows + l);
    V part = V{};
    if constexpr (with_forces)
      for (int i = 0; i < 3; ++i) {
        const S* P = forces.P + 3 * i * tile_size + l;
        part += load(P) * load(g + 3 * i * tile_size) + load(P + tile_size) * load(g + (3 * i + 1) * tile_size) +
                load(P + 2 * tile_size) * load(g + (3 * i + 2) * tile_size);
      }
    S* x = X + static_cast<std::size_t>(j) * 4 * tile_size + l;
    if constexpr (form == RowForm::squares) {
      const V st = load(scale[0] + l), sw = load(scale[1] + l);
      store(x, st * row.t);
      store(x + tile_size, sw * row.w0);
      store(x + 2 * tile_size, sw * row.w1);
      store(x + 3 * tile_size, sw * row.w2);
    } else {
      S* y = Y + static_cast<std::size_t>(j) * 4 * tile_size + l;
      const ModeRows<Team, S> times = times_law(row, rows + l);
      store(x, row.t);
      store(x + tile_size, row.w0);
      store(x + 2 * tile_size, row.w1);
      store(x + 3 * tile_size, row.w2);
      store(y, times.t);
      store(y + tile_size, times.w0);
      store(y + 2 * tile_size, times.w1);
      store(y + 3 * tile_size, times.w2);
    }
    return part;
  };
  for (int j = team.rank(); j < r; j += team.size()) {
    V total = V{}, size = V{};
    for (int l = 0; l < tile_size; l += width) {
      const V part = mode(j, l);
      total += part;
      size += part < S(0) ? -part : part;
    }
    if constexpr (with_forces) {
      *reinterpret_cast<V*>(forces.f + static_cast<std::size_t>(j) * width) += total;
      *reinterpret_cast<V*>(forces.magnitude + static_cast<std::size_t>(j) * width) += size;
    }
  }
  team.sync();
}

// y = C g at one point or vector of points: TangentOp's 81 components and 9 of G.
template <class Team, class S>
SUPPLE_INLINE void tangent_rows_at(const S* g, const S* C, typename Lanes<S, Team>::type* x,
                                   typename Lanes<S, Team>::type* y) {
  using V = typename Lanes<S, Team>::type;
  for (int d = 0; d < 9; ++d) x[d] = *reinterpret_cast<const V*>(g + d * tile_size);
  for (int c = 0; c < 9; ++c) {
    V sum = V{};
    for (int d = 0; d < 9; ++d) sum += *reinterpret_cast<const V*>(C + (9 * c + d) * tile_size) * x[d];
    y[c] = sum;
  }
}

// Y = C G. Y: [r][9][32]; X is G itself.
template <class S, class Team>
SUPPLE_HD inline void tile_tangent_rows(Team team, int r, const S* G, const S* C, S* Y) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  for (int l = 0; l < tile_size; l += width)
    for (int j = team.rank(); j < r; j += team.size()) {
      S* to = Y + static_cast<std::size_t>(j) * tile_rows + l;
      V x[9], y[9];
      tangent_rows_at<Team>(G + static_cast<std::size_t>(j) * tile_rows + l, C + l, x, y);
      for (int c = 0; c < 9; ++c) *reinterpret_cast<V*>(to + c * tile_size) = y[c];
    }
  team.sync();
}

// The lower triangle of K in square blocks whose sums stay in registers; between tiles each entry is a vector of lanes.
inline constexpr int stiffness_block = SUPPLE_SIMD_BYTES == 64 ? 5 : 3;  // 25 sums in 32 registers, 9 in 16

// Scalars of the block sums of an r x r matrix.
template <class S>
SUPPLE_INLINE constexpr std::size_t stiffness_sums(int r) {
  constexpr std::size_t n = stiffness_block, lanes = SUPPLE_SIMD_BYTES / sizeof(S);
  const std::size_t blocks = (static_cast<std::size_t>(r) + n - 1) / n;
  return blocks * (blocks + 1) / 2 * n * n * lanes;
}

// index -> (row block, column block) of the lower triangle.
SUPPLE_INLINE void triangle_block(int index, int& bi, int& bj) {
  bi = 0;
  while ((bi + 1) * (bi + 2) / 2 <= index) ++bi;
  bj = index - bi * (bi + 1) / 2;
}

// sums += X Y^T over the first `plus` entries of every row, minus the same over the next `minus`; both are multiples of
// the lanes' width (32 is one of any), rows are `plus + minus` long.
template <class S, class Team>
SUPPLE_HD inline void tile_rank_update(Team team, int r, int plus, int minus, const S* X, const S* Y, S* sums) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width, n = stiffness_block;
  const int blocks = (r + n - 1) / n, length = plus + minus;
  for (int index = team.rank(); index < blocks * (blocks + 1) / 2; index += team.size()) {
    int bi, bj;
    triangle_block(index, bi, bj);
    const S* x[n];
    const S* y[n];
    for (int k = 0; k < n; ++k) {
      x[k] = X + static_cast<std::size_t>(n * bi + k < r ? n * bi + k : r - 1) * static_cast<std::size_t>(length);
      y[k] = Y + static_cast<std::size_t>(n * bj + k < r ? n * bj + k : r - 1) * static_cast<std::size_t>(length);
    }
    V* const sum = reinterpret_cast<V*>(sums + static_cast<std::size_t>(index) * n * n * width);
    V s[n][n];
    SUPPLE_UNROLL for (int a = 0; a < n; ++a) SUPPLE_UNROLL for (int b = 0; b < n; ++b) s[a][b] = sum[n * a + b];
    const auto add = [&](int l, bool negative) {
      V right[n];
      SUPPLE_UNROLL for (int b = 0; b < n; ++b) right[b] = *reinterpret_cast<const V*>(y[b] + l);
      SUPPLE_UNROLL for (int a = 0; a < n; ++a) {
        V left = *reinterpret_cast<const V*>(x[a] + l);
        if (negative) left = -left;
        SUPPLE_UNROLL for (int b = 0; b < n; ++b) s[a][b] += left * right[b];
      }
    };
    for (int l = 0; l < plus; l += width) add(l, false);
    for (int l = plus; l < length; l += width) add(l, true);
    SUPPLE_UNROLL for (int a = 0; a < n; ++a) SUPPLE_UNROLL for (int b = 0; b < n; ++b) sum[n * a + b] = s[a][b];
  }
  team.sync();
}

// K += the block sums, r x r row-major, lower triangle.
template <class S, class Team>
SUPPLE_HD inline void add_block_sums(Team team, int r, const S* sums, S* K, int ld) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width, n = stiffness_block;
  const int blocks = (r + n - 1) / n;
  for (int index = team.rank(); index < blocks * (blocks + 1) / 2; index += team.size()) {
    int bi, bj;
    triangle_block(index, bi, bj);
    const V* sum = reinterpret_cast<const V*>(sums + static_cast<std::size_t>(index) * n * n * width);
    for (int a = 0; a < n && n * bi + a < r; ++a)
      for (int b = 0; b < n && n * bj + b < r; ++b)
        if (n * bi + a >= n * bj + b) K[(n * bi + a) * ld + n * bj + b] += lane_sum<S>(V(sum[n * a + b]));
  }
  team.sync();
}

}  // namespace supple

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
//
// `lanes` is how many points of the tile are computed: tile_lanes() of those that a last tile has, which costs as much as
// it holds. Of further points nothing is read or written.

#include "kernels/elements/tiles.hpp"
#include "kernels/math/lanes.hpp"

namespace supple {

// Points of a tile that are computed so that the first `points` are: whole vectors.
template <class S, class Team>
SUPPLE_INLINE constexpr int tile_lanes(int points) {
  constexpr int width = Lanes<S, Team>::width;
  return points >= tile_size ? tile_size : (points + width - 1) / width * width;
}

// Rows begin ... end of F = I + G alpha.
template <class S, class Team>
SUPPLE_INLINE void gradient_rows(Team team, int r, const S* G, const S* alpha, int begin, int end, S* F) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  constexpr int group = 6;  // vectors kept in registers
  for (int row = begin + team.rank() * group * width; row < end; row += team.size() * group * width) {
    V sum[group];
    for (int k = 0; k < group; ++k) {
      const int c = (row + k * width) / tile_size;
      sum[k] = V{} + ((c == 0 || c == 4 || c == 8) ? S(1) : S(0));
    }
    for (int j = 0; j < r; ++j) {
      const S a = alpha[j];
      const S* column = G + static_cast<std::size_t>(j) * tile_rows + row;
      for (int k = 0; k < group; ++k)
        if (row + k * width < end) sum[k] += a * *reinterpret_cast<const V*>(column + k * width);
    }
    for (int k = 0; k < group; ++k)
      if (row + k * width < end) *reinterpret_cast<V*>(F + row + k * width) = sum[k];
  }
}

// F[288] = I + G alpha.
template <class S, class Team>
SUPPLE_HD inline void tile_gradient(Team team, int r, const S* G, const S* alpha, S* F, int lanes = tile_size) {
  if (lanes == tile_size)
    gradient_rows(team, r, G, alpha, 0, tile_rows, F);
  else
    for (int c = 0; c < gradient_components; ++c)
      gradient_rows(team, r, G, alpha, c * tile_size, c * tile_size + lanes, F);
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
SUPPLE_HD inline void tile_forces(Team team, int r, const S* G, const TileForces<S>& forces, int lanes = tile_size) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  for (int j = team.rank(); j < r; j += team.size()) {
    const S* column = G + static_cast<std::size_t>(j) * tile_rows;
    V& total = *reinterpret_cast<V*>(forces.f + static_cast<std::size_t>(j) * width);
    V& size = *reinterpret_cast<V*>(forces.magnitude + static_cast<std::size_t>(j) * width);
    for (int l = 0; l < lanes; l += width) {
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
    row.t += Ra * a;
    row.w0 += Rc * b;
    row.w1 += Ra * c;
    row.w2 += Rb * a;
    row.t += Rb * b;
    row.w0 -= Rb * c;
    row.w1 -= Rc * a;
    row.w2 -= Ra * b;
    row.t += Rc * c;
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
SUPPLE_HD inline void tile_four_rows(Team team, int r, const S* G, const S* rows, S* X, S* Y, const Forces& forces,
                                     int lanes = tile_size) {
  using std::sqrt;
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  constexpr bool with_forces = !std::is_same_v<Forces, NoForces>;
  const auto load = [](const S* from) { return *reinterpret_cast<const V*>(from); };
  const auto store = [](S* to, const V& v) { *reinterpret_cast<V*>(to) = v; };
  S scale[2][tile_size];  // of t and w
  if constexpr (form == RowForm::squares)
    for (int l = 0; l < lanes; ++l) {
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
        for (int k = 0; k < 3; ++k) part += load(P + k * tile_size) * load(g + (3 * i + k) * tile_size);
      }
    const std::size_t at = static_cast<std::size_t>(j) * 4 * tile_size + static_cast<std::size_t>(l);
    S* x = X + at;
    if constexpr (form == RowForm::squares) {
      const V st = load(scale[0] + l), sw = load(scale[1] + l);
      store(x, st * row.t);
      store(x + tile_size, sw * row.w0);
      store(x + 2 * tile_size, sw * row.w1);
      store(x + 3 * tile_size, sw * row.w2);
    } else {
      S* y = Y + at;
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
    for (int l = 0; l < lanes; l += width) {
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
SUPPLE_HD inline void tile_tangent_rows(Team team, int r, const S* G, const S* C, S* Y, int lanes = tile_size) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  for (int l = 0; l < lanes; l += width)
    for (int j = team.rank(); j < r; j += team.size()) {
      S* to = Y + static_cast<std::size_t>(j) * tile_rows + l;
      V x[9], y[9];
      tangent_rows_at<Team>(G + static_cast<std::size_t>(j) * tile_rows + l, C + l, x, y);
      for (int c = 0; c < 9; ++c) *reinterpret_cast<V*>(to + c * tile_size) = y[c];
    }
  team.sync();
}

// The lower triangle of K in blocks of entries whose sums stay in registers, so many that they hide the latency of an
// addition: `height` rows, rank_breadth(height) columns. Between tiles each entry is a vector of lanes.
inline constexpr int rank_height = SUPPLE_SIMD_BYTES == 64 ? 5 : 4;  // of 32 or 16 registers
inline constexpr int most_rank_breadth = 8;
SUPPLE_INLINE constexpr int rank_breadth(int height) {
  constexpr int wide[] = {8, 8, 8, 6, 5}, narrow[] = {8, 6, 4, 3};
  return SUPPLE_SIMD_BYTES == 64 ? wide[height - 1] : narrow[height - 1];
}

// Rows that X or Y of tile_rank_update needs as its right side: of the rows beyond r nothing is used, but they are read.
SUPPLE_INLINE constexpr int rank_rows(int r) {
  return r + most_rank_breadth;
}

// Where the sums of `height` rows of K begin, in vectors: [column][row of the block]. Columns go to the diagonal, and on
// to the end of a block.
SUPPLE_INLINE constexpr std::size_t rank_sums_begin(int block) {
  return static_cast<std::size_t>(rank_height * (rank_height * (block * (block + 1) / 2) + most_rank_breadth * block));
}

// Scalars of the sums of an r x r matrix.
template <class S>
SUPPLE_INLINE constexpr std::size_t stiffness_sums(int r) {
  return rank_sums_begin((r + rank_height - 1) / rank_height) * (SUPPLE_SIMD_BYTES / sizeof(S));
}

// The rows of X and Y, one for each mode: `plus` kinds that K gets added and `minus` that it gets subtracted, `stride`
// scalars from one to the next, of which the first `lanes` count (a multiple of the vector's width).
struct RankRows {
  int plus = 1, minus = 0;
  int stride = tile_size, lanes = tile_size;

  SUPPLE_INLINE constexpr std::size_t length() const {
    return static_cast<std::size_t>(plus + minus) * static_cast<std::size_t>(stride);
  }
};

// Entry (a, b) of one block += row a of X times row b of Y, those with b <= a if `lower`. Whole rows, lanes == stride,
// take one loop: the end of many short ones, mispredicted, costs a tenth of the time.
template <int height, int breadth, bool lower, bool whole, class S, class Team>
SUPPLE_INLINE void add_rank_block(Team, const RankRows& rows, const S* X, const S* Y, S* sums) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  const std::size_t length = rows.length();
  V* const sum = reinterpret_cast<V*>(sums);
  V s[height][breadth];
  SUPPLE_UNROLL for (int a = 0; a < height; ++a) SUPPLE_UNROLL for (int b = 0; b < breadth; ++b) if (!lower || b <= a)
      s[a][b] = sum[b * rank_height + a];
  const auto add = [&](int at, bool negative) {
    const auto l = static_cast<std::size_t>(at);
    V left[height];
    SUPPLE_UNROLL for (int a = 0; a < height; ++a) {
      left[a] = *reinterpret_cast<const V*>(X + static_cast<std::size_t>(a) * length + l);
      if (negative) left[a] = -left[a];
    }
    SUPPLE_UNROLL for (int b = 0; b < breadth; ++b) {
      const V right = *reinterpret_cast<const V*>(Y + static_cast<std::size_t>(b) * length + l);
      SUPPLE_UNROLL for (int a = 0; a < height; ++a) if (!lower || b <= a) s[a][b] += left[a] * right;
    }
  };
  const int minus = rows.plus * rows.stride, end = minus + rows.minus * rows.stride;
  const int step = whole ? minus : rows.stride, lanes = whole ? minus : rows.lanes;
  for (int first = 0; first < minus; first += step)
    for (int l = first; l < first + lanes; l += width) add(l, false);
  const int last = whole ? end - minus : rows.stride, left = whole ? end - minus : rows.lanes;
  for (int first = minus; first < end; first += last)
    for (int l = first; l < first + left; l += width) add(l, true);
  SUPPLE_UNROLL for (int a = 0; a < height; ++a) SUPPLE_UNROLL for (int b = 0; b < breadth; ++b) if (!lower || b <= a)
      sum[b * rank_height + a] = s[a][b];
}

// The blocks of `height` rows of K from `first`.
template <int height, bool whole, class S, class Team>
SUPPLE_HD inline void add_rank_blocks(Team team, int first, const RankRows& rows, const S* X, const S* Y, S* sums) {
  constexpr int width = Lanes<S, Team>::width, breadth = rank_breadth(height);
  constexpr bool square = height == breadth;  // then the last block lies on the diagonal
  const std::size_t length = rows.length();
  const S* x = X + static_cast<std::size_t>(first) * length;
  S* own = sums + rank_sums_begin(first / rank_height) * width;
  for (int column = team.rank() * breadth; column < first + height; column += team.size() * breadth) {
    const S* y = Y + static_cast<std::size_t>(column) * length;
    S* sum = own + static_cast<std::size_t>(column) * rank_height * width;
    if (square && column == first)
      add_rank_block<height, breadth, square, whole>(team, rows, x, y, sum);
    else
      add_rank_block<height, breadth, false, whole>(team, rows, x, y, sum);
  }
}

template <bool whole, class S, class Team>
SUPPLE_HD inline void add_rank_rows(Team team, int r, const RankRows& rows, const S* X, const S* Y, S* sums) {
  const int last = r / rank_height * rank_height;
  for (int first = 0; first < last; first += rank_height)
    add_rank_blocks<rank_height, whole>(team, first, rows, X, Y, sums);
  switch (r - last) {
    case 1:
      add_rank_blocks<1, whole>(team, last, rows, X, Y, sums);
      break;
    case 2:
      add_rank_blocks<2, whole>(team, last, rows, X, Y, sums);
      break;
    case 3:
      add_rank_blocks<3, whole>(team, last, rows, X, Y, sums);
      break;
    case 4:
      if constexpr (rank_height > 4) add_rank_blocks<4, whole>(team, last, rows, X, Y, sums);
      break;
    default:
      break;
  }
}

// sums += X Y^T. Y has rank_rows(r) rows.
template <class S, class Team>
SUPPLE_HD inline void tile_rank_update(Team team, int r, const RankRows& rows, const S* X, const S* Y, S* sums) {
  if (rows.lanes == rows.stride)
    add_rank_rows<true>(team, r, rows, X, Y, sums);
  else
    add_rank_rows<false>(team, r, rows, X, Y, sums);
  team.sync();
}

// K += the sums, r x r row-major, lower triangle.
template <class S, class Team>
SUPPLE_HD inline void add_block_sums(Team team, int r, const S* sums, S* K, int ld) {
  using V = typename Lanes<S, Team>::type;
  for (int i = team.rank(); i < r; i += team.size()) {
    const V* sum = reinterpret_cast<const V*>(sums) + rank_sums_begin(i / rank_height) + i % rank_height;
    for (int j = 0; j <= i; ++j) K[i * ld + j] += lane_sum<S>(V(sum[j * rank_height]));
  }
  team.sync();
}

}  // namespace supple

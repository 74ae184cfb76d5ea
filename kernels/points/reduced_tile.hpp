#pragma once
// The reduced model's work on one tile of 32 points (tiles.hpp): deformation gradients F = I + G alpha, generalised
// forces f += G^T P and the projected stiffness K += G^T (w dP/dF) G. Team operations; K is r x r row-major, lower
// triangle, leading dimension ld.
//
// Stiffness, per tile: two sets of rows X, Y over (mode, row kind, lane) with K += X Y^T.
// clang-format off
//   corotational: 4 kinds, X = (t, w0, w1, w2), Y = (lambda t, Q w)      54 r + 4 r (r+1) flop a point
//   other laws:   9 kinds, X = G itself,        Y = C G
// clang-format on

#include "kernels/points/lanes.hpp"
#include "kernels/points/tiles.hpp"

namespace supple {

// How a team shares loops over the lanes and modes of a tile: a member begins at (lane, mode) and advances by (lanes,
// modes). A block whose size is a multiple of the lanes gives neighbouring lanes to neighbouring threads (coalesced); a
// smaller team takes every lane in turn.
struct LaneShare {
  int lane, lanes, mode, modes;
};
template <class Team>
SUPPLE_INLINE LaneShare lane_share(Team team, int lanes) {
  if (team.size() % lanes != 0) return {0, 1, team.rank(), team.size()};
  return {team.rank() % lanes, lanes, team.rank() / lanes, team.size() / lanes};
}

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

// f[r] += G^T P; magnitude[r] += |G^T| |P| summed over components (for judging residuals).
template <class S, class Team>
SUPPLE_HD inline void tile_forces(Team team, int r, const S* G, const S* P, S* f, S* magnitude) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  for (int j = team.rank(); j < r; j += team.size()) {
    const S* column = G + static_cast<std::size_t>(j) * tile_rows;
    V total = V{};
    S size = 0;
    for (int c = 0; c < gradient_components; ++c) {
      V sum = V{};
      for (int l = 0; l < tile_size; l += width)
        sum += *reinterpret_cast<const V*>(column + c * tile_size + l) *
               *reinterpret_cast<const V*>(P + c * tile_size + l);
      const S part = lane_sum<S>(sum);
      size += part < S(0) ? -part : part;
      total += sum;
    }
    f[j] += lane_sum<S>(total);
    magnitude[j] += size;
  }
}

// Rows of a corotational tile: rows = StressFourRowOp's 19 components. X, Y: [r][4][32].
template <class S, class Team>
SUPPLE_HD inline void tile_four_rows(Team team, int r, const S* G, const S* rows, S* X, S* Y) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  const LaneShare share = lane_share(team, tile_size / width);
  for (int l = share.lane * width; l < tile_size; l += share.lanes * width) {
    const auto at = [&](const S* base, int c) { return *reinterpret_cast<const V*>(base + c * tile_size + l); };
    V R[9], Q[9];
    for (int c = 0; c < 9; ++c) {
      R[c] = at(rows, c);
      Q[c] = at(rows, 9 + c);
    }
    const V lambda = at(rows, 18);
    for (int j = share.mode; j < r; j += share.modes) {
      const S* g = G + static_cast<std::size_t>(j) * tile_rows;
      V t = V{}, w0 = V{}, w1 = V{}, w2 = V{};
      for (int i = 0; i < 3; ++i) {
        const V a = at(g, 3 * i), b = at(g, 3 * i + 1), c = at(g, 3 * i + 2);
        const V Ra = R[3 * i], Rb = R[3 * i + 1], Rc = R[3 * i + 2];
        t += Ra * a + Rb * b + Rc * c;
        w0 += Rc * b - Rb * c;
        w1 += Ra * c - Rc * a;
        w2 += Rb * a - Ra * b;
      }
      S* x = X + static_cast<std::size_t>(j) * 4 * tile_size + l;
      S* y = Y + static_cast<std::size_t>(j) * 4 * tile_size + l;
      const auto store = [&](S* base, int kind, const V& v) { *reinterpret_cast<V*>(base + kind * tile_size) = v; };
      store(x, 0, t);
      store(x, 1, w0);
      store(x, 2, w1);
      store(x, 3, w2);
      store(y, 0, lambda * t);
      store(y, 1, Q[0] * w0 + Q[1] * w1 + Q[2] * w2);
      store(y, 2, Q[3] * w0 + Q[4] * w1 + Q[5] * w2);
      store(y, 3, Q[6] * w0 + Q[7] * w1 + Q[8] * w2);
    }
  }
  team.sync();
}

// Y = C G for TangentOp's 81 components. Y: [r][9][32]; X is G itself.
template <class S, class Team>
SUPPLE_HD inline void tile_tangent_rows(Team team, int r, const S* G, const S* C, S* Y) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  const LaneShare share = lane_share(team, tile_size / width);
  for (int l = share.lane * width; l < tile_size; l += share.lanes * width)
    for (int j = share.mode; j < r; j += share.modes) {
      const S* g = G + static_cast<std::size_t>(j) * tile_rows + l;
      S* y = Y + static_cast<std::size_t>(j) * tile_rows + l;
      V column[9];
      for (int d = 0; d < 9; ++d) column[d] = *reinterpret_cast<const V*>(g + d * tile_size);
      for (int c = 0; c < 9; ++c) {
        V sum = V{};
        for (int d = 0; d < 9; ++d) sum += *reinterpret_cast<const V*>(C + (9 * c + d) * tile_size + l) * column[d];
        *reinterpret_cast<V*>(y + c * tile_size) = sum;
      }
    }
  team.sync();
}

// K += X Y^T over rows of `length` entries (a multiple of 32), lower triangle, in blocks of 4 x 4.
template <class S, class Team>
SUPPLE_HD inline void tile_rank_update(Team team, int r, int length, const S* X, const S* Y, S* K, int ld) {
  using V = typename Lanes<S, Team>::type;
  constexpr int width = Lanes<S, Team>::width;
  const int blocks = (r + 3) / 4;
  for (int index = team.rank(); index < blocks * (blocks + 1) / 2; index += team.size()) {
    // index -> (row block, column block) of the lower triangle.
    int bi = 0;
    while ((bi + 1) * (bi + 2) / 2 <= index) ++bi;
    const int i0 = 4 * bi, j0 = 4 * (index - bi * (bi + 1) / 2);
    const S* x[4];
    const S* y[4];
    for (int k = 0; k < 4; ++k) {
      x[k] = X + static_cast<std::size_t>(i0 + k < r ? i0 + k : r - 1) * static_cast<std::size_t>(length);
      y[k] = Y + static_cast<std::size_t>(j0 + k < r ? j0 + k : r - 1) * static_cast<std::size_t>(length);
    }
    V s00{}, s01{}, s02{}, s03{}, s10{}, s11{}, s12{}, s13{}, s20{}, s21{}, s22{}, s23{}, s30{}, s31{}, s32{}, s33{};
    for (int l = 0; l < length; l += width) {
      const auto load = [l](const S* p) { return *reinterpret_cast<const V*>(p + l); };
      const V y0 = load(y[0]), y1 = load(y[1]), y2 = load(y[2]), y3 = load(y[3]);
      V a = load(x[0]);
      s00 += a * y0, s01 += a * y1, s02 += a * y2, s03 += a * y3;
      a = load(x[1]);
      s10 += a * y0, s11 += a * y1, s12 += a * y2, s13 += a * y3;
      a = load(x[2]);
      s20 += a * y0, s21 += a * y1, s22 += a * y2, s23 += a * y3;
      a = load(x[3]);
      s30 += a * y0, s31 += a * y1, s32 += a * y2, s33 += a * y3;
    }
    const S sums[16] = {lane_sum<S>(s00), lane_sum<S>(s01), lane_sum<S>(s02), lane_sum<S>(s03),
                        lane_sum<S>(s10), lane_sum<S>(s11), lane_sum<S>(s12), lane_sum<S>(s13),
                        lane_sum<S>(s20), lane_sum<S>(s21), lane_sum<S>(s22), lane_sum<S>(s23),
                        lane_sum<S>(s30), lane_sum<S>(s31), lane_sum<S>(s32), lane_sum<S>(s33)};
    for (int a = 0; a < 4 && i0 + a < r; ++a)
      for (int b = 0; b < 4 && j0 + b < r; ++b)
        if (i0 + a >= j0 + b) K[(i0 + a) * ld + j0 + b] += sums[4 * a + b];
  }
  team.sync();
}

}  // namespace supple

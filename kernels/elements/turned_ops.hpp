#pragma once
// Newton's step in statics by turning. A linear step moves points along straight lines: what it turns by an angle w it
// also stretches by w^2/2, and slender and stiff bodies resist that with forces far above those at work. With F before
// the step, D the gradient of the linear step and
//   D F^-1 = E + [w]x   (symmetric, skew)
// a point goes to
//   F' = exp([w]x) (I + E) F
// instead of F + D. The motion that comes nearest, weighted with volumes and moduli, is du + y with
//   (sum w G^T G) y = sum w G^T (F' - F - D)
// (rotation-strain coordinates: J. Huang, Y. Tong, K. Zhou, H. Bao, M. Desbrun, Interactive shape interpolation through
// controllable dynamic deformation, IEEE Transactions on Visualization and Computer Graphics 17, 2011). Membranes,
// threads and rods likewise, in the directions that they have.
//
// What strain is left over there is small, but its stress need not be. The geometric part of the next tangent is that of
// the stress at the end of the linear step (D. Magisano, L. Leonetti, G. Garcea, How to improve efficiency and
// robustness of the Newton method in geometrically non-linear structural problem discretized via displacement-based
// finite elements, Computer Methods in Applied Mechanics and Engineering 313, 2017): with the second Piola-Kirchhoff
// stress T = F^-1 P,
//   T_lin = T + F^-1 (C D - D T),   C' += d(F' (T_lin - T'))/dF'.
// The residual is exact, so that the equilibrium is none but the same.
//
// On a CPU. F, D: tiles, before the step. Ops are inlined, so that every program has the bits of the file that launches
// them: full and reduced models share some.

#include "kernels/elements/element_ops.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {

// Turning by less [rad] stretches by too little to matter: half of its square.
inline constexpr double least_turn = 0.02;
// A linear step that turns by more [rad] goes in a wrong direction: it is cut short, in proportion. Measured with 1.2 to
// 1.6 on slender strips and the robots of assets/; 0.5 takes twice as many on bodies that need no more than a few steps.
inline constexpr double most_turn = 1.4;
// Added to the diagonal of the least squares, of its mean: where a free-floating body is does not matter.
inline constexpr double turn_shift = 1e-9;
// Of a motion: the displacements at its end are found by adding it up in another order.
inline constexpr double same_place = 1e-9;

// x turned about w by |w|.
template <class S>
SUPPLE_INLINE Vec3<S> turned_by(const Vec3<S>& w, const Vec3<S>& x) {
  using std::cos;
  using std::sin;
  const S square = dot(w, w), angle = norm(w);
  const bool small = square < S(1e-12);
  const S sine = small ? S(1) : sin(angle) / angle, versine = small ? S(0.5) : (S(1) - cos(angle)) / square;
  const Vec3<S> across = cross(w, x);
  return x + sine * across + versine * cross(w, across);
}

// A direction f that a linear step moves by d: where it goes less f + d. turn <- the angle, where it is larger.
template <class S>
SUPPLE_INLINE Vec3<S> turned_direction(const Vec3<S>& f, const Vec3<S>& d, S& turn) {
  const S square = dot(f, f);
  if (!(square > S(0))) return {{S(0), S(0), S(0)}};
  const Vec3<S> w = (S(1) / square) * cross(f, d);
  const S angle = norm(w);
  turn = angle > turn ? angle : turn;
  return turned_by(w, (S(1) + dot(f, d) / square) * f) - f - d;
}

// F with the normal as it is now where a law reads the plane of e1 and e2 alone.
template <class Law, class S>
SUPPLE_INLINE Mat3<S> with_normal(const Mat3<S>& F, const Mat3<S>& edges) {
  if constexpr (solid_law<Law>) {
    return F;
  } else {
    const Vec3<S> f1 = F * column_of(edges, 0), f2 = F * column_of(edges, 1);
    return from_columns(f1, f2, normalized(cross(f1, f2))) * transpose(edges);
  }
}

// F' - F - D. turn: as in turned_direction.
template <class Law, class S>
SUPPLE_INLINE Mat3<S> turned_gradient(const Mat3<S>& F, const Mat3<S>& D, const Mat3<S>& edges, S& turn) {
  const Mat3<S> none = Mat3<S>::zero();
  if constexpr (std::is_same_v<Law, Rod>) {
    Vec3<S> to[2];
    for (int j = 0; j < 2; ++j) {
      Vec3<S> f = column_of(edges, j) + column_of(F, j);
      f[j] -= S(1);
      to[j] = turned_direction(f, column_of(D, j), turn);
    }
    return from_columns(to[0], to[1], {{S(0), S(0), S(0)}});
  } else if constexpr (std::is_same_v<Law, Fibres>) {
    const Vec3<S> e = column_of(edges, 0);
    return outer(turned_direction(F * e, D * e, turn), e);
  } else {
    const Mat3<S> now = with_normal<Law>(F, edges), back = inverse(now);
    if (!(determinant(now) > S(0))) return none;
    Mat3<S> moved = D;
    if constexpr (!solid_law<Law>) {
      // m' = -(m.D)(F^-1 without its normal): the normal stays across what the step makes of the plane.
      const Vec3<S> n = column_of(edges, 2), m = now * n;
      moved = moved - outer(transpose(back) * (transpose(D) * m), n);
    }
    const Mat3<S> W = moved * back;
    const Vec3<S> w{{S(0.5) * (W(2, 1) - W(1, 2)), S(0.5) * (W(0, 2) - W(2, 0)), S(0.5) * (W(1, 0) - W(0, 1))}};
    const Mat3<S> stretched = now + S(0.5) * ((W + transpose(W)) * now);
    const S angle = norm(w);
    if (!finite(angle)) return none;
    turn = angle > turn ? angle : turn;
    Mat3<S> to = from_columns(turned_by(w, column_of(stretched, 0)), turned_by(w, column_of(stretched, 1)),
                              turned_by(w, column_of(stretched, 2))) -
                 now - moved;
    if constexpr (!solid_law<Law>) {
      const Vec3<S> n = column_of(edges, 2);
      to = to - outer(to * n, n);
    }
    return to;
  }
}

// The directions in which turned_gradient() counts, sum of their squares: Q of w G^T Q G.
template <class Law, class S>
SUPPLE_INLINE Mat3<S> turned_directions(const Mat3<S>& edges) {
  const Mat3<S> all = Mat3<S>::identity();
  if constexpr (std::is_same_v<Law, Rod>) {
    return {{S(1), S(0), S(0), S(0), S(1), S(0), S(0), S(0), S(0)}};
  } else if constexpr (std::is_same_v<Law, Fibres>) {
    return outer(column_of(edges, 0), column_of(edges, 0));
  } else if constexpr (!solid_law<Law>) {
    return all - outer(column_of(edges, 2), column_of(edges, 2));
  } else {
    return all;
  }
}

// Weight of a point: volume times moduli [J].
template <class Law, class S>
SUPPLE_INLINE S turned_weight(const PointData<S>& data) {
  return data.weight * sum_of_moduli<Law>(data.parameters);
}

// T <- w (F' - F - D), turn <- the angle [rad]; one robot.
template <class Law, class S>
struct TurnOp {
  static constexpr int lane_width = 1;
  PointField<S> field;
  const S *F, *D;
  S *T, *turn;  // tiles; [padded points]
  SUPPLE_INLINE void operator()(int p) const {
    const PointData<S> data = load_points<S, Law>(field, 0, p);
    turn[p] = S(0);
    Mat3<S> to = turned_gradient<Law>(load_tile<S>(F, p), load_tile<S>(D, p), data.edges, turn[p]);
    store_tile(T, p, 0, 9, turned_weight<Law>(data) * to);
  }
};

// w Q as a tangent of tiles of 81: the matrix of the least squares.
template <class Law, class S>
struct TurnWeightOp {
  static constexpr int lane_width = 1;
  PointField<S> field;
  S* C;
  SUPPLE_INLINE void operator()(int p) const {
    const PointData<S> data = load_points<S, Law>(field, 0, p);
    const Mat3<S> Q = turned_weight<Law>(data) * turned_directions<Law>(data.edges);
    for (int c = 0; c < 81; ++c) C[tile_index(p, c, 81)] = S(0);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int l = 0; l < 3; ++l) C[tile_index(p, 9 * (3 * i + j) + 3 * i + l, 81)] = Q(j, l);
  }
};

// The same of elements: [0] of each block (ElementStiffnessOp) += w g_a^T Q g_b.
template <class Law, class S>
struct TurnBlocksOp {
  PointField<S> field;
  int nodes_per_element, points_per_element;
  const S* gradient;
  S* blocks;
  SUPPLE_INLINE void operator()(int e) const {
    const int n = nodes_per_element;
    S* out = blocks + static_cast<std::size_t>(e) * (n * (n + 1) / 2) * 9;
    for (int p = e * points_per_element; p < (e + 1) * points_per_element; ++p) {
      const PointData<S> data = load_points<S, Law>(field, 0, p);
      const Mat3<S> Q = turned_weight<Law>(data) * turned_directions<Law>(data.edges);
      const S* g = gradient + 3 * static_cast<std::size_t>(p) * n;
      const auto at = [&](int a) { return Vec3<S>{{g[3 * a], g[3 * a + 1], g[3 * a + 2]}}; };
      for (int b = 0; b < n; ++b)
        for (int a = 0; a <= b; ++a) out[9 * pair_index(n, a, b)] += dot(at(a), Q * at(b));
    }
  }
};

// Of directions that bear a pull along themselves: across them the tangent has, with the pull that the law has for the
// stretch that the linear step predicts (which may buckle) in place of that of the stretch now, C <- share (T_lin - T)/l
// (1 - d d^T). entry(C, i, k): where that belongs.
template <class S, class Entry>
SUPPLE_INLINE void add_pull_across(S pull, S length, const Vec3<S>& d, const Entry& entry) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) entry(i, k, pull / length * (S(i == k ? 1 : 0) - d[i] * d[k]));
}

template <class S>
SUPPLE_INLINE void linear_pull_tangent(const Mat3<S>& now, const Mat3<S>& F, const Mat3<S>& D,
                                       const MaterialParameters<S>& m, const Mat3<S>& edges, Rod, S* C) {
  Rod::Bend<S> r, before;
  const auto defined = both(Rod::bend(now, m, edges, r), Rod::bend(F, m, edges, before));
  for (int j = 0; j < 2; ++j) {
    const Vec3<S>&d = j == 0 ? r.a : r.b, &d0 = j == 0 ? before.a : before.b;
    const S length = j == 0 ? r.length_a : r.length_b, length0 = j == 0 ? before.length_a : before.length_b;
    const S strain = length0 - S(1) + dot(d0, column_of(D, j));
    const S change = fibre_pull(strain, edges(0, 2) * m.p[0], m.p[2]).tension - (j == 0 ? r.pull_a : r.pull_b).tension;
    add_pull_across(S(0.5) * change, length, d,
                    [&](int i, int k, S value) { C[9 * (3 * i + j) + 3 * k + j] += value; });
  }
  (void)keep_finite(defined, C);
}

template <class S>
SUPPLE_INLINE void linear_pull_tangent(const Mat3<S>& now, const Mat3<S>& F, const Mat3<S>& D,
                                       const MaterialParameters<S>& m, const Mat3<S>& edges, Fibres, S* C) {
  Fibres::Thread<S> t, before;
  const auto defined = both(Fibres::thread(now, m, edges, t), Fibres::thread(F, m, edges, before));
  const S strain = before.length - S(1) + dot(before.now, D * before.rest);
  const S change = fibre_pull(strain, m.p[0], m.p[1]).tension - t.pull.tension;
  add_pull_across(change, t.length, t.now, [&](int i, int k, S value) {
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 3; ++l) C[9 * (3 * i + j) + 3 * k + l] += value * t.rest[j] * t.rest[l];
  });
  (void)keep_finite(defined, C);
}

// C <- what the tangent has in place of the geometric part of its own stress: 0 where that is not defined. Of rods not
// what they bend with.
template <class Law, class S>
SUPPLE_INLINE void linear_stress_tangent(const Mat3<S>& now, const Mat3<S>& F, const Mat3<S>& D,
                                         const MaterialParameters<S>& m, const Mat3<S>& edges, S* C) {
  set_zero(C);
  if constexpr (std::is_same_v<Law, Rod> || std::is_same_v<Law, Fibres>) {
    linear_pull_tangent(now, F, D, m, edges, Law{}, C);
  } else {
    Mat3<S> P, P_now;
    S before[81];
    (void)Law::stress(F, m, edges, P);
    (void)Law::stress(now, m, edges, P_now);
    (void)Law::tangent(F, m, edges, TangentKind::exact, before);
    const Mat3<S> back = inverse(with_normal<Law>(F, edges)), back_now = inverse(with_normal<Law>(now, edges));
    const Mat3<S> T = back * P;
    Mat3<S> dP = Mat3<S>::zero();
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) dP[i] += before[9 * i + j] * D[j];
    Mat3<S> change = T + back * (dP - D * T) - back_now * P_now;
    change = S(0.5) * (change + transpose(change));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int l = 0; l < 3; ++l) C[9 * (3 * i + j) + 3 * i + l] = change(j, l);
    (void)keep_finite(finite(dot(change, change)), C);
  }
}

// w times that, in TangentOp's form; one robot.
template <class Law, class S>
struct LinearStressOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  const S *now, *F, *D;
  S* C;
  template <class V>
  SUPPLE_INLINE void points(int p) const {
    const PointData<V> data = load_points<V, Law>(field, 0, p);
    V tangent[81];
    linear_stress_tangent<Law>(load_tile<V>(now, p), load_tile<V>(F, p), load_tile<V>(D, p), data.parameters,
                               data.edges, tangent);
    for (int c = 0; c < 81; ++c) store_lanes(C + tile_index(p, c, 81), data.weight * tangent[c]);
  }
  SUPPLE_HD void operator()(int p) const { points<S>(p); }
#ifndef __CUDACC__
  SUPPLE_WHOLE void lanes(int p) const {
    points<Pack<S>>(p);
  }
#endif
};

// The same added to the stiffness of elements (ElementStiffnessOp); one robot.
template <class Law, class S>
struct LinearStressStiffnessOp {
  PointField<S> field;
  int nodes_per_element, points_per_element;
  const S* gradient;
  const S *now, *F, *D;
  S* blocks;
  SUPPLE_INLINE void operator()(int e) const {
    const int n = nodes_per_element;
    S* out = blocks + static_cast<std::size_t>(e) * (n * (n + 1) / 2) * 9;
    for (int q = 0; q < points_per_element; ++q) {
      const int p = e * points_per_element + q;
      const PointData<S> data = load_points<S, Law>(field, 0, p);
      S C[81];
      linear_stress_tangent<Law>(load_tile<S>(now, p), load_tile<S>(F, p), load_tile<S>(D, p), data.parameters,
                                 data.edges, C);
      add_element_stiffness(n, data.weight, C, gradient + 3 * static_cast<std::size_t>(p) * n, out);
    }
  }
};

}  // namespace supple

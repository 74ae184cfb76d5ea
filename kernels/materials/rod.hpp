#pragma once
// A slender rod at one of its nodes: what it resists stretching with, of half of each segment that meets there, and what
// it resists bending with, between the two. F is no deformation gradient: with the directions a and b of the segments
// before and after the node, over their lengths at rest, and a0 and b0 these at rest,
//   F = I + (a - a0) e_x^T + (b - b0) e_y^T,   edges = [a0 b0 (s, 0, 0)].
// With c = a.b/(|a| |b|) = cos phi,
//   W = s [w(|a| - 1) + w(|b| - 1)]/2 + 2 B (1 - c)/(1 + c),   w' = T of fibres.hpp with E and e0,
// s the share of the point's volume that stretches.
// The second term is 2 B tan^2(phi/2), that of a discrete elastic rod that is straight at rest, whose curvature is
// 2 tan(phi/2) over the length of a segment (M. Bergou et al., Discrete elastic rods, 2008). Twist is not resisted.
// Parameters: p[0] = E [Pa]; p[1] = B = E I/(A h^2) [Pa] with the second moment of area I, the area A and the length h of
// a segment; p[2] = e0. Not defined where a or b is zero, or where the rod folds back (c = -1).
//
// Tangent, with g = dc/d(a, b), f(c) the second term: f'' g g^T + f' d2c/d(a, b)2, and the segments' own as that of
// fibres.hpp. Safe: of the second derivative by the angles (turning in the plane of a and b, t_a and t_b the normals to
// them there; out of it, along n) what is not negative,
//   B s (s + 2 (s - 1)) (t_b.db/|b| - t_a.da/|a|)^2 + B s (n.(db/|b| - da/|a|))^2,   s = 1/cos^2(phi/2) = 2/(1 + c),
// which is exact where the rod is straight and not stretched.

#include "kernels/materials/fibres.hpp"

namespace supple {

struct Rod {
  static constexpr int parameters = 3;
  static constexpr unsigned moduli = 0b011;

  // The two directions.
  template <class S>
  struct Bend {
    Vec3<S> a, b;          // of unit length
    S length_a, length_b;  // |a|, |b|
    FibrePull<S> pull_a, pull_b;
    S cosine;
  };

  // Returns where both are defined and do not fold back.
  template <class S>
  SUPPLE_INLINE static auto bend(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges, Bend<S>& r) {
    using std::sqrt;
    Vec3<S> a, b;
    for (int i = 0; i < 3; ++i) {
      a[i] = edges(i, 0) + F(i, 0) - S(i == 0 ? 1 : 0);
      b[i] = edges(i, 1) + F(i, 1) - S(i == 1 ? 1 : 0);
    }
    const S aa = dot(a, a), bb = dot(b, b);
    const auto long_a = both(finite(aa), aa > S(0)), long_b = both(finite(bb), bb > S(0));
    const auto directed = both(long_a, long_b);
    r.length_a = sqrt(select(directed, aa, S(1)));
    r.length_b = sqrt(select(directed, bb, S(1)));
    const Vec3<S> x{{S(1), S(0), S(0)}};
    r.a = select(directed, (S(1) / r.length_a) * a, x);
    r.b = select(directed, (S(1) / r.length_b) * b, x);
    const S c = dot(r.a, r.b);
    const auto defined = both(directed, c > S(-1) + S(1e-6));
    r.cosine = select(defined, select(c < S(1), c, S(1)), S(1));
    r.pull_a = fibre_pull(r.length_a - S(1), edges(0, 2) * m.p[0], m.p[2]);
    r.pull_b = fibre_pull(r.length_b - S(1), edges(0, 2) * m.p[0], m.p[2]);
    return defined;
  }

  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges) {
    Bend<S> r;
    (void)bend(F, m, edges, r);
    const S k = edges(0, 2) * m.p[0];
    const S stretching = fibre_energy(r.length_a - S(1), k, m.p[2]) + fibre_energy(r.length_b - S(1), k, m.p[2]);
    return S(0.5) * stretching + S(2) * m.p[1] * (S(1) - r.cosine) / (S(1) + r.cosine);
  }

  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges, Mat3<S>& P) {
    Bend<S> r;
    const auto bent = bend(F, m, edges, r);
    const S c = r.cosine, slope = S(-4) * m.p[1] / ((S(1) + c) * (S(1) + c));
    const Vec3<S> Pa = S(0.5) * r.pull_a.tension * r.a + (slope / r.length_a) * (r.b - c * r.a);
    const Vec3<S> Pb = S(0.5) * r.pull_b.tension * r.b + (slope / r.length_b) * (r.a - c * r.b);
    P = from_columns(Pa, Pb, Vec3<S>{{S(0), S(0), S(0)}});
    const auto defined = both(bent, finite(dot(P, P)));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, defined);
  }

  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                TangentKind kind, S* C) {
    Bend<S> r;
    const auto defined = bend(F, m, edges, r);
    set_zero(C);
    add_segment(0, r.a, r.length_a, r.pull_a, kind, C);
    add_segment(1, r.b, r.length_b, r.pull_b, kind, C);
    if (kind == TangentKind::exact)
      add_bending(r, m.p[1], C);
    else
      add_safe_bending(r, m.p[1], C);
    const auto kept = keep_finite(defined, C);
    return point_status(kept, kept);
  }

 private:
  // C over the entries (i, j) and (k, l) of F.
  template <class S>
  SUPPLE_INLINE static S& at(S* C, int i, int j, int k, int l) {
    return C[9 * (3 * i + j) + 3 * k + l];
  }

  template <class S>
  SUPPLE_INLINE static void add_segment(int j, const Vec3<S>& d, const S& length, const FibrePull<S>& pull,
                                        TangentKind kind, S* C) {
    S across = pull.tension / length;
    if (kind != TangentKind::exact) across = select(across > S(0), across, S(0));
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        at(C, i, j, k, j) += S(0.5) * ((pull.slope - across) * d[i] * d[k] + (i == k ? across : S(0)));
  }

  template <class S>
  SUPPLE_INLINE static void add_bending(const Bend<S>& r, const S& B, S* C) {
    const S c = r.cosine, q = S(1) / (S(1) + c);
    const S first = S(-4) * B * q * q, second = S(8) * B * q * q * q;
    const S la = S(1) / r.length_a, lb = S(1) / r.length_b;
    const Vec3<S> g[2] = {la * (r.b - c * r.a), lb * (r.a - c * r.b)};
    const Vec3<S> own[2] = {r.a, r.b};
    const S per[2] = {la, lb};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const S one = S(i == k ? 1 : 0);
        for (int j = 0; j < 2; ++j) {
          const S turned = g[j][i] * own[j][k] + own[j][i] * g[j][k] + c * per[j] * (one - own[j][i] * own[j][k]);
          at(C, i, j, k, j) += second * g[j][i] * g[j][k] - first * per[j] * turned;
        }
        const S mixed = la * (lb * (one - r.b[i] * r.b[k]) - r.a[i] * g[1][k]);  // d2c/(da_i db_k)
        const S both_ends = second * g[0][i] * g[1][k] + first * mixed;
        at(C, i, 0, k, 1) += both_ends;
        at(C, k, 1, i, 0) += both_ends;
      }
  }

  template <class S>
  SUPPLE_INLINE static void add_safe_bending(const Bend<S>& r, const S& B, S* C) {
    using std::sqrt;
    // n: any direction across where the rod is straight.
    const Vec3<S> turn = cross(r.a, r.b);
    const S sine2 = dot(turn, turn);
    const auto bent = sine2 > S(1e-12);
    const S ax = r.a[0] * r.a[0];
    const Vec3<S> side = select(ax < S(0.5), Vec3<S>{{S(1), S(0), S(0)}}, Vec3<S>{{S(0), S(1), S(0)}});
    Vec3<S> n = select(bent, turn, cross(r.a, side));
    n = (S(1) / sqrt(dot(n, n))) * n;
    const Vec3<S> across[2] = {cross(n, r.a), cross(n, r.b)};
    const S share = S(2) / (S(1) + r.cosine), per[2] = {S(-1) / r.length_a, S(1) / r.length_b};
    const S in_plane = B * share * (S(3) * share - S(2)), out_of_plane = B * share;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 2; ++j)
          for (int l = 0; l < 2; ++l)
            at(C, i, j, k, l) +=
                per[j] * per[l] * (in_plane * across[j][i] * across[l][k] + out_of_plane * n[i] * n[k]);
  }
};

}  // namespace supple

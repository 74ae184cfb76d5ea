#pragma once
// Corotational plane stress of a membrane: a layer so thin that it has no stiffness in bending, and no stress across
// it. The columns of `edges` are the rest frame: e1 and e2 in the plane, n = e1 x e2, orthonormal. The law reads
// F [e1 e2] = [f1 f2] (3x2) alone, not F n; in one plane or another, inverted means nothing. With the polar
// decomposition [f1 f2] = R S, R (3x2) of orthonormal columns r1, r2, S (2x2) symmetric positive definite, and
// e = S - I,
//   W = mu |e|^2 + lambda/2 tr(e)^2,   T = 2 mu e + lambda tr(e) I,   P = R T [e1 e2]^T.
// Parameters: p[0] = mu, p[1] = lambda of plane stress, E nu / (1 - nu^2) = 2 mu lambda_L / (lambda_L + 2 mu) of Lame's
// lambda_L (Pa). Not defined where f1 and f2 are parallel.
//
// S in closed form: with d = |f1 x f2| = det S, m = (f1 x f2) / d the normal now, and
//   s = tr S = sqrt(|f1|^2 + |f2|^2 + 2 d),
//   r1 = (f1 + f2 x m) / s,   r2 = (f2 + m x f1) / s,   S = [r1 r2]^T [f1 f2],   S^-1 = (s I - S) / d.
//
// Tangent: for A = [r1 r2]^T dF [e1 e2] (2x2), t = tr A, w = A_21 - A_12, b = [e1 e2]^T dF^T m,
//   dF : C : dF = 2 mu |sym A|^2 + lambda t^2 + k w^2 + b^T B b,
//   k = (mu + lambda) (s - 2) / s  (turning in the plane),   B = T S^-1 = 2 mu I + (lambda (s - 2) - 2 mu) S^-1
// (turning out of it: what a stretched layer resists with, and a compressed one buckles with). Safe: k and the
// eigenvalues of B clamped to >= 0, the nearest positive semidefinite tangent; for lambda > -mu the rest is one.

#include "kernels/materials/law.hpp"

namespace supple {

struct CorotationalMembrane {
  static constexpr int parameters = 2;
  static constexpr unsigned moduli = 0b11;

  template <class S>
  struct Symmetric2 {
    S xx, xy, yy;
  };

  // The plane as F leaves it; where it is not `defined`, the rest frame.
  template <class S>
  struct Plane {
    Vec3<S> e1, e2, r1, r2, normal;
    Symmetric2<S> stretch;
    S det, trace;
  };

  // Returns where F has such a plane.
  template <class S>
  SUPPLE_INLINE static auto plane(const Mat3<S>& F, const Mat3<S>& edges, Plane<S>& p) {
    using std::sqrt;
    p.e1 = column_of(edges, 0);
    p.e2 = column_of(edges, 1);
    Vec3<S> f1 = F * p.e1, f2 = F * p.e2, area = cross(f1, f2);
    S size = dot(f1, f1) + dot(f2, f2), det2 = dot(area, area);
    const auto defined = both(finite(size), both(finite(det2), det2 > S(0)));
    f1 = select(defined, f1, p.e1);
    f2 = select(defined, f2, p.e2);
    area = cross(f1, f2);
    p.det = norm(area);
    p.normal = (S(1) / p.det) * area;
    p.trace = sqrt(dot(f1, f1) + dot(f2, f2) + S(2) * p.det);
    p.r1 = (S(1) / p.trace) * (f1 + cross(f2, p.normal));
    p.r2 = (S(1) / p.trace) * (f2 + cross(p.normal, f1));
    p.stretch = {dot(p.r1, f1), S(0.5) * (dot(p.r1, f2) + dot(p.r2, f1)), dot(p.r2, f2)};
    return defined;
  }

  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges) {
    Plane<S> p;
    (void)plane(F, edges, p);
    const S x = p.stretch.xx - S(1), y = p.stretch.yy - S(1), xy = p.stretch.xy;
    return m.p[0] * (x * x + y * y + S(2) * xy * xy) + S(0.5) * m.p[1] * (x + y) * (x + y);
  }

  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges, Mat3<S>& P) {
    Plane<S> p;
    const auto plane_defined = plane(F, edges, p);
    const S two_mu = S(2) * m.p[0], pressure = m.p[1] * (p.trace - S(2)) - two_mu;
    const S xx = two_mu * p.stretch.xx + pressure, yy = two_mu * p.stretch.yy + pressure, xy = two_mu * p.stretch.xy;
    P = outer(xx * p.r1 + xy * p.r2, p.e1) + outer(xy * p.r1 + yy * p.r2, p.e2);
    const auto defined = both(plane_defined, finite(dot(P, P)));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, defined);
  }

  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                TangentKind kind, S* C) {
    Plane<S> p;
    const auto defined = plane(F, edges, p);
    const S mu = m.p[0], lambda = m.p[1];
    S spin = (mu + lambda) * (p.trace - S(2)) / p.trace;
    const S over = (lambda * (p.trace - S(2)) - S(2) * mu) / p.det;  // of s I - S in B
    Symmetric2<S> B{S(2) * mu + over * p.stretch.yy, -over * p.stretch.xy, S(2) * mu + over * p.stretch.xx};
    if (kind != TangentKind::exact) {
      spin = select(spin > S(0), spin, S(0));
      B = clamp(B);
    }
    const Mat3<S> xx = outer(p.r1, p.e1), yy = outer(p.r2, p.e2), xy = outer(p.r1, p.e2), yx = outer(p.r2, p.e1);
    const Mat3<S> even = xy + yx, odd = yx - xy, sum = xx + yy;
    const Mat3<S> b1 = outer(p.normal, p.e1), b2 = outer(p.normal, p.e2);
    set_zero(C);
    add_outer(S(2) * mu, xx, xx, C);
    add_outer(S(2) * mu, yy, yy, C);
    add_outer(mu, even, even, C);
    add_outer(lambda, sum, sum, C);
    add_outer(spin, odd, odd, C);
    add_outer(S(1), b1, B.xx * b1 + B.xy * b2, C);
    add_outer(S(1), b2, B.xy * b1 + B.yy * b2, C);
    const auto kept = keep_finite(defined, C);
    return point_status(kept, kept);
  }

  // In the plane; out of it along the eigenvectors of B; none along n.
  template <class S>
  SUPPLE_HD static TangentSpectrum<S> spectrum(const Mat3<S>& F, const Mat3<S>& edges, const S* C) {
    using std::sqrt;
    constexpr double half_root = 0.70710678118654752440;
    Plane<S> p;
    (void)plane(F, edges, p);
    const Mat3<S> xx = outer(p.r1, p.e1), yy = outer(p.r2, p.e2), xy = outer(p.r1, p.e2), yx = outer(p.r2, p.e1);
    const Mat3<S> b1 = outer(p.normal, p.e1), b2 = outer(p.normal, p.e2), of_b1 = times(C, b1);
    const S half = S(0.5) * (dot(b1, of_b1) - dot(b2, times(C, b2))), off = dot(b2, of_b1);
    const S radius = sqrt(half * half + off * off);
    const auto upper = half >= S(0);
    S x = select(upper, radius + half, off), y = select(upper, off, radius - half);
    const S length = sqrt(x * x + y * y);
    const auto turned = length > S(0);
    x = select(turned, x / select(turned, length, S(1)), S(1));
    y = select(turned, y / select(turned, length, S(1)), S(0));
    const Vec3<S> n = column_of(edges, 2);
    const Mat3<S> directions[] = {S(half_root) * (yx - xy), x * b1 + y * b2,          x * b2 - y * b1,
                                  S(half_root) * (xx + yy), S(half_root) * (xx - yy), S(half_root) * (xy + yx),
                                  outer(p.r1, n),           outer(p.r2, n),           outer(p.normal, n)};
    TangentSpectrum<S> found;
    for (int k = 0; k < 9; ++k) {
      found.directions[k] = directions[k];
      found.values[k] = k < 6 ? dot(directions[k], times(C, directions[k])) : S(0);
    }
    // E2 S + S E2 = tr(S) E2 in the plane, E2 a quarter turn; out of it (m w^T - w m^T) F = m (S rho)^T, w = R rho.
    const auto skew = [](const Vec3<S>& a, const Vec3<S>& b) { return outer(a, b) - outer(b, a); };
    found.left[0] = (S(half_root) / p.trace) * skew(p.r2, p.r1);
    found.right[0] = (S(half_root) / p.trace) * skew(p.e2, p.e1);
    const S flat = S(1e-3) * p.trace * p.trace;
    const auto out_of_plane = [&](int k, const S& along_1, const S& along_2) {
      const S rho_1 = (p.stretch.yy * along_1 - p.stretch.xy * along_2) / p.det,
              rho_2 = (p.stretch.xx * along_2 - p.stretch.xy * along_1) / p.det;
      found.left[k] = skew(p.normal, rho_1 * p.r1 + rho_2 * p.r2);
      found.right[k] = Mat3<S>::zero();
    };
    out_of_plane(1, x, y);
    out_of_plane(2, -y, x);
    for (int k = 0; k < 3; ++k) found.turns[k] = select(p.det > flat, S(1), S(0));
    return found;
  }

  // Eigenvalues below zero become zero.
  template <class S>
  SUPPLE_INLINE static Symmetric2<S> clamp(const Symmetric2<S>& a) {
    using std::sqrt;
    const S mean = S(0.5) * (a.xx + a.yy), half = S(0.5) * (a.xx - a.yy);
    const S radius = sqrt(half * half + a.xy * a.xy);
    const S high = mean + radius, low = mean - radius;
    // Of eigenvalues of both signs, high / (2 radius) (A - low I) is left.
    const S scale = select(low >= S(0), S(1), select(high > S(0), high / (S(2) * radius), S(0)));
    const S shift = select(both(low<S(0), high> S(0)), low, S(0));
    return {scale * (a.xx - shift), scale * a.xy, scale * (a.yy - shift)};
  }
};

}  // namespace supple

#pragma once
// Corotational linear elasticity: with a rotation R taken out, e = sym(R^T F) - I,
//   W = mu |e|^2 + lambda/2 tr(e)^2,   P = R (2 mu e + lambda tr(e) I).
// Parameters: p[0] = mu, p[1] = lambda (Lame, Pa).
//
// Tangent in four rows (docs/theory/full-model.md): for A = R^T dF, t = tr A, w = axial vector of A - A^T,
//   dF : C : dF = 2 mu |dF|^2 + lambda t^2 + w^T Q w,
// with Q = -mu I for a frozen rotation (positive semidefinite) and, for the polar rotation of F = R S, the exact
//   Q = (lambda tr(S - I) - 2 mu) (tr(S) I - S)^-1 .

#include "kernels/materials/law.hpp"
#include "kernels/math/polar.hpp"

namespace supple {

// Rotation = polar factor of F (of largest tr(R^T F), det +1, when F is inverted).
struct PolarOfGradient {
  static constexpr bool has_exact_tangent = true;
  template <class S>
  SUPPLE_INLINE static Mat3<S> rotation(const Mat3<S>& F, const Mat3<S>&) {
    return polar_rotation(F);
  }
};

// Frame on the element's edges (SOFA's "large"): x along p1 - p0, z = x cross (p2 - p0), y = z cross x;
//   R = frame(now) frame(rest)^T.
// The columns of `edges` are p1 - p0, p2 - p0, p3 - p0 at rest.
struct EdgeFrame {
  static constexpr bool has_exact_tangent = false;
  template <class S>
  SUPPLE_HD static Mat3<S> frame(const Mat3<S>& edges) {
    const Vec3<S> a{{edges(0, 0), edges(1, 0), edges(2, 0)}}, b{{edges(0, 1), edges(1, 1), edges(2, 1)}};
    const Vec3<S> x = normalized(a), z = normalized(cross(x, b)), y = cross(z, x);
    return from_columns(x, y, z);
  }
  template <class S>
  SUPPLE_HD static Mat3<S> rotation(const Mat3<S>& F, const Mat3<S>& edges) {
    return frame(F * edges) * transpose(frame(edges));
  }
};

// Polar factor of the edge matrix (SOFA's "polar"): R = polar(F E) polar(E)^T.
struct PolarOfEdges {
  static constexpr bool has_exact_tangent = false;
  template <class S>
  SUPPLE_HD static Mat3<S> rotation(const Mat3<S>& F, const Mat3<S>& edges) {
    return polar_rotation(F * edges) * transpose(polar_rotation(edges));
  }
};

// The four rows: t = R (as a vector of 9), w[k] the k-th axial component, Q their 3x3 coefficient, lambda that of t; 2
// mu goes with |dF|^2.
template <class S>
struct FourRows {
  Mat3<S> t;
  Mat3<S> w[3];
  Mat3<S> Q;
  S lambda, two_mu;
};

template <class Rotation>
struct Corotational : LameParameters {
  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges) {
    const Mat3<S> A = transpose(Rotation::rotation(F, edges)) * F;
    const Mat3<S> e = S(0.5) * (A + transpose(A)) - Mat3<S>::identity();
    return m.p[0] * dot(e, e) + S(0.5) * m.p[1] * trace(e) * trace(e);
  }

  template <class S>
  SUPPLE_INLINE static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges, Mat3<S>& P) {
    Mat3<S> R;
    return stress_and_rotation(F, m, edges, P, R);
  }

  // The same, with the rotation it took out; P = 0 and R = I where F is not finite or has no frame.
  template <class S>
  SUPPLE_INLINE static auto stress_and_rotation(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                                Mat3<S>& P, Mat3<S>& R) {
    const auto known = finite(dot(F, F));
    const Mat3<S> f = select(known, F, Mat3<S>::identity());
    R = Rotation::rotation(f, edges);
    P = stress_of(R, f, m);
    const auto defined = both(known, finite(dot(P, P)));
    R = select(defined, R, Mat3<S>::identity());
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, determinant(F) > S(0));
  }

  template <class S>
  SUPPLE_INLINE static Mat3<S> stress_of(const Mat3<S>& R, const Mat3<S>& F, const MaterialParameters<S>& m) {
    const Mat3<S> A = transpose(R) * F;
    Mat3<S> s = m.p[0] * (A + transpose(A));
    const S pressure = m.p[1] * (trace(A) - S(3)) - S(2) * m.p[0];
    for (int k = 0; k < 3; ++k) s(k, k) += pressure;
    return R * s;
  }

  template <class S>
  SUPPLE_HD static FourRows<S> four_rows(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                         TangentKind kind) {
    return four_rows_of(Rotation::rotation(F, edges), F, m, kind);
  }

  // The same where the rotation is known.
  template <class S>
  SUPPLE_INLINE static FourRows<S> four_rows_of(const Mat3<S>& R, const Mat3<S>& F, const MaterialParameters<S>& m,
                                                TangentKind kind) {
    const S mu = m.p[0], lambda = m.p[1];
    FourRows<S> rows;
    rows.t = R;
    // A_ij = sum_m R_mi dF_mj; w_0 = A_21 - A_12, w_1 = A_02 - A_20, w_2 = A_10 - A_01.
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;  // w_k = A_ba - A_ab
      rows.w[k] = Mat3<S>::zero();
      for (int i = 0; i < 3; ++i) {
        rows.w[k](i, a) = R(i, b);
        rows.w[k](i, b) = -R(i, a);
      }
    }
    rows.lambda = lambda;
    rows.two_mu = S(2) * mu;
    rows.Q = (-mu) * Mat3<S>::identity();
    if (kind == TangentKind::exact && Rotation::has_exact_tangent) {
      const Mat3<S> A = transpose(R) * F;
      const Mat3<S> stretch = S(0.5) * (A + transpose(A));
      const S sum = trace(stretch);
      const Mat3<S> G = sum * Mat3<S>::identity() - stretch;
      const S det = determinant(G);
      // G has eigenvalues s_i + s_j; when one is (nearly) zero the rotation is not differentiable: keep the frozen
      // bound.
      const S size = dot(G, G);
      const auto differentiable = both(det > S(1e-9) * size * sqrt(size), determinant(F) > S(0));
      rows.Q = select(differentiable, ((lambda * (sum - S(3)) - S(2) * mu) / det) * transpose(cofactor(G)), rows.Q);
    }
    return rows;
  }

  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                TangentKind kind, S* C) {
    set_zero(C);
    const auto defined = finite(dot(F, F));
    const FourRows<S> r = four_rows(select(defined, F, Mat3<S>::identity()), m, edges, kind);
    for (int i = 0; i < 9; ++i) C[10 * i] = r.two_mu;
    add_outer(r.lambda, r.t, r.t, C);
    for (int k = 0; k < 3; ++k) {
      const Mat3<S> Qw = r.Q(k, 0) * r.w[0] + r.Q(k, 1) * r.w[1] + r.Q(k, 2) * r.w[2];
      add_outer(S(1), r.w[k], Qw, C);
    }
    const auto kept = keep_finite(defined, C);
    return point_status(kept, kept);
  }
};

}  // namespace supple

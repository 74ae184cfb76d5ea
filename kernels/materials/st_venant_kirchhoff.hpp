#pragma once
// St. Venant-Kirchhoff: E = (F^T F - I)/2, W = mu |E|^2 + lambda/2 tr(E)^2, P = F (2 mu E + lambda tr(E) I).
// Parameters: p[0] = mu, p[1] = lambda (Pa). Softens in compression: below a stretch of about 0.58 it loses stability.

#include "kernels/materials/clamp.hpp"

namespace supple {

struct StVenantKirchhoff : LameParameters, IsotropicTangent {
  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&) {
    const Mat3<S> E = S(0.5) * (transpose(F) * F - Mat3<S>::identity());
    return m.p[0] * dot(E, E) + S(0.5) * m.p[1] * trace(E) * trace(E);
  }

  template <class S>
  SUPPLE_HD static Mat3<S> second_stress(const Mat3<S>& F, const MaterialParameters<S>& m) {
    const Mat3<S> E = S(0.5) * (transpose(F) * F - Mat3<S>::identity());
    Mat3<S> s = (S(2) * m.p[0]) * E;
    const S pressure = m.p[1] * trace(E);
    for (int k = 0; k < 3; ++k) s(k, k) += pressure;
    return s;
  }

  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, Mat3<S>& P) {
    P = F * second_stress(F, m);
    const auto defined = finite(dot(P, P));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, determinant(F) > S(0));
  }

  // dP = dF S + F (mu (dF^T F + F^T dF) + lambda tr(F^T dF) I)
  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, TangentKind kind,
                                S* C) {
    const Mat3<S> second = second_stress(F, m);
    const Mat3<S> FFt = F * transpose(F);
    const S mu = m.p[0], lambda = m.p[1];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) {
            S c = lambda * F(i, j) * F(k, l) + mu * F(i, l) * F(k, j);
            if (i == k) c += second(l, j);
            if (j == l) c += mu * FFt(i, k);
            C[9 * (3 * i + j) + 3 * k + l] = c;
          }
    const auto kept = keep_finite(finite(dot(F, F)), C);
    if (kind == TangentKind::safe) clamp_isotropic_tangent(select(kept, F, Mat3<S>::identity()), C);
    return point_status(kept, kept);
  }
};

}  // namespace supple

#pragma once
// Stable neo-Hookean (B. Smith, F. de Goes, T. Kim, "Stable neo-Hookean flesh simulation", 2018, eq. 14):
//   W = mu/2 (I_C - 3) + lambda/2 (J - a)^2 - mu/2 log(I_C + 1),   a = 1 + mu/lambda - mu/(4 lambda),   I_C = |F|^2,
// here without a constant and with the square written out, so that mu and lambda have a part each:
//   W = mu/2 (I_C - 3) - mu/2 log(I_C + 1) - 3/4 mu (J - 1) + lambda/2 (J - 1)^2
//   P = mu (1 - 1/(I_C + 1)) F + (lambda (J - 1) - 3/4 mu) cof F
// Parameters: p[0] = mu, p[1] = lambda of this energy; from the Lame constants mu = 4/3 mu_L, lambda = lambda_L + 5/6
// mu_L so that small strains agree with linear elasticity. Defined for every F, also inverted; W is not zero at rest (a
// constant).

#include "kernels/materials/clamp.hpp"

namespace supple {

struct StableNeoHookean : IsotropicTangent {
  static constexpr int parameters = 2, volumetric = 1;
  static constexpr unsigned moduli = 0b11;
  static constexpr double volumetric_share = 1;
  template <class S>
  SUPPLE_HD static S shear_modulus(const MaterialParameters<S>& m) {
    return S(0.75) * m.p[0];
  }
  template <class S>
  SUPPLE_HD static S bulk_modulus(const MaterialParameters<S>& m) {
    return m.p[1] - S(0.125) * m.p[0];  // lambda_L + 2/3 mu_L
  }

  // dW/dJ
  template <class S>
  SUPPLE_INLINE static S pressure(const S& J, const MaterialParameters<S>& m) {
    return m.p[1] * (J - S(1)) - S(0.75) * m.p[0];
  }

  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&) {
    using std::log;
    const S ic = dot(F, F), j = determinant(F) - S(1);
    return S(0.5) * m.p[0] * (ic - S(3) - log(ic + S(1)) - S(1.5) * j) + S(0.5) * m.p[1] * j * j;
  }

  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, Mat3<S>& P) {
    const S ic = dot(F, F), J = determinant(F);
    P = (m.p[0] * (S(1) - S(1) / (ic + S(1)))) * F + pressure(J, m) * cofactor(F);
    const auto defined = finite(dot(P, P));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, J > S(0));
  }

  // C = mu (1 - 1/(I_C+1)) I + 2 mu/(I_C+1)^2 F F^T + lambda cof cof^T + dW/dJ d cof/dF
  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, TangentKind kind,
                                S* C) {
    const S ic = dot(F, F), J = determinant(F);
    const Mat3<S> cof = cofactor(F);
    set_zero(C);
    const S diagonal = m.p[0] * (S(1) - S(1) / (ic + S(1)));
    for (int i = 0; i < 9; ++i) C[10 * i] = diagonal;
    add_outer(S(2) * m.p[0] / ((ic + S(1)) * (ic + S(1))), F, F, C);
    add_outer(m.p[1], cof, cof, C);
    add_determinant_hessian(pressure(J, m), F, C);
    const auto kept = keep_finite(finite(dot(F, F)), C);
    if (kind == TangentKind::safe) clamp_isotropic_tangent(select(kept, F, Mat3<S>::identity()), C);
    return point_status(kept, kept);
  }
};

}  // namespace supple

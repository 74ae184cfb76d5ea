#pragma once
// Ogden with three terms (R. W. Ogden, Large deformation isotropic elasticity, 1972):
//   W = sum_i mu_i/alpha_i (l_1^alpha_i + l_2^alpha_i + l_3^alpha_i - 3) + D (J - 1)^2,   l_k = J^-1/3 s_k
// with the singular values s of F. Parameters: p[0], p[2], p[4] = mu_i (Pa), p[1], p[3], p[5] = alpha_i (not 0),
// p[6] = D (Pa); small strains: 2 mu = sum mu_i alpha_i, bulk modulus = 2 D. Not defined for J <= 0.

#include "kernels/materials/clamp.hpp"

namespace supple {

struct Ogden : IsotropicTangent {
  static constexpr int parameters = 7, terms = 3, volumetric = 6;
  static constexpr unsigned moduli = 0b1010101;
  static constexpr double volumetric_share = 0.5;
  template <class S>
  SUPPLE_HD static S shear_modulus(const MaterialParameters<S>& m) {
    return S(0.5) * (m.p[0] * m.p[1] + m.p[2] * m.p[3] + m.p[4] * m.p[5]);
  }
  template <class S>
  SUPPLE_HD static S bulk_modulus(const MaterialParameters<S>& m) {
    return S(2) * m.p[6];
  }

  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&) {
    using std::cbrt;
    using std::pow;
    const Svd3<S> d = svd(F);
    const S J = determinant(F), scale = S(1) / cbrt(J);
    S w = m.p[6] * (J - S(1)) * (J - S(1));
    for (int i = 0; i < terms; ++i) {
      S sum = S(-3);
      for (int k = 0; k < 3; ++k) sum += pow(scale * d.s[k], m.p[2 * i + 1]);
      w += m.p[2 * i] / m.p[2 * i + 1] * sum;
    }
    return w;
  }

  // By x_k = log s_k: tau_k = sum_i mu_i l_k^alpha_i, slope_k = sum_i mu_i alpha_i l_k^alpha_i, and
  // dW/dx_k = tau_k - (tau_1 + tau_2 + tau_3)/3 + 2 D (J - 1) J.
  template <class S>
  struct Principal {
    Svd3<S> d;
    S J, tau[3], slope[3], t[3];
  };
  template <class S>
  SUPPLE_HD static Principal<S> principal(const Mat3<S>& F, const MaterialParameters<S>& m) {
    using std::cbrt;
    using std::pow;
    Principal<S> v;
    v.d = svd(F);
    v.J = determinant(F);
    const S scale = S(1) / cbrt(v.J);
    for (int k = 0; k < 3; ++k) {
      v.tau[k] = v.slope[k] = S(0);
      for (int i = 0; i < terms; ++i) {
        const S part = m.p[2 * i] * pow(scale * v.d.s[k], m.p[2 * i + 1]);
        v.tau[k] += part;
        v.slope[k] += m.p[2 * i + 1] * part;
      }
    }
    const S common = S(2) * m.p[6] * (v.J - S(1)) * v.J - (v.tau[0] + v.tau[1] + v.tau[2]) / S(3);
    for (int k = 0; k < 3; ++k) v.t[k] = v.tau[k] + common;
    return v;
  }

  // P = U diag(dW/ds) V^T, dW/ds_k = dW/dx_k / s_k.
  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, Mat3<S>& P) {
    const Principal<S> v = principal(F, m);
    P = Mat3<S>::zero();
    for (int k = 0; k < 3; ++k) P = P + (v.t[k] / v.d.s[k]) * outer(column_of(v.d.u, k), column_of(v.d.v, k));
    const auto defined = both(v.J > S(0), finite(dot(P, P)));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, v.J > S(0));
  }

  // In the frame of U and V (clamp.hpp): over the stretches d2W/ds_k ds_l; of a pair (k, l) with p = dW/ds the
  // eigenvalues (p_k - p_l)/(s_k - s_l) and (p_k + p_l)/(s_k + s_l).
  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, TangentKind kind,
                                S* C) {
    using std::abs;
    set_zero(C);
    const Principal<S> v = principal(F, m);
    const S J = v.J, mean = (v.slope[0] + v.slope[1] + v.slope[2]) / S(9);
    const S volume = S(2) * m.p[6] * (S(2) * J - S(1)) * J;
    S W[3][3];
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) {
        const S own = k == l ? v.slope[k] - v.t[k] : S(0);
        W[k][l] = (own - (v.slope[k] + v.slope[l]) / S(3) + mean + volume) / (v.d.s[k] * v.d.s[l]);
      }
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) {
        const Vec3<S> uk = column_of(v.d.u, k), vk = column_of(v.d.v, k), ul = column_of(v.d.u, l),
                      vl = column_of(v.d.v, l);
        add_outer(W[k][l], outer(uk, vk), outer(ul, vl), C);
        if (l <= k) continue;
        const S p = v.t[k] / v.d.s[k], q = v.t[l] / v.d.s[l], difference = v.d.s[k] - v.d.s[l];
        // Closer ones by the derivative in the middle: the next term is the third one times the square of the
        // difference, and the quotient loses a rounding over the difference, so that the rounding's cube root is best.
        constexpr double close = sizeof(typename PackTraits<S>::Scalar) == sizeof(float) ? 5e-3 : 1e-5;
        const auto apart = difference > S(close) * v.d.s[k];
        const S middle = S(0.5) * (W[k][k] - W[k][l] + W[l][l] - W[l][k]);
        const S even = select(apart, (p - q) / select(apart, difference, S(1)), middle);
        const S odd = (p + q) / (v.d.s[k] + v.d.s[l]);
        const Mat3<S> a = outer(uk, vl), b = outer(ul, vk);
        add_outer(S(0.5) * even, a + b, a + b, C);
        add_outer(S(0.5) * odd, a - b, a - b, C);
      }
    const auto kept = keep_finite(J > S(0), C);
    if (kind == TangentKind::safe) clamp_isotropic_tangent(select(kept, F, Mat3<S>::identity()), C);
    return point_status(kept, kept);
  }

 private:
};

}  // namespace supple

#pragma once
// Nearly incompressible laws of the isochoric invariants:
//   W = w(I1bar, I2bar) + D (J - 1)^2,   I1bar = J^-2/3 I1,   I2bar = J^-4/3 I2,
// I1 = tr C, I2 = (tr(C)^2 - tr(C^2))/2, C = F^T F (R. W. Ogden, Non-linear elastic deformations, 1984, chapter 7).
// `Energy` gives w and its derivatives by x = I1bar - 3 and y = I2bar - 3, and the index `bulk` of D among the
// parameters [Pa]; bulk modulus = 2 D, shear modulus = 2 (dw/dx + dw/dy). Not defined for J <= 0, nor where the energy is
// not.

#include "kernels/materials/clamp.hpp"

namespace supple {

// w (energy() alone asks for it), dw/dx, dw/dy, d2w/dx2; defined where `defined` is positive. The laws here are linear in
// y, and mixed derivatives vanish.
template <class S>
struct InvariantEnergy {
  S w1, w2, w11, defined;
};

template <class Energy>
struct IsochoricLaw : IsotropicTangent {
  static constexpr int parameters = Energy::bulk + 1, volumetric = Energy::bulk;
  static constexpr unsigned moduli = Energy::moduli;
  static constexpr double volumetric_share = 0.5;
  template <class S>
  SUPPLE_HD static S shear_modulus(const MaterialParameters<S>& m) {
    const InvariantEnergy<S> at_rest = Energy::of(S(0), S(0), m);
    return S(2) * (at_rest.w1 + at_rest.w2);
  }
  template <class S>
  SUPPLE_HD static S bulk_modulus(const MaterialParameters<S>& m) {
    return S(2) * m.p[Energy::bulk];
  }

  template <class S>
  struct Invariants {
    S J, a, b, i1, i2;  // a = J^-2/3, b = a^2
    InvariantEnergy<S> energy;
  };

  template <class S>
  SUPPLE_INLINE static Invariants<S> invariants(const Mat3<S>& F, const Mat3<S>& C, const MaterialParameters<S>& m) {
    using std::cbrt;
    Invariants<S> v;
    v.J = determinant(F);
    v.i1 = trace(C);
    v.i2 = S(0.5) * (v.i1 * v.i1 - dot(C, C));
    const S root = cbrt(v.J);
    v.a = S(1) / (root * root);
    v.b = v.a * v.a;
    v.energy = Energy::of(v.a * v.i1 - S(3), v.b * v.i2 - S(3), m);
    return v;
  }

  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&) {
    const Invariants<S> v = invariants(F, transpose(F) * F, m);
    return Energy::energy(v.a * v.i1 - S(3), v.b * v.i2 - S(3), m) + m.p[Energy::bulk] * (v.J - S(1)) * (v.J - S(1));
  }

  // With g = cof F = dJ/dF, G1 = dI1/dF = 2 F, G2 = dI2/dF = 2 (I1 F - F C):
  //   dI1bar/dF = a G1 - 2/3 a I1/J g,   dI2bar/dF = b G2 - 4/3 b I2/J g,   P = w1 dI1bar + w2 dI2bar + 2 D (J - 1) g
  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, Mat3<S>& P) {
    const Mat3<S> C = transpose(F) * F;
    const Invariants<S> v = invariants(F, C, m);
    const S w1 = v.energy.w1, w2 = v.energy.w2;
    P = (S(2) * (w1 * v.a + w2 * v.b * v.i1)) * F - (S(2) * w2 * v.b) * (F * C) +
        (S(2) * m.p[Energy::bulk] * (v.J - S(1)) -
         (S(2.0 / 3.0) * w1 * v.a * v.i1 + S(4.0 / 3.0) * w2 * v.b * v.i2) / v.J) *
            cofactor(F);
    const auto defined = both(both(v.J > S(0), v.energy.defined > S(0)), finite(dot(P, P)));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, v.J > S(0));
  }

  // C = w1 d2 I1bar + w2 d2 I2bar + w11 dI1bar dI1bar^T + 2 D (g g^T + (J - 1) dg/dF)
  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, TangentKind kind,
                                S* C) {
    set_zero(C);
    const Mat3<S> FtF = transpose(F) * F, FFt = F * transpose(F);
    const Invariants<S> v = invariants(F, FtF, m);
    const S J = v.J, a = v.a, b = v.b, i1 = v.i1, i2 = v.i2;
    const S c1 = v.energy.w1, c2 = v.energy.w2, d = m.p[Energy::bulk];
    const Mat3<S> g = cofactor(F), G1 = S(2) * F, G2 = S(2) * (i1 * F - F * FtF);
    // I1bar: a H1 + a' (G1 g + g G1) + a'' I1 g g + a' I1 H_J;  a = J^-2/3, a' = -2/3 a/J, a'' = 10/9 a/J^2
    // I2bar the same with b = J^-4/3, b' = -4/3 b/J, b'' = 28/9 b/J^2.
    const S a1 = S(-2.0 / 3.0) * a / J, a2 = S(10.0 / 9.0) * a / (J * J);
    const S b1 = S(-4.0 / 3.0) * b / J, b2 = S(28.0 / 9.0) * b / (J * J);
    for (int i = 0; i < 9; ++i) C[10 * i] = S(2) * c1 * a;  // H1 = 2 I
    // H2 = d(2 (I1 F - F F^T F))/dF = 2 (I1 dF + (2 F:dF) F - dF F^T F - F dF^T F - F F^T dF)
    const S h = S(2) * c2 * b;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) {
            S value = S(2) * F(i, j) * F(k, l) - F(i, l) * F(k, j);
            if (i == k) value -= FtF(l, j);
            if (j == l) value -= FFt(i, k);
            if (i == k && j == l) value += i1;
            C[9 * (3 * i + j) + 3 * k + l] += h * value;
          }
    const S cross1 = c1 * a1, cross2 = c2 * b1;
    add_outer(cross1, G1, g, C);
    add_outer(cross1, g, G1, C);
    add_outer(cross2, G2, g, C);
    add_outer(cross2, g, G2, C);
    add_outer(c1 * a2 * i1 + c2 * b2 * i2 + S(2) * d, g, g, C);
    add_determinant_hessian(c1 * a1 * i1 + c2 * b1 * i2 + S(2) * d * (J - S(1)), F, C);
    if constexpr (Energy::curved) {
      const Mat3<S> A1 = a * G1 + (a1 * i1) * g;
      add_outer(v.energy.w11, A1, A1, C);
    }
    const auto kept = keep_finite(both(J > S(0), v.energy.defined > S(0)), C);
    if (kind == TangentKind::safe) clamp_isotropic_tangent(select(kept, F, Mat3<S>::identity()), C);
    return point_status(kept, kept);
  }
};

}  // namespace supple

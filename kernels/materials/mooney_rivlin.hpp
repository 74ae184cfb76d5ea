#pragma once
// Mooney-Rivlin as the paper writes it (Goury & Duriez 2018, eq. 10):
//   W = C01 (I1bar - 3) + C10 (I2bar - 3) + D (J - 1)^2,   I1bar = J^-2/3 I1,   I2bar = J^-4/3 I2,
// I1 = tr C, I2 = (tr(C)^2 - tr(C^2))/2, C = F^T F. Parameters: p[0] = C01, p[1] = C10, p[2] = D (Pa); small strains:
// mu = 2 (C01 + C10), bulk modulus = 2 D. Not defined for J <= 0.

#include "kernels/materials/clamp.hpp"

namespace supple {

struct MooneyRivlin {
  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&) {
    using std::cbrt;
    const S J = determinant(F);
    const Mat3<S> C = transpose(F) * F;
    const S i1 = trace(C), i2 = S(0.5) * (i1 * i1 - dot(C, C));
    const S a = S(1) / (cbrt(J) * cbrt(J));
    return m.p[0] * (a * i1 - S(3)) + m.p[1] * (a * a * i2 - S(3)) + m.p[2] * (J - S(1)) * (J - S(1));
  }

  // With a = J^-2/3, g = cof F = dJ/dF, G1 = dI1/dF = 2 F, G2 = dI2/dF = 2 (I1 F - F C):
  // P = C01 (a G1 - 2/3 a I1/J g) + C10 (a^2 G2 - 4/3 a^2 I2/J g) + 2 D (J - 1) g
  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, Mat3<S>& P) {
    using std::cbrt;
    const S J = determinant(F);
    const Mat3<S> C = transpose(F) * F;
    const S i1 = trace(C), i2 = S(0.5) * (i1 * i1 - dot(C, C));
    const S root = cbrt(J), a = S(1) / (root * root), b = a * a;
    const Mat3<S> g = cofactor(F);
    P = (S(2) * (m.p[0] * a + m.p[1] * b * i1)) * F - (S(2) * m.p[1] * b) * (F * C) +
        (S(2) * m.p[2] * (J - S(1)) - (S(2.0 / 3.0) * m.p[0] * a * i1 + S(4.0 / 3.0) * m.p[1] * b * i2) / J) * g;
    const auto defined = both(J > S(0), finite(dot(P, P)));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, J > S(0));
  }

  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>&, TangentKind kind,
                                S* C) {
    using std::cbrt;
    set_zero(C);
    const S J = determinant(F);
    const Mat3<S> FtF = transpose(F) * F, FFt = F * transpose(F);
    const S i1 = trace(FtF), i2 = S(0.5) * (i1 * i1 - dot(FtF, FtF));
    const S root = cbrt(J), a = S(1) / (root * root), b = a * a;
    const Mat3<S> g = cofactor(F), G1 = S(2) * F, G2 = S(2) * (i1 * F - F * FtF);
    const S c1 = m.p[0], c2 = m.p[1], d = m.p[2];
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
    const auto kept = keep_finite(J > S(0), C);
    if (kind == TangentKind::safe) clamp_isotropic_tangent(select(kept, F, Mat3<S>::identity()), C);
    return point_status(kept, kept);
  }
};

}  // namespace supple

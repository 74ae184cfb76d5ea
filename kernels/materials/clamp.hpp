#pragma once
// Nearest positive semidefinite tangent of an isotropic law. In the frame of F = U diag(s) V^T the 9x9 tangent falls
// apart into a 3x3 block over the stretches (u_i v_i^T) and, for each pair i < j, a 2x2 block [[a, b], [b, a]] over
// (u_i v_j^T, u_j v_i^T) (B. Smith, F. de Goes, T. Kim, "Analytic eigensystems for isotropic distortion energies",
// 2019, section 4); each block's eigenvalues are clamped to >= 0.

#include "kernels/materials/law.hpp"
#include "kernels/math/svd3.hpp"

namespace supple {

template <class S>
SUPPLE_HD inline void clamp_isotropic_tangent(const Mat3<S>& F, S* C) {
  const Svd3<S> d = svd(F);
  Mat3<S> direction[3][3];  // u_i v_j^T
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      direction[i][j] = outer(Vec3<S>{{d.u(0, i), d.u(1, i), d.u(2, i)}}, Vec3<S>{{d.v(0, j), d.v(1, j), d.v(2, j)}});
  const auto form = [&](const Mat3<S>& a, const Mat3<S>& b) {
    S sum = 0;
    for (int i = 0; i < 9; ++i) {
      S row = 0;
      for (int j = 0; j < 9; ++j) row += C[9 * i + j] * b[j];
      sum += a[i] * row;
    }
    return sum;
  };
  Mat3<S> stretch;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) stretch(i, j) = form(direction[i][i], direction[j][j]);
  const SymmetricEigen3<S> e = eigen_symmetric(S(0.5) * (stretch + transpose(stretch)));
  S pair[3][2];  // eigenvalues a + b, a - b of the pairs (0,1), (0,2), (1,2)
  for (int i = 0, k = 0; i < 2; ++i)
    for (int j = i + 1; j < 3; ++j, ++k) {
      const S a = S(0.5) * (form(direction[i][j], direction[i][j]) + form(direction[j][i], direction[j][i]));
      const S b = form(direction[i][j], direction[j][i]);
      pair[k][0] = a + b;
      pair[k][1] = a - b;
    }
  set_zero(C);
  for (int k = 0; k < 3; ++k) {
    Mat3<S> q = Mat3<S>::zero();
    for (int i = 0; i < 3; ++i) q = q + e.vectors(i, k) * direction[i][i];
    add_outer(select(e.values[k] > S(0), e.values[k], S(0)), q, q, C);
  }
  for (int i = 0, k = 0; i < 2; ++i)
    for (int j = i + 1; j < 3; ++j, ++k) {
      const Mat3<S> even = direction[i][j] + direction[j][i], odd = direction[i][j] - direction[j][i];
      add_outer(select(pair[k][0] > S(0), S(0.5) * pair[k][0], S(0)), even, even, C);
      add_outer(select(pair[k][1] > S(0), S(0.5) * pair[k][1], S(0)), odd, odd, C);
    }
}

}  // namespace supple

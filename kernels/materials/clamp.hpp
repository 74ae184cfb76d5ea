#pragma once
// Nearest positive semidefinite tangent of an isotropic law. In the frame of F = U diag(s) V^T the 9x9 tangent falls
// apart into a 3x3 block over the stretches (u_i v_i^T) and, for each pair i < j, a 2x2 block [[a, b], [b, a]] over
// (u_i v_j^T, u_j v_i^T) (B. Smith, F. de Goes, T. Kim, "Analytic eigensystems for isotropic distortion energies",
// 2019, section 4); each block's negative eigenvalues are taken away.

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
  const auto times = [&](const Mat3<S>& b) {
    Mat3<S> product;
    for (int i = 0; i < 9; ++i) {
      product[i] = C[9 * i] * b[0];
      for (int j = 1; j < 9; ++j) product[i] += C[9 * i + j] * b[j];
    }
    return product;
  };
  Mat3<S> stretch;
  for (int j = 0; j < 3; ++j) {
    const Mat3<S> product = times(direction[j][j]);
    for (int i = j; i < 3; ++i) stretch(i, j) = stretch(j, i) = dot(direction[i][i], product);
  }
  // What an eigenvalue lacks is added; of most points the stretches lack nothing.
  const auto lacks = [](const S& value) { return select(value < S(0), -value, S(0)); };
  for (int i = 0; i < 2; ++i)
    for (int j = i + 1; j < 3; ++j) {
      const Mat3<S> product = times(direction[i][j]);
      const S a = S(0.5) * (dot(direction[i][j], product) + dot(direction[j][i], times(direction[j][i])));
      const S b = dot(direction[j][i], product);
      const S even = lacks(a + b), odd = lacks(a - b);
      if (any(even > S(0))) {
        const Mat3<S> q = direction[i][j] + direction[j][i];
        add_outer(S(0.5) * even, q, q, C);
      }
      if (any(odd > S(0))) {
        const Mat3<S> q = direction[i][j] - direction[j][i];
        add_outer(S(0.5) * odd, q, q, C);
      }
    }
  const S minor = stretch(0, 0) * stretch(1, 1) - stretch(0, 1) * stretch(0, 1);
  if (all(both(stretch(0, 0) > S(0), both(minor > S(0), determinant(stretch) > S(0))))) return;
  const SymmetricEigen3<S> e = eigen_symmetric(stretch);
  for (int k = 0; k < 3; ++k) {
    Mat3<S> q = Mat3<S>::zero();
    for (int i = 0; i < 3; ++i) q = q + e.vectors(i, k) * direction[i][i];
    add_outer(lacks(e.values[k]), q, q, C);
  }
}

}  // namespace supple

#pragma once
// Eigenvalues of the tangent of an isotropic law, and the nearest positive semidefinite tangent. In the frame of
// F = U diag(s) V^T the 9x9 tangent falls apart into a 3x3 block over the stretches (u_i v_i^T) and, for each pair i < j,
// a 2x2 block [[a, b], [b, a]] over (u_i v_j^T, u_j v_i^T) (B. Smith, F. de Goes, T. Kim, "Analytic eigensystems for
// isotropic distortion energies", 2019, section 4); each block's negative eigenvalues are taken away.

#include "kernels/materials/law.hpp"
#include "kernels/math/svd3.hpp"

namespace supple {

template <class S>
struct PrincipalDirections {
  Svd3<S> d;
  Mat3<S> at[3][3];  // u_i v_j^T

  SUPPLE_HD explicit PrincipalDirections(const Mat3<S>& F) : d(svd(F)) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) at[i][j] = outer(column_of(d.u, i), column_of(d.v, j));
  }
  SUPPLE_INLINE Mat3<S> stretches(const S* C) const {
    Mat3<S> block;
    for (int j = 0; j < 3; ++j) {
      const Mat3<S> product = times(C, at[j][j]);
      for (int i = j; i < 3; ++i) block(i, j) = block(j, i) = dot(at[i][i], product);
    }
    return block;
  }
  // Of the sum and the difference of u_i v_j^T and u_j v_i^T.
  struct Pair {
    S even, odd;
  };
  SUPPLE_INLINE Pair pair(const S* C, int i, int j) const {
    const Mat3<S> product = times(C, at[i][j]);
    const S a = S(0.5) * (dot(at[i][j], product) + dot(at[j][i], times(C, at[j][i])));
    const S b = dot(at[j][i], product);
    return {a + b, a - b};
  }
  SUPPLE_INLINE Mat3<S> of_stretches(const Mat3<S>& vectors, int column) const {
    Mat3<S> q = Mat3<S>::zero();
    for (int i = 0; i < 3; ++i) q = q + vectors(i, column) * at[i][i];
    return q;
  }
};

// Of an isotropic law.
template <class S>
SUPPLE_HD inline TangentSpectrum<S> isotropic_spectrum(const Mat3<S>& F, const S* C) {
  constexpr double half_root = 0.70710678118654752440;
  const PrincipalDirections<S> directions(F);
  const SymmetricEigen3<S> e = eigen_symmetric(directions.stretches(C));
  TangentSpectrum<S> found;
  int at = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = i + 1; j < 3; ++j, ++at) {
      const auto pair = directions.pair(C, i, j);
      found.values[at] = pair.odd;
      found.directions[at] = S(half_root) * (directions.at[i][j] - directions.at[j][i]);
      found.values[3 + at] = pair.even;
      found.directions[3 + at] = S(half_root) * (directions.at[i][j] + directions.at[j][i]);
      // With E = e_i e_j^T - e_j e_i^T: (U E U^T) F + F (V E V^T) = (s_i + s_j) U E V^T.
      const S sum = directions.d.s[i] + directions.d.s[j];
      const auto turns = sum > S(1e-3) * directions.d.s[0];
      const S angle = S(half_root) / select(turns, sum, S(1));
      const auto skew = [&](const Mat3<S>& q) {
        const Vec3<S> a = column_of(q, i), b = column_of(q, j);
        return angle * (outer(a, b) - outer(b, a));
      };
      found.left[at] = skew(directions.d.u);
      found.right[at] = skew(directions.d.v);
      found.turns[at] = select(turns, S(1), S(0));
    }
  for (int k = 0; k < 3; ++k) {
    found.values[6 + k] = e.values[k];
    found.directions[6 + k] = directions.of_stretches(e.vectors, k);
  }
  return found;
}

// A base of isotropic laws.
struct IsotropicTangent {
  // Of the tangent C at F.
  template <class S>
  SUPPLE_HD static TangentSpectrum<S> spectrum(const Mat3<S>& F, const Mat3<S>&, const S* C) {
    return isotropic_spectrum(select(finite(dot(F, F)), F, Mat3<S>::identity()), C);
  }
};

template <class S>
SUPPLE_HD inline void clamp_isotropic_tangent(const Mat3<S>& F, S* C) {
  const PrincipalDirections<S> directions(F);
  const Mat3<S> stretch = directions.stretches(C);
  // What an eigenvalue lacks is added; of most points the stretches lack nothing.
  const auto lacks = [](const S& value) { return select(value < S(0), -value, S(0)); };
  for (int i = 0; i < 2; ++i)
    for (int j = i + 1; j < 3; ++j) {
      const auto pair = directions.pair(C, i, j);
      const S even = lacks(pair.even), odd = lacks(pair.odd);
      if (any(even > S(0))) {
        const Mat3<S> q = directions.at[i][j] + directions.at[j][i];
        add_outer(S(0.5) * even, q, q, C);
      }
      if (any(odd > S(0))) {
        const Mat3<S> q = directions.at[i][j] - directions.at[j][i];
        add_outer(S(0.5) * odd, q, q, C);
      }
    }
  const S minor = stretch(0, 0) * stretch(1, 1) - stretch(0, 1) * stretch(0, 1);
  if (all(both(stretch(0, 0) > S(0), both(minor > S(0), determinant(stretch) > S(0))))) return;
  const SymmetricEigen3<S> e = eigen_symmetric(stretch);
  for (int k = 0; k < 3; ++k) {
    const Mat3<S> q = directions.of_stretches(e.vectors, k);
    add_outer(lacks(e.values[k]), q, q, C);
  }
}

}  // namespace supple

#pragma once
// Rotation of a 3x3 matrix: the R with det R = +1 that maximises tr(R^T F) (Kabsch). For det F > 0 it is the factor of
// the polar decomposition F = R S, S symmetric positive definite. Fast path: Newton's iteration
//   X <- (g X + (g X)^-T) / 2
// with Higham's scaling g (N. Higham, "Computing the polar decomposition", 1986), quadratic; for det F <= 0 or very
// flat F the singular value decomposition.

#include "kernels/math/pack.hpp"
#include "kernels/math/svd3.hpp"

namespace supple {

template <class S>
SUPPLE_HD inline Mat3<S> rotation_by_svd(const Mat3<S>& f) {
  const Svd3<S> d = svd(f);
  return d.u * transpose(d.v);
}

template <class S>
SUPPLE_HD inline Mat3<S> polar_rotation(const Mat3<S>& f) {
  using std::sqrt;
  const S size2 = dot(f, f);
  // det F of a rotation scaled by s is s^3; below 1e-6 of that the iteration loses digits.
  const auto regular = determinant(f) > S(1e-6) * size2 * sqrt(size2);
  // A change d leaves an error of d^2 / 2.
  const S tolerance = sizeof(typename PackTraits<S>::Scalar) == 8 ? S(1e-16) : S(1e-8);
  Mat3<S> x = f;
  auto active = regular;
  for (int iteration = 0; iteration < 20 && any(active); ++iteration) {
    const Mat3<S> inverse_transpose = (S(1) / determinant(x)) * cofactor(x);
    // Scaling by norms, only while far from orthogonal; near the limit it is 1 and would only add rounding.
    const S ratio2 = dot(inverse_transpose, inverse_transpose) / dot(x, x);
    const auto near = both(ratio2 <= S(1.02), negate(ratio2 < S(0.98)));
    const S g = all(near) ? S(1) : select(near, S(1), sqrt(sqrt(ratio2)));
    const Mat3<S> next = (S(0.5) * g) * x + (S(0.5) / g) * inverse_transpose;
    const Mat3<S> change = next - x;
    x = select(active, next, x);
    active = both(active, dot(change, change) > tolerance);
  }
  return repair(regular, x, f, [](const auto& m) { return rotation_by_svd(m); });
}

}  // namespace supple

#pragma once
// Rotation of a 3x3 matrix: the R with det R = +1 that maximises t = tr(R^T F) (Kabsch). For det F > 0 it is the factor
// of the polar decomposition F = R S, S symmetric positive definite, and t = tr S.
//
// With I = |F|^2, J = det F, the largest t is the largest root of
//   q(t) = (t^2 - I)^2 - 8 J t - 4 |cof F|^2,
// and since the derivative of a maximum is that of what is maximised, R = dt/dF = -(dq/dF) / (dq/dt):
//   R = ((t^2 + I) F + 2 t cof F - 2 F F^T F) / D,
//   D = t (t^2 - I) - 2 J = 2 (s_1 + s_2) (s_2 + s_3) (s_3 + s_1),   s the singular values, s_3 of the sign of J.
// Newton's iteration finds t from above, from sqrt(3 I) (Cauchy and Schwarz), without a step back. Errors grow with
// (|F|^3 / D)^2: where two singular values nearly cancel or vanish, the singular value decomposition serves.
// tr S as the root: A. Hoger & D. Carlson, "Determination of the stretch and rotation in the polar decomposition of the
// deformation gradient", Q. Appl. Math. 42 (1984).

#include "kernels/math/pack.hpp"
#include "kernels/math/svd3.hpp"

namespace supple {

template <class S>
SUPPLE_HD inline Mat3<S> rotation_by_svd(const Mat3<S>& f) {
  const Svd3<S> d = svd(f);
  return d.u * transpose(d.v);
}

template <class S>
SUPPLE_INLINE Mat3<S> polar_rotation(const Mat3<S>& f) {
  using std::sqrt;
  const Mat3<S> cof = cofactor(f);
  const S I = dot(f, f), J = f(0, 0) * cof(0, 0) + f(0, 1) * cof(0, 1) + f(0, 2) * cof(0, 2);
  const S J8 = S(8) * J, cof4 = S(4) * dot(cof, cof);
  // A step of d t leaves an error of about d^2 t.
  const S tolerance = sizeof(typename PackTraits<S>::Scalar) == 8 ? S(1e-8) : S(1e-4);
  S t = sqrt(S(3) * I);
  for (int iteration = 0; iteration < 12; ++iteration) {
    const S a = t * t - I;
    const S step = (a * a - J8 * t - cof4) / (S(4) * t * a - J8);
    t = t - step;
    if (!any(step > tolerance * t)) break;
  }
  const S D = t * (t * t - I) - S(2) * J;
  // Of a rotation D is 3 |F|^3. Comparisons with NaN are false.
  const auto regular = D > S(0.25) * I * sqrt(I);
  const Mat3<S> near = (S(1) / D) * ((t * t + I) * f + (S(2) * t) * cof - S(2) * (f * (transpose(f) * f)));
  // One step of Newton and Schulz: what is left is the rounding of one product, not of the terms above. Small strains are
  // differences from it.
  const Mat3<S> R = near - S(0.5) * (near * (transpose(near) * near - Mat3<S>::identity()));
  return repair(regular, R, f, [](const auto& m) { return rotation_by_svd(m); });
}

}  // namespace supple

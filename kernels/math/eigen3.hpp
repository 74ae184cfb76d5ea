#pragma once
// Symmetric 3x3 eigenproblem by cyclic Jacobi rotations: A = V diag(d) V^T, V a rotation. Accurate to rounding, also
// for equal eigenvalues; about four sweeps. Eigenvalues are not sorted.

#include "kernels/math/pack.hpp"

namespace supple {

template <class S>
struct SymmetricEigen3 {
  Vec3<S> values;
  Mat3<S> vectors;  // columns
};

template <class S>
SUPPLE_HD inline SymmetricEigen3<S> eigen_symmetric(Mat3<S> a) {
  using std::abs;
  using std::sqrt;
  Mat3<S> v = Mat3<S>::identity();
  const S scale = dot(a, a);
  for (int sweep = 0; sweep < 12; ++sweep) {
    const S off = a(0, 1) * a(0, 1) + a(0, 2) * a(0, 2) + a(1, 2) * a(1, 2);
    if (!any(off > S(1e-36) * scale)) break;
    for (int p = 0; p < 2; ++p)
      for (int q = p + 1; q < 3; ++q) {
        // Rotation by the smaller angle that annihilates a_pq (Golub & Van Loan, 8.5).
        const S theta = (a(q, q) - a(p, p)) / (S(2) * a(p, q));
        const S angle = select(theta >= S(0), S(1), S(-1)) / (abs(theta) + sqrt(theta * theta + S(1)));
        const S t = select(a(p, q) == S(0), S(0), angle);
        const S c = S(1) / sqrt(t * t + S(1)), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const S akp = a(k, p), akq = a(k, q);
          a(k, p) = c * akp - s * akq;
          a(k, q) = s * akp + c * akq;
        }
        for (int k = 0; k < 3; ++k) {
          const S apk = a(p, k), aqk = a(q, k);
          a(p, k) = c * apk - s * aqk;
          a(q, k) = s * apk + c * aqk;
        }
        for (int k = 0; k < 3; ++k) {
          const S vkp = v(k, p), vkq = v(k, q);
          v(k, p) = c * vkp - s * vkq;
          v(k, q) = s * vkp + c * vkq;
        }
      }
  }
  return {{{a(0, 0), a(1, 1), a(2, 2)}}, v};
}

}  // namespace supple

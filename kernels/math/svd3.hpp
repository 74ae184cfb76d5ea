#pragma once
// 3x3 singular value decomposition with rotations: F = U diag(s) V^T, det U = det V = +1, s descending in magnitude,
// only s[2] may be negative (then det F < 0). Defined for every finite F, also singular or zero.
// By the eigenvectors of F^T F, then a QR-like completion of U: singular values below 1e-8 of the largest carry that
// absolute error.

#include "kernels/math/eigen3.hpp"

namespace supple {

template <class S>
struct Svd3 {
  Mat3<S> u;
  Vec3<S> s;
  Mat3<S> v;
};

template <class S>
SUPPLE_HD inline Vec3<S> any_orthogonal(const Vec3<S>& a) {
  using std::abs;
  const Vec3<S> x{{1, 0, 0}}, y{{0, 1, 0}}, z{{0, 0, 1}};
  const Vec3<S> axis =
      select(abs(a[0]) < abs(a[1]), select(abs(a[0]) < abs(a[2]), x, z), select(abs(a[1]) < abs(a[2]), y, z));
  return normalized(cross(a, axis));
}

template <class S>
SUPPLE_HD inline Svd3<S> svd(const Mat3<S>& f) {
  const SymmetricEigen3<S> e = eigen_symmetric(transpose(f) * f);
  Vec3<S> v[3];
  S value[3];
  for (int k = 0; k < 3; ++k) {
    v[k] = {{e.vectors(0, k), e.vectors(1, k), e.vectors(2, k)}};
    value[k] = e.values[k];
  }
  const auto order = [&](int i, int j) {
    const auto wrong = value[i] < value[j];
    const S larger = select(wrong, value[j], value[i]);
    const Vec3<S> first = select(wrong, v[j], v[i]);
    value[j] = select(wrong, value[i], value[j]);
    v[j] = select(wrong, v[i], v[j]);
    value[i] = larger;
    v[i] = first;
  };
  order(0, 1);
  order(1, 2);
  order(0, 1);
  v[2] = cross(v[0], v[1]);  // makes V a rotation

  // U by orthonormalising F v_k in descending order; the third column follows from det U = 1.
  const Vec3<S> a0 = f * v[0], a1 = f * v[1], a2 = f * v[2], x{{1, 0, 0}};
  const S s0 = norm(a0);
  const Vec3<S> u0 = select(s0 > S(0), (S(1) / s0) * a0, x);
  Vec3<S> b1 = a1 - dot(a1, u0) * u0;
  b1 = b1 - dot(b1, u0) * u0;  // twice is enough: orthogonal to rounding also when a1 is almost along u0
  const S s1 = norm(b1);
  const Vec3<S> u1 = select(both(s1 > S(1e-20) * s0, s1 > S(0)), (S(1) / s1) * b1, any_orthogonal(u0));
  const Vec3<S> u2 = cross(u0, u1);
  return {from_columns(u0, u1, u2), {{s0, dot(a1, u1), dot(a2, u2)}}, from_columns(v[0], v[1], v[2])};
}

}  // namespace supple

#pragma once
// Vectors of 3 and 3x3 matrices (row-major), plain aggregates for host and device. S = double or float.

#include <cmath>

#include "kernels/base/macros.hpp"

namespace supple {

template <class S>
struct Vec3 {
  S v[3];
  SUPPLE_INLINE S& operator[](int i) { return v[i]; }
  SUPPLE_INLINE const S& operator[](int i) const { return v[i]; }
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

// m[3 i + j] is row i, column j.
template <class S>
struct Mat3 {
  S m[9];
  SUPPLE_INLINE S& operator()(int i, int j) { return m[3 * i + j]; }
  SUPPLE_INLINE const S& operator()(int i, int j) const { return m[3 * i + j]; }
  SUPPLE_INLINE S& operator[](int i) { return m[i]; }
  SUPPLE_INLINE const S& operator[](int i) const { return m[i]; }
  static SUPPLE_INLINE Mat3 identity() { return {{1, 0, 0, 0, 1, 0, 0, 0, 1}}; }
  static SUPPLE_INLINE Mat3 zero() { return {{0, 0, 0, 0, 0, 0, 0, 0, 0}}; }
};

using Vec3d = Vec3<double>;
using Mat3d = Mat3<double>;

template <class S>
SUPPLE_INLINE Vec3<S> operator+(const Vec3<S>& a, const Vec3<S>& b) {
  return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}};
}
template <class S>
SUPPLE_INLINE Vec3<S> operator-(const Vec3<S>& a, const Vec3<S>& b) {
  return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
}
template <class S>
SUPPLE_INLINE Vec3<S> operator*(S s, const Vec3<S>& a) {
  return {{s * a[0], s * a[1], s * a[2]}};
}
template <class S>
SUPPLE_INLINE S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class S>
SUPPLE_INLINE Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}
template <class S>
SUPPLE_INLINE S norm(const Vec3<S>& a) {
  using std::sqrt;
  return sqrt(dot(a, a));
}
template <class S>
SUPPLE_INLINE Vec3<S> normalized(const Vec3<S>& a) {
  return (S(1) / norm(a)) * a;
}

template <class S>
SUPPLE_INLINE Mat3<S> operator+(const Mat3<S>& a, const Mat3<S>& b) {
  Mat3<S> c;
  for (int k = 0; k < 9; ++k) c[k] = a[k] + b[k];
  return c;
}
template <class S>
SUPPLE_INLINE Mat3<S> operator-(const Mat3<S>& a, const Mat3<S>& b) {
  Mat3<S> c;
  for (int k = 0; k < 9; ++k) c[k] = a[k] - b[k];
  return c;
}
template <class S>
SUPPLE_INLINE Mat3<S> operator*(S s, const Mat3<S>& a) {
  Mat3<S> c;
  for (int k = 0; k < 9; ++k) c[k] = s * a[k];
  return c;
}
template <class S>
SUPPLE_INLINE Mat3<S> operator*(const Mat3<S>& a, const Mat3<S>& b) {
  Mat3<S> c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
  return c;
}
template <class S>
SUPPLE_INLINE Vec3<S> operator*(const Mat3<S>& a, const Vec3<S>& x) {
  return {{a[0] * x[0] + a[1] * x[1] + a[2] * x[2], a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
           a[6] * x[0] + a[7] * x[1] + a[8] * x[2]}};
}
template <class S>
SUPPLE_INLINE Mat3<S> transpose(const Mat3<S>& a) {
  return {{a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}};
}
template <class S>
SUPPLE_INLINE S trace(const Mat3<S>& a) {
  return a[0] + a[4] + a[8];
}
template <class S>
SUPPLE_INLINE S dot(const Mat3<S>& a, const Mat3<S>& b) {
  const auto row = [&](int k) { return a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2]; };
  return row(0) + row(3) + row(6);
}
template <class S>
SUPPLE_INLINE S determinant(const Mat3<S>& a) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}
// Cofactor matrix: cof(A) = det(A) A^-T, defined for singular A too; d det(A) / dA.
template <class S>
SUPPLE_INLINE Mat3<S> cofactor(const Mat3<S>& a) {
  return {{a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6], a[2] * a[7] - a[1] * a[8],
           a[0] * a[8] - a[2] * a[6], a[1] * a[6] - a[0] * a[7], a[1] * a[5] - a[2] * a[4], a[2] * a[3] - a[0] * a[5],
           a[0] * a[4] - a[1] * a[3]}};
}
template <class S>
SUPPLE_INLINE Mat3<S> inverse(const Mat3<S>& a) {
  return (S(1) / determinant(a)) * transpose(cofactor(a));
}
template <class S>
SUPPLE_INLINE Mat3<S> outer(const Vec3<S>& a, const Vec3<S>& b) {
  Mat3<S> c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c(i, j) = a[i] * b[j];
  return c;
}
// Columns a, b, c.
template <class S>
SUPPLE_INLINE Mat3<S> from_columns(const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& c) {
  return {{a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]}};
}
template <class S>
SUPPLE_INLINE Vec3<S> column_of(const Mat3<S>& a, int j) {
  return {{a(0, j), a(1, j), a(2, j)}};
}

}  // namespace supple

#pragma once
// Pack<S>: one register of scalars with a scalar's arithmetic, so that a function template on the scalar works
// on 8 doubles or 16 floats at once (4 and 8 without AVX-512). Such a function has no branches on values: comparisons
// give a mask, select() picks by it, any() and all() end loops. On a plain scalar the mask is a bool: the same source
// is the scalar and the device code. nvcc knows no vector types; a .cu sees the scalar half of this file only.

#include <cmath>

#include "kernels/math/small.hpp"

namespace supple {

SUPPLE_INLINE double select(bool mask, double a, double b) {
  return mask ? a : b;
}
SUPPLE_INLINE float select(bool mask, float a, float b) {
  return mask ? a : b;
}
SUPPLE_INLINE bool any(bool mask) {
  return mask;
}
SUPPLE_INLINE bool all(bool mask) {
  return mask;
}
SUPPLE_INLINE bool both(bool a, bool b) {
  return a && b;
}
SUPPLE_INLINE bool negate(bool mask) {
  return !mask;
}

// Whether every comparison with x is meaningful: x is neither infinite nor NaN.
template <class S>
SUPPLE_INLINE auto finite(const S& x) {
  return x - x == S(0);
}

// Lanes of S (1 for a scalar) and the scalar they are made of.
template <class S>
struct PackTraits {
  using Scalar = S;
  static constexpr int width = 1;
};

#ifndef __CUDACC__

template <class S>
struct PackVector;
template <>
struct PackVector<double> {
  typedef double type __attribute__((vector_size(SUPPLE_SIMD_BYTES)));
  typedef double unaligned __attribute__((vector_size(SUPPLE_SIMD_BYTES), aligned(8), may_alias));
};
template <>
struct PackVector<float> {
  typedef float type __attribute__((vector_size(SUPPLE_SIMD_BYTES)));
  typedef float unaligned __attribute__((vector_size(SUPPLE_SIMD_BYTES), aligned(4), may_alias));
};

template <class S>
struct Pack {
  static constexpr int width = SUPPLE_SIMD_BYTES / static_cast<int>(sizeof(S));
  using Vector = typename PackVector<S>::type;
  using Unaligned = typename PackVector<S>::unaligned;
  Vector v;

  Pack() = default;
  SUPPLE_INLINE Pack(Vector vector) : v(vector) {}
  SUPPLE_INLINE Pack(S s) : v(Vector{} + s) {}

  static SUPPLE_INLINE Pack load(const S* from) { return *reinterpret_cast<const Unaligned*>(from); }
  SUPPLE_INLINE void store(S* to) const { *reinterpret_cast<Unaligned*>(to) = v; }

  SUPPLE_INLINE Pack& operator+=(const Pack& b) {
    v += b.v;
    return *this;
  }
  SUPPLE_INLINE Pack& operator-=(const Pack& b) {
    v -= b.v;
    return *this;
  }
  friend SUPPLE_INLINE Pack operator+(const Pack& a, const Pack& b) { return a.v + b.v; }
  friend SUPPLE_INLINE Pack operator-(const Pack& a, const Pack& b) { return a.v - b.v; }
  friend SUPPLE_INLINE Pack operator*(const Pack& a, const Pack& b) { return a.v * b.v; }
  friend SUPPLE_INLINE Pack operator/(const Pack& a, const Pack& b) { return a.v / b.v; }
  friend SUPPLE_INLINE Pack operator-(const Pack& a) { return -a.v; }

  struct Mask {
    decltype(Vector{} < Vector{}) m;  // -1 where true
  };
  friend SUPPLE_INLINE Mask operator<(const Pack& a, const Pack& b) { return {a.v < b.v}; }
  friend SUPPLE_INLINE Mask operator<=(const Pack& a, const Pack& b) { return {a.v <= b.v}; }
  friend SUPPLE_INLINE Mask operator>(const Pack& a, const Pack& b) { return {a.v > b.v}; }
  friend SUPPLE_INLINE Mask operator==(const Pack& a, const Pack& b) { return {a.v == b.v}; }
  friend SUPPLE_INLINE Mask both(const Mask& a, const Mask& b) { return {a.m & b.m}; }
  friend SUPPLE_INLINE Mask negate(const Mask& a) { return {~a.m}; }
  friend SUPPLE_INLINE bool any(const Mask& a) {
    for (int l = 0; l < width; ++l)
      if (a.m[l]) return true;
    return false;
  }
  friend SUPPLE_INLINE bool all(const Mask& a) { return !any(negate(a)); }
  friend SUPPLE_INLINE Pack select(const Mask& mask, const Pack& a, const Pack& b) { return mask.m ? a.v : b.v; }

  friend SUPPLE_INLINE Mask operator>=(const Pack& a, const Pack& b) { return {a.v >= b.v}; }
  friend SUPPLE_INLINE Pack abs(const Pack& a) { return a.v < 0 ? -a.v : a.v; }
  friend SUPPLE_INLINE Pack sqrt(const Pack& a) {
    Pack b;
    for (int l = 0; l < width; ++l) b.v[l] = std::sqrt(a.v[l]);
    return b;
  }
  friend SUPPLE_INLINE Pack cbrt(const Pack& a) {
    Pack b;
    for (int l = 0; l < width; ++l) b.v[l] = std::cbrt(a.v[l]);
    return b;
  }
  friend SUPPLE_INLINE Pack pow(const Pack& a, const Pack& exponent) {
    Pack b;
    for (int l = 0; l < width; ++l) b.v[l] = std::pow(a.v[l], exponent.v[l]);
    return b;
  }
};

template <class S>
struct PackTraits<Pack<S>> {
  using Scalar = S;
  static constexpr int width = Pack<S>::width;
};

template <class S>
SUPPLE_INLINE Mat3<S> lane(const Mat3<Pack<S>>& a, int l) {
  Mat3<S> b;
  for (int c = 0; c < 9; ++c) b[c] = a[c].v[l];
  return b;
}
template <class S>
SUPPLE_INLINE void set_lane(Mat3<Pack<S>>& a, int l, const Mat3<S>& b) {
  for (int c = 0; c < 9; ++c) a[c].v[l] = b[c];
}

#endif

template <class Mask, class S>
SUPPLE_INLINE Vec3<S> select(const Mask& mask, const Vec3<S>& a, const Vec3<S>& b) {
  return {{select(mask, a[0], b[0]), select(mask, a[1], b[1]), select(mask, a[2], b[2])}};
}
template <class Mask, class S>
SUPPLE_INLINE Mat3<S> select(const Mask& mask, const Mat3<S>& a, const Mat3<S>& b) {
  Mat3<S> c;
  for (int k = 0; k < 9; ++k) c[k] = select(mask, a[k], b[k]);
  return c;
}

// b[l] = op(a[l]) where the mask is false, b where it is true: for what no mask can express.
template <class S, class Op>
SUPPLE_INLINE Mat3<S> repair(bool good, const Mat3<S>& b, const Mat3<S>& a, const Op& op) {
  return good ? b : op(a);
}
#ifndef __CUDACC__
template <class S, class Op>
inline Mat3<Pack<S>> repair(const typename Pack<S>::Mask& good, Mat3<Pack<S>> b, const Mat3<Pack<S>>& a, const Op& op) {
  if (all(good)) return b;
  for (int l = 0; l < Pack<S>::width; ++l)
    if (!good.m[l]) set_lane(b, l, op(lane(a, l)));
  return b;
}
#endif

}  // namespace supple

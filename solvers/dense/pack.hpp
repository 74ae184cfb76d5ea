#pragma once
// Eight doubles at a time (GCC and Clang vector extension), and sums whose order of additions depends on the length alone,
// not on the address. All of it is inlined: a copy of a function in another file may fuse other products with their sums.

#include "kernels/base/macros.hpp"

namespace supple {

constexpr int pack_width = 8;
// Two halves: g++ 12 sends every operation of a vector that is longer than a register through memory. With AVX-512 too:
// matrices of a few dozen rows are factored 1.4 times as fast by half as long registers.
struct Pack {
  using Half = double __attribute__((vector_size(32)));
  typedef double Unaligned __attribute__((vector_size(32), aligned(8), may_alias));  // clang drops `aligned` of a using
  Half low, high;

  SUPPLE_INLINE double operator[](int i) const { return i < 4 ? low[i] : high[i - 4]; }
  friend SUPPLE_INLINE Pack operator+(const Pack& a, const Pack& b) { return {a.low + b.low, a.high + b.high}; }
  friend SUPPLE_INLINE Pack operator-(const Pack& a, const Pack& b) { return {a.low - b.low, a.high - b.high}; }
  friend SUPPLE_INLINE Pack operator*(const Pack& a, const Pack& b) { return {a.low * b.low, a.high * b.high}; }
  friend SUPPLE_INLINE Pack operator*(double factor, const Pack& a) { return {factor * a.low, factor * a.high}; }
  friend SUPPLE_INLINE Pack operator*(const Pack& a, double factor) { return factor * a; }
  SUPPLE_INLINE Pack& operator+=(const Pack& b) { return *this = *this + b; }
  SUPPLE_INLINE Pack& operator-=(const Pack& b) { return *this = *this - b; }
  SUPPLE_INLINE Pack& operator*=(double factor) { return *this = factor * *this; }
};

SUPPLE_INLINE void load(Pack& p, const double* from) {
  p.low = *reinterpret_cast<const Pack::Unaligned*>(from);
  p.high = *reinterpret_cast<const Pack::Unaligned*>(from + 4);
}
SUPPLE_INLINE void store(double* to, const Pack& p) {
  *reinterpret_cast<Pack::Unaligned*>(to) = p.low;
  *reinterpret_cast<Pack::Unaligned*>(to + 4) = p.high;
}

/// sum_i a_i b_i
SUPPLE_INLINE double dot(const double* a, const double* b, int n) {
  Pack s0 = {}, s1 = {}, s2 = {}, s3 = {}, x, y;
  int i = 0;
  for (; i + 4 * pack_width <= n; i += 4 * pack_width) {
    load(x, a + i), load(y, b + i), s0 += x * y;
    load(x, a + i + 8), load(y, b + i + 8), s1 += x * y;
    load(x, a + i + 16), load(y, b + i + 16), s2 += x * y;
    load(x, a + i + 24), load(y, b + i + 24), s3 += x * y;
  }
  for (; i + pack_width <= n; i += pack_width) load(x, a + i), load(y, b + i), s0 += x * y;
  s0 = (s0 + s1) + (s2 + s3);
  double sum = ((s0[0] + s0[1]) + (s0[2] + s0[3])) + ((s0[4] + s0[5]) + (s0[6] + s0[7]));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// y += factor x
SUPPLE_INLINE void add_scaled(double* y, double factor, const double* x, int n) {
  Pack u, v;
  int i = 0;
  for (; i + pack_width <= n; i += pack_width) load(u, x + i), load(v, y + i), v += factor * u, store(y + i, v);
  for (; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace supple

// Blocked right-looking Cholesky for one core. A block on the diagonal is factored in a copy of its transpose, t[k][i] =
// a_ik, whose rows are contiguous where columns of L are divided and subtracted. Four columns at a time: their own 4 x 4
// entries as L D L^T, where each column waits for one division and not for a square root too; the roots of D follow
// together. Golub & Van Loan, Matrix Computations, 4.2.
#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "solvers/dense/pack.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {
namespace {

constexpr int W = pack_width;
constexpr int largest_block = 64;
constexpr int stride = largest_block + 4;  // rows of t begin in different sets of the cache
constexpr int most_interleaved = 512;      // rows of a right-hand side, on the stack

using Four = Pack::Half;

SUPPLE_INLINE Four load(const double* from) {
  return *reinterpret_cast<const Pack::Unaligned*>(from);
}
SUPPLE_INLINE void store(double* to, const Four& v) {
  *reinterpret_cast<Pack::Unaligned*>(to) = v;
}

// to[j][i] = from[i][j], 4 x 4
SUPPLE_INLINE void transpose(const double* from, int from_stride, double* to, int to_stride) {
  const Four r0 = load(from), r1 = load(from + from_stride), r2 = load(from + 2 * from_stride),
             r3 = load(from + 3 * from_stride);
  const Four a = __builtin_shufflevector(r0, r1, 0, 4, 2, 6), b = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
  const Four c = __builtin_shufflevector(r2, r3, 0, 4, 2, 6), d = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
  store(to, __builtin_shufflevector(a, c, 0, 1, 4, 5));
  store(to + to_stride, __builtin_shufflevector(b, d, 0, 1, 4, 5));
  store(to + 2 * to_stride, __builtin_shufflevector(a, c, 2, 3, 6, 7));
  store(to + 3 * to_stride, __builtin_shufflevector(b, d, 2, 3, 6, 7));
}

// The block of n rows at a, filled up to whole fours by rows of the identity.
void take_transpose(const double* a, int n, int ld, double (*t)[stride]) {
  const int whole = n / 4 * 4;
  for (int i = 0; i < whole; i += 4)
    for (int j = 0; j <= i; j += 4) transpose(a + i * ld + j, ld, &t[j][i], stride);
  if (whole == n) return;
  for (int j = 0; j < whole + 4; ++j) store(&t[j][whole], Four{});
  for (int i = whole; i < whole + 4; ++i) {
    if (i < n)
      for (int j = 0; j <= i; ++j) t[j][i] = a[i * ld + j];
    else
      t[i][i] = 1;
  }
}

void give_transpose(const double (*t)[stride], int n, int ld, double* a) {
  const int whole = n / 4 * 4;
  for (int i = 0; i < whole; i += 4) {
    for (int j = 0; j < i; j += 4) transpose(&t[j][i], stride, a + i * ld + j, ld);
    for (int k = i; k < i + 4; ++k)
      for (int j = i; j <= k; ++j) a[k * ld + j] = t[j][k];
  }
  for (int i = whole; i < n; ++i)
    for (int j = 0; j <= i; ++j) a[i * ld + j] = t[j][i];
}

// Rows k to k + 3 of t become columns of L, from the diagonal to `end`.
SUPPLE_INLINE bool factor_columns(double (*t)[stride], int k, int end) {
  double *const t0 = t[k], *const t1 = t[k + 1], *const t2 = t[k + 2], *const t3 = t[k + 3];
  // u = L D, m = L, both of ones on the diagonal
  const double d0 = t0[k], u01 = t0[k + 1], u02 = t0[k + 2], u03 = t0[k + 3], r0 = 1 / d0;
  const double m01 = u01 * r0, m02 = u02 * r0, m03 = u03 * r0;
  const double d1 = t1[k + 1] - u01 * m01, u12 = t1[k + 2] - u02 * m01, u13 = t1[k + 3] - u03 * m01, r1 = 1 / d1;
  const double m12 = u12 * r1, m13 = u13 * r1;
  const double d2 = t2[k + 2] - u02 * m02 - u12 * m12, u23 = t2[k + 3] - u03 * m02 - u13 * m12, m23 = u23 / d2;
  const double d3 = t3[k + 3] - u03 * m03 - u13 * m13 - u23 * m23;
  if (!(d0 > 0 && d1 > 0 && d2 > 0 && d3 > 0)) return false;
  const Four root = {std::sqrt(d0), std::sqrt(d1), std::sqrt(d2), std::sqrt(d3)}, inverse = 1.0 / root;
  const double s0 = inverse[0], s1 = inverse[1], s2 = inverse[2];
  t0[k] = root[0], t0[k + 1] = u01 * s0, t0[k + 2] = u02 * s0, t0[k + 3] = u03 * s0;
  t1[k + 1] = root[1], t1[k + 2] = u12 * s1, t1[k + 3] = u13 * s1;
  t2[k + 2] = root[2], t2[k + 3] = u23 * s2;
  t3[k + 3] = root[3];
  for (int i = k + 4; i < end; i += 4) {
    Four v0 = load(t0 + i), v1 = load(t1 + i), v2 = load(t2 + i), v3 = load(t3 + i);
    v1 -= m01 * v0, v2 -= m02 * v0, v3 -= m03 * v0;
    v2 -= m12 * v1, v3 -= m13 * v1;
    v3 -= m23 * v2;
    store(t0 + i, s0 * v0), store(t1 + i, s1 * v1), store(t2 + i, s2 * v2), store(t3 + i, inverse[3] * v3);
  }
  return true;
}

// What is right of columns k to k + 3: t[j][i] -= sum_c t[c][j] t[c][i], two rows at a time.
SUPPLE_INLINE void subtract_columns(double (*t)[stride], int k, int end) {
  const double *const t0 = t[k], *const t1 = t[k + 1], *const t2 = t[k + 2], *const t3 = t[k + 3];
  for (int j = k + 4; j < end; j += 2) {
    const double a0 = t0[j], a1 = t1[j], a2 = t2[j], a3 = t3[j];
    const double b0 = t0[j + 1], b1 = t1[j + 1], b2 = t2[j + 1], b3 = t3[j + 1];
    for (int i = j / 4 * 4; i < end; i += 4) {
      const Four x0 = load(t0 + i), x1 = load(t1 + i), x2 = load(t2 + i), x3 = load(t3 + i);
      Four a = load(t[j] + i), b = load(t[j + 1] + i);
      a -= a0 * x0, b -= b0 * x0;
      a -= a1 * x1, b -= b1 * x1;
      a -= a2 * x2, b -= b2 * x2;
      a -= a3 * x3, b -= b3 * x3;
      store(t[j] + i, a), store(t[j + 1] + i, b);
    }
  }
}

bool factor_block(double* a, int n, int ld) {
  alignas(64) double t[largest_block][stride];
  const int end = (n + 3) / 4 * 4;
  take_transpose(a, n, ld, t);
  for (int k = 0; k < end; k += 4) {
    if (!factor_columns(t, k, end)) return false;
    subtract_columns(t, k, end);
  }
  give_transpose(t, n, ld, a);
  return true;
}

// a22 -= L21 L21^T, lower triangle: sums over one block of columns, of 3 x 3 entries at a time.
void update_trailing(const double* l21, int rows, int ld, double* a22) {
  constexpr int size = 3;
  for (int i = 0; i < rows; i += size)
    for (int j = 0; j <= i; j += size) {
      const double *left[size], *right[size];
      for (int k = 0; k < size; ++k) {
        left[k] = l21 + std::min(i + k, rows - 1) * ld;
        right[k] = l21 + std::min(j + k, rows - 1) * ld;
      }
      Four sum[size][size] = {};
      for (int m = 0; m < largest_block; m += 4)
        SUPPLE_UNROLL for (int p = 0; p < size; ++p) SUPPLE_UNROLL for (int q = 0; q < size; ++q) sum[p][q] +=
            load(left[p] + m) * load(right[q] + m);
      for (int p = 0; p < size && i + p < rows; ++p)
        for (int q = 0; q < size && j + q <= i + p; ++q)
          a22[(i + p) * ld + j + q] -= (sum[p][q][0] + sum[p][q][1]) + (sum[p][q][2] + sum[p][q][3]);
    }
}

// One right-hand side: rows of L are contiguous, so forward by dot products, backward by row updates.
void solve_one(const double* a, int n, int ld, double* x, bool backward) {
  for (int i = 0; i < n; ++i) x[i] = (x[i] - dot(a + i * ld, x, i)) / a[i * ld + i];
  for (int i = n - 1; backward && i >= 0; --i) {
    x[i] /= a[i * ld + i];
    add_scaled(x, -x[i], a + i * ld, i);
  }
}

// Eight right-hand sides interleaved, y[i][c].
void solve_interleaved(const double* a, int n, int ld, double* y, bool backward) {
  const auto substitute = [=](int i, int from, int to, auto entry) {
    Pack value, other, s0, s1 = {};
    load(s0, y + i * W);
    int j = from;
    for (; j + 1 < to; j += 2) {
      load(other, y + j * W);
      s0 -= entry(j) * other;
      load(other, y + (j + 1) * W);
      s1 -= entry(j + 1) * other;
    }
    if (j < to) load(other, y + j * W), s0 -= entry(j) * other;
    value = (s0 + s1) * (1 / a[i * ld + i]);
    store(y + i * W, value);
  };
  for (int i = 0; i < n; ++i) substitute(i, 0, i, [=](int j) { return a[i * ld + j]; });
  for (int i = n - 1; backward && i >= 0; --i) substitute(i, i + 1, n, [=](int j) { return a[j * ld + i]; });
}

void substitute_all(const double* a, int n, int ld, double* x, int count, int ldx, bool backward) {
  SUPPLE_EXPECT(n >= 0 && ld >= n && ldx >= n);
  alignas(64) double y[most_interleaved * W];
  int c = 0;
  if (n <= most_interleaved) {
    for (; count - c >= 3; c += std::min(W, count - c)) {
      const int width = std::min(W, count - c);
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < W; ++k) y[i * W + k] = k < width ? x[(c + k) * ldx + i] : 0;
      solve_interleaved(a, n, ld, y, backward);
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < width; ++k) x[(c + k) * ldx + i] = y[i * W + k];
    }
  }
  for (; c < count; ++c) solve_one(a, n, ld, x + c * ldx, backward);
}

}  // namespace

DenseFactorReport cholesky_factor(double* a, int n, int ld) {
  SUPPLE_EXPECT(n >= 0 && ld >= n);
  for (int k = 0; k < n; k += largest_block) {
    double* const diagonal = a + k * ld + k;
    const int width = std::min(largest_block, n - k), rows = n - k - width;
    if (!factor_block(diagonal, width, ld)) return {DenseFactorStatus::not_positive, 0};
    if (rows == 0) break;
    double* const below = diagonal + width * ld;  // its rows are right-hand sides: L21 = A21 L11^-T
    forward_solve(diagonal, width, ld, below, rows, ld);
    update_trailing(below, rows, ld, below + width);
  }
  return {};
}

void cholesky_solve(const double* a, int n, int ld, double* x, int count, int ldx) {
  substitute_all(a, n, ld, x, count, ldx, true);
}

void forward_solve(const double* a, int n, int ld, double* x, int count, int ldx) {
  substitute_all(a, n, ld, x, count, ldx, false);
}

}  // namespace supple

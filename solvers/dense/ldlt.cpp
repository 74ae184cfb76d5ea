// Bunch-Kaufman, lower, unblocked: LAPACK's dsytf2 in row-major storage. pivots[k] = p >= 0: 1x1 block, rows k and p
// were exchanged. pivots[k] = pivots[k + 1] = -(p + 1): 2x2 block at k, rows k + 1 and p were exchanged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/dense/ldlt.hpp"
#include "solvers/dense/pack.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {
namespace {

constexpr int chunk = 256;  // columns of a rank-1 update copied at once, on the stack

// Exchanges rows and columns p > q of the trailing symmetric matrix (rows >= q), and the finished part of rows p and q.
void exchange(double* a, int n, int ld, int q, int p) {
  for (int j = 0; j < q; ++j) std::swap(a[q * ld + j], a[p * ld + j]);
  std::swap(a[q * ld + q], a[p * ld + p]);
  for (int j = q + 1; j < p; ++j) std::swap(a[j * ld + q], a[p * ld + j]);
  for (int i = p + 1; i < n; ++i) std::swap(a[i * ld + q], a[i * ld + p]);
}

//   a_ij -= sum_b l_ib w_jb   for begin <= j <= i < n, where w = columns k .. k + width of a and l = w D^-1;
//   then a_ib = l_ib.
// inverse: the inverse of the diagonal block, symmetric {d00, d10, d11}.
void eliminate(double* a, int n, int ld, int k, int width, const double* inverse) {
  const int begin = k + width;
  double w0[chunk], w1[chunk];
  for (int first = begin; first < n; first += chunk) {
    const int last = std::min(n, first + chunk);
    for (int j = first; j < last; ++j) {
      w0[j - first] = a[j * ld + k];
      if (width == 2) w1[j - first] = a[j * ld + k + 1];
    }
    // Rows of this chunk are read unscaled above; rows below it still are unscaled, those of earlier chunks need no
    // update here.
    for (int i = first; i < n; ++i) {
      const int end = std::min(last, i + 1) - first;
      const double u0 = a[i * ld + k];
      if (width == 1) {
        add_scaled(a + i * ld + first, -u0 * inverse[0], w0, end);
      } else {
        const double u1 = a[i * ld + k + 1];
        add_scaled(a + i * ld + first, -(u0 * inverse[0] + u1 * inverse[1]), w0, end);
        add_scaled(a + i * ld + first, -(u0 * inverse[1] + u1 * inverse[2]), w1, end);
      }
    }
  }
  for (int i = begin; i < n; ++i) {
    const double u0 = a[i * ld + k], u1 = width == 2 ? a[i * ld + k + 1] : 0;
    a[i * ld + k] = width == 1 ? u0 * inverse[0] : u0 * inverse[0] + u1 * inverse[1];
    if (width == 2) a[i * ld + k + 1] = u0 * inverse[1] + u1 * inverse[2];
  }
}

}  // namespace

DenseFactorReport ldlt_factor(double* a, int n, int ld, int* pivots, double tolerance) {
  SUPPLE_EXPECT(n >= 0 && ld >= n);
  for (int i = 0; i < n; ++i) pivots[i] = i;  // whoever solves with what is no factor stays within it
  const double alpha = (1 + std::sqrt(17.0)) / 8;
  double largest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      if (!std::isfinite(a[i * ld + j])) return {DenseFactorStatus::singular, 0};
      largest = std::max(largest, std::abs(a[i * ld + j]));
    }
  if (tolerance <= 0) tolerance = n * std::numeric_limits<double>::epsilon();
  const double smallest = largest * tolerance;
  DenseFactorReport report;
  for (int k = 0; k < n;) {
    const double diagonal = std::abs(a[k * ld + k]);
    int row = k;
    double column_max = 0;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a[i * ld + k]) > column_max) column_max = std::abs(a[i * ld + k]), row = i;
    if (std::max(diagonal, column_max) <= smallest) return {DenseFactorStatus::singular, report.negative_pivots};
    int width = 1, other = k;
    if (diagonal < alpha * column_max) {
      double row_max = 0;
      for (int j = k; j < row; ++j) row_max = std::max(row_max, std::abs(a[row * ld + j]));
      for (int i = row + 1; i < n; ++i) row_max = std::max(row_max, std::abs(a[i * ld + row]));
      if (diagonal >= alpha * column_max * (column_max / row_max)) {
        other = k;
      } else {
        other = row;
        if (std::abs(a[row * ld + row]) < alpha * row_max) width = 2;
      }
    }
    const int place = k + width - 1;
    if (other != place) exchange(a, n, ld, place, other);
    double inverse[3];
    if (width == 1) {
      const double pivot = a[k * ld + k];
      if (std::abs(pivot) <= smallest) return {DenseFactorStatus::singular, report.negative_pivots};
      report.negative_pivots += pivot < 0;
      inverse[0] = 1 / pivot;
      pivots[k] = other;
    } else {
      // Bunch-Kaufman's 2x2 pivots have a negative determinant: one eigenvalue of each sign.
      ++report.negative_pivots;
      const InverseBlock block(a[k * ld + k], a[(k + 1) * ld + k], a[(k + 1) * ld + k + 1]);
      inverse[0] = block.d00;
      inverse[1] = block.d10;
      inverse[2] = block.d11;
      pivots[k] = pivots[k + 1] = -(other + 1);
    }
    eliminate(a, n, ld, k, width, inverse);
    k += width;
  }
  return report;
}

void ldlt_solve(const double* a, int n, int ld, const int* pivots, double* x, int count, int ldx) {
  // `exchange` also moved the finished rows of L, so all exchanges come first, then plain triangular solves.
  for (int c = 0; c < count; ++c) {
    double* b = x + c * ldx;
    for (int k = 0; k < n;) {
      const bool single = pivots[k] >= 0;
      const int place = single ? k : k + 1, other = single ? pivots[k] : -pivots[k] - 1;
      if (other != place) std::swap(b[place], b[other]);
      k += single ? 1 : 2;
    }
    for (int k = 0; k < n;) {
      const int width = pivots[k] >= 0 ? 1 : 2;
      for (int r = k; r < k + width; ++r) b[r] -= dot(a + r * ld, b, k);
      k += width;
    }
    for (int k = 0; k < n;) {
      if (pivots[k] >= 0) {
        b[k] /= a[k * ld + k];
        ++k;
      } else {
        const InverseBlock inverse(a[k * ld + k], a[(k + 1) * ld + k], a[(k + 1) * ld + k + 1]);
        const double b0 = b[k], b1 = b[k + 1];
        b[k] = inverse.d00 * b0 + inverse.d10 * b1;
        b[k + 1] = inverse.d10 * b0 + inverse.d11 * b1;
        k += 2;
      }
    }
    for (int i = n - 1; i >= 0;) {
      const int width = pivots[i] >= 0 ? 1 : 2;
      const int begin = i - width + 1;
      for (int r = begin; r <= i; ++r) add_scaled(b, -b[r], a + r * ld, begin);
      i -= width;
    }
    for (int k = n - 1; k >= 0;) {
      const bool single = pivots[k] >= 0;
      const int other = single ? pivots[k] : -pivots[k] - 1;
      if (other != k) std::swap(b[k], b[other]);
      k -= single ? 1 : 2;
    }
  }
}

}  // namespace supple

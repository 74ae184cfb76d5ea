#pragma once
// A = P L B L^T P^T of a small dense symmetric matrix that may be indefinite, by a team of threads: Bunch and Kaufman's
// pivoting with blocks of one and two (Golub & Van Loan, Matrix Computations, 4.4; LAPACK's dsytf2). A is n x n
// row-major with row stride ld >= n; only the lower triangle is read and written. All members of the team call with the
// same arguments and get the same answer, which does not depend on their number: each looks for the pivot itself, which
// costs n^2 reads of what the others read too. Teams: kernels/base/team.hpp.
//
// One CPU core has its own vectorised version, solvers/dense/symmetric_factor.hpp, with the same format of factors:
// pivots[k] = p >= 0: a block of one, rows k and p were exchanged; pivots[k] = pivots[k + 1] = -(p + 1): a block of two
// at k, rows k + 1 and p were exchanged.

#include <cmath>
#include <limits>

#include "kernels/base/team.hpp"

namespace supple {

// A constant, since device code calls no function of the host's standard library.
inline constexpr double ldlt_epsilon = std::numeric_limits<double>::epsilon();

// What became of a factorisation.
struct LdltReport {
  int singular = 0;  // 1: a pivot column below n epsilon times the largest entry, or an entry that is not finite
  int negative_pivots = 0;
};

// Inverse {d00, d10, d11} of the block {{a, b}, {b, c}} with |b| the largest entry, scaled by b against overflow.
struct InverseBlock {
  double d00, d10, d11;
  SUPPLE_INLINE InverseBlock(double a, double b, double c) {
    const double d22 = a / b, d = c / b, t = 1 / (d * d22 - 1);
    d00 = t * d / b;
    d10 = -t / b;
    d11 = t * d22 / b;
  }
};

// The pivot of column k: `width` rows, of which the last is row `other` now.
struct LdltPivot {
  int width, other;
};

// Whoever calls reads the trailing matrix.
SUPPLE_HD inline LdltPivot find_pivot(const double* a, int n, int ld, int k, double smallest, bool& found) {
  const double alpha = 0.6403882032022076;  // (1 + sqrt(17))/8
  const double diagonal = std::abs(a[k * ld + k]);
  int row = k;
  double column_most = 0;
  for (int i = k + 1; i < n; ++i) {
    const double size = std::abs(a[i * ld + k]);
    if (size > column_most) column_most = size, row = i;
  }
  found = diagonal > smallest || column_most > smallest;
  if (!found || diagonal >= alpha * column_most) return {1, k};
  double row_most = 0;
  for (int j = k; j < row; ++j) row_most = std::fmax(row_most, std::abs(a[row * ld + j]));
  for (int i = row + 1; i < n; ++i) row_most = std::fmax(row_most, std::abs(a[i * ld + row]));
  if (diagonal >= alpha * column_most * (column_most / row_most)) return {1, k};
  return {std::abs(a[row * ld + row]) < alpha * row_most ? 2 : 1, row};
}

// Exchanges rows and columns p > q of the trailing matrix (rows >= q), and the finished part of rows p and q. Each entry
// by one member.
template <class Team>
SUPPLE_HD void exchange_rows(Team team, double* a, int n, int ld, int q, int p) {
  const auto swap = [](double& x, double& y) {
    const double kept = x;
    x = y;
    y = kept;
  };
  for (int j = team.rank(); j < n; j += team.size()) {
    if (j < q) swap(a[q * ld + j], a[p * ld + j]);
    if (j == q) swap(a[q * ld + q], a[p * ld + p]);
    if (j > q && j < p) swap(a[j * ld + q], a[p * ld + j]);
    if (j > p) swap(a[j * ld + q], a[j * ld + p]);
  }
}

template <class Team>
SUPPLE_HD LdltReport ldlt_factor(Team team, double* a, int n, int ld, int* pivots) {
  team.sync();
  double largest = 0;
  bool finite = true;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double size = std::abs(a[i * ld + j]);
      finite = finite && size < HUGE_VAL;
      largest = std::fmax(largest, size);
    }
  int done = 0;
  LdltReport report;
  report.singular = finite ? 0 : 1;
  const double smallest = largest * n * ldlt_epsilon;
  for (int k = 0; k < n && report.singular == 0;) {
    bool found;
    const LdltPivot pivot = find_pivot(a, n, ld, k, smallest, found);
    team.sync();  // all have read the matrix
    const int place = k + pivot.width - 1, begin = k + pivot.width;
    if (found && pivot.other != place) {
      exchange_rows(team, a, n, ld, place, pivot.other);
      team.sync();
    }
    if (!found || (pivot.width == 1 && !(std::abs(a[k * ld + k]) > smallest))) {
      report.singular = 1;
      break;
    }
    // Such blocks of two have a negative determinant: one eigenvalue of each sign.
    report.negative_pivots += pivot.width == 2 || a[k * ld + k] < 0 ? 1 : 0;
    double d00, d10 = 0, d11 = 0;
    if (pivot.width == 1) {
      d00 = 1 / a[k * ld + k];
    } else {
      const InverseBlock inverse(a[k * ld + k], a[(k + 1) * ld + k], a[(k + 1) * ld + k + 1]);
      d00 = inverse.d00, d10 = inverse.d10, d11 = inverse.d11;
    }
    for (int i = k + team.rank(); i < begin; i += team.size())
      pivots[i] = pivot.width == 1 ? pivot.other : -(pivot.other + 1);
    // a_ij -= l_i w_j^T, where w are the columns of the block and l = w D^-1.
    const int left = n - begin;
    const auto eliminate = [&](int i, int j) {
      const double u0 = a[i * ld + k], u1 = pivot.width == 2 ? a[i * ld + k + 1] : 0;
      double change = (u0 * d00 + u1 * d10) * a[j * ld + k];
      if (pivot.width == 2) change += (u0 * d10 + u1 * d11) * a[j * ld + k + 1];
      a[i * ld + j] -= change;
    };
    if (team.size() == 1) {
      for (int i = begin; i < n; ++i)
        for (int j = begin; j <= i; ++j) eliminate(i, j);
    } else {
      for (int entry = team.rank(); entry < left * left; entry += team.size()) {
        const int i = begin + entry / left, j = begin + entry % left;
        if (j <= i) eliminate(i, j);
      }
    }
    team.sync();
    for (int i = begin + team.rank(); i < n; i += team.size()) {
      const double u0 = a[i * ld + k], u1 = pivot.width == 2 ? a[i * ld + k + 1] : 0;
      a[i * ld + k] = u0 * d00 + u1 * d10;
      if (pivot.width == 2) a[i * ld + k + 1] = u0 * d10 + u1 * d11;
    }
    k = begin;
    done = k;
  }
  // Whoever solves with what is no factor stays within it.
  if (report.singular != 0)
    for (int i = done + team.rank(); i < n; i += team.size()) pivots[i] = i;
  team.sync();
  return report;
}

// Exchanges of a right-hand side, in the order of the factorisation or backwards.
SUPPLE_HD inline void permute_side(const int* pivots, int n, bool backwards, double* b) {
  const auto exchange = [&](int place, int other) {
    const double kept = b[place];
    b[place] = b[other];
    b[other] = kept;
  };
  if (backwards) {
    // The second row of a block of two is the one that was exchanged; its first one comes next.
    for (int k = n - 1; k >= 0; --k) {
      const bool single = pivots[k] >= 0;
      exchange(k, single ? pivots[k] : -pivots[k] - 1);
      if (!single) --k;
    }
    return;
  }
  for (int k = 0; k < n; ++k) {
    const bool single = pivots[k] >= 0;
    if (!single) ++k;
    exchange(k, single ? pivots[k] : -pivots[k] - 1);
  }
}

// Solves A x = b in place for `count` right-hand sides, the c-th at x + c ldx. Exchanges of a factorisation moved the
// finished rows of L too, so all of a side's come first, then plain triangular solves.
template <class Team>
SUPPLE_HD void ldlt_solve(Team team, const double* a, int n, int ld, const int* pivots, double* x, int count, int ldx) {
  team.sync();
  for (int c = team.rank(); c < count; c += team.size()) permute_side(pivots, n, false, x + c * ldx);
  team.sync();
  for (int k = 0; k < n;) {
    const int end = k + (pivots[k] >= 0 ? 1 : 2), left = n - end;
    for (int entry = team.rank(); entry < left * count; entry += team.size()) {
      double* b = x + entry / left * ldx;
      const int i = end + entry % left;
      for (int j = k; j < end; ++j) b[i] -= a[i * ld + j] * b[j];
    }
    team.sync();
    k = end;
  }
  for (int c = team.rank(); c < count; c += team.size()) {
    double* b = x + c * ldx;
    for (int k = 0; k < n; ++k) {
      if (pivots[k] >= 0) {
        b[k] /= a[k * ld + k];
        continue;
      }
      const InverseBlock inverse(a[k * ld + k], a[(k + 1) * ld + k], a[(k + 1) * ld + k + 1]);
      const double b0 = b[k], b1 = b[k + 1];
      b[k] = inverse.d00 * b0 + inverse.d10 * b1;
      b[++k] = inverse.d10 * b0 + inverse.d11 * b1;
    }
  }
  team.sync();
  for (int i = n - 1; i > 0;) {
    const int begin = i - (pivots[i] >= 0 ? 0 : 1);
    for (int entry = team.rank(); entry < begin * count; entry += team.size()) {
      double* b = x + entry / begin * ldx;
      const int j = entry % begin;
      for (int row = i; row >= begin; --row) b[j] -= a[row * ld + j] * b[row];
    }
    team.sync();
    i = begin - 1;
  }
  for (int c = team.rank(); c < count; c += team.size()) permute_side(pivots, n, true, x + c * ldx);
  team.sync();
}

// The same for a batch of matrices of size n, `stride` numbers from one to the next, pivots and right-hand sides one
// after the other. Index: matrix.
struct LdltFactorTeamOp {
  int n, ld;
  std::ptrdiff_t stride;
  double* A;
  int* pivots;
  LdltReport* found;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int matrix) const {
    const LdltReport report = ldlt_factor(team, A + matrix * stride, n, ld, pivots + std::ptrdiff_t{n} * matrix);
    if (team.rank() == 0) found[matrix] = report;
  }
};

// Those of matrices without a factor are left as they are.
struct LdltSolveTeamOp {
  int n, count, ld;
  std::ptrdiff_t stride;
  const double* A;
  const int* pivots;
  const LdltReport* found;
  double* X;
  int ldx;
  std::ptrdiff_t stride_x;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int matrix) const {
    if (found[matrix].singular != 0) return;
    ldlt_solve(team, A + matrix * stride, n, ld, pivots + std::ptrdiff_t{n} * matrix, X + matrix * stride_x, count,
               ldx);
  }
};

}  // namespace supple

#pragma once
// A quadratic program without units: x^ = x / d, P^ = D P D, g^ = D g, rows r_k C_k D of Euclidean norm 1. Rows of P
// and C are padded with zeros to a multiple of eight columns. Constraints are numbered: bounds 0 .. n - 1, rows n .. n
// + m - 1.

#include "kernels/base/extent.hpp"
#include "solvers/dense/pack.hpp"
#include "solvers/qp/qp.hpp"

namespace supple::qp {

constexpr int padded(int n) {
  return (n + pack_width - 1) / pack_width * pack_width;
}

struct ScaledQp {
  int n, m, ld;
  double *P, *C;           // n x ld, m x ld
  double *g, *centre;      // ld
  double *lower, *upper;   // n + m
  double *column, *row;    // d (n), r (m)
  double largest_g = 0;    // of |g^|
  double largest_end = 0;  // of the finite |limits|

  int constraints() const { return n + m; }
  const double* row_of(int k) const { return C + (k - n) * ld; }
  double value(int k, const double* x) const { return k < n ? x[k] : dot(row_of(k), x, ld); }
  bool equality(int k) const { return lower[k] == upper[k]; }
  double limit(int k, QpSide side) const { return side == QpSide::upper ? upper[k] : lower[k]; }
  /// y += factor a_k
  void add_normal(int k, double factor, double* y) const {
    if (k < n) {
      y[k] += factor;
    } else {
      add_scaled(y, factor, row_of(k), ld);
    }
  }
  /// r_k: multiplies a constraint's limit and normal, so multipliers too.
  double scale(int k) const { return k < n ? 1 / column[k] : row[k - n]; }
};

// Fills the arrays of `s` from the data. `solved`: ready; `not_finite`, `not_convex` (of a diagonal <= 0 only); or
// `infeasible`, and `conflict` is a constraint with lower > upper.
QpStatus scale_qp(const QpProblem& problem, ScaledQp& s, int& conflict);

}  // namespace supple::qp

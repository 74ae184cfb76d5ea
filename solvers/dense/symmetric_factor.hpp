#pragma once
// Dense symmetric factorisations for reduced systems on one core, n up to a few hundred, no allocation. Matrices are
// row-major; the strict upper triangle is not written and what is read of it is not used. For a GPU block, or float:
// kernels/dense/cholesky.hpp.

#include <span>

namespace supple {

enum class DenseFactorStatus { ok, not_positive, singular };

struct [[nodiscard]] DenseFactorReport {
  DenseFactorStatus status = DenseFactorStatus::ok;
  int negative_pivots = 0;
};

/// A = L L^T in place (lower triangle, row stride ld). Stops at the first pivot that is not > 0, or below 6e-309, whose
/// inverse is not finite; A is undefined then.
DenseFactorReport cholesky_factor(double* a, int n, int ld);
/// Solves L L^T x = b for `count` right-hand sides, each contiguous of length n with stride ldx.
void cholesky_solve(const double* a, int n, int ld, double* x, int count, int ldx);
/// Solves L y = b alone, laid out the same way: with the rows of H as right-hand sides x = H L^-T, and
///   H A^-1 H^T = x x^T.
void forward_solve(const double* a, int n, int ld, double* x, int count, int ldx);

/// A = P L B L^T P^T with Bunch-Kaufman pivoting (1x1 and 2x2 blocks) in place; `pivots` has n entries. Inertia in
/// negative_pivots. Singular: a pivot column below `tolerance` times the largest |a_ij|, where 0 stands for n times the
/// machine epsilon, or an entry that is not finite. Rows in units far apart should be scaled by the caller.
DenseFactorReport ldlt_factor(double* a, int n, int ld, int* pivots, double tolerance = 0);
void ldlt_solve(const double* a, int n, int ld, const int* pivots, double* x, int count, int ldx);

}  // namespace supple

#pragma once
// Dense factorisation of matrices that are not symmetric, on one core, n up to a few hundred, no allocation. Row-major;
// row strides are multiples of pack_width and the columns from n up to the next multiple belong to the matrix: they are
// read and written.

namespace supple {

/// C += factor sum_k p_k^T q_k for `count` rows p_k of length m and q_k of length n: C is m x n with row stride ldc.
/// The rows of C and q are padded as above, those of p readable up to the next multiple of pack_width.
void add_products(double* c, int m, int n, int ldc, double factor, const double* p, int ldp, const double* q, int ldq,
                  int count);

/// P A = L U with partial pivoting in place (Golub & Van Loan, Matrix Computations, 3.4); `pivots` has n entries. False
/// at a pivot that is zero or not finite. Rows in units far apart should be scaled by the caller. `panel` has
/// pack_width (n + pack_width) numbers of scratch.
bool lu_factor(double* a, int n, int ld, int* pivots, double* panel);
/// Solves A x = b in place.
void lu_solve(const double* a, int n, int ld, const int* pivots, double* x);
/// Solves A^T x = b in place.
void lu_solve_transposed(const double* a, int n, int ld, const int* pivots, double* x);

}  // namespace supple

#pragma once
// The factorisation that both active-set methods work with (Goldfarb & Idnani, Mathematical Programming 27, 1983): for
// a positive definite H and the normals N = [a_k] (n x size) of the working set,
//   J^T H J = I,   J^T N = [R; 0],   J = [J1 J2] with `size` and n - size columns,
// R upper triangular. One constraint joins by a Householder reflection of J2, one leaves by Givens rotations.

#include "solvers/qp/scaled_qp.hpp"

namespace supple::qp {

struct ActiveFactor {
  int n, ld;
  double *J, *R;    // columns, each contiguous with stride ld, J's padded with zeros
  int* constraint;  // the working set, `size` of at most n
  double *v, *w;    // scratch, ld
  int size = 0;

  const double* column(int j) const { return J + j * ld; }
  /// H = A + shift I; A is row-major with stride ld and lost. False where H is not positive or the trace of its inverse
  /// exceeds n largest_inverse.
  bool start(double* A, double shift, double largest_inverse);
  void start_identity();
  /// d = J^T a_k
  void project(const ScaledQp& qp, int k, double* d) const;
  /// sum of d_j^2 over J1 or J2
  double square(const double* d, int begin, int end) const;
  void add(int k, const double* d);  // d of project(), independent: its J2 part is not zero
  bool add_independent(const ScaledQp& qp, int k, double* d, double tolerance);
  void drop(int position);
  void solve(double* r) const;             // R^-1 r in place, `size`
  void solve_transposed(double* r) const;  // R^-T r
};

}  // namespace supple::qp

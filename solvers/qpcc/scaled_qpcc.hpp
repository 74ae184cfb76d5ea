#pragma once
// The problem without units: x^ = x / D, and for a contact lambda^ = lambda / s, w^ = s w with s = (mean W_ii)^-1/2
// over its normal and tangents. D = P_ii^-1/2. Tangents of contacts without friction are set to zero.

#include "kernels/base/extent.hpp"
#include "solvers/qpcc/pyramid.hpp"

namespace supple::qpcc {

/// Bump allocator over the memory of a workspace.
struct Room {
  double* next;
  double* take(std::size_t count) {
    double* const here = next;
    next += count;
    return here;
  }
};

struct ScaledQpcc {
  int n = 0, m = 0, k = 0, facets = 0, all = 0;  // all = n + 3 m
  double *P, *g, *C, *W, *d;                     // all x all, all, k x all, 3m x all, 3m
  double *lower, *upper, *row_lower, *row_upper;
  double* column;         // D (n), then s three times per contact
  double* row_size;       // |C_k| in scaled unknowns, forces in units of
  double force_unit = 1;  // the largest |W_ai| of x
  Pyramid* pyramid;       // m

  static std::size_t memory(int n, int m, int k);
  void use(Room room, int n, int m, int k);
  /// The problem's data; `not_finite` or `solved`.
  QpStatus load(const QpccProblem& problem);

  double* matrix_row(double* matrix, int i) const { return matrix + extent(i, all); }
  /// w = W z + d of contact c; size: the largest sum of |terms| of one of its rows, for x and forces as large as the
  /// largest of them; load: without forces.
  void motion(int c, const double* z, double largest_x, double force, double* w, double& size, double& load) const;
};

}  // namespace supple::qpcc

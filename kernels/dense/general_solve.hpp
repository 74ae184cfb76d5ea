#pragma once
// Solves A x = b of a small dense matrix that need not be symmetric by a team of threads: Gaussian elimination with
// partial pivoting (Golub & Van Loan, Matrix Computations, 3.4), four barriers a column. A is n x n row-major with row
// stride ld >= n; it and b are overwritten, b with x. All members of the team call with the same arguments and get the
// same answer, which does not depend on their number. Teams: kernels/base/team.hpp.
//
// One CPU core has its own blocked and vectorised version, solvers/dense/general_factor.hpp.

#include <cmath>

#include "kernels/base/team.hpp"

namespace supple {

// Parts in which a team looks for the pivot: `found` has two numbers for each.
inline constexpr int pivot_parts = 32;

// False at a column without a pivot: zero, or not finite.
template <class Team>
SUPPLE_HD bool general_solve(Team team, double* a, int n, int ld, double* b, double* found) {
  team.sync();
  for (int k = 0; k < n; ++k) {
    // The largest of the column from the diagonal on, the first of equal ones.
    for (int part = team.rank(); part < pivot_parts; part += team.size()) {
      double most = -1;
      int at = n;
      for (int i = k + part; i < n; i += pivot_parts) {
        const double size = std::abs(a[i * ld + k]);
        if (size > most) most = size, at = i;
      }
      found[2 * part] = most;
      found[2 * part + 1] = at;
    }
    team.sync();
    double most = -1;
    int row = n;
    for (int part = 0; part < pivot_parts; ++part) {
      const double size = found[2 * part];
      const int at = static_cast<int>(found[2 * part + 1]);
      if (size > most || (size >= most && at < row)) most = size, row = at;
    }
    if (!(most > 0 && most < HUGE_VAL)) return false;
    if (row != k) {
      for (int j = k + team.rank(); j <= n; j += team.size()) {
        double &above = j < n ? a[k * ld + j] : b[k], &below = j < n ? a[row * ld + j] : b[row];
        const double kept = above;
        above = below;
        below = kept;
      }
      team.sync();
    }
    // l_ik = a_ik / a_kk
    const double inverse = 1 / a[k * ld + k];
    for (int i = k + 1 + team.rank(); i < n; i += team.size()) a[i * ld + k] *= inverse;
    team.sync();
    // a_ij -= l_ik a_kj, and b with them
    if (team.size() == 1) {
      for (int i = k + 1; i < n; ++i) {
        const double l = a[i * ld + k];
        SUPPLE_SIMD
        for (int j = k + 1; j < n; ++j) a[i * ld + j] -= l * a[k * ld + j];
        b[i] -= l * b[k];
      }
    } else {
      for (int j = k + 1 + team.rank(); j <= n; j += team.size()) {
        double* column = j < n ? a + j : b;
        const int stride = j < n ? ld : 1;
        const double top = column[k * stride];
        for (int i = k + 1; i < n; ++i) column[i * stride] -= a[i * ld + k] * top;
      }
    }
    team.sync();
  }
  for (int k = n - 1; k >= 0; --k) {
    const double x = b[k] / a[k * ld + k];
    for (int i = team.rank(); i < k; i += team.size()) b[i] -= a[i * ld + k] * x;
    team.sync();
    if (team.rank() == 0) b[k] = x;  // no thread reads it any more
  }
  team.sync();
  return true;
}

}  // namespace supple

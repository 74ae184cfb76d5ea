#pragma once
// Cholesky A = L L^T of a small dense matrix by a team of threads: one thread on the CPU, a thread block on a GPU. A is
// n x n row-major with row stride ld >= n; only the lower triangle is read and written. All members of the team call
// with the same arguments and get the same answer. Right-looking, two barriers per column; Golub & Van Loan, Matrix
// Computations, 4.2. Teams: kernels/base/team.hpp.
//
// One CPU core has its own blocked and vectorised version, solvers/dense/symmetric_factor.hpp: measured at n = 34
// 2.7 times, at n = 63 3.5 times faster than this form with a team of one.

#include <cmath>

#include "kernels/base/team.hpp"

namespace supple {

// Returns n on success, else the index of the first pivot that is not > 0 (columns before it hold L, the rest is the
// remainder).
template <class S, class Team>
SUPPLE_HD int cholesky_factor(Team team, S* a, int n, int ld) {
  team.sync();
  for (int k = 0; k < n; ++k) {
    const S pivot = a[k * ld + k];
    if (!(pivot > S(0))) return k;
    const S root = std::sqrt(pivot);
    const S inverse = S(1) / root;
    // l_ik = a_ik / l_kk
    for (int i = k + 1 + team.rank(); i < n; i += team.size()) a[i * ld + k] *= inverse;
    team.sync();
    // a_ij -= l_ik l_jk, k < j <= i. No thread reads a_kk here, so it can be replaced.
    if (team.rank() == 0) a[k * ld + k] = root;
    const int left = n - k - 1;
    if (team.size() == 1) {
      for (int i = k + 1; i < n; ++i) {
        const S l = a[i * ld + k];
        for (int j = k + 1; j <= i; ++j) a[i * ld + j] -= l * a[j * ld + k];
      }
    } else {
      for (int entry = team.rank(); entry < left * left; entry += team.size()) {
        const int i = k + 1 + entry / left, j = k + 1 + entry % left;
        if (j <= i) a[i * ld + j] -= a[i * ld + k] * a[j * ld + k];
      }
    }
    team.sync();
  }
  return n;
}

// Solves L y = b in place for `count` right-hand sides, the c-th at x + c ldx.
template <class S, class Team>
SUPPLE_HD void cholesky_forward(Team team, const S* a, int n, int ld, S* x, int count, int ldx) {
  team.sync();
  if (team.size() == 1) {
    for (int c = 0; c < count; ++c)
      for (int k = 0; k < n; ++k) {
        const S y = x[c * ldx + k] *= S(1) / a[k * ld + k];
        for (int i = k + 1; i < n; ++i) x[c * ldx + i] -= a[i * ld + k] * y;
      }
    return;
  }
  // Column by column. Row k itself is divided one step later, when no thread reads the undivided value any more.
  for (int k = 0; k < n; ++k) {
    const S inverse = S(1) / a[k * ld + k];
    const int left = n - k - 1;
    for (int entry = team.rank(); entry < left * count; entry += team.size()) {
      const int c = entry / left, i = k + 1 + entry % left;
      x[c * ldx + i] -= a[i * ld + k] * (x[c * ldx + k] * inverse);
    }
    team.sync();
    for (int c = team.rank(); c < count; c += team.size()) x[c * ldx + k] *= inverse;
  }
  team.sync();
}

// Solves L^T x = y in place, the same way.
template <class S, class Team>
SUPPLE_HD void cholesky_backward(Team team, const S* a, int n, int ld, S* x, int count, int ldx) {
  team.sync();
  for (int k = n - 1; k >= 0; --k) {
    const S inverse = S(1) / a[k * ld + k];
    for (int entry = team.rank(); entry < k * count; entry += team.size()) {
      const int c = entry / k, i = entry % k;
      x[c * ldx + i] -= a[k * ld + i] * (x[c * ldx + k] * inverse);
    }
    team.sync();
    for (int c = team.rank(); c < count; c += team.size()) x[c * ldx + k] *= inverse;
  }
  team.sync();
}

// Solves L L^T x = b in place.
template <class S, class Team>
SUPPLE_HD void cholesky_solve(Team team, const S* a, int n, int ld, S* x, int count, int ldx) {
  cholesky_forward(team, a, n, ld, x, count, ldx);
  cholesky_backward(team, a, n, ld, x, count, ldx);
}

}  // namespace supple

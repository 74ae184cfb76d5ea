#pragma once
// Many independent quadratic programs of one size, spread over threads: one per candidate, target or robot. Each is
// solved as solve_qp() would, so the bits do not depend on the number of threads.

#include "solvers/qp/qp.hpp"

namespace supple {

/// Arrays of qp.hpp, one problem after the other: `count` times n x n, n, m x n or m numbers. An array with the size of
/// one problem's is shared by all. Empty limits: none; empty centre: the origin.
struct QpBatchProblem {
  std::span<const double> P, g, lower, upper, C, row_lower, row_upper, centre;
};

/// x: count x n. Multipliers count x n and count x m, or empty: not wanted.
struct QpBatchSolution {
  std::span<double> x, bound_multipliers, row_multipliers;
};

class QpBatch {
 public:
  /// threads = 0: as many as OpenMP offers.
  QpBatch(int n, int m, int count, int threads = 0);
  int count() const { return count_; }

  /// Every problem starts from its active set of the call before. Allocates nothing. Returns how many are solved.
  int solve(const QpBatchProblem& problem, const QpBatchSolution& solution, const QpSettings& settings = {});
  /// The next call starts cold.
  void forget();

  /// Of the last call. A proof of infeasibility or a direction is not kept: solve that problem alone.
  std::span<const QpReport> reports() const { return reports_; }
  std::span<const QpSide> active(int index) const;

 private:
  int n_, m_, count_;
  std::vector<QpWorkspace> workspaces_;  // one per thread
  std::vector<QpSide> active_;           // count x (n + m)
  std::vector<QpReport> reports_;
};

}  // namespace supple

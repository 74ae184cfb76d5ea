#pragma once
// Many independent problems of qpcc.hpp of one size, spread over threads. Each is solved as solve_qpcc() would, so the
// bits do not depend on the number of threads.

#include "solvers/qpcc/qpcc.hpp"

namespace supple {

struct QpccBatchSize {
  int n = 0, contacts = 0, rows = 0, facets = 8, count = 0;
};

/// Arrays of qpcc.hpp, one problem after the other. An array with the size of one problem's is shared by all. Empty
/// limits: none; empty angle: 0. Of a contact that a problem does not need: rows of W, columns and rows of P and C
/// zero, friction 0, d_n > 0; it stays open.
struct QpccBatchProblem {
  std::span<const double> P, g, lower, upper, C, row_lower, row_upper, W, d, friction, angle;
};

/// x: count x n, in and out. lambda: count x 3 contacts.
struct QpccBatchSolution {
  std::span<double> x, lambda;
};

class QpccBatch {
 public:
  /// threads = 0: as many as OpenMP offers.
  explicit QpccBatch(const QpccBatchSize& size, int threads = 0);
  int count() const { return size_.count; }

  /// Every problem starts from the pieces and active limits of the call before. Allocates nothing. Returns how many are
  /// solved.
  int solve(const QpccBatchProblem& problem, const QpccBatchSolution& solution, const QpccSettings& settings = {});
  /// The next call starts cold.
  void forget();

  /// Of the last call.
  std::span<const QpccReport> reports() const { return reports_; }
  std::span<const ContactPiece> pieces(int index) const;

 private:
  QpccBatchSize size_;
  std::vector<QpccWorkspace> workspaces_;  // one per thread
  std::vector<ContactPiece> pieces_;       // count x contacts
  std::vector<QpSide> active_;             // count x (n + rows)
  std::vector<QpccReport> reports_;
};

}  // namespace supple

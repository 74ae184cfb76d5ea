#pragma once
// One solve: the scaled problem, the methods' state and the best answer so far, all in the caller's workspace.

#include <limits>

#include "solvers/qp/active_set.hpp"

namespace supple::qp {

class QpSolver {
 public:
  QpSolver(const QpProblem& problem, const QpSolution& solution, QpMemory& memory, const QpSettings& settings);
  QpSolver(const QpSolver&) = delete;
  QpSolver& operator=(const QpSolver&) = delete;

  QpReport solve();

 private:
  const QpProblem& problem_;
  const QpSolution& solution_;
  QpMemory& memory_;
  const QpSettings& settings_;
  ScaledQp qp_{};
  ActiveFactor factor_{};
  ActiveSet set_{qp_, factor_};
  double *matrix_ = nullptr, *products_ = nullptr;  // n x ld
  double* residual_ = nullptr;                      // ld: P x + g - sum u a, of the last evaluate()
  int* pivots_ = nullptr;
  // The best answer so far, in scaled unknowns: x, u by constraint, sides.
  double best_ = std::numeric_limits<double>::infinity();  // its largest residual
  double *best_x_ = nullptr, *best_u_ = nullptr;
  QpSide* best_side_ = nullptr;
  QpReport report_;

  void start_sides(bool warm);
  double start_factor();
  bool convex();
  ActiveSetEnd dual(double shift, const double* g, bool insist);
  void correct();
  void refine();
  double evaluate();  // keeps set_'s point if it is the best one; its largest residual
  bool proves_unbounded();
  double limit_given(int k, QpSide side) const;  // in the caller's units
  void report_conflicts();
  void report_direction();
  QpReport give_best();
  QpReport give_nothing(QpStatus status);
};

}  // namespace supple::qp

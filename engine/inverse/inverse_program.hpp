#pragma once
// The quadratic program of one robot's inverse step as arrays (inverse_law.hpp has the formulas), private to
// InverseLaw.

#include <algorithm>
#include <vector>

#include "engine/inverse/inverse_law.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"
#include "solvers/complementarity/box_complementarity.hpp"
#include "solvers/qp/gauss_seidel.hpp"

namespace supple {

/// The program of one robot; N unknowns and M rows. In contact its forces are unknowns after those, Z in all.
struct InverseLaw::Problem {
  int effector_rows, unknowns, rows, contact_rows = 0;
  std::vector<double> J, shift, weight;  // effector rows x Z; delta_e_free - delta_e_asked; Omega by row
  std::vector<char> exact;               // by effector row
  std::vector<double> P, g, lower, upper, C, row_lower, row_upper, centre, x, bound_multipliers, row_multipliers;

  std::vector<double> held_lower, held_upper, held_free, work;  // of the forward law, where the last commands are held
  std::vector<double> W, displacement_free, displacement_lower, displacement_upper;  // of Gauss-Seidel

  std::vector<double> kept_lower, kept_upper, kept_row_upper, kept_x, kept_bound_multipliers, kept_row_multipliers;
  void keep_limits() {
    kept_lower = lower;
    kept_upper = upper;
    kept_row_upper = row_upper;
  }
  void restore_limits() {
    lower = kept_lower;
    upper = kept_upper;
    row_upper = kept_row_upper;
  }
  void keep_answer() {
    kept_x = x;
    kept_bound_multipliers = bound_multipliers;
    kept_row_multipliers = row_multipliers;
  }
  void restore_answer() {
    x = kept_x;
    bound_multipliers = kept_bound_multipliers;
    row_multipliers = kept_row_multipliers;
  }

  /// Room for so many forces of contacts.
  void resize(int contacts) {
    if (contacts == contact_rows && !P.empty()) return;
    contact_rows = contacts;
    const int all = unknowns + contacts;
    J.assign(extent(effector_rows, all), 0.0);
    P.assign(extent(all, all), 0.0);
    C.assign(extent(rows, all), 0.0);
    for (auto* v : {&g, &x}) v->assign(extent(all), 0.0);
  }

  Problem(int effector_rows_, int actuators, int unknowns_, int rows_)
      : effector_rows(effector_rows_), unknowns(unknowns_), rows(rows_) {
    resize(0);
    for (auto* v : {&shift, &weight}) v->assign(extent(effector_rows), 0.0);
    exact.assign(extent(effector_rows), 0);
    for (auto* v : {&lower, &upper, &centre, &bound_multipliers}) v->assign(extent(unknowns), 0.0);
    for (auto* v : {&row_lower, &row_upper, &row_multipliers}) v->assign(extent(rows), 0.0);
    keep_limits();
    keep_answer();
    for (auto* v : {&held_lower, &held_upper, &held_free}) v->assign(extent(actuators), 0.0);
    work.assign(static_cast<std::size_t>(
                    std::max(box_complementarity_work(actuators), gauss_seidel_work(unknowns, effector_rows))),
                0.0);
    W.assign(extent(unknowns, unknowns), 0.0);
    for (auto* v : {&displacement_free, &displacement_lower, &displacement_upper}) v->assign(extent(unknowns), 0.0);
  }
};

/// Solves the program: `once` solves it with the limits as they are, `hold` computes the forces of the last commands
/// (x). A cable that only pulls may be slack (lambda = 0) and its path then shorter than its command: the upper limit
/// of its displacement is active only while the cable is taut. Which cables are slack is not a convex choice. If the
/// limits are infeasible although forward simulation with commands in their ranges has a solution, the limits of the
/// cables that are slack in that solution are released. If an upper limit holds a cable at lambda = 0, the limit is
/// released unless that raises the objective.
template <class Once, class Hold>
QpReport InverseLaw::solve_program(Problem& problem, const Once& once, const Hold& hold) const {
  const int Z = problem.unknowns + problem.contact_rows;
  const auto may_be_let_go = [&](std::size_t c) {
    const auto j = static_cast<std::size_t>(limited_[c]);
    const ActuatorRow& actuator = robot_.actuators[j];
    return problem.row_upper[c] < unlimited && problem.lower[j] <= 0 && !actuator.bilateral &&
           actuator.control == ActuatorControl::displacement && actuator.force.lower <= 0;
  };
  const auto let_go = [&](std::size_t c) {
    const auto j = static_cast<std::size_t>(limited_[c]);
    problem.row_upper[c] = unlimited;
    problem.lower[j] = problem.upper[j] = 0;
  };
  problem.keep_limits();
  QpReport report = once();
  if (report.status == QpStatus::infeasible) {
    if (!hold()) return report;
    bool any = false;
    for (std::size_t c = 0; c < limited_.size(); ++c) {
      const auto j = static_cast<std::size_t>(limited_[c]);
      const double displacement = inner_product(problem.C.data() + c * extent(Z), problem.x.data(), Z);
      if (!may_be_let_go(c) || problem.x[j] != 0 || displacement <= problem.row_upper[c]) continue;
      let_go(c);
      any = true;
    }
    if (!any) return report;
    const QpReport loose = once();
    if (loose.status == QpStatus::solved) return loose;
    problem.restore_limits();  // the conflict that is reported is one of the limits of the scene
    return once();
  }
  for (int round = 0; round < n_ && report.status == QpStatus::solved; ++round) {
    bool any = false;
    problem.keep_answer();
    for (std::size_t c = 0; c < limited_.size(); ++c)
      if (may_be_let_go(c) && problem.kept_row_multipliers[c] > 0 &&
          problem.kept_bound_multipliers[static_cast<std::size_t>(limited_[c])] < 0) {
        let_go(c);
        any = true;
      }
    if (!any) break;
    const QpReport loose = once();
    if (loose.status != QpStatus::solved || loose.objective > report.objective) {
      problem.restore_limits();
      problem.restore_answer();
      break;
    }
    problem.keep_limits();
    report = loose;
  }
  return report;
}

}  // namespace supple

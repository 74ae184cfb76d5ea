#pragma once
// The quadratic program of one robot's inverse step as arrays (inverse_law.hpp has the formulas), private to
// InverseLaw.

#include <algorithm>
#include <vector>

#include "engine/inverse/inverse_law.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/complementarity/box_complementarity.hpp"
#include "solvers/qp/gauss_seidel.hpp"

namespace supple {

// The program of one robot; N unknowns, M rows.
struct InverseLaw::Problem {
  std::vector<double> J, shift, weight;  // effector rows x N; delta_e_free - delta_e_asked; Omega by row
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

  Problem(int effector_rows, int actuators, int unknowns, int rows) {
    J.assign(extent(effector_rows, unknowns), 0.0);
    for (auto* v : {&shift, &weight}) v->assign(extent(effector_rows), 0.0);
    exact.assign(extent(effector_rows), 0);
    P.assign(extent(unknowns, unknowns), 0.0);
    for (auto* v : {&g, &lower, &upper, &centre, &x, &bound_multipliers}) v->assign(extent(unknowns), 0.0);
    C.assign(extent(rows, unknowns), 0.0);
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

}  // namespace supple

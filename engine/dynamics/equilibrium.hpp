#pragma once
// Quasi-static equilibrium under given commands: Newton's method with the exact tangent and full steps (step.hpp),
// continued from the given state; where it fails the change of the commands is cut in two, and again. Every sub-step
// starts from the last equilibrium.

#include "engine/dynamics/step.hpp"

namespace supple {

struct EquilibriumSettings {
  double tolerance = 1e-9;     // relative residual
  int max_iterations = 15;      // per increment: quadratic convergence takes 4 to 8, more is failing slowly
  double first_increment = 1;  // fraction of the way tried first
  double smallest_increment = 1.0 / 256;
};

struct [[nodiscard]] EquilibriumReport {
  StepStatus status = StepStatus::ok;
  int increments = 0;
  int iterations = 0;  // factorisations in all
  double residual = 0;
  int inverted = 0;         // elements' points with det F <= 0 at the solution
  int negative_pivots = 0;  // of the last tangent
  int failed_element = -1;
};

class Equilibrium {
 public:
  Equilibrium(Mechanics& mechanics, const EquilibriumSettings& settings);
  // Moves `state` to the equilibrium under `control`. On failure the state is the last equilibrium reached.
  EquilibriumReport solve(const Control& control, State& state);
  const std::vector<double>& outputs() const { return stepper_.outputs(); }

 private:
  EquilibriumSettings settings_;
  Stepper stepper_;
  Control partial_;
};

}  // namespace supple

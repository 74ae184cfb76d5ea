#pragma once
// Inverse control to convergence: multipliers and equilibrium together, at the optimum of the nonlinear equilibrium and
// not of one linearisation. Newton's method on the equilibrium with the exact tangent, and in each linearisation the
// quadratic program of InverseLaw (Gauss-Newton in the goals). Full steps first; where they fail, every linearisation
// may move an effector only so far, and the goals are approached.
//
// At the end the residual of the equilibrium is below the step's tolerance and the program moves no row by more than
// its row tolerance: the first-order conditions of
//   min 1/2 |Omega delta_e|^2 + regularisation over the equilibria within the limits
// hold to that accuracy, since W of the exact tangent is the derivative along the equilibria.

#include "engine/dynamics/step.hpp"
#include "engine/inverse/inverse_law.hpp"

namespace supple {

struct InverseEquilibriumSettings {
  double time_step = 0;         // s; for rate limits only (0 = none)
  double tolerance = 1e-9;      // relative residual of the equilibrium
  double row_tolerance = 1e-9;  // largest movement that the last program asks for [m]
  int max_iterations = 60;      // with full steps
  double first_reach = 4e-3;    // where they fail: largest movement of an effector in a linearisation [m], halved
  int max_halvings = 4;         //   so many times; each with 400 iterations at most
};

class InverseEquilibrium {
 public:
  // `mechanics` and `law` must outlive this object.
  InverseEquilibrium(Mechanics& mechanics, InverseLaw& law, const InverseEquilibriumSettings& settings = {});
  // Moves `state` to the equilibrium that reaches the goals best. On failure it is unchanged.
  StepReport solve(State& state);
  const std::vector<double>& outputs() const { return stepper_.outputs(); }

 private:
  InverseLaw& law_;
  InverseEquilibriumSettings settings_;
  Stepper stepper_;
};

}  // namespace supple

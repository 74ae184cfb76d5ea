#pragma once
// Inverse control to convergence: multipliers and equilibrium (or implicit time step) together, at the optimum of the
// nonlinear problem and not of one linearisation. Newton's method with the exact tangent, and in each linearisation the
// quadratic program of InverseLaw (Gauss-Newton in the goals). Full steps first; where they fail or a program has no
// answer, effectors come nearer by a limited way in each linearisation; where that fails too, the last commands are
// held.
//
// At the end the residual of the equilibrium is below its tolerance and the program moves no row by more than the row
// tolerance: the first-order conditions of
//   min 1/2 |Omega delta_e|^2 + regularisation over the equilibria within the limits
// hold to that accuracy, since W of the exact tangent is the derivative along the equilibria.

#include "engine/inverse/inverse_law.hpp"
#include "engine/step/step.hpp"

namespace supple {

struct InverseEquilibriumSettings {
  StepScheme scheme = StepScheme::quasi_static;         // or newton
  double time_step = 0;                                 // s; statics: for rate limits only (0 = none)
  double implicit_velocity = 1, implicit_position = 1;  // see StepSettings
  double tolerance = 1e-9;                              // relative residual
  double row_tolerance = 1e-9;                          // largest movement that the last program asks for [m]
  int max_iterations = 60;                              // with full steps
  /// Fallback where they fail: limit of the motion of an effector in a linearisation [m], and how often it is halved.
  double first_reach = 4e-3;
  int max_halvings = 4;
};

class InverseEquilibrium {
 public:
  /// `mechanics` and `law` must outlive this object.
  InverseEquilibrium(Mechanics& mechanics, InverseLaw& law, const InverseEquilibriumSettings& settings = {});
  /// Moves `state` to the equilibrium that reaches the goals best. If none is found, the state moves under the last
  /// commands (stated in the law's report). On failure it is unchanged.
  StepReport solve(State& state);
  std::vector<double> outputs() { return stepper_.outputs(); }
  void set_load(std::span<const double> load) { stepper_.set_load(load); }  // see Stepper

 private:
  bool attempt(double reach, int iterations, State& state, StepReport& report);

  InverseLaw& law_;
  InverseEquilibriumSettings settings_;
  Stepper stepper_;
  int robots_;
  bool in_contact_;  // may touch obstacles or limits
  State trial_;
};

}  // namespace supple

#pragma once
// One robot's inverse step by any integrator: one linearisation, Newton's method in time, or converged equilibria.

#include "engine/inverse/inverse_equilibrium.hpp"

namespace supple {

class InverseStep {
 public:
  /// `mechanics` (one robot) must outlive this object; time_step [s].
  InverseStep(Mechanics& mechanics, const InverseSettings& settings, Integrator integrator, double time_step);
  /// Towards goals [3 x effectors] at the end of the step; advances the state's time.
  StepReport step(std::span<const double> goals, State& state);
  InverseLaw& law() { return law_; }
  const InverseLaw& law() const { return law_; }
  // Mapped points at the end of the last step.
  std::vector<double> outputs() { return converged_ ? equilibrium_.outputs() : stepper_.outputs(); }
  void set_load(std::span<const double> load);  // see Stepper

 private:
  bool converged_, statics_;
  double time_step_;
  InverseLaw law_;
  Stepper stepper_;
  InverseEquilibrium equilibrium_;
};

}  // namespace supple

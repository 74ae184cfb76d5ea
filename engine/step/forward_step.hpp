#pragma once
// A forward step by any integrator: one linearisation, Newton's method in time, or from equilibrium to equilibrium.
// The mirror image of inverse/inverse_step.hpp.

#include "engine/step/equilibrium.hpp"

namespace supple {

class ForwardStep {
 public:
  // `mechanics` must outlive this object; time_step [s]; keep_tangent: see StepSettings. The implicit factors are the
  // robot's. Throws InputError where cannot_step() has a reason.
  ForwardStep(Mechanics& mechanics, Integrator integrator, double time_step, double keep_tangent = 0);
  // Under `control`, cut to ranges and rates; advances the state's time. On failure the state is unchanged.
  StepReport step(const Control& control, State& state);
  void set_load(std::span<const double> load);  // see Stepper

 private:
  StepReport equilibrium(const Control& control, State& state);

  const Robot& robot_;
  bool statics_;
  double time_step_;
  Stepper stepper_;
  Equilibrium equilibrium_;
  Control limited_;
  State trial_;  // a failed equilibrium leaves its argument somewhere on the way
};

}  // namespace supple

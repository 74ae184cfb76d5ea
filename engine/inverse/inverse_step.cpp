#include "engine/inverse/inverse_step.hpp"

namespace supple {

InverseStep::InverseStep(Mechanics& mechanics, const InverseSettings& settings, Integrator integrator, double time_step)
    : converged_(integrator != Integrator::implicit_euler),
      statics_(integrator == Integrator::quasi_static),
      time_step_(time_step),
      law_(mechanics.robot(), 1, settings),
      stepper_(mechanics, {.scheme = StepScheme::one_linearisation,
                           .time_step = time_step,
                           .implicit_velocity = mechanics.robot().implicit_velocity,
                           .implicit_position = mechanics.robot().implicit_position}),
      equilibrium_(mechanics, law_,
                   {.scheme = statics_ ? StepScheme::quasi_static : StepScheme::newton,
                    .time_step = time_step,
                    .implicit_velocity = mechanics.robot().implicit_velocity,
                    .implicit_position = mechanics.robot().implicit_position}) {
  if (const auto why = cannot_step(mechanics.robot(), integrator)) throw InputError(*why);
}

StepReport InverseStep::step(std::span<const double> goals, State& state) {
  law_.set_goals(goals);
  if (!converged_) return stepper_.step(law_, state.motions, state);
  const StepReport report = equilibrium_.solve(state);
  if (report.status == StepStatus::ok && statics_) state.time += time_step_;
  return report;
}

void InverseStep::set_load(std::span<const double> load) {
  stepper_.set_load(load);
  equilibrium_.set_load(load);
}

}  // namespace supple

#include "engine/step/forward_step.hpp"

namespace supple {

namespace {

StepSettings settings_of(const Robot& robot, Integrator integrator, double time_step, double keep_tangent) {
  if (const auto why = cannot_step(robot, integrator)) throw InputError(*why);
  StepSettings settings{
      .scheme = integrator == Integrator::implicit_euler_newton ? StepScheme::newton : StepScheme::one_linearisation,
      .time_step = time_step,
      .keep_tangent = keep_tangent};
  if (integrator == Integrator::quasi_static) return settings;  // never steps in time
  settings.implicit_velocity = robot.implicit_velocity;
  settings.implicit_position = robot.implicit_position;
  return settings;
}

}  // namespace

ForwardStep::ForwardStep(Mechanics& mechanics, Integrator integrator, double time_step, double keep_tangent)
    : robot_(mechanics.robot()),
      statics_(integrator == Integrator::quasi_static),
      time_step_(time_step),
      stepper_(mechanics, settings_of(robot_, integrator, time_step, keep_tangent)),
      equilibrium_(mechanics, {.keeps_friction = true}) {}

StepReport ForwardStep::step(const Control& control, State& state) {
  return statics_ ? equilibrium(control, state) : stepper_.step(control, state);
}

StepReport ForwardStep::equilibrium(const Control& control, State& state) {
  StepReport report;
  limited_ = control;
  // To ranges and rates, as a dynamic step does it itself.
  for (std::size_t k = 0; k < limited_.commands.size(); ++k) {
    const ActuatorRow& actuator = robot_.actuators[k % robot_.actuators.size()];
    const RowTarget law = row_target(actuator, control.commands[k], state.commands[k], time_step_);
    limited_.commands[k] = gives_force(actuator, false) ? law.lower : law.target;
    report.limited_commands += law.limited ? 1 : 0;
  }
  trial_ = state;
  const EquilibriumReport found = equilibrium_.solve(limited_, trial_);
  report.status = found.status;
  report.iterations = found.iterations;
  report.residual = found.residual;
  report.inverted = found.inverted;
  report.failed_element = found.failed_element;
  report.negative_pivots = found.negative_pivots;
  report.times = found.times;
  report.contact = found.contact;
  if (report.status != StepStatus::ok) return report;
  state = trial_;  // in place
  state.time += time_step_;
  return report;
}

void ForwardStep::set_load(std::span<const double> load) {
  stepper_.set_load(load);
  equilibrium_.set_load(load);
}

}  // namespace supple

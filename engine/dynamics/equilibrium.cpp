#include "engine/dynamics/equilibrium.hpp"

#include <algorithm>

namespace supple {

Equilibrium::Equilibrium(Mechanics& mechanics, const EquilibriumSettings& settings)
    : settings_(settings),
      // time_step = 0: commands of a static solve have no rate.
      stepper_(mechanics, {.scheme = StepScheme::quasi_static,
                           .time_step = 0,
                           .tolerance = settings.tolerance,
                           .max_iterations = settings.max_iterations}),
      partial_(zero_control(mechanics)) {}

EquilibriumReport Equilibrium::solve(const Control& control, State& state) {
  EquilibriumReport report;
  const State start = state;
  double done = 0, increment = settings_.first_increment;
  while (done < 1) {
    const double next = std::min(1.0, done + increment);
    for (std::size_t i = 0; i < partial_.commands.size(); ++i)
      partial_.commands[i] =
          next == 1 ? control.commands[i] : start.commands[i] + next * (control.commands[i] - start.commands[i]);
    for (std::size_t i = 0; i < partial_.motions.size(); ++i)
      partial_.motions[i] =
          next == 1 ? control.motions[i] : start.motions[i] + next * (control.motions[i] - start.motions[i]);
    const StepReport step = stepper_.step(partial_, state);
    report.iterations += step.iterations;
    report.status = step.status;
    report.residual = step.residual;
    report.inverted = step.inverted;
    report.negative_pivots = step.negative_pivots;
    report.failed_element = step.failed_element;
    if (step.status == StepStatus::ok) {
      ++report.increments;
      done = next;
      increment *= 2;
      continue;
    }
    increment /= 2;
    if (increment < settings_.smallest_increment || step.status == StepStatus::out_of_memory) return report;
  }
  return report;
}

}  // namespace supple

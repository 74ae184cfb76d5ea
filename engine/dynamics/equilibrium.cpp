#include "engine/dynamics/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// A failed increment is cut by `cut`; a successful one is followed by one `growth` times as long that stays `below` the
// last that failed, which is forgotten little by little.
constexpr double cut = 0.6, growth = 1.5, below = 0.8, forgetting = 1.2;
// An increment fails when the residual has not halved in so many iterations, or when halving a step once does not bring
// it back to where every point has a stress: iterates beyond that rarely return.
constexpr int patience = 3, halvings = 1;
constexpr int patient_halvings = 12;
// A state with less than so many times the residual asked for is an equilibrium.
constexpr double equilibrium_already = 100;

}  // namespace

Equilibrium::Equilibrium(Mechanics& mechanics, const EquilibriumSettings& settings)
    : settings_(settings),
      // time_step = 0: commands of a static solve have no rate.
      stepper_(mechanics,
               {.scheme = StepScheme::quasi_static, .time_step = 0, .keep_factor_below = settings.keep_factor_below}),
      partial_(zero_control(mechanics)),
      load_(extent(mechanics.robots(), mechanics.coordinates().nv), 0.0),
      imbalance_(load_.size()),
      eased_(load_.size()) {}

void Equilibrium::set_load(std::span<const double> load) {
  if (load.empty())
    std::fill(load_.begin(), load_.end(), 0.0);
  else
    load_.assign(load.begin(), load.end());
  stepper_.set_load(load_);
}

StepReport Equilibrium::advance(const State& start, const Control& control, double fraction, State& state) {
  const auto interpolate = [&](const std::vector<double>& from, const std::vector<double>& to,
                               std::vector<double>& out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = fraction == 1 ? to[i] : from[i] + fraction * (to[i] - from[i]);
  };
  interpolate(start.commands, control.commands, partial_.commands);
  interpolate(start.motions, control.motions, partial_.motions);
  if (easing_) {
    for (std::size_t i = 0; i < eased_.size(); ++i) eased_[i] = load_[i] - (1 - fraction) * imbalance_[i];
    stepper_.set_load(eased_);
  }
  return stepper_.step(partial_, state);
}

EquilibriumReport Equilibrium::solve(const Control& control, State& state) {
  EquilibriumReport report;
  const State start = state;
  const StepSettings exact{.tolerance = settings_.tolerance};
  const auto follow = [&](double fraction) {
    const StepReport step = advance(start, control, fraction, state);
    report.iterations += step.iterations;
    report.status = step.status;
    report.residual = step.residual;
    report.inverted = step.inverted;
    report.negative_pivots = step.negative_pivots;
    report.failed_element = step.failed_element;
    report.times += step.times;
    if (step.status == StepStatus::ok) ++report.increments;
    return step.status;
  };

  stepper_.set_patience(settings_.max_iterations, halvings, patience);
  if (easing_) stepper_.set_load(load_);  // what the last way left behind
  easing_ = false;                        // the whole load at once, until that has failed
  double done = 0, increment = settings_.first_increment, failed = std::numeric_limits<double>::infinity();
  const double smallest = settings_.smallest_increment;
  while (done < 1 && increment >= smallest) {
    const double next = done + increment > 1 - 1e-9 ? 1.0 : done + increment;
    if (next == 1)
      stepper_.set_tolerances(exact.tolerance, exact.row_tolerance);
    else
      stepper_.set_tolerances(settings_.path_tolerance, settings_.path_row_tolerance);
    if (follow(next) == StepStatus::ok) {
      done = next;
      failed *= forgetting;
      increment = std::min(growth * increment, below * failed);
      // Two equal increments rather than one and a rest.
      const double left = 1 - done;
      if (increment < left && left < growth * increment) increment = std::max(smallest, left / 2);
      continue;
    }
    if (report.status == StepStatus::out_of_memory) return report;
    if (std::isinf(failed)) easing_ = stepper_.imbalance(start, imbalance_) > equilibrium_already * exact.tolerance;
    failed = next - done;
    increment = cut * failed;
  }
  stepper_.set_tolerances(exact.tolerance, exact.row_tolerance);
  if (done < 1 && settings_.patient_iterations > 0) {
    stepper_.set_patience(settings_.patient_iterations, patient_halvings, 0);
    if (follow(1) == StepStatus::ok) done = 1;
  }
  if (done < 1 && report.status == StepStatus::ok) report.status = StepStatus::not_converged;
  if (done > 0 && done < 1 && easing_) {
    state = start;  // what was reached is an equilibrium under a load that is none
  } else if (done > 0 && done < 1) {
    // Leave an equilibrium, not a state near one.
    const StepReport step = advance(start, control, done, state);
    report.iterations += step.iterations;
    report.times += step.times;
  }
  return report;
}

State settled_state(Mechanics& mechanics) {
  State state = rest_state(mechanics);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(zero_control(mechanics), state);
  if (report.status != StepStatus::ok)
    throw RunError(fmt::format("the robot does not settle: {}", describe(report.status)),
                   "`supple check` looks for its equilibrium with all commands at zero");
  return state;
}

}  // namespace supple

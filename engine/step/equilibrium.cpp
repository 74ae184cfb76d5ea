#include "engine/step/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

// Free-floating bodies. The pull becomes weaker by `weaker`, less where that fails, until the way from the start
// changes by less than `settled` of it.
constexpr double weaker = 100, least_weaker = 2, settled = 2e-3;
constexpr int most_pulls = 20, most_proximal_steps = 12;
// A resultant above `resultant_matters` of the forces at work that lasts when the body may fall for a second [s] is one
// that nothing bears.
constexpr double resultant_matters = 1e-6, long_fall = 1;

double norm(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

double distance(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(sum);
}

// Norm of the part of forces r [B x nv] along the translations of the body as a whole.
double resultant(const Coordinates& coordinates, std::span<const double> r) {
  double sum = 0;
  for (std::size_t robot = 0; robot < r.size(); robot += extent(coordinates.nv))
    for (const CoordinateBlock& block : coordinates.blocks) {
      const std::span<const double> f = r.subspan(robot + extent(block.v_offset), extent(block.nv));
      for (std::size_t k = 0; k < 3; ++k) {
        double along = 0;
        if (block.kind == CoordinateBlock::Kind::modes) {
          along = f[k];
        } else {
          for (std::size_t i = k; i < f.size(); i += 3) along += f[i];
          along /= std::sqrt(static_cast<double>(f.size() / 3));
        }
        sum += along * along;
      }
    }
  return std::sqrt(sum);
}

}  // namespace

Equilibrium::Equilibrium(Mechanics& mechanics, const EquilibriumSettings& settings)
    : robot_(mechanics.robot()),
      coordinates_(mechanics.coordinates()),
      settings_(settings),
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
  if ((robot_.floating || !coordinates_.flat()) && robot_.pairs() > 0) {
    EquilibriumReport report;
    report.status = StepStatus::loose_among_obstacles;
    return report;
  }
  return robot_.floating ? solve_floating(control, state) : follow(control, state);
}

EquilibriumReport Equilibrium::solve_floating(const Control& control, State& state) {
  const State start = state;
  double pull = 1 / (robot_.time_step * robot_.time_step);  // an implicit step that is safe in time
  stepper_.set_anchor(pull, start.q);
  EquilibriumReport report = follow(control, state);
  double scale = report.force_scale, left = 0, last_left = 0;
  // The residual of the equilibrium itself, and the part of it that moves the body as a whole.
  const auto measure = [&] {
    (void)stepper_.imbalance(state, imbalance_);
    report.residual = norm(imbalance_) / scale;
    last_left = left;
    left = resultant(coordinates_, imbalance_) / scale;
    return report.residual <= settings_.tolerance;
  };
  const auto step = [&](double tolerance, State& to) {
    stepper_.set_tolerances(tolerance, StepSettings{}.row_tolerance);
    const StepReport step = stepper_.step(control, to);
    report.iterations += step.iterations;
    report.times += step.times;
    report.status = step.status;
    report.inverted = step.inverted;
    report.negative_pivots = step.negative_pivots;
    report.failed_element = step.failed_element;
    scale = std::max(scale, step.force_scale);
    return step.status == StepStatus::ok;
  };
  const auto give_up = [&](StepStatus status) {
    if (report.status == StepStatus::ok) report.status = status;
    state = start;
    return report;
  };
  if (report.status != StepStatus::ok) return give_up(report.status);
  if (measure()) return report;
  stepper_.set_limits(settings_.max_iterations, halvings, patience);

  // Constraints may bear what is left of the resultant, once the body has sunk into them.
  const bool constrained = robot_.held_in_space();
  double factor = weaker, before = pull;
  std::vector<double> previous;
  for (int k = 0; k < most_pulls; ++k) {
    if (!previous.empty() && left > resultant_matters && left > 0.5 * last_left && pull <= 1 / (long_fall * long_fall))
      return give_up(StepStatus::unbalanced);
    if (!previous.empty() && distance(state.q, previous) <= settled * distance(state.q, start.q)) break;
    State next = state;
    stepper_.set_anchor(pull / factor, start.q);
    if (!step(left > resultant_matters && !constrained ? settings_.path_tolerance : settings_.tolerance, next)) {
      factor = std::sqrt(factor);
      if (factor < least_weaker) return give_up(report.status);
      continue;
    }
    before = std::exchange(pull, pull / factor);
    previous = std::exchange(state, std::move(next)).q;
    if (measure()) break;
  }

  // q(s) = q(0) + s q' + O(s^2) from the last two.
  for (std::size_t i = 0; i < previous.size(); ++i) state.q[i] += pull / (before - pull) * (state.q[i] - previous[i]);
  for (int k = 0; k < most_proximal_steps; ++k) {
    const std::vector<double> reached = state.q;
    stepper_.set_anchor(pull, reached);
    if (!step(settings_.tolerance, state)) return give_up(report.status);
    if (measure()) return report;
  }
  return give_up(StepStatus::not_converged);
}

EquilibriumReport Equilibrium::follow(const Control& control, State& state) {
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
    report.contact = step.contact;
    if (step.status == StepStatus::ok) {
      ++report.increments;
      report.force_scale = std::max(report.force_scale, step.force_scale);
    }
    return step.status;
  };

  stepper_.set_limits(settings_.max_iterations, halvings, patience);
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
    stepper_.set_limits(settings_.patient_iterations, patient_halvings, 0);
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

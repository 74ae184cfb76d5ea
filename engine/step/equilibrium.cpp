#include "engine/step/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/symmetric_factor.hpp"

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
// Relaxation. Pulls are in units of those of a time step. A step that succeeds makes the next pull `softer`, one that
// fails `harder`, and the pulls after it no weaker than twice the one that failed, which is forgotten little by little.
// Commands begin with `first_ramp` of the way. Newton's method closes without a pull where a step moved less than
// `nearly_there` of the way from the start or the pull is `softest`, and what it finds is no farther than
// `far_from_there`. Residuals to `relaxing`.
constexpr double softer = 4, harder = 8, hardest = 1e6, softest = 1e-7, least_pull = 1e-9, first_ramp = 0.125,
                 nearly_there = 1e-3, far_from_there = 0.05, relaxing = 1e-4, growing = 1.3, disturbance = 1e-2;
constexpr int most_relaxations = 60, most_failures = 10;
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

// Of gas that is put in, a twentieth of the content at first: volume and pressure overshoot each other, and with a tenth
// a pneumatic finger of twelve elements went to a bent shape that no way leads to.
double first_of_gas(const Robot& robot, const State& start, const Control& control) {
  constexpr double share = 0.05;
  double increment = 1;
  for (std::size_t k = 0; k < control.commands.size(); ++k) {
    const ActuatorRow& actuator = robot.actuators[k % robot.actuators.size()];
    const double change = std::abs(control.commands[k] - start.commands[k]);
    if (actuator.control == ActuatorControl::gas && change > 0)
      increment = std::min(increment, share * (actuator.rest_volume + actuator.gas.dead_volume) / change);
  }
  return std::max(increment, EquilibriumSettings{}.smallest_increment);
}

}  // namespace

EquilibriumSettings from_rest(const Robot& robot) {
  return {.first_increment = robot.touches() ? careful_increment : 1.0};
}

Equilibrium::Equilibrium(Mechanics& mechanics, const EquilibriumSettings& settings)
    : robot_(mechanics.robot()),
      coordinates_(mechanics.coordinates()),
      robots_(mechanics.robots()),
      settings_(settings),
      // time_step = 0: commands of a static solve have no rate.
      stepper_(mechanics, {.scheme = StepScheme::quasi_static,
                           .time_step = 0,
                           .keep_factor_below = settings.keep_factor_below,
                           .forgets_friction = !settings.keeps_friction}),
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
  if ((robot_.floating || !coordinates_.flat()) && robot_.touches()) {
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

bool Equilibrium::relax(const State& start, double done, const Control& control, State& state,
                        EquilibriumReport& report) {
  if (robot_.floating || !coordinates_.flat() || robot_.touches() || robots_ > 1) return false;
  const StepSettings exact{.tolerance = settings_.tolerance};
  const double first = 1 / (robot_.time_step * robot_.time_step);
  State next = state;
  std::vector<double> anchor;
  bool folded = false;  // into itself: there is no way on
  StepReport last;      // that was taken
  const auto take = [&](double pull, double fraction, double tolerance, double row_tolerance) {
    anchor = next.q;
    stepper_.set_anchor(pull, anchor);
    stepper_.set_tolerances(tolerance, row_tolerance);
    State trial = next;
    const StepReport step = advance(start, control, fraction, trial);
    const bool taken = step.status == StepStatus::ok;
    report.iterations += step.iterations;
    report.times += step.times;
    folded = taken && step.inverted > 0;
    if (!taken || folded || (step.iterations > 0 && unstable(trial, step.negative_pivots) > 0)) return false;
    report.force_scale = std::max(report.force_scale, step.force_scale);
    last = step;
    std::swap(next, trial);
    return true;
  };
  stepper_.set_limits(settings_.max_iterations, halvings, patience);
  double pull = first, weakest = least_pull * first, increment = std::min(1 - done, first_ramp);
  double near_enough = nearly_there, tolerance = relaxing, last_moved = 0;
  bool found = false;
  for (int k = 0, failures = 0;
       k < most_relaxations && failures < most_failures && pull <= hardest * first && !found && !folded; ++k) {
    const double fraction = done + increment > 1 - 1e-9 ? 1.0 : done + increment;
    if (!take(pull, fraction, tolerance, settings_.path_row_tolerance)) {
      ++failures;
      weakest = 2 * pull;
      pull *= harder;
      increment *= cut;
      continue;
    }
    done = fraction;
    const double moved = distance(next.q, anchor), way = distance(next.q, start.q);
    // Near an unstable equilibrium forces nearly balance, and only a tight tolerance moves on.
    if (moved == 0 && tolerance > exact.tolerance) {
      tolerance = std::max(0.01 * tolerance, exact.tolerance);
      continue;
    }
    // Motion that grows is the way out of an unstable equilibrium: as fast as that pull lets it.
    if (moved < growing * last_moved || last_moved == 0) {
      pull = std::max(pull / softer, weakest);
      weakest = std::max(0.5 * weakest, least_pull * first);
    }
    last_moved = moved;
    if (done < 1) {
      increment *= growth;
      continue;
    }
    if (moved > nearly_there * way) near_enough = nearly_there;
    if (moved > near_enough * way && pull > softest * first) continue;
    near_enough = 0.25 * moved / way;
    const State before = next;
    found = take(0, 1, exact.tolerance, exact.row_tolerance) && distance(next.q, before.q) <= far_from_there * way;
    if (!found) next = before;
    if (moved == 0) break;
  }
  stepper_.set_anchor(0, {});
  stepper_.set_tolerances(exact.tolerance, exact.row_tolerance);
  if (!found) return false;
  report.status = StepStatus::ok;
  report.relaxed = true;
  report.residual = last.residual;
  report.negative_pivots = last.negative_pivots;
  report.unstable = report.inverted = 0;
  report.failed_element = -1;
  report.contact = last.contact;
  std::swap(state, next);
  return true;
}

// The inertia of [A, H^T; H, -C] is that of A and of -(H A^-1 H^T + C) (Haynsworth, Linear Algebra and its Applications
// 1, 1968): rows that hold the body take as many negative eigenvalues away as W has for them. Gas holds it too.
int Equilibrium::unstable(const State& state, int negative_pivots) {
  if (negative_pivots == 0 || robots_ > 1 || robot_.touches() || !coordinates_.flat()) return 0;
  const std::vector<double> W = stepper_.compliance();
  const auto rows = extent(robot_.rows());
  std::vector<std::size_t> holding;
  const auto is_gas = [&](int i) {
    if (extent(i) >= robot_.actuators.size() || robot_.actuators[extent(i)].control != ActuatorControl::gas)
      return false;
    const RowTarget limits = row_target(robot_.actuators[extent(i)], 0, 0, 0);
    return state.multipliers[extent(i)] > limits.lower && state.multipliers[extent(i)] < limits.upper;
  };
  for (int i = 0; i < robot_.rows(); ++i)
    if ((holds(robot_, i, state.multipliers[extent(i)]) || is_gas(i)) && W[extent(i) * (rows + 1)] != 0)
      holding.push_back(extent(i));
  const int n = static_cast<int>(holding.size());
  std::vector<double> block;
  for (const std::size_t i : holding)
    for (const std::size_t j : holding)
      block.push_back(W[i * rows + j] / std::sqrt(std::abs(W[i * (rows + 1)] * W[j * (rows + 1)])));
  std::vector<int> pivots(holding.size());
  const DenseFactorReport report = ldlt_factor(block.data(), n, n, pivots.data());
  // Of rows that depend on each other it is not known.
  return report.status == DenseFactorStatus::ok ? negative_pivots - report.negative_pivots : 0;
}

// By forces on all nodes, small and in no direction in particular, for the time of a step: smooth, however fine the
// mesh.
void Equilibrium::disturb(const Control& control, double force_scale, State& state) {
  std::vector<double> load = load_;
  std::uint64_t seed = 1;
  for (double& force : load) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX
    const double random = static_cast<double>(seed >> 33) / static_cast<double>(1ULL << 30) - 1;
    force += disturbance * force_scale * random / std::sqrt(static_cast<double>(load.size()));
  }
  easing_ = false;
  stepper_.set_limits(settings_.max_iterations, halvings, patience);
  stepper_.set_load(load);
  stepper_.set_anchor(1 / (robot_.time_step * robot_.time_step), state.q);
  State disturbed = state;
  if (advance(state, control, 1, disturbed).status == StepStatus::ok) std::swap(state, disturbed);
  stepper_.set_anchor(0, {});
  stepper_.set_load(load_);
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
  // The whole load at once, until that has failed; not where bodies are to be led to where they end.
  const bool loaded = std::ranges::any_of(load_, [](double force) { return force != 0; });
  easing_ = loaded && settings_.first_increment < 1 &&
            stepper_.imbalance(start, imbalance_) > equilibrium_already * exact.tolerance;
  double done = 0, increment = std::min(settings_.first_increment, first_of_gas(robot_, start, control)),
         failed = std::numeric_limits<double>::infinity();
  const double smallest = std::min(settings_.smallest_increment, increment);
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
    // What nothing holds would settle somewhere all the same.
    const bool loose = report.status == StepStatus::singular;
    if (follow(1) == StepStatus::ok || (!loose && relax(start, done, control, state, report))) done = 1;
  }
  if (done == 1 && !report.relaxed) report.unstable = unstable(state, report.negative_pivots);
  if (done == 1 && report.unstable > 0 && settings_.patient_iterations > 0) {
    State disturbed = state;
    disturb(control, report.force_scale, disturbed);
    EquilibriumReport stable = report;
    if (relax(start, 1, control, disturbed, stable)) {
      report = stable;
      std::swap(state, disturbed);
    }
  }
  if (done < 1 && report.status == StepStatus::ok) report.status = StepStatus::not_converged;
  report.reached = done;
  if (done > 0 && done < 1 && easing_) {
    state = start;  // what was reached is an equilibrium under a load that is none
  } else if (done > 0 && done < 1) {
    // Leave an equilibrium, not a state near one.
    const StepReport step = advance(start, control, done, state);
    report.iterations += step.iterations;
    report.times += step.times;
    if (step.status != StepStatus::ok) report.reached = 0;
  }
  return report;
}

State settled_state(Mechanics& mechanics, bool loose_at_rest) {
  State state = rest_state(mechanics);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(zero_control(mechanics), state);
  if (loose_at_rest && report.status == StepStatus::loose_among_obstacles) return rest_state(mechanics);
  if (report.status != StepStatus::ok)
    throw RunError(fmt::format("the robot does not settle: {}", describe(report.status)),
                   "`supple check` looks for its equilibrium with all commands at zero");
  return state;
}

}  // namespace supple

#include "engine/derivative/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/derivative/differentiable_steps.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

void add(std::vector<double>& to, const std::vector<double>& values) {
  if (to.empty()) to.assign(values.size(), 0.0);
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += values[k];
}

void stop_if(const std::function<bool()>& stopped) {
  if (stopped && stopped()) throw Interrupted("the rollout was stopped", "the same call again");
}

}  // namespace

Rollout::Rollout(std::shared_ptr<const ReducedModel> model, int robots, std::optional<double> time_step,
                 std::size_t memory)
    : model_(std::move(model)),
      mechanics_(*model_, robots),
      settings_(differentiable_steps(model_->robot, time_step)),
      stepper_(mechanics_, settings_),
      derivative_(mechanics_, settings_),
      memory_(memory) {}

void Rollout::set_state(int step, State& state) const {
  const auto take = [](const std::vector<double>& values, int entry, std::vector<double>& to) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(extent(entry) * to.size()), to.size(), to.begin());
  };
  take(record_.q, step, state.q);
  take(record_.v, step, state.v);
  if (step == 0) {
    for (auto* values : {&state.multipliers, &state.contact_forces}) std::ranges::fill(*values, 0.0);
    state.commands = start_;
    return;
  }
  take(record_.forces, step - 1, state.multipliers);
  take(record_.contact_forces, step - 1, state.contact_forces);
  take(record_.applied, step - 1, state.commands);
}

void Rollout::forget() {
  record_ = {};
  commands_.clear();
  loads_.clear();
  inexact_.clear();
  ++runs_;
}

void Rollout::set_variations(const Variations& variations) {
  forget();
  mechanics_.set_variations(variations);
}

void Rollout::take_step(int step, State& state) {
  const std::span<const double> now = of_step(commands_, step);
  control_.commands.assign(now.begin(), now.end());
  if (!loads_.empty()) stepper_.set_load(of_step(loads_, step));
  const StepReport report = stepper_.step(control_, state);
  inexact_[extent(step)] = report.contact.softened > 0 ? 1 : report.contact.loose > 0 ? 2 : 0;
  if (report.failures.empty()) return;
  const RobotFailure& failure = report.failures.front();
  throw RunError(fmt::format("step {} of robot {} failed: {}", step + 1, failure.robot, describe(failure.status)),
                 "slower or smaller commands, or a shorter time step");
}

State Rollout::step_again(int step, const State& before) {
  State after = before;
  const std::size_t size = mechanics_.factor_size();
  if (step < record_.steps - most_kept_) {
    take_step(step, after);
    return after;
  }
  set_state(step + 1, after);
  mechanics_.restore_factor(std::span(factors_).subspan(extent(step % most_kept_) * size, size));
  return after;
}

const RolloutRecord& Rollout::run(std::span<const double> commands, const Start& start, std::span<const double> loads,
                                  const std::function<bool()>& stopped) {
  forget();
  State state = rest_state(mechanics_);
  const std::size_t actuators = state.commands.size(), coordinates = state.q.size();
  const std::size_t steps = commands.size() / actuators;
  check_numbers(commands, steps * actuators, "commands");
  check_numbers(loads, steps * coordinates, "loads", true);
  check_numbers(start.q, coordinates, "q", true);
  check_numbers(start.v, coordinates, "v", true);
  check_numbers(start.applied, actuators, "applied", true);
  record_.steps = static_cast<int>(steps);
  commands_.assign(commands.begin(), commands.end());
  loads_.assign(loads.begin(), loads.end());
  if (loads.empty()) stepper_.set_load({});
  std::ranges::copy(start.q, state.q.begin());
  std::ranges::copy(start.v, state.v.begin());
  std::ranges::copy(start.applied, state.commands.begin());
  start_ = state.commands;
  const auto remember = [](std::vector<double>& list, const std::vector<double>& values) {
    list.insert(list.end(), values.begin(), values.end());
  };
  const std::size_t size = mechanics_.factor_size();
  most_kept_ = static_cast<int>(std::min(steps, memory_ / (size * sizeof(double))));
  factors_.resize(extent(most_kept_) * size);
  inexact_.assign(steps, 0);
  record_.q.reserve((steps + 1) * coordinates);
  record_.v.reserve((steps + 1) * coordinates);
  remember(record_.q, state.q);
  remember(record_.v, state.v);
  try {
    for (int step = 0; step < record_.steps; ++step) {
      stop_if(stopped);
      take_step(step, state);
      if (most_kept_ > 0) mechanics_.keep_factor(std::span(factors_).subspan(extent(step % most_kept_) * size, size));
      remember(record_.q, state.q);
      remember(record_.v, state.v);
      remember(record_.forces, state.multipliers);
      remember(record_.contact_forces, state.contact_forces);
      remember(record_.applied, state.commands);
    }
  } catch (...) {
    forget();
    throw;
  }
  return record_;
}

RolloutGradient Rollout::pull_back(const RecordGradient& gradient, const std::function<bool()>& stopped) {
  if (record_.q.empty())
    throw InputError("there is no run to differentiate", "run() first, and again after another one");
  StateGradient now = zero_gradient(mechanics_), before;
  const std::size_t coordinates = now.q.size(), rows = now.multipliers.size();
  check_numbers(gradient.q, extent(record_.steps + 1) * coordinates, "q", true);
  check_numbers(gradient.v, extent(record_.steps + 1) * coordinates, "v", true);
  check_numbers(gradient.forces, extent(record_.steps) * rows, "forces", true);
  check_numbers(gradient.contact_forces, extent(record_.steps) * now.contact_forces.size(), "contact_forces", true);
  RolloutGradient found;
  found.commands.assign(commands_.size(), 0.0);
  found.loads.assign(extent(record_.steps) * coordinates, 0.0);
  found.gravity.assign(extent(robots(), 3), 0.0);
  found.material_scale.assign(extent(robots(), model_->regions()), 0.0);
  for (auto* values : {&found.density, &found.rayleigh_mass, &found.rayleigh_stiffness})
    values->assign(extent(robots()), 0.0);
  found.friction.assign(extent(robots()) * model_->robot.obstacles.size(), 0.0);
  const auto add_given = [](std::span<const double> values, int step, std::vector<double>& to) {
    for (std::size_t k = 0; k < to.size() && !values.empty(); ++k) to[k] += values[extent(step) * to.size() + k];
  };
  InputGradient inputs;
  State from = rest_state(mechanics_), to;
  for (int step = record_.steps - 1; step >= 0; --step) {
    stop_if(stopped);
    add_given(gradient.q, step + 1, now.q);
    add_given(gradient.v, step + 1, now.v);
    add_given(gradient.forces, step, now.multipliers);
    add_given(gradient.contact_forces, step, now.contact_forces);
    set_state(step, from);
    if (inexact_[extent(step)] > 0)
      throw RunError(fmt::format("step {} has no derivatives: its contacts {}", step + 1,
                                 inexact_[extent(step)] == 1 ? "have no forces that obey all laws, and were softened"
                                                             : "were not solved exactly"),
                     "slower commands, less friction or a shorter time step");
    to = step_again(step, from);
    derivative_.linearise(of_step(commands_, step), from, to);
    if (!derivative_.pull_back(now, before, inputs))
      throw RunError(
          fmt::format(
              "step {} has no such derivative (more constraints and contacts than coordinates share their forces in "
              "more than one way, and the scalar depends on it)",
              step + 1),
          "derivatives by q and v, or by the sum of forces that are shared");
    std::swap(now, before);
    std::ranges::copy(inputs.commands,
                      found.commands.begin() + static_cast<std::ptrdiff_t>(extent(step) * inputs.commands.size()));
    std::ranges::copy(inputs.load, found.loads.begin() + static_cast<std::ptrdiff_t>(extent(step) * coordinates));
    add(found.gravity, inputs.gravity);
    add(found.material_scale, inputs.material_scale);
    add(found.density, inputs.density);
    add(found.rayleigh_mass, inputs.rayleigh_mass);
    add(found.rayleigh_stiffness, inputs.rayleigh_stiffness);
    add(found.friction, inputs.friction);
  }
  add_given(gradient.q, 0, now.q);
  add_given(gradient.v, 0, now.v);
  found.applied = now.commands;
  found.q = now.q;
  found.v = now.v;
  return found;
}

}  // namespace supple

#include "engine/run/live_robot.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

bool is_steered(const LiveRequest& request, std::size_t effector) {
  return effector >= request.steered.size() || request.steered[effector] != 0;
}

void check_goals(const LiveRequest& request, const Robot& robot) {
  if (request.goals.size() != 3 * robot.effectors.size())
    throw InputError("there are no goals for this robot's effectors", "three numbers for each");
  if (!std::ranges::all_of(request.goals, [](double goal) { return std::isfinite(goal); }))
    throw InputError("a goal is not a finite number", "goals in SI units");
}

}  // namespace

LiveRobot::LiveRobot(Mechanics& mechanics, const LiveSettings& settings, State start, const ReducedModel* model)
    : mechanics_(mechanics),
      model_(model),
      errors_(mechanics.robot()),
      sensors_(mechanics.robot(), 1, settings.time_step, settings.sensor_seed),
      control_(zero_control(mechanics)) {
  SUPPLE_EXPECT(start.robots == 1 && mechanics.robots() == 1);
  if (settings.forward) forward_.emplace(mechanics, settings.integrator, settings.time_step, settings.keep_tangent);
  if (settings.inverse) inverse_.emplace(mechanics, *settings.inverse, settings.integrator, settings.time_step);
  start_.state = std::move(start);
  start_.steered.assign(robot().effectors.size(), 1);
  measure(start_, {});
  start_.goals = start_.reached;
  read_sensors(start_, false);
  frame_ = start_;
}

StepStatus LiveRobot::step(const LiveRequest& request, std::span<const double> load) {
  const auto begin = std::chrono::steady_clock::now();
  StepReport report = advance(request, load, frame_.state);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (report.status != StepStatus::ok) return report.status;
  const bool inverse = request.mode == LiveMode::inverse;
  ++frame_.step;
  frame_.mode = request.mode;
  for (std::size_t e = 0; e < frame_.steered.size(); ++e) frame_.steered[e] = is_steered(request, e) ? 1 : 0;
  frame_.step_seconds = seconds;
  frame_.limited = inverse ? 0 : report.limited_commands + cut_;
  frame_.report = std::move(report);
  frame_.saturated = 0;
  frame_.held.clear();
  frame_.qp_seconds = 0;
  if (inverse) {
    const InverseLaw& law = inverse_->law();
    frame_.saturated = law.report(0).saturated;
    if (law.report(0).held) frame_.held = law.conflict(0);
    frame_.held_steps += law.report(0).held ? 1 : 0;
    frame_.qp_seconds = law.qp_seconds();
    frame_.goals = request.goals;
  }
  before_.swap(frame_.y);
  measure(frame_, before_);
  read_sensors(frame_, true);
  if (!inverse) frame_.goals = frame_.reached;
  return StepStatus::ok;
}

StepReport LiveRobot::advance(const LiveRequest& request, std::span<const double> load, State& state) {
  return request.mode == LiveMode::inverse ? take_inverse(request, load, state) : take_forward(request, load, state);
}

StepReport LiveRobot::take_forward(const LiveRequest& request, std::span<const double> load, State& state) {
  SUPPLE_EXPECT(forward_.has_value());
  const auto command = [&](std::size_t i) {
    return i < request.commands.size() && std::isfinite(request.commands[i]) ? request.commands[i] : 0;
  };
  const std::size_t n = control_.commands.size();
  for (std::size_t i = 0; i < n; ++i) control_.commands[i] = command(i);  // the step cuts it to range and rate
  cut_ = 0;
  for (std::size_t k = 0; k < control_.motions.size(); ++k) {
    const Interval& range = robot().motions[k].range;
    control_.motions[k] = std::clamp(command(n + k), range.lower, range.upper);
    cut_ += control_.motions[k] != command(n + k) ? 1 : 0;
  }
  forward_->set_load(load);
  return forward_->step(control_, state);
}

StepReport LiveRobot::take_inverse(const LiveRequest& request, std::span<const double> load, State& state) {
  SUPPLE_EXPECT(leads());
  check_goals(request, robot());
  InverseLaw& law = inverse_->law();
  for (std::size_t e = 0; e < robot().effectors.size(); ++e) law.steer(static_cast<int>(e), is_steered(request, e));
  for (std::size_t j = 0; j < robot().actuators.size(); ++j) {
    const int actuator = static_cast<int>(j);
    law.know(0, actuator, j < request.known.size() ? request.known[j] : std::numeric_limits<double>::quiet_NaN());
    law.limit_force(actuator, j < request.limits.size() ? request.limits[j] : own_force_limits(robot().actuators[j]));
  }
  inverse_->set_load(load);
  return inverse_->step(request.goals, state);
}

void LiveRobot::reset() {
  set(start_);
}

void LiveRobot::set(const LiveFrame& frame) {
  frame_ = frame;
  if (!sensors_.none()) {
    if (frame_.y.size() != extent(robot().outputs())) measure(frame_, {});
    read_sensors(frame_, false);
  }
  if (inverse_) inverse_->law().forget();
}

void LiveRobot::read_sensors(LiveFrame& frame, bool stepped) {
  if (sensors_.none()) return;
  if (stepped)
    sensors_.advance(frame.state, frame.y);
  else if (frame.sensor_memory.size() == sensors_.memory().size())
    sensors_.recall(frame.sensor_memory);
  else
    sensors_.restart(frame.state, frame.y);
  frame.sensor_memory = sensors_.memory();
  const std::span<const double> readings = sensors_.values(frame.step);
  frame.sensors.assign(readings.begin(), readings.end());
}

void LiveRobot::measure(LiveFrame& frame, std::span<const double> before) {
  frame.y.resize(extent(robot().outputs()));
  mechanics_.evaluate_outputs(frame.state.q, frame.state.motions, frame.y);
  frame.reached.resize(3 * robot().effectors.size());
  effector_states(robot(), frame.y, frame.reached);
  frame.errors.assign(robot().effectors.size(), 0.0);
  frame.distance = 0;
  if (frame.mode == LiveMode::inverse)
    frame.distance = errors_.evaluate(frame.y, frame.goals, frame.steered, frame.errors);
  frame.touches = touches(robot(), frame.state, frame.y, before);
  frame.outside = model_ != nullptr ? outside_modes(*model_, frame.state) : std::nullopt;
}

}  // namespace supple

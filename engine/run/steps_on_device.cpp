#include "engine/run/steps_on_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

std::optional<InputError> cannot_run_on_device(const ReducedModel& model, const DriveSettings& settings, bool inverse) {
  const auto refusal = [](const std::string& feature, const std::string& remedy) {
    return InputError("this run is not supported on a device (" + feature + ")", remedy);
  };
  if (settings.integrator == Integrator::quasi_static)
    return refusal("equilibria are not found there", inverse ? "--device cpu, or --integrator implicit-euler"
                                                             : "--device cpu, or --integrator implicit-euler-newton");
  if (inverse && settings.integrator == Integrator::implicit_euler_newton)
    return refusal("inverse steps there are of one linearisation", "--device cpu, or --integrator implicit-euler");
  if (settings.keep_tangent > 0)
    return refusal("every step there has a tangent of its own", "--device cpu, or without --keep-tangent");
  if (model.on_frame) return refusal("free-floating models on a frame are stepped on the CPU", "--device cpu");
  if (model.columns() > model.modes) return refusal("the model's prescribed motions strain the body", "--device cpu");
  return cannot_step(model.robot, settings.integrator);
}

StepsOnDevice::StepsOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                             bool inverse, const State& start)
    : RobotSteps(start.robots),
      stepper_(model, device, start.robots,
               {.scheme = settings.integrator == Integrator::implicit_euler_newton ? StepScheme::newton
                                                                                   : StepScheme::one_linearisation,
                .time_step = settings.time_step,
                .implicit_velocity = model.robot.implicit_velocity,
                .implicit_position = model.robot.implicit_position,
                .laws = inverse}),
      state_(start) {
  stepper_.set_state(start);
}

TakenStep StepsOnDevice::step(long number, double time) {
  TakenStep taken;
  if (!failures().empty() && held_.q.empty()) held_ = state();  // a continued run, in which they failed before
  taken.limited = prepare(time);
  const auto begin = std::chrono::steady_clock::now();
  const StepReport report = take();
  taken.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  state_known_ = outputs_known_ = false;
  taken.report = report;
  taken.report.status = StepStatus::ok;
  taken.report.failures.clear();
  hold_failed(number, report);
  if (all_failed()) taken.report = failures().front().report;
  return taken;
}

// A robot that failed is tried again in every step. Where it then succeeds it is reset: it has left the run.
void StepsOnDevice::hold_failed(long number, const StepReport& report) {
  if (report.failures.empty() && failures().empty()) return;
  std::vector<char> failing(extent(robots()), 0);
  std::vector<FailedRobot> fresh;
  for (const RobotFailure& failure : report.failures) {
    failing[extent(failure.robot)] = 1;
    if (failed(failure.robot)) continue;
    FailedRobot& added = fresh.emplace_back(FailedRobot{failure.robot, number, {}});
    added.report.status = failure.status;
    added.report.failed_element = failure.element;
  }
  std::vector<int> astray;
  for (int b = 0; b < robots(); ++b)
    if (failed(b) && failing[extent(b)] == 0) astray.push_back(b);
  if (!fresh.empty()) {
    const State& now = state();
    if (held_.q.empty()) held_ = now;
    for (const FailedRobot& failure : fresh) {
      copy_robot(now, failure.robot, held_, failure.robot);
      add_failure(failure);
    }
  }
  if (astray.empty()) return;
  stepper_.reset(astray, held_);
  state_known_ = outputs_known_ = false;
}

void StepsOnDevice::restart(std::span<const int> robots, const State& start) {
  stepper_.reset(robots, start);
  state_known_ = outputs_known_ = false;
}

void StepsOnDevice::set_time(double time) {
  stepper_.set_time(time);
  state_known_ = false;
}

const State& StepsOnDevice::state() {
  if (!state_known_) {
    const State now = stepper_.state();
    state_ = now;  // in place
  }
  state_known_ = true;
  return state_;
}

const std::vector<double>& StepsOnDevice::outputs() {
  if (!outputs_known_) {
    const std::vector<double> now = stepper_.outputs();
    y_ = now;  // in place
  }
  outputs_known_ = true;
  return y_;
}

ForwardOnDevice::ForwardOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                                 const CommandSource& source, const State& start)
    : StepsOnDevice(model, device, settings, false, start), source_(source) {
  control_.commands.assign(start.commands.size(), 0.0);
  control_.motions.assign(start.motions.size(), 0.0);
}

int ForwardOnDevice::prepare(double time) {
  return source_.evaluate(time, robots(), control_);
}

StepReport ForwardOnDevice::take() {
  return stepper().step(control_.commands, control_.motions);
}

InverseOnDevice::InverseOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                                 const InverseSettings& inverse, const GoalSource& source, const State& start)
    : StepsOnDevice(model, device, settings, true, start),
      InverseAnswers(start.robots, static_cast<int>(model.robot.effectors.size())),
      source_(source) {
  if (source.limits_each_robot())
    throw InputError("limits of forces that differ from robot to robot are not supported on a device",
                     "--device cpu, or the same limits for all: a file without the column `robot`");
  for (int k = 0; k < stepper().parts(); ++k) {
    laws_.push_back(std::make_unique<InverseLaw>(model.robot, stepper().part(k).count, inverse));
    given_.push_back(laws_.back().get());
    source.prepare(*laws_.back());
  }
  (void)prepare(0);
}

std::vector<int> InverseOnDevice::memory() const {
  std::vector<int> all;
  for (const auto& law : laws_) {
    const std::vector<int> part = law->memory();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void InverseOnDevice::recall(const std::vector<int>& memory) {
  std::span<const int> left(memory);
  for (const auto& law : laws_) {
    const std::size_t own = law->memory().size();
    SUPPLE_EXPECT(left.size() >= own);
    law->recall(left.first(own));
    left = left.subspan(own);
  }
}

void InverseOnDevice::restart(std::span<const int> robots, const State& start) {
  StepsOnDevice::restart(robots, start);
  for (int k = 0; k < stepper().parts(); ++k) {
    const auto [first, count] = stepper().part(k);
    for (const int b : robots)
      if (b >= first && b < first + count) laws_[extent(k)]->start_cold(b - first);
  }
}

int InverseOnDevice::prepare(double time) {
  const std::size_t numbers = goals_.size() / extent(robots());
  for (int b = 0; b < robots(); ++b) source_.goals(time, std::span(goals_).subspan(extent(b) * numbers, numbers), b);
  for (int k = 0; k < stepper().parts(); ++k) {
    const auto [first, count] = stepper().part(k);
    for (int b = 0; b < count; ++b) source_.know(time, *laws_[extent(k)], first + b, b);
    source_.limit(time, *laws_[extent(k)]);
    laws_[extent(k)]->set_goals(std::span(goals_).subspan(extent(first) * numbers, extent(count) * numbers));
  }
  return 0;
}

StepReport InverseOnDevice::take() {
  StepReport report = stepper().step(given_);
  qp_seconds_ = 0;
  for (int k = 0; k < stepper().parts(); ++k) {
    const auto [first, count] = stepper().part(k);
    qp_seconds_ += laws_[extent(k)]->qp_seconds();
    for (int b = 0; b < count; ++b)
      if (!failed(first + b)) answer(*laws_[extent(k)], b, first + b);
  }
  return report;
}

std::unique_ptr<RobotSteps> forward_on_device(const ReducedModel& model, const Device& device,
                                              const DriveSettings& settings, const CommandSource& source,
                                              const State& start) {
  return std::make_unique<ForwardOnDevice>(model, device, settings, source, start);
}

std::unique_ptr<RobotSteps> inverse_on_device(const ReducedModel& model, const Device& device,
                                              const DriveSettings& settings, const InverseSettings& inverse,
                                              const GoalSource& source, const State& start, InverseAnswers*& answers) {
  auto steps = std::make_unique<InverseOnDevice>(model, device, settings, inverse, source, start);
  answers = steps.get();
  return steps;
}

}  // namespace supple

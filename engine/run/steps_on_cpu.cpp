#include "engine/run/steps_on_cpu.hpp"

#include <algorithm>
#include <chrono>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

StepsOnCpu::StepsOnCpu(const MechanicsTeam& team, bool exact_time, State start)
    : RobotSteps(team.robots()),
      team_(team),
      exact_time_(exact_time),
      state_(std::move(start)),
      reports_(extent(team.robots())) {
  SUPPLE_EXPECT(state_.robots == team.robots());
  if (team.robot().surfaces) state_.surface_forces.resize(extent(team.robots()));
  if (team.robots() > 1) own_.assign(extent(team.size()), one_robot(state_, 0));
}

TakenStep StepsOnCpu::step(long number, double time) {
  TakenStep taken;
  taken.limited = prepare(time);
  double end = state_.time;
  const auto begin = std::chrono::steady_clock::now();
  std::optional<StepReport> together;
  if (robots() == 1)
    together = take(0, 0, state_);
  else if (failures().empty())
    together = take_together(state_);
  if (together) end = state_.time;
  taken.report = together ? *together : step_one_by_one(number, end);
  taken.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (together && robots() == 1) {
    if (together->status != StepStatus::ok) add_failure({0, number, taken.report});
  } else if (together) {
    for (const RobotFailure& failure : together->failures) {
      FailedRobot failed{failure.robot, number, taken.report};
      failed.report.status = failure.status;
      failed.report.failed_element = failure.element;
      add_failure(failed);
    }
    if (!all_failed()) taken.report.status = StepStatus::ok;
  }
  if (taken.report.status != StepStatus::ok) return taken;
  state_.time = exact_time_ ? time : end;
  outputs_known_ = false;
  return taken;
}

StepReport StepsOnCpu::step_one_by_one(long number, double& end) {
  for (State& own : own_) own.time = state_.time;  // also of members that no robot comes to
  const auto step = [&](int b, int member) {
    if (failed(b)) return;
    State& own = own_[extent(member)];
    copy_robot(state_, b, own, 0);
    own.time = state_.time;
    StepReport& report = reports_[extent(b)];
    report = take(b, member, own);
    if (report.status == StepStatus::ok) copy_robot(own, 0, state_, b);
  };
  team_.each_robot(std::ref(step));
  StepReport all;
  for (int b = 0; b < robots(); ++b) {
    if (failed(b)) continue;
    const StepReport& report = reports_[extent(b)];
    if (report.status != StepStatus::ok)
      add_failure({b, number, report});
    else
      all.add(report, b);
  }
  for (double* stage : {&all.times.outputs, &all.times.forces, &all.times.factor, &all.times.solve, &all.times.rows})
    *stage /= team_.threads();
  if (all_failed()) return failures().front().report;
  for (const State& own : own_) end = std::max(end, own.time);
  return all;
}

void StepsOnCpu::restart(std::span<const int> robots, const State& start) {
  supple::reset(state_, robots, start);
  outputs_known_ = false;
}

const std::vector<double>& StepsOnCpu::outputs() {
  if (!outputs_known_) team_.evaluate_outputs(state_, y_);
  outputs_known_ = true;
  return y_;
}

void StepsOnCpu::take_over(StepsOnCpu& other) {
  SUPPLE_EXPECT(other.robots() == robots());
  state_ = std::move(other.state_);
  y_ = std::move(other.y_);  // of its robots: shapes may be others here
  outputs_known_ = false;
  set_failures(other.failures());
}

void StepsOnCpu::set_variations(const Variations& variations) {
  team_.set_variations(variations);
}

void ForwardOnCpu::set_variations(const Variations& variations) {
  StepsOnCpu::set_variations(variations);
  if (batch_) batch_->set_variations(variations);
}

ForwardOnCpu::ForwardOnCpu(const MechanicsTeam& team, const DriveSettings& settings, const CommandSource& source,
                           State start)
    : StepsOnCpu(team, settings.integrator == Integrator::quasi_static, std::move(start)), source_(source) {
  for (int k = 0; k < team.size(); ++k) {
    steps_.push_back(
        std::make_unique<ForwardStep>(team.member(k), settings.integrator, settings.time_step, settings.keep_tangent));
    own_control_.push_back(zero_control(team.member(k)));
  }
  control_ = own_control_.front();
  for (std::vector<double>* values : {&control_.commands, &control_.motions})
    values->resize(values->size() * extent(team.robots()), 0.0);
  // Newton's method and equilibria iterate until all robots of a batch have converged: one by one, each stops alone.
  if (settings.integrator != Integrator::implicit_euler || settings.keep_tangent > 0 || team.robot().touches()) return;
  batch_ = team.make_batch();
  if (batch_) together_ = std::make_unique<ForwardStep>(*batch_, settings.integrator, settings.time_step);
}

std::optional<StepReport> ForwardOnCpu::take_together(State& all) {
  if (!together_) return std::nullopt;
  return together_->step(control_, all);
}

int ForwardOnCpu::prepare(double time) {
  return source_.evaluate(time, robots(), control_);
}

StepReport ForwardOnCpu::take(int robot, int member, State& own) {
  ForwardStep& step = *steps_[extent(member)];
  if (robots() == 1) return step.step(control_, own);
  Control& control = own_control_[extent(member)];
  const auto copy = [&](const std::vector<double>& all, std::vector<double>& one) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(extent(robot) * one.size()), one.size(), one.begin());
  };
  copy(control_.commands, control.commands);
  copy(control_.motions, control.motions);
  return step.step(control, own);
}

InverseOnCpu::InverseOnCpu(const MechanicsTeam& team, const DriveSettings& settings, const InverseSettings& inverse,
                           const GoalSource& source, State start)
    : StepsOnCpu(team, false, std::move(start)),
      InverseAnswers(team.robots(), static_cast<int>(team.robot().effectors.size())),
      source_(source) {
  for (int k = 0; k < team.size(); ++k) {
    steps_.push_back(std::make_unique<InverseStep>(team.member(k), inverse, settings.integrator, settings.time_step));
    source.prepare(steps_.back()->law());
  }
  if (team.robots() > 1) memory_.assign(extent(team.robots()), steps_.front()->law().memory());
  prepare(0);
}

std::vector<int> InverseOnCpu::memory() const {
  if (robots() == 1) return steps_.front()->law().memory();
  std::vector<int> all;
  for (const std::vector<int>& one : memory_) all.insert(all.end(), one.begin(), one.end());
  return all;
}

void InverseOnCpu::recall(const std::vector<int>& memory) {
  if (robots() == 1) return steps_.front()->law().recall(memory);
  const std::size_t size = memory_.front().size();
  SUPPLE_EXPECT(memory.size() == size * memory_.size());
  for (std::size_t b = 0; b < memory_.size(); ++b) std::copy_n(memory.data() + b * size, size, memory_[b].data());
}

void InverseOnCpu::restart(std::span<const int> robots, const State& start) {
  StepsOnCpu::restart(robots, start);
  if (this->robots() == 1) return steps_.front()->law().start_cold(0);
  for (const int b : robots) std::ranges::fill(memory_[extent(b)], 0);
}

int InverseOnCpu::prepare(double time) {
  time_ = time;
  qp_seconds_ = 0;
  const std::size_t numbers = goals_.size() / extent(robots());
  for (int b = 0; b < robots(); ++b) source_.goals(time, std::span(goals_).subspan(extent(b) * numbers, numbers), b);
  if (robots() == 1) {
    source_.know(time, steps_.front()->law());
    source_.limit(time, steps_.front()->law());
  }
  return 0;
}

StepReport InverseOnCpu::take(int robot, int member, State& own) {
  InverseStep& step = *steps_[extent(member)];
  InverseLaw& law = step.law();
  const std::size_t numbers = goals_.size() / extent(robots());
  if (robots() > 1) {
    law.recall(memory_[extent(robot)]);
    source_.know(time_, law, robot);
    source_.limit(time_, law, robot);
  }
  const StepReport report = step.step(std::span(goals_).subspan(extent(robot) * numbers, numbers), own);
  if (robots() > 1) law.memory(memory_[extent(robot)]);
  if (report.status == StepStatus::ok) answer(law, 0, robot);
  const double seconds = law.qp_seconds();
#pragma omp atomic
  qp_seconds_ += seconds;
  return report;
}

}  // namespace supple

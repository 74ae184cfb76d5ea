#include "engine/cli/inverse_drive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "engine/dynamics/equilibrium.hpp"
#include "engine/dynamics/touches.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

namespace {

constexpr double reached_distance = 1e-6;  // m: a goal that near is reached

// |phi_e| of the steered effectors at mapped points y.
double distance(const Robot& robot, const RowLayout& layout, std::span<const double> y, std::span<const double> goals,
                const GoalPath& path) {
  std::vector<double> phi(static_cast<std::size_t>(layout.rows())),
      gradients(static_cast<std::size_t>(layout.gradients()));
  evaluate_effectors(robot, layout, y, goals, phi, gradients);
  double sum = 0;
  std::size_t row = 0;
  for (std::size_t e = 0; e < robot.effectors.size(); ++e)
    for (int i = 0; i < robot.effectors[e].rows(); ++i, ++row)
      if (path.steered()[e] != 0) sum += phi[row] * phi[row];
  return std::sqrt(sum);
}

void record_effectors(const Robot& robot, std::span<const double> y, std::vector<double>& reached) {
  double state[3];
  for (int e = 0; e < static_cast<int>(robot.effectors.size()); ++e) {
    effector_state(robot, e, y, state);
    reached.insert(reached.end(), state, state + 3);
  }
}

void record_step(const Robot& robot, const State& state, std::span<const double> y, std::span<const double> goals,
                 double time, double error, InverseRecord& record) {
  record.times.push_back(time);
  for (const auto* values : {&state.commands, &state.motions})
    record.commands.insert(record.commands.end(), values->begin(), values->end());
  record.multipliers.insert(record.multipliers.end(), state.multipliers.begin(),
                            state.multipliers.begin() + static_cast<std::ptrdiff_t>(robot.actuators.size()));
  record.goals.insert(record.goals.end(), goals.begin(), goals.end());
  record_effectors(robot, y, record.reached);
  record.errors.push_back(error);
}

}  // namespace

void drive_inverse(InverseStep& step, Mechanics& mechanics, const ReducedModel* model, const DriveSettings& settings,
                   const GoalPath& path, State& state, RunRecorder& recorder, const Progress& progress,
                   InverseReportOfRun& report, const std::function<void()>& after) {
  const Robot& robot = mechanics.robot();
  const RowLayout layout = effector_layout(robot);
  InverseRecord& record = report.record;
  std::vector<double> goals(3 * robot.effectors.size(), 0.0), y(static_cast<std::size_t>(robot.outputs()));
  path.prepare(step.law());
  path.goals(0, goals);
  if (record.times.empty()) {
    mechanics.evaluate_outputs(state.q, state.motions, y);
    record_step(robot, state, y, goals, 0, distance(robot, layout, y, goals, path), record);
    recorder.add(0, state, goals, path.steered(), {}, 0);
    record.qp_seconds.push_back(0);
    record.saturated.push_back(0);
    record.held.push_back(0);
    const std::vector<Touch> at_start = touches(robot, state, y);
    record.touching.push_back(static_cast<int>(at_start.size()));
    record.normal_forces = normal_forces(robot, at_start);
  }
  while (report.drive.step < settings.last) {
    if (progress.stopped()) {
      report.drive.stopped = true;
      return;
    }
    const double time = static_cast<double>(report.drive.step + 1) * settings.time_step;
    path.goals(time, goals);
    path.know(time, step.law());
    const auto start = std::chrono::steady_clock::now();
    report.drive.final = step.step(goals, state);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report.drive.failed()) return;
    ++report.drive.step;
    report.drive.seconds.push_back(seconds);
    report.drive.stages += report.drive.final.times;
    report.drive.weakened += report.drive.final.weakened > 0 ? 1 : 0;
    record_step(robot, state, step.outputs(), goals, time, distance(robot, layout, step.outputs(), goals, path),
                record);
    const InverseReport& inverse = step.law().report(0);
    recorder.add(report.drive.step, state, goals, path.steered(), inverse, step.law().qp_seconds());
    record.qp_seconds.push_back(step.law().qp_seconds());
    record.saturated.push_back(inverse.saturated);
    record.held.push_back(inverse.held);
    record.touching.push_back(report.drive.final.contact.touching);
    if (robot.pairs() > 0) {
      report.contact.add(report.drive.final.contact, model, state);
      const std::vector<double> sums = normal_forces(robot, touches(robot, state, step.outputs()));
      record.normal_forces.insert(record.normal_forces.end(), sums.begin(), sums.end());
    }
    report.pyramid_error = std::max(report.pyramid_error, inverse.pyramid_error);
    if (inverse.saturated > 0 && record.errors.back() > reached_distance) ++report.saturated_steps;
    if (inverse.held) report.held.add(step.law().conflict(0), time);
    after();
    progress("controlling", static_cast<double>(report.drive.step), static_cast<double>(settings.last),
             format_quantity(time, Dimension::time));
  }
}

TrackingError tracking_error(const std::vector<double>& errors) {
  std::vector<double> sorted(errors.begin() + (errors.empty() ? 0 : 1), errors.end());
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  return {sum / static_cast<double>(sorted.size()), sorted[(sorted.size() - 1) / 2], sorted.back()};
}

Actuation recorded_actuation(const InverseRecord& record, const Robot& robot) {
  const std::vector<Input> inputs = inputs_of(robot);
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back(input.name);
  return {inputs, names, record.times, record.commands};
}

ReplayRecord replay(Mechanics& mechanics, const InverseRecord& record, const GoalPath& path,
                    const DriveSettings& settings, const Progress& progress) {
  const Robot& robot = mechanics.robot();
  const RowLayout layout = effector_layout(robot);
  const Actuation actuation = recorded_actuation(record, robot);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  actuation.evaluate(0, 1, control);
  const EquilibriumReport settled = Equilibrium(mechanics, {}).solve(control, state);
  if (settled.status != StepStatus::ok)
    throw RunError(fmt::format("the replayed robot does not settle: {}", describe(settled.status)),
                   "`supple check` looks for its equilibrium with all commands at zero");
  std::vector<double> goals(3 * robot.effectors.size(), 0.0), y(static_cast<std::size_t>(robot.outputs()));
  ReplayRecord replayed;
  const auto measure = [&](double time, int touching) {
    replayed.touching.push_back(touching);
    mechanics.evaluate_outputs(state.q, state.motions, y);
    path.goals(time, goals);
    replayed.errors.push_back(distance(robot, layout, y, goals, path));
    record_effectors(robot, y, replayed.reached);
    const std::vector<double> sums = normal_forces(robot, touches(robot, state, y));
    replayed.normal_forces.insert(replayed.normal_forces.end(), sums.begin(), sums.end());
  };
  mechanics.evaluate_outputs(state.q, state.motions, y);
  measure(0, static_cast<int>(touches(robot, state, y).size()));
  const DriveReport report =
      drive(mechanics, settings, actuation, state, progress, [&](long step, const StepReport& taken) {
        measure(static_cast<double>(step) * settings.time_step, taken.contact.touching);
        replayed.contact.add(taken.contact, nullptr, state);
      });
  if (report.failed()) throw_step_failure(report, settings, "");
  if (report.stopped) throw Interrupted("interrupted during the replay", "run it again");
  return replayed;
}

}  // namespace supple::cli

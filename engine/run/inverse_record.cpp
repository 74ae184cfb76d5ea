#include "engine/run/inverse_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/model/touches.hpp"
#include "engine/run/effector_errors.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

void record_effectors(const Robot& robot, std::span<const double> y, std::vector<double>& reached) {
  const std::size_t first = reached.size();
  reached.resize(first + 3 * robot.effectors.size());
  effector_states(robot, y, std::span(reached).subspan(first));
}

}  // namespace

void record_step(const Robot& robot, RobotSteps& robots, const InverseAnswers& answers, const GoalPath& path,
                 double time, std::span<const double> sensors, const TakenStep* taken, InverseRecord& record) {
  const State& state = robots.state();
  const std::vector<double>& y = robots.outputs();
  EffectorErrors errors(robot);
  const std::size_t actuators = robot.actuators.size(), motions = robot.motions.size(), rows = extent(robot.rows()),
                    numbers = 3 * robot.effectors.size(), outputs = extent(robot.outputs());
  const auto add = [](const std::vector<double>& from, std::size_t first, std::size_t count, std::vector<double>& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  record.robots = robots.robots();
  record.times.push_back(time);
  record.sensors.insert(record.sensors.end(), sensors.begin(), sensors.end());
  record.qp_seconds.push_back(taken != nullptr ? answers.qp_seconds() : 0);
  for (int b = 0; b < robots.robots(); ++b) {
    const std::size_t k = extent(b);
    add(state.commands, k * actuators, actuators, record.commands);
    add(state.motions, k * motions, motions, record.commands);
    add(state.multipliers, k * rows, actuators, record.multipliers);
    add(answers.goals(), k * numbers, numbers, record.goals);
    const std::span<const double> own = std::span(y).subspan(k * outputs, outputs);
    record_effectors(robot, own, record.reached);
    record.errors.push_back(
        robots.failed(b)
            ? std::numeric_limits<double>::quiet_NaN()
            : errors.evaluate(own, std::span(answers.goals()).subspan(k * numbers, numbers), path.steered(), {}));
    const InverseReport& answer = answers.reports()[k];
    record.saturated.push_back(taken != nullptr ? answer.saturated : 0);
    record.held.push_back(taken != nullptr && answer.held);
    const std::vector<Touch> pressing = touches(robot, state, y, {}, b);
    // Rows that press; a pair may have several.
    record.touching.push_back(taken != nullptr && robots.robots() == 1 ? taken->report.contact.touching
                                                                       : static_cast<int>(pressing.size()));
    const std::vector<double> sums = normal_forces(robot, pressing);
    record.normal_forces.insert(record.normal_forces.end(), sums.begin(), sums.end());
  }
}

TrackingError tracking_error(const std::vector<double>& errors, int robots) {
  std::vector<double> sorted(errors.begin() + (errors.empty() ? 0 : robots), errors.end());
  std::erase_if(sorted, [](double error) { return std::isnan(error); });  // robots that have failed
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  return {sum / static_cast<double>(sorted.size()), sorted[(sorted.size() - 1) / 2], sorted.back()};
}

Actuation recorded_actuation(const InverseRecord& record, const Robot& robot) {
  const std::vector<Input> inputs = inputs_of(robot);
  return {inputs, names_of(inputs), record.times, record.commands};
}

ReplayRecord replay(Mechanics& mechanics, const InverseRecord& record, const GoalPath& path,
                    const DriveSettings& settings, const Progress& progress) {
  const Robot& robot = mechanics.robot();
  EffectorErrors errors(robot);
  const Actuation actuation = recorded_actuation(record, robot);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  actuation.evaluate(0, 1, control);
  const EquilibriumReport settled = Equilibrium(mechanics, {}).solve(control, state);
  if (settled.status != StepStatus::ok)
    throw RunError(fmt::format("the replayed robot does not settle: {}", describe(settled.status)),
                   "`supple check` looks for its equilibrium with all commands at zero");
  std::vector<double> goals(3 * robot.effectors.size(), 0.0);
  const MechanicsTeam team(mechanics);
  ForwardOnCpu robots(team, settings, actuation, state);
  ReplayRecord replayed;
  const auto measure = [&](double time, int touching) {
    replayed.touching.push_back(touching);
    const std::vector<double>& y = robots.outputs();
    path.goals(time, goals);
    replayed.errors.push_back(errors.evaluate(y, goals, path.steered(), {}));
    record_effectors(robot, y, replayed.reached);
    const std::vector<double> sums = normal_forces(robot, touches(robot, robots.state(), y));
    replayed.normal_forces.insert(replayed.normal_forces.end(), sums.begin(), sums.end());
  };
  measure(0, static_cast<int>(touches(robot, robots.state(), robots.outputs()).size()));
  DriveReport report;
  report.step = settings.first;
  Keeping keeping;
  keeping.record = [&](long step, const TakenStep& taken) {
    measure(static_cast<double>(step) * settings.time_step, taken.report.contact.touching);
    replayed.contact.add(taken.report.contact, nullptr, robots.state());
  };
  drive(robots, settings, "simulating", progress, keeping, report);
  if (report.failed()) throw_step_failure(report, settings, "");
  if (report.stopped) throw Interrupted("interrupted during the replay", "run it again");
  return replayed;
}

}  // namespace supple

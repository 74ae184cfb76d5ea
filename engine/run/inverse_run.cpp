#include "engine/run/inverse_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/forward_run.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr std::chrono::seconds save_interval{10};
constexpr double reached_distance = 1e-6;  // m: a goal that near is reached

void record_frame(const InverseRun& run, long step, std::span<const double> sensors, const InverseReport& report,
                  double qp_seconds) {
  const int robot = run.recorder.robot();
  if (!run.recorder.records() || run.robots.failed(robot)) return;
  const std::vector<double>& goals = run.answers.goals();
  const std::size_t numbers = goals.size() / extent(run.robots.robots());
  run.recorder.add(step, run.robots.state(), run.robots.outputs(), sensors,
                   std::span(goals).subspan(extent(robot) * numbers, numbers), run.path.steered(), report, qp_seconds);
}

// What was found in a step.
void count_answers(const InverseRun& run, double time, InverseReportOfRun& report) {
  const std::size_t robots = extent(run.robots.robots()), rows = report.record.errors.size() - robots;
  for (std::size_t b = 0; b < robots; ++b) {
    if (run.robots.failed(static_cast<int>(b))) continue;
    const InverseReport& answer = run.answers.reports()[b];
    report.pyramid_error = std::max(report.pyramid_error, answer.pyramid_error);
    if (answer.saturated > 0 && report.record.errors[rows + b] > reached_distance) ++report.saturated_steps;
    if (answer.held) report.held.add(run.answers.conflicts()[b], time);
  }
}

}  // namespace

void save_inverse(const InverseRun& run, SavedInverse& saved) {
  if (run.folder.empty()) return;
  saved.state = run.robots.state();
  saved.memory = run.answers.memory();
  saved.failures = saved_failures(run.robots.failures());
  write_saved_inverse(run.folder, saved);
}

void take_up(const SavedInverse& saved, InverseRun& run) {
  run.answers.recall(saved.memory);
  run.robots.set_failures(read_failures(saved.failures));
}

void run_inverse(InverseRun& run, const Progress& progress, SavedInverse& saved) {
  InverseReportOfRun& report = saved.report;
  SensorReadings sensors(run.robot, run.robots.robots(), run.settings.time_step, run.sensor_seed);
  if (report.record.times.empty()) {
    if (!sensors.none()) sensors.restart(run.robots.state(), run.robots.outputs());
    record_step(run.robot, run.robots, run.answers, run.path, 0, sensors.values(0), nullptr, report.record);
    record_frame(run, 0, sensors.values(0), {}, 0);
  } else if (saved.sensor_memory.size() == sensors.memory().size()) {
    sensors.recall(saved.sensor_memory);
  } else {
    throw InputError("the saved run has not the readings of this robot's sensors",
                     "run it from its beginning, without --resume", {saved_inverse_file(run.folder), 0, 0, ""});
  }
  bool told = false;
  Keeping keeping;
  keeping.interval = save_interval;
  keeping.record = [&](long step, const TakenStep& taken) {
    const double time = static_cast<double>(step) * run.settings.time_step;
    if (!sensors.none()) sensors.advance(run.robots.state(), run.robots.outputs());
    record_step(run.robot, run.robots, run.answers, run.path, time, sensors.values(step), &taken, report.record);
    record_frame(run, step, sensors.values(step), run.answers.reports()[extent(run.recorder.robot())],
                 run.answers.qp_seconds());
    if (run.robot.pairs() > 0) report.contact.add(taken.report.contact, run.model, run.robots.state());
    count_answers(run, time, report);
  };
  keeping.save = [&] {
    try {
      saved.sensor_memory = sensors.memory();
      save_inverse(run, saved);
    } catch (const Error& problem) {  // the run itself continues
      if (!told && run.note) run.note(fmt::format("{}: not saved to continue from", problem.what()));
      told = true;
    }
  };
  if (run.folder.empty()) keeping.save = nullptr;
  drive(run.robots, run.settings, "controlling", progress, keeping, report.drive);
  saved.sensor_memory = sensors.memory();
}

}  // namespace supple

#include "engine/run/forward_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

// Wall time between two saves of a run: what is lost when the machine goes down.
constexpr std::chrono::seconds save_interval{30};

// A folder for the state of a run that has none.
std::string rescue_folder(const std::string& name) {
  std::error_code error;
  for (int i = 1;; ++i) {
    const std::string folder = fmt::format("{}-interrupted{}", name, i == 1 ? "" : fmt::format("-{}", i));
    if (fs::exists(folder, error)) continue;
    fs::create_directories(folder, error);
    if (error) throw RunError(fmt::format("cannot create '{}' to save the state in", folder), "-o DIR");
    return folder;
  }
}

// Of the start of the run, or where it was saved.
SensorReadings start_sensors(const ForwardRun& run) {
  SensorReadings sensors(run.robot, run.robots.robots(), run.settings.time_step, run.about.sensor_seed);
  if (sensors.none()) return sensors;
  const std::vector<double>& memory = run.about.sensor_memory;
  if (!run.goes_on) {
    sensors.restart(run.robots.state(), run.robots.outputs());
  } else if (memory.size() == sensors.memory().size()) {
    sensors.recall(memory);
  } else {
    throw InputError("the saved run has not the readings of this robot's sensors", "run it from its beginning",
                     {ResultFolder::state_file(run.folder), 0, 0, ""});
  }
  return sensors;
}

std::unique_ptr<ResultFolder> open_results(const ForwardRun& run, SensorReadings& sensors) {
  const int robots = run.robots.robots();
  const auto every = static_cast<long>(run.about.every);
  std::error_code error;
  if (run.goes_on && fs::exists(run.folder + "/trajectory.csv", error))
    return std::make_unique<ResultFolder>(run.folder, run.robot, robots, run.write_shape, every, run.settings.first,
                                          run.robots.failures());
  if (run.goes_on || run.folder.empty()) return nullptr;
  auto results = std::make_unique<ResultFolder>(run.folder, run.robot, robots, run.write_shape, every);
  results->record(0, run.robots, sensors);
  return results;
}

// Saves the state that the run is resumed from.
void save(const ForwardRun& run, const SensorReadings& sensors, const std::string& folder, long done,
          ResultFolder* results) {
  if (folder.empty()) return;
  SavedRun saved = run.about;
  saved.sensor_memory = sensors.memory();
  saved.state = run.robots.state();
  saved.step = done;
  // A run of one robot may be resumed with other commands.
  if (run.robots.robots() > 1) saved.failures = saved_failures(run.robots.failures());
  if (results != nullptr)
    results->save(saved);
  else
    write_state(ResultFolder::state_file(folder), saved);
}

void record_contact(const ForwardRun& run, long step, const ContactFigures& figures, ContactRecord& contact) {
  const bool alone = run.robots.robots() == 1, looked_at = step % run.about.every == 0 || step == run.settings.last;
  // What the modes lack is looked at in all robots, so not at every step of many.
  if (alone || looked_at)
    contact.add(figures, run.model, run.robots.state());
  else
    contact.figures.include(figures);
  if (!alone || !looked_at) return;
  if (!run.robot.obstacles.empty()) contact.add_gap(run.robot, run.skin(run.robots.state()));
  if (run.robot.surfaces) contact.add_body_gap(run.robot, run.robots.outputs());
}

}  // namespace

ForwardResult run_forward(ForwardRun& run, const Progress& progress) {
  SensorReadings sensors = start_sensors(run);
  const std::unique_ptr<ResultFolder> results = open_results(run, sensors);
  const auto record_frame = [&](long step) {
    if (run.recorder.records() && !run.robots.failed(run.recorder.robot()))
      run.recorder.add(step, run.robots.state(), run.robots.outputs(), sensors.values(step));
  };
  record_frame(run.settings.first);
  ForwardResult result;
  result.folder = run.folder;
  result.report.step = run.settings.first;
  long done = run.settings.first;
  // Else only the last readings are of use.
  const bool reads_each = sensors.remembers() || results || run.recorder.records();
  Keeping keeping;
  keeping.interval = save_interval;
  keeping.record = [&](long step, const TakenStep& taken) {
    done = step;
    if (run.robot.touches()) record_contact(run, step, taken.report.contact, result.contact);
    if (!sensors.none() && reads_each) sensors.advance(run.robots.state(), run.robots.outputs());
    record_frame(step);
    if (results) results->record(step, run.robots, sensors);
    if (run.after) run.after(step, run.robots.state());
  };
  if (results) keeping.save = [&] { save(run, sensors, result.folder, done, results.get()); };
  try {
    drive(run.robots, run.settings, "simulating", progress, keeping, result.report);
  } catch (const Error&) {
    // Results that cannot be written: the state is smaller than they are.
    run.recorder.finish();
    try {
      save(run, sensors, result.folder, done, results.get());
    } catch (const Error&) {  // the first one is told
    }
    throw;
  }
  if (!sensors.none() && !reads_each) sensors.advance(run.robots.state(), run.robots.outputs());
  run.recorder.finish();  // before the state: on a full disk it gives back room
  if (result.report.stopped && result.folder.empty()) result.folder = rescue_folder(run.name);
  save(run, sensors, result.folder, done, results.get());
  const std::span<const double> readings = sensors.values(done);
  result.sensors.assign(readings.begin(), readings.end());
  return result;
}

SavedFailures saved_failures(const std::vector<FailedRobot>& failures) {
  SavedFailures saved;
  for (const FailedRobot& failure : failures) {
    saved.robot.push_back(failure.robot);
    saved.step.push_back(static_cast<int>(failure.step));
    saved.status.push_back(static_cast<int>(failure.report.status));
    saved.element.push_back(failure.report.failed_element);
  }
  return saved;
}

std::vector<FailedRobot> read_failures(const SavedFailures& saved) {
  std::vector<FailedRobot> failures;
  for (std::size_t k = 0; k < saved.robot.size(); ++k) {
    FailedRobot& failure = failures.emplace_back(FailedRobot{saved.robot[k], saved.step[k], {}});
    failure.report.status =
        static_cast<StepStatus>(std::clamp(saved.status[k], 1, static_cast<int>(StepStatus::unbalanced)));
    failure.report.failed_element = saved.element[k];
  }
  return failures;
}

}  // namespace supple

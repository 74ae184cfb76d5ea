#include "engine/run/inverse_saved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <sstream>
#include <type_traits>

#include "engine/io/hdf5_file.hpp"
#include "engine/io/saved_run.hpp"
#include "engine/model/sensors.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/version.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "supple inverse run";
constexpr std::int64_t format_version = 1;

// What has a row for each step, in the file and in memory.
template <class SomeReport, class Action>
void each_series(SomeReport& report, Action action) {
  auto& record = report.record;
  action("times", record.times);
  action("commands", record.commands);
  action("multipliers", record.multipliers);
  action("goals", record.goals);
  action("reached", record.reached);
  action("errors", record.errors);
  action("qp_seconds", record.qp_seconds);
  action("saturated", record.saturated);
  action("held", record.held);
  action("touching", record.touching);
  action("normal_forces", record.normal_forces);
  action("sensors", record.sensors);
  action("seconds", report.drive.seconds);
}

template <class SomeReport, class Action>
void each_number(SomeReport& report, Action action) {
  auto& stages = report.drive.stages;
  auto& figures = report.contact.figures;
  action("step", report.drive.step);
  action("factorisations", report.drive.factorisations);
  action("limited", report.drive.limited);
  action("saturated_steps", report.saturated_steps);
  action("pyramid_error", report.pyramid_error);
  action("stages/outputs", stages.outputs);
  action("stages/forces", stages.forces);
  action("stages/factor", stages.factor);
  action("stages/solve", stages.solve);
  action("stages/rows", stages.rows);
  action("contact/rows", figures.rows);
  action("contact/touching", figures.touching);
  action("contact/solves", figures.solves);
  action("contact/softened", figures.softened);
  action("contact/loose", figures.loose);
  action("contact/too_many", figures.too_many);
  action("contact/residual", figures.residual);
  action("contact/violation", figures.violation);
}

// Rows for the start and for each step, as wide as the robot makes them.
void check_sizes(const InverseReportOfRun& report, const Robot& robot, int robots, const Place& place) {
  const InverseRecord& record = report.record;
  const std::size_t steps = static_cast<std::size_t>(std::max(0L, report.drive.step)), times = steps + 1,
                    rows = times * static_cast<std::size_t>(robots), actuators = robot.actuators.size(),
                    effectors = 3 * robot.effectors.size();
  bool whole = report.drive.step >= 0 && report.drive.seconds.size() == steps;
  for (const std::size_t size : {record.times.size(), record.qp_seconds.size()}) whole = whole && size == times;
  for (const std::size_t size :
       {record.errors.size(), record.saturated.size(), record.held.size(), record.touching.size()})
    whole = whole && size == rows;
  whole = whole && record.commands.size() == rows * (actuators + robot.motions.size()) &&
          record.multipliers.size() == rows * actuators && record.goals.size() == rows * effectors &&
          record.reached.size() == rows * effectors && record.normal_forces.size() == rows * robot.obstacles.size() &&
          record.sensors.size() == rows * sensor_numbers(robot).size();
  if (!whole)
    throw InputError("its record has not as many rows as it has steps", "run it from its beginning, without --resume",
                     place);
}

}  // namespace

std::string saved_inverse_file(const std::string& folder) {
  return folder + "/inverse.h5";
}

void write_saved_inverse(const std::string& folder, const SavedInverse& run) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("cannot create the folder '{}' ({})", folder, error.message()), "-o DIR");
  write_hdf5_atomically(saved_inverse_file(folder), [&](Hdf5File& file) {
    file.write("/format", std::string(format_name));
    file.write("/format_version", format_version);
    file.write("/version", std::string(version()));
    file.write("/robot", std::bit_cast<std::int64_t>(run.robot));
    file.write("/request", std::bit_cast<std::int64_t>(run.request));
    write_robots(file, run.state);
    file.write("/memory", run.memory, {run.memory.size()});
    write_failures(file, run.failures);
    if (!run.sensor_memory.empty()) file.write("/sensor_memory", run.sensor_memory, {run.sensor_memory.size()});
    each_series(run.report, [&](const std::string& name, const auto& series) {
      if (!series.empty())
        file.write("/record/" + name, std::vector<double>(series.begin(), series.end()), {series.size()});
    });
    each_number(run.report, [&](const std::string& name, auto value) {
      file.write("/record/" + name, static_cast<double>(value));
    });
    if (const auto& outside = run.report.contact.outside)
      file.write("/record/contact/outside", std::vector<double>{outside->depth, outside->share}, {2});
    std::string reasons;
    std::vector<double> held;
    for (const HeldSteps::Reason& reason : run.report.held.reasons()) {
      reasons += reason.text + "\n";
      held.insert(held.end(), {static_cast<double>(reason.steps), reason.first});
    }
    if (held.empty()) return;
    file.write("/held/reasons", reasons);
    file.write("/held/steps", held, {held.size() / 2, 2});
  });
}

SavedInverse read_saved_inverse(const std::string& folder, const SavedInverse& expected, const Robot& robot) {
  const std::string path = saved_inverse_file(folder);
  std::error_code error;
  const std::string begin = "run it from its beginning, without --resume";
  if (!fs::exists(path, error)) throw InputError(fmt::format("there is no unfinished run in '{}'", folder), begin);
  const Hdf5File file(path, Hdf5File::Mode::read);
  const Place place{path, 0, 0, ""};
  if (!file.has("/format") || file.read_text("/format") != format_name)
    throw InputError("this is not a saved inverse run", begin, place);
  if (file.read_int("/format_version") != format_version || file.read_text("/version") != version())
    throw InputError("this run was saved by another version of supple", begin, place);
  SavedInverse run;
  run.robot = std::bit_cast<std::uint64_t>(file.read_int("/robot"));
  run.request = std::bit_cast<std::uint64_t>(file.read_int("/request"));
  run.state = read_robots(file);
  if (run.robot != expected.robot || !same_sizes(run.state, expected.state))
    throw InputError(fmt::format("the run in '{}' is one of another robot, or the robot has changed since", folder),
                     begin);
  if (run.request != expected.request)
    throw InputError(fmt::format("the run in '{}' has other goals, settings or steps", folder),
                     "the command that began it, with --resume");
  run.memory = file.read_ints("/memory", {expected.memory.size()});
  each_series(run.report, [&](const std::string& name, auto& series) {
    if (!file.has("/record/" + name)) return;
    const std::vector<double> values = file.read_doubles("/record/" + name);
    series.assign(values.begin(), values.end());
  });
  each_number(run.report, [&](const std::string& name, auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(file.read_double("/record/" + name));
  });
  check_sizes(run.report, robot, run.state.robots, place);
  run.report.record.robots = run.state.robots;
  run.failures = read_failures(file, run.state.robots);
  if (file.has("/sensor_memory")) run.sensor_memory = file.read_doubles("/sensor_memory");
  if (file.has("/record/contact/outside")) {
    const std::vector<double> outside = file.read_doubles("/record/contact/outside", {2});
    run.report.contact.outside = {outside[0], outside[1]};
  }
  if (file.has("/held/reasons")) {
    std::istringstream reasons(file.read_text("/held/reasons"));
    const std::vector<double> held = file.read_doubles("/held/steps");
    std::string text;
    for (std::size_t k = 0; k + 1 < held.size() && std::getline(reasons, text); k += 2)
      run.report.held.add(text, held[k + 1], static_cast<long>(held[k]));
  }
  return run;
}

void remove_saved_inverse(const std::string& folder) {
  std::error_code error;
  const std::string file = fs::path(saved_inverse_file(folder)).filename().string();
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(file)) left.push_back(entry->path());
  for (const fs::path& path : left) fs::remove(path, error);
}

}  // namespace supple

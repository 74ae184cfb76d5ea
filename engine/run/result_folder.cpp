#include "engine/run/result_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/run/trajectory_columns.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_gained = std::size_t{32} << 20;  // bytes of lines that wait for the next save

constexpr const char* fixed_names[] = {"result.pvd", "trajectory.csv", "state.h5"};

bool is_shape(const std::string& name) {
  return name.starts_with("step_") && name.ends_with(".vtu");
}

std::vector<fs::path> results_in(const std::string& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const char* name : fixed_names)
    if (fs::exists(fs::path(folder) / name, error)) found.push_back(fs::path(folder) / name);
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_shape(entry.path().filename().string())) found.push_back(entry.path());
  return found;
}

std::string csv_cell(const std::string& cell) {
  return cell.find(',') == std::string::npos ? cell : fmt::format("\"{}\"", cell);
}

}  // namespace

void ResultFolder::check(const std::string& folder, bool force) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    throw InputError(fmt::format("'{}' is a file, not a folder", folder), "another name for the folder of results");
  // The nearest folder above it that is there.
  fs::path above = fs::absolute(folder, error);
  while (!fs::exists(above, error) && above.has_relative_path()) above = above.parent_path();
  if (!fs::is_directory(above, error) || access(above.c_str(), W_OK | X_OK) != 0)
    throw InputError(
        fmt::format("the folder '{}' cannot be made or written to ('{}' is in the way)", folder, above.string()),
        "another folder");
  const auto found = results_in(folder);
  if (!found.empty() && !force)
    throw InputError(
        fmt::format("'{}' holds the results of a run already ({})", folder, found.front().filename().string()),
        "another folder, --force to replace them, or --resume to continue");
}

ResultFolder::ResultFolder(Common, const std::string& folder, const Robot& robot, int robots, WriteShape write_shape,
                           long every)
    : folder_(folder),
      robot_(robot),
      robots_(robots),
      write_shape_(std::move(write_shape)),
      every_(every),
      inputs_(inputs_of(robot)),
      sensor_numbers_(sensor_numbers(robot)) {}

ResultFolder::ResultFolder(const std::string& folder, const Robot& robot, int robots, WriteShape write_shape,
                           long every)
    : ResultFolder(Common{}, folder, robot, robots, std::move(write_shape), every) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(fmt::format("cannot create the folder '{}' ({})", folder, error.message()),
                     "check that it may be written there");
  for (const fs::path& path : results_in(folder)) fs::remove(path, error);
  gained_ = header();
  if (robots == 1) shapes_ = std::make_unique<PvdWriter>(folder_ + "/result.pvd");
}

ResultFolder::ResultFolder(const std::string& folder, const Robot& robot, int robots, WriteShape write_shape,
                           long every, long step, const std::vector<FailedRobot>& failures)
    : ResultFolder(Common{}, folder, robot, robots, std::move(write_shape), every) {
  const std::string path = trajectory_file();
  std::ifstream file(path, std::ios::binary);
  std::string line;
  const auto refuse = [&](const std::string& problem) {
    throw InputError(problem, "run it from its beginning, with --force", {path, 0, 0, ""});
  };
  if (!std::getline(file, line)) refuse("the trajectory of the run cannot be read");
  if (line + "\n" != header()) refuse("the columns are not those of this robot");
  if (robots == 1) shapes_ = std::make_unique<PvdWriter>(folder_ + "/result.pvd");
  std::error_code error;
  for (long k = 0; k <= step; ++k) {
    if (!has_lines(k)) continue;
    const auto gone = std::ranges::count_if(failures, [&](const FailedRobot& failure) { return failure.step <= k; });
    for (long left = robots - gone; left > 0; --left)
      if (!std::getline(file, line) || file.eof()) refuse(fmt::format("the trajectory ends before step {}", step));
    if (shapes_ && k % every_ == 0 && fs::exists(shape_name(k), error))
      shapes_->add(std::atof(line.c_str()), shape_name(k));
  }
  fs::resize_file(path, static_cast<std::uintmax_t>(file.tellg()), error);
  if (error) refuse(fmt::format("the trajectory cannot be written ({})", error.message()));
}

std::string ResultFolder::shape_name(long step) const {
  return fmt::format("{}/step_{:06}.vtu", folder_, step);
}

std::string ResultFolder::header() const {
  std::vector<std::string> names{"time [s]"};
  if (robots_ > 1) names.push_back("robot");
  for (const Input& input : inputs_) names.push_back(fmt::format("{} [{}]", input.name, display_unit(input.dimension)));
  for (const ActuatorRow& actuator : robot_.actuators)
    names.push_back(fmt::format("{} {} [{}]", actuator.name, multiplier_name(actuator),
                                display_unit(multiplier_dimension(actuator.kind))));
  for (const ConstraintRow& row : robot_.constraints)
    if (!is_obeyed(row))
      names.push_back(
          fmt::format("{} {} [{}]", row.name, multiplier_name(row), display_unit(multiplier_dimension(row))));
  for (const NamedPoint& point : robot_.reported_points())
    for (const char* axis : {"x", "y", "z"}) names.push_back(fmt::format("{} {} [mm]", point.name, axis));
  for (const std::string& name : extra_columns(robot_)) names.push_back(name);
  for (const std::string& name : sensor_columns(sensor_numbers_)) names.push_back(name);
  for (std::string& name : names) name = csv_cell(name);
  return fmt::format("{}\n", fmt::join(names, ","));
}

void ResultFolder::record(long step, RobotSteps& robots, SensorReadings& sensors) {
  if (!has_lines(step)) return;
  const State& state = robots.state();
  const std::vector<double>& y = robots.outputs();
  const std::span<const double> readings = sensors.values(step);
  const std::size_t numbers = sensor_numbers_.size();
  for (int b = 0; b < robots_; ++b)
    if (!robots.failed(b)) add_line(state, y, readings.subspan(extent(b) * numbers, numbers), b);
  if (gained_.size() > most_gained) {
    append_file(trajectory_file(), gained_);
    gained_.clear();
  }
  if (!shapes_ || step % every_ != 0) return;
  write_shape_(shape_name(step), state);
  shapes_->add(state.time, shape_name(step));
}

void ResultFolder::add_line(const State& state, std::span<const double> y, std::span<const double> sensors, int robot) {
  const std::span<const double> own = y.subspan(extent(robot, robot_.outputs()), extent(robot_.outputs()));
  const auto of = [&](const std::vector<double>& values) {
    return values.data() + extent(robot) * (values.size() / extent(robots_));
  };
  const double *commands = of(state.commands), *motions = of(state.motions), *multipliers = of(state.multipliers);
  const std::size_t rows = robot_.actuators.size();
  auto out = std::back_inserter(gained_);
  fmt::format_to(out, "{:.9g}", state.time);
  if (robots_ > 1) fmt::format_to(out, ",{}", robot);
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    fmt::format_to(out, ",{:.9g}", (i < rows ? commands[i] : motions[i - rows]) / display_scale(inputs_[i].dimension));
  for (std::size_t i = 0; i < rows; ++i)
    fmt::format_to(out, ",{:.9g}", multipliers[i] / display_scale(multiplier_dimension(robot_.actuators[i].kind)));
  for (std::size_t i = rows; i < rows + robot_.constraints.size(); ++i)
    if (!is_obeyed(robot_.constraints[i - rows]))
      fmt::format_to(out, ",{:.9g}",
                     multipliers[i] / display_scale(multiplier_dimension(robot_.constraints[i - rows])));
  for (const NamedPoint& point : robot_.reported_points())
    for (int k = 0; k < 3; ++k)
      fmt::format_to(out, ",{:.9g}", 1e3 * own[static_cast<std::size_t>(3 * point.point + k)]);
  for (const double value : extra_values(robot_, own)) fmt::format_to(out, ",{:.9g}", value);
  for (std::size_t i = 0; i < sensors.size(); ++i)
    fmt::format_to(out, ",{:.9g}", shown(sensor_numbers_[i], sensors[i]));
  gained_ += '\n';
}

void ResultFolder::save(const SavedRun& run) {
  // The state last: what it belongs to is there before it is.
  append_file(trajectory_file(), gained_);
  gained_.clear();
  write_state(state_file(folder_), run);
}

}  // namespace supple

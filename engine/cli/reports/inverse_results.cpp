#include "engine/cli/reports/inverse_results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "engine/io/gnuplot.hpp"
#include "engine/run/trajectory_columns.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

struct Column {
  std::string name;
  double scale;  // SI per unit shown
};

// Goal, then reached, of every effector.
std::vector<Column> effector_columns(const Robot& robot, const char* what) {
  std::vector<Column> columns;
  for (const Input& input : goal_inputs(robot)) {
    const bool angle = input.dimension == Dimension::angle;
    columns.push_back({fmt::format("{} {} [{}]", input.name, what, angle ? "deg" : display_unit(input.dimension)),
                       angle ? 0.017453292519943295 : display_scale(input.dimension)});
  }
  columns.resize(columns.size() - robot.actuators.size());
  return columns;
}

std::vector<double> effector_values(const Robot& robot, const double* values) {
  std::vector<double> shown;
  for (std::size_t e = 0; e < robot.effectors.size(); ++e)
    shown.insert(shown.end(), values + 3 * e, values + 3 * e + robot.effectors[e].goal_numbers());
  return shown;
}

// Of a batch, the index of a robot; lines of robots that have failed are left out.
std::string robot_header(const InverseRecord& record) {
  return record.robots > 1 ? ",robot" : "";
}
std::string robot_cell(const InverseRecord& record, std::size_t row) {
  return record.robots > 1 ? fmt::format(",{}", row % static_cast<std::size_t>(record.robots)) : "";
}

std::string commands_csv(const InverseRecord& record, const Robot& robot) {
  const std::vector<Input> inputs = inputs_of(robot);
  std::string text = "time [s]" + robot_header(record);
  for (const Input& input : inputs) text += fmt::format(",{} [{}]", input.name, display_unit(input.dimension));
  text += '\n';
  for (std::size_t row = 0; row < record.errors.size(); ++row) {
    if (std::isnan(record.errors[row])) continue;
    text += fmt::format("{:.12g}", record.times[row / static_cast<std::size_t>(record.robots)]);
    text += robot_cell(record, row);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      text += fmt::format(",{:.12g}", record.commands[row * inputs.size() + i] / display_scale(inputs[i].dimension));
    text += '\n';
  }
  return text;
}

std::string tracking_header(const InverseRecord& record, const Robot& robot, const ReplayRecord& replayed) {
  std::string text =
      "time [s]" + robot_header(record) + ",error [mm],replayed error [mm],saturated limits,held,contacts";
  if (!robot.obstacles.empty()) text += ",replayed contacts";
  for (const PlacedObstacle& obstacle : robot.obstacles)
    text += fmt::format(",{0} normal force [N],{0} replayed normal force [N]", obstacle.name);
  for (const char* what : {"goal", "reached"})
    for (const Column& column : effector_columns(robot, what)) text += "," + column.name;
  for (const ActuatorRow& actuator : robot.actuators)
    text += fmt::format(",{} {} [{}]", actuator.name, multiplier_word(actuator.kind),
                        display_unit(multiplier_dimension(actuator.kind)));
  if (!replayed.reached.empty())
    for (const Column& column : effector_columns(robot, "replayed")) text += "," + column.name;
  for (const std::string& name : sensor_columns(sensor_numbers(robot))) text += "," + name;
  return text + '\n';
}

// `replayed` is of one robot, whose rows are the steps.
std::string tracking_csv(const InverseRecord& record, const Robot& robot, const ReplayRecord& replayed) {
  const std::vector<Column> columns = effector_columns(robot, "reached");
  const std::size_t size = 3 * robot.effectors.size(), rows = robot.actuators.size(),
                    obstacles = robot.obstacles.size();
  const std::vector<SensorNumber> sensors = sensor_numbers(robot);
  std::string text = tracking_header(record, robot, replayed);
  for (std::size_t k = 0; k < record.errors.size(); ++k) {
    if (std::isnan(record.errors[k])) continue;
    text += fmt::format("{:.12g}{},{:.9g},", record.times[k / static_cast<std::size_t>(record.robots)],
                        robot_cell(record, k), 1e3 * record.errors[k]);
    if (k < replayed.errors.size()) text += fmt::format("{:.9g}", 1e3 * replayed.errors[k]);
    text += fmt::format(",{},{},{}", record.saturated[k], static_cast<int>(record.held[k]), record.touching[k]);
    if (obstacles > 0) text += k < replayed.touching.size() ? fmt::format(",{}", replayed.touching[k]) : ",";
    for (std::size_t o = 0; o < obstacles; ++o) {
      const std::size_t at = k * obstacles + o;
      text += fmt::format(",{:.9g},", record.normal_forces[at]);
      if (at < replayed.normal_forces.size()) text += fmt::format("{:.9g}", replayed.normal_forces[at]);
    }
    const auto add = [&](const std::vector<double>& all) {
      const std::vector<double> values = effector_values(robot, all.data() + k * size);
      for (std::size_t i = 0; i < columns.size(); ++i) text += fmt::format(",{:.9g}", values[i] / columns[i].scale);
    };
    add(record.goals);
    add(record.reached);
    for (std::size_t j = 0; j < rows; ++j)
      text += fmt::format(
          ",{:.9g}", record.multipliers[k * rows + j] / display_scale(multiplier_dimension(robot.actuators[j].kind)));
    if (!replayed.reached.empty()) add(replayed.reached);
    for (std::size_t i = 0; i < sensors.size(); ++i)
      text += fmt::format(",{:.9g}", shown(sensors[i], record.sensors[k * sensors.size() + i]));
    text += '\n';
  }
  return text;
}

}  // namespace

void check_inverse_folder(const std::string& folder, bool force) {
  std::error_code error;
  for (const char* file : {"commands.csv", "tracking.csv", "commands.gp", "commands.png", "error.gp", "error.png",
                           "path.gp", "path.png", "inverse.h5"})
    if (!force && fs::exists(fs::path(folder) / file, error))
      throw InputError(fmt::format("'{}' holds results already ({})", folder, file),
                       "another folder, --force to replace them, or --resume to continue an unfinished run");
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    throw InputError(fmt::format("'{}' is not a folder", folder), "another name");
}

std::string write_inverse_results(const std::string& folder, const InverseRecord& record, const Robot& robot,
                                  const ReplayRecord& replayed) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("cannot create the folder '{}' ({})", folder, error.message()), "-o DIR");
  write_file(folder + "/commands.csv", commands_csv(record, robot));
  write_file(folder + "/tracking.csv", tracking_csv(record, robot, replayed));
  if (record.robots > 1) return "";  // no pictures of many
  std::string curves;
  const std::vector<Input> inputs = inputs_of(robot);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    curves += fmt::format("{}'commands.csv' using 1:{} skip 1 with lines lw 2 title '{} [{}]'", i == 0 ? "plot " : ", ",
                          i + 2, inputs[i].name, display_unit(inputs[i].dimension));
  if (!inputs.empty())
    write_file(folder + "/commands.gp",
               gnuplot_script("commands", robot.name + ": commands found", "set xlabel 'time [s]'\n" + curves + "\n"));
  // Goal against reached, seen along z for the first effector by position; its error over time below.
  std::size_t column = 7 + (robot.obstacles.empty() ? 0 : 1 + 2 * robot.obstacles.size()), width = 0;
  for (const Effector& effector : robot.effectors) width += static_cast<std::size_t>(effector.goal_numbers());
  std::string path;
  for (const Effector& effector : robot.effectors) {
    if (effector.kind == EffectorKind::position && path.empty()) {
      path = fmt::format(
          "set size ratio -1\nset xlabel 'x [mm]'\nset ylabel 'y [mm]'\nplot 'tracking.csv' using {0}:{1} skip 1 with "
          "lines lw 4 lc rgb '#bbbbbb' title 'goal of {4}', '' using {2}:{3} skip 1 with lines lw 1.5 title "
          "'reached'",
          column, column + 1, column + width, column + width + 1, effector.name);
      if (!replayed.reached.empty()) {
        const std::size_t replays = column + 2 * width + robot.actuators.size();
        path +=
            fmt::format(", '' using {}:{} skip 1 with lines lw 1.5 title 'commands replayed'", replays, replays + 1);
      }
      path += '\n';
    }
    column += static_cast<std::size_t>(effector.goal_numbers());
  }
  std::string errors =
      "set logscale y\nset xlabel 'time [s]'\nset ylabel 'error [mm]'\nplot 'tracking.csv' using 1:2 skip 1 with lines "
      "lw 2 title 'of the model itself'";
  if (!replayed.errors.empty()) errors += ", '' using 1:3 skip 1 with lines lw 2 title 'commands replayed'";
  write_file(folder + "/error.gp", gnuplot_script("error", robot.name + ": distance to the goal", errors + "\n"));
  bool drawn = run_gnuplot(folder, "error");
  if (!inputs.empty()) drawn = run_gnuplot(folder, "commands") && drawn;
  if (!path.empty()) {
    write_file(folder + "/path.gp", gnuplot_script("path", robot.name + ": goal and reached", path));
    drawn = run_gnuplot(folder, "path") && drawn;
  }
  return drawn ? "" : no_gnuplot;
}

}  // namespace supple::cli

#include "engine/calibration/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/commands/actuation.hpp"
#include "engine/run/trajectory_columns.hpp"
#include "engine/scene/csv.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr const char* run_column = "run";

// All that can be measured.
std::vector<MeasuredColumn> measurable(const Robot& robot) {
  std::vector<MeasuredColumn> columns;
  int place = 0;
  for (const NamedPoint& point : robot.reported_points()) {
    for (int k = 0; k < 3; ++k)
      columns.push_back({fmt::format("{} {}", point.name, "xyz"[k]), MeasuredColumn::Kind::coordinate,
                         3 * point.point + k, Dimension::length, place});
    ++place;
  }
  int index = 0;
  for (const std::string& name : extra_columns(robot)) {
    const std::string unit = name.substr(name.rfind('['));
    const Dimension dimension = unit == "[deg]"  ? Dimension::angle
                                : unit == "[mL]" ? Dimension::volume
                                                 : Dimension::length;
    columns.push_back({name.substr(0, name.rfind('[') - 1), MeasuredColumn::Kind::extra, index++, dimension, place++});
  }
  for (std::size_t a = 0; a < robot.actuators.size(); ++a)
    columns.push_back({fmt::format("{} {}", robot.actuators[a].name, multiplier_name(robot.actuators[a])),
                       MeasuredColumn::Kind::multiplier, static_cast<int>(a),
                       multiplier_dimension(robot.actuators[a].kind), place++});
  return columns;
}

// What a column of the file holds.
struct Target {
  enum class Kind { label, input, measured } kind = Kind::label;
  std::size_t index = 0;
  double scale = 1;  // SI per unit
};

void check_range(const Input& input, double value, const CsvLine& line, std::size_t cell) {
  if (value < input.range.lower || value > input.range.upper)
    throw InputError(fmt::format("{} is beyond the range of '{}', {} to {}", format_quantity(value, input.dimension),
                                 input.name, format_quantity(input.range.lower, input.dimension),
                                 format_quantity(input.range.upper, input.dimension)),
                     "another range in the scene, or another unit in the header", line.at(cell));
}

}  // namespace

Measurements read_measurements(const std::string& path, const Robot& robot) {
  const std::vector<CsvLine> lines = read_csv(path);
  const std::vector<Input> inputs = inputs_of(robot);
  const std::vector<MeasuredColumn> all = measurable(robot);
  std::vector<std::string> known;
  for (const Input& input : inputs) known.push_back(input.name);
  for (const MeasuredColumn& column : all) known.push_back(column.name);
  if (lines.size() < 2)
    throw InputError("the file has no line of numbers",
                     fmt::format("a header with some of {}, then a line for each load", fmt::join(known, ", ")),
                     {path, 0, 0, ""});

  Measurements result;
  std::vector<Target> targets;
  std::set<std::string> seen;
  const CsvLine& header = lines.front();
  for (std::size_t c = 0; c < header.cells.size(); ++c) {
    const CsvColumn column = csv_column(header.cells[c]);
    if (!seen.insert(column.name).second)
      throw InputError(fmt::format("there are two columns '{}'", column.name), "one of them", header.at(c));
    const auto input = std::ranges::find(inputs, column.name, &Input::name);
    const auto measured = std::ranges::find(all, column.name, &MeasuredColumn::name);
    if (input != inputs.end()) {
      targets.push_back({Target::Kind::input, static_cast<std::size_t>(input - inputs.begin()),
                         csv_unit(column, input->dimension, header.at(c))});
    } else if (measured != all.end()) {
      targets.push_back(
          {Target::Kind::measured, result.columns.size(), csv_unit(column, measured->dimension, header.at(c))});
      result.columns.push_back(*measured);
    } else if (column.name == run_column) {
      targets.push_back({});
    } else if (column.name == "time") {
      throw InputError("there is a time, and each line is a load at rest", "the lines at rest, without this column",
                       header.at(c));
    } else {
      const std::string near = nearest_word(column.name, known);
      throw InputError(fmt::format("nothing of the robot is called '{}'", column.name),
                       near.empty() ? fmt::format("one of {}, {}", run_column, fmt::join(known, ", "))
                                    : fmt::format("{} (did you mean it?)", near),
                       header.at(c));
    }
  }
  if (result.columns.empty())
    throw InputError("no column was measured", fmt::format("one of {}", fmt::join(known, ", ")), header.place);
  // Places in the order of the columns, without gaps.
  std::vector<int> place_of;
  for (MeasuredColumn& column : result.columns) {
    const auto found = std::ranges::find(place_of, column.place);
    const auto index = static_cast<int>(found - place_of.begin());
    if (found == place_of.end()) place_of.push_back(column.place);
    column.place = index;
  }
  result.places = static_cast<int>(place_of.size());

  const std::size_t actuators = robot.actuators.size();
  for (std::size_t l = 1; l < lines.size(); ++l) {
    const CsvLine& line = lines[l];
    if (line.cells.size() != targets.size())
      throw InputError(fmt::format("{} cells, the header has {}", line.cells.size(), targets.size()),
                       "one for each column, empty where nothing was measured", line.place);
    Control control{std::vector<double>(actuators), {}};
    for (const MotionInput& motion : robot.motions) control.motions.push_back(motion.rest());
    std::vector<double> values(result.columns.size(), std::numeric_limits<double>::quiet_NaN());
    std::string name = fmt::format("{}", l);
    bool any = false;
    for (std::size_t c = 0; c < targets.size(); ++c) {
      const Target& target = targets[c];
      if (target.kind == Target::Kind::label) {
        name = line.cells[c].text;
        if (name.empty() || std::ranges::find(result.loads, name) != result.loads.end())
          throw InputError(name.empty() ? "the run has no name" : fmt::format("there are two runs '{}'", name),
                           "a name of its own for each line", line.at(c));
      } else if (target.kind == Target::Kind::input) {
        const double value = target.scale * csv_number(line, c);
        check_range(inputs[target.index], value, line, c);
        (target.index < actuators ? control.commands[target.index] : control.motions[target.index - actuators]) = value;
      } else if (!line.cells[c].text.empty()) {
        values[target.index] = target.scale * csv_number(line, c);
        any = true;
      }
    }
    if (!any) throw InputError("nothing was measured of this load", "a number, or no line", line.place);
    result.loads.push_back(std::move(name));
    result.controls.push_back(std::move(control));
    result.values.insert(result.values.end(), values.begin(), values.end());
  }
  return result;
}

std::vector<double> shown(const Robot& robot, const std::vector<MeasuredColumn>& columns, std::span<const double> y,
                          const State& state) {
  const std::vector<double> extra = extra_values(robot, y);
  std::vector<double> values;
  for (const MeasuredColumn& column : columns) {
    const auto index = static_cast<std::size_t>(column.index);
    switch (column.kind) {
      case MeasuredColumn::Kind::coordinate:
        values.push_back(y[index]);
        break;
      case MeasuredColumn::Kind::extra:
        values.push_back(extra[index] * display_scale(column.dimension));
        break;
      case MeasuredColumn::Kind::multiplier:
        values.push_back(state.multipliers[index]);
        break;
    }
  }
  return values;
}

}  // namespace supple

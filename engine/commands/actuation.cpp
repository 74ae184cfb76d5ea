#include "engine/commands/actuation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/extent.hpp"

namespace supple {

std::vector<Input> inputs_of(const Robot& robot) {
  std::vector<Input> inputs;
  for (const ActuatorRow& actuator : robot.actuators)
    inputs.push_back({actuator.name, command_dimension(actuator.kind, actuator.control), actuator.range, false});
  for (const MotionInput& motion : robot.motions)
    inputs.push_back({motion.name, motion.rotation ? Dimension::angle : Dimension::length, motion.range, true});
  return inputs;
}

std::vector<std::string> names_of(const std::vector<Input>& inputs) {
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back(input.name);
  return names;
}

std::string unbounded_input(const Robot& robot) {
  for (const Input& input : inputs_of(robot))
    if (!(input.range.lower > -unlimited && input.range.upper < unlimited)) return input.name;
  return "";
}

std::string display_unit(Dimension dimension) {
  switch (dimension) {
    case Dimension::length:
      return "mm";
    case Dimension::stress:
      return "kPa";
    case Dimension::volume:
      return "mL";
    case Dimension::angle:
      return "deg";
    case Dimension::turn_rate:
      return "deg/s";
    default:
      return std::string(si_unit(dimension));
  }
}
double display_scale(Dimension dimension) {
  switch (dimension) {
    case Dimension::length:
      return 1e-3;
    case Dimension::stress:
      return 1e3;
    case Dimension::volume:
      return 1e-6;
    case Dimension::angle:
    case Dimension::turn_rate:
      return std::numbers::pi / 180;
    default:
      return 1;
  }
}

Actuation::Actuation(std::vector<Input> inputs)
    : inputs_(std::move(inputs)), times_{0}, values_(inputs_.size(), 0.0), given_(inputs_.size(), false) {}

Actuation::Actuation(std::vector<Input> inputs, const std::vector<std::string>& names, std::vector<double> times,
                     std::vector<double> values, const std::vector<int>& rows)
    : inputs_(std::move(inputs)),
      times_(std::move(times)),
      values_(std::move(values)),
      given_(inputs_.size(), true),
      each_robot_(!rows.empty()) {
  bool fits = names_of(inputs_) == names && !times_.empty() && values_.size() == times_.size() * inputs_.size();
  if (each_robot_) first_.push_back(0);
  for (const int count : rows) {
    fits = fits && count > 0;
    first_.push_back(first_.back() + extent(std::max(0, count)));
  }
  fits = fits && (!each_robot_ || first_.back() == times_.size());
  for (int robot = 0; fits && robot < std::max(1, static_cast<int>(rows.size())); ++robot)
    fits = std::is_sorted(times_.begin() + static_cast<std::ptrdiff_t>(first_row(robot)),
                          times_.begin() + static_cast<std::ptrdiff_t>(end_row(robot)));
  if (!fits)
    throw InputError("the saved commands are not those of this robot", "run it from its beginning, with --force");
}

void Actuation::set(const std::string& assignment) {
  const auto equals = assignment.find('=');
  const Place place{"--set", 0, 0, ""};
  if (equals == std::string::npos)
    throw InputError(fmt::format("'{}' is not NAME=VALUE", assignment), "--set north=\"20 mm\"", place);
  std::string name = assignment.substr(0, equals);
  name.erase(0, std::min(name.find_first_not_of(" \t\r"), name.size()));
  name.erase(name.find_last_not_of(" \t\r") + 1);
  const std::size_t i = find_input(inputs_, name, place);
  const double value = parse_quantity(assignment.substr(equals + 1), inputs_[i].dimension, place);
  for (std::size_t t = 0; t < times_.size(); ++t) values_[t * inputs_.size() + i] = value;
}

double Actuation::value_at(double time, std::size_t input, int robot) const {
  const std::size_t n = inputs_.size(), first = first_row(robot), end = end_row(robot);
  const auto begin = times_.begin();
  const auto after = static_cast<std::size_t>(
      std::upper_bound(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end), time) -
      begin);
  const std::size_t a = after == first ? first : after - 1, b = std::min(after, end - 1);
  const double s = a == b ? 0 : (time - times_[a]) / (times_[b] - times_[a]);
  const double from = values_[a * n + input], to = values_[b * n + input];
  return s == 0 || from == to ? from : (1 - s) * from + s * to;
}

void Actuation::give(std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < given_.size(); ++i) given_[i] = i >= first && i < first + count;
}

void Actuation::sample(double time, std::span<double> values, int robot) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) values[i] = value_at(time, i, robot);
}

int Actuation::evaluate(double time, int robots, Control& control) const {
  const std::size_t batch = extent(robots), rows = control.commands.size() / batch,
                    motions = control.motions.size() / batch;
  int cut = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    double value = 0;
    for (std::size_t r = 0; r < batch; ++r) {
      if (r == 0 || each_robot_) value = value_at(time, i, static_cast<int>(r));
      if (i < rows) {
        control.commands[r * rows + i] = value;
        continue;
      }
      const double within = std::clamp(value, inputs_[i].range.lower, inputs_[i].range.upper);
      cut += within != value ? 1 : 0;
      control.motions[r * motions + i - rows] = within;
    }
  }
  return cut;
}

std::vector<int> Actuation::rows() const {
  std::vector<int> rows;
  for (std::size_t k = 1; k < first_.size(); ++k) rows.push_back(static_cast<int>(first_[k] - first_[k - 1]));
  return rows;
}

double Actuation::end() const {
  if (!each_robot_) return times_.back();
  double end = 0;
  for (std::size_t k = 1; k < first_.size(); ++k) end = std::max(end, times_[first_[k] - 1]);
  return end;
}

std::vector<std::string> Actuation::notes() const {
  std::vector<std::string> notes;
  const std::size_t n = inputs_.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < times_.size(); ++t) {
      const Input& input = inputs_[i];
      const double value = values_[t * n + i];
      // A rounding in the file is not worth a word.
      const double slack = 1e-9 * std::abs(value);
      if (value >= input.range.lower - slack && value <= input.range.upper + slack) continue;
      const std::string whose =
          each_robot_
              ? fmt::format(" of robot {}", std::upper_bound(first_.begin(), first_.end(), t) - first_.begin() - 1)
              : "";
      notes.push_back(fmt::format(
          "{} of {}{} at {} is beyond its range {} to {}; it is cut to it", format_quantity(value, input.dimension),
          input.name, whose, format_quantity(times_[t], Dimension::time),
          format_quantity(input.range.lower, input.dimension), format_quantity(input.range.upper, input.dimension)));
      break;
    }
  return notes;
}

}  // namespace supple

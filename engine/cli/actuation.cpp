#include "engine/cli/actuation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

namespace supple::cli {

namespace {

std::vector<std::string> names_of(const std::vector<Input>& inputs) {
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back(input.name);
  return names;
}

std::size_t find_input(const std::vector<Input>& inputs, const std::string& name, const Place& place) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == name) return i;
  const std::vector<std::string> names = names_of(inputs);
  const std::string near = nearest_word(name, names);
  throw InputError(fmt::format("the robot has no input '{}'", name),
                   names.empty()  ? "a scene with an [[actuator]]; this one has none"
                   : near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                  : fmt::format("{} (did you mean it?)", near),
                   place);
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Cells of a line with the column each begins at; a cell may stand in double quotes.
struct Cell {
  std::string text;
  int column = 1;
};

std::vector<Cell> split_cells(const std::string& line, const Place& place) {
  std::vector<Cell> cells{{"", 1}};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.push_back({"", static_cast<int>(i) + 2});
    else
      cells.back().text += c;
  }
  if (quoted) throw InputError("a quotation mark is not closed", "\"", place);
  for (Cell& cell : cells) cell.text = trimmed(cell.text);
  return cells;
}

double parse_cell(const Cell& cell, Place place) {
  place.column = cell.column;
  double value = 0;
  const char* end = cell.text.data() + cell.text.size();
  const auto [stop, status] = std::from_chars(cell.text.data(), end, value);
  if (cell.text.empty())
    throw InputError("a number is missing here", "fill the cell; units stand in the header", place);
  if (status != std::errc() || stop != end || !std::isfinite(value))
    throw InputError(fmt::format("'{}' is not a number", cell.text), "a number; units stand in the header", place);
  return value;
}

struct Column {
  std::string name;
  std::string unit;  // "" = SI
};

Column parse_header(const std::string& cell) {
  const auto open = cell.rfind('[');
  if (open == std::string::npos || !cell.ends_with(']')) return {cell, ""};
  return {trimmed(cell.substr(0, open)), trimmed(cell.substr(open + 1, cell.size() - open - 2))};
}

double unit_size(const Column& column, Dimension dimension, const Place& place) {
  return column.unit.empty() ? 1 : parse_unit(column.unit, dimension, place);
}

}  // namespace

std::vector<Input> inputs_of(const Robot& robot) {
  std::vector<Input> inputs;
  for (const ActuatorRow& actuator : robot.actuators)
    inputs.push_back({actuator.name, command_dimension(actuator.kind, actuator.control), actuator.range, false});
  for (const MotionInput& motion : robot.motions)
    inputs.push_back({motion.name, Dimension::length, motion.range, true});
  return inputs;
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
    default:
      return 1;
  }
}

Actuation::Actuation(std::vector<Input> inputs)
    : inputs_(std::move(inputs)), times_{0}, values_(inputs_.size(), 0.0), given_(inputs_.size(), false) {}

Actuation::Actuation(std::vector<Input> inputs, const std::vector<std::string>& names, std::vector<double> times,
                     std::vector<double> values)
    : inputs_(std::move(inputs)), times_(std::move(times)), values_(std::move(values)), given_(inputs_.size(), true) {
  if (names_of(inputs_) != names || times_.empty() || values_.size() != times_.size() * inputs_.size() ||
      !std::is_sorted(times_.begin(), times_.end()))
    throw InputError("the saved commands are not those of this robot", "run it from its beginning, with --force");
}

void Actuation::set(const std::string& assignment) {
  const auto equals = assignment.find('=');
  const Place place{"--set", 0, 0, ""};
  if (equals == std::string::npos)
    throw InputError(fmt::format("'{}' is not NAME=VALUE", assignment), "--set north=\"20 mm\"", place);
  const std::size_t i = find_input(inputs_, trimmed(assignment.substr(0, equals)), place);
  const double value = parse_quantity(assignment.substr(equals + 1), inputs_[i].dimension, place);
  for (std::size_t t = 0; t < times_.size(); ++t) values_[t * inputs_.size() + i] = value;
}

double Actuation::value_at(double time, std::size_t input) const {
  const std::size_t n = inputs_.size();
  const auto after = static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), time) - times_.begin());
  const std::size_t a = after == 0 ? 0 : after - 1, b = std::min(after, times_.size() - 1);
  const double s = a == b ? 0 : (time - times_[a]) / (times_[b] - times_[a]);
  const double start = values_[a * n + input], end = values_[b * n + input];
  return s == 0 || start == end ? start : (1 - s) * start + s * end;
}

void Actuation::give(std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < given_.size(); ++i) given_[i] = i >= first && i < first + count;
}

void Actuation::sample(double time, std::span<double> values) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) values[i] = value_at(time, i);
}

int Actuation::evaluate(double time, int robots, Control& control) const {
  const auto batch = static_cast<std::size_t>(robots);
  const std::size_t rows = control.commands.size() / batch, motions = control.motions.size() / batch;
  int cut = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    double value = value_at(time, i);
    if (i >= rows) {
      const double wanted = value;
      value = std::clamp(wanted, inputs_[i].range.lower, inputs_[i].range.upper);
      if (value != wanted) cut += robots;
    }
    for (std::size_t r = 0; r < batch; ++r)
      (i < rows ? control.commands[r * rows + i] : control.motions[r * motions + i - rows]) = value;
  }
  return cut;
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
      notes.push_back(fmt::format(
          "{} of {} at {} is beyond its range {} to {}; it is cut to it", format_quantity(value, input.dimension),
          input.name, format_quantity(times_[t], Dimension::time), format_quantity(input.range.lower, input.dimension),
          format_quantity(input.range.upper, input.dimension)));
      break;
    }
  return notes;
}

Actuation read_actuation(const std::string& path, const Robot& robot) {
  return read_table(path, inputs_of(robot));
}

Actuation read_table(const std::string& path, const std::vector<Input>& inputs) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw InputError("cannot read the file", "check the path", {path, 0, 0, ""});
  return parse_table(text, path, inputs);
}

Actuation parse_table(const std::string& text, const std::string& name, const std::vector<Input>& inputs) {
  const std::size_t n = inputs.size();
  std::vector<double> times, values, scales;
  std::vector<std::size_t> targets;  // of each column but the first
  bool header = true;
  std::size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    const std::string content = trimmed(line);
    if (content.empty() || content[0] == '#') continue;
    const Place place{name, number, 0, line.size() <= 200 ? line : ""};
    const std::vector<Cell> cells = split_cells(line, place);
    if (header) {
      header = false;
      const Column time = parse_header(cells[0].text);
      if (time.name != "time")
        throw InputError(fmt::format("the first column is '{}', not the time", cells[0].text),
                         "a first line like: time [s],north [mm]", {name, number, 1, place.text});
      scales.push_back(unit_size(time, Dimension::time, place));
      for (std::size_t c = 1; c < cells.size(); ++c) {
        const Place here{name, number, cells[c].column, place.text};
        const Column column = parse_header(cells[c].text);
        const std::size_t input = find_input(inputs, column.name, here);
        if (std::find(targets.begin(), targets.end(), input) != targets.end())
          throw InputError(fmt::format("there are two columns '{}'", column.name), "one column for each input", here);
        targets.push_back(input);
        scales.push_back(unit_size(column, inputs[input].dimension, here));
      }
      continue;
    }
    if (cells.size() != scales.size())
      throw InputError(fmt::format("{} cells, the header has {}", cells.size(), scales.size()),
                       "one number for each column", place);
    const double time = scales[0] * parse_cell(cells[0], place);
    if (!times.empty() && time <= times.back())
      throw InputError("time does not go forward", "ascending times", {name, number, 1, place.text});
    times.push_back(time);
    values.resize(values.size() + n, 0.0);
    for (std::size_t c = 1; c < cells.size(); ++c)
      values[values.size() - n + targets[c - 1]] = scales[c] * parse_cell(cells[c], place);
  }
  if (times.empty())
    throw InputError(header ? "the file is empty" : "there is no line after the header",
                     "a first line like: time [s],north [mm], then numbers", {name, 0, 0, ""});
  Actuation table(inputs, names_of(inputs), std::move(times), std::move(values));
  for (std::size_t i = 0; i < n; ++i) table.given_[i] = std::find(targets.begin(), targets.end(), i) != targets.end();
  return table;
}

}  // namespace supple::cli

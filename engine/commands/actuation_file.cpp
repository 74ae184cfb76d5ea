// Tables of inputs as CSV (actuation.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "engine/commands/actuation.hpp"
#include "engine/scene/csv.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr const char* robot_column = "robot";

// A robot index below `robots`.
int parse_robot(const CsvCell& cell, int robots, Place place) {
  place.column = cell.column;
  long index = 0;
  const char* end = cell.text.data() + cell.text.size();
  const auto [stop, status] = std::from_chars(cell.text.data(), end, index);
  const std::string all = robots == 1 ? "0" : fmt::format("a whole number from 0 to {}", robots - 1);
  if (cell.text.empty() || stop != end || (status != std::errc() && status != std::errc::result_out_of_range) ||
      cell.text.starts_with('-'))
    throw InputError(fmt::format("'{}' is not the index of a robot", cell.text), all, place);
  if (status != std::errc() || index >= robots)
    throw InputError(fmt::format("there is no robot {} in a batch of {} (the first is robot 0)", cell.text, robots),
                     all + ", or another --batch", place);
  return static_cast<int>(index);
}

// Reads a table line by line.
class TableReader {
 public:
  TableReader(const std::string& name, const std::vector<Input>& inputs, int robots)
      : name_(name), inputs_(inputs), robots_(robots) {}

  void read(const CsvLine& line) { columns_.empty() ? read_header(line) : read_numbers(line); }

  Actuation finish() {
    if (times_.empty())
      throw InputError(columns_.empty() ? "the file is empty" : "there is no line after the header",
                       "a first line like: time [s],north [mm], then numbers", {name_, 0, 0, ""});
    std::vector<int> rows;
    if (has_robots_) rows = sort_by_robot();
    Actuation table(inputs_, names_of(inputs_), std::move(times_), std::move(values_), rows);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!has_input(i)) table.withhold(i);
    return table;
  }

 private:
  // What a column holds: the time, an input, or the robot index.
  struct Target {
    enum class Kind { time, input, robot } kind;
    std::size_t input = 0;
    double scale = 1;  // SI per unit
  };
  bool has_input(std::size_t input) const {
    return std::ranges::any_of(columns_,
                               [&](const Target& t) { return t.kind == Target::Kind::input && t.input == input; });
  }

  void read_header(const CsvLine& line) {
    const std::vector<CsvCell>& cells = line.cells;
    const CsvColumn time = csv_column(cells[0]);
    if (time.name != "time")
      throw InputError(fmt::format("the first column is '{}', not the time", cells[0].text),
                       "a first line like: time [s],north [mm]", line.at(0));
    columns_.push_back({Target::Kind::time, 0, csv_unit(time, Dimension::time, line.place)});
    const bool is_input = std::ranges::find(inputs_, robot_column, &Input::name) != inputs_.end();
    for (std::size_t c = 1; c < cells.size(); ++c) {
      const Place here = line.at(c);
      const CsvColumn column = csv_column(cells[c]);
      const bool of_robots = column.name == robot_column && !is_input;
      const std::size_t input = of_robots ? 0 : find_input(inputs_, column.name, here);
      if (of_robots ? has_robots_ : has_input(input))
        throw InputError(fmt::format("there are two columns '{}'", column.name), "one column for each input", here);
      if (of_robots && !column.unit.empty()) throw InputError("the index of a robot has no unit", robot_column, here);
      has_robots_ = has_robots_ || of_robots;
      columns_.push_back(of_robots
                             ? Target{Target::Kind::robot}
                             : Target{Target::Kind::input, input, csv_unit(column, inputs_[input].dimension, here)});
    }
    last_row_.assign(extent(has_robots_ ? robots_ : 1), none);
  }

  void read_numbers(const CsvLine& line) {
    const std::vector<CsvCell>& cells = line.cells;
    if (cells.size() != columns_.size())
      throw InputError(fmt::format("{} cells, the header has {}", cells.size(), columns_.size()),
                       "one number for each column", line.place);
    int robot = 0;
    for (std::size_t c = 1; c < cells.size(); ++c)
      if (columns_[c].kind == Target::Kind::robot) robot = parse_robot(cells[c], robots_, line.place);
    const double time = columns_[0].scale * csv_number(line, 0);
    const std::size_t before = last_row_[extent(robot)], row = times_.size();
    if (before != none && time <= times_[before])
      throw InputError(has_robots_ ? fmt::format("the time of robot {} does not go forward", robot)
                                   : std::string("time does not go forward"),
                       "ascending times", line.at(0));
    last_row_[extent(robot)] = row;
    times_.push_back(time);
    robot_of_row_.push_back(robot);
    values_.resize(values_.size() + inputs_.size(), 0.0);
    for (std::size_t c = 1; c < cells.size(); ++c)
      if (columns_[c].kind == Target::Kind::input)
        values_[row * inputs_.size() + columns_[c].input] = columns_[c].scale * csv_number(line, c);
  }

  // Brings the rows of each robot together; returns how many each has.
  std::vector<int> sort_by_robot() {
    std::vector<int> rows(extent(robots_), 0);
    for (const int robot : robot_of_row_) ++rows[extent(robot)];
    const auto missing = std::ranges::find(rows, 0);
    if (missing != rows.end())
      throw InputError(fmt::format("robot {} has no line", missing - rows.begin()),
                       fmt::format("lines for each robot from 0 to {}, or a file without the column '{}'", robots_ - 1,
                                   robot_column),
                       {name_, 0, 0, ""});
    std::vector<std::size_t> next(extent(robots_), 0);
    for (std::size_t b = 1; b < next.size(); ++b) next[b] = next[b - 1] + extent(rows[b - 1]);
    const std::size_t n = inputs_.size();
    std::vector<double> times(times_.size()), values(values_.size());
    for (std::size_t row = 0; row < times_.size(); ++row) {
      const std::size_t to = next[extent(robot_of_row_[row])]++;
      times[to] = times_[row];
      std::copy_n(values_.data() + row * n, n, values.data() + to * n);
    }
    times_.swap(times);
    values_.swap(values);
    return rows;
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  const std::string& name_;
  const std::vector<Input>& inputs_;
  int robots_;
  bool has_robots_ = false;
  std::vector<Target> columns_;  // empty until the header is read
  std::vector<double> times_, values_;
  std::vector<int> robot_of_row_;
  std::vector<std::size_t> last_row_;  // of each robot
};

Actuation table_of(const std::vector<CsvLine>& lines, const std::string& name, const std::vector<Input>& inputs,
                   int robots) {
  TableReader reader(name, inputs, robots);
  for (const CsvLine& line : lines) reader.read(line);
  return reader.finish();
}

}  // namespace

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

Actuation read_actuation(const std::string& path, const Robot& robot, int robots) {
  return read_table(path, inputs_of(robot), robots);
}

Actuation read_table(const std::string& path, const std::vector<Input>& inputs, int robots) {
  return table_of(read_csv(path), path, inputs, robots);
}

Actuation parse_table(const std::string& text, const std::string& name, const std::vector<Input>& inputs, int robots) {
  return table_of(parse_csv(text, name), name, inputs, robots);
}

}  // namespace supple

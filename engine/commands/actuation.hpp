#pragma once
// What the inputs of one robot or of a batch do over time: straight lines between given instants, the first and the
// last value held before and after. Inputs are the actuators' commands followed by the prescribed motions.

#include <span>
#include <string>
#include <vector>

#include "engine/commands/command_source.hpp"
#include "engine/model/robot.hpp"
#include "engine/scene/units.hpp"

namespace supple {

struct Input {
  std::string name;
  Dimension dimension = Dimension::length;
  Interval range;
  bool motion = false;
};

/// All inputs of a robot, in the order of Control.
std::vector<Input> inputs_of(const Robot& robot);
std::vector<std::string> names_of(const std::vector<Input>& inputs);
/// The first input without a finite range, which no sweep can go through; "" if there is none.
std::string unbounded_input(const Robot& robot);

/// The unit in which an input is displayed: "mm", "N", "kPa", "mL" or "deg", and its size in SI.
std::string display_unit(Dimension dimension);
double display_scale(Dimension dimension);

/// One table for all robots, or one for each. Robots of a file have the same columns and instants of their own.
class Actuation final : public CommandSource {
 public:
  /// Every input at zero.
  explicit Actuation(std::vector<Input> inputs);
  /// From tables of a saved run: times [T], ascending within a table, values [T][inputs]; rows of each robot's table in
  /// turn, or empty: one table for all. Throws InputError if they do not fit.
  Actuation(std::vector<Input> inputs, const std::vector<std::string>& names, std::vector<double> times,
            std::vector<double> values, const std::vector<int>& rows = {});

  /// "north=20 mm": held at that value throughout. Throws InputError: unknown input, bad value.
  void set(const std::string& assignment);
  int evaluate(double time, int robots, Control& control) const override;
  /// All inputs of a robot at `time` [inputs], not clamped.
  void sample(double time, std::span<double> values, int robot = 0) const;
  /// Whether a file had a column for the input.
  bool given(std::size_t input) const { return given_[input]; }
  /// Treats these inputs, and no others, as if they had columns.
  void give(std::size_t first, std::size_t count);
  /// Treats this input as if it had no column.
  void withhold(std::size_t input) { given_[input] = false; }

  const std::vector<Input>& inputs() const { return inputs_; }
  /// Instants of all tables, one after the other [s].
  const std::vector<double>& times() const { return times_; }
  const std::vector<double>& values() const { return values_; }
  /// Rows of each robot's table; empty: one table for all.
  std::vector<int> rows() const;
  bool for_each_robot() const override { return each_robot_; }
  /// End of the table that ends last [s].
  double end() const;
  /// Commands and motions beyond their range, which are clamped; one line for each input.
  std::vector<std::string> notes() const;

 private:
  // Rows of a robot's table.
  std::size_t first_row(int robot) const { return each_robot_ ? first_[static_cast<std::size_t>(robot)] : 0; }
  std::size_t end_row(int robot) const {
    return each_robot_ ? first_[static_cast<std::size_t>(robot) + 1] : times_.size();
  }
  double value_at(double time, std::size_t input, int robot) const;

  std::vector<Input> inputs_;
  std::vector<double> times_, values_;
  std::vector<bool> given_;
  bool each_robot_ = false;
  std::vector<std::size_t> first_{};  // row of each robot's table, then the number of rows; empty: one table for all
};

/// CSV: a header of `time [s]` and names of inputs, each with a unit in brackets or in SI, then numbers; `#` begins a
/// comment. Inputs without a column stay at zero. A column `robot` holds the robot index of each row, 0 to robots - 1:
/// the rows of a robot have ascending times, and every robot has some; without it the table is for all robots. (A robot
/// with an input of that name has no such column.) Errors: InputError with file and line.
Actuation read_actuation(const std::string& path, const Robot& robot, int robots = 1);
/// The same for any inputs.
Actuation read_table(const std::string& path, const std::vector<Input>& inputs, int robots = 1);
Actuation parse_table(const std::string& text, const std::string& name, const std::vector<Input>& inputs,
                      int robots = 1);
/// The input of that name. Throws InputError with what there is.
std::size_t find_input(const std::vector<Input>& inputs, const std::string& name, const Place& place);

}  // namespace supple

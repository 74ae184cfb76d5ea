#pragma once
// What the inputs of a robot do over time: straight lines between given instants, the first and the last value held
// before and after. Inputs are the actuators' commands followed by the motions of driven regions.

#include <span>
#include <string>
#include <vector>

#include "engine/dynamics/state.hpp"
#include "engine/model/robot.hpp"
#include "engine/scene/units.hpp"

namespace supple::cli {

struct Input {
  std::string name;
  Dimension dimension = Dimension::length;
  Interval range;
  bool motion = false;
};

// All inputs of a robot, in the order of Control.
std::vector<Input> inputs_of(const Robot& robot);
// The first input without a finite range, which no sweep can go through; "" if there is none.
std::string unbounded_input(const Robot& robot);

// The unit people see for an input: "mm", "N", "kPa" or "mL", and its size in SI.
std::string display_unit(Dimension dimension);
double display_scale(Dimension dimension);

// Straight lines between given instants; the first and the last value are held before and after.
class Actuation {
 public:
  // Every input at zero.
  explicit Actuation(std::vector<Input> inputs);
  // From tables of a saved run: times [T], ascending, values [T][inputs]. Throws InputError if they do not fit.
  Actuation(std::vector<Input> inputs, const std::vector<std::string>& names, std::vector<double> times,
            std::vector<double> values);

  // "north=20 mm": held at that value throughout. Throws InputError: unknown input, bad value.
  void set(const std::string& assignment);
  // The commands at `time`, the same for each of `robots` robots; `control` keeps its size. Motions of driven regions
  // are cut to their range (a step does that to commands); returns how many were, over all robots.
  int evaluate(double time, int robots, Control& control) const;
  // All inputs at `time` [inputs], uncut.
  void sample(double time, std::span<double> values) const;
  // Whether a file had a column for the input.
  bool given(std::size_t input) const { return given_[input]; }
  // As if these inputs alone had columns.
  void give(std::size_t first, std::size_t count);

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<double>& times() const { return times_; }
  const std::vector<double>& values() const { return values_; }
  double end() const { return times_.back(); }
  // Commands and motions beyond their range, one line for each input: they are cut.
  std::vector<std::string> notes() const;

 private:
  double value_at(double time, std::size_t input) const;

  std::vector<Input> inputs_;
  std::vector<double> times_, values_;
  std::vector<bool> given_;
  friend Actuation parse_table(const std::string& text, const std::string& name, const std::vector<Input>& inputs);
};

// CSV: a header of `time [s]` and names of inputs, each with a unit in brackets or in SI, then numbers; `#` begins a
// comment. Inputs without a column stay at zero. Errors: InputError with file and line.
Actuation read_actuation(const std::string& path, const Robot& robot);
// The same for any inputs.
Actuation read_table(const std::string& path, const std::vector<Input>& inputs);
Actuation parse_table(const std::string& text, const std::string& name, const std::vector<Input>& inputs);

}  // namespace supple::cli

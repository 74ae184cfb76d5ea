#pragma once
// What was measured of a robot at rest under loads: a table with one line for each load.

#include <string>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/model/state.hpp"
#include "engine/scene/units.hpp"

namespace supple {

/// Columns have the names of a run's trajectory.csv: "tip x [mm]", "flexor shortening [mm]", "flexor tension [N]".
struct MeasuredColumn {
  enum class Kind { coordinate, extra, multiplier };
  std::string name;
  Kind kind = Kind::coordinate;
  int index = 0;  // coordinate: of the outputs; extra: of extra_values(); multiplier: the actuator
  Dimension dimension = Dimension::length;
  int place = 0;  // columns of one point (or one value) have the same
};

struct Measurements {
  std::vector<std::string> loads;  // names: of the column `run`, or their numbers
  std::vector<Control> controls;
  std::vector<MeasuredColumn> columns;
  std::vector<double> values;  // [loads][columns] SI; NaN: not measured
  int places = 0;
  double value(std::size_t load, std::size_t column) const { return values[load * columns.size() + column]; }
};

/// CSV: a header with names of inputs and of what was measured, each with a unit in brackets or in SI, and maybe a column
/// `run` with names; then numbers. Inputs without a column are zero; empty cells were not measured. Errors: InputError
/// with file, line and column.
Measurements read_measurements(const std::string& path, const Robot& robot);

/// What the robot shows [columns] in a state with outputs y.
std::vector<double> shown(const Robot& robot, const std::vector<MeasuredColumn>& columns, std::span<const double> y,
                          const State& state);

}  // namespace supple

// What holds a robot beside its actuators, and how it is stepped: /robot/constraints, /robot/springs and
// /robot/implicit of a model file.

#include <cmath>

#include "engine/io/model_data_parts.hpp"
#include "engine/model/joint_values.hpp"
#include "kernels/base/contract.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {

namespace {

constexpr int most_springs = 100000;
// In the order of their enumeration.
constexpr std::string_view value_words[] = {"length", "along"};

void write_list(DataSink& file, const std::string& list, const std::vector<ConstraintRow>& rows) {
  if (rows.empty()) return;
  file.write(list + "/count", static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ConstraintRow& row = rows[i];
    SUPPLE_EXPECT(!is_joint_value(row));  // of assemblies
    const std::string at = list + "/" + entry_name(i);
    file.write(at + "/name", row.name);
    file.write(at + "/value", std::string(value_words[static_cast<int>(row.value)]));
    file.write(at + "/points", std::vector<int>{row.first_point, row.point_count}, {2});
    if (row.value == ConstraintRow::Value::length) {
      if (row.anchor) file.write(at + "/anchor", flat_points({*row.anchor}), {3});
      file.write(at + "/rest_length", row.rest_length);
      file.write(at + "/side", row.side);
    } else {
      file.write(at + "/direction", flat_points({row.direction}), {3});
      file.write(at + "/place", flat_points({row.place}), {3});
    }
    file.write(at + "/compliance", row.compliance);
    file.write(at + "/damping_time", row.damping_time);
    file.write(at + "/one_sided", static_cast<std::int64_t>(row.one_sided));
  }
}

ConstraintRow read_row(const DataSource& file, const Checked& checked, const std::string& at, int points, bool spring) {
  ConstraintRow row;
  row.name = file.read_text(at + "/name");
  row.value = static_cast<ConstraintRow::Value>(checked.word(at + "/value", value_words));
  const auto pair = file.read_ints(at + "/points", {2});
  row.first_point = pair[0];
  row.point_count = pair[1];
  const bool length = row.value == ConstraintRow::Value::length;
  checked.require(pair[0] >= 0 && pair[1] >= 1 && pair[1] <= (length ? 2 : 1) && pair[0] <= points - pair[1],
                  at + "/points", "names points that are not there");
  if (length) {
    if (file.has(at + "/anchor")) row.anchor = points_of(checked.doubles(at + "/anchor", {3})).front();
    checked.require(row.point_count + (row.anchor ? 1 : 0) == 2, at + "/points", "are not two ends");
    row.rest_length = checked.number(at + "/rest_length");
    row.side = checked.number(at + "/side");
    checked.require(std::abs(row.side) == 1, at + "/side", "is neither 1 nor -1");
  } else {
    row.direction = points_of(checked.doubles(at + "/direction", {3})).front();
    checked.require(std::abs(norm(row.direction) - 1) < 1e-9 || row.direction == Vec3d{{0, 0, 0}}, at + "/direction",
                    "is neither of length 1 nor none");
    row.place = points_of(checked.doubles(at + "/place", {3})).front();
  }
  row.compliance = checked.number(at + "/compliance");
  checked.require(length || row.compliance > 0 || !(row.direction == Vec3d{{0, 0, 0}}), at + "/direction", "is none");
  row.damping_time = checked.number(at + "/damping_time");
  row.one_sided = checked.count(at + "/one_sided", 0, 1) == 1;
  checked.require(row.compliance >= 0 && !(spring && row.compliance == 0), at + "/compliance", "is that of no spring");
  checked.require(row.damping_time >= 0, at + "/damping_time", "is negative");
  checked.require(!(spring && row.one_sided), at + "/one_sided", "is said of a spring");
  return row;
}

std::vector<ConstraintRow> read_list(const DataSource& file, const Checked& checked, const std::string& list, int most,
                                     int points, bool spring) {
  std::vector<ConstraintRow> rows;
  if (!file.has(list)) return rows;
  const int count = checked.count(list + "/count", 1, most);
  for (int i = 0; i < count; ++i)
    rows.push_back(read_row(file, checked, list + "/" + entry_name(static_cast<std::size_t>(i)), points, spring));
  return rows;
}

}  // namespace

void write_constraints(DataSink& file, const Robot& robot) {
  if (robot.implicit_velocity != 1 || robot.implicit_position != 1)
    file.write("/robot/implicit", Numbers{robot.implicit_velocity, robot.implicit_position}, {2});
  write_list(file, "/robot/constraints", robot.constraints);
  write_list(file, "/robot/springs", robot.springs);
}

void read_constraints(const DataSource& file, const Checked& checked, Robot& robot) {
  const int points = static_cast<int>(robot.rest_points.size());
  if (file.has("/robot/implicit")) {
    const auto factors = checked.doubles("/robot/implicit", {2});
    for (const double factor : factors)
      checked.require(factor >= 0.5 && factor <= 1, "/robot/implicit", "is not between 0.5 and 1");
    robot.implicit_velocity = factors[0];
    robot.implicit_position = factors[1];
  }
  const int actuators = static_cast<int>(robot.actuators.size());
  robot.constraints = read_list(file, checked, "/robot/constraints", max_box_complementarity - actuators, points,
                                /*spring=*/false);
  robot.springs = read_list(file, checked, "/robot/springs", most_springs, points, /*spring=*/true);
}

}  // namespace supple

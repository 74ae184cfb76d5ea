#include "engine/run/trajectory_columns.hpp"

#include <fmt/format.h>

#include <numbers>

#include "engine/commands/actuation.hpp"
#include "engine/model/effectors.hpp"

namespace supple {

namespace {

constexpr double degrees = 180 / std::numbers::pi;

}  // namespace

const char* multiplier_name(const ActuatorRow& actuator) {
  constexpr const char* names[] = {"tension", "force", "pressure", "torque", "force"};
  return names[static_cast<int>(actuator.kind)];
}

Dimension multiplier_dimension(const ConstraintRow& row) {
  const bool turns = row.value == ConstraintRow::Value::aligned || row.value == ConstraintRow::Value::angle;
  return turns ? Dimension::torque : Dimension::force;
}

const char* multiplier_name(const ConstraintRow& row) {
  return multiplier_dimension(row) == Dimension::torque ? "torque" : "force";
}

bool is_obeyed(const ConstraintRow& row) {
  return row.value == ConstraintRow::Value::along && row.direction == Vec3d{{0, 0, 0}};
}

std::vector<std::string> extra_columns(const Robot& robot) {
  std::vector<std::string> names;
  for (const Effector& effector : robot.effectors) {
    if (effector.kind == EffectorKind::orientation)
      for (const char* axis : {"x", "y", "z"}) names.push_back(fmt::format("{} turn {} [deg]", effector.name, axis));
    if (effector.kind == EffectorKind::length) names.push_back(fmt::format("{} shortening [mm]", effector.name));
    if (effector.kind == EffectorKind::volume) names.push_back(fmt::format("{} volume [mL]", effector.name));
  }
  return names;
}

std::vector<double> extra_values(const Robot& robot, std::span<const double> y) {
  std::vector<double> values;
  for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
    const EffectorKind kind = robot.effectors[e].kind;
    if (kind == EffectorKind::position) continue;
    Vec3d state;
    effector_state(robot, static_cast<int>(e), y, state.v);
    if (kind == EffectorKind::orientation)
      values.insert(values.end(), {degrees * state[0], degrees * state[1], degrees * state[2]});
    else
      values.push_back(state[0] / display_scale(goal_dimension(kind)));
  }
  return values;
}

std::vector<std::string> sensor_columns(std::span<const SensorNumber> numbers) {
  std::vector<std::string> names;
  for (const SensorNumber& number : numbers) {
    const std::string unit = display_unit(number.dimension);
    names.push_back(unit.empty() ? number.name : fmt::format("{} [{}]", number.name, unit));
  }
  return names;
}

double shown(const SensorNumber& number, double value) {
  return value / display_scale(number.dimension);
}

}  // namespace supple

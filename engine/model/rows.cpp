#include "engine/model/rows.hpp"

#include <algorithm>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

Vec3d point(std::span<const double> y, int i) {
  const auto k = static_cast<std::size_t>(3 * i);
  return {{y[k], y[k + 1], y[k + 2]}};
}

}  // namespace

void RowLayout::add(int first_point, int point_count) {
  first.push_back(3 * first_point);
  count.push_back(3 * point_count);
  offset.push_back(offset.back() + 3 * point_count);
}

RowLayout row_layout(const Robot& robot) {
  RowLayout layout;
  for (const ActuatorRow& actuator : robot.actuators) layout.add(actuator.first_point, actuator.point_count);
  for (const ConstraintRow& row : robot.constraints) layout.add(row.first_point, row.point_count);
  return layout;
}

RowLayout spring_layout(const Robot& robot) {
  RowLayout layout;
  for (const ConstraintRow& row : robot.springs) layout.add(row.first_point, row.point_count);
  return layout;
}

double path_length(std::span<const double> y, int first_point, int count, const std::optional<Vec3d>& end,
                   double* gradient) {
  return path_length(y.data(), first_point, count, end ? &*end : nullptr, gradient);
}

double evaluate_constraint(const ConstraintRow& constraint, std::span<const double> y, double* gradient) {
  if (is_joint_value(constraint)) return joint_value(constraint, y, gradient);
  if (constraint.value == ConstraintRow::Value::along) {
    Vec3d shift = point(y, constraint.first_point) - constraint.place;
    for (int k = 0; k < 3; ++k) gradient[k] = constraint.direction[k];
    if (constraint.point_count == 2) {
      shift = shift - point(y, constraint.first_point + 1);
      for (int k = 0; k < 3; ++k) gradient[3 + k] = -constraint.direction[k];
    }
    return dot(constraint.direction, shift);
  }
  const double length = path_length(y, constraint.first_point, constraint.point_count, constraint.anchor, gradient);
  for (int k = 0; k < 3 * constraint.point_count; ++k) gradient[k] *= -constraint.side;
  return constraint.side * (constraint.rest_length - length);
}

void evaluate_rows(const Robot& robot, const RowLayout& layout, std::span<const double> y, std::span<double> phi,
                   std::span<double> gradients) {
  for (std::size_t row = 0; row < robot.actuators.size(); ++row) {
    const ActuatorRow& actuator = robot.actuators[row];
    double* g = gradients.data() + layout.offset[row];
    if (actuator.kind == ActuatorKind::force) {
      const Vec3d shift =
          point(y, actuator.first_point) - robot.rest_points[static_cast<std::size_t>(actuator.first_point)];
      phi[row] = dot(actuator.direction, shift);
      for (int k = 0; k < 3; ++k) g[k] = actuator.direction[k];
      continue;
    }
    if (actuator.is_motor()) {
      phi[row] = joint_value(actuator.joint, y, g);
      continue;
    }
    if (actuator.kind == ActuatorKind::cavity) {
      phi[row] = volume_gained(actuator, row_coordinates(actuator, y), {g, extent(layout.count[row])});
      continue;
    }
    phi[row] =
        actuator.rest_length - path_length(y, actuator.first_point, actuator.point_count, actuator.pull_point, g);
    for (int k = 0; k < layout.count[row]; ++k) g[k] = -g[k];
  }
  for (std::size_t k = 0; k < robot.constraints.size(); ++k) {
    const std::size_t row = robot.actuators.size() + k;
    phi[row] = evaluate_constraint(robot.constraints[k], y, gradients.data() + layout.offset[row]);
  }
}

RowTarget row_target(const ActuatorRow& actuator, double command, double previous, double step, bool at_rest) {
  RowTarget result;
  double value = std::clamp(command, actuator.range.lower, actuator.range.upper);
  if (step > 0 && actuator.rate < unlimited)
    value = std::clamp(value, previous - actuator.rate * step, previous + actuator.rate * step);
  result.limited = value != command;
  result.lower = actuator.bilateral ? actuator.force.lower : std::max(0.0, actuator.force.lower);
  result.upper = actuator.force.upper;
  if (gives_force(actuator, at_rest)) {
    // The pressure that a supply comes to keeps its limits.
    const bool supply = actuator.control == ActuatorControl::supply;
    result.lower = result.upper = supply ? std::clamp(value, result.lower, result.upper) : value;
    return result;
  }
  result.target = value;
  return result;
}

bool holds(const Robot& robot, int row, double multiplier) {
  const auto k = static_cast<std::size_t>(row);
  if (k >= robot.actuators.size()) return !robot.constraints[k - robot.actuators.size()].one_sided || multiplier > 0;
  const ActuatorRow& actuator = robot.actuators[k];
  const RowTarget target = row_target(actuator, 0, 0, 0);
  return actuator.control == ActuatorControl::displacement && multiplier > target.lower && multiplier < target.upper;
}

}  // namespace supple

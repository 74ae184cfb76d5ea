#include "engine/step/row_program.hpp"

#include "engine/model/effectors.hpp"
#include "engine/model/joint_values.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Shapes of rows in the order of their layout.
class Shapes {
 public:
  explicit Shapes(const RowLayout& layout) : layout_(layout) {}

  RowShape& add(RowShape::Kind kind) {
    RowShape shape;
    const std::size_t row = shapes.size();
    shape.kind = kind;
    shape.first_point = layout_.first[row] / 3;
    shape.point_count = layout_.count[row] / 3;
    shape.offset = layout_.offset[row];
    return shapes.emplace_back(shape);
  }
  RowShape& add_along(const Vec3d& direction, const Vec3d& place) {
    RowShape& shape = add(RowShape::Kind::along);
    shape.direction = direction;
    shape.place = place;
    return shape;
  }
  RowShape& add_path(double rest_length, double side, const std::optional<Vec3d>& end) {
    RowShape& shape = add(RowShape::Kind::path);
    shape.rest = rest_length;
    shape.side = side;
    shape.anchored = end.has_value();
    if (end) shape.place = *end;
    return shape;
  }
  RowShape& add_volume(const VolumePolynomial& volume, double rest_volume, double size) {
    RowShape& shape = add(RowShape::Kind::volume);
    shape.unknowns = volume.unknowns;
    shape.coefficients = coefficients.size();
    for (const auto* part : {&volume.linear, &volume.quadratic, &volume.cubic})
      coefficients.insert(coefficients.end(), part->begin(), part->end());
    shape.rest = rest_volume;
    shape.size = size;
    return shape;
  }

  std::vector<RowShape> shapes;
  std::vector<double> coefficients;

 private:
  const RowLayout& layout_;
};

RowProgram uploaded(const Device& device, const Shapes& shapes) {
  return {Array<RowShape>(device, std::span<const RowShape>(shapes.shapes)),
          Array<double>(device, std::span<const double>(shapes.coefficients))};
}

// Those of joints are rows of assemblies, which no device steps.
void add_constraint(const ConstraintRow& row, Shapes& shapes) {
  SUPPLE_EXPECT(!is_joint_value(row));
  if (row.value == ConstraintRow::Value::along)
    shapes.add_along(row.direction, row.place);
  else
    shapes.add_path(row.rest_length, row.side, row.anchor);
}

}  // namespace

std::optional<RowProgram> actuator_program(const Device& device, const Robot& robot) {
  const RowLayout layout = row_layout(robot);
  Shapes shapes(layout);
  for (const ActuatorRow& actuator : robot.actuators) {
    if (actuator.kind == ActuatorKind::force)
      shapes.add_along(actuator.direction, robot.rest_points[extent(actuator.first_point)]);
    else if (actuator.kind == ActuatorKind::cable && actuator.friction == 0)
      shapes.add_path(actuator.rest_length, 1, actuator.pull_point);
    else if (actuator.kind == ActuatorKind::cavity && !actuator.volume.empty())
      shapes.add_volume(actuator.volume, 0, 1);
    else
      return std::nullopt;
  }
  for (const ConstraintRow& row : robot.constraints) add_constraint(row, shapes);
  return uploaded(device, shapes);
}

std::optional<RowProgram> spring_program(const Device& device, const Robot& robot) {
  const RowLayout layout = spring_layout(robot);
  Shapes shapes(layout);
  for (const ConstraintRow& spring : robot.springs) add_constraint(spring, shapes);
  return uploaded(device, shapes);
}

std::optional<RowProgram> effector_program(const Device& device, const Robot& robot) {
  const RowLayout layout = effector_layout(robot);
  Shapes shapes(layout);
  for (const Effector& effector : robot.effectors) {
    if (effector.kind == EffectorKind::position)
      for (const Vec3d& direction : effector.directions) shapes.add_along(direction, {{0, 0, 0}});
    else if (effector.kind == EffectorKind::length)
      shapes.add_path(effector.rest_length, 1, effector.pull_point);
    else if (effector.kind == EffectorKind::volume && !effector.volume.empty())
      shapes.add_volume(effector.volume, effector.rest_volume, effector.rest_area);
    else
      return std::nullopt;
  }
  return uploaded(device, shapes);
}

void goal_values(const Robot& robot, std::span<const double> goals, std::span<double> values) {
  std::size_t row = 0;
  for (std::size_t k = 0; k < robot.effectors.size(); ++k) {
    const Effector& effector = robot.effectors[k];
    const Vec3d goal{{goals[3 * k], goals[3 * k + 1], goals[3 * k + 2]}};
    if (effector.kind == EffectorKind::position)
      for (const Vec3d& direction : effector.directions) values[row++] = dot(direction, goal);
    else
      values[row++] = effector.kind == EffectorKind::volume ? goal[0] / effector.rest_area : goal[0];
  }
}

}  // namespace supple

#include "viewer/draw/constraint_drawing.hpp"

#include <cmath>

#include "engine/model/joint_values.hpp"
#include "kernels/contact/proximity.hpp"
#include "viewer/draw/shapes.hpp"

namespace supple::view {

namespace {

constexpr Colour constraint_colour{0.10f, 0.50f, 0.45f, 1}, idle_limit_colour{0.45f, 0.62f, 0.60f, 1};
// In sizes of the robot.
constexpr double rod = 0.004, thin_rod = 0.0015, patch = 0.02, patch_thickness = 0.002, zigzag = 0.012, joint = 0.008;
constexpr int turns = 9;

Vec3d point_of(std::span<const double> y, int point) {
  const auto at = 3 * static_cast<std::size_t>(point);
  return {{y[at], y[at + 1], y[at + 2]}};
}

void add_zigzag(const Vec3d& a, const Vec3d& b, double height, double radius, Surfaces& surfaces) {
  const double length = norm(b - a);
  if (!(length > 0)) return;
  const Mat3d frame = frame_on((1 / length) * (b - a));
  const Vec3d side{{frame(1, 0), frame(1, 1), frame(1, 2)}};
  std::vector<Vec3d> path{a};
  for (int k = 0; k < 2 * turns; ++k)
    path.push_back(a + ((k + 0.5) / (2 * turns)) * (b - a) + (k % 2 == 0 ? height : -height) * side);
  path.push_back(b);
  add_tube(path, radius, constraint_colour, surfaces);
}

// One direction of what keeps two points together: a ball on each, and between them a rod or a zigzag.
void draw_joint(const Vec3d& a, const Vec3d& b, bool soft, double size, DrawList& list) {
  for (const Vec3d& x : {a, b}) add_ball(x, joint * size, constraint_colour, list.solid);
  if (soft)
    add_zigzag(a, b, zigzag * size, thin_rod * size, list.solid);
  else
    add_rod(a, b, rod * size, constraint_colour, list.solid);
}

// `force` of the row; springs as forces have none of their own. axes: of its points, and of what it fixes in space.
void draw_row(const ConstraintRow& row, double force, double size, std::span<const double> y, const Pose& axes,
              DrawList& list) {
  const auto at = [&](int k) { return axes(point_of(y, row.first_point + k)); };
  if (is_joint_value(row)) {
    // Of a slider or a hinge, its travel or axis; the rest of a joint is at its points.
    if (row.value == ConstraintRow::Value::slide) add_rod(at(1), at(2), thin_rod * size, constraint_colour, list.solid);
    return;
  }
  if (row.value == ConstraintRow::Value::along) {
    if (!(norm(row.direction) > 0)) return;  // a row that all modes of a reduced model obey
    if (row.point_count > 1) return draw_joint(at(0), at(1), row.compliance > 0, size, list);
    // The patch is where the point is to be, and a rod leads there from where it is.
    const Vec3d direction = axes.rotation * row.direction, half = (0.5 * patch_thickness * size) * direction,
                kept = at(0) - dot(direction, at(0) - axes(row.place)) * direction;
    add_rod(kept - half, kept + half, patch * size, constraint_colour, list.solid);
    add_rod(kept, at(0), thin_rod * size, constraint_colour, list.solid);
    return;
  }
  std::vector<Vec3d> path;
  for (int k = 0; k < row.point_count; ++k) path.push_back(at(k));
  if (row.anchor) path.push_back(axes(*row.anchor));
  const bool idle = row.one_sided && force == 0;
  const double radius = (idle || row.compliance > 0 ? thin_rod : rod) * size;
  if (row.compliance > 0 && !row.one_sided)
    for (std::size_t k = 1; k < path.size(); ++k) add_zigzag(path[k - 1], path[k], zigzag * size, radius, list.solid);
  else
    add_tube(path, radius, idle ? idle_limit_colour : constraint_colour, list.solid);
}

}  // namespace

void draw_constraints(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list) {
  const Robot& robot = shape.robot();
  const auto draw = [&](const ConstraintRow& row, double force) {
    Pose axes = shape.axes(row.first_point, drawn.state);
    axes.position = axes.position + offset;
    draw_row(row, force, shape.extent(), drawn.y, axes, list);
  };
  const std::size_t first = robot.actuators.size();
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    draw(robot.constraints[k], drawn.state.multipliers[first + k]);
  for (const ConstraintRow& spring : robot.springs) draw(spring, 0);
}

}  // namespace supple::view

#include "viewer/draw/constraint_drawing.hpp"

#include <cmath>

#include "kernels/points/proximity.hpp"
#include "viewer/draw/shapes.hpp"

namespace supple::view {

namespace {

constexpr Colour constraint_colour{0.10f, 0.50f, 0.45f, 1}, idle_limit_colour{0.45f, 0.62f, 0.60f, 1};
// In sizes of the robot.
constexpr double rod = 0.004, thin_rod = 0.0015, patch = 0.02, patch_thickness = 0.002, zigzag = 0.012;
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

// `force` of the row; springs as forces have none of their own.
void draw_row(const ConstraintRow& row, double force, double size, std::span<const double> y, const Vec3d& offset,
              DrawList& list) {
  if (row.value == ConstraintRow::Value::along) {
    if (!(norm(row.direction) > 0)) return;  // a row that all modes of a reduced model obey
    // The patch is where the point is to be, and a rod leads there from where it is.
    const Vec3d at = point_of(y, row.first_point), half = (0.5 * patch_thickness * size) * row.direction,
                kept = at - dot(row.direction, at - row.place) * row.direction + offset;
    add_rod(kept - half, kept + half, patch * size, constraint_colour, list.solid);
    add_rod(kept, at + offset, thin_rod * size, constraint_colour, list.solid);
    return;
  }
  std::vector<Vec3d> path;
  for (int k = 0; k < row.point_count; ++k) path.push_back(point_of(y, row.first_point + k) + offset);
  if (row.anchor) path.push_back(*row.anchor + offset);
  const bool idle = row.one_sided && force == 0;
  const double radius = (idle || row.compliance > 0 ? thin_rod : rod) * size;
  if (row.compliance > 0 && !row.one_sided)
    for (std::size_t k = 1; k < path.size(); ++k) add_zigzag(path[k - 1], path[k], zigzag * size, radius, list.solid);
  else
    add_tube(path, radius, idle ? idle_limit_colour : constraint_colour, list.solid);
}

}  // namespace

void draw_constraints(const RobotShape& shape, const Pose& pose, const Vec3d& offset, DrawList& list) {
  const Robot& robot = shape.robot();
  const std::size_t first = robot.actuators.size();
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    draw_row(robot.constraints[k], pose.state.multipliers[first + k], shape.extent(), pose.y, offset, list);
  for (const ConstraintRow& spring : robot.springs) draw_row(spring, 0, shape.extent(), pose.y, offset, list);
}

}  // namespace supple::view

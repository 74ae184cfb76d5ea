#include "engine/reduction/snapshots/pushes.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/extent.hpp"

namespace supple {

Push push_of(const Robot& robot, const Sample& sample) {
  Push push{robot.first_collision_point, {}};
  const std::span<const double> numbers = push_numbers(robot, sample);
  if (numbers.empty()) return push;
  push.point += std::clamp(static_cast<int>(numbers[0] * robot.collision_points), 0, robot.collision_points - 1);
  const Vec3d place{{numbers[1], numbers[2], numbers[3]}};
  const double length = norm(place);
  if (length == 0) return push;
  // Cubes around the centre hold as many samples as their volume: a cube of half the edge an eighth.
  const double edge = std::max({std::abs(place[0]), std::abs(place[1]), std::abs(place[2])}) / robot.pushes;
  push.force = (robot.pushes * edge * edge * edge / length) * place;
  return push;
}

std::vector<double> load_of(const Mechanics& mechanics, const Sample& sample) {
  const Push push = push_of(mechanics.robot(), sample);
  if (norm(push.force) == 0) return {};
  std::vector<double> load(extent(mechanics.coordinates().nv), 0.0);
  const PointRows at{{push.point}, {Mat3d::identity()}};
  mechanics.add_row_forces(at, std::span<const double>(push.force.v, 3), load);
  return load;
}

}  // namespace supple

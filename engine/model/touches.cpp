#include "engine/model/touches.hpp"

#include <algorithm>
#include <utility>

#include "kernels/base/extent.hpp"

namespace supple {

std::vector<Touch> touches(const Robot& robot, const State& state, std::span<const double> y,
                           std::span<const double> before, int b) {
  std::vector<Touch> found;
  const int obstacles = static_cast<int>(robot.obstacles.size()), pairs = robot.pairs();
  if (pairs == 0 || state.contact_forces.size() != extent(state.robots, pairs, 3)) return found;
  const auto vector_at = [](std::span<const double> values, std::size_t i) {
    return Vec3d{{values[3 * i], values[3 * i + 1], values[3 * i + 2]}};
  };
  for (int pair = 0; pair < pairs; ++pair) {
    Touch touch;
    touch.force = vector_at(state.contact_forces, extent(b, pairs) + extent(pair));
    if (touch.force == Vec3d{{0, 0, 0}}) continue;
    touch.point = pair / obstacles;
    touch.obstacle = pair % obstacles;
    const std::size_t point =
        extent(b, static_cast<int>(robot.rest_points.size())) + extent(robot.first_collision_point + touch.point);
    const PlacedObstacle& placed = robot.obstacles[extent(touch.obstacle)];
    touch.at = vector_at(y, point);
    const Vec3d normal = placed.obstacle.at(placed.pose, touch.at).normal;
    touch.normal_force = dot(touch.force, normal);
    if (!before.empty()) {
      // Along the obstacle where the step began, as the step's laws have it.
      const Vec3d from = vector_at(before, point), n = placed.obstacle.at(placed.pose, from).normal;
      touch.slip = norm(across(n) * (touch.at - from));
      touch.sliding = touch.slip > stuck_slip;
    }
    found.push_back(touch);
  }
  return found;
}

std::vector<BodyTouch> body_touches(const Robot& robot, const State& state) {
  std::vector<BodyTouch> found;
  if (!robot.surfaces) return found;
  for (std::size_t k = 0; k + 5 <= state.surface_forces.size(); k += 5) {
    const double* of = state.surface_forces.data() + k;
    const int a = robot.surfaces->feature(static_cast<std::uint32_t>(of[0])).surface,
              b = robot.surfaces->feature(static_cast<std::uint32_t>(of[1])).surface;
    if (a < 0 || b < 0) continue;
    const Vec3d force = (a <= b ? 1.0 : -1.0) * Vec3d{{of[2], of[3], of[4]}};
    const int first = std::min(a, b), second = std::max(a, b);
    auto at = std::ranges::find_if(found, [&](const BodyTouch& t) { return t.first == first && t.second == second; });
    if (at == found.end()) {
      found.push_back({first, second, {{0, 0, 0}}, 0});
      at = found.end() - 1;
    }
    at->force = at->force + force;
    ++at->contacts;
  }
  std::ranges::sort(found, {}, [](const BodyTouch& t) { return std::pair(t.first, t.second); });
  return found;
}

std::vector<double> normal_forces(const Robot& robot, std::span<const Touch> touches) {
  std::vector<double> sums(robot.obstacles.size(), 0.0);
  for (const Touch& touch : touches) sums[extent(touch.obstacle)] += touch.normal_force;
  return sums;
}

}  // namespace supple

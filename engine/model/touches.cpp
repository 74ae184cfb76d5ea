#include "engine/model/touches.hpp"

#include <algorithm>
#include <utility>

#include "engine/collision/simplex_distance.hpp"
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

void add_touch(std::vector<BodyTouch>& touches, int first, int second, const Vec3d& force) {
  auto at = std::ranges::find_if(touches, [&](const BodyTouch& t) { return t.first == first && t.second == second; });
  if (at == touches.end()) {
    touches.push_back({first, second, {{0, 0, 0}}, 0});
    at = touches.end() - 1;
  }
  at->force = at->force + force;
  ++at->contacts;
}

std::vector<BodyTouch> body_touches(const Robot& robot, const State& state, int b) {
  std::vector<BodyTouch> found;
  if (!robot.surfaces || state.surface_forces.empty()) return found;
  for (const SurfaceForce& of : state.surface_forces[extent(b)]) {
    const int one = robot.surfaces->feature(of.first).surface, other = robot.surfaces->feature(of.second).surface;
    if (one < 0 || other < 0) continue;
    const Vec3d force = (one <= other ? 1.0 : -1.0) * Vec3d{{of.force[0], of.force[1], of.force[2]}};
    add_touch(found, std::min(one, other), std::max(one, other), force);
  }
  std::ranges::sort(found, {}, [](const BodyTouch& t) { return std::pair(t.first, t.second); });
  return found;
}

std::vector<Press> presses(const Robot& robot, const State& state, std::span<const double> y, int b) {
  std::vector<Press> found;
  if (!robot.surfaces || state.surface_forces.empty()) return found;
  const SurfaceSet& set = *robot.surfaces;
  const std::span<const double> x = y.subspan(
      extent(3, b * static_cast<int>(robot.rest_points.size()) + robot.first_surface_point), extent(3, set.vertices()));
  const Positions now{x, x};
  for (const SurfaceForce& of : state.surface_forces[extent(b)]) {
    const SurfaceFeature first = set.feature(of.first), second = set.feature(of.second);
    if (first.surface < 0 || second.surface < 0) continue;
    if (first.points + second.points > 4) continue;  // two faces: no pair of a step
    const Simplex on = set.simplex(second, now);
    const ClosestPoints near = closest_points(set.simplex(first, now), on);
    Press press{.force = {{of.force[0], of.force[1], of.force[2]}}};
    for (int k = 0; k < on.count; ++k) press.at = press.at + near.b[extent(k)] * on.x[extent(k)];
    found.push_back(press);
  }
  return found;
}

std::vector<double> normal_forces(const Robot& robot, std::span<const Touch> touches) {
  std::vector<double> sums(robot.obstacles.size(), 0.0);
  for (const Touch& touch : touches) sums[extent(touch.obstacle)] += touch.normal_force;
  return sums;
}

}  // namespace supple

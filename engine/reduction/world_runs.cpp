#include "engine/reduction/world_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "engine/step/forward_step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

WorldMoment moment_of(AssemblyRobot& robot, const State& state) {
  WorldMoment now;
  const Robot& whole = robot.mechanics().robot();
  std::vector<double> y(extent(whole.outputs()));
  robot.mechanics().outputs_elsewhere(state.q, state.motions, y);
  const auto add = [&](int point) {
    now.goals.push_back({{y[extent(3, point)], y[extent(3, point) + 1], y[extent(3, point) + 2]}});
  };
  for (const Effector& effector : whole.effectors) add(effector.point);
  if (whole.effectors.empty())
    for (const NamedPoint& point : whole.reported_points()) add(point.point);
  const AssemblyMechanics& mechanics = robot.mechanics();
  for (int rigid = 0; rigid < static_cast<int>(robot.scene().rigids.size()); ++rigid)
    if (mechanics.assembly().frames[extent(robot.frame_of_rigid(rigid))].hold == Assembly::Hold::free)
      now.goals.push_back(robot.rigid_pose(rigid, state.q, state.motions).position);
  for (int part = 0; part < static_cast<int>(robot.scene().parts.size()); ++part) {
    const std::vector<Vec3d> skin = robot.part_skin(part, state.q, state.motions);
    now.skin.insert(now.skin.end(), skin.begin(), skin.end());
  }
  now.touches = body_touches(whole, state);
  const int obstacles = static_cast<int>(whole.obstacles.size());
  for (int pair = 0; pair < whole.pairs(); ++pair) {
    const double* f = state.contact_forces.data() + extent(3, pair);
    const Vec3d force{{f[0], f[1], f[2]}};
    if (force == Vec3d{{0, 0, 0}}) continue;
    // Parts and frames have numbers of their own.
    const Assembly::Point& at = mechanics.assembly().collision_points[extent(pair / obstacles)];
    const int obstacle = -1 - pair % obstacles,
              body = at.body >= 0 ? at.body : static_cast<int>(mechanics.assembly().bodies.size()) + at.frame;
    add_touch(now.touches, obstacle, body, force);
  }
  return now;
}

RanWorld run_world(AssemblyRobot& robot, const VariedCommands& commands, int every,
                   const std::function<void(const State&, bool kept)>& visit) {
  AssemblyMechanics& mechanics = robot.mechanics();
  const double h = robot.scene().time_step;
  ForwardStep step(mechanics, robot.scene().integrator, h);
  State state = rest_state(mechanics);
  visit(state, true);
  RanWorld ran;
  const auto steps = static_cast<long>(std::llround(commands.end() / h));
  for (long k = 1; k <= steps; ++k) {
    const Control control = control_of(mechanics.robot(), commands.at(h * static_cast<double>(k)));
    const auto begun = std::chrono::steady_clock::now();
    ran.status = step.step(control, state).status;
    ran.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    if (ran.status != StepStatus::ok) {
      ran.failed_at = h * static_cast<double>(k);
      break;
    }
    visit(state, k % every == 0 || k == steps);
  }
  return ran;
}

TouchWeights::TouchWeights(AssemblyRobot& robot) : robot_(robot) {
  const Robot& whole = robot.mechanics().robot();
  at_obstacles_.assign(extent(whole.collision_points), Mat3d{});
  if (!whole.surfaces) return;
  search_.emplace(*whole.surfaces, SearchSettings{.depth = whole.contact_distance});  // as in a step
  for (int s = 0; s < whole.surfaces->size(); ++s)
    sums_.emplace_back(extent(whole.surfaces->surface(s).vertices()), Mat3d{});
}

void TouchWeights::add(const State& state) {
  ++states_;
  AssemblyMechanics& mechanics = robot_.mechanics();
  const Robot& whole = mechanics.robot();
  if (!whole.touches()) return;
  std::vector<double> y(extent(whole.outputs()));
  mechanics.outputs_elsewhere(state.q, state.motions, y);
  // n, of unit length in the world, of a point of a body.
  const auto weight = [&](const Assembly::Point& at, const Vec3d& normal, double along) {
    const Vec3d n = transpose(mechanics.body_pose(at.body, state.q, state.motions).rotation) * normal;
    return touch_weight(n, along);
  };
  for (int k = 0; k < whole.collision_points; ++k) {
    const Assembly::Point& at = mechanics.assembly().collision_points[extent(k)];
    const FullModel* full = at.body < 0 ? nullptr : robot_.full(at.body);
    if (full == nullptr) continue;
    // Those that press are at the distance; what is near them will be when the contact moves.
    const double near = whole.contact_distance + touching_distance(*full, whole.contact_distance);
    const double* x = y.data() + extent(3, whole.first_collision_point + k);
    for (const PlacedObstacle& placed : whole.obstacles) {
      const Proximity found = placed.obstacle.at(placed.pose, {{x[0], x[1], x[2]}}, near);
      if (found.feature == Feature::none || found.gap > near) continue;
      at_obstacles_[extent(k)] = at_obstacles_[extent(k)] + weight(at, found.normal, placed.friction * placed.friction);
    }
  }
  if (!search_) return;
  const std::span<const double> x =
      std::span<const double>(y).subspan(extent(3, whole.first_surface_point), extent(3, whole.surfaces->vertices()));
  for (const FeaturePair& pair : search_->pairs(x, x, 2 * whole.contact_distance)) {
    const double along =
        whole.surface_friction[extent(pair.a.surface)] * whole.surface_friction[extent(pair.b.surface)];
    for (std::size_t k = 0; k < 4 && pair.vertices[k] >= 0; ++k) {
      const int surface = pair.weights[k] > 0 ? pair.a.surface : pair.b.surface;
      const Assembly::BodySurface& body = mechanics.assembly().surfaces[extent(surface)];
      const int vertex = pair.vertices[k] - whole.surfaces->placed(surface).first_vertex;
      const Assembly::Point& at = body.vertices[extent(vertex)];
      if (at.body < 0) continue;
      Mat3d& sum = sums_[extent(surface)][extent(vertex)];
      sum = sum + std::abs(pair.weights[k]) * weight(at, pair.normal, along);
    }
  }
}

PointWeights TouchWeights::of(const std::vector<int>& parts) const {
  PointWeights weights;
  const PartSkin& skin = robot_.touching_skin(parts.front());
  const Robot& own = robot_.full(parts.front())->robot;
  weights.point.resize(skin.surface.nodes.size() + extent(own.collision_points));
  weights.weight.resize(weights.point.size());
  const auto at_obstacles = static_cast<std::ptrdiff_t>(skin.surface.nodes.size());
  std::iota(weights.point.begin(), weights.point.begin() + at_obstacles, skin.first_output);
  std::iota(weights.point.begin() + at_obstacles, weights.point.end(), own.first_collision_point);
  const double share = 1.0 / std::max(1, states_);
  const std::vector<Assembly::BodySurface>& surfaces = robot_.mechanics().assembly().surfaces;
  for (std::size_t s = 0; s < sums_.size(); ++s) {
    const int body = surfaces[s].vertices.empty() ? -1 : surfaces[s].vertices.front().body;
    if (std::ranges::find(parts, body) == parts.end()) continue;
    for (std::size_t v = 0; v < sums_[s].size(); ++v) weights.weight[v] = weights.weight[v] + share * sums_[s][v];
  }
  for (std::size_t k = 0; k < at_obstacles_.size(); ++k) {
    const Assembly::Point& at = robot_.mechanics().assembly().collision_points[k];
    if (std::ranges::find(parts, at.body) == parts.end()) continue;
    Mat3d& sum = weights.weight[skin.surface.nodes.size() + extent(at.output - own.first_collision_point)];
    sum = sum + share * at_obstacles_[k];
  }
  for (const Mat3d& weight : weights.weight) weights.touching += trace(weight) > 0 ? 1 : 0;
  return weights;
}

}  // namespace supple

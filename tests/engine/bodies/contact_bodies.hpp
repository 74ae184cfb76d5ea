#pragma once
// Bodies among obstacles for the tests of contact in the time step.

#include <algorithm>

#include "engine/mesh/boundary.hpp"
#include "tests/engine/bodies/boxes.hpp"
#include "tests/engine/bodies/hosted.hpp"

namespace supple::contact_bodies {

// Every free node of the boundary becomes a collision point of these obstacles.
inline void place_among(FullModel& model, std::vector<PlacedObstacle> obstacles, double distance = 0) {
  Robot& robot = model.robot;
  robot.obstacles = std::move(obstacles);
  robot.contact_distance = distance;
  robot.first_collision_point = static_cast<int>(robot.rest_points.size());
  for (int node : boundary_surface(model.mesh).mesh_node) {
    if (model.node_unknown[static_cast<std::size_t>(node)] < 0) continue;
    model.interpolation.push_back({{node}, {1}});
    robot.rest_points.push_back(model.mesh.nodes[static_cast<std::size_t>(node)]);
    ++robot.collision_points;
  }
}

// z <= 0 is solid.
inline PlacedObstacle floor(double friction = 0) {
  return {.name = "floor", .obstacle = Obstacle::plane(), .pose = {}, .friction = friction};
}

// Least gap of the collision points of `state` minus the contact distance [m].
inline double least_gap(Mechanics& mechanics, const State& state) {
  const Robot& robot = mechanics.robot();
  std::vector<double> y(static_cast<std::size_t>(state.robots) * static_cast<std::size_t>(robot.outputs()));
  test::Hosted(mechanics).evaluate_outputs(state.q, state.motions, y);
  double least = 1e9;
  for (int b = 0; b < state.robots; ++b)
    for (int p = 0; p < robot.collision_points; ++p) {
      const double* x = y.data() + b * robot.outputs() + 3 * (robot.first_collision_point + p);
      for (const PlacedObstacle& obstacle : robot.obstacles)
        least = std::min(least, obstacle.obstacle.at(obstacle.pose, {{x[0], x[1], x[2]}}).gap);
    }
  return least - robot.contact_distance;
}

// Sum of the forces on robot 0 [N].
inline Vec3d total_force(const State& state) {
  Vec3d sum{{0, 0, 0}};
  for (std::size_t i = 0; i < state.contact_forces.size() / static_cast<std::size_t>(state.robots); ++i)
    sum[static_cast<int>(i % 3)] += state.contact_forces[i];
  return sum;
}

// Mean velocity by mass of the free nodes [m/s].
inline Vec3d mean_velocity(const FullMechanics& mechanics, const State& state) {
  std::vector<double> Mv(state.v.size());
  mechanics.inertia(state.v, {}, Mv);
  Vec3d sum{{0, 0, 0}};
  for (std::size_t i = 0; i < Mv.size(); ++i) sum[static_cast<int>(i % 3)] += Mv[i];
  return (1 / mechanics.model().total_mass) * sum;
}

}  // namespace supple::contact_bodies

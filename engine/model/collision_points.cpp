#include "engine/model/collision_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "engine/mesh/boundary.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/place_points.hpp"

namespace supple {

namespace {

// Lengths that differ by less, relatively, are equal: what a machine's rounding is shall not choose points.
constexpr double equal_lengths = 1e-9;

// Across, of the body's diagonal. Beyond them the unit of a collision surface is wrong.
constexpr double smallest_surface = 0.005, largest_surface = 100;

Obstacle shape_of(const ObstacleScene& scene) {
  const auto side = scene.inside ? Obstacle::Side::inside : Obstacle::Side::outside;
  switch (scene.shape) {
    case ObstacleShape::plane:
      return Obstacle::plane();
    case ObstacleShape::sphere:
      return Obstacle::sphere(scene.radius, side);
    case ObstacleShape::capsule:
      return Obstacle::capsule(scene.radius, scene.length, side);
    case ObstacleShape::box:
      return Obstacle::box(scene.size, side);
    case ObstacleShape::cylinder:
      return Obstacle::cylinder(scene.radius, scene.length, side);
    case ObstacleShape::tube:
      return Obstacle::tube(scene.radius, scene.thickness, scene.length);
    case ObstacleShape::mesh:
      break;
  }
  if (!scene.surface) throw InputError("it has no surface", "surface = {file = \"obstacle.stl\", unit = \"mm\"}");
  return Obstacle::mesh(placed_surface(*scene.surface), side);
}

// How sharp the boundary is at each node of the mesh, in steps: s = 1 - |sum_f a_f n_f| / sum_f a_f over its faces
// there, a_f their angles, n_f their normals, is 0 on a plane, 0.29 on the edge of a box, 0.42 at its corner, however
// its sides are divided. 0 in a hollow too.
std::vector<int> sharpness(const Mesh& mesh) {
  const std::size_t n = mesh.nodes.size();
  std::vector<double> angles(n, 0.0);
  std::vector<Vec3d> normals(n, Vec3d{{0, 0, 0}}), around(n, Vec3d{{0, 0, 0}});
  for (const auto& triangle : triangles_of(boundary_faces(mesh))) {
    std::array<Vec3d, 3> x;
    for (std::size_t k = 0; k < 3; ++k) x[k] = mesh.nodes[static_cast<std::size_t>(triangle[k])];
    const Vec3d normal = normalized(cross(x[1] - x[0], x[2] - x[0]));
    for (std::size_t k = 0; k < 3; ++k) {
      const auto node = static_cast<std::size_t>(triangle[k]);
      const Vec3d a = x[(k + 1) % 3] - x[k], b = x[(k + 2) % 3] - x[k];
      const double angle = std::atan2(norm(cross(a, b)), dot(a, b));
      angles[node] += angle;
      normals[node] = normals[node] + angle * normal;
      around[node] = around[node] + normalized(a) + normalized(b);
    }
  }
  std::vector<int> steps(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (angles[i] > 0 && dot(normals[i], around[i]) < 0)
      steps[i] = static_cast<int>(std::lround(10 * (1 - norm(normals[i]) / angles[i])));
  return steps;
}

}  // namespace

PlacedObstacle place_obstacle(const ObstacleScene& scene) {
  const auto shape = [&] {
    try {
      return shape_of(scene);
    } catch (const InputError& error) {
      if (!error.place().file.empty()) throw;  // a surface file, by its line
      throw InputError(fmt::format("obstacle '{}': {}", scene.name, error.what()), error.suggestion(), scene.place);
    }
  };
  return {.name = scene.name,
          .obstacle = shape(),
          .pose = {rotation_matrix({scene.rotation, {{0, 0, 0}}, 1}), scene.position},
          .friction = scene.friction,
          .max_force = scene.max_force};
}

std::vector<Face> outer_faces(const Scene& scene, const FullModel& model) {
  const Mesh& mesh = model.mesh;
  std::vector<Face> faces = without_voids(mesh.nodes, boundary_faces(mesh));
  // Walls that only an edge connects to the outside.
  std::vector<const Region*> cavities;
  for (const ActuatorScene& actuator : scene.actuators)
    if (actuator.kind == ActuatorKind::cavity && actuator.region) cavities.push_back(&*actuator.region);
  for (const EffectorScene& effector : scene.effectors)
    if (effector.kind == EffectorKind::volume && effector.region) cavities.push_back(&*effector.region);
  for (const Region* region : cavities) {
    const std::vector<int> walls = nodes_in(*region, mesh);
    std::erase_if(faces, [&](const Face& face) {
      return std::ranges::all_of(face.all_nodes(), [&](int node) { return std::ranges::binary_search(walls, node); });
    });
  }
  return faces;
}

std::vector<int> outer_nodes(const Scene& scene, const FullModel& model) {
  std::vector<bool> wanted(model.mesh.nodes.size(), false);
  for (const Face& face : outer_faces(scene, model))
    for (const int node : face.all_nodes()) wanted[static_cast<std::size_t>(node)] = true;
  std::vector<int> nodes = nodes_in(scene.contact.region, model.mesh);
  std::erase_if(nodes, [&](int node) {
    const auto i = static_cast<std::size_t>(node);
    return !wanted[i] || model.node_unknown[i] < 0;
  });
  return nodes;
}

std::vector<Vec3d> surface_corners(const SurfaceScene& scene, double size) {
  const Surface surface = placed_surface(scene);
  std::vector<bool> used(surface.nodes.size(), false);
  for (const auto& triangle : surface.triangles)
    for (const int corner : triangle) used[static_cast<std::size_t>(corner)] = true;
  std::vector<Vec3d> corners;
  std::set<std::array<double, 3>> places;
  Vec3d lower = surface.nodes[static_cast<std::size_t>(surface.triangles.front()[0])], upper = lower;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Vec3d& x = surface.nodes[i];
    if (!used[i] || !places.insert({x[0], x[1], x[2]}).second) continue;
    corners.push_back(x);
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
  }
  const double extent = norm(upper - lower);
  if (extent < smallest_surface * size || extent > largest_surface * size)
    throw InputError(
        fmt::format("the collision surface is {:.3g} mm across, the body {:.3g} mm", 1e3 * extent, 1e3 * size),
        "the unit of its file, as in surface = {file = \"skin.stl\", unit = \"mm\"}, or its scale", scene.place);
  return corners;
}

std::vector<Vec3d> points_in(const Region& region, const std::vector<Vec3d>& points) {
  Mesh mesh;
  mesh.nodes = points;
  std::vector<Vec3d> chosen;
  for (const int point : nodes_in(region, mesh)) chosen.push_back(points[static_cast<std::size_t>(point)]);
  return chosen;
}

std::vector<int> spaced_nodes(const Mesh& mesh, const std::vector<int>& nodes, double spacing) {
  if (!(spacing > 0)) return nodes;
  const auto x = [&](std::size_t i) { return mesh.nodes[static_cast<std::size_t>(nodes[i])]; };
  const std::vector<int> sharp = sharpness(mesh);
  // The first is the one furthest from the middle.
  Vec3d middle{{0, 0, 0}};
  for (std::size_t i = 0; i < nodes.size(); ++i) middle = middle + (1 / static_cast<double>(nodes.size())) * x(i);
  std::vector<double> distance(nodes.size());  // to what is taken
  for (std::size_t i = 0; i < nodes.size(); ++i) distance[i] = spacing + norm(x(i) - middle);
  std::vector<int> taken;
  for (int level = *std::max_element(sharp.begin(), sharp.end()); level >= 0; --level)
    for (;;) {
      std::size_t best = nodes.size();
      double furthest = (1 - equal_lengths) * spacing;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (sharp[static_cast<std::size_t>(nodes[i])] < level || !(distance[i] > furthest)) continue;
        best = i;
        furthest = (1 + equal_lengths) * distance[i];
      }
      if (best == nodes.size()) break;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const double away = norm(x(i) - x(best));
        distance[i] = taken.empty() ? away : std::min(distance[i], away);
      }
      taken.push_back(nodes[best]);
    }
  std::sort(taken.begin(), taken.end());
  return taken;
}

std::vector<std::string> notes_on_contact(const Robot& robot) {
  std::vector<std::string> notes;
  for (const PlacedObstacle& placed : robot.obstacles) {
    int near = 0;
    double deepest = 0;
    Vec3d where{{0, 0, 0}};
    for (int p = 0; p < robot.collision_points; ++p) {
      const Vec3d& x = robot.rest_points[static_cast<std::size_t>(robot.first_collision_point + p)];
      const double depth = robot.contact_distance - placed.obstacle.at(placed.pose, x, robot.contact_distance).gap;
      if (!(depth > equal_lengths * norm(x - placed.pose.position))) continue;  // it may well lie on the obstacle
      ++near;
      if (depth <= deepest) continue;
      deepest = depth;
      where = x;
    }
    if (near > 0)
      notes.push_back(fmt::format(
          "{} of {} collision points are too near to obstacle '{}' at rest, the one at ({:.4g}, {:.4g}, "
          "{:.4g}) mm by {:.3g} mm: the first steps push the body away",
          near, robot.collision_points, placed.name, 1e3 * where[0], 1e3 * where[1], 1e3 * where[2], 1e3 * deepest));
  }
  return notes;
}

}  // namespace supple

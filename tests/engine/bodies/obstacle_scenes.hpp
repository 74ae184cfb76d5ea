#pragma once
// Obstacles of every shape around the bar of reduced_bodies.hpp, none of which it enters at rest.

#include <fstream>

#include "engine/mesh/boundary.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::obstacle_scenes {

inline ObstacleScene obstacle(const std::string& name, ObstacleShape shape, const Vec3d& position) {
  ObstacleScene obstacle;
  obstacle.name = name;
  obstacle.shape = shape;
  obstacle.position = position;
  return obstacle;
}

inline ObstacleScene floor(double height) {
  return obstacle("floor", ObstacleShape::plane, {{0, 0, height}});
}

// `file`: of a surface, not empty.
inline std::vector<ObstacleScene> all_shapes(const std::string& file) {
  std::vector<ObstacleScene> all{floor(-0.02)};
  all[0].rotation = {{0.1, -0.05, 0}};
  all[0].friction = 0.5;
  all.push_back(obstacle("ball", ObstacleShape::sphere, {{0.4, 0, 0}}));
  all[1].radius = 0.05;
  all.push_back(obstacle("pipe", ObstacleShape::capsule, {{0.1, 0.05, 0.05}}));
  all[2].radius = 0.3;
  all[2].length = 0.1;
  all[2].rotation = {{0, 1.5, 0}};
  all[2].inside = true;
  all.push_back(obstacle("room", ObstacleShape::box, {{0, 0, 0}}));
  all[3].size = {{1, 2, 3}};
  all[3].inside = true;
  all.push_back(obstacle("post", ObstacleShape::cylinder, {{0.15, 0.3, 0}}));
  all[4].radius = 0.02;
  all[4].length = 0.5;
  all[4].friction = 1.5;
  all.push_back(obstacle("rock", ObstacleShape::mesh, {{0.2, -0.3, 0}}));
  all[5].surface = SurfaceScene{file, 1e-3, {}};
  all[5].surface->transform.rotation = {{0, 0, 0.3}};
  all[5].rotation = {{0.3, 0.2, 0.1}};
  all.push_back(obstacle("hose", ObstacleShape::tube, {{0.15, 0.05, 0.05}}));
  all[6].radius = 0.2;
  all[6].thickness = 0.03;
  all[6].length = 0.4;
  all[6].rotation = {{0.1, 1.4, 0}};
  all[6].max_force = 2;
  return all;
}

// A cube of 100 mm round the origin, in mm.
inline void write_cube(const std::string& file) {
  std::ofstream stream(file);
  const Mesh cube = box_hexahedra({{-50, -50, -50}}, {{50, 50, 50}}, 1, 1, 1);
  for (const Vec3d& x : cube.nodes) stream << "v " << x[0] << " " << x[1] << " " << x[2] << "\n";
  for (const auto& t : triangles_of(boundary_faces(cube)))
    stream << "f " << t[0] + 1 << " " << t[1] + 1 << " " << t[2] + 1 << "\n";
}

}  // namespace supple::obstacle_scenes

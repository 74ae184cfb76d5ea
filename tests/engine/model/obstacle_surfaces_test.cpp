// Triangles of obstacles for pictures: where the distance to the obstacle is 0, closed, turned outwards.

#include "engine/model/obstacle_surfaces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/mesh/closed_surface.hpp"
#include "engine/mesh/mesh.hpp"

namespace supple {
namespace {

constexpr double pi = std::numbers::pi, r = 0.02, h = 0.03, t = 0.01;

Surface tetrahedron() {
  Surface surface;
  surface.nodes = {{{0, 0, 0}}, {{h, 0, 0}}, {{0, h, 0}}, {{0, 0, h}}};
  surface.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  return surface;
}

TEST(ObstacleSurfaces, LieOnTheObstacleAndEncloseIt) {
  const ObstaclePose pose{rotation_matrix({{{0.3, -0.8, 1.2}}, {{0, 0, 0}}, 1}), {{0.1, -0.2, 0.05}}};
  const std::pair<Obstacle, double> shapes[] = {{Obstacle::sphere(r), 4 * pi / 3 * r * r * r},
                                                {Obstacle::capsule(r, h), pi * r * r * (h + 4 * r / 3)},
                                                {Obstacle::capsule(r, 0), 4 * pi / 3 * r * r * r},
                                                {Obstacle::cylinder(r, h), pi * r * r * h},
                                                {Obstacle::tube(r, t, h), pi * ((r + t) * (r + t) - r * r) * h},
                                                {Obstacle::box({{r, h, t}}), r * h * t},
                                                {Obstacle::mesh(tetrahedron()), h * h * h / 6}};
  Robot robot;
  for (const auto& [obstacle, volume] : shapes) robot.obstacles.push_back({"", obstacle, pose});
  const std::vector<Surface> surfaces = obstacle_surfaces(robot, std::vector<Vec3d>{{{0, 0, 0}}});
  ASSERT_EQ(surfaces.size(), std::size(shapes));
  for (std::size_t k = 0; k < surfaces.size(); ++k) {
    for (const Vec3d& x : surfaces[k].nodes) EXPECT_NEAR(shapes[k].first.at(pose, x).gap, 0, 1e-12) << k;
    // Round shapes are polygons of 48 sides and 24 bands: 0.3 % and 0.6 % less.
    const double volume = enclosed_volume(surfaces[k].nodes, surfaces[k].triangles);
    EXPECT_LE(volume, shapes[k].second * (1 + 1e-9)) << k;
    EXPECT_GE(volume, shapes[k].second * 0.99) << k;
  }
}

TEST(ObstacleSurfaces, APlaneIsASquareAtTheRobot) {
  Robot robot;
  const Mat3d R = rotation_matrix({{{0, 0.4, 0}}, {{0, 0, 0}}, 1});
  robot.obstacles.push_back({"", Obstacle::plane(), {R, {{5, 0, -0.1}}}});
  const std::vector<Vec3d> skin{{{-0.1, 0, 0}}, {{0.1, 0.2, 0.1}}};
  const Surface square = obstacle_surfaces(robot, skin).front();
  Vec3d middle{{0, 0, 0}};
  for (const Vec3d& x : square.nodes) {
    EXPECT_NEAR(robot.obstacles[0].obstacle.at(robot.obstacles[0].pose, x).gap, 0, 1e-12);
    middle = middle + 0.25 * x;
  }
  const Vec3d way = Vec3d{{0, 0.1, 0.05}} - middle;  // along the normal
  EXPECT_NEAR(norm(way - dot(way, R * Vec3d{{0, 0, 1}}) * (R * Vec3d{{0, 0, 1}})), 0, 1e-12);
  const double size = norm(skin[1] - skin[0]);
  EXPECT_NEAR(norm(square.nodes[1] - square.nodes[0]), 2 * size, 1e-12);
}

}  // namespace
}  // namespace supple

// Small solids: closed, oriented outwards, normals of length one, and as large as they should be.

#include "viewer/draw/shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "engine/mesh/geometry.hpp"

namespace supple::view {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Colour red{1, 0, 0, 1};
constexpr int sectors = 16, bands = 8;

// Volume of a prism's base: the regular polygon in a circle of radius one.
double polygon() {
  return sectors / 2.0 * std::sin(2 * pi / sectors);
}

Vec3d position(const Surfaces& surfaces, std::size_t corner) {
  const auto& p = surfaces.vertices[surfaces.triangles[corner]].position;
  return {{p[0], p[1], p[2]}};
}

double volume(const Surfaces& surfaces) {
  double sum = 0;
  for (std::size_t t = 0; t < surfaces.triangles.size(); t += 3)
    sum += dot(position(surfaces, t), cross(position(surfaces, t + 1), position(surfaces, t + 2))) / 6;
  return sum;
}

// Every edge belongs to two triangles, which run along it in opposite directions; no triangle is without area.
void expect_closed(const Surfaces& surfaces) {
  using Point = std::array<float, 3>;
  std::map<std::pair<Point, Point>, int> edges;
  ASSERT_EQ(surfaces.triangles.size() % 3, 0u);
  for (std::size_t t = 0; t < surfaces.triangles.size(); t += 3) {
    for (std::size_t k = 0; k < 3; ++k) ASSERT_LT(surfaces.triangles[t + k], surfaces.vertices.size());
    for (std::size_t k = 0; k < 3; ++k) {
      const Point& a = surfaces.vertices[surfaces.triangles[t + k]].position;
      const Point& b = surfaces.vertices[surfaces.triangles[t + (k + 1) % 3]].position;
      EXPECT_NE(a, b);
      ++edges[{a, b}];
    }
  }
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ(edges.count({edge.second, edge.first}), 1u);
  }
}

// Normals are of length one and on the side of their triangles that is outside.
void expect_normals(const Surfaces& surfaces) {
  const auto normal = [&](std::size_t corner) {
    const auto& n = surfaces.vertices[surfaces.triangles[corner]].normal;
    return Vec3d{{n[0], n[1], n[2]}};
  };
  for (std::size_t t = 0; t < surfaces.triangles.size(); t += 3) {
    const Vec3d a = position(surfaces, t);
    const Vec3d area = cross(position(surfaces, t + 1) - a, position(surfaces, t + 2) - a);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(norm(normal(t + k)), 1, 3e-7);  // three floats
      EXPECT_GT(dot(normal(t + k), area), 0);
    }
  }
}

// Positions are floats: 1e-7 of the largest coordinate, on each of some edges of a small solid.
constexpr double single = 1e-5;

TEST(Shapes, Ball) {
  const double radius = 0.02;
  Surfaces surfaces;
  add_ball({{0.1, -0.05, 0.2}}, radius, red, surfaces);
  expect_closed(surfaces);
  expect_normals(surfaces);
  // Frustums between polygons in the circles of latitude.
  double expected = 0;
  for (int k = 0; k < bands; ++k) {
    const double a = std::sin(pi * k / bands), b = std::sin(pi * (k + 1) / bands);
    expected += polygon() * (std::cos(pi * k / bands) - std::cos(pi * (k + 1) / bands)) * (a * a + a * b + b * b) / 3;
  }
  expected *= radius * radius * radius;
  EXPECT_NEAR(volume(surfaces), expected, 20 * single * expected);  // the centre is 10 radii from the origin
  // The polyhedron in the ball: less by (2 pi / sectors)^2 / 6 across, and half of (pi / bands)^2 along.
  const double ball = 4 * pi / 3 * radius * radius * radius;
  EXPECT_LT(volume(surfaces), ball);
  EXPECT_GT(volume(surfaces), 0.89 * ball);
  for (const Vertex& vertex : surfaces.vertices) EXPECT_EQ(vertex.colour, red);
}

TEST(Shapes, Rod) {
  const Vec3d directions[] = {{{1, 0, 0}}, {{0, -1, 0}}, {{0, 0, 1}}, {{0, 0, -1}}, {{1, 2, -3}}};
  for (const Vec3d& direction : directions) {
    Surfaces surfaces;
    const Vec3d a{{0.01, 0.02, -0.01}};
    add_rod(a, a + 0.1 * normalized(direction), 0.01, red, surfaces);
    expect_closed(surfaces);
    expect_normals(surfaces);
    EXPECT_NEAR(volume(surfaces), polygon() * 1e-4 * 0.1, single * 1e-5);
  }
}

TEST(Shapes, ArrowEndsAtItsTip) {
  for (const double length : {1.0, 0.1, 0.02}) {  // thin, short, and shorter than its width
    Surfaces surfaces;
    const double radius = 0.01;
    add_arrow({{0, 0, 0}}, {{0, 0, length}}, radius, red, surfaces);
    expect_closed(surfaces);
    expect_normals(surfaces);
    const double head = std::min(length / 4, 8 * radius), wide = std::max(radius, 0.375 * head);
    const double expected = polygon() * (radius * radius * (length - head) + wide * wide * head / 3);
    EXPECT_NEAR(volume(surfaces), expected, single * expected * 10);
    float highest = 0;
    for (const Vertex& vertex : surfaces.vertices) highest = std::max(highest, vertex.position[2]);
    EXPECT_FLOAT_EQ(highest, static_cast<float>(length));
  }
}

TEST(Shapes, TubeIsRodsWithBallsAtItsBends) {
  const std::vector<Vec3d> path = {{{0, 0, 0}}, {{0.1, 0, 0}}, {{0.1, 0.1, 0}}, {{0.1, 0.1, 0.1}}};
  Surfaces tube, ball, rod;
  add_tube(path, 0.002, red, tube);
  add_ball(path[1], 0.002, red, ball);
  add_rod(path[0], path[1], 0.002, red, rod);
  EXPECT_EQ(tube.triangles.size(), 3 * rod.triangles.size() + 2 * ball.triangles.size());
  expect_normals(tube);
}

TEST(Shapes, NothingWhereThereIsNoLength) {
  Surfaces surfaces;
  const Vec3d a{{1, 2, 3}};
  add_rod(a, a, 0.1, red, surfaces);
  add_arrow(a, a, 0.1, red, surfaces);
  add_tube(std::vector<Vec3d>{a}, 0.1, red, surfaces);
  add_tube({}, 0.1, red, surfaces);
  add_triangle(a, 2.0 * a, 3.0 * a, red, surfaces);
  EXPECT_TRUE(surfaces.triangles.empty());
  EXPECT_TRUE(surfaces.vertices.empty());
}

TEST(Shapes, CellsAreClosedAndAsLargeAsTheirElements) {
  Mesh mesh;
  mesh.nodes = {{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}}, {{0, 0, 2}}, {{1, 0, 2}}, {{1, 1, 2}}, {{0, 1, 2}}};
  mesh.tetrahedra = {{0, 1, 3, 4}};
  mesh.hexahedra = {{0, 1, 2, 3, 4, 5, 6, 7}};
  for (int element = 0; element < 2; ++element) {
    std::array<int, 8> nodes;
    std::vector<Vec3d> corners;
    const int count = element_corners(mesh, element, nodes);
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      corners.push_back(mesh.nodes[static_cast<std::size_t>(nodes[k])]);
    Surfaces surfaces;
    add_cell(corners, red, surfaces);
    EXPECT_EQ(surfaces.triangles.size(), count == 4 ? 12u : 36u);
    expect_closed(surfaces);
    expect_normals(surfaces);
    EXPECT_NEAR(volume(surfaces), element_volume(mesh, element), 1e-15);  // small whole numbers
  }
}

TEST(NodeNormals, CountTrianglesByTheirArea) {
  // A pyramid without its base.
  const std::vector<Vec3d> nodes = {{{1, 1, 0}}, {{-1, 1, 0}}, {{-1, -1, 0}}, {{1, -1, 0}}, {{0, 0, 1}}, {{9, 9, 9}}};
  const std::vector<std::array<int, 3>> triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
  const auto normals = node_normals(nodes, triangles);
  ASSERT_EQ(normals.size(), nodes.size());
  EXPECT_LT(norm(normals[4] - Vec3d{{0, 0, 1}}), 1e-15);
  EXPECT_LT(norm(normals[0] - (1 / std::sqrt(6.0)) * Vec3d{{1, 1, 2}}), 1e-15);
  EXPECT_EQ(normals[5], (Vec3d{{0, 0, 1}}));  // of no triangle
  for (const Vec3d& normal : normals) EXPECT_NEAR(norm(normal), 1, 1e-15);
  // An area of 2 along z and one of 1/2 along y.
  const std::vector<Vec3d> bent = {{{0, 0, 0}}, {{2, 0, 0}}, {{0, 2, 0}}, {{0, 0, 1}}, {{1, 0, 0}}};
  EXPECT_LT(norm(node_normals(bent, std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 3, 4}})[0] -
                 normalized(Vec3d{{0, 0.5, 2}})),
            1e-15);
  // Opposite triangles leave none.
  EXPECT_EQ(node_normals(nodes, std::vector<std::array<int, 3>>{{0, 1, 4}, {1, 0, 4}})[0], (Vec3d{{0, 0, 1}}));
}

}  // namespace
}  // namespace supple::view

// Picking: the known triangle and place, from both sides, the nearest of several, and nothing beside them.

#include "viewer/draw/pick.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace supple::view {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

const std::vector<Vec3d> nodes = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{1, 1, 0}},
                                  {{0, 0, 1}}, {{1, 0, 1}}, {{0, 1, 1}}};

// A few operations on numbers about one.
constexpr double rounding = 1e-15;

TEST(Pick, TriangleWeightsAndDistance) {
  for (const double side : {1.0, -1.0}) {
    const auto hit = pick({{{0.2, 0.3, 2 * side}}, {{0, 0, -side}}}, nodes, Triangles{{0, 1, 2}});
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->triangle, 0);
    EXPECT_NEAR(hit->weights[0], 0.5, rounding);
    EXPECT_NEAR(hit->weights[1], 0.2, rounding);
    EXPECT_NEAR(hit->weights[2], 0.3, rounding);
    EXPECT_NEAR(hit->distance, 2, rounding);
  }
}

TEST(Pick, WeightsGiveThePointOnTheRay) {
  const std::vector<Vec3d> corners = {{{0.3, -2, 1}}, {{4, 0.7, -1}}, {{-1, 1.5, 0.4}}};
  const Ray ray{{{5, 6, 7}}, normalized(Vec3d{{-4.1, -5.9, -6.8}})};
  const auto hit = pick(ray, corners, Triangles{{0, 1, 2}});
  ASSERT_TRUE(hit);
  const Vec3d on_ray = ray.origin + hit->distance * ray.direction;
  const Vec3d on_triangle = hit->weights[0] * corners[0] + hit->weights[1] * corners[1] + hit->weights[2] * corners[2];
  EXPECT_LT(norm(on_ray - on_triangle), 1e-14);  // lengths about 10
  EXPECT_NEAR(hit->weights[0] + hit->weights[1] + hit->weights[2], 1, rounding);
}

TEST(Pick, NearestOfSeveral) {
  const Triangles layers = {{0, 1, 2}, {4, 5, 6}, {1, 3, 2}};
  const Vec3d down{{0, 0, -1}}, up{{0, 0, 1}};
  EXPECT_EQ(pick({{{0.2, 0.3, 3}}, down}, nodes, layers)->triangle, 1);
  EXPECT_EQ(pick({{{0.2, 0.3, -3}}, up}, nodes, layers)->triangle, 0);
  EXPECT_EQ(pick({{{0.2, 0.3, 0.5}}, down}, nodes, layers)->triangle, 0);  // the other is behind
  EXPECT_EQ(pick({{{0.8, 0.9, 3}}, down}, nodes, layers)->triangle, 2);
}

TEST(Pick, Misses) {
  const Triangles one = {{0, 1, 2}};
  const Vec3d down{{0, 0, -1}};
  EXPECT_FALSE(pick({{{0.6, 0.6, 1}}, down}, nodes, one));
  EXPECT_FALSE(pick({{{-0.01, 0.5, 1}}, down}, nodes, one));
  EXPECT_FALSE(pick({{{0.5, -0.01, 1}}, down}, nodes, one));
  EXPECT_FALSE(pick({{{0.2, 0.2, -1}}, down}, nodes, one));         // behind
  EXPECT_FALSE(pick({{{-1, 0.2, 0}}, {{1, 0, 0}}}, nodes, one));    // in its plane
  EXPECT_FALSE(pick({{{-1, 0.2, 0.1}}, {{1, 0, 0}}}, nodes, one));  // along it
  EXPECT_FALSE(pick({{{0, 0, 1}}, down}, nodes, Triangles{}));
}

TEST(Pick, TrianglesWithoutAreaAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Vec3d> flat = {{{0, 0, 0}},       {{1, 0, 0}},       {{0.5, 0, 0}},    {{0, 0, nan}},
                                   {{0.1, 0.7, 0.3}}, {{0.2, 1.4, 0.6}}, {{0.3, 2.1, 0.9}}};
  const Ray ray{{{0.5, 0, 1}}, {{0, 0, -1}}}, skew{{{1, 1, 1}}, normalized(Vec3d{{-0.8, 0.4, -0.4}})};
  EXPECT_FALSE(pick(ray, flat, Triangles{{0, 1, 2}, {0, 0, 1}, {1, 1, 1}, {0, 1, 3}}));
  // On one line but for rounding.
  EXPECT_FALSE(pick(skew, flat, Triangles{{4, 5, 6}}));
}

TEST(Pick, NoRaySlipsThroughAnEdge) {
  // The diagonal of a square that lies askew, between its two triangles.
  const Vec3d a{{0.1, 0.2, 0.3}}, u = normalized(Vec3d{{1, 2, -0.5}}), v = normalized(cross(u, Vec3d{{0.3, 1, 1}}));
  const std::vector<Vec3d> corners = {a, a + u, a + u + v, a + v};
  const Vec3d eye = a + Vec3d{{3, -2, 5}};
  for (int i = 1; i < 1000; ++i) {
    const Vec3d point = a + (i * 1e-3) * (u + v);
    EXPECT_TRUE(pick({eye, normalized(point - eye)}, corners, Triangles{{0, 1, 2}, {0, 2, 3}})) << i;
  }
}

}  // namespace
}  // namespace supple::view

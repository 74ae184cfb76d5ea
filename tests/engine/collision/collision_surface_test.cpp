// Features, neighbours and marks of surfaces, and the shapes.
#include "engine/collision/collision_surface.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/mesh/closed_surface.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

TEST(CollisionSurface, Box) {
  const CollisionSurface box = box_surface({{1, 2, 3}});
  EXPECT_TRUE(box.closed);
  EXPECT_EQ(box.edges.size(), 18u);
  EXPECT_EQ(std::count(box.skipped.begin(), box.skipped.end(), 1), 6);
  EXPECT_DOUBLE_EQ(enclosed_volume(box.rest, box.triangles), 6);
  EXPECT_TRUE(std::is_sorted(box.edges.begin(), box.edges.end()));
  for (std::size_t t = 0; t < box.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto e = static_cast<std::size_t>(box.triangle_edges[t][k]);
      const auto [low, high] = std::minmax(box.triangles[t][k], box.triangles[t][(k + 1) % 3]);
      EXPECT_EQ(box.edges[e], (std::array<int, 2>{low, high}));
      EXPECT_TRUE(box.edge_triangles[e][0] == static_cast<int>(t) || box.edge_triangles[e][1] == static_cast<int>(t));
    }
  for (int v = 0; v < 8; ++v) {
    for (const int e : box.edges_of(v)) {
      const auto& edge = box.edges[static_cast<std::size_t>(e)];
      EXPECT_TRUE(edge[0] == v || edge[1] == v);
    }
    EXPECT_EQ(box.edges_of(v).size(), box.triangles_of(v).size());
  }
}

TEST(CollisionSurface, OtherShapes) {
  const CollisionSurface sphere = sphere_surface(0.1), capsule = capsule_surface(0.1, 2);
  EXPECT_EQ(sphere.vertices(), 1);
  EXPECT_TRUE(sphere.edges.empty());
  EXPECT_EQ(capsule.edges.size(), 1u);
  EXPECT_EQ(capsule.skipped[0], 0);
  EXPECT_FALSE(capsule.closed);
  EXPECT_EQ(capsule_surface(0.1, 0).vertices(), 1);
  const CollisionSurface cylinder = cylinder_surface(1, 2, 12);
  EXPECT_TRUE(cylinder.closed);
  // A regular polygon of 12 sides has the area 3 r^2.
  EXPECT_NEAR(enclosed_volume(cylinder.rest, cylinder.triangles), 6, 1e-12);
  EXPECT_EQ(std::count(cylinder.skipped.begin(), cylinder.skipped.end(), 0), 36);
}

TEST(CollisionSurface, MarksAreOnlyForRigidOnes) {
  // An L: one edge in the hollow.
  const std::vector<Vec3d> x{{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{0, 1, 1}}};
  const std::vector<std::array<int, 3>> floor_and_wall{{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {0, 5, 4}};
  const CollisionSurface soft = make_collision_surface(x, floor_and_wall);
  EXPECT_EQ(std::count(soft.skipped.begin(), soft.skipped.end(), 1), 0);
  const CollisionSurface rigid = make_collision_surface(x, floor_and_wall, {.edges = {}, .radius = 0, .rigid = true});
  EXPECT_EQ(std::count(rigid.skipped.begin(), rigid.skipped.end(), 1), 3);
  EXPECT_FALSE(rigid.closed);
}

TEST(CollisionSurface, IsolatedFeaturesAndErrors) {
  const CollisionSurface s =
      make_collision_surface({{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{5, 5, 5}}}, {{0, 1, 2}},
                             {.edges = {{3, 0}, {1, 0}}, .radius = 0.1, .rigid = false});
  EXPECT_EQ(s.edges.size(), 4u);
  EXPECT_EQ(s.edges_of(4).size(), 0u);
  EXPECT_EQ(s.edge_triangles[2][0], -1);
  EXPECT_THROW(make_collision_surface({{{0, 0, 0}}}, {{0, 1, 2}}), InputError);
  EXPECT_THROW(make_collision_surface({{{0, 0, 0}}, {{1, 0, 0}}}, {{0, 1, 1}}), InputError);
  EXPECT_THROW(make_collision_surface(std::vector<Vec3d>{}, {}), InputError);
  CollisionSurface box = box_surface({{1, 1, 1}});
  for (auto& t : box.triangles) std::swap(t[0], t[1]);
  EXPECT_THROW(make_collision_surface(box.rest, box.triangles), InputError);
}

}  // namespace
}  // namespace supple

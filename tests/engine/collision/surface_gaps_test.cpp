// Gaps and overlaps of whole surfaces against loops over everything and known depths.
#include "engine/collision/surface_gaps.hpp"

#include <gtest/gtest.h>

#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

using collision_tests::ball;
using collision_tests::Random;
using collision_tests::Scene;
using collision_tests::square_sheet;

TEST(SurfaceGaps, TheLeastOfAll) {
  Random random(1);
  int apart = 0;
  for (int i = 0; i < 100; ++i) {
    Scene scene;
    for (const CollisionSurface& s :
         {box_surface({{0.4, 0.5, 0.6}}), ball(4, 0.3), square_sheet(3, 0.5), capsule_surface(0.05, 0.5)}) {
      const Transform place{random.point(3), random.point(0.9), 1};
      scene.add(s, place, place);
    }
    const SurfaceSet set(scene.surfaces);
    const SurfaceGap least = least_gap(set, scene.x0);
    const std::vector<SurfaceGap> pairs = overlaps(set, scene.x0);
    EXPECT_EQ(least.gap < -1e-9, !pairs.empty()) << i;
    if (!pairs.empty()) continue;
    ++apart;
    EXPECT_NEAR(least.gap, collision_tests::least_distance(set, {scene.x0, scene.x0, 0}), 1e-12);
    EXPECT_LT(least.first, least.second);
    EXPECT_EQ(least_gap(set, scene.x0, 0.9 * least.gap).first, -1);
  }
  EXPECT_GT(apart, 20);
}

TEST(SurfaceGaps, DepthsOfOverlaps) {
  const auto of = [](const CollisionSurface& a, const CollisionSurface& b, const Vec3d& place) {
    Scene scene;
    scene.add(a, {{0, 0, 0}});
    scene.add(b, place);
    const SurfaceSet set(scene.surfaces);
    const std::vector<SurfaceGap> found = overlaps(set, scene.x0);
    const SurfaceGap least = least_gap(set, scene.x0);
    if (found.empty()) return 0.0;
    EXPECT_EQ(least.gap, found[0].gap);
    return -found[0].gap;
  };
  const CollisionSurface cube = box_surface({{1, 1, 1}}), bar = box_surface({{5, 0.4, 0.4}});
  // A corner, an edge across, a bar through, one inside the other in either order, beside each other, exactly touching.
  EXPECT_NEAR(of(cube, cube, {{0.9, 0.8, 0.7}}), 0.1, 1e-12);
  EXPECT_NEAR(of(bar, box_surface({{0.4, 5, 0.4}}), {{0.3, 0.1, 0.38}}), 0.02, 1e-12);
  EXPECT_NEAR(of(cube, bar, {{0, 0, 0}}), 0.3, 1e-12);
  EXPECT_NEAR(of(cube, box_surface({{0.2, 0.2, 0.2}}), {{0.1, 0, 0}}), 0.4, 1e-12);
  EXPECT_NEAR(of(box_surface({{0.2, 0.2, 0.2}}), cube, {{0.1, 0, 0}}), 0.4, 1e-12);
  EXPECT_EQ(of(cube, cube, {{1.1, 0, 0}}), 0);
  EXPECT_EQ(of(cube, cube, {{1, 0.2, 0.3}}), 0);
  EXPECT_EQ(of(cube, cube, {{1, 0, 0}}), 0);
  // Rounded ones: beside, in, and around.
  EXPECT_NEAR(of(cube, sphere_surface(0.1), {{0, 0, 0.57}}), 0.03, 1e-12);
  EXPECT_NEAR(of(cube, sphere_surface(0.1), {{0, 0, 0.47}}), 0.13, 1e-12);
  EXPECT_NEAR(of(sphere_surface(2), cube, {{0, 0, 0.7}}), 2.2 - 0.4, 0.6);
  EXPECT_NEAR(of(sphere_surface(0.2), capsule_surface(0.1, 1), {{0.25, 0, 0.1}}), 0.05, 1e-12);
}

TEST(SurfaceGaps, SheetsThatArePierced) {
  Scene scene;
  scene.add(square_sheet(2, 1), {{0, 0, 0}});
  scene.add(box_surface({{0.1, 0.1, 1}}), {{0.1, 0.2, 0}});
  const SurfaceSet set(scene.surfaces);
  const std::vector<SurfaceGap> found = overlaps(set, scene.x0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].gap, 0);
}

}  // namespace
}  // namespace supple

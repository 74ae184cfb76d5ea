// Pairs that a motion would bring too near: nothing is missed at any speed, rows made of them keep surfaces apart.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/collision/feature_pairs.hpp"
#include "engine/collision/surface_gaps.hpp"
#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

using collision_tests::ball;
using collision_tests::Random;
using collision_tests::Scene;
using collision_tests::square_sheet;

std::vector<FeaturePair> violations_of(const Scene& scene, double distance) {
  ContactSearch search(SurfaceSet(scene.surfaces), {.depth = 0.005, .tolerance = 1e-9});
  return search.violations(scene.x0, scene.x1, distance);
}

std::vector<double> between(const Scene& scene, double t) {
  std::vector<double> x(scene.x0.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (1 - t) * scene.x0[i] + t * scene.x1[i];
  return x;
}

// With samples of the motion as the other opinion: whether two surfaces come nearer than the distance, and when.
TEST(Violations, AreThoseOfASampledMotion) {
  Random random(1);
  const double distance = 0.02;
  int contacts = 0, free = 0;
  for (int i = 0; i < 300; ++i) {
    Scene scene;
    const Vec3d away = random.direction();
    const auto shape = [&](int kind) {
      return kind == 0   ? box_surface({{0.3, 0.4, 0.3}})
             : kind == 1 ? ball(4, 0.25)
             : kind == 2 ? capsule_surface(0.1, 0.4)
             : kind == 3 ? square_sheet(2, 0.6)
                         : sphere_surface(0.15);
    };
    const Transform still{random.point(3), {{0, 0, 0}}, 1};
    scene.add(shape(i % 4), still, still);
    const Vec3d turn = random.point(3);
    scene.add(shape(i / 4 % 5), Transform{turn, 0.8 * away, 1},
              Transform{turn + random.point(0.7), -0.8 * away + random.point(i % 2 ? 0.6 : 1.8), 1});
    const SurfaceSet set(scene.surfaces);
    const int samples = 60;
    double first = 2, least = HUGE_VAL;
    for (int k = 0; k <= samples; ++k) {
      const Positions x{scene.x0, scene.x1, double(k) / samples};
      const double gap = collision_tests::least_distance(set, x);
      least = std::min(least, gap);
      if (gap < distance - 1e-9) {
        first = x.time;
        break;
      }
    }
    const std::vector<FeaturePair> found = violations_of(scene, distance);
    double earliest = 3;
    for (const FeaturePair& p : found) {
      earliest = std::min(earliest, p.time);
      EXPECT_LT(linear_gap(p, scene.x1), distance);
    }
    if (first < 2) {
      EXPECT_LE(earliest, first) << i;
      // What is found first is a contact and not far from one.
      for (const FeaturePair& p : found)
        if (p.time == earliest) {
          EXPECT_LE(p.gap, distance + 0.002) << i;
          EXPECT_NEAR(collision_tests::least_distance(set, {scene.x0, scene.x1, earliest}), p.gap, 0.002) << i;
        }
    }
    (first < 2 ? contacts : free) += 1;
    // Between samples it comes no nearer than by their step.
    if (least > distance + 2.2 / samples) {
      EXPECT_TRUE(found.empty()) << i;
    }
  }
  EXPECT_GT(contacts, 100);
  EXPECT_GT(free, 20);
}

// A blade of 0.1 mm at 100 m/s goes 1 m in a step of 10 ms, between the vertices of a sheet with squares of 0.1 m.
TEST(Violations, ABladeBetweenVertices) {
  for (const bool flat : {true, false}) {
    Scene scene;
    scene.add(square_sheet(4, 0.4), {{0, 0, 0}});
    const Vec3d size = flat ? Vec3d{{0.02, 0.02, 1e-4}} : Vec3d{{1e-4, 0.02, 0.02}};
    scene.add(box_surface(size), Vec3d{{0.03, 0.06, 0.5}}, Vec3d{{0.031, 0.06, -0.5}});
    for (const double distance : {0.0, 1e-4}) {
      const std::vector<FeaturePair> found = violations_of(scene, distance);
      ASSERT_FALSE(found.empty());
      for (const FeaturePair& p : found) {
        EXPECT_NEAR(p.normal[2] * (p.a.surface == 1 ? 1 : -1), 1, 2e-3);
        EXPECT_NEAR(p.time, 0.5, 0.02);
      }
    }
  }
}

TEST(Violations, APinBetweenVertices) {
  Scene scene;
  scene.add(square_sheet(4, 0.4), {{0, 0, 0}});
  // Upright: its lower end meets the inside of a triangle. Then lying along x, an edge of the mesh at least.
  scene.add(capsule_surface(0.003, 0.05), Vec3d{{0.031, 0.062, 0.3}}, Vec3d{{0.03, 0.06, -0.3}});
  const std::vector<FeaturePair> upright = violations_of(scene, 1e-3);
  ASSERT_FALSE(upright.empty());
  EXPECT_EQ(upright[0].b.points, 3);
  EXPECT_NEAR(upright[0].gap, 1e-3, 1e-3);
  const Transform from{{{0, 1.5707963267948966, 0}}, {{0.03, 0.06, 0.3}}, 1},
      to{from.rotation, {{0.03, 0.06, -0.3}}, 1};
  Scene lying;
  lying.add(square_sheet(4, 0.4), {{0, 0, 0}});
  lying.add(capsule_surface(0.003, 0.5), from, to);
  const std::vector<FeaturePair> found = violations_of(lying, 1e-3);
  EXPECT_GE(found.size(), 4u);
  for (const FeaturePair& p : found) EXPECT_NEAR(std::abs(p.normal[2]), 1, 1e-9);
}

TEST(Violations, OnlyWhatMovesTowardsEachOther) {
  // A box that rests on another at the distance: down, up, along.
  const double distance = 0.001;
  const auto moved = [&](const Vec3d& by) {
    Scene scene;
    scene.add(box_surface({{2, 2, 1}}), {{0, 0, 0}});
    const Vec3d place{{0.1, 0.2, 1 + distance}};
    scene.add(box_surface({{1, 1, 1}}), place, place + by);
    return violations_of(scene, distance);
  };
  EXPECT_EQ(moved({{0, 0, -0.01}}).size(), 4u);
  EXPECT_EQ(moved({{0, 0, 0.01}}).size(), 0u);
  EXPECT_EQ(moved({{0.1, 0.1, 0}}).size(), 0u);
  EXPECT_EQ(moved({{0, 0, 0}}).size(), 0u);
  for (const FeaturePair& p : moved({{0.3, 0, -3}})) {
    EXPECT_EQ(p.a.points, 1);
    EXPECT_NEAR(p.normal[2], 1, 1e-12);
    EXPECT_EQ(p.time, 0);
  }
}

TEST(Violations, FromTouchAndFromInside) {
  // Distance 0, exactly touching or 1 um inside at the start.
  for (const double inside : {0.0, 1e-6}) {
    const auto moved = [&](const Vec3d& by) {
      Scene scene;
      scene.add(box_surface({{2, 2, 1}}), {{0, 0, 0}});
      const Vec3d place{{0.1, 0.2, 1 - inside}};
      scene.add(box_surface({{1, 1, 1}}), place, place + by);
      return violations_of(scene, 0);
    };
    const std::vector<FeaturePair> down = moved({{0, 0, -0.01}});
    EXPECT_EQ(down.size(), 4u);
    for (const FeaturePair& p : down) {
      EXPECT_NEAR(p.gap, -inside, 1e-12);
      EXPECT_NEAR(p.normal[2], 1, 1e-12);
    }
    EXPECT_EQ(moved({{0, 0, 0.01}}).size(), 0u);
    EXPECT_EQ(moved({{0.1, 0.1, 0}}).size(), inside > 0 ? 4u : 0u);
    EXPECT_EQ(moved({{0.1, 0.1, inside}}).size(), 0u);
  }
}

TEST(Violations, ASphereFallsOntoASphere) {
  // Radii 0.1 and 0.2, 1 m apart, at 2 m per step: at the distance d after (1 - 0.3 - d) / 2.
  Scene scene;
  scene.add(sphere_surface(0.1), {{0, 0, 0}});
  scene.add(sphere_surface(0.2), Vec3d{{0, 0, 1}}, Vec3d{{0, 0, -1}});
  for (const double distance : {0.0, 0.05}) {
    const std::vector<FeaturePair> found = violations_of(scene, distance);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].time, (0.7 - distance) / 2, 1e-3);
    EXPECT_DOUBLE_EQ(found[0].normal[2], -1);
    EXPECT_NEAR(linear_gap(found[0], scene.x0), 0.7, 1e-12);
  }
}

TEST(Violations, SlidingOverAMeshMeetsNoEdges) {
  // At the distance over a flat mesh, along it over many edges, and a little down.
  const double distance = 0.002;
  for (const double down : {0.0, 1e-4}) {
    Scene scene;
    scene.add(square_sheet(20, 2), {{0, 0, 0}});
    const Vec3d place{{-0.4, 0.013, 0.15 + distance}};
    scene.add(box_surface({{0.25, 0.17, 0.3}}), place, place + Vec3d{{0.73, 0.31, -down}});
    for (const FeaturePair& p : violations_of(scene, distance)) {
      EXPECT_GT(down, 0);
      EXPECT_NEAR(std::abs(p.normal[2]), 1, 1e-9);
    }
  }
}

// Each vertex of the upper surface is a mass of its own: rows of all rounds are solved by sweeps, as by a contact
// stage.
TEST(Violations, RowsKeepSurfacesApart) {
  Random random(5);
  const double distance = 0.01;
  for (int i = 0; i < 12; ++i) {
    Scene scene;
    const Transform low{random.point(3), {{0, 0, 0}}, 1};
    scene.add(i % 2 ? box_surface({{0.5, 0.5, 0.5}}) : ball(5, 0.3), low, low);
    const Transform high{random.point(3), {{0, 0, 0.75}}, 1}, fallen{high.rotation, random.point(0.3), 1};
    scene.add(i % 3 ? ball(4, 0.25) : square_sheet(4, 0.6), high, fallen);
    const SurfaceSet set(scene.surfaces);
    ContactSearch search(set, {.depth = 0.005, .tolerance = 1e-7});
    const std::vector<double> wanted = scene.x1;
    std::vector<FeaturePair> rows;
    int rounds = 0;
    for (;; ++rounds) {
      const auto& more = search.violations(scene.x0, scene.x1, distance);
      if (more.empty() || rounds == 60) break;
      rows.insert(rows.end(), more.begin(), more.end());
      std::vector<double> force(rows.size(), 0);
      scene.x1 = wanted;
      for (int sweep = 0; sweep < 3000; ++sweep) {
        double change = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const FeaturePair& p = rows[r];
          const auto moves = [&](std::size_t k) { return p.vertices[k] >= scene.surfaces[1].first_vertex; };
          double W = 0;
          for (std::size_t k = 0; k < 4; ++k) W += moves(k) * p.weights[k] * p.weights[k];
          const double next = std::max(force[r] + (distance - linear_gap(p, scene.x1)) / W, 0.0);
          for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t c = 0; c < 3 && moves(k); ++c)
              scene.x1[3 * static_cast<std::size_t>(p.vertices[k]) + c] +=
                  (next - force[r]) * p.weights[k] * p.normal[static_cast<int>(c)];
          change = std::max(change, std::abs(next - force[r]));
          force[r] = next;
        }
        if (change < 1e-9) break;
      }
    }
    EXPECT_GT(rounds, 0) << i;
    EXPECT_LT(rounds, 60) << i;
    // Also no vertex of the upper one is in the lower one, which keeps its shape.
    std::vector<PlacedSurface> points = scene.surfaces;
    points[1].surface = make_collision_surface(points[1].surface.rest, {});
    for (const double t : {0.5, 0.8, 0.9, 0.95, 1.0}) {
      const std::vector<double> x = between(scene, t);
      EXPECT_GE(collision_tests::least_distance(set, {x, x, 0}), distance - 1e-6) << i;
      EXPECT_TRUE(overlaps(SurfaceSet(points), x).empty()) << i;
    }
  }
}

}  // namespace
}  // namespace supple

// Pairs of features at one moment: completeness against loops over everything, counts where features coincide, signs,
// derivatives.
#include "engine/collision/feature_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

using collision_tests::ball;
using collision_tests::every_pair;
using collision_tests::Random;
using collision_tests::Scene;
using collision_tests::square_sheet;

constexpr double depth = 0.02;

std::vector<FeaturePair> pairs_of(const Scene& scene, double reach, double inside = depth) {
  ContactSearch search(SurfaceSet(scene.surfaces), {.depth = inside, .tolerance = 1e-9});
  return search.pairs(scene.x0, scene.x1, reach);
}

std::string kinds(const std::vector<FeaturePair>& pairs) {
  std::map<std::string, int> count;
  for (const FeaturePair& p : pairs) ++count[std::to_string(p.a.points) + std::to_string(p.b.points)];
  std::string text;
  for (const auto& [kind, n] : count) text += kind + ":" + std::to_string(n) + " ";
  return text;
}

// Weights, normal and gap fit each other; the row's derivative is that of the distance of the features.
void expect_consistent(const SurfaceSet& set, const std::vector<FeaturePair>& pairs, const std::vector<double>& x) {
  std::uint64_t last = 0;
  for (const FeaturePair& p : pairs) {
    EXPECT_GT(p.key, last);
    last = p.key;
    EXPECT_NEAR(norm(p.normal), 1, 1e-12);
    double a = 0, b = 0;
    for (const double w : p.weights) (w > 0 ? a : b) += w;
    EXPECT_NEAR(a, 1, 1e-12);
    EXPECT_NEAR(b, -1, 1e-12);
    if (p.time > 0) continue;
    EXPECT_NEAR(linear_gap(p, x), p.gap, 1e-12);
    // Central differences of the distance, with the sign of the gap.
    const double sign = p.gap + p.radii < 0 ? -1 : 1, h = 1e-6;
    if (std::abs(p.gap + p.radii) < 1e-3) continue;
    for (std::size_t k = 0; k < 4 && p.vertices[k] >= 0; ++k)
      for (std::size_t i = 0; i < 3; ++i) {
        const auto distance = [&](double step) {
          std::vector<double> y = x;
          y[3 * static_cast<std::size_t>(p.vertices[k]) + i] += step;
          const Positions at{y, y, 0};
          return closest_points(set.simplex(p.a, at), set.simplex(p.b, at)).distance;
        };
        EXPECT_NEAR(sign * (distance(h) - distance(-h)) / (2 * h), p.weights[k] * p.normal[static_cast<int>(i)], 2e-4);
      }
  }
}

// All pairs of all features that are near enough and nearest among their neighbours, none other.
TEST(FeaturePairs, AreThoseOfTheLoopOverEverything) {
  Random random(1);
  std::size_t total = 0;
  for (int i = 0; i < 60; ++i) {
    Scene scene;
    const auto somewhere = [&] { return Transform{random.point(3), random.point(0.4), 1}; };
    for (const CollisionSurface& s : {box_surface({{0.4, 0.5, 0.6}}), ball(4, 0.3), square_sheet(3, 0.7),
                                      capsule_surface(0.05, 0.5), sphere_surface(0.1)}) {
      const Transform place = somewhere();
      scene.add(s, place, place);
    }
    const SurfaceSet set(scene.surfaces);
    const Positions x{scene.x0, scene.x0, 0};
    const double reach = 0.15;
    std::set<std::uint64_t> expected, found;
    every_pair(set, [&](const SurfaceFeature& a, const SurfaceFeature& b) {
      if (a.points == 2 && (set.surface(a.surface).skipped[static_cast<std::size_t>(a.index)] ||
                            set.surface(b.surface).skipped[static_cast<std::size_t>(b.index)]))
        return;
      const ClosestPoints points = closest_points(set.simplex(a, x), set.simplex(b, x));
      if (points.distance > reach + set.surface(a.surface).radius + set.surface(b.surface).radius) return;
      const PairGeometry pair = pair_geometry(set, a, b, points, 1);
      if (facing(set, pair, a.points == 2, x) == Facing::yes)
        expected.insert(static_cast<std::uint64_t>(set.code(pair.a)) << 32 | set.code(pair.b));
    });
    const std::vector<FeaturePair> pairs = pairs_of(scene, reach, 0);
    for (const FeaturePair& p : pairs) {
      if (p.time == 0) found.insert(p.key);
      EXPECT_LE(p.gap, reach);
    }
    EXPECT_EQ(found, expected) << i;
    expect_consistent(set, pairs, scene.x0);
    total += pairs.size();
  }
  EXPECT_GT(total, 500u);
}

// The nearest feature of every surface to every vertex that is outside of all surfaces is found, also of its own body's
// far side if nothing of the body is between.
TEST(FeaturePairs, TheNearestPairOfTwoSurfacesIsFound) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    Scene scene;
    const Transform a{random.point(3), {{0, 0, 0}}, 1}, b{random.point(3), 0.9 * random.direction(), 1};
    scene.add(i % 2 ? ball(5, 0.3) : box_surface({{0.3, 0.4, 0.3}}), a, a);
    scene.add(i % 3 ? box_surface({{0.3, 0.4, 0.4}}) : cylinder_surface(0.2, 0.4, 12), b, b);
    const SurfaceSet set(scene.surfaces);
    const double least = collision_tests::least_distance(set, {scene.x0, scene.x0, 0});
    const std::vector<FeaturePair> pairs = pairs_of(scene, least * (1 + 1e-9), 0);
    ASSERT_FALSE(pairs.empty());
    EXPECT_NEAR(pairs[0].gap, least, 1e-12);
  }
}

TEST(FeaturePairs, ACornerOverAnEdgeIsOneContact) {
  const double h = 0.01;
  Scene scene;
  const CollisionSurface pyramid = make_collision_surface({{{0, 0, 0}}, {{1, 0, 2}}, {{-1, 1, 2}}, {{-1, -1, 2}}},
                                                          {{0, 2, 1}, {0, 3, 2}, {0, 1, 3}, {1, 2, 3}});
  ASSERT_TRUE(pyramid.closed);
  scene.add(square_sheet(2, 2), {{0, 0, 0}});
  scene.add(pyramid, {{0.25, 0.25, h}});  // over a diagonal
  EXPECT_EQ(kinds(pairs_of(scene, 2 * h)), "12:1 ");
  Scene over_vertex = scene, over_face = scene;
  for (std::size_t v = 0; v < 4; ++v) {
    for (std::size_t k = 0; k < 2; ++k) over_vertex.x0[27 + 3 * v + k] -= 0.25;
    over_face.x0[27 + 3 * v] += 0.1;
  }
  over_vertex.x1 = over_vertex.x0;
  over_face.x1 = over_face.x0;
  EXPECT_EQ(kinds(pairs_of(over_vertex, 2 * h)), "11:1 ");
  EXPECT_EQ(kinds(pairs_of(over_face, 2 * h)), "13:1 ");
}

TEST(FeaturePairs, BoxesOnBoxes) {
  const CollisionSurface small = box_surface({{1, 1, 1}}), large = box_surface({{3, 3, 1}});
  const auto on = [&](const CollisionSurface& lower, const CollisionSurface& upper, const Vec3d& place) {
    Scene scene;
    scene.add(lower, {{0, 0, 0}});
    scene.add(upper, place);
    const std::vector<FeaturePair> pairs = pairs_of(scene, 0.02);
    for (const FeaturePair& p : pairs) {
      // From b to a; the upper box is surface 1.
      EXPECT_NEAR(p.normal[2], p.a.surface == 1 ? 1 : -1, 1e-12);
      EXPECT_NEAR(p.gap, place[2] - 1, 1e-12);
    }
    return kinds(pairs);
  };
  // Apart, exactly touching, and a little inside.
  for (const double z : {1.01, 1.0, 1 - 1e-6, 0.99}) {
    EXPECT_EQ(on(large, small, {{0.3, 0.2, z}}), "13:4 ") << z;
    // Half over the edge: two corners, and two crossings of edges.
    EXPECT_EQ(on(large, small, {{1.5, 0.2, z}}), "13:2 22:2 ") << z;
    // A corner of either over the other one's face, two crossings.
    EXPECT_EQ(on(small, small, {{0.3, 0.2, z}}), "13:2 22:2 ") << z;
  }
  EXPECT_EQ(on(small, small, {{0, 0, 1.01}}), "11:4 ");
  EXPECT_EQ(on(small, small, {{0, 0, 1}}), "11:4 ");
  EXPECT_EQ(on(small, small, {{0, 0, 0.99}}), "11:4 ");
  // Edges along each other's faces: corners over edges.
  EXPECT_EQ(on(small, small, {{0.3, 0, 1.01}}), "12:4 ");
}

TEST(FeaturePairs, EdgeAcrossEdgeIsOneContact) {
  // Two roofs across each other, ridge on ridge.
  const auto ridge = [](double up, bool along_x) {
    std::vector<Vec3d> x;
    for (const double s : {-1.0, 1.0})
      for (const Vec3d& p : {Vec3d{{s, 0, 0}}, Vec3d{{s, -1, -up}}, Vec3d{{s, 1, -up}}})
        x.push_back(along_x ? p : Vec3d{{-p[1], p[0], p[2]}});
    std::vector<std::array<int, 3>> triangles{{0, 1, 4}, {0, 4, 3}, {0, 3, 5}, {0, 5, 2},
                                              {1, 2, 5}, {1, 5, 4}, {0, 2, 1}, {3, 4, 5}};
    if (up < 0)
      for (auto& t : triangles) std::swap(t[0], t[1]);
    return make_collision_surface(x, triangles);
  };
  for (const double h : {0.01, 0.0, -0.01}) {
    Scene scene;
    scene.add(ridge(1, true), {{0, 0, 0}});
    scene.add(ridge(-1, false), {{0.1, 0.2, h}});
    ASSERT_TRUE(scene.surfaces[0].surface.closed && scene.surfaces[1].surface.closed);
    const std::vector<FeaturePair> pairs = pairs_of(scene, 0.02);
    ASSERT_EQ(kinds(pairs), "22:1 ") << h;
    EXPECT_NEAR(pairs[0].gap, h, 1e-12);
    EXPECT_NEAR(pairs[0].normal[2], -1, 1e-12);
  }
}

TEST(FeaturePairs, SpheresAndCapsules) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    Scene scene;
    const Vec3d direction = random.direction();
    scene.add(sphere_surface(0.1), {{0, 0, 0}});
    scene.add(sphere_surface(0.2), 0.31 * direction);
    const std::vector<FeaturePair> pairs = pairs_of(scene, 0.02);
    ASSERT_EQ(kinds(pairs), "11:1 ");
    EXPECT_NEAR(pairs[0].gap, 0.01, 1e-15);
    EXPECT_NEAR(norm(pairs[0].normal + direction), 0, 1e-12);
  }
  Scene scene;
  scene.add(capsule_surface(0.1, 1), {{0, 0, 0}});
  scene.add(capsule_surface(0.1, 1), {{0.205, 0, 0.25}});  // beside it: two ends
  scene.add(sphere_surface(0.1), {{0, 0, -0.705}});        // below it
  scene.add(capsule_surface(0.1, 1), Transform{{{1.5707963267948966, 0, 0}}, {{0, 0, 0.705}}, 1},
            Transform{{{1.5707963267948966, 0, 0}}, {{0, 0, 0.705}}, 1});  // across both upper ends
  EXPECT_EQ(kinds(pairs_of(scene, 0.01)), "11:1 12:3 22:1 ");
}

TEST(FeaturePairs, ThinPlateHasTwoSides) {
  // Below the plate by 1 mm, whose upper face is 3 mm away: no contact with that, and no penetration.
  Scene scene;
  scene.add(box_surface({{1, 1, 0.002}}), {{0, 0, 0}});
  scene.add(sphere_surface(0), {{0.1, 0.2, -0.002}});
  const std::vector<FeaturePair> below = pairs_of(scene, 0.01, 0.01);
  ASSERT_EQ(kinds(below), "13:1 ");
  EXPECT_NEAR(below[0].gap, 0.001, 1e-15);
  EXPECT_DOUBLE_EQ(below[0].normal[2], -1);
  // Inside, nearer to the lower face.
  scene.x0[26] = scene.x1[26] = -0.0008;
  const std::vector<FeaturePair> inside = pairs_of(scene, 0.01, 0.01);
  ASSERT_EQ(kinds(inside), "13:1 ");
  EXPECT_NEAR(inside[0].gap, -0.0002, 1e-15);
  EXPECT_DOUBLE_EQ(inside[0].normal[2], -1);
  // Deeper than what is asked for.
  EXPECT_EQ(kinds(pairs_of(scene, 0.01, 1e-4)), "");
  // Two thin plates, one over the other: nothing between their far sides.
  Scene plates;
  plates.add(box_surface({{1, 1, 0.002}}), {{0, 0, 0}});
  plates.add(box_surface({{0.5, 0.5, 0.002}}), Transform{{{0, 0, 0.3}}, {{0, 0, 0.003}}, 1},
             Transform{{{0, 0, 0.3}}, {{0, 0, 0.003}}, 1});
  EXPECT_EQ(kinds(pairs_of(plates, 0.01, 0.01)), "13:4 ");
}

TEST(FeaturePairs, OfOneSurface) {
  // A band bent to a U, 0.1 between its legs.
  const int n = 20;
  std::vector<Vec3d> rest;
  std::vector<std::array<int, 3>> triangles;
  for (int i = 0; i <= n; ++i)
    for (const double y : {0.0, 0.1}) rest.push_back({{0.1 * i, y, 0}});
  for (int i = 0; i < n; ++i) {
    triangles.push_back({2 * i, 2 * i + 2, 2 * i + 3});
    triangles.push_back({2 * i, 2 * i + 3, 2 * i + 1});
  }
  Scene scene;
  scene.add(make_collision_surface(rest, triangles), {{0, 0, 0}});
  EXPECT_TRUE(pairs_of(scene, 0.15).empty());
  scene.surfaces[0].touches_itself = true;
  scene.surfaces[0].rest_exclusion = 0.35;
  EXPECT_TRUE(pairs_of(scene, 0.15).empty());
  for (std::size_t i = 11; i <= 20; ++i)
    for (std::size_t k = 0; k < 2; ++k) {
      scene.x0[3 * (2 * i + k)] = 1.03 - 0.1 * (double(i) - 10);
      scene.x0[3 * (2 * i + k) + 2] = 0.1;
    }
  scene.x1 = scene.x0;
  const std::vector<FeaturePair> pairs = pairs_of(scene, 0.11);
  EXPECT_GT(pairs.size(), 20u);
  for (const FeaturePair& p : pairs) {
    EXPECT_NEAR(std::abs(p.normal[2]), 1, 1e-12);
    EXPECT_NEAR(p.gap, 0.1, 1e-12);
  }
}

TEST(FeaturePairs, OnlySurfacesThatMayTouch) {
  Scene scene;
  for (int i = 0; i < 3; ++i) scene.add(sphere_surface(0.1), {{0.2 * i, 0, 0}});
  const auto count = [&](const SurfacePairs& pairs) {
    ContactSearch search(SurfaceSet(scene.surfaces, pairs));
    return search.pairs(scene.x0, scene.x1, 0.01).size();
  };
  EXPECT_EQ(count({}), 2u);
  EXPECT_EQ(count({false, {{1, 0}}}), 1u);
  EXPECT_EQ(count({true, {{1, 0}}}), 1u);
  EXPECT_EQ(count({true, {}}), 0u);
}

TEST(FeaturePairs, SameBitsEveryTime) {
  Random random(4);
  Scene scene;
  for (int i = 0; i < 30; ++i) {
    const Transform from{random.point(3), random.point(0.7), 1}, to{random.point(3), random.point(0.7), 1};
    scene.add(i % 2 ? ball(3, 0.2) : box_surface({{0.2, 0.3, 0.2}}), from, to);
  }
  ContactSearch search(SurfaceSet(scene.surfaces)), other(SurfaceSet(scene.surfaces));
  const std::vector<FeaturePair> first = search.pairs(scene.x0, scene.x1, 0.02);
  search.pairs(scene.x1, scene.x0, 0.1);
  for (const std::vector<FeaturePair>& again :
       {search.pairs(scene.x0, scene.x1, 0.02), other.pairs(scene.x0, scene.x1, 0.02)}) {
    ASSERT_EQ(again.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(again[i].key, first[i].key);
      EXPECT_EQ(again[i].gap, first[i].gap);
      EXPECT_EQ(again[i].time, first[i].time);
      EXPECT_EQ(again[i].normal, first[i].normal);
      EXPECT_EQ(again[i].weights, first[i].weights);
    }
  }
  EXPECT_GT(first.size(), 50u);
}

}  // namespace
}  // namespace supple

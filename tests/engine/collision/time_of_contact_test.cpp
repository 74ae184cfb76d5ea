// First times against closed forms and samples of the motion.
#include "engine/collision/time_of_contact.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

using collision_tests::Random;

MovingSimplex random_motion(Random& random, int count, double speed) {
  MovingSimplex s{count, {}, {}};
  const Vec3d place = random.point(1), step = random.point(speed);
  for (std::size_t k = 0; k < 3; ++k) {
    s.from[k] = place + random.point(0.5);
    s.step[k] = step + random.point(0.3 * speed);
  }
  return s;
}

TEST(TimeOfContact, NeverAfterASampledContact) {
  Random random(1);
  int reached = 0, most = 0;
  for (int i = 0; i < 6000; ++i) {
    const int kind = i % 4;
    const MovingSimplex a = random_motion(random, kind == 3 ? 2 : 1, 3);
    const MovingSimplex b = random_motion(random, kind == 3 ? 2 : kind + 1, 3);
    const double level = i % 3 == 0 ? 0.0 : 0.1;
    const ContactTime hit = time_of_contact(a, b, level);
    const double start = closest_points(a.at(0), b.at(0)).distance;
    most = std::max(most, hit.iterations);
    for (int k = 0; k <= 200; ++k) {
      const double t = k / 200.0, distance = closest_points(a.at(t), b.at(t)).distance;
      if (t < hit.time || !hit.reached) {
        EXPECT_GT(distance, level - 1e-12);
      }
      if (HasFailure()) return;
    }
    if (!hit.reached) continue;
    ++reached;
    EXPECT_NEAR(closest_points(a.at(hit.time), b.at(hit.time)).distance, hit.points.distance, 1e-14);
    EXPECT_LE(hit.points.distance, level + std::max({1.001e-3 * (start - level), 1.001e-6 * level, 0.0}));
    EXPECT_TRUE(hit.points.distance > level || hit.time == 0);
  }
  EXPECT_GT(reached, 100);
  EXPECT_LT(most, 60);
}

// A point at speed v towards a triangle at height h: it comes to the level at (h - level) / v.
TEST(TimeOfContact, PointThroughTriangle) {
  const MovingSimplex t{3, {{{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}}, {}};
  for (const double speed : {1.0, 1e3, 1e9, 1e15})
    for (const double level : {0.0, 0.1}) {
      const MovingSimplex p{1, {{{{0.2, 0.3, 0.5}}}}, {{{{0, 0, -speed}}}}};
      const ContactTime hit = time_of_contact(p, t, level);
      ASSERT_TRUE(hit.reached);
      EXPECT_NEAR(hit.time * speed, 0.5 - level, 1e-3);
      EXPECT_EQ(hit.points.mask_b(), 7);
    }
  const MovingSimplex away{1, {{{{0.2, 0.3, 0.5}}}}, {{{{5, 3, 0}}}}};
  EXPECT_FALSE(time_of_contact(away, t, 0.4999).reached);
  EXPECT_EQ(time_of_contact(away, t, 0.5).time, 0);
  // Sliding along at hardly more than the level takes one look.
  EXPECT_EQ(time_of_contact(away, t, 0.5 - 1e-9).iterations, 0);
}

// Edges turn past each other: the crossing lasts for less than a sample.
TEST(TimeOfContact, EdgesThatPassQuickly) {
  const MovingSimplex a{2, {{{{-1, 0, 0}}, {{1, 0, 0}}}}, {}};
  const MovingSimplex b{2, {{{{0, -1, 500}}, {{0, 1, 500}}}}, {{{{0, 0, -1000}}, {{0, 0, -1000}}}}};
  const ContactTime hit = time_of_contact(a, b, 1e-4);
  ASSERT_TRUE(hit.reached);
  EXPECT_NEAR(hit.time, 0.5, 1e-3);
  const MovingSimplex beside{2, {{{{2, -1, 500}}, {{2, 1, 500}}}}, b.step};
  EXPECT_FALSE(time_of_contact(a, beside, 1e-4).reached);
}

TEST(TimeOfContact, FromALaterStart) {
  // Falls onto the plane at 0.1, is below the level to 0.3, and comes back.
  const MovingSimplex t{3, {{{{-9, -9, 0}}, {{9, -9, 0}}, {{0, 9, 0}}}}, {}};
  const MovingSimplex p{1, {{{{0, 0, 1}}}}, {{{{0, 0, -10}}}}};
  const ContactTime hit = time_of_contact(p, t, 0.5, 0.02);
  ASSERT_TRUE(hit.reached);
  EXPECT_NEAR(hit.time, 0.05, 1e-4);
  EXPECT_FALSE(time_of_contact(p, t, 0.5, 0.16).reached);
}

}  // namespace
}  // namespace supple

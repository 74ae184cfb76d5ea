// Closest points against certificates of optimality, known answers and samples.
#include "engine/collision/simplex_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

using collision_tests::Random;

double size_of(const Simplex& a, const Simplex& b) {
  double size = 0;
  for (const Simplex* s : {&a, &b})
    for (std::size_t i = 0; i < static_cast<std::size_t>(s->count); ++i)
      for (int k = 0; k < 3; ++k) size = std::max(size, std::abs(s->x[i][k]));
  return size;
}

// Least distance over many convex weights in extended precision: all parts of both, their closest points from normal
// equations, cut to the parts. What is found is never below the least distance, so it must not be above this.
long double reference(const Simplex& a, const Simplex& b) {
  using Long = Vec3<long double>;
  const auto wide = [](const Vec3d& x) { return Long{{x[0], x[1], x[2]}}; };
  const auto cut = [](long double t) { return t > 0 ? std::min(t, 1.0L) : 0.0L; };
  long double least = HUGE_VALL;
  // Least |r - s u - t v| over 0 <= s, t <= 1, s + t <= most.
  const auto look = [&](const Long& r, const Long& u, const Long& v, long double most) {
    const long double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ru = dot(r, u), rv = dot(r, v);
    const auto at = [&](long double s, long double t) { least = std::min(least, norm(r - s * u - t * v)); };
    const auto cut_to = [&](long double t, long double end) { return std::min(cut(t), end); };
    at(0, 0);
    if (uu > 0) at(cut(ru / uu), 0);
    if (vv > 0) at(0, cut(rv / vv));
    const long double det = uu * vv - uv * uv;
    if (det > 0) {
      const long double s = cut((ru * vv - rv * uv) / det);
      at(s, cut_to((rv * uu - ru * uv) / det, most - s));
    }
  };
  const Long zero{{0, 0, 0}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.count); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(b.count); ++j) {
      const auto side = [](const Simplex& s, std::size_t k, std::size_t n) { return s.x[(k + n) % 3]; };
      const Long r = wide(a.x[i] - b.x[j]);
      if (a.count == 2 && b.count == 2) {
        look(r, wide(a.x[i] - a.x[1 - i]), wide(b.x[1 - j] - b.x[j]), 2);
      } else if (a.count == 1) {
        look(r, b.count > 1 ? wide(b.x[(j + 1) % static_cast<std::size_t>(b.count)] - b.x[j]) : zero,
             b.count > 2 ? wide(side(b, j, 2) - b.x[j]) : zero, 1);
      } else {
        look(-1.0L * r, wide(a.x[(i + 1) % static_cast<std::size_t>(a.count)] - a.x[i]),
             a.count > 2 ? wide(side(a, i, 2) - a.x[i]) : zero, 1);
      }
    }
  return least;
}

// Weights are convex, give the difference, and no others are closer.
void expect_closest(const Simplex& a, const Simplex& b, const ClosestPoints& p) {
  double sum_a = 0, sum_b = 0;
  Vec3d difference{{0, 0, 0}};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_GE(p.a[k], 0);
    EXPECT_GE(p.b[k], 0);
    sum_a += p.a[k];
    sum_b += p.b[k];
    difference = difference + p.a[k] * a.x[k] - p.b[k] * b.x[k];
  }
  const double size = size_of(a, b);
  EXPECT_NEAR(sum_a, 1, 1e-14);
  EXPECT_NEAR(sum_b, 1, 1e-14);
  EXPECT_NEAR(norm(difference - p.difference), 0, 4e-15 * size);
  EXPECT_NEAR(norm(p.difference), p.distance, 1e-15 * size);
  EXPECT_LE(p.distance, static_cast<double>(reference(a, b)) + 3e-15 * size);
}

// Some shapes with coinciding, collinear and nearly collinear points.
Simplex random_simplex(Random& random, int count) {
  Simplex s{count, {random.point(1), random.point(1), random.point(1)}};
  switch (random.below(6)) {
    case 0:
      s.x[1] = s.x[0];
      break;
    case 1:
      s.x[2] = s.x[0] + random.uniform(-1, 2) * (s.x[1] - s.x[0]);
      break;
    case 2:
      s.x[2] = s.x[0] + random.uniform(-1, 2) * (s.x[1] - s.x[0]) +
               std::pow(10.0, random.uniform(-13, -1)) * random.direction();
      break;
    default:
      break;
  }
  return s;
}

TEST(SimplexDistance, NothingIsCloser) {
  Random random(1);
  for (int i = 0; i < 20000; ++i)
    for (const auto& [m, n] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 1}, {3, 1}}) {
      const Simplex a = random_simplex(random, m), b = random_simplex(random, n);
      const ClosestPoints p = closest_points(a, b), q = closest_points(b, a);
      expect_closest(a, b, p);
      EXPECT_NEAR(p.distance, q.distance, 4e-15);
      if (p.distance > 1e-6) {
        EXPECT_NEAR(norm(p.difference + q.difference), 0, 2e-7);
      }
      if (HasFailure()) return;
    }
}

TEST(SimplexDistance, KnownHeightsOverSlivers) {
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    Simplex t{3, {random.point(1), random.point(1), {}}};
    const Vec3d along = t.x[1] - t.x[0], across = normalized(cross(along, random.direction()));
    t.x[2] = t.x[0] + random.uniform(0.1, 0.9) * along + std::pow(10.0, random.uniform(-9, 0)) * across;
    const double u = random.uniform(0, 1), v = random.uniform(0, 1 - u);
    const double height = i % 2 ? random.uniform(0, 0.5) : 0;
    const Vec3d normal = normalized(cross(along, across));
    const Simplex p{1, {t.x[0] + u * (t.x[1] - t.x[0]) + v * (t.x[2] - t.x[0]) + height * normal}};
    EXPECT_NEAR(closest_points(p, t).distance, height, 5e-15);
  }
}

TEST(SimplexDistance, CrossingAndAlmostParallelSegments) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const Vec3d centre = random.point(0.5), u = random.direction();
    const Vec3d w = normalized(cross(u, random.direction()));
    const Vec3d v = u + std::pow(10.0, random.uniform(-15, 0)) * w;
    const double height = i % 2 ? random.uniform(0, 0.5) : 0;
    const Vec3d n = cross(u, w);
    const double s = random.uniform(0, 1), t = random.uniform(0, 1);
    const Simplex a{2, {centre - s * u + height * n, centre + (1 - s) * u + height * n, {}}};
    const Simplex b{2, {centre - t * v, centre + (1 - t) * v, {}}};
    EXPECT_NEAR(closest_points(a, b).distance, height, 5e-15);
  }
}

TEST(SimplexDistance, ParallelSegmentsAreClosestInTheMiddleOfTheirOverlap) {
  const Simplex a{2, {{{{0, 0, 1}}, {{2, 0, 1}}}}}, b{2, {{{{1, 0, 0}}, {{5, 0, 0}}}}}, reversed{2, {b.x[1], b.x[0]}};
  for (const Simplex& other : {b, reversed}) {
    const ClosestPoints p = closest_points(a, other), q = closest_points(other, a);
    EXPECT_TRUE(p.parallel);
    EXPECT_DOUBLE_EQ(p.distance, 1);
    EXPECT_DOUBLE_EQ(p.a[1], 0.75);
    EXPECT_DOUBLE_EQ(q.b[1], 0.75);
    EXPECT_DOUBLE_EQ(p.difference[0], 0);
  }
  const Simplex apart{2, {{{{3, 0, 0}}, {{4, 0, 0}}}}};
  EXPECT_FALSE(closest_points(a, apart).parallel);
  EXPECT_EQ(closest_points(a, apart).mask_a(), 2);
  EXPECT_EQ(closest_points(a, apart).mask_b(), 1);
}

TEST(SimplexDistance, LowestFeature) {
  const Simplex t{3, {{{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}}};
  const auto mask = [&](const Vec3d& x) { return closest_points({1, {x}}, t).mask_b(); };
  EXPECT_EQ(mask({{0.2, 0.2, 0.5}}), 7);
  EXPECT_EQ(mask({{0.5, 0.5, 0.5}}), 6);
  EXPECT_EQ(mask({{0.5, 1e-17, 0.5}}), 3);
  EXPECT_EQ(mask({{0.5, 1e-9, 0.5}}), 3);
  EXPECT_EQ(mask({{0.5, 1e-6, 0.5}}), 7);
  EXPECT_EQ(mask({{1e-18, 1e-18, 0.5}}), 1);
  EXPECT_EQ(mask({{-1, 0.5, 0}}), 5);
  EXPECT_EQ(mask({{3, -1, 0}}), 2);
}

}  // namespace
}  // namespace supple

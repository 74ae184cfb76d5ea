// Signed distances of obstacles: against closed forms, samples of the surface, finite differences and every triangle.
#include "engine/obstacles/obstacle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/geometry.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

using Side = Obstacle::Side;
constexpr double pi = std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::mt19937_64 random_numbers(5);

double uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random_numbers);
}
Vec3d random_point(double half) {
  return {{uniform(-half, half), uniform(-half, half), uniform(-half, half)}};
}
Vec3d random_direction() {
  std::normal_distribution<double> normal;
  return normalized(Vec3d{{normal(random_numbers), normal(random_numbers), normal(random_numbers)}});
}
ObstaclePose random_pose() {
  return {rotation_matrix({random_point(3), {{0, 0, 0}}, 1}), random_point(0.3)};
}
Vec3d to_world(const ObstaclePose& pose, const Vec3d& x) {
  return pose.rotation * x + pose.position;
}

// A shape with what is known of it without distances: whether a point is in the solid, and random points of the
// surface.
struct Known {
  std::string name;
  std::function<Obstacle(Side)> make;
  std::function<bool(const Vec3d&)> holds;
  std::function<Vec3d()> on_surface;
  std::vector<Side> sides{Side::outside, Side::inside};
};

double rho(const Vec3d& x) {
  return std::hypot(x[0], x[1]);
}

const std::vector<Known>& shapes() {
  static const std::vector<Known> all = {
      {"sphere", [](Side side) { return Obstacle::sphere(0.2, side); }, [](const Vec3d& x) { return norm(x) <= 0.2; },
       [] { return 0.2 * random_direction(); }},
      {"capsule", [](Side side) { return Obstacle::capsule(0.1, 0.4, side); },
       [](const Vec3d& x) {
         return (std::abs(x[2]) <= 0.2 && rho(x) <= 0.1) || norm(x - Vec3d{{0, 0, std::copysign(0.2, x[2])}}) <= 0.1;
       },
       [] {
         const Vec3d n = random_direction();
         if (uniform(0, 1) < 0.4) return 0.1 * n + Vec3d{{0, 0, std::copysign(0.2, n[2])}};
         return Vec3d{{0.1 * n[0] / rho(n), 0.1 * n[1] / rho(n), uniform(-0.2, 0.2)}};
       }},
      {"box",
       [](Side side) {
         return Obstacle::box({{0.2, 0.4, 0.6}}, side);
       },
       [](const Vec3d& x) { return std::abs(x[0]) <= 0.1 && std::abs(x[1]) <= 0.2 && std::abs(x[2]) <= 0.3; },
       [] {
         Vec3d x{{uniform(-0.1, 0.1), uniform(-0.2, 0.2), uniform(-0.3, 0.3)}};
         const int k = std::uniform_int_distribution<int>(0, 2)(random_numbers);
         x[k] = std::copysign(0.1 * (k + 1), uniform(-1, 1));
         return x;
       }},
      {"cylinder", [](Side side) { return Obstacle::cylinder(0.2, 0.3, side); },
       [](const Vec3d& x) { return rho(x) <= 0.2 && std::abs(x[2]) <= 0.15; },
       [] {
         const double angle = uniform(0, 2 * pi), r = uniform(0, 1) < 0.5 ? 0.2 : 0.2 * std::sqrt(uniform(0, 1));
         const double z = r == 0.2 ? uniform(-0.15, 0.15) : std::copysign(0.15, uniform(-1, 1));
         return Vec3d{{r * std::cos(angle), r * std::sin(angle), z}};
       }},
      {"tube",
       [](Side) { return Obstacle::tube(0.2, 0.1, 0.3); },
       [](const Vec3d& x) { return rho(x) >= 0.2 && rho(x) <= 0.2 + 0.1 && std::abs(x[2]) <= 0.15; },
       [] {
         const double angle = uniform(0, 2 * pi), part = uniform(0, 1), wide = 0.2 + 0.1;
         const double r = part < 0.3 ? 0.2 : part < 0.7 ? wide : std::sqrt(uniform(0.2 * 0.2, wide * wide));
         const double z = part < 0.7 ? uniform(-0.15, 0.15) : std::copysign(0.15, uniform(-1, 1));
         return Vec3d{{r * std::cos(angle), r * std::sin(angle), z}};
       },
       {Side::outside}},
  };
  return all;
}

// All of them, from each side that they have, and `more`.
std::vector<Obstacle> every_shape(std::vector<Obstacle> more) {
  for (const Known& known : shapes())
    for (const Side side : known.sides) more.push_back(known.make(side));
  return more;
}

// A sphere: an octahedron whose triangles are divided by four, `levels` times.
Surface ball(double radius, int levels) {
  Surface surface;
  surface.name = "ball.stl";
  surface.nodes = {{{1, 0, 0}}, {{-1, 0, 0}}, {{0, 1, 0}}, {{0, -1, 0}}, {{0, 0, 1}}, {{0, 0, -1}}};
  surface.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int level = 0; level < levels; ++level) {
    std::vector<std::array<int, 3>> finer;
    const auto middle = [&](int a, int b) {
      const Vec3d x =
          normalized(surface.nodes[static_cast<std::size_t>(a)] + surface.nodes[static_cast<std::size_t>(b)]);
      for (std::size_t i = 0; i < surface.nodes.size(); ++i)
        if (norm(surface.nodes[i] - x) < 1e-12) return static_cast<int>(i);
      surface.nodes.push_back(x);
      return static_cast<int>(surface.nodes.size()) - 1;
    };
    for (const auto& t : surface.triangles) {
      const int a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], a, c}, {t[1], b, a}, {t[2], c, b}, {a, b, c}});
    }
    surface.triangles = std::move(finer);
  }
  for (Vec3d& x : surface.nodes) x = radius * x;
  return surface;
}

// A torus about z: `around` x `across` quadrilaterals, two triangles each.
Surface torus(double large, double small, int around, int across) {
  Surface surface;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const double u = 2 * pi * i / around, v = 2 * pi * j / across, r = large + small * std::cos(v);
      surface.nodes.push_back({{r * std::cos(u), r * std::sin(u), small * std::sin(v)}});
    }
  const auto node = [&](int i, int j) { return (i % around) * across + j % across; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      surface.triangles.push_back({node(i, j), node(i + 1, j), node(i + 1, j + 1)});
      surface.triangles.push_back({node(i, j), node(i + 1, j + 1), node(i, j + 1)});
    }
  return surface;
}

Surface box_surface(const Vec3d& half, int cells) {
  return boundary_surface(box_tetrahedra(-1.0 * half, half, cells, cells, cells)).surface;
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance) {
  EXPECT_LE(norm(a - b), tolerance) << a[0] << " " << a[1] << " " << a[2] << ", expected " << b[0] << " " << b[1] << " "
                                    << b[2];
}

void expect_same(const Proximity& a, const Proximity& b, double tolerance) {
  EXPECT_NEAR(a.gap, b.gap, tolerance);
  expect_near(a.normal, b.normal, tolerance);
  expect_near(a.nearest, b.nearest, tolerance);
}

void expect_consistent(const Proximity& p, const Vec3d& x) {
  EXPECT_NEAR(norm(p.normal), 1, 1e-14);
  expect_near(p.nearest, x - p.gap * p.normal, 1e-14 * (1 + norm(x) + std::abs(p.gap)));
  EXPECT_NE(p.feature, Feature::none);
  EXPECT_GE(p.index, 0);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(std::isfinite(p.curvature[i]));
  const double size = std::sqrt(dot(p.curvature, p.curvature));
  EXPECT_LE(norm(p.curvature * p.normal), 1e-13 * (1 + size));  // a unit vector turns across itself
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) EXPECT_NEAR(p.curvature(i, j), p.curvature(j, i), 1e-13 * (1 + size));
}

// Central differences of gap and normal where no neighbour lies on another feature, or across the medial axis.
bool differences_agree(const Obstacle& obstacle, const ObstaclePose& pose, const Vec3d& x) {
  const double h = 1e-5;
  const Proximity p = obstacle.at(pose, x);
  Vec3d gradient;
  Mat3d curvature;
  for (int k = 0; k < 3; ++k) {
    Vec3d up = x, down = x;
    up[k] += h, down[k] -= h;
    const Proximity a = obstacle.at(pose, up), b = obstacle.at(pose, down);
    if (a.feature != p.feature || a.index != p.index || b.feature != p.feature || b.index != p.index) return false;
    if (dot(a.normal, b.normal) < 0.9) return false;
    gradient[k] = (a.gap - b.gap) / (2 * h);
    for (int i = 0; i < 3; ++i) curvature(i, k) = (a.normal[i] - b.normal[i]) / (2 * h);
  }
  const double size = std::sqrt(dot(p.curvature, p.curvature));
  if (size > 300) return true;  // nearer to a centre than the step resolves
  expect_near(gradient, p.normal, 1e-9 * (1 + size * size));
  const Mat3d error = curvature - p.curvature;
  EXPECT_LE(std::sqrt(dot(error, error)), 1e-9 * (1 + size * size * size));
  return true;
}

// The nearest point is on the surface and no other one is nearer; the sign says on which side x is.
TEST(Obstacle, NearestPointIsNearest) {
  for (const Known& known : shapes())
    for (const Side side : known.sides) {
      SCOPED_TRACE(known.name);
      const Obstacle obstacle = known.make(side);
      std::vector<Vec3d> samples;
      for (int i = 0; i < 2000; ++i) samples.push_back(known.on_surface());
      for (int i = 0; i < 200; ++i) {
        const ObstaclePose pose = i % 2 == 0 ? ObstaclePose{} : random_pose();
        const Vec3d own = random_point(0.5), x = to_world(pose, own);
        const Proximity p = obstacle.at(pose, x);
        expect_consistent(p, x);
        EXPECT_EQ(p.gap > 0, known.holds(own) == (side == Side::inside));
        EXPECT_NEAR(obstacle.at(pose, p.nearest).gap, 0, 1e-15);
        for (const Vec3d& sample : samples) EXPECT_GE(norm(sample - own), std::abs(p.gap) - 1e-14);
      }
      for (const Vec3d& sample : samples) EXPECT_NEAR(obstacle.at({}, sample).gap, 0, 1e-15);
    }
}

TEST(Obstacle, DerivativesAgreeWithDifferences) {
  const std::vector<Obstacle> obstacles =
      every_shape({Obstacle::plane(), Obstacle::mesh(ball(0.2, 2)), Obstacle::mesh(torus(0.25, 0.1, 12, 8))});
  for (const Obstacle& obstacle : obstacles) {
    int compared = 0;
    for (int i = 0; i < 400; ++i) {
      const ObstaclePose pose = random_pose();
      compared += differences_agree(obstacle, pose, to_world(pose, random_point(0.5))) ? 1 : 0;
    }
    EXPECT_GT(compared, 300) << "shape " << static_cast<int>(obstacle.shape());
  }
}

TEST(Obstacle, PlaneIsTheHalfSpaceBelowZ) {
  const Obstacle plane = Obstacle::plane();
  const double angle = 0.3;
  const ObstaclePose pose{rotation_matrix({{{angle, 0, 0}}, {{0, 0, 0}}, 1}), {{0, 0, 2}}};
  const Proximity p = plane.at(pose, {{5, 0, 2.5}});
  EXPECT_NEAR(p.gap, 0.5 * std::cos(angle), 1e-15);
  expect_near(p.normal, {{0, -std::sin(angle), std::cos(angle)}}, 1e-15);
  EXPECT_EQ(plane.at({}, {{1, 2, -3}}).gap, -3);
}

TEST(Obstacle, BoxHasFacesEdgesAndCorners) {
  const Obstacle box = Obstacle::box({{2, 4, 6}});
  const auto check = [&](const Vec3d& x, double gap, const Vec3d& normal, Feature feature, int i, int j, int k) {
    const Proximity p = box.at({}, x);
    EXPECT_NEAR(p.gap, gap, 1e-15);
    expect_near(p.normal, normal, 1e-15);
    EXPECT_EQ(p.feature, feature);
    EXPECT_EQ(p.index, 9 * i + 3 * j + k);
  };
  const double d = std::sqrt(0.5), c = std::sqrt(1.0 / 3);
  check({{1.5, 1, -2}}, 0.5, {{1, 0, 0}}, Feature::face, 2, 1, 1);
  check({{0, -1.75, 0}}, -0.25, {{0, -1, 0}}, Feature::face, 1, 0, 1);
  check({{2, -3, 0}}, std::sqrt(2.0), {{d, -d, 0}}, Feature::edge, 2, 0, 1);
  check({{2, 3, -4}}, std::sqrt(3.0), {{c, c, -c}}, Feature::corner, 2, 2, 0);
  check({{1, 2, 3}}, 0, {{1, 0, 0}}, Feature::face, 2, 1, 1);         // on a corner: the first axis
  check({{-1, 2, 0}}, 0, {{-1, 0, 0}}, Feature::face, 0, 1, 1);       // on an edge
  check({{0, 0, 0}}, -1, {{1, 0, 0}}, Feature::face, 2, 1, 1);        // in the middle: the nearest face, the upper one
  check({{0.5, 1.5, 0}}, -0.5, {{1, 0, 0}}, Feature::face, 2, 1, 1);  // between two faces: the first axis
}

TEST(Obstacle, CylinderHasASideTwoCapsAndTwoRims) {
  const Obstacle cylinder = Obstacle::cylinder(1, 4);
  const auto check = [&](const Vec3d& x, double gap, const Vec3d& normal, Feature feature, int index) {
    const Proximity p = cylinder.at({}, x);
    EXPECT_NEAR(p.gap, gap, 1e-15);
    expect_near(p.normal, normal, 1e-15);
    EXPECT_EQ(p.feature, feature);
    EXPECT_EQ(p.index, index);
  };
  check({{0, 3, 1}}, 2, {{0, 1, 0}}, Feature::face, 0);
  check({{0.5, 0, -3}}, 1, {{0, 0, -1}}, Feature::face, 1);
  check({{0, 0, 2.5}}, 0.5, {{0, 0, 1}}, Feature::face, 2);
  check({{4, 0, 6}}, 5, {{0.6, 0, 0.8}}, Feature::edge, 2);
  check({{0, -4, -6}}, 5, {{0, -0.6, -0.8}}, Feature::edge, 1);
  check({{1, 0, 2}}, 0, {{1, 0, 0}}, Feature::face, 0);     // on a rim: the side
  check({{0, 0, 0.5}}, -1, {{1, 0, 0}}, Feature::face, 0);  // on the axis
  EXPECT_EQ(Obstacle::cylinder(2, 1).at({}, {{0, 0, 0}}).normal, (Vec3d{{0, 0, 1}}));
}

TEST(Obstacle, TubeHasTwoSidesTwoEndsAndFourRims) {
  const Obstacle tube = Obstacle::tube(2, 1, 4);
  const auto check = [&](const Vec3d& x, double gap, const Vec3d& normal, Feature feature, int index) {
    const Proximity p = tube.at({}, x);
    EXPECT_NEAR(p.gap, gap, 1e-15);
    expect_near(p.normal, normal, 1e-15);
    EXPECT_EQ(p.feature, feature);
    EXPECT_EQ(p.index, index);
    expect_consistent(p, x);
  };
  check({{0, 5, 1}}, 2, {{0, 1, 0}}, Feature::face, 0);
  check({{0, 2.75, 1}}, -0.25, {{0, 1, 0}}, Feature::face, 0);
  check({{2.5, 0, -3}}, 1, {{0, 0, -1}}, Feature::face, 1);
  check({{0, 2.5, 1.75}}, -0.25, {{0, 0, 1}}, Feature::face, 2);
  check({{0, -1.5, 1}}, 0.5, {{0, 1, 0}}, Feature::face, 3);
  check({{2.25, 0, 0}}, -0.25, {{-1, 0, 0}}, Feature::face, 3);
  check({{6, 0, -6}}, 5, {{0.6, 0, -0.8}}, Feature::edge, 1);
  check({{0, 6, 6}}, 5, {{0, 0.6, 0.8}}, Feature::edge, 2);
  check({{0, 0.5, -4}}, 2.5, {{0, -0.6, -0.8}}, Feature::edge, 4);
  check({{-0.5, 0, 4}}, 2.5, {{0.6, 0, 0.8}}, Feature::edge, 5);
  // Fixed choices: on the axis the side of +x, in the middle of the wall the outer side, the side before an end.
  check({{0, 0, 1}}, 2, {{-1, 0, 0}}, Feature::face, 3);
  check({{0, 0, 3.5}}, 2.5, {{-0.8, 0, 0.6}}, Feature::edge, 5);
  check({{0, 2.5, 0}}, -0.5, {{0, 1, 0}}, Feature::face, 0);
  check({{2.25, 0, 1.75}}, -0.25, {{-1, 0, 0}}, Feature::face, 3);
  check({{2, 0, 2}}, 0, {{-1, 0, 0}}, Feature::face, 3);
  EXPECT_EQ(tube.at({}, {{0, 0, 1}}).nearest, (Vec3d{{2, 0, 1}}));
  // The sphere around it holds its axis, which is free all the same.
  EXPECT_EQ(tube.at({}, {{0, 0, 1}}, 1.99).feature, Feature::none);
  EXPECT_EQ(tube.at({}, {{0, 0, 1}}, 2).feature, Feature::face);
}

// From outside a tube is the cylinder around it, in its bore a cylinder seen from within.
TEST(Obstacle, TubeIsTwoCylinders) {
  const Obstacle tube = Obstacle::tube(0.2, 0.1, 0.6), around = Obstacle::cylinder(0.2 + 0.1, 0.6),
                 within = Obstacle::cylinder(0.2, 100, Side::inside);
  int outside = 0, inside = 0;
  for (int i = 0; i < 500; ++i) {
    const ObstaclePose pose = random_pose();
    const Vec3d own = random_point(0.5), x = to_world(pose, own);
    const bool bore = rho(own) < 0.2 && std::abs(own[2]) < 0.3;
    if (!bore && rho(own) < 0.2 + 0.1) continue;
    ++(bore ? inside : outside);
    const Proximity p = tube.at(pose, x), q = (bore ? within : around).at(pose, x);
    expect_same(p, q, 1e-15);
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(p.curvature[k], q.curvature[k], 1e-14 / rho(own));
  }
  EXPECT_GT(outside, 100);
  EXPECT_GT(inside, 20);
}

// Where no direction is nearest, and just beside it.
TEST(Obstacle, MedialAxisIsAFixedDirectionAndFinite) {
  for (const Side side : {Side::outside, Side::inside}) {
    const double sign = side == Side::outside ? 1 : -1;
    const Proximity centre = Obstacle::sphere(2, side).at({}, {{0, 0, 0}});
    EXPECT_EQ(centre.gap, -2 * sign);
    EXPECT_EQ(centre.normal, (Vec3d{{0, 0, sign}}));
    EXPECT_EQ(dot(centre.curvature, centre.curvature), 0);
    const Proximity axis = Obstacle::capsule(2, 4, side).at({}, {{0, 0, 1}});
    EXPECT_EQ(axis.gap, -2 * sign);
    EXPECT_EQ(axis.normal, (Vec3d{{sign, 0, 0}}));
    for (const Obstacle& obstacle :
         every_shape({Obstacle::mesh(ball(0.2, 1), side), Obstacle::mesh(box_surface({{1, 1, 1}}, 2), side)}))
      for (const double distance : {0.0, 5e-324, 1e-310, 1e-200, 1e-100, 1e-50, 1e-20, 1e-10})
        for (const Vec3d& direction : {Vec3d{{1, 0, 0}}, Vec3d{{0, -1, 0}}, Vec3d{{1, 1, 1}}})
          expect_consistent(obstacle.at({}, distance * direction), distance * direction);
  }
}

TEST(Obstacle, ReachSkipsNothingThatIsNear) {
  const std::vector<Obstacle> obstacles =
      every_shape({Obstacle::plane(), Obstacle::mesh(ball(0.2, 2)), Obstacle::mesh(ball(0.2, 2), Side::inside)});
  for (const Obstacle& obstacle : obstacles) {
    const ObstaclePose pose = random_pose();
    std::vector<Vec3d> points;
    for (int i = 0; i < 500; ++i) points.push_back(to_world(pose, random_point(0.5)));
    for (const double reach : {-0.05, 0.0, 0.01, 0.1, infinity}) {
      std::vector<Proximity> found(points.size());
      int near = 0;
      const int counted = obstacle.at_all(pose, points, reach, found);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Proximity p = obstacle.at(pose, points[i]);
        if (p.gap <= reach) {
          ++near;
          EXPECT_EQ(found[i].gap, p.gap);
          EXPECT_EQ(found[i].normal, p.normal);
          EXPECT_EQ(found[i].index, p.index);
        } else {
          EXPECT_EQ(found[i].gap, infinity);
          EXPECT_EQ(found[i].feature, Feature::none);
        }
      }
      EXPECT_EQ(counted, near);
    }
  }
}

TEST(ObstacleMesh, TriangulatedBoxIsTheBox) {
  for (const Side side : {Side::outside, Side::inside}) {
    const Obstacle exact = Obstacle::box({{0.2, 0.4, 0.6}}, side);
    const Obstacle mesh = Obstacle::mesh(box_surface({{0.1, 0.2, 0.3}}, 3), side);
    for (int i = 0; i < 1000; ++i) {
      const ObstaclePose pose = random_pose();
      const Vec3d x = to_world(pose, random_point(0.5));
      const Proximity p = mesh.at(pose, x), q = exact.at(pose, x);
      expect_consistent(p, x);
      expect_same(p, q, 1e-14);
      // An edge inside a face is one of the triangulation only.
      if (p.feature == q.feature && q.feature != Feature::face) {
        for (int k = 0; k < 9; ++k) EXPECT_NEAR(p.curvature[k], q.curvature[k], 1e-9);
      }
    }
    for (const Vec3d& x :
         {Vec3d{{0.1, 0.2, 0.3}}, Vec3d{{0.1, -0.2, 0}}}) {  // on a corner, on an edge: between the faces
      const Proximity p = mesh.at({}, x);
      expect_consistent(p, x);
      EXPECT_NEAR(p.gap, 0, 1e-16);
      const double sign = side == Side::outside ? 1 : -1;
      Vec3d between{{0, 0, 0}};
      for (int k = 0; k < 3; ++k) between[k] = x[k] > 0 ? sign : x[k] < 0 ? -sign : 0;
      expect_near(p.normal, normalized(between), 1e-12);
    }
  }
}

TEST(ObstacleMesh, AgreesWithEveryTriangleAndTheSolid) {
  struct Case {
    Surface surface;
    std::function<double(const Vec3d&)> exact;  // of the smooth body, which the triangles cut by less than `off`
    double off;
  };
  const double large = 0.25, small = 0.1;
  const std::vector<Case> cases = {
      {ball(0.2, 3), [](const Vec3d& x) { return norm(x) - 0.2; }, 0.2 * 0.02},
      {torus(large, small, 40, 20), [&](const Vec3d& x) { return std::hypot(rho(x) - large, x[2]) - small; }, 0.004},
  };
  for (const Case& body : cases) {
    const Obstacle mesh = Obstacle::mesh(body.surface);
    for (int i = 0; i < 1000; ++i) {
      const Vec3d x = random_point(0.45);
      const Proximity p = mesh.at({}, x);
      expect_consistent(p, x);
      double least = infinity;
      for (const auto& t : body.surface.triangles) {
        const auto at = [&](std::size_t k) { return body.surface.nodes[static_cast<std::size_t>(t[k])]; };
        least = std::min(least, distance_to_triangle(x, at(0), at(1), at(2)));
      }
      EXPECT_EQ(std::abs(p.gap), least);
      EXPECT_NEAR(p.gap, body.exact(x), body.off);
    }
  }
}

// A wedge as sharp as this one has points whose nearest face tells the wrong side.
TEST(ObstacleMesh, SignIsRightAtSharpEdgesAndCorners) {
  Surface wedge;
  wedge.nodes = {{{0, 0, 0}}, {{1, 0.05, 0}}, {{1, -0.05, 0}}, {{0.9, 0, 1}}};
  wedge.triangles = {{0, 3, 1}, {0, 2, 3}, {1, 3, 2}, {0, 1, 2}};
  const Obstacle mesh = Obstacle::mesh(wedge);
  const auto holds = [&](const Vec3d& x) {
    for (const auto& t : wedge.triangles) {
      const auto at = [&](std::size_t k) { return wedge.nodes[static_cast<std::size_t>(t[k])]; };
      if (dot(x - at(0), cross(at(1) - at(0), at(2) - at(0))) > 0) return false;
    }
    return true;
  };
  for (int i = 0; i < 20000; ++i) {
    const Vec3d x = i % 2 == 0 ? random_point(0.1) : Vec3d{{uniform(0, 1), uniform(-0.1, 0.1), uniform(-0.1, 1)}};
    EXPECT_EQ(mesh.at({}, x).gap < 0, holds(x));
  }
}

template <class Function>
void expect_refused(Function function, const std::string& part) {
  try {
    function();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_FALSE(error.suggestion().empty());
  }
}

TEST(ObstacleMesh, RefusesSurfacesThatEncloseNothing) {
  const auto refused = [](const std::function<void(Surface&)>& spoil, const std::string& part) {
    Surface surface = ball(0.2, 1);
    spoil(surface);
    expect_refused([&] { Obstacle::mesh(surface); }, part);
  };
  refused([](Surface& s) { s.triangles.clear(); }, "no triangles");
  refused([](Surface& s) { s.triangles.pop_back(); }, "3 edges belong to one triangle only");
  refused([](Surface& s) { s.triangles.push_back(s.triangles[0]); }, "belong to more than two triangles");
  refused([](Surface& s) { std::swap(s.triangles[3][0], s.triangles[3][1]); }, "1 of 32 triangles face the inside");
  refused(
      [](Surface& s) {
        for (auto& t : s.triangles) std::swap(t[0], t[1]);
      },
      "32 of 32 triangles face the inside");
  refused([](Surface& s) { s.triangles[2][1] = 99; }, "triangle 2 uses node 99");
  refused([](Surface& s) { s.triangles[2][1] = s.triangles[2][0]; }, "triangle 2 has no area");
  refused([](Surface& s) { s.nodes[4][1] = std::nan(""); }, "node 4 has the coordinate nan");
  refused([](Surface& s) { s.nodes[4][1] = 1e31; }, "not a usable number");
  refused(  // an edge is split on one side by a triangle of no area
      [](Surface& s) {
        const auto t = s.triangles[0];
        const auto at = [&](std::size_t k) { return s.nodes[static_cast<std::size_t>(t[k])]; };
        s.nodes.push_back(0.5 * (at(0) + at(1)));
        const int middle = static_cast<int>(s.nodes.size()) - 1;
        s.triangles[0] = {t[0], middle, t[2]};
        s.triangles.push_back({middle, t[1], t[2]});
        s.triangles.push_back({t[0], t[1], middle});
      },
      "has no area");
}

TEST(Obstacle, RefusesSizesThatAreNone) {
  const double nan = std::nan("");
  expect_refused([] { Obstacle::sphere(0); }, "the radius of an obstacle is 0 m (it must be positive)");
  expect_refused([&] { Obstacle::sphere(nan); }, "radius");
  expect_refused([] { Obstacle::capsule(1, -1); }, "0 or more");
  expect_refused([] { Obstacle::box({{1, infinity, 1}}); }, "size");
  expect_refused([] { Obstacle::cylinder(1, 0); }, "length");
  expect_refused([] { Obstacle::tube(0, 1, 1); }, "radius");
  expect_refused([] { Obstacle::tube(1, 0, 1); }, "the thickness of an obstacle is 0 m (it must be positive)");
  expect_refused([] { Obstacle::tube(1, 1, -1); }, "length");
  EXPECT_EQ(Obstacle::capsule(1, 0).at({}, {{0, 0, 3}}).gap, 2);
}

TEST(Obstacle, HugeAndUnusablePoints) {
  const std::vector<Obstacle> obstacles =
      every_shape({Obstacle::plane(), Obstacle::mesh(ball(0.2, 2)), Obstacle::mesh(ball(1e20, 2))});
  for (const Obstacle& obstacle : obstacles) {
    for (const double distance : {1e6, 1e12, 1e20, 1e29})
      for (int i = 0; i < 20; ++i) {
        const ObstaclePose pose = random_pose();
        const Vec3d x = distance * random_direction();
        expect_consistent(obstacle.at(pose, x), x);
      }
    for (const double bad : {std::nan(""), infinity, -infinity, 1e31})
      for (int k = 0; k < 3; ++k) {
        Vec3d x{{0, 0, 0}};
        x[k] = bad;
        for (const Proximity& p : {obstacle.at({}, x), obstacle.at({Mat3d::identity(), x}, {{0, 0, 0}}, 1)}) {
          EXPECT_TRUE(std::isnan(p.gap));
          EXPECT_EQ(p.feature, Feature::none);
          EXPECT_EQ(p.normal, (Vec3d{{0, 0, 1}}));
        }
      }
  }
}

}  // namespace
}  // namespace supple

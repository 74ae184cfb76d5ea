// Rows of effectors: derivatives by differences, and goals at which they vanish.

#include "engine/model/effectors.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

constexpr double pi = std::numbers::pi;

// Positions along all axes and along two skew directions, an orientation, lengths with and without an end in space.
// Mapped points: 0 to 3 points, 4 to 6 the columns of a region's deformation gradient.
Robot example() {
  Robot robot;
  robot.rest_points = {{{0, 0, 0}}, {{0.3, 0.1, 0}}, {{0.2, 0.5, 0.4}}, {{0, 0.1, 0.7}},
                       {{1, 0, 0}}, {{0, 1, 0}},     {{0, 0, 1}}};
  const auto add = [&](const char* name, EffectorKind kind, int first_point, int point_count) -> Effector& {
    Effector effector;
    effector.name = name;
    effector.kind = kind;
    effector.point = effector.first_point = first_point;
    effector.point_count = point_count;
    robot.effectors.push_back(effector);
    return robot.effectors.back();
  };
  const std::vector<Vec3d> axes = EffectorScene{}.directions;
  add("point", EffectorKind::position, 1, 1).directions = axes;
  add("skew", EffectorKind::position, 2, 1).directions = {{{0, 0.6, 0.8}}, {{1, 0, 0}}};
  Effector& turn = add("turn", EffectorKind::orientation, 4, 3);
  turn.directions = axes;
  turn.lever = 0.7;
  add("inner", EffectorKind::length, 1, 3);
  Effector& pulled = add("pulled", EffectorKind::length, 0, 2);
  pulled.pull_point = Vec3d{{1, 1, 1}};
  pulled.rest_length = 1.5;
  return robot;
}

// Points moved at random, the region turned by `turn` about a skew axis and stretched.
std::vector<double> moved(const Robot& robot, const Vec3d& turn, double stretch) {
  boxes::Random random;
  std::vector<double> y;
  for (const Vec3d& x : robot.rest_points)
    for (int k = 0; k < 3; ++k) y.push_back(x[k] + 0.1 * random());
  Mat3d S = Mat3d::identity();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) {
      const double s = stretch * random();
      S(i, j) += s;
      if (i != j) S(j, i) += s;
    }
  const Mat3d A = rotation_of_vector(turn) * S;
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r) y[static_cast<std::size_t>(12 + 3 * c + r)] = A(r, c);
  return y;
}

struct Evaluated {
  std::vector<double> phi, gradients;
};

Evaluated evaluate(const Robot& robot, const std::vector<double>& y, const std::vector<double>& goals) {
  const RowLayout layout = effector_layout(robot);
  Evaluated e{std::vector<double>(static_cast<std::size_t>(layout.rows())),
              std::vector<double>(static_cast<std::size_t>(layout.gradients()))};
  evaluate_effectors(robot, layout, y, goals, e.phi, e.gradients);
  return e;
}

TEST(Effectors, LayoutHasARowForEachDirection) {
  const RowLayout layout = effector_layout(example());
  EXPECT_EQ(layout.first, (std::vector<int>{3, 3, 3, 6, 6, 12, 12, 12, 3, 0}));
  EXPECT_EQ(layout.count, (std::vector<int>{3, 3, 3, 3, 3, 9, 9, 9, 9, 6}));
}

class EffectorGradients : public testing::TestWithParam<double> {};

TEST_P(EffectorGradients, AgreeWithDifferences) {
  const Robot robot = example();
  const RowLayout layout = effector_layout(robot);
  const Vec3d axis = normalized(Vec3d{{1, -2, 0.5}});
  // The goal's orientation is not the identity; the region is turned from it by the angle under test.
  const Vec3d goal_turn{{0.4, 0.3, -0.2}};
  const Vec3d turn = vector_of_rotation(rotation_of_vector(GetParam() * axis) * rotation_of_vector(goal_turn));
  for (const double stretch : {0.0, 0.2}) {
    const std::vector<double> y = moved(robot, turn, stretch);
    std::vector<double> goals(3 * robot.effectors.size());
    boxes::Random random;
    for (double& goal : goals) goal = 0.3 * random();
    std::copy_n(goal_turn.v, 3, goals.begin() + 6);
    const Evaluated here = evaluate(robot, y, goals);
    // theta is the angle times the axis: the rows say so themselves.
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(here.phi[static_cast<std::size_t>(5 + i)], 0.7 * GetParam() * axis[i], 1e-14);
    const double h = 1e-6;
    for (std::size_t j = 0; j < y.size(); ++j) {
      std::vector<double> up = y, down = y;
      up[j] += h;
      down[j] -= h;
      const Evaluated high = evaluate(robot, up, goals), low = evaluate(robot, down, goals);
      for (std::size_t row = 0; row < here.phi.size(); ++row) {
        const int local = static_cast<int>(j) - layout.first[row];
        const bool own = local >= 0 && local < layout.count[row];
        const double gradient = own ? here.gradients[static_cast<std::size_t>(layout.offset[row] + local)] : 0.0;
        // Values of 1 with rounding of a few 1e-16 over 2e-6; third derivatives of at most 1e3 times 1e-12 / 6.
        EXPECT_NEAR(gradient, (high.phi[row] - low.phi[row]) / (2 * h), 2e-9) << "row " << row << ", y " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Angles, EffectorGradients, testing::Values(0.0, 1e-9, 1e-4, 2e-3, 0.5, 1.6, 2.5),
                         [](const auto& tested) { return "Number" + std::to_string(tested.index); });

TEST(Effectors, StateIsTheGoalAtWhichTheRowsVanish) {
  const Robot robot = example();
  for (const double angle : {0.0, 0.3, 3.0}) {
    const std::vector<double> y = moved(robot, angle * normalized(Vec3d{{1, 1, -3}}), 0.1);
    std::vector<double> goals(3 * robot.effectors.size());
    for (std::size_t e = 0; e < robot.effectors.size(); ++e)
      effector_state(robot, static_cast<int>(e), y, std::span(goals).subspan(3 * e, 3));
    // Rounding of lengths and angles of about 1.
    for (const double phi : evaluate(robot, y, goals).phi) EXPECT_NEAR(phi, 0, 2e-15);
  }
  std::vector<double> rest, state(3);
  for (const Vec3d& x : robot.rest_points) rest.insert(rest.end(), x.v, x.v + 3);
  effector_state(robot, 2, rest, state);
  EXPECT_EQ(state, (std::vector<double>{0, 0, 0}));
}

TEST(Effectors, AnOrientationHalfATurnAwayHasNoGradient) {
  const Robot robot = example();
  const RowLayout layout = effector_layout(robot);
  std::vector<double> goals(3 * robot.effectors.size(), 0.0);
  const auto gradients_vanish = [&](const std::vector<double>& y) {
    const Evaluated e = evaluate(robot, y, goals);
    for (int k = layout.offset[5]; k < layout.offset[8]; ++k)
      if (e.gradients[static_cast<std::size_t>(k)] != 0) return false;
    return true;
  };
  EXPECT_FALSE(gradients_vanish(moved(robot, {{0, 3.1, 0}}, 0)));
  EXPECT_TRUE(gradients_vanish(moved(robot, {{0, 0.9995 * pi, 0}}, 0)));
  // Turned inside out along one axis: the nearest rotation is not unique.
  std::vector<double> y = moved(robot, {{0, 0, 0}}, 0);
  y[12] = -1;
  EXPECT_TRUE(gradients_vanish(y));
}

TEST(RotationVectors, ComeBack) {
  boxes::Random random;
  for (const double angle : {0.0, 1e-12, 1e-7, 2e-6, 1e-4, 0.3, pi / 2, 2.0, 3.0, pi - 1e-4, pi - 1e-6, pi - 1e-9, pi})
    for (int trial = 0; trial < 20; ++trial) {
      const Vec3d axis = normalized(Vec3d{{random(), random(), random()}}), theta = angle * axis;
      const Mat3d R = rotation_of_vector(theta);
      const Mat3d unit = transpose(R) * R - Mat3d::identity();
      EXPECT_LT(std::sqrt(dot(unit, unit)), 1e-14);
      const Vec3d back = vector_of_rotation(R);
      // At half a turn both axes are right.
      const double off = angle == pi ? std::min(norm(back - theta), norm(back + theta)) : norm(back - theta);
      // R holds its entries to 1e-16, and with them the angle and the axis times the angle.
      EXPECT_LT(off, 3e-15) << "angle " << angle;
    }
  for (int k = 0; k < 3; ++k) {
    Vec3d half{{0, 0, 0}};
    half[k] = pi;
    const Vec3d back = vector_of_rotation(rotation_of_vector(half));
    EXPECT_NEAR(std::abs(back[k]), pi, 1e-15);
  }
}

}  // namespace
}  // namespace supple

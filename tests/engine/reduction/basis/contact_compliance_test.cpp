// What contact does to a body and its modes lack: against forces applied to the full model, and between models.

#include "engine/reduction/basis/contact_compliance.hpp"

#include <Eigen/Eigenvalues>

#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using Matrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Matrix3 block(const std::vector<double>& compliance, int point) {
  return Eigen::Map<const Matrix3>(compliance.data() + 9 * point);
}

// A bar with a strut of commanded length and a rod in it, among an obstacle out of reach.
FullModel bar() {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.gravity = {{0, 0, 0}};
  scene.actuators.erase(scene.actuators.begin());  // what can hang loose holds nothing at rest
  ConstraintScene rod;
  rod.name = "rod";
  rod.kind = ConstraintKind::distance;
  rod.points = {{{0.1, 0.03, 0.05}}, {{0.2, 0.06, 0.05}}};
  scene.constraints.push_back(rod);
  FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  PlacedObstacle floor = contact_bodies::floor();
  floor.pose.position[2] = -1;
  contact_bodies::place_among(model, {floor});
  return model;
}

Vec3d at(const Robot& robot, std::span<const double> y, int point) {
  const double* x = y.data() + 3 * (robot.first_collision_point + point);
  return {{x[0], x[1], x[2]}};
}

TEST(PointCompliance, IsWhatASmallForceDoes) {
  const FullModel model = bar();
  FullMechanics mechanics(model);
  const std::vector<double> compliance = point_compliance(mechanics);
  ASSERT_EQ(compliance.size(), 9 * static_cast<std::size_t>(model.robot.collision_points));
  constexpr double newton = 1e-3;
  for (const int point : {0, 5, model.robot.collision_points - 1})
    for (int axis = 0; axis < 3; ++axis) {
      PointRows row{{model.robot.first_collision_point + point}, {Mat3d::identity()}};
      std::vector<double> load(static_cast<std::size_t>(model.coordinates.nv), 0.0), force(3, 0.0);
      force[static_cast<std::size_t>(axis)] = newton;
      mechanics.add_row_forces(row, force, load);
      Stepper statics(mechanics, {.scheme = StepScheme::quasi_static, .tolerance = 1e-10, .row_tolerance = 1e-12});
      statics.set_load(load);
      State state = rest_state(mechanics);
      ASSERT_EQ(statics.step(zero_control(mechanics), state).status, StepStatus::ok);
      const Vec3d rest = model.robot.rest_points[static_cast<std::size_t>(model.robot.first_collision_point + point)];
      const Vec3d moved = (1 / newton) * (at(model.robot, statics.outputs(), point) - rest);
      const Matrix3 expected = block(compliance, point);
      // The body gives way by some 1e-6 m of 0.3 m: what is of second order is 1e-5 of it.
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(moved[i], expected(i, axis), 1e-4 * expected.norm()) << point << axis << i;
    }
}

TEST(PointCompliance, OfAllModesIsTheBodysAndOfFewIsLess) {
  const FullModel model = bar();
  const int n = model.coordinates.nv;
  FullMechanics full(model);
  const std::vector<double> body = point_compliance(full);
  const ReducedModel all = project(model, reduced_bodies::full_basis(n), n, all_elements(model));
  ReducedMechanics same(all);
  const std::vector<double> own = point_compliance(same);
  ASSERT_EQ(own.size(), body.size());
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(own[i], body[i], 1e-9 * std::abs(body[0]) + 1e-12);
  const ReducedModel few = project(model, reduced_bodies::random_basis(n, 12), 12, all_elements(model));
  ReducedMechanics coarse(few);
  const std::vector<double> less = point_compliance(coarse);
  double lacking = 0;
  for (int p = 0; p < model.robot.collision_points; ++p) {
    const Eigen::SelfAdjointEigenSolver<Matrix3> lack(block(body, p) - block(less, p));
    EXPECT_GT(lack.eigenvalues()(0), -1e-9 * block(body, p).norm());  // a subspace gives way less
    lacking = std::max(lacking, lack.eigenvalues()(2) / block(body, p).norm());
  }
  EXPECT_GT(lacking, 0.5);
}

TEST(OutsideModes, TellHowFarAPushedPointIsOff) {
  // The bar pressed down on a peg: the model that only knows how its end is pulled aside against one with all modes.
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.actuators = {scene.actuators[1]};
  scene.gravity = {{0, 0, 0}};
  FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  PlacedObstacle peg{.name = "peg", .obstacle = Obstacle::box({{0.12, 0.2, 0.04}}), .pose = {}, .friction = 0};
  peg.pose.position = {{0.2, 0.05, -0.018}};  // 2 mm into the underside
  contact_bodies::place_among(model, {peg});
  const int n = model.coordinates.nv;
  FullMechanics full(model);
  // Modes: the shapes of pulls.
  std::vector<double> basis;
  int modes = 0;
  for (const double pull : {0.3, 0.9, 1.5}) {
    State state = rest_state(full);
    FullModel alone = model;
    alone.robot.obstacles.clear();
    alone.robot.collision_points = 0;
    FullMechanics mechanics(alone);
    State free = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = {pull};
    ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, free).status, StepStatus::ok);
    std::vector<double> column = free.q;
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < modes; ++k) {
        double product = 0;
        for (int i = 0; i < n; ++i)
          product += basis[static_cast<std::size_t>(k * n + i)] * column[static_cast<std::size_t>(i)];
        for (int i = 0; i < n; ++i)
          column[static_cast<std::size_t>(i)] -= product * basis[static_cast<std::size_t>(k * n + i)];
      }
    const double length = boxes::norm(column);
    for (double& x : column) x /= length;
    basis.insert(basis.end(), column.begin(), column.end());
    ++modes;
  }
  ReducedModel reduced = project(model, basis, modes, all_elements(model));
  ReducedMechanics own(reduced);
  reduced.full_compliance = point_compliance(full);
  reduced.own_compliance = point_compliance(own);
  State state = rest_state(full);
  Control control = zero_control(full);
  ASSERT_EQ(Equilibrium(full, {}).solve(control, state).status, StepStatus::ok);
  ASSERT_GT(norm(contact_bodies::total_force(state)), 0.01);
  const auto outside = outside_modes(reduced, state);
  ASSERT_TRUE(outside);
  // Under the full model's forces: how far the modes follow the body.
  std::vector<double> y(static_cast<std::size_t>(model.robot.outputs()));
  full.evaluate_outputs(state.q, state.motions, y);
  double depth = 0;
  for (int p = 0; p < model.robot.collision_points; ++p) {
    const Vec3d force{{state.contact_forces[3 * static_cast<std::size_t>(p)],
                       state.contact_forces[3 * static_cast<std::size_t>(p) + 1],
                       state.contact_forces[3 * static_cast<std::size_t>(p) + 2]}};
    if (norm(force) == 0) continue;
    const Vec3d moved = at(model.robot, y, p) -
                        model.robot.rest_points[static_cast<std::size_t>(model.robot.first_collision_point + p)];
    depth = std::max(depth, norm(moved));
  }
  EXPECT_GT(outside->share, 0.1);
  EXPECT_LE(outside->share, 1);
  // An estimate: neighbours push together, and the modes follow a little.
  EXPECT_GT(outside->depth, 0.2 * depth);
  EXPECT_LT(outside->depth, 1.5 * depth);
  // Nothing presses: nothing is said.
  EXPECT_FALSE(outside_modes(reduced, rest_state(full)));
}

}  // namespace
}  // namespace supple

// Bodies that nothing holds: equilibria that are unique though the stiffness is singular, and momentum.

#include "engine/reduction/basis/rigid_motion.hpp"

#include <gtest/gtest.h>

#include "engine/step/equilibrium.hpp"
#include "solvers/pod/pod.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"

namespace supple {
namespace {

const std::vector<double> bent{0.06, 0.02};

State settle(const FullModel& model, const std::vector<double>& commands, State state) {
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  control.commands = commands;
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
  EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_LE(report.residual, 1e-9);
  EXPECT_EQ(report.negative_pivots, 0);
  Stepper stepper(mechanics, {.scheme = StepScheme::quasi_static});
  std::vector<double> r(state.q.size());
  EXPECT_LE(stepper.imbalance(state, r), 1e-9);  // without any pull
  return state;
}

State at_rest(const FullModel& model) {
  return rest_state(FullMechanics(model));
}

TEST(FloatingEquilibrium, IsTheOneNearestToTheStart) {
  const FullModel model = build_full_model(floating_bodies::scene(), floating_bodies::mesh());
  ASSERT_TRUE(model.robot.floating);
  const State state = settle(model, bent, at_rest(model));
  EXPECT_GT(boxes::norm(state.q), 0.1);  // it has bent
  // The pull that chooses among equilibria leaves an error of the order of its strength against the stiffness, squared:
  // measured 1e-8.
  const RigidFit fit(model);
  const RigidMotion left = fit.between(state.q, at_rest(model).q);
  EXPECT_LT(left.angle(), 1e-6);
  EXPECT_LT(norm(left.translation), 1e-7);
}

TEST(FloatingEquilibrium, DoesNotDependOnTheTimeStep) {
  std::vector<double> first;
  for (const double h : {0.001, 0.01, 0.1}) {
    const FullModel model = build_full_model(floating_bodies::scene(h), floating_bodies::mesh());
    const State state = settle(model, bent, at_rest(model));
    if (first.empty()) first = state.q;
    // As above; measured 2e-7, all of it rotation.
    EXPECT_LT(boxes::difference(state.q, first), 2e-6) << h;
  }
}

TEST(FloatingEquilibrium, ComesBackToRestWhenLetGo) {
  const FullModel model = build_full_model(floating_bodies::scene(), floating_bodies::mesh());
  const State back = settle(model, {0, 0}, settle(model, bent, at_rest(model)));
  for (const double u : back.q) EXPECT_NEAR(u, 0, 1e-6);
}

// The same shape from a start that is somewhere else and turned, where it started.
TEST(FloatingEquilibrium, StaysWhereItStarted) {
  const FullModel model = build_full_model(floating_bodies::scene(), floating_bodies::mesh());
  const RigidFit fit(model);
  const RigidMotion away{boxes::rotation({{1, 2, 3}}, 0.7), {{0.5, -0.2, 1}}};
  State start = at_rest(model);
  fit.move(away, start.q);
  State there = settle(model, bent, start);
  const State here = settle(model, bent, at_rest(model));
  std::vector<double> expected = here.q;
  fit.move(away, expected);
  EXPECT_LT(boxes::difference(there.q, expected), 1e-7);
}

TEST(FloatingEquilibrium, UnderGravityThereIsNone) {
  Scene scene = floating_bodies::scene();
  scene.gravity = {{0, 0, -9.81}};
  const FullModel model = build_full_model(scene, floating_bodies::mesh());
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  const std::uint64_t before = hash(state);
  Control control = zero_control(mechanics);
  for (const double command : {0.0, 0.03}) {
    control.commands[0] = command;
    const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
    EXPECT_EQ(report.status, StepStatus::unbalanced) << describe(report.status);
    EXPECT_EQ(hash(state), before);
  }
}

// A force from outside that a second one balances is none of those.
TEST(FloatingEquilibrium, ExistsUnderForcesThatBalance) {
  Scene scene = floating_bodies::scene();
  scene.actuators = {boxes::pull("ahead", {{0.4, 0.05, 0.05}}, {{1, 0, 0}}, 1),
                     boxes::pull("back", {{0, 0.05, 0.05}}, {{-1, 0, 0}}, 1)};
  const FullModel model = build_full_model(scene, floating_bodies::mesh());
  const State state = settle(model, {3, 3}, at_rest(model));
  EXPECT_GT(boxes::norm(state.q), 1e-4);
  FullMechanics mechanics(model);
  State slipping = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {3, 0};
  // Towards the end of the cable in space, 1 m away, which it may reach or not: it does not stay.
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, slipping);
  EXPECT_NE(report.status, StepStatus::ok);
}

TEST(FloatingBody, IsOneThatNoRegionHolds) {
  Scene scene = floating_bodies::scene();
  FixScene spring;
  spring.region = boxes::box_region({{-1, -1, -1}}, {{0.01, 1, 1}});
  spring.stiffness = 10;
  scene.bodies[0].fixes = {spring};
  EXPECT_FALSE(build_full_model(scene, floating_bodies::mesh()).robot.floating);
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  EXPECT_FALSE(build_full_model(scene, floating_bodies::mesh()).robot.floating);
}

// Cables inside, a thousand steps of bending to and fro: internal forces cancel to rounding.
TEST(FloatingBody, KeepsItsLinearMomentum) {
  Scene scene = floating_bodies::scene();
  const FullModel model = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  const Vec3d velocity{{0.3, -0.2, 0.1}};
  for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i] = velocity[static_cast<int>(i % 3)];
  Control control = zero_control(mechanics);
  std::vector<double> Mv(state.v.size());
  double fastest = 0;
  for (int step = 0; step < 1000; ++step) {
    control.commands = {0.02 * (1 - std::cos(0.05 * step)), 0.01 * (1 - std::cos(0.08 * step))};
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    fastest =
        std::max(fastest, boxes::norm(boxes::plus(state.v, -1, boxes::affine(model, Mat3d::identity(), velocity))));
  }
  mechanics.inertia(state.v, {}, Mv);
  Vec3d momentum{{0, 0, 0}};
  for (std::size_t i = 0; i < Mv.size(); ++i) momentum[static_cast<int>(i % 3)] += Mv[i];
  EXPECT_GT(fastest, 0.1);  // it moves within
  // 4 kg at 0.4 m/s; each step adds the rounding of forces of some 100 N times h: measured below 1e-11.
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(momentum[k], model.total_mass * velocity[k], 1e-9);
}

TEST(RigidFit, FindsTheMotionBetweenTwoShapes) {
  const FullModel model = build_full_model(floating_bodies::scene(), floating_bodies::mesh());
  const RigidFit fit(model);
  const std::vector<double> shape = boxes::random_vector(model.coordinates.nv, 0.01);
  for (const double angle : {0.0, 0.1, 1.5, 3.1}) {
    const RigidMotion motion{boxes::rotation({{1, -2, 0.5}}, angle), {{3, -1, 2}}};
    std::vector<double> moved = shape;
    fit.move(motion, moved);
    const RigidMotion found = fit.between(shape, moved);
    // Rounding of places some metres away.
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(found.rotation.m[k], motion.rotation.m[k], 1e-13);
    EXPECT_NEAR(found.angle(), angle, 1e-13);
    EXPECT_LT(norm(found.translation - motion.translation), 1e-13);
  }
  // What is left after removal has no rigid part, and its size does not depend on where the shape was.
  std::vector<double> here = shape, there = shape;
  fit.move({boxes::rotation({{0, 1, 1}}, 2), {{1, 1, 1}}}, there);
  (void)fit.remove(here);
  (void)fit.remove(there);
  EXPECT_LT(boxes::difference(there, here), 1e-12);
  EXPECT_LT(fit.between(here, at_rest(model).q).angle(), 1e-12);
}

TEST(RigidModes, AreOrthonormalAndJoinedToABasis) {
  // Irregular, so that nothing is orthogonal by symmetry.
  const FullModel model =
      build_full_model(boxes::scene({"", MaterialModel::corotational}), reduced_bodies::bar(false, 6));
  const int nv = model.coordinates.nv;
  const std::vector<double> rigid = rigid_modes(model);
  ASSERT_EQ(rigid.size(), static_cast<std::size_t>(6 * nv));
  // Small motions are theirs: a translation, and a rotation about any point, to first order.
  for (const Vec3d& axis : {Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}, Vec3d{{1, 1, 1}}}) {
    const double angle = 1e-6;
    std::vector<double> q = boxes::affine(model, boxes::rotation(axis, angle), {{2e-6, 1e-6, -1e-6}});
    const double size = boxes::norm(q);
    remove_modes(rigid, nv, q);
    EXPECT_LT(boxes::norm(q) / size, 1e-6);  // angle / 2
  }
  // A random basis is far from orthogonal to them.
  const int modes = 20;
  const std::vector<double> joined = join_modes(rigid, reduced_bodies::random_basis(nv, modes), nv);
  ASSERT_EQ(joined.size(), static_cast<std::size_t>((6 + modes) * nv));
  EXPECT_TRUE(std::equal(rigid.begin(), rigid.end(), joined.begin()));
  EXPECT_LE(orthonormality_defect(joined, nv, 6 + modes), 1e-12);
}

}  // namespace
}  // namespace supple

// Contact in the time step: bodies that fall, rest, slide, stick, are pressed and pulled; full and reduced, alone and
// in a batch.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace contact_bodies;

const boxes::Law corotational{"corotational", MaterialModel::corotational};

// Block of 0.2 x 0.1 x 0.1 m, its lower face at height z; 2 kg.
FullModel block(const Scene& scene, double z, int cells = 2) {
  return build_full_model(scene, box_tetrahedra({{0, 0, z}}, {{0.2, 0.1, z + 0.1}}, 2 * cells, cells, cells));
}

Scene soft_scene() {
  Scene scene = boxes::scene(corotational, 2e5, 0.4);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 0.5;
  scene.bodies[0].rayleigh_stiffness = 0.01;
  return scene;
}

class Drop : public testing::TestWithParam<std::tuple<StepScheme, double>> {};

TEST_P(Drop, ABlockFallsAndComesToRestOnTheFloor) {
  const auto [scheme, friction] = GetParam();
  FullModel model = block(soft_scene(), 0.02);
  place_among(model, {floor(friction)}, 0.001);
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
  State state = rest_state(mechanics);
  bool flew = false;
  for (int step = 0; step < 150; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    ASSERT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    flew = flew || report.contact.touching == 0;
    EXPECT_LE(report.contact.residual, 1e-9);
    // A plane's gap is linear: what is left is the solver's 1e-10 of the motion.
    ASSERT_GE(least_gap(mechanics, state), -1e-10) << step;
  }
  EXPECT_TRUE(flew);
  // Damped by 15 per second or more; one second of rest.
  EXPECT_LT(boxes::norm(state.v), 1e-4);
  const Vec3d force = total_force(state);
  EXPECT_NEAR(force[2], 2 * 9.81, 2e-4);
  EXPECT_NEAR(force[0], 0, 1e-4);
  EXPECT_NEAR(force[1], 0, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Contact, Drop,
                         testing::Combine(testing::Values(StepScheme::one_linearisation, StepScheme::newton),
                                          testing::Values(0.0, 0.6)));

// The nodes of its sole as corners of a surface of their own, and as a group of its mesh.
TEST(CollisionSurface, OfTheNodesOfASoleFallsAsTheseDo) {
  const reduced_bodies::TemporaryFolder folder;
  Scene scene = soft_scene();
  scene.obstacles = {obstacle_scenes::floor(0)};
  scene.obstacles[0].friction = 0.6;
  scene.obstacles[0].rotation = {{0.1, 0, 0}};
  scene.contact.distance = 0.001;
  scene.contact.region = boxes::group_region("z-");
  FullModel by_nodes = block(scene, 0.02);
  scene.contact.region = {};
  std::ofstream file(folder / "sole.obj");
  const Robot& robot = by_nodes.robot;
  for (int p = 0; p < robot.collision_points; ++p) {
    const Vec3d& x = robot.rest_points[extent(robot.first_collision_point + p)];
    file << fmt::format("v {} {} {}\n", x[0], x[1], x[2]);
  }
  for (int p = 3; p <= robot.collision_points; ++p) file << fmt::format("f {} {} {}\n", p - 2, p - 1, p);
  file.close();
  scene.contact.surface = SurfaceScene{folder / "sole.obj", 1, {}};
  FullModel by_corners = block(scene, 0.02);
  ASSERT_EQ(by_corners.robot.collision_points, robot.collision_points);
  FullMechanics a(by_nodes), b(by_corners);
  Stepper one(a, {.time_step = 0.01}), other(b, {.time_step = 0.01});
  State x = rest_state(a), y = rest_state(b);
  for (int step = 0; step < 60; ++step) {
    ASSERT_EQ(one.step(zero_control(a), x).status, StepStatus::ok) << step;
    ASSERT_EQ(other.step(zero_control(b), y).status, StepStatus::ok) << step;
  }
  EXPECT_GT(total_force(x)[2], 1);
  // Forces are solved to 1e-10; weights of corners are those of nodes to 1e-16.
  for (std::size_t i = 0; i < x.q.size(); ++i) EXPECT_NEAR(x.q[i], y.q[i], 1e-8);
}

// A stiff block on a slope of angle atan(slope): gravity is turned instead.
double speed_on_slope(double slope, double friction, int steps, State* end = nullptr) {
  Scene scene = boxes::scene(corotational, 1e9, 0.3);
  const double g = 9.81, c = 1 / std::sqrt(1 + slope * slope);
  scene.gravity = {{g * slope * c, 0, -g * c}};
  FullModel model = block(scene, 0);
  place_among(model, {floor(friction)});
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  for (int step = 0; step < steps; ++step)
    EXPECT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok) << step;
  if (end) *end = state;
  return mean_velocity(mechanics, state)[0];
}

TEST(Incline, TheBlockSticksBelowTheAngleOfFrictionAndSlidesAbove) {
  const double mu = 0.4;
  // One per mille on either side. A block that sticks moves by its own strain alone, some 1e-8 m, once.
  EXPECT_LT(std::abs(speed_on_slope(0.999 * mu, mu, 20)), 1e-8);
  const double slope = 1.001 * mu, c = 1 / std::sqrt(1 + slope * slope);
  const double acceleration = 9.81 * (slope - mu) * c;
  // It is first pressed flat, and slips by 1e-6 m meanwhile.
  EXPECT_NEAR(speed_on_slope(slope, mu, 20), 0.2 * acceleration, 2e-5);
}

TEST(Incline, TheBlockSlidesWithTheCoulombAcceleration) {
  for (const double mu : {0.0, 0.2, 0.5}) {
    const double slope = 0.8, c = 1 / std::sqrt(1 + slope * slope), acceleration = 9.81 * (slope - mu) * c;
    State end;
    // Implicit Euler is exact under a constant acceleration; strain oscillates by 1e-7 m.
    EXPECT_NEAR(speed_on_slope(slope, mu, 30, &end), 0.3 * acceleration, 1e-5 * acceleration) << mu;
    const Vec3d force = total_force(end);
    EXPECT_NEAR(force[0], -mu * force[2], 1e-6 * force[2]) << mu;
    EXPECT_NEAR(force[2], 2 * 9.81 * c, 1e-4 * force[2]) << mu;
  }
}

TEST(Contact, ARestingBlockStaysWhereItIs) {
  Scene scene = soft_scene();
  FullModel model = block(scene, 0);
  place_among(model, {floor(0.5)});
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  for (int step = 0; step < 300; ++step) ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
  const std::vector<double> settled = state.q;
  for (int step = 0; step < 300; ++step) ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
  double drift = 0;
  for (std::size_t i = 0; i < settled.size(); ++i) drift = std::max(drift, std::abs(state.q[i] - settled[i]));
  // What is left of settling, e^(-15 * 3).
  EXPECT_LT(drift, 1e-9);
}

// With modes that span all coordinates the reduced robot is the full one.
TEST(Contact, AReducedBlockWithAllModesMovesAsTheFullOne) {
  Scene scene = soft_scene();
  FullModel model = block(scene, 0.006, 1);
  place_among(model, {floor(0.3),
                      {.name = "ball",
                       .obstacle = Obstacle::sphere(0.05),
                       .pose = {Mat3d::identity(), {{0.1, 0.05, -0.045}}},
                       .friction = 0.1}});
  const int nv = model.coordinates.nv;
  std::vector<double> basis(extent(nv, nv), 0.0);
  for (int i = 0; i < nv; ++i) basis[extent(i, nv) + extent(i)] = 1;
  const ReducedModel reduced = project(model, basis, nv, all_elements(model));
  ASSERT_EQ(reduced.robot.pairs(), model.robot.pairs());
  FullMechanics full(model);
  ReducedMechanics small(reduced, 1), two(reduced, 2);
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton}) {
    Stepper a(full, {.scheme = scheme}), b(small, {.scheme = scheme}), c(two, {.scheme = scheme});
    State x = rest_state(full), y = rest_state(small), z = rest_state(two);
    for (std::size_t i = 0; i < x.v.size(); ++i) {
      x.v[i] = i % 3 == 0 ? 0.5 : 0;
      z.v[i] = y.v[i] = x.v[i];
    }
    for (int step = 0; step < 30; ++step) {
      ASSERT_EQ(a.step(zero_control(full), x).status, StepStatus::ok) << step;
      ASSERT_EQ(b.step(zero_control(small), y).status, StepStatus::ok) << step;
      ASSERT_EQ(c.step(zero_control(two), z).status, StepStatus::ok) << step;
    }
    EXPECT_GT(norm(total_force(x)), 1);
    // The contact solver's 1e-10 through thirty steps of different factorisations.
    EXPECT_LT(boxes::difference(y.q, x.q), 1e-6);
    // In a batch each robot has the bits it has alone, but for Newton's method, which goes on until all have converged.
    if (scheme == StepScheme::one_linearisation) {
      EXPECT_TRUE(std::equal(y.q.begin(), y.q.end(), z.q.begin()));
    }
  }
}

TEST(Contact, ARunGoesOnBitByBitFromItsState) {
  FullModel model = block(soft_scene(), 0.001);
  place_among(model, {floor(0.4)});
  FullMechanics mechanics(model);
  State once = rest_state(mechanics);
  {
    Stepper stepper(mechanics, {});
    for (int step = 0; step < 20; ++step) ASSERT_EQ(stepper.step(zero_control(mechanics), once).status, StepStatus::ok);
  }
  State state = rest_state(mechanics);
  for (int step = 0; step < 20; ++step) {
    Stepper stepper(mechanics, {});
    ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
  }
  EXPECT_EQ(hash(state), hash(once));
  EXPECT_GT(total_force(state)[2], 1);
}

// A bar held at one end bends under a cable onto a ball, and rests on it in equilibrium.
TEST(Contact, ABarIsPulledOntoABall) {
  Scene scene = boxes::scene(corotational, 2e5, 0.4);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable;
  cable.name = "cable";
  cable.points = {{{0.29, 0.05, 0.01}}};
  cable.pull_point = {{0.29, 0.05, -0.3}};
  cable.range = {0, 0.1};
  scene.actuators = {cable};
  FullModel model = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.3, 0.1, 0.05}}, 6, 2, 1));
  const Vec3d centre{{0.2, 0.05, -0.06}};
  place_among(
      model,
      {{.name = "ball", .obstacle = Obstacle::sphere(0.05), .pose = {Mat3d::identity(), centre}, .friction = 0.3}});
  FullMechanics mechanics(model);
  Equilibrium statics(mechanics, {});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {0.06};
  const EquilibriumReport report = statics.solve(control, state);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_GT(total_force(state)[2], 0.5);
  EXPECT_GE(least_gap(mechanics, state), -1e-10);
  EXPECT_GT(state.multipliers[0], 1);
  // In balance with all forces.
  std::vector<double> left(extent(model.coordinates.nv));
  EXPECT_LT(Stepper(mechanics, {.scheme = StepScheme::quasi_static}).imbalance(state, left), 1e-8);
  // Every force within its cone, along the ball's normal.
  std::vector<double> y(extent(model.robot.outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  for (int p = 0; p < model.robot.collision_points; ++p) {
    const double* f = state.contact_forces.data() + 3 * p;
    const double* x = y.data() + 3 * (model.robot.first_collision_point + p);
    const Vec3d force{{f[0], f[1], f[2]}}, n = normalized(Vec3d{{x[0], x[1], x[2]}} - centre);
    const double pressing = dot(force, n);
    EXPECT_GE(pressing, -1e-9);
    EXPECT_LE(norm(force - pressing * n), 0.3 * pressing + 1e-9);
  }
}

TEST(Contact, ABodyStaysInItsRoom) {
  // Thrown about in a box without gravity, without damping but that of the integrator.
  Scene scene = boxes::scene(corotational, 5e4, 0.3);
  FullModel model = block(scene, 0);
  place_among(model, {{.name = "room",
                       .obstacle = Obstacle::box({{0.3, 0.3, 0.3}}, Obstacle::Side::inside),
                       .pose = {boxes::rotation({{1, 2, 3}}, 0.3), {{0.1, 0.05, 0.05}}},
                       .friction = 0.2}});
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i] = i % 3 == 0 ? 2 : i % 3 == 1 ? -1 : 0.7;
  int touched = 0;
  for (int step = 0; step < 100; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    ASSERT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    touched += report.contact.touching > 0 ? 1 : 0;
    // Cutting planes end at 1e-9 m.
    EXPECT_GE(least_gap(mechanics, state), -2e-9) << step;
  }
  EXPECT_GT(touched, 3);
}

// Without gravity, in and before a tilted tube.
TEST(Contact, ABodyIsThrownIntoATube) {
  struct Throw {
    Vec3d tube, v;  // in the tube's frame: its middle from the block's, velocity of the block
    bool through;
  };
  for (const auto& [tube, v, through] : {Throw{{{0, 0, 0}}, {{1.5, -1, 1}}, true},  // along the bore and out past a rim
                                         Throw{{{0.1, 0.02, 0.42}}, {{0, 0, 2}}, false}}) {  // onto an end
    Scene scene = boxes::scene(corotational, 5e4, 0.3);
    FullModel model = block(scene, 0);
    const Mat3d rotation = boxes::rotation({{1, 2, 3}}, 0.3);
    const Vec3d middle{{0.1, 0.05, 0.05}}, position = middle + rotation * tube;
    place_among(
        model,
        {{.name = "tube", .obstacle = Obstacle::tube(0.17, 0.02, 0.5), .pose = {rotation, position}, .friction = 0.2}});
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {});
    State state = rest_state(mechanics);
    ASSERT_GT(least_gap(mechanics, state), 0.01);
    const Vec3d start = rotation * v;
    for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i] = start[static_cast<int>(i % 3)];
    int touched = 0;
    for (int step = 0; step < 100; ++step) {
      const StepReport report = stepper.step(zero_control(mechanics), state);
      ASSERT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
      touched += report.contact.touching > 0 ? 1 : 0;
      // Cutting planes end at 1e-9 m.
      EXPECT_GE(least_gap(mechanics, state), -2e-9) << step;
    }
    EXPECT_GT(touched, 3);
    std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs()));
    mechanics.evaluate_outputs(state.q, state.motions, y);
    const Vec3d end = transpose(rotation) * (Vec3d{{y[0], y[1], y[2]}} - position);
    EXPECT_EQ(end[2] > 0.25, through) << end[2];
  }
}

}  // namespace
}  // namespace supple

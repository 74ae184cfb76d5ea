// Bodies of an assembly that touch each other: rest, friction, speed, thin things, soft on rigid.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "engine/mesh/boundary.hpp"
#include "engine/model/touches.hpp"
#include "tests/engine/bodies/touching_bodies.hpp"

namespace supple {
namespace {

using namespace assemblies;

class BodyContact : public testing::TestWithParam<StepScheme> {};

// A stack of three bricks on a slab: each bears what is above it, and none moves.
TEST_P(BodyContact, AStackRests) {
  World world;
  world.box("slab", {{0.3, 0.3, 0.02}}, 1, Hold::fixed, {{{0, 0, -0.01}}, Mat3d::identity()}, 0.5);
  for (int k = 0; k < 3; ++k)
    world.box("brick" + std::to_string(k), {{0.1, 0.08, 0.04}}, 0.5, Hold::free,
              turned({{0.002 * k, 0, 0.02 + 0.04 * k + distance * (k + 1)}}, {{0, 0, 0.1 * k}}), 0.5);
  AssemblyMechanics mechanics(world.assembly);
  Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 5e-3, .tolerance = 1e-9});
  State state = rest_state(mechanics);
  const std::vector<double> start = state.q;
  run(stepper, zero_control(mechanics), 200, state);
  EXPECT_LT(boxes::difference(state.q, start), 1e-6);
  EXPECT_GT(least(mechanics, stepper), distance - 1e-7);
  // Where it does: the places at which the slab is pressed are on it, below the first brick, and bear all weight.
  const std::vector<double> y = stepper.outputs();
  double borne = 0;
  for (const Press& press : presses(mechanics.robot(), state, y))
    if (std::abs(press.at[2]) < 0.01) {
      EXPECT_LT(std::abs(press.at[2]), 2 * distance);
      EXPECT_LT(std::abs(press.at[0]), 0.06);
      borne += std::abs(press.force[2]);
    }
  EXPECT_NEAR(borne, 3 * 0.5 * 9.81, 1e-5);
  // Each bears the weight of what is above it.
  const std::vector<BodyTouch> touches = body_touches(mechanics.robot(), state);
  ASSERT_EQ(touches.size(), 3U);
  for (int k = 0; k < 3; ++k) {
    const BodyTouch& touch = touches[extent(k)];
    EXPECT_EQ(touch.first, k);
    EXPECT_EQ(touch.second, k + 1);
    EXPECT_NEAR(touch.force[2], -0.5 * 9.81 * (3 - k), 1e-5);
    EXPECT_NEAR(std::hypot(touch.force[0], touch.force[1]), 0, 1e-5);
  }
}

// A brick on a slope, held above and sliding below the angle of friction.
TEST_P(BodyContact, ABrickSticksOrSlidesOnASlope) {
  const double angle = 0.3;
  for (const double friction : {std::tan(angle) * 1.02, std::tan(angle) * 0.98}) {
    World world;
    const Pose slope = turned({{0, 0, 0}}, {{0, angle, 0}});
    world.box("slope", {{2, 1, 0.1}}, 1, Hold::fixed, slope * Pose{{{0, 0, -0.05}}, Mat3d::identity()}, friction);
    world.box("brick", {{0.1, 0.1, 0.02}}, 0.3, Hold::free, slope * Pose{{{0, 0, 0.01 + distance}}, Mat3d::identity()},
              friction);
    AssemblyMechanics mechanics(world.assembly);
    Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 5e-3, .tolerance = 1e-10});
    State state = rest_state(mechanics);
    const Vec3d start = pose_of(state.q.data()).position;
    run(stepper, zero_control(mechanics), 40, state);
    const double way = norm(pose_of(state.q.data()).position - start);
    const double expected = 9.81 * (std::sin(angle) - friction * std::cos(angle));
    if (expected < 0)
      EXPECT_LT(way, 1e-7);
    else  // implicit Euler: a h^2 n (n + 1)/2
      EXPECT_NEAR(way, expected * 5e-3 * 5e-3 * 40 * 41 / 2, 1e-5);
  }
}

// At 100 m/s, half a metre in a step of 5 ms, a ball stops at a sheet of a tenth of a millimetre.
TEST_P(BodyContact, AShotStopsAtAThinSheet) {
  World world(Vec3d{{0, 0, 0}});
  world.box("sheet", {{0.2, 0.2, 1e-4}}, 1, Hold::fixed, {}, 0);
  world.ball("ball", 0.01, 0.1, {{0.03, 0.02, 0.2}});
  world.assembly.contact_distance = 4e-5;
  AssemblyMechanics mechanics(world.assembly);
  Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 5e-3, .tolerance = 1e-9});
  State state = rest_state(mechanics);
  state.v[2] = -100;
  for (int step = 0; step < 5; ++step) {
    run(stepper, zero_control(mechanics), 1, state);
    EXPECT_GT(state.q[2], 0.01) << step;
  }
  EXPECT_NEAR(state.q[2], 0.01 + 5e-5 + 4e-5, 1e-6);
  EXPECT_NEAR(state.v[2], 0, 1e-6);
}

// Two balls that meet head-on stop without rebound; what they lost is the momentum of their centre of mass, which stays.
TEST_P(BodyContact, BallsShareTheirMomentum) {
  World world(Vec3d{{0, 0, 0}});
  world.ball("a", 0.02, 0.1, {{0, 0, 0}});
  world.ball("b", 0.03, 0.3, {{0.1, 0.01, 0}});
  AssemblyMechanics mechanics(world.assembly);
  Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 5e-3, .tolerance = 1e-10});
  State state = rest_state(mechanics);
  state.v[0] = 2;
  run(stepper, zero_control(mechanics), 20, state);
  const auto [P, L] = mechanics.momentum(state.q, state.v);
  EXPECT_NEAR(P[0], 0.2, 1e-9);
  EXPECT_NEAR(P[1], 0, 1e-9);
  EXPECT_GT(state.v[6], 0.2);
  EXPECT_GT(least(mechanics, stepper), 0);
}

// A soft block that falls on pins of 6 mm, or blades of 0.4 mm on edge, between its nodes is held by them.
void lies_between_its_nodes(const CollisionSurface& thin, const Vec3d& turn) {
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e5, 0.35);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 5;
  const Mesh mesh = box_tetrahedra({{-0.05, -0.05, 0}}, {{0.05, 0.05, 0.05}}, 4, 4, 2);
  FullModel model = build_full_model(scene, mesh);
  ASSERT_TRUE(model.robot.floating);
  World world;
  world.assembly.frames.push_back(frame("world", Hold::fixed));
  const Pose place{{{0.012, 0, 0}}, Mat3d::identity()};
  world.assembly.surfaces.push_back(skin_of("block", model, 0, place, 0.3));
  FullMechanics block(model);
  world.assembly.bodies = {body("block", block, body_inertia(model), 0, place)};
  // Two along y, between the rows of nodes at x = -0.038, -0.013, 0.012, ...
  for (const double x : {-0.025, 0.025}) world.add("thin", thin, {}, Hold::fixed, turned({{x, 0, -0.005}}, turn), 0.3);
  AssemblyMechanics mechanics(world.assembly);
  Stepper stepper(mechanics, {.time_step = 5e-3});
  State state = rest_state(mechanics);
  for (int step = 0; step < 100; ++step) {
    run(stepper, zero_control(mechanics), 1, state);
    ASSERT_GT(least(mechanics, stepper), 0.5 * distance) << step;
  }
  double lowest = 1, speed = 0;
  for (std::size_t i = 2; i < state.q.size(); i += 3) lowest = std::min(lowest, state.q[i]);
  for (const double v : state.v) speed = std::max(speed, std::abs(v));
  EXPECT_GT(lowest, -0.02);
  EXPECT_LT(speed, 0.05);
}

TEST(SoftBodyContact, ABlockLiesOnPinsBetweenItsNodes) {
  lies_between_its_nodes(capsule_surface(0.003, 0.2), {{std::numbers::pi / 2, 0, 0}});
}

TEST(SoftBodyContact, ABlockLiesOnBladesBetweenItsNodes) {
  lies_between_its_nodes(box_surface({{4e-4, 0.2, 6e-3}}), {{0, 0, 0}});
}

// Boxes, balls, capsules and soft blocks in turn, from random places into a box with a floor: nothing comes nearer than
// half the distance to anything at any vertex, edge or face.
void pile(int seed, int of_each, int steps) {
  const double apart = 2e-4;
  boxes::Random random;
  for (int k = 0; k < 97 * seed; ++k) (void)random();
  World world;
  world.assembly.contact_distance = apart;
  const auto walls = [&] {
    world.box("floor", {{0.6, 0.6, 0.04}}, 1, Hold::fixed, {{{0, 0, -0.02}}, Mat3d::identity()}, 0.4);
    for (int k = 0; k < 4; ++k) {
      const double a = k * std::numbers::pi / 2;
      world.box("wall", {{0.02, 0.4, 2.6}}, 1, Hold::fixed,
                turned({{0.13 * std::cos(a), 0.13 * std::sin(a), 1.3 + 2 * apart}}, {{0, 0, a}}), 0.4);
    }
  };
  world.assembly.frames.push_back(frame("world", Hold::fixed));
  walls();
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 2e5, 0.35);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 0;
  scene.bodies[0].rayleigh_stiffness = 0.002;
  std::vector<std::unique_ptr<FullModel>> models;
  std::vector<std::unique_ptr<FullMechanics>> blocks;
  for (int k = 0; k < 2 * of_each; ++k) {
    const Pose place =
        turned({{0.04 * random(), 0.04 * random(), 0.07 + 0.08 * k}}, {{2 * random(), 2 * random(), 2 * random()}});
    if (k % 2 == 0) {
      const Vec3d size{{0.05, 0.04, 0.03}};
      if (k / 2 % 3 == 0)
        world.box("box", size, 0.1, Hold::free, place, 0.4);
      else if (k / 2 % 3 == 1)
        world.ball("ball", 0.02, 0.1, place.position, 0.4);
      else
        world.add("capsule", capsule_surface(0.012, 0.03), box_of(0.1, {{0.024, 0.024, 0.05}}), Hold::free, place, 0.4);
      continue;
    }
    models.push_back(std::make_unique<FullModel>(
        build_full_model(scene, box_tetrahedra({{-0.025, -0.02, -0.02}}, {{0.025, 0.02, 0.02}}, 2, 2, 2))));
    FullModel& model = *models.back();
    const auto body_number = static_cast<int>(world.assembly.bodies.size());
    world.assembly.surfaces.push_back(skin_of("soft", model, body_number, place, 0.4));
    blocks.push_back(std::make_unique<FullMechanics>(model));
    world.assembly.bodies.push_back(
        body("soft" + std::to_string(body_number), *blocks.back(), body_inertia(model), 0, place));
  }
  AssemblyMechanics mechanics(world.assembly);
  Stepper stepper(mechanics, {.time_step = 5e-3});
  State state = rest_state(mechanics);
  const Control control = zero_control(mechanics);
  int rows = 0;
  for (int step = 0; step < steps; ++step) {
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << seed << " " << step << " " << describe(report.status);
    rows = std::max(rows, report.contact.rows);
    ASSERT_GT(least(mechanics, stepper), 0.5 * apart) << seed << " " << step;
  }
  EXPECT_GT(rows, 2 * of_each);
}

TEST(Pile, OfSixBodiesKeepsItsDistance) {
  pile(5, 3, 90);
}

TEST(LongPile, OfTwentyBodiesKeepsItsDistance) {
  for (int seed = 1; seed <= 10; ++seed) pile(seed, 10, 300);
}

INSTANTIATE_TEST_SUITE_P(Assembly, BodyContact, testing::Values(StepScheme::one_linearisation, StepScheme::newton));

}  // namespace
}  // namespace supple

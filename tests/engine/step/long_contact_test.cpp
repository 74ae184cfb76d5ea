// Contact at the sizes and lengths that count: Hertz, a long rest, a hundred drops.

#include <gtest/gtest.h>

#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"

namespace supple {
namespace {

using namespace contact_bodies;

const boxes::Law corotational{"corotational", MaterialModel::corotational};

// A rigid ball pressed on a half-space: F = 4/3 E/(1 - nu^2) R^1/2 depth^3/2 (Hertz), contact radius a = (R depth)^1/2.
TEST(LongHertz, ABallPressedOnABlock) {
  const double R = 0.1, E = 1e5, nu = 0.3, largest = 0.02;  // a / R = 0.2 at most
  const int cells = 14;
  // Thirty contact radii to each side and below; nodes crowd at the top's centre, where four cells span one.
  const double size = 30 * largest;
  Mesh mesh = box_hexahedra({{-1, -1, -1}}, {{1, 1, 0}}, 2 * cells, 2 * cells, cells);
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) x[k] = size * x[k] * x[k] * x[k];
  Scene scene = boxes::scene(corotational, E, nu);
  FixScene below;
  below.region = boxes::box_region({{-10, -10, -10}}, {{10, 10, -0.999 * size}});
  scene.bodies[0].fixes = {below};
  std::vector<double> depths, forces;
  for (const double radius : {0.5 * largest, 0.7 * largest, largest}) {
    const double depth = radius * radius / R;
    FullModel model = build_full_model(scene, mesh);
    place_among(model, {{.name = "ball",
                         .obstacle = Obstacle::sphere(R),
                         .pose = {Mat3d::identity(), {{0, 0, R - depth}}},
                         .friction = 0}});
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    const EquilibriumReport report = Equilibrium(mechanics, {}).solve(zero_control(mechanics), state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    EXPECT_GE(least_gap(mechanics, state), -1e-10);
    depths.push_back(depth);
    forces.push_back(-total_force(state)[2]);
    const double hertz = 4.0 / 3 * E / (1 - nu * nu) * std::sqrt(R) * std::pow(depth, 1.5);
    RecordProperty(std::to_string(depth), std::to_string(forces.back() / hertz));
    // The bar; the block's size adds some 3 %, linear elements the rest.
    EXPECT_NEAR(forces.back() / hertz, 1, 0.05) << radius;
  }
  EXPECT_NEAR(std::log(forces[2] / forces[0]) / std::log(depths[2] / depths[0]), 1.5, 0.05);
}

TEST(LongRest, ABlockOnASlopeDoesNotCreep) {
  Scene scene = boxes::scene(corotational, 2e5, 0.4);
  scene.gravity = {{2, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 0.5;
  scene.bodies[0].rayleigh_stiffness = 0.01;
  FullModel model = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.2, 0.1, 0.1}}, 4, 2, 2));
  place_among(model, {floor(0.5)});
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  std::vector<double> settled;
  for (int step = 0; step < 101000; ++step) {
    ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
    if (step == 999) settled = state.q;
  }
  double drift = 0;
  for (std::size_t i = 0; i < settled.size(); ++i) drift = std::max(drift, std::abs(state.q[i] - settled[i]));
  // The bar: 1e-6 of its length over 1e5 steps.
  EXPECT_LT(drift, 1e-6 * 0.2);
}

TEST(LongDrops, AHundredBlocksInAnyPoseStayOutOfTheObstacles) {
  boxes::Random random;
  Scene scene = boxes::scene(corotational, 1e5, 0.4);
  scene.gravity = {{0, 0, -9.81}};
  for (int drop = 0; drop < 100; ++drop) {
    const Mat3d turn = boxes::rotation({{random(), random(), random() + 1.01}}, 3 * random());
    Mesh mesh = box_tetrahedra({{-0.1, -0.05, -0.05}}, {{0.1, 0.05, 0.05}}, 4, 2, 2);
    for (Vec3d& x : mesh.nodes) x = turn * x + Vec3d{{0, 0, 0.2}};
    FullModel model = build_full_model(scene, mesh);
    const double distance = 5e-4;
    place_among(model,
                {floor(0.5 + 0.5 * random()),
                 {.name = "ball",
                  .obstacle = Obstacle::sphere(0.04),
                  .pose = {Mat3d::identity(), {{0.1 * random(), 0.05 * random(), 0.02}}},
                  .friction = 0.3},
                 {.name = "step",
                  .obstacle = Obstacle::box({{0.2, 0.4, 0.03}}),
                  .pose = {boxes::rotation({{0, 0, 1}}, random()), {{0.2, 0, 0.015}}},
                  .friction = 0.8}},
                distance);
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {.time_step = 0.01});
    State state = rest_state(mechanics);
    for (std::size_t i = 0; i < state.v.size(); i += 3) state.v[i] = random();
    for (int step = 0; step < 80; ++step) {
      const StepReport report = stepper.step(zero_control(mechanics), state);
      ASSERT_EQ(report.status, StepStatus::ok) << drop << ", step " << step << ": " << describe(report.status);
      ASSERT_EQ(report.contact.softened, 0) << drop << ", step " << step;
      ASSERT_LE(report.contact.residual, 1e-8) << drop << ", step " << step;
      // Every vertex of the skin is a collision point: all are held off, to what cutting planes leave.
      ASSERT_GE(least_gap(mechanics, state), -2e-9) << drop << ", step " << step;
    }
    EXPECT_GT(total_force(state)[2], 0) << drop;
  }
}

}  // namespace
}  // namespace supple

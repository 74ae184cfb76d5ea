// Everything that a robot may have, in batches whose states stay on a device: against each robot alone on a CPU.
// Springs, dampers, implicit factors, prescribed motions, obstacles that are meshes, orientations, goals in contact.

#include <gtest/gtest.h>

#include "engine/inverse/inverse_law.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/effectors.hpp"
#include "engine/step/batch_stepper.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"
#include "tests/engine/bodies/contact_models.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"

namespace supple {
namespace {

using namespace batch_bodies;

constexpr int robots = 4;

// Lists that hold nothing, or zeros, are the same.
double apart(const std::vector<double>& found, const std::vector<double>& expected) {
  return boxes::norm(expected) == 0 ? boxes::norm(found) : boxes::difference(found, expected);
}

class BatchFeatures : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchFeatures, test::every_device(), test::device_name);

std::vector<double> motions_at(int step, const Robot& robot, int count) {
  std::vector<double> motions;
  for (int b = 0; b < count; ++b)
    for (std::size_t j = 0; j < robot.motions.size(); ++j)
      motions.push_back(0.004 * std::sin(0.1 * step * (1 + 0.2 * b) + static_cast<double>(j)));
  return motions;
}

// Each robot alone, by ReducedMechanics, and all as a batch; the commands are those of batch_bodies.
void expect_same_motion(const ReducedModel& model, const Device& device, int steps, double tolerance,
                        StepScheme scheme) {
  SCOPED_TRACE(scheme == StepScheme::newton ? "Newton's method" : "one linearisation");
  const Robot& robot = model.robot;
  BatchStepSettings settings{.scheme = scheme,
                             .time_step = robot.time_step,
                             .implicit_velocity = robot.implicit_velocity,
                             .implicit_position = robot.implicit_position,
                             .parts = 2,
                             .ahead = true};
  BatchStepper batch(model, device, robots, settings);
  ReducedMechanics mechanics(model, robots);
  Stepper stepper(mechanics, {.scheme = scheme,
                              .time_step = robot.time_step,
                              .implicit_velocity = robot.implicit_velocity,
                              .implicit_position = robot.implicit_position});
  State expected = rest_state(mechanics);
  Control control = zero_control(mechanics);
  int touching = 0;
  for (int step = 1; step <= steps; ++step) {
    control.commands = commands_at(step, robot, robots);
    control.motions = motions_at(step, robot, robots);
    const StepReport report = stepper.step(control, expected), found = batch.step(control.commands, control.motions);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    ASSERT_EQ(found.status, StepStatus::ok) << describe(found.status);
    EXPECT_EQ(found.contact.touching, report.contact.touching) << step;
    EXPECT_EQ(found.iterations, report.iterations) << step;
    EXPECT_NEAR(found.force_scale, report.force_scale, 1e-9 * report.force_scale) << step;
    touching += report.contact.touching;
  }
  const State found = batch.state();
  for (const auto list : state_lists) EXPECT_LE(apart(found.*list, expected.*list), tolerance);
  EXPECT_LE(boxes::difference(batch.outputs(), stepper.outputs()), tolerance);
  EXPECT_GT(boxes::norm(expected.q), 1e-4);
  EXPECT_EQ(touching > 0, robot.pairs() > 0);
}

void expect_same_motion(const ReducedModel& model, const Device& device, int steps, double tolerance) {
  expect_same_motion(model, device, steps, tolerance, StepScheme::one_linearisation);
  expect_same_motion(model, device, steps / 3, tolerance, StepScheme::newton);
}

// Sums in another order, through systems of condition 1e4; velocities are differences by a time step of 1e-2.
constexpr double rounding = 1e-10;

TEST_P(BatchFeatures, SpringsAndDampers) {
  const Scene scene = constrained_bodies::constrained_bar(reduced_bodies::bar_scene(corotational));
  const ReducedModel model = reduced(scene, reduced_bodies::bar(false));
  ASSERT_FALSE(model.robot.springs.empty());
  ASSERT_TRUE(std::ranges::any_of(model.robot.springs, [](const ConstraintRow& row) { return row.damping_time > 0; }));
  ASSERT_TRUE(
      std::ranges::any_of(model.robot.constraints, [](const ConstraintRow& row) { return row.damping_time > 0; }));
  expect_same_motion(model, GetParam(), 60, rounding);
}

TEST_P(BatchFeatures, ImplicitFactors) {
  Scene scene = constrained_bodies::constrained_bar(reduced_bodies::bar_scene(corotational));
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.kind == ConstraintKind::limit; });
  ReducedModel model = reduced(scene, reduced_bodies::bar(false));
  model.robot.rayleigh_mass = 0.5;
  model.robot.rayleigh_stiffness = 0.01;
  model.robot.implicit_velocity = 0.6;
  model.robot.implicit_position = 0.7;
  expect_same_motion(model, GetParam(), 60, rounding);
}

TEST_P(BatchFeatures, PrescribedMotions) {
  const FullModel full = driven_bodies::model(driven_bodies::Drive::rigid);
  ReducedModel model = project(full, reduced_bodies::random_basis(full.coordinates.nv, 6), 6, all_elements(full));
  ASSERT_FALSE(model.robot.motions.empty());
  model.robot.rayleigh_mass = 0.5;
  expect_same_motion(model, GetParam(), 40, rounding);
  model.robot.implicit_velocity = 0.75;
  expect_same_motion(model, GetParam(), 40, rounding);
}

// Each robot's gas has a compliance of its own.
TEST_P(BatchFeatures, GasInCavities) {
  for (const ActuatorControl control : {ActuatorControl::gas, ActuatorControl::supply}) {
    Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, control, 0);
    ActuatorScene& cavity = scene.actuators[0];
    cavity.range = control == ActuatorControl::gas ? Interval{0, 5e-4} : Interval{0, 4e4};
    cavity.dead_volume = 2e-5;
    cavity.force = {-cavity.atmosphere, unlimited};
    if (control == ActuatorControl::supply) cavity.resistance = 1e8;
    const ReducedModel model = reduced(scene, hollow_bodies::bar(false));
    EXPECT_EQ(model.robot.history(), control == ActuatorControl::supply ? 1 : 0);
    expect_same_motion(model, GetParam(), 45, rounding);
  }
}

// The host finds the tensions of each.
TEST_P(BatchFeatures, CablesThatRub) {
  Scene scene = reduced_bodies::bar_scene(corotational);
  for (ActuatorScene& cable : scene.actuators) {
    if (cable.kind != ActuatorKind::cable) continue;
    cable.points.push_back({{0.1, 0.02, 0.02}});
    cable.friction = 0.3;
    cable.slip_length = 1e-3;
  }
  const ReducedModel model = reduced(scene, reduced_bodies::bar(false));
  ASSERT_GT(model.robot.history(), 0);
  // Sliding turns round where its sign does: rounding decides a step earlier or later.
  expect_same_motion(model, GetParam(), 45, 1e-8);
}

// A slab below the hollow bar, as a closed surface.
ReducedModel above_a_slab() {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  scene.obstacles = {obstacle_scenes::floor(-0.004)};
  scene.obstacles[0].friction = 0;
  ReducedModel model = contact_models::reduced(build_full_model(scene, hollow_bodies::bar(false)));
  Surface slab;
  for (const double z : {-0.1, 0.0})
    for (const double y : {-0.5, 0.5})
      for (const double x : {-0.5, 0.5}) slab.nodes.push_back({{x, y, z}});
  slab.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  model.robot.obstacles[0].obstacle = Obstacle::mesh(slab);
  return model;
}

// The host finds these contacts, robot by robot, from the device's factors.
TEST_P(BatchFeatures, ObstaclesThatAreMeshes) {
  const ReducedModel model = above_a_slab();
  ASSERT_TRUE(needs_contact_on_host(model.robot).has_value());
  expect_same_motion(model, GetParam(), 40, 1e-8);
}

// Stiffness of springs and curvature of obstacles, robot by robot; each robot alone takes the same iterations.
TEST_P(BatchFeatures, SpringsInContactByNewtonsMethod) {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  ConstraintScene spring;
  spring.name = "spring";
  spring.kind = ConstraintKind::distance;
  spring.points = {{{0.27, 0.015, 0.05}}, {{0.27, 0.085, 0.05}}};  // across: the bar bends as it did
  spring.compliance = 1e-5;
  spring.form = ConstraintForm::force;
  scene.constraints = {spring};
  scene.obstacles = {obstacle_scenes::obstacle("ball", ObstacleShape::sphere, {{0.2, 0.05, -3.004}})};
  scene.obstacles[0].radius = 3;
  scene.obstacles[0].friction = 0.3;
  const ReducedModel model = contact_models::reduced(build_full_model(scene, hollow_bodies::bar(false)));
  ASSERT_FALSE(model.robot.springs.empty());
  const Robot& robot = model.robot;
  BatchStepper batch(model, GetParam(), robots,
                     {.scheme = StepScheme::newton, .time_step = robot.time_step, .parts = 1});
  ReducedMechanics one(model);
  Stepper stepper(one, {.scheme = StepScheme::newton, .time_step = robot.time_step});
  std::vector<State> alone(robots, rest_state(one));
  int touching = 0;
  for (int step = 1; step <= 15; ++step) {
    const StepReport found = batch.step(commands_at(step, robot, robots));
    ASSERT_EQ(found.status, StepStatus::ok) << describe(found.status);
    int iterations = 0;
    ContactFigures contact;
    for (int b = 0; b < robots; ++b) {
      Control control = zero_control(one);
      control.commands = commands_at(step, robot, 1, b);
      const StepReport report = stepper.step(control, alone[extent(b)]);
      ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
      iterations = std::max(iterations, report.iterations);
      contact.add(report.contact);
    }
    EXPECT_EQ(found.iterations, iterations) << step;
    EXPECT_EQ(found.contact.touching, contact.touching) << step;
    EXPECT_EQ(found.contact.solves, contact.solves) << step;
    touching += contact.touching;
  }
  EXPECT_GT(touching, 0);
  const State found = batch.state();
  for (int b = 0; b < robots; ++b) EXPECT_LT(boxes::difference(of_robot(found.q, robots, b), alone[extent(b)].q), 1e-8);
}

// Goals where the effectors of robots are that are led by commands; a robot of its own, and all as a batch.
void expect_same_lead(const ReducedModel& model, const Device& device, int steps, double tolerance,
                      StepScheme scheme = StepScheme::one_linearisation) {
  const Robot& robot = model.robot;
  ReducedMechanics leading(model, robots), alone(model, robots);
  const StepSettings settings{.scheme = scheme, .time_step = robot.time_step};
  Stepper forward(leading, settings), inverse(alone, settings);
  BatchStepper batch(model, device, robots, {.scheme = scheme, .time_step = robot.time_step, .laws = true, .parts = 1});
  InverseLaw law(robot, robots, {}), of_batch(robot, robots, {});
  ConstraintLaw* const laws[] = {&of_batch};
  State leader = rest_state(leading), expected = leader;
  Control control = zero_control(leading);
  const std::size_t numbers = 3 * robot.effectors.size(), ny = extent(robot.outputs());
  std::vector<double> goals(robots * numbers);
  int touching = 0;
  for (int step = 1; step <= steps; ++step) {
    control.commands = commands_at(step, robot, robots);
    control.motions = motions_at(step, robot, robots);
    ASSERT_EQ(forward.step(control, leader).status, StepStatus::ok);
    const std::vector<double> y = forward.outputs();
    for (std::size_t b = 0; b < robots; ++b)
      for (std::size_t e = 0; e < robot.effectors.size(); ++e)
        effector_state(robot, static_cast<int>(e), std::span(y).subspan(b * ny, ny),
                       std::span(goals).subspan(b * numbers + 3 * e, 3));
    law.set_goals(goals);
    of_batch.set_goals(goals);
    const StepReport report = inverse.step(law, expected.motions, expected);
    ASSERT_EQ(report.status, StepStatus::ok);
    ASSERT_EQ(batch.step(laws).status, StepStatus::ok);
    touching += report.contact.touching;
  }
  const State found = batch.state();
  for (const auto list : state_lists) EXPECT_LE(apart(found.*list, expected.*list), tolerance);
  EXPECT_GT(boxes::norm(expected.multipliers), 0);
  EXPECT_EQ(touching > 0, robot.pairs() > 0);
}

TEST_P(BatchFeatures, GoalsOfOrientation) {
  Scene scene = reduced_bodies::bar_scene(corotational);
  scene.effectors.resize(1);
  scene.effectors[0].kind = EffectorKind::orientation;
  scene.effectors[0].point.reset();
  Region end;
  end.kind = Region::Kind::box;
  end.lower = {{0.15, -1, -1}};
  end.upper = {{1, 1, 1}};
  scene.effectors[0].region = end;
  expect_same_lead(reduced(scene, reduced_bodies::bar(false)), GetParam(), 20, 1e-7);
}

// The law moves the base, too.
TEST_P(BatchFeatures, GoalsByPrescribedMotions) {
  const FullModel full = driven_bodies::model(driven_bodies::Drive::rigid);
  const ReducedModel model = project(full, reduced_bodies::random_basis(full.coordinates.nv, 6), 6, all_elements(full));
  ASSERT_FALSE(model.robot.motions.empty());
  ASSERT_FALSE(model.robot.effectors.empty());
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton})
    expect_same_lead(model, GetParam(), 10, 1e-7, scheme);
}

// Programs and contacts on the host: their regularisation is 1e-6, forces end at a residual of 1e-8.
TEST_P(BatchFeatures, GoalsInContact) {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  scene.obstacles = {obstacle_scenes::floor(-0.004)};
  scene.obstacles[0].friction = 0.3;
  expect_same_lead(contact_models::reduced(build_full_model(scene, hollow_bodies::bar(false))), GetParam(), 20, 1e-6);
}

}  // namespace
}  // namespace supple

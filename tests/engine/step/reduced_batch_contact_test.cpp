// A batch on a device among obstacles and with springs as forces, against robot by robot: forward, and inversely.

#include <gtest/gtest.h>

#include "engine/inverse/inverse_law.hpp"
#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/constrained_bodies.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/contact_models.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"

namespace supple {
namespace {

constexpr int robots = 5;

class BatchInContact : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchInContact, test::every_device(), test::device_name);

using contact_models::floor_at, contact_models::reduced;

struct Run {
  State state;
  int touching = 0;
};

// Robot b pulls with (1 + b / 8) times `pull` [B x actuators] of a wave of its own.
Run run(Mechanics& mechanics, int steps, const std::vector<double>& pull) {
  const Robot& robot = mechanics.robot();
  Stepper stepper(mechanics, {.time_step = robot.time_step,
                              .implicit_velocity = robot.implicit_velocity,
                              .implicit_position = robot.implicit_position});
  Run result{rest_state(mechanics)};
  Control control = zero_control(mechanics);
  for (int step = 1; step <= steps; ++step) {
    for (std::size_t k = 0; k < control.commands.size(); ++k) {
      const std::size_t b = k / pull.size(), i = k % pull.size();
      const double phase = 0.2 * step * (1 + 0.05 * static_cast<double>(b)) + static_cast<double>(i);
      control.commands[k] = pull[i] * (1 + static_cast<double>(b) / 8) * (1 - std::cos(phase));
    }
    const StepReport report = stepper.step(control, result.state);
    EXPECT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    if (report.status != StepStatus::ok) break;
    result.touching = std::max(result.touching, report.contact.touching);
  }
  return result;
}

// Contact forces are found to 1e-8 of the motion (tight_residual), by iterations that rounding leads to other ends
// within that; what they leave is damped like every other motion.
constexpr double contact_tolerance = 1e-7;

void expect_same_run(const ReducedModel& model, const Device& device, int steps, const std::vector<double>& pull,
                     double tolerance) {
  ReducedMechanics one_by_one(model, robots);
  ReducedBatchMechanics batch(model, device, robots);
  const Run expected = run(one_by_one, steps, pull), found = run(batch, steps, pull);
  EXPECT_LT(boxes::difference(found.state.q, expected.state.q), tolerance);
  EXPECT_LT(boxes::difference(found.state.v, expected.state.v), tolerance);
  EXPECT_LT(boxes::difference(found.state.multipliers, expected.state.multipliers), tolerance);
  EXPECT_EQ(found.touching, expected.touching);
  if (model.robot.pairs() == 0) return;
  EXPECT_GE(expected.touching, robots);
  EXPECT_LT(boxes::difference(found.state.contact_forces, expected.state.contact_forces), 10 * tolerance);
}

// Springs between points of the body and to places, with damping, beside rows of every kind.
TEST_P(BatchInContact, SpringsAsForces) {
  Scene scene = constrained_bodies::constrained_bar(reduced_bodies::bar_scene({"", MaterialModel::corotational}));
  for (const double beta : {1.0, 0.5}) {
    scene.implicit_velocity = scene.implicit_position = beta;
    if (beta < 1) scene.constraints.erase(scene.constraints.begin() + 1);  // its limit needs beta = 1
    const ReducedModel model = reduced(build_full_model(scene, reduced_bodies::bar(false)));
    ASSERT_EQ(model.robot.springs.empty(), false);
    expect_same_run(model, GetParam(), 30, {0.004, 0.3, 0.001}, 1e-10);
  }
}

// Held at one end, with a sheet and springs, sinking onto a floor that it grips.
TEST_P(BatchInContact, MembranesOnAFloor) {
  Scene scene = constrained_bodies::constrained_bar(reduced_bodies::bar_scene({"", MaterialModel::corotational}));
  MembraneScene sheet;
  sheet.region = boxes::group_region("z-");
  sheet.young = 1e6;
  sheet.thickness = 1e-3;
  scene.bodies[0].membranes = {sheet};
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.form != ConstraintForm::force; });
  FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  contact_bodies::place_among(full, {floor_at(-0.004, 0.5)}, 0.0005);
  expect_same_run(reduced(full), GetParam(), 30, {0.0005, 0.3, 0.001}, contact_tolerance);
}

// Pressed onto the floor by its cavity, whose volume is a polynomial of the modes.
TEST_P(BatchInContact, CavitiesOnAFloor) {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  scene.obstacles = {obstacle_scenes::floor(-0.004)};
  scene.obstacles[0].friction = 0.3;
  const FullModel full = build_full_model(scene, hollow_bodies::bar(false));
  expect_same_run(reduced(full), GetParam(), 30, {8e3, 0.004}, contact_tolerance);
}

// A crawler that nothing holds: six rigid modes first.
TEST_P(BatchInContact, LooseOnAFloor) {
  Scene scene = floating_bodies::scene();
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 1;
  scene.bodies[0].rayleigh_stiffness = 0.005;
  FullModel full = build_full_model(scene, floating_bodies::mesh());
  contact_bodies::place_among(full, {floor_at(-0.002, 0.6)});
  expect_same_run(reduced(full, true), GetParam(), 40, {0.015, 0.004}, contact_tolerance);
}

// Goals that the floor is in the way of.
TEST_P(BatchInContact, InverseControl) {
  Scene scene = reduced_bodies::bar_scene({"", MaterialModel::corotational});
  scene.effectors.resize(1);
  FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  contact_bodies::place_among(full, {floor_at(-0.006, 0.5)});
  const ReducedModel model = reduced(full);
  ReducedMechanics one_by_one(model, robots);
  ReducedBatchMechanics batch(model, GetParam(), robots);
  std::vector<State> states;
  int touching = 0;
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&one_by_one), static_cast<Mechanics*>(&batch)}) {
    Stepper stepper(*mechanics, {});
    InverseLaw law(model.robot, robots, {});
    State state = rest_state(*mechanics);
    std::vector<double> goals(3 * robots);
    for (int k = 1; k <= 20; ++k) {
      for (std::size_t b = 0; b < robots; ++b) {
        goals[3 * b] = 0.29 - 1e-4 * k;
        goals[3 * b + 1] = 0.05 + 1e-4 * k * static_cast<double>(b);
        goals[3 * b + 2] = 0.05 - 6e-4 * k;
      }
      law.set_goals(goals);
      const StepReport report = stepper.step(law, state.motions, state);
      ASSERT_EQ(report.status, StepStatus::ok) << k << ": " << describe(report.status);
      touching = std::max(touching, report.contact.touching);
    }
    states.push_back(state);
  }
  EXPECT_GE(touching, robots);
  EXPECT_LT(boxes::difference(states[1].q, states[0].q), contact_tolerance);
  EXPECT_LT(boxes::difference(states[1].commands, states[0].commands), contact_tolerance);
}

}  // namespace
}  // namespace supple

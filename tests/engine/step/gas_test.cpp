// Gas in a cavity: sealed, put in, supplied through a line. The law in equilibria and steps, full and reduced, forward
// and inverse.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/inverse/inverse_step.hpp"
#include "engine/io/model_file.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"

namespace supple {
namespace {

constexpr double atmosphere = 1e5, dead_volume = 2e-5;

Scene gas_scene(ActuatorControl control, double young = 2e5) {
  Scene scene = hollow_bodies::bar_scene({"stable_neo_hookean", MaterialModel::stable_neo_hookean}, control, 0);
  scene.bodies[0].materials[0].young = young;
  ActuatorScene& cavity = scene.actuators[0];
  cavity.atmosphere = atmosphere;
  cavity.dead_volume = dead_volume;
  cavity.bilateral = true;
  cavity.force = {-atmosphere, unlimited};
  cavity.range = control == ActuatorControl::gas ? Interval{-1e-4, 5e-4} : Interval{-5e4, 1e5};
  if (control == ActuatorControl::supply) cavity.resistance = 2e8;
  return scene;
}

FullModel gas_model(ActuatorControl control, bool hexahedra = true, double young = 2e5) {
  return build_full_model(gas_scene(control, young), hollow_bodies::bar(hexahedra));
}

Control command(const Mechanics& mechanics, double cavity, double cable = 0) {
  Control control = zero_control(mechanics);
  control.commands = {cavity, cable};
  return control;
}

State settled(Mechanics& mechanics, const Control& control) {
  State state = rest_state(mechanics);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
  EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_LE(report.residual, 1e-9);
  return state;
}

double gained(Mechanics& mechanics, const State& state) {
  std::vector<double> y(extent(mechanics.robot().outputs())), phi(2), gradients(extent(mechanics.rows().gradients()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  evaluate_rows(mechanics.robot(), mechanics.rows(), y, phi, gradients);
  return phi[0];
}

// The gas that a state has, by p V: what it has beyond that of the rest [m^3 at the pressure outside].
double gas_of(Mechanics& mechanics, const State& state) {
  const double content = mechanics.robot().actuators[0].rest_volume + dead_volume;
  return (atmosphere + state.multipliers[0]) * (content + gained(mechanics, state)) / atmosphere - content;
}

double content_of(const Mechanics& mechanics) {
  return mechanics.robot().actuators[0].rest_volume + dead_volume;
}

TEST(Gas, EquilibriaObeyTheLaw) {
  const FullModel model = gas_model(ActuatorControl::gas);
  FullMechanics mechanics(model);
  for (const double put_in : {0.0, 3e-4, -5e-5}) {
    const State state = settled(mechanics, command(mechanics, put_in, 0.006));
    // Residuals of 1e-9, and rows to 1e-9 m over walls of 0.02 m^2.
    EXPECT_NEAR(gas_of(mechanics, state), put_in, 1e-8 * content_of(mechanics)) << put_in;
    EXPECT_GT(std::abs(state.multipliers[0]), 100) << put_in;
    EXPECT_EQ(state.commands[0], put_in);
    // The same pressure as a command is the same state.
    Scene scene = gas_scene(ActuatorControl::gas);
    scene.actuators[0].control = ActuatorControl::force;
    scene.actuators[0].range = {-1e5, 1e5};
    const FullModel by_pressure = build_full_model(scene, hollow_bodies::bar(true));
    FullMechanics pressed(by_pressure);
    const State same = settled(pressed, command(pressed, state.multipliers[0], 0.006));
    EXPECT_LT(boxes::difference(same.q, state.q), 1e-7);
  }
}

// One linearisation a step follows the law to second order, and does not drift from it.
TEST(Gas, StepsKeepTheGas) {
  const FullModel model = gas_model(ActuatorControl::gas);
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  double worst = 0;
  for (int k = 1; k <= 60; ++k) {
    const double ramp = std::min(1.0, k / 20.0);
    ASSERT_EQ(stepper.step(command(mechanics, 3e-4 * ramp, 0.004 * ramp), state).status, StepStatus::ok);
    worst = std::max(worst, std::abs(gas_of(mechanics, state) - 3e-4 * ramp));
  }
  EXPECT_LT(worst, 1e-2 * 3e-4);
  for (int k = 0; k < 400; ++k) ASSERT_EQ(stepper.step(command(mechanics, 3e-4, 0.004), state).status, StepStatus::ok);
  EXPECT_NEAR(gas_of(mechanics, state), 3e-4, 1e-6 * 3e-4);
  const State at_rest = settled(mechanics, command(mechanics, 3e-4, 0.004));
  // What is left of the motion after four seconds.
  EXPECT_NEAR(state.multipliers[0], at_rest.multipliers[0], 1e-4 * at_rest.multipliers[0]);
}

// Newton's steps obey it at the end of each.
TEST(Gas, NewtonsStepsObeyTheLaw) {
  const FullModel model = gas_model(ActuatorControl::gas);
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.scheme = StepScheme::newton});
  State state = rest_state(mechanics);
  for (int k = 1; k <= 10; ++k) {
    ASSERT_EQ(stepper.step(command(mechanics, 4e-5 * k), state).status, StepStatus::ok);
    EXPECT_NEAR(gas_of(mechanics, state), 4e-5 * k, 1e-7 * content_of(mechanics));
  }
}

// Walls that hardly give: p' = (p_s - p)/(R C) with C = V/p_a, by implicit Euler.
TEST(Gas, ALineFillsARigidCavityAsACircuit) {
  Scene scene = gas_scene(ActuatorControl::supply, 1e12);
  const FullModel model = build_full_model(scene, hollow_bodies::bar(true));
  FullMechanics mechanics(model);
  const double h = 0.002, supply = 3e4, R = scene.actuators[0].resistance,
               time = R * content_of(mechanics) / atmosphere;
  ASSERT_GT(time, 20 * h);
  ASSERT_LT(time, 1);
  Stepper stepper(mechanics, {.time_step = h});
  State state = rest_state(mechanics);
  double implicit = 0;
  for (int k = 1; k * h < 2 * time; ++k) {
    ASSERT_EQ(stepper.step(command(mechanics, supply), state).status, StepStatus::ok);
    implicit = (implicit + h / time * supply) / (1 + h / time);
    // The walls give by 1e-5 of the volume.
    EXPECT_NEAR(state.multipliers[0], implicit, 1e-4 * supply);
    // First order in the time step.
    EXPECT_NEAR(state.multipliers[0], supply * (1 - std::exp(-k * h / time)), 0.6 * h / time * supply);
    EXPECT_NEAR(state.history[0], gas_of(mechanics, state), 1e-8 * content_of(mechanics));
  }
  EXPECT_EQ(state.commands[0], supply);
}

// A soft one: what came through the line is what is in it, at any time and in the end.
TEST(Gas, SupplyComesToItsPressure) {
  Scene scene = gas_scene(ActuatorControl::supply);
  scene.actuators[0].resistance = 3e7;
  const FullModel model = build_full_model(scene, hollow_bodies::bar(false));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  for (int k = 0; k < 300; ++k) {
    ASSERT_EQ(stepper.step(command(mechanics, 1.5e4, 0.003), state).status, StepStatus::ok);
    // Of the linearisation of a step: at most (relative change of the pressure)^2.
    ASSERT_NEAR(state.history[0], gas_of(mechanics, state), 2e-3 * content_of(mechanics)) << k;
  }
  const State at_rest = settled(mechanics, command(mechanics, 1.5e4, 0.003));
  EXPECT_EQ(at_rest.multipliers[0], 1.5e4);
  EXPECT_NEAR(at_rest.history[0], gas_of(mechanics, at_rest), 1e-12 * content_of(mechanics));
  EXPECT_NEAR(state.multipliers[0], 1.5e4, 1);
  EXPECT_NEAR(state.history[0], at_rest.history[0], 1e-4 * at_rest.history[0]);
  EXPECT_LT(boxes::difference(state.q, at_rest.q), 1e-3);
}

// What a limit keeps out of the cavity has not gone in: when the supply falls the pressure follows at once.
TEST(Gas, LimitsOfPressureHoldSuppliesInTimeAndAtRest) {
  Scene scene = gas_scene(ActuatorControl::supply);
  scene.actuators[0].resistance = 3e7;
  scene.actuators[0].force = {-5e3, 8e3};
  const FullModel model = build_full_model(scene, hollow_bodies::bar(true));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  for (const double supply : {3e4, -2e4}) {
    const double limit = supply > 0 ? 8e3 : -5e3;
    for (int k = 0; k < 150; ++k) ASSERT_EQ(stepper.step(command(mechanics, supply), state).status, StepStatus::ok);
    EXPECT_EQ(state.multipliers[0], limit);
    EXPECT_NEAR(state.history[0], gas_of(mechanics, state), 1e-6 * content_of(mechanics));
    const State at_rest = settled(mechanics, command(mechanics, supply));
    EXPECT_EQ(at_rest.multipliers[0], limit);
    EXPECT_NEAR(state.history[0], at_rest.history[0], 1e-3 * content_of(mechanics));
    ASSERT_EQ(stepper.step(command(mechanics, 0), state).status, StepStatus::ok);
    EXPECT_LT(std::abs(state.multipliers[0]), std::abs(limit));
  }
}

TEST(Gas, NoMoreComesOutThanIsIn) {
  Scene scene = gas_scene(ActuatorControl::gas);
  scene.actuators[0].range = {-1, 1};
  EXPECT_THROW((void)build_full_model(scene, hollow_bodies::bar(true)), InputError);
}

TEST(Gas, ReducedWithAFullBasisIsTheFullModel) {
  for (const ActuatorControl control : {ActuatorControl::gas, ActuatorControl::supply}) {
    Scene scene = gas_scene(control);
    FixScene fix = boxes::clamp_at_origin();
    fix.region.upper[0] = 0.13;
    scene.bodies[0].fixes = {fix};
    const FullModel model = build_full_model(scene, hollow_bodies::bar(true));
    const int nv = model.coordinates.nv;
    const reduced_bodies::TemporaryFolder folder;
    write_model(project(model, reduced_bodies::full_basis(nv), nv, all_elements(model)), folder / "gas.rom.h5");
    const ReducedModel reduced = read_model(folder / "gas.rom.h5");
    EXPECT_EQ(reduced.robot.actuators[0].gas.atmosphere, atmosphere);
    EXPECT_EQ(reduced.robot.actuators[0].gas.dead_volume, dead_volume);
    FullMechanics full(model);
    ReducedMechanics small(reduced);
    State a = rest_state(full), b = rest_state(small);
    Stepper full_step(full, {}), small_step(small, {});
    const double most = control == ActuatorControl::gas ? 2e-4 : 2e4;
    for (int k = 1; k <= 5; ++k) {
      ASSERT_EQ(full_step.step(command(full, most * k / 5, 1e-3 * k), a).status, StepStatus::ok);
      ASSERT_EQ(small_step.step(command(small, most * k / 5, 1e-3 * k), b).status, StepStatus::ok);
    }
    // Sums in another order over five steps.
    EXPECT_LT(boxes::difference(a.q, b.q), 1e-10);
    EXPECT_NEAR(a.multipliers[0], b.multipliers[0], 1e-8 * std::abs(a.multipliers[0]));
    const State at_rest = settled(full, command(full, most, 0.004)), also = settled(small, command(small, most, 0.004));
    EXPECT_LT(boxes::difference(at_rest.q, also.q), 1e-7);
  }
}

// Each robot of a batch has its own compliance and its own gas.
TEST(Gas, RobotsOfABatchAreThoseAlone) {
  const FullModel model = gas_model(ActuatorControl::supply);
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 8), 8, all_elements(model));
  constexpr int robots = 3;
  ReducedMechanics many(reduced, robots), one(reduced);
  Stepper together(many, {}), alone(one, {});
  State all = rest_state(many);
  std::vector<State> each(robots, rest_state(one));
  for (int k = 1; k <= 20; ++k) {
    Control control = zero_control(many);
    for (int b = 0; b < robots; ++b) {
      control.commands[extent(2 * b)] = 1e4 * (1 + b);
      Control own = zero_control(one);
      own.commands = {1e4 * (1 + b), 0.0};
      ASSERT_EQ(alone.step(own, each[extent(b)]).status, StepStatus::ok);
    }
    ASSERT_EQ(together.step(control, all).status, StepStatus::ok);
  }
  for (int b = 0; b < robots; ++b) {
    EXPECT_EQ(hash(one_robot(all, b)), hash(each[extent(b)])) << b;
    EXPECT_GT(each[extent(b)].history[0], 0);
  }
}

// Goals of the tip by gas and cable, in time and at rest; commands are replayed forward.
TEST(Gas, InverseFindsWhatIsPutIn) {
  for (const ActuatorControl control : {ActuatorControl::gas, ActuatorControl::supply}) {
    const FullModel model = gas_model(control);
    FullMechanics mechanics(model);
    const double most = control == ActuatorControl::gas ? 2.5e-4 : 2e4;
    const State there = settled(mechanics, command(mechanics, most, 0.004));
    std::vector<double> y(extent(model.robot.outputs()));
    mechanics.evaluate_outputs(there.q, there.motions, y);
    const auto goal = std::span<const double>(y).subspan(extent(3 * model.robot.effectors[0].point), 3);
    InverseStep at_rest(mechanics, {}, Integrator::quasi_static, 0.01);
    State state = settled(mechanics, command(mechanics, 0));
    for (int k = 0; k < 10; ++k) ASSERT_EQ(at_rest.step(goal, state).status, StepStatus::ok);
    EXPECT_NEAR(state.commands[0], most, 2e-3 * most);
    EXPECT_NEAR(state.commands[1], 0.004, 2e-5);

    InverseStep inverse(mechanics, {}, Integrator::implicit_euler, 0.01);
    Stepper forward(mechanics, {});
    State led = rest_state(mechanics), replayed = led;
    for (int k = 0; k < 40; ++k) {
      ASSERT_EQ(inverse.step(goal, led).status, StepStatus::ok);
      Control control_found = zero_control(mechanics);
      control_found.commands = led.commands;
      const Interval range = model.robot.actuators[0].range;
      EXPECT_GE(led.commands[0], range.lower);
      EXPECT_LE(led.commands[0], range.upper);
      ASSERT_EQ(forward.step(control_found, replayed).status, StepStatus::ok);
      // The same linearisation, solved from the other side.
      EXPECT_LT(boxes::difference(replayed.q, led.q), 1e-6) << k;
    }
  }
}

TEST(Gas, IsRefusedWhereItEndsElsewhere) {
  FullModel model = gas_model(ActuatorControl::gas);
  model.robot.implicit_position = 0.7;
  const auto why = cannot_step(model.robot, Integrator::implicit_euler);
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(std::string(why->what()).find("gas of 'cavity'"), std::string::npos);
  EXPECT_FALSE(cannot_step(model.robot, Integrator::quasi_static).has_value());
}

}  // namespace
}  // namespace supple

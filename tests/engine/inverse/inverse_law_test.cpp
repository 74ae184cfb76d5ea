// Inverse control against forward simulation: the same step with known commands, the same equilibria, and limits.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/inverse/inverse_equilibrium.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;

const boxes::Law corotational{"corotational", MaterialModel::corotational};

// The bar of reduced_bodies.hpp without its bilateral strut: a cable by length and one by force, steering one point.
Scene steered_bar() {
  Scene scene = bar_scene(corotational);
  scene.actuators.pop_back();
  scene.effectors.pop_back();
  scene.actuators[0].range = {0, 0.03};
  return scene;
}

std::vector<double> goals_of(const Mechanics& mechanics, std::span<const double> y) {
  std::vector<double> goals(3 * mechanics.robot().effectors.size());
  for (std::size_t e = 0; e < mechanics.robot().effectors.size(); ++e)
    effector_state(mechanics.robot(), static_cast<int>(e), y, std::span<double>(goals).subspan(3 * e, 3));
  return goals;
}

std::vector<double> outputs_of(Mechanics& mechanics, const State& state) {
  std::vector<double> y(static_cast<std::size_t>(mechanics.robots() * mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  return y;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Full model and a reduced one with a full-rank basis, by the same tests.
class InverseStepOf : public testing::TestWithParam<bool> {
 protected:
  InverseStepOf() : model_(build_full_model(steered_bar(), bar(false))) {
    if (GetParam()) {
      const int n = model_.coordinates.nv;
      reduced_ = project(model_, full_basis(n), n, all_elements(model_));
      mechanics_ = std::make_unique<ReducedMechanics>(reduced_);
    } else {
      mechanics_ = std::make_unique<FullMechanics>(model_);
    }
  }
  FullModel model_;
  ReducedModel reduced_;
  std::unique_ptr<Mechanics> mechanics_;
};

TEST_P(InverseStepOf, CommandsAppliedForwardGiveTheSameStep) {
  Mechanics& mechanics = *mechanics_;
  InverseLaw law(mechanics.robot(), 1, {});
  Stepper inverse(mechanics, {}), forward(mechanics, {});
  State state = rest_state(mechanics), replayed = state;
  std::vector<double> goals = goals_of(mechanics, outputs_of(mechanics, state));
  for (int k = 0; k < 20; ++k) {
    goals[1] += 2e-4;
    law.set_goals(goals);
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    EXPECT_FALSE(law.report(0).held) << law.conflict(0);
    Control control = zero_control(mechanics);
    control.commands = state.commands;
    ASSERT_EQ(forward.step(control, replayed).status, StepStatus::ok);
    // Displacements of millimetres; the two solvers of the rows end at 1e-10 of their data.
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-9);
    EXPECT_LT(largest_difference(state.multipliers, replayed.multipliers), 1e-6);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_GE(state.commands[i], mechanics.robot().actuators[i].range.lower);
      EXPECT_LE(state.commands[i], mechanics.robot().actuators[i].range.upper);
    }
  }
}

TEST_P(InverseStepOf, FindsTheCommandsThatMadeAStep) {
  Mechanics& mechanics = *mechanics_;
  State state = rest_state(mechanics), wanted = state;
  Control control = zero_control(mechanics);
  control.commands = {0.004, 0.7};
  Stepper stepper(mechanics, {});
  ASSERT_EQ(stepper.step(control, wanted).status, StepStatus::ok);
  InverseLaw law(mechanics.robot(), 1, {.epsilon = 1e-12});
  law.set_goals(goals_of(mechanics, stepper.outputs()));
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  // Two unknowns, three equations: unique. Conditioning of W_ea squared costs digits.
  EXPECT_NEAR(state.commands[0], 0.004, 1e-8);
  EXPECT_NEAR(state.commands[1], 0.7, 1e-5);
  EXPECT_LT(law.report(0).predicted_error, 1e-9);
}

TEST_P(InverseStepOf, ConvergedItFindsTheCommandsOfAnEquilibrium) {
  Mechanics& mechanics = *mechanics_;
  State wanted = rest_state(mechanics), state = wanted;
  Control control = zero_control(mechanics);
  control.commands = {0.012, 1.1};
  Equilibrium equilibrium(mechanics, {});
  ASSERT_EQ(equilibrium.solve(control, wanted).status, StepStatus::ok);
  InverseLaw law(mechanics.robot(), 1, {.epsilon = 1e-12});
  law.set_goals(goals_of(mechanics, outputs_of(mechanics, wanted)));
  ASSERT_EQ(InverseEquilibrium(mechanics, law).solve(state).status, StepStatus::ok);
  EXPECT_NEAR(state.commands[0], 0.012, 1e-7);
  EXPECT_NEAR(state.commands[1], 1.1, 1e-4);
  EXPECT_LT(largest_difference(state.q, wanted.q), 1e-7);
}

TEST_P(InverseStepOf, ConvergedItIsAMinimumOverEquilibria) {
  // A goal out of reach: no command within its range, changed a little, comes nearer.
  Mechanics& mechanics = *mechanics_;
  State state = rest_state(mechanics);
  std::vector<double> goals = goals_of(mechanics, outputs_of(mechanics, state));
  goals[0] += 0.01;
  goals[1] += 0.02;
  goals[2] += 0.015;
  InverseLaw law(mechanics.robot(), 1, {.epsilon = 1e-12});
  law.set_goals(goals);
  ASSERT_EQ(InverseEquilibrium(mechanics, law).solve(state).status, StepStatus::ok);
  const auto distance = [&](std::span<const double> commands) {
    State trial = state;
    Control control = zero_control(mechanics);
    control.commands.assign(commands.begin(), commands.end());
    EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, trial).status, StepStatus::ok);
    const std::vector<double> reached = goals_of(mechanics, outputs_of(mechanics, trial));
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += std::pow(reached[static_cast<std::size_t>(k)] - goals[static_cast<std::size_t>(k)], 2);
    return std::sqrt(sum);
  };
  const double best = distance(state.commands);
  EXPECT_GT(best, 1e-3);
  const double steps[2] = {2e-4, 0.02};  // m, N: the distance changes by some 1e-5 m, curvature included
  for (std::size_t i = 0; i < 2; ++i)
    for (double sign : {-1.0, 1.0}) {
      std::vector<double> commands = state.commands;
      commands[i] += sign * steps[i];
      const Interval& range = mechanics.robot().actuators[i].range;
      if (commands[i] < range.lower || commands[i] > range.upper) continue;
      EXPECT_GE(distance(commands), best - 1e-9) << i << " " << sign;
    }
}

INSTANTIATE_TEST_SUITE_P(Models, InverseStepOf, testing::Bool(),
                         [](const auto& info) { return info.param ? "reduced" : "full"; });

class Inverse : public testing::Test {
 protected:
  Inverse() : model_(build_full_model(steered_bar(), bar(false))), mechanics_(model_) {}
  FullModel model_;
  FullMechanics mechanics_;
};

TEST_F(Inverse, HoldsTheLastCommandsWhereAGoalIsNoNumber) {
  InverseLaw law(model_.robot, 1, {});
  Stepper stepper(mechanics_, {});
  State state = rest_state(mechanics_);
  std::vector<double> goals = goals_of(mechanics_, outputs_of(mechanics_, state));
  goals[1] += 1e-3;
  law.set_goals(goals);
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  const State before = state;
  goals[2] = std::nan("");
  law.set_goals(goals);
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  EXPECT_TRUE(law.report(0).held);
  EXPECT_NE(law.conflict(0), "");
  EXPECT_EQ(state.commands, before.commands);
  // It moved on as it would have under those commands.
  State forward = before;
  Control control = zero_control(mechanics_);
  control.commands = before.commands;
  ASSERT_EQ(stepper.step(control, forward).status, StepStatus::ok);
  EXPECT_LT(largest_difference(state.q, forward.q), 1e-12);
  // And goes on once the goal is one again.
  goals[2] = 0.05;
  law.set_goals(goals);
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  EXPECT_FALSE(law.report(0).held);
}

TEST_F(Inverse, NamesTheLimitsThatContradictEachOther) {
  model_.robot.effectors[0].exact = true;
  InverseLaw law(model_.robot, 1, {});
  Stepper stepper(mechanics_, {});
  State state = rest_state(mechanics_);
  std::vector<double> goals = goals_of(mechanics_, outputs_of(mechanics_, state));
  goals[1] += 0.05;  // far out of the reach of 2 N in a step
  law.set_goals(goals);
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  EXPECT_TRUE(law.report(0).held);
  EXPECT_NE(law.conflict(0).find("tip"), std::string::npos) << law.conflict(0);
}

TEST_F(Inverse, ObeysRatesAndTheSpeedOfTheGoal) {
  model_.robot.actuators[0].rate = 0.05;
  model_.robot.actuators[1].rate = 3;
  const double h = 0.01;
  InverseLaw law(model_.robot, 1, {});
  Stepper stepper(mechanics_, {.time_step = h});
  State state = rest_state(mechanics_);
  std::vector<double> goals = goals_of(mechanics_, outputs_of(mechanics_, state));
  goals[1] += 0.01;
  law.set_goals(goals);
  for (int k = 0; k < 10; ++k) {
    const std::vector<double> before = state.commands;
    ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    EXPECT_LE(std::abs(state.commands[0] - before[0]), 0.05 * h * (1 + 1e-9));
    EXPECT_LE(std::abs(state.commands[1] - before[1]), 3 * h * (1 + 1e-9));
  }
  // Without rates but with a slow goal, the effector comes nearer by no more than that.
  for (ActuatorRow& actuator : model_.robot.actuators) {
    actuator.rate = unlimited;
    actuator.bilateral = true;
    actuator.range = actuator.force = {-1000, 1000};
  }
  state = rest_state(mechanics_);
  model_.robot.effectors[0].directions = {{{0, 1, 0}}};
  InverseLaw one(model_.robot, 1, {.goal_speed = 0.02});
  one.set_goals(goals);
  double distance = 0.01;
  for (int k = 0; k < 5; ++k) {
    ASSERT_EQ(stepper.step(one, state.motions, state).status, StepStatus::ok);
    const double now = std::abs(stepper.outputs()[extent(3, model_.robot.effectors[0].point) + 1] - goals[1]);
    EXPECT_NEAR(now, distance - 0.02 * h, 1e-7);
    distance = now;
  }
}

TEST_F(Inverse, WithoutActuatorsNothingIsLost) {
  model_.robot.actuators.clear();
  FullMechanics mechanics(model_);
  InverseLaw law(model_.robot, 1, {});
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  law.set_goals(std::vector<double>(3, 0.1));
  EXPECT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
}

TEST_F(Inverse, EffectorsThatAreNotSteeredDoNotCount) {
  model_.robot.gravity = {{0, 0, 0}};  // under it the first cable would have to hold its length
  InverseLaw law(model_.robot, 1, {});
  law.steer(0, false);
  Stepper stepper(mechanics_, {});
  State state = rest_state(mechanics_);
  law.set_goals(std::vector<double>(3, 7.0));
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  EXPECT_EQ(law.report(0).predicted_error, 0);
  EXPECT_EQ(state.multipliers[0], 0);  // nothing asks for a force
  EXPECT_EQ(state.multipliers[1], 0);
}

TEST_F(Inverse, AKnownCommandIsKept) {
  InverseLaw law(model_.robot, 1, {});
  law.know(0, 1, 0.4);
  Stepper stepper(mechanics_, {});
  State state = rest_state(mechanics_);
  std::vector<double> goals = goals_of(mechanics_, outputs_of(mechanics_, state));
  goals[2] += 1e-3;
  law.set_goals(goals);
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  EXPECT_EQ(state.commands[1], 0.4);
  EXPECT_NEAR(state.multipliers[1], 0.4, 1e-12);
}

TEST_F(Inverse, GaussSeidelFindsWhatTheProgramFinds) {
  // By force alone the limits are a box, where both are exact.
  for (ActuatorRow& actuator : model_.robot.actuators) {
    actuator.control = ActuatorControl::force;
    actuator.range = {0, 2};
  }
  InverseLaw program(model_.robot, 1, {.regularisation = Regularisation::none}),
      sweeps(model_.robot, 1, {.solver = InverseSolver::gauss_seidel});
  Stepper stepper(mechanics_, {});
  State a = rest_state(mechanics_), b = a;
  std::vector<double> goals = goals_of(mechanics_, outputs_of(mechanics_, a));
  goals[1] += 3e-4;
  for (InverseLaw* law : {&program, &sweeps}) law->set_goals(goals);
  ASSERT_EQ(stepper.step(program, a.motions, a).status, StepStatus::ok);
  ASSERT_EQ(stepper.step(sweeps, b.motions, b).status, StepStatus::ok);
  EXPECT_LT(largest_difference(a.multipliers, b.multipliers), 1e-6);
}

TEST_F(Inverse, AKnownCommandIsCutToItsRange) {
  InverseLaw law(model_.robot, 1, {});
  law.know(0, 1, 7);  // of 2 N
  law.know(0, 0, -3);
  Stepper stepper(mechanics_, {});
  State state = rest_state(mechanics_);
  law.set_goals(goals_of(mechanics_, outputs_of(mechanics_, state)));
  ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  EXPECT_EQ(state.commands, (std::vector<double>{0, 2}));
  EXPECT_NEAR(state.multipliers[1], 2, 1e-12);
}

TEST_F(Inverse, TheSpeedOfTheGoalHoldsForConvergedStepsToo) {
  model_.robot.actuators[1].range = model_.robot.actuators[1].force = {0, 100};  // enough to set it in motion
  model_.robot.effectors[0].directions = {{{0, 1, 0}}};
  for (const StepScheme scheme : {StepScheme::quasi_static, StepScheme::newton}) {
    const double h = 0.01, speed = 0.02;
    InverseLaw law(model_.robot, 1, {.epsilon = 1e-12, .goal_speed = speed});
    InverseEquilibrium converged(mechanics_, law, {.scheme = scheme, .time_step = h});
    State state = rest_state(mechanics_);
    ASSERT_EQ(Equilibrium(mechanics_, {}).solve(zero_control(mechanics_), state).status, StepStatus::ok);
    std::vector<double> goals = goals_of(mechanics_, outputs_of(mechanics_, state));
    goals[1] += 0.002;
    law.set_goals(goals);
    for (int k = 1; k <= 3; ++k) {
      ASSERT_EQ(converged.solve(state).status, StepStatus::ok);
      ASSERT_FALSE(law.report(0).held) << law.conflict(0);
      const double left = goals[1] - goals_of(mechanics_, outputs_of(mechanics_, state))[1];
      EXPECT_NEAR(left, 0.002 - k * speed * h, 1e-7);
    }
  }
}

TEST_F(Inverse, AnExactGoalOutOfReachOfOneLinearisationIsReachedInSeveral) {
  // Reachable at equilibrium; from rest some linearisations say that it is not.
  model_.robot.effectors[0].directions = {{{0, 1, 0}}};
  model_.robot.effectors[0].exact = true;
  State wanted = rest_state(mechanics_), state = wanted;
  Control control = zero_control(mechanics_);
  control.commands = {0.0, 1.95};  // of 2 N
  ASSERT_EQ(Equilibrium(mechanics_, {}).solve(control, wanted).status, StepStatus::ok);
  InverseLaw law(model_.robot, 1, {});
  law.set_goals(goals_of(mechanics_, outputs_of(mechanics_, wanted)));
  ASSERT_EQ(InverseEquilibrium(mechanics_, law).solve(state).status, StepStatus::ok);
  EXPECT_FALSE(law.report(0).held) << law.conflict(0);
  EXPECT_NEAR(goals_of(mechanics_, outputs_of(mechanics_, state))[1],
              goals_of(mechanics_, outputs_of(mechanics_, wanted))[1], 1e-7);
}

TEST(InverseSensors, AnUnknownLoadIsFoundFromWhereTheRobotIs) {
  // The cables' commands are known, two points are measured; three components of a load on the tip are not.
  Scene scene = steered_bar();
  scene.effectors.push_back(position_effector("side", {{0.2, 0.02, 0.08}}));
  for (int k = 0; k < 3; ++k) {
    ActuatorScene load;
    load.kind = ActuatorKind::force;
    load.name = std::string("load ") + "xyz"[k];
    load.points = {{{0.28, 0.05, 0.05}}};
    load.direction[k] = 1;
    load.control = ActuatorControl::force;
    load.bilateral = true;
    scene.actuators.push_back(load);
  }
  const FullModel model = build_full_model(scene, bar(false));
  FullMechanics mechanics(model);
  State loaded = rest_state(mechanics), state = loaded;
  Control control = zero_control(mechanics);
  control.commands = {0.004, 0.5, 0.3, -0.7, -1.1};
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, loaded).status, StepStatus::ok);
  InverseLaw law(model.robot, 1, {.epsilon = 1e-12});
  law.set_goals(goals_of(mechanics, outputs_of(mechanics, loaded)));
  law.know(0, 0, 0.004);
  law.know(0, 1, 0.5);
  ASSERT_EQ(InverseEquilibrium(mechanics, law).solve(state).status, StepStatus::ok);
  ASSERT_FALSE(law.report(0).held) << law.conflict(0);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_NEAR(state.multipliers[i], control.commands[i], 1e-5) << i;
}

TEST(InverseInputs, ASlidingBaseIsAnUnknownToo) {
  // The goal lies where the base alone can bring the tip; the reduced model carries the body with it.
  Scene scene = steered_bar();
  scene.bodies[0].fixes.pop_back();  // no springs to the world
  scene.actuators[0].range = scene.actuators[0].force = {0, 0};
  scene.actuators[0].control = ActuatorControl::force;
  scene.actuators[1].range = {0, 0};
  FixScene& base = scene.bodies[0].fixes[0];
  base.motion = "slide";
  base.motion_direction = {{1, 0, 0}};
  base.motion_range = {-0.05, 0.05};
  const FullModel model = build_full_model(scene, bar(false));
  ASSERT_TRUE(model.robot.motions[0].rigid);
  const int n = model.coordinates.nv;
  const ReducedModel reduced = project(model, random_basis(n, 12), 12, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics small(reduced);
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&full), static_cast<Mechanics*>(&small)}) {
    State state = rest_state(*mechanics);
    ASSERT_EQ(Equilibrium(*mechanics, {}).solve(zero_control(*mechanics), state).status, StepStatus::ok);
    std::vector<double> goals = goals_of(*mechanics, outputs_of(*mechanics, state));
    goals[0] += 0.02;
    InverseLaw law(mechanics->robot(), 1, {.epsilon = 1e-12});
    law.set_goals(goals);
    ASSERT_EQ(InverseEquilibrium(*mechanics, law).solve(state).status, StepStatus::ok);
    EXPECT_NEAR(state.motions[0], 0.02, 1e-8);
    // Out of the base's range it stops at the end.
    goals[0] += 0.1;
    law.set_goals(goals);
    ASSERT_EQ(InverseEquilibrium(*mechanics, law).solve(state).status, StepStatus::ok);
    EXPECT_NEAR(state.motions[0], 0.05, 1e-12);
    EXPECT_GT(law.report(0).saturated, 0);
  }
}

TEST(InverseLoose, AntagonisticCablesAlwaysHaveAnAnswer) {
  // Cables by length on opposite sides: where one pulls the other hangs loose, or holds its least length. Forward
  // simulation has an answer for any commands, so limits never contradict each other.
  Scene scene = steered_bar();
  scene.actuators.resize(1);
  scene.actuators[0].range = {0, 0.02};
  ActuatorScene other = scene.actuators[0];
  other.name = "other";
  for (Vec3d& x : other.points) x[2] = 0.1 - x[2];
  (*other.pull_point)[2] = 0;
  scene.actuators.push_back(other);
  const FullModel model = build_full_model(scene, bar(false));
  FullMechanics mechanics(model);
  InverseLaw law(model.robot, 1, {});
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  const std::vector<double> rest = goals_of(mechanics, outputs_of(mechanics, state));
  boxes::Random random;
  for (int k = 0; k < 400; ++k) {
    std::vector<double> goals = rest;
    for (double& x : goals) x += 0.03 * random();
    law.set_goals(goals);
    ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << k << ": " << law.conflict(0);
  }
}

TEST(InverseBatch, RobotByRobotBitForBit) {
  const FullModel model = build_full_model(steered_bar(), bar(false));
  const int n = model.coordinates.nv, r = 12, robots = 5;
  const std::vector<double> basis = random_basis(n, r);
  const ReducedModel reduced = project(model, basis, r, all_elements(model));
  ReducedMechanics one(reduced), many(reduced, robots);
  InverseLaw all(reduced.robot, robots, {});
  Stepper together(many, {}), alone(one, {});
  State batch = rest_state(many);
  const std::vector<double> rest = goals_of(one, outputs_of(one, rest_state(one)));
  std::vector<double> goals;
  for (int b = 0; b < robots; ++b)
    for (std::size_t k = 0; k < 3; ++k) goals.push_back(rest[k] + 1e-3 * b * (k == 1));
  goals[7] = std::nan("");  // robot 2 has no goal and must not disturb the others
  all.set_goals(goals);
  for (int k = 0; k < 4; ++k) ASSERT_EQ(together.step(all, batch.motions, batch).status, StepStatus::ok);
  for (int b = 0; b < robots; ++b) {
    InverseLaw law(reduced.robot, 1, {});
    law.set_goals(std::span<const double>(goals).subspan(extent(3, b), 3));
    State state = rest_state(one);
    for (int k = 0; k < 4; ++k) ASSERT_EQ(alone.step(law, state.motions, state).status, StepStatus::ok);
    EXPECT_EQ(all.report(b).held, b == 2);
    for (int i = 0; i < r; ++i)
      EXPECT_EQ(batch.q[extent(b, r) + static_cast<std::size_t>(i)], state.q[static_cast<std::size_t>(i)]);
  }
}

}  // namespace
}  // namespace supple

// Inverse control of robots with one-sided constraints: against forward simulation, against the obstacle of the same
// geometry, minima over equilibria, goals that only leaning on a limit reaches.

#include "engine/inverse/inverse_step.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

constexpr Vec3d held_point{{0.26, 0.04, 0.05}};
// The stop keeps the point this far from the anchor, which is beside and below it, and touches it at rest: pressed down
// on the stop the bar slides off towards +y.
constexpr double stop_length = 0.06;
constexpr Vec3d anchor{{0.26, 0.04 - 0.6 * stop_length, 0.05 - 0.8 * stop_length}};

ConstraintScene stop(double compliance = 0) {
  ConstraintScene limit;
  limit.name = "stop";
  limit.kind = ConstraintKind::limit;
  limit.bound = LengthBound::shortest;
  limit.points = {held_point};
  limit.anchor = anchor;
  limit.length = stop_length;
  limit.compliance = compliance;
  if (compliance > 0) limit.form = ConstraintForm::constraint;
  return limit;
}

ConstraintScene rod() {
  ConstraintScene rod;
  rod.name = "rod";
  rod.kind = ConstraintKind::distance;
  rod.points = {{{0.1, 0.03, 0.05}}, {{0.2, 0.06, 0.05}}};
  return rod;
}

// A bar whose end one force presses down or lifts, another drags sideways unless it is left out, and a cable shortens.
Scene bar_with(const std::vector<ConstraintScene>& constraints, bool aside = true) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.gravity = {{0, 0, 0}};
  scene.actuators.pop_back();
  scene.effectors.resize(1);
  const auto force = [](const char* name, const Vec3d& direction) {
    ActuatorScene actuator;
    actuator.name = name;
    actuator.kind = ActuatorKind::force;
    actuator.points = {{{0.27, 0.05, 0.06}}};
    actuator.direction = direction;
    actuator.control = ActuatorControl::force;
    actuator.bilateral = true;
    actuator.range = {-4, 4};
    return actuator;
  };
  scene.actuators[1] = force("down", {{0, 0, -1}});
  if (aside) scene.actuators.push_back(force("aside", {{0, 1, 0}}));
  scene.constraints = constraints;
  return scene;
}

FullModel built(const Scene& scene) {
  return build_full_model(scene, reduced_bodies::bar(false));
}

std::vector<double> tip(Mechanics& mechanics, const State& state) {
  std::vector<double> y(static_cast<std::size_t>(state.robots * mechanics.robot().outputs())), goal(3);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  effector_state(mechanics.robot(), 0, y, goal);
  return goal;
}

// Of the first limit [N].
double limit_force(const Robot& robot, const State& state) {
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    if (robot.constraints[k].one_sided) return state.multipliers[robot.actuators.size() + k];
  return 0;
}

// On the limit, along it, and off again.
void move_goal(std::vector<double>& goal, int k) {
  goal[1] += k < 15 ? 3e-4 : -4e-4;
  goal[2] += k < 10 ? -8e-4 : k < 16 ? 0 : 2e-3;
}

struct Case {
  std::string name;
  bool reduced, floor, rod;
  double compliance;
};

class InverseLimits : public testing::TestWithParam<Case> {
 protected:
  InverseLimits() {
    std::vector<ConstraintScene> constraints{stop(GetParam().compliance)};
    if (GetParam().rod) constraints.push_back(rod());
    model_ = built(bar_with(constraints));
    if (GetParam().floor) {
      PlacedObstacle floor = contact_bodies::floor(0.3);
      floor.pose.position = {{0, 0, -0.008}};
      contact_bodies::place_among(model_, {floor});
    }
    const int n = model_.coordinates.nv;
    if (GetParam().reduced) {
      reduced_ = project(model_, reduced_bodies::full_basis(n), n, all_elements(model_));
      mechanics_ = std::make_unique<ReducedMechanics>(reduced_);
    } else {
      mechanics_ = std::make_unique<FullMechanics>(model_);
    }
  }
  FullModel model_;
  ReducedModel reduced_;
  std::unique_ptr<Mechanics> mechanics_;
};

INSTANTIATE_TEST_SUITE_P(Bars, InverseLimits,
                         testing::Values(Case{"full", false, false, false, 0}, Case{"reduced", true, false, false, 0},
                                         Case{"soft", true, false, false, 1e-3}, Case{"rod", true, false, true, 0},
                                         Case{"full_floor", false, true, true, 0},
                                         Case{"reduced_floor", true, true, true, 0}),
                         [](const auto& info) { return info.param.name; });

TEST_P(InverseLimits, CommandsAppliedForwardGiveTheSameStep) {
  Mechanics& mechanics = *mechanics_;
  ASSERT_FALSE(cannot_lead(mechanics.robot()));
  InverseLaw law(mechanics.robot(), 1, {});
  Stepper inverse(mechanics, {}), forward(mechanics, {});
  State state = rest_state(mechanics), replayed = state;
  std::vector<double> goal = tip(mechanics, state);
  int leaning = 0, free = 0, touching = 0;
  for (int k = 0; k < 25; ++k) {
    move_goal(goal, k);
    law.set_goals(goal);
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    Control control = zero_control(mechanics);
    control.commands = state.commands;
    const StepReport report = forward.step(control, replayed);
    ASSERT_EQ(report.status, StepStatus::ok);
    const double force = limit_force(mechanics.robot(), state);
    EXPECT_GE(force, 0) << k;
    ++(force > 1e-3 ? leaning : free);
    touching = std::max(touching, report.contact.touching);
    // As beside obstacles: displacements of millimetres, forces of newtons.
    EXPECT_LT(boxes::difference(state.q, replayed.q), 1e-8) << k;
    EXPECT_LT(boxes::difference(state.multipliers, replayed.multipliers), 1e-5) << k;
  }
  EXPECT_GE(leaning, 5);
  EXPECT_GE(free, 3);
  EXPECT_GE(touching, GetParam().floor ? 1 : 0);
}

TEST_P(InverseLimits, HoldsTheLastCommandsWhereAGoalIsNoNumber) {
  Mechanics& mechanics = *mechanics_;
  InverseLaw law(mechanics.robot(), 1, {});
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  std::vector<double> goal = tip(mechanics, state);
  for (int k = 0; k < 8; ++k) {
    goal[1] -= 6e-4;
    goal[2] -= 1e-3;
    law.set_goals(goal);
    ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  }
  ASSERT_GT(limit_force(mechanics.robot(), state), 0);
  State held = state, forward = state;
  goal[1] = std::nan("");
  law.set_goals(goal);
  ASSERT_EQ(stepper.step(law, held.motions, held).status, StepStatus::ok);
  EXPECT_TRUE(law.report(0).held);
  EXPECT_NE(law.conflict(0).find("not a number"), std::string::npos) << law.conflict(0);
  EXPECT_EQ(held.commands, state.commands);
  Control control = zero_control(mechanics);
  control.commands = state.commands;
  ASSERT_EQ(stepper.step(control, forward).status, StepStatus::ok);
  EXPECT_LT(boxes::difference(held.q, forward.q), 1e-9);
}

// A stop around an anchor is a ball for one point: its gap, gradient and curvature are the same.
TEST(InverseLimit, IsAsTheBallOfItsGeometry) {
  const FullModel limited = built(bar_with({stop()}));
  FullModel touching = limited;
  Robot& robot = touching.robot;
  const ConstraintRow row = robot.constraints[0];
  robot.constraints.clear();
  PlacedObstacle ball{.name = "ball", .obstacle = Obstacle::sphere(stop_length), .pose = {}, .friction = 0};
  ball.pose.position = anchor;
  robot.obstacles = {ball};
  robot.first_collision_point = row.first_point;
  robot.collision_points = 1;
  FullMechanics of_limit(limited), of_ball(touching);
  for (const Integrator integrator : {Integrator::implicit_euler, Integrator::quasi_static}) {
    InverseStep a(of_limit, {}, integrator, 0.01), b(of_ball, {}, integrator, 0.01);
    State first = rest_state(of_limit), second = rest_state(of_ball);
    std::vector<double> goal = tip(of_limit, first);
    int leaning = 0;
    for (int k = 0; k < 20; ++k) {
      move_goal(goal, k);
      ASSERT_EQ(a.step(goal, first).status, StepStatus::ok) << k;
      ASSERT_EQ(b.step(goal, second).status, StepStatus::ok) << k;
      ASSERT_FALSE(a.law().report(0).held) << a.law().conflict(0);
      // Newton's tolerances in equilibria; solvers' of contact in steps. A ball may get a second tangent plane in a
      // step, which a limit does not: a step slides by some 1e-4 m.
      EXPECT_LT(boxes::difference(first.q, second.q), 1e-6) << k;
      EXPECT_LT(boxes::difference(first.commands, second.commands), 1e-3) << k;
      leaning += limit_force(limited.robot, first) > 1e-3 ? 1 : 0;
    }
    EXPECT_GE(leaning, 5);
  }
}

// One force, down or up, and a stop that the bar slides off sideways: the only way aside.
TEST(InverseLimit, GoalsBesideAreReachedByLeaning) {
  const FullModel limited = built(bar_with({stop()}, /*aside=*/false)), alone = built(bar_with({}, /*aside=*/false));
  FullMechanics with(limited), without(alone);
  double left[2];
  State state;
  int k = 0;
  for (FullMechanics* mechanics : {&with, &without}) {
    InverseStep inverse(*mechanics, {.epsilon = 1e-12}, Integrator::quasi_static, 0);
    State led = rest_state(*mechanics);
    std::vector<double> goal = tip(*mechanics, led);
    goal[1] += 0.004;
    ASSERT_EQ(inverse.step(goal, led).status, StepStatus::ok);
    ASSERT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
    left[k++] = goal[1] - tip(*mechanics, led)[1];
    if (mechanics == &with) state = led;
  }
  EXPECT_GT(limit_force(limited.robot, state), 0.01);
  EXPECT_LT(left[0], 0.7 * left[1]);

  // No commands nearby do better.
  std::vector<double> goal = tip(with, rest_state(with));
  goal[1] += 0.004;
  const auto distance = [&](std::span<const double> commands) {
    State trial = state;
    Control control = zero_control(with);
    control.commands.assign(commands.begin(), commands.end());
    EXPECT_EQ(Equilibrium(with, {}).solve(control, trial).status, StepStatus::ok);
    const std::vector<double> reached = tip(with, trial);
    return norm(Vec3d{{reached[0] - goal[0], reached[1] - goal[1], reached[2] - goal[2]}});
  };
  const double best = distance(state.commands);
  for (std::size_t i = 0; i < state.commands.size(); ++i)
    for (const double sign : {-1.0, 1.0}) {
      std::vector<double> commands = state.commands;
      const ActuatorRow& actuator = limited.robot.actuators[i];
      commands[i] += sign * (actuator.control == ActuatorControl::force ? 0.02 : 2e-4);
      if (commands[i] < actuator.range.lower || commands[i] > actuator.range.upper) continue;
      EXPECT_GE(distance(commands), best - 1e-9) << i << " " << sign;
    }

  // And it leaves the stop where the goal is above.
  InverseStep inverse(with, {}, Integrator::quasi_static, 0);
  goal = tip(with, rest_state(with));
  goal[2] += 0.003;
  ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
  EXPECT_EQ(limit_force(limited.robot, state), 0);
  EXPECT_NEAR(tip(with, state)[2], goal[2], 1e-4);
}

// Where a goal that must be reached exactly lies beyond the stop the last commands are held; without it, it is reached.
TEST(InverseLimit, ExactGoalsBeyondItAreNotReached) {
  for (const bool limited : {true, false}) {
    FullModel model = built(limited ? bar_with({stop()}) : bar_with({}));
    model.robot.effectors[0].exact = true;
    model.robot.effectors[0].directions.assign(1, {{0, 0.6, 0.8}});  // away from the anchor
    FullMechanics mechanics(model);
    InverseLaw law(model.robot, 1, {});
    Stepper inverse(mechanics, {});
    State state = rest_state(mechanics);
    std::vector<double> goal = tip(mechanics, state);
    goal[1] -= 6e-5;
    goal[2] -= 8e-5;
    law.set_goals(goal);
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    EXPECT_EQ(law.report(0).held, limited) << law.conflict(0);
    EXPECT_EQ(law.conflict(0).find("goal of 'tip' exactly") != std::string::npos, limited) << law.conflict(0);
  }
}

TEST(InverseLimit, EachRobotOfABatchDoesWhatItDoesAlone) {
  const FullModel model = built(bar_with({stop(), rod()}));
  const int n = model.coordinates.nv;
  const ReducedModel reduced = project(model, reduced_bodies::full_basis(n), n, all_elements(model));
  constexpr int robots = 3;
  std::vector<State> alone;
  State all;
  for (const int B : {1, robots})
    for (int first = 0; first < robots; first += B) {
      ReducedMechanics mechanics(reduced, B);
      InverseLaw law(reduced.robot, B, {});
      Stepper stepper(mechanics, {});
      State state = rest_state(mechanics);
      std::vector<double> goal;
      for (int b = 0; b < B; ++b)
        for (const double x : tip(mechanics, state)) goal.push_back(x);
      for (int k = 0; k < 8; ++k) {
        for (int b = 0; b < B; ++b) {
          goal[static_cast<std::size_t>(3 * b + 1)] += 6e-4 * (first + b - 1.5);
          goal[static_cast<std::size_t>(3 * b + 2)] += 1e-3 * (first + b - 1.5);
        }
        law.set_goals(goal);
        ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
      }
      if (B == 1)
        alone.push_back(state);
      else
        all = state;
    }
  EXPECT_GT(limit_force(reduced.robot, alone[0]), 0);
  EXPECT_EQ(limit_force(reduced.robot, alone[2]), 0);
  for (std::size_t b = 0; b < robots; ++b) {
    const std::size_t size = all.q.size() / robots, rows = all.multipliers.size() / robots;
    const auto part = [&](const std::vector<double>& values, std::size_t count) {
      return std::vector<double>(values.begin() + static_cast<long>(b * count),
                                 values.begin() + static_cast<long>((b + 1) * count));
    };
    // Rounding: memory of the programs is shared by the robots.
    EXPECT_LT(boxes::difference(part(all.q, size), alone[b].q), 1e-12) << b;
    EXPECT_LT(boxes::difference(part(all.multipliers, rows), alone[b].multipliers), 1e-9) << b;
  }
}

TEST(InverseLimit, GaussSeidelKnowsNone) {
  const FullModel model = built(bar_with({stop()}));
  try {
    InverseLaw law(model.robot, 1, {.solver = InverseSolver::gauss_seidel, .regularisation = Regularisation::none});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("one-sided"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace supple

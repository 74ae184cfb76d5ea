// Inverse control of robots that touch obstacles, against forward simulation: the same step with the commands found,
// the same equilibria, minima over equilibria in contact.

#include "engine/inverse/inverse_step.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"

namespace supple {
namespace {

const boxes::Law corotational{"corotational", MaterialModel::corotational};

struct Body {
  std::string name;
  bool reduced;
  double friction;
  bool driven = false, constrained = false;
};

void PrintTo(const Body& body, std::ostream* out) {
  *out << body.name;
}

// A bar over a tilted floor, pressed on it and dragged along it by forces on its end; a cable besides.
FullModel bar_over_floor(const Body& body, double height = -0.003, int cells = 3) {
  Scene scene =
      body.driven ? driven_bodies::scene(driven_bodies::Drive::rigid) : reduced_bodies::bar_scene(corotational);
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
  scene.actuators.push_back(force("aside", {{0, 1, 0}}));
  if (body.constrained) {
    ConstraintScene rod;
    rod.name = "rod";
    rod.kind = ConstraintKind::distance;
    rod.points = {{{0.1, 0.03, 0.05}}, {{0.2, 0.06, 0.05}}};
    scene.constraints.push_back(rod);
  }
  FullModel model = build_full_model(scene, reduced_bodies::bar(false, cells));
  PlacedObstacle floor = contact_bodies::floor(body.friction);
  const Mat3d frame = frame_on(normalized(Vec3d{{-0.02, 0.03, 1}}));
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) floor.pose.rotation(i, k) = frame((k + 1) % 3, i);
  floor.pose.position = {{0.28, 0.05, height}};
  contact_bodies::place_among(model, {floor});
  return model;
}

class InverseContact : public testing::TestWithParam<Body> {
 protected:
  InverseContact() : model_(bar_over_floor(GetParam())) {
    if (GetParam().reduced) {
      const int n = model_.coordinates.nv;
      reduced_ = project(model_, reduced_bodies::full_basis(n), n, all_elements(model_));
      mechanics_ = std::make_unique<ReducedMechanics>(reduced_);
    } else {
      mechanics_ = std::make_unique<FullMechanics>(model_);
    }
  }
  std::vector<double> tip(const State& state) const {
    std::vector<double> y(static_cast<std::size_t>(mechanics_->robot().outputs())), goal(3);
    mechanics_->evaluate_outputs(state.q, state.motions, y);
    effector_state(mechanics_->robot(), 0, y, goal);
    return goal;
  }
  FullModel model_;
  ReducedModel reduced_;
  std::unique_ptr<Mechanics> mechanics_;
};

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

std::vector<Body> bodies() {
  std::vector<Body> list;
  for (const bool reduced : {false, true}) {
    const std::string model = reduced ? "reduced" : "full";
    list.push_back({model + "_smooth", reduced, 0});
    list.push_back({model + "_rough", reduced, 0.5});
    list.push_back({model + "_constrained", reduced, 0.5, false, true});
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Bars, InverseContact, testing::ValuesIn(bodies()),
                         [](const auto& info) { return info.param.name; });

TEST_P(InverseContact, CommandsAppliedForwardGiveTheSameStep) {
  Mechanics& mechanics = *mechanics_;
  InverseLaw law(mechanics.robot(), 1, {});
  Stepper inverse(mechanics, {}), forward(mechanics, {});
  State state = rest_state(mechanics), replayed = state;
  std::vector<double> goal = tip(state);
  int touching = 0;
  double farthest = 0, pyramid = 0;
  for (int k = 0; k < 25; ++k) {
    goal[1] += k < 15 ? 4e-4 : -6e-4;               // along the floor and back
    goal[2] += k < 10 ? -6e-4 : k < 18 ? 0 : 2e-3;  // into it, and off again
    law.set_goals(goal);
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    Control control = zero_control(mechanics);
    control.commands = state.commands;
    const StepReport report = forward.step(control, replayed);
    ASSERT_EQ(report.status, StepStatus::ok);
    touching = std::max(touching, report.contact.touching);
    // Displacements of millimetres, forces of a few newtons; laws of contact are solved to 1e-10 of them.
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-8) << k;
    EXPECT_LT(largest_difference(state.multipliers, replayed.multipliers), 1e-5) << k;
    EXPECT_GT(contact_bodies::least_gap(mechanics, state), -1e-9);
    pyramid = std::max(pyramid, law.report(0).pyramid_error);
    farthest = std::max(farthest, law.report(0).predicted_error);
  }
  EXPECT_GE(touching, 2);
  EXPECT_GT(farthest, 1e-3);  // the floor was in the way
  // Eight vertices turned into the direction of friction: the pyramid leads astray by less than the steps of the goal.
  EXPECT_LE(pyramid, GetParam().friction > 0 ? 2e-4 : 1e-9);
}

TEST_P(InverseContact, WithoutAnythingInReachItIsAsWithoutObstacles) {
  Mechanics& mechanics = *mechanics_;
  const_cast<Robot&>(mechanics.robot()).obstacles[0].pose.position[2] = -1;
  FullModel without = model_;
  without.robot.obstacles.clear();
  without.robot.collision_points = 0;
  FullMechanics other(without);
  InverseLaw law(mechanics.robot(), 1, {}), alone(without.robot, 1, {});
  Stepper stepper(mechanics, {}), lone(other, {});
  State state = rest_state(mechanics), free = rest_state(other);
  std::vector<double> goal = tip(state);
  for (int k = 0; k < 5; ++k) {
    goal[1] += 1e-3;
    law.set_goals(goal);
    alone.set_goals(goal);
    ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_EQ(lone.step(alone, free.motions, free).status, StepStatus::ok);
  }
  if (GetParam().reduced) {  // another order of summation
    EXPECT_LT(largest_difference(state.q, free.q), 1e-9);
  } else {
    EXPECT_TRUE(reduced_bodies::same_bits(state.q, free.q));
    EXPECT_TRUE(reduced_bodies::same_bits(state.commands, free.commands));
  }
}

TEST_P(InverseContact, HoldsTheLastCommandsWhereAGoalIsNoNumber) {
  Mechanics& mechanics = *mechanics_;
  InverseLaw law(mechanics.robot(), 1, {});
  Stepper stepper(mechanics, {});
  State state = rest_state(mechanics);
  std::vector<double> goal = tip(state);
  for (int k = 0; k < 6; ++k) {
    goal[2] -= 1e-3;
    law.set_goals(goal);
    ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
  }
  ASSERT_GT(norm(contact_bodies::total_force(state)), 0);
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
  EXPECT_LT(largest_difference(held.q, forward.q), 1e-9);
}

// With friction an equilibrium depends on the way to it.
class SmoothInverseContact : public InverseContact {};

INSTANTIATE_TEST_SUITE_P(Bars, SmoothInverseContact,
                         testing::Values(Body{"full", false, 0}, Body{"reduced", true, 0},
                                         Body{"reduced_constrained", true, 0, false, true}),
                         [](const auto& info) { return info.param.name; });

TEST_P(SmoothInverseContact, ConvergedItIsAMinimumOverEquilibria) {
  Mechanics& mechanics = *mechanics_;
  State state = rest_state(mechanics);
  std::vector<double> goal = tip(state);
  goal[0] -= 0.003;
  goal[1] += 0.006;
  goal[2] -= 0.02;
  InverseStep inverse(mechanics, {.epsilon = 1e-12}, Integrator::quasi_static, 0);
  const StepReport report = inverse.step(goal, state);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  ASSERT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
  EXPECT_GE(report.contact.touching, 1);
  EXPECT_GT(contact_bodies::least_gap(mechanics, state), -1e-8);
  const auto distance = [&](std::span<const double> commands) {
    State trial = state;
    Control control = zero_control(mechanics);
    control.commands.assign(commands.begin(), commands.end());
    EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, trial).status, StepStatus::ok);
    const std::vector<double> reached = tip(trial);
    return norm(Vec3d{{reached[0] - goal[0], reached[1] - goal[1], reached[2] - goal[2]}});
  };
  const double best = distance(state.commands);
  EXPECT_GT(best, 1e-3);
  for (std::size_t i = 0; i < state.commands.size(); ++i)
    for (const double sign : {-1.0, 1.0}) {
      std::vector<double> commands = state.commands;
      const ActuatorRow& actuator = mechanics.robot().actuators[i];
      commands[i] += sign * (actuator.control == ActuatorControl::force ? 0.02 : 2e-4);  // moves the tip by some 1e-5 m
      if (commands[i] < actuator.range.lower || commands[i] > actuator.range.upper) continue;
      EXPECT_GE(distance(commands), best - 1e-9) << i << " " << sign;
    }
}

TEST(InverseContactOfDrivenBodies, TheBaseIsAnUnknownToo) {
  // Newton's steps replay to their tolerance whatever the base does.
  for (const bool with_all_modes : {false, true}) {
    const FullModel model = bar_over_floor({"", false, 0.4, true});
    const int n = model.coordinates.nv;
    ReducedModel reduced;
    std::unique_ptr<Mechanics> mechanics, other;
    if (with_all_modes) {
      reduced = project(model, reduced_bodies::full_basis(n), n, all_elements(model));
      mechanics = std::make_unique<ReducedMechanics>(reduced);
      other = std::make_unique<ReducedMechanics>(reduced);
    } else {
      mechanics = std::make_unique<FullMechanics>(model);
      other = std::make_unique<FullMechanics>(model);
    }
    InverseStep inverse(*mechanics, {}, Integrator::implicit_euler_newton, 0.01);
    Stepper forward(*other,
                    {.scheme = StepScheme::newton, .time_step = 0.01, .tolerance = 1e-10, .row_tolerance = 1e-11});
    State led = rest_state(*mechanics), replayed = rest_state(*other);
    std::vector<double> y(static_cast<std::size_t>(model.robot.outputs())), goal(3);
    mechanics->evaluate_outputs(led.q, led.motions, y);
    effector_state(model.robot, 0, y, goal);
    int touching = 0;
    for (int k = 0; k < 8; ++k) {
      goal[0] += 5e-4;
      goal[2] -= 1e-3;
      const StepReport report = inverse.step(goal, led);
      ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
      ASSERT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
      Control control = zero_control(*other);
      control.commands = led.commands;
      control.motions = led.motions;
      ASSERT_EQ(forward.step(control, replayed).status, StepStatus::ok);
      touching = std::max(touching, report.contact.touching);
      // Tolerances of both Newton iterations on displacements of a centimetre.
      EXPECT_LT(largest_difference(led.q, replayed.q), 1e-6) << k;
    }
    EXPECT_GE(touching, 1);
    EXPECT_GT(std::abs(led.motions[0]), 1e-4);
  }
}

TEST_P(InverseContact, CommandsThatAreHeldAreThoseThatAct) {
  // A goal to be reached exactly goes into the floor: from some step on there are no commands for it.
  Mechanics& mechanics = *mechanics_;
  Robot& robot = const_cast<Robot&>(mechanics.robot());
  robot.effectors[0].exact = true;
  for (std::size_t j = 1; j < robot.actuators.size(); ++j)
    robot.actuators[j].range = robot.actuators[j].force = {-15, 15};
  robot.actuators[0].bilateral = true;
  robot.actuators[0].range = {-0.02, 0.02};
  InverseLaw law(mechanics.robot(), 1, {});
  Stepper inverse(mechanics, {}), forward(mechanics, {});
  State state = rest_state(mechanics), replayed = state;
  std::vector<double> goal = tip(state);
  int held = 0, solved = 0;
  for (int k = 0; k < 25; ++k) {
    goal[2] -= 5e-4;
    law.set_goals(goal);
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    ++(law.report(0).held ? held : solved);
    for (std::size_t j = 1; j < state.commands.size(); ++j) EXPECT_EQ(state.commands[j], state.multipliers[j]) << k;
    Control control = zero_control(mechanics);
    control.commands = state.commands;
    ASSERT_EQ(forward.step(control, replayed).status, StepStatus::ok);
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-8) << k;
  }
  EXPECT_GT(held, 0);
  EXPECT_GT(solved, 0);
}

TEST_P(InverseContact, TheForceOnAnObstacleStaysWithinItsLimit) {
  Mechanics& mechanics = *mechanics_;
  constexpr double most = 0.8;  // N
  PlacedObstacle& floor = const_cast<Robot&>(mechanics.robot()).obstacles[0];
  const Vec3d up = floor.pose.rotation * Vec3d{{0, 0, 1}};
  for (const Integrator integrator : {Integrator::implicit_euler, Integrator::quasi_static}) {
    const bool statics = integrator == Integrator::quasi_static;
    double largest[2] = {0, 0}, distance[2] = {0, 0};
    for (const bool limited : {false, true}) {
      floor.max_force = limited ? most : unlimited;
      InverseStep inverse(mechanics, {}, integrator, 0.01);
      State state = rest_state(mechanics);
      std::vector<double> goal = tip(state);
      for (int k = 0; k < (statics ? 6 : 40); ++k) {
        goal[2] -= statics ? 2e-3 : 3e-4;
        ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
        ASSERT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
        const double force = dot(contact_bodies::total_force(state), up);
        largest[limited] = std::max(largest[limited], force);
        if (limited && force > 0.999 * most) {
          EXPECT_GT(inverse.law().report(0).saturated, 0);
        }
      }
      distance[limited] = inverse.law().report(0).predicted_error;
    }
    EXPECT_GT(largest[0], 1.5 * most);
    EXPECT_GT(distance[1], distance[0]);
    // The exact cone finds other forces than the pyramid does, by some hundredths. A body that hits the floor is not
    // to be held, whatever its commands; from then on it presses less than without the limit.
    EXPECT_LT(largest[1], statics ? 1.05 * most : 0.9 * largest[0]) << statics;
    EXPECT_GT(largest[1], 0.9 * most);
  }
}

TEST(InverseContactOfManyPoints, TheNearestAreInTheProgramAndAllInTheStep) {
  // More points of the underside press than the program has room for: commands are sought with some of them, and the
  // step obeys all.
  FullModel model = bar_over_floor({"", false, 0.3}, 0, 24);
  model.robot.obstacles[0].pose = {Mat3d::identity(), {{0, 0, 0.003}}};  // 3 mm into the underside
  FullMechanics mechanics(model), other(model);
  InverseLaw law(model.robot, 1, {});
  Stepper stepper(mechanics, {}), forward(other, {});
  State state = rest_state(mechanics), replayed = state;
  std::vector<double> y(static_cast<std::size_t>(model.robot.outputs())), goal(3);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  effector_state(model.robot, 0, y, goal);
  int most = 0;
  for (int k = 0; k < 12; ++k) {
    goal[2] -= 2e-3;
    law.set_goals(goal);
    const StepReport report = stepper.step(law, state.motions, state);
    ASSERT_EQ(report.status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    most = std::max(most, law.report(0).contacts);
    Control control = zero_control(other);
    control.commands = state.commands;
    ASSERT_EQ(forward.step(control, replayed).status, StepStatus::ok);
    // Forces of hundreds of points are not unique, their sum and the motion are, to the solver's 1e-10.
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-7) << k;
    EXPECT_GT(contact_bodies::least_gap(mechanics, state), -1e-9);
  }
  EXPECT_GT(most, InverseLaw::most_contacts(3, 1));
}

TEST(InverseContactSettings, GaussSeidelKnowsNoContact) {
  const FullModel model = bar_over_floor({"", false, 0});
  EXPECT_THROW(InverseLaw(model.robot, 1, {.solver = InverseSolver::gauss_seidel}), InputError);
}

}  // namespace
}  // namespace supple

// Plans: their sensitivities, their optimum against the gradient of runs, limits, slack cables, contact.

#include "engine/control/predictive_control.hpp"

#include <gtest/gtest.h>

#include "engine/derivative/rollout.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"

namespace supple {
namespace {

using Model = std::shared_ptr<const ReducedModel>;

Model all_effectors() {
  return std::make_shared<const ReducedModel>(
      batch_bodies::reduced(reduced_bodies::bar_with_forces(batch_bodies::corotational), reduced_bodies::bar(false)));
}
Model hollow() {
  return std::make_shared<const ReducedModel>(batch_bodies::cavity());
}

// A robot in motion under its commands, and what its effectors have there.
struct Somewhere {
  explicit Somewhere(const Model& model) : mechanics(*model), state(rest_state(mechanics)) {
    Stepper stepper(mechanics, {.time_step = batch_bodies::time_step});
    Control control = zero_control(mechanics);
    for (int step = 1; step <= 8; ++step) {
      control.commands = batch_bodies::commands_at(step + 3, model->robot, 1);
      EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
  }
  // Of all steps the same: where the effectors are, moved by this much.
  std::vector<double> goals(int steps, double away) {
    const Robot& robot = mechanics.robot();
    std::vector<double> y(extent(robot.outputs())), one(3 * robot.effectors.size()), all;
    mechanics.evaluate_outputs(state.q, {}, y);
    for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
      effector_state(robot, static_cast<int>(e), y, std::span(one).subspan(3 * e, 3));
      for (std::size_t k = 0; k < 3; ++k) one[3 * e + k] += away * (k == 0 ? 1 : -0.5);
    }
    for (int step = 0; step < steps; ++step) all.insert(all.end(), one.begin(), one.end());
    return all;
  }
  ReducedMechanics mechanics;
  State state;
};

// A plan again at the same moment: nothing moves on in so short a period.
PredictiveSettings again(PredictiveSettings settings) {
  settings.period = 1e-9 * batch_bodies::time_step;
  return settings;
}

// Effectors of all kinds with weights: distances are reported without them.
TEST(PredictiveControl, DistancesAreThoseOfEffectors) {
  ReducedModel heavier = *hollow();
  const auto model = std::make_shared<const ReducedModel>(heavier);
  for (Effector& effector : heavier.robot.effectors) effector.weight = 10;
  const auto weighted = std::make_shared<const ReducedModel>(heavier);
  Somewhere start(model);
  const std::vector<double> goals = start.goals(1, 3e-3);
  std::vector<double> distances;
  for (const Model& each : {model, weighted}) {
    PredictiveControl control(each, again({.steps = 1, .smoothness = 1e3}));
    distances.push_back(control.plan(start.state.q, start.state.v, start.state.commands, goals).distance);
  }
  EXPECT_NEAR(distances[0], distances[1], 1e-12);
  // It is 3 mm, -1.5 mm and -1.5 mm away, and moves a little in the step.
  EXPECT_NEAR(distances[0], 3e-3 * std::sqrt(1.5), 1e-3);
}

// The change of the distances that the program expects is that of the next prediction, to second order in the change.
void expect_sensitivities(const Model& model) {
  Somewhere start(model);
  PredictiveControl control(model, again({.steps = 6, .smoothness = 1e-8, .effort = 0, .trust = 1e-3}));
  const std::vector<double> goals = start.goals(6, 1e-3);
  const PlanReport first = control.plan(start.state.q, start.state.v, start.state.commands, goals);
  ASSERT_EQ(first.status, PlanReport::Status::planned);
  const PlanReport second = control.plan(start.state.q, start.state.v, start.state.commands, goals);
  EXPECT_LT(first.expected, first.distance);
  EXPECT_NEAR(second.distance, first.expected, 1e-2 * (first.distance - first.expected));
}

TEST(PredictiveControl, Sensitivities) {
  expect_sensitivities(all_effectors());
  expect_sensitivities(hollow());
  expect_sensitivities(std::make_shared<const ReducedModel>(batch_bodies::cables()));
}

// Where plans at one moment end, the gradient of the whole sum by the commands, from the adjoint of the run, is zero or
// points out of the range.
TEST(PredictiveControl, EndsAtAnOptimum) {
  const Model model = hollow();
  constexpr int steps = 5;
  const PredictiveSettings settings{.steps = steps, .smoothness = 2e-4, .effort = 1e-4};
  Somewhere start(model);
  PredictiveControl control(model, again(settings));
  const std::vector<double> goals = start.goals(steps, 2e-4);
  PlanReport report;
  for (int k = 0; k < 60; ++k) report = control.plan(start.state.q, start.state.v, start.state.commands, goals);
  ASSERT_EQ(report.status, PlanReport::Status::planned);
  const Robot& robot = model->robot;
  const std::size_t nv = extent(model->modes), actuators = robot.actuators.size();
  const std::vector<double> plan(control.planned().begin(), control.planned().end());
  const auto gradient_at = [&](const std::vector<double>& commands) {
    Rollout rollout(model, 1);
    const RolloutRecord& record =
        rollout.run(commands, {.q = start.state.q, .v = start.state.v, .applied = start.state.commands}, {});
    std::vector<double> by_q((steps + 1) * nv, 0.0);
    for (std::size_t step = 1; step <= steps; ++step)
      for (std::size_t e = 0; e < robot.effectors.size(); ++e)
        for (std::size_t k = 0; k < 3; ++k) {
          const auto row = 3 * extent(robot.effectors[e].point) + k;
          const double* L = model->outputs.data() + row * nv;
          double x = robot.rest_points[extent(robot.effectors[e].point)][static_cast<int>(k)];
          for (std::size_t j = 0; j < nv; ++j) x += L[j] * record.q[step * nv + j];
          const double away = x - goals[(step - 1) * 3 * robot.effectors.size() + 3 * e + k];
          for (std::size_t j = 0; j < nv; ++j) by_q[step * nv + j] += away / steps * L[j];
        }
    // One for each block.
    const std::vector<double> by_step = rollout.pull_back({.q = by_q}).commands;
    const std::vector<int>& blocks = control.settings().blocks;
    std::vector<double> gradient;
    std::size_t first = 0;
    for (std::size_t block = 0; block < blocks.size(); first += extent(blocks[block++]))
      for (std::size_t a = 0; a < actuators; ++a) {
        const double width = robot.actuators[a].range.upper - robot.actuators[a].range.lower;
        const double now = commands[first * actuators + a];
        const double before = first == 0 ? start.state.commands[a] : commands[(first - 1) * actuators + a];
        const double share = 1 / static_cast<double>(blocks.size());
        double sum = settings.effort * settings.effort * share * now / width +
                     settings.smoothness * settings.smoothness * share * (now - before) / width;
        const std::size_t next = first + extent(blocks[block]);
        if (next < steps)
          sum -= settings.smoothness * settings.smoothness * share * (commands[next * actuators + a] - now) / width;
        for (std::size_t step = first; step < next; ++step) sum += by_step[step * actuators + a] * width;
        gradient.push_back(sum);
      }
    return gradient;
  };
  std::vector<double> beginning;
  for (int step = 0; step < steps; ++step)
    beginning.insert(beginning.end(), start.state.commands.begin(), start.state.commands.end());
  const double size = boxes::norm(gradient_at(beginning));
  const std::vector<double> gradient = gradient_at(plan);
  int inside = 0;
  std::size_t first = 0, at = 0;
  for (const int own : control.settings().blocks) {
    for (std::size_t a = 0; a < actuators; ++a, ++at) {
      const Interval range = robot.actuators[a].range;
      const double width = range.upper - range.lower, now = plan[first * actuators + a];
      // Gauss-Newton leaves out second derivatives, and ends where the gradient ends: 60 plans bring it far down.
      if (now < range.lower + 1e-9 * width) {
        EXPECT_GT(gradient[at], -1e-5 * size) << at;
      } else if (now > range.upper - 1e-9 * width) {
        EXPECT_LT(gradient[at], 1e-5 * size) << at;
      } else {
        EXPECT_NEAR(gradient[at], 0, 1e-5 * size) << at;
        ++inside;
      }
    }
    first += extent(own);
  }
  EXPECT_GT(inside, 0);
}

TEST(PredictiveControl, PlansKeepRangesAndRates) {
  Scene scene = reduced_bodies::bar_with_forces(batch_bodies::corotational);
  for (ActuatorScene& actuator : scene.actuators)
    actuator.rate = 2 * (actuator.range.upper - actuator.range.lower);  // a fiftieth of the range in a step
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::reduced(scene, reduced_bodies::bar(false)));
  const Robot& robot = model->robot;
  const std::size_t actuators = robot.actuators.size();
  Somewhere start(model);
  PredictiveControl control(model, {.steps = 8, .smoothness = 1e-9, .effort = 0});
  const std::vector<double> goals = start.goals(8, 0.05);  // far
  std::vector<double> applied = start.state.commands;
  Stepper stepper(start.mechanics, {.time_step = batch_bodies::time_step});
  int at_rate = 0;
  for (int k = 0; k < 20; ++k) {
    ASSERT_EQ(control.plan(start.state.q, start.state.v, applied, goals).status, PlanReport::Status::planned);
    for (std::size_t i = 0; i < control.planned().size(); ++i) {
      const ActuatorRow& actuator = robot.actuators[i % actuators];
      const double now = control.planned()[i], before = i < actuators ? applied[i] : control.planned()[i - actuators];
      EXPECT_GE(now, actuator.range.lower);
      EXPECT_LE(now, actuator.range.upper);
      const double step = actuator.rate * batch_bodies::time_step;
      EXPECT_LE(std::abs(now - before), step * (1 + 1e-9));
      if (std::abs(now - before) > 0.999 * step) ++at_rate;
    }
    Control next = zero_control(start.mechanics);
    next.commands.assign(control.commands().begin(), control.commands().end());
    const StepReport report = stepper.step(next, start.state);
    ASSERT_EQ(report.status, StepStatus::ok);
    applied = start.state.commands;
    // The step cuts nothing: commands are at their rate to rounding.
    for (std::size_t a = 0; a < actuators; ++a)
      EXPECT_NEAR(applied[a], next.commands[a], 1e-12 * robot.actuators[a].range.upper);
  }
  EXPECT_GT(at_rate, 20);
}

// A cable that is slack at first has no effect until it pulls, and is pulled all the same.
TEST(PredictiveControl, SlackCables) {
  Scene scene = hollow_bodies::bar_scene(batch_bodies::corotational, ActuatorControl::force, 4e4);
  std::erase_if(scene.actuators, [](const ActuatorScene& a) { return a.kind != ActuatorKind::cable; });
  ASSERT_EQ(scene.actuators.size(), 1U);
  scene.gravity = {{0, 0, 0}};
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::reduced(scene, hollow_bodies::bar(false)));
  ASSERT_EQ(model->robot.actuators.front().control, ActuatorControl::displacement);
  ReducedMechanics mechanics(*model);
  // Where the effectors are with the cable at a third of its range.
  Control control = zero_control(mechanics);
  control.commands = {0.3 * model->robot.actuators.front().range.upper};
  State there = rest_state(mechanics);
  Stepper stepper(mechanics, {.time_step = batch_bodies::time_step});
  for (int k = 0; k < 400; ++k) ASSERT_EQ(stepper.step(control, there).status, StepStatus::ok);
  std::vector<double> y(extent(model->robot.outputs())), goal(3);
  mechanics.evaluate_outputs(there.q, {}, y);
  effector_state(model->robot, 0, y, goal);

  PredictiveControl predictive(model, {.steps = 5, .smoothness = 1e-6, .effort = 0});
  std::vector<double> goals;
  for (int k = 0; k < 5; ++k) goals.insert(goals.end(), goal.begin(), goal.end());
  State state = rest_state(mechanics);
  for (int k = 0; k < 200; ++k) {
    ASSERT_EQ(predictive.plan(state.q, state.v, state.commands, goals).status, PlanReport::Status::planned);
    control.commands = {predictive.commands()[0]};
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
  }
  EXPECT_NEAR(state.commands[0], 0.3 * model->robot.actuators.front().range.upper,
              0.01 * model->robot.actuators.front().range.upper);
}

// A prediction that touches something knows what that does to the effectors.
TEST(PredictiveControl, InContact) {
  FullModel full =
      build_full_model(reduced_bodies::bar_with_forces(batch_bodies::corotational), reduced_bodies::bar(false));
  PlacedObstacle below = contact_bodies::floor(0.4);
  below.pose.position = {{0, 0, -0.002}};
  contact_bodies::place_among(full, {below}, 1e-4);
  const auto model = std::make_shared<const ReducedModel>(
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 3 * batch_bodies::modes), 3 * batch_bodies::modes,
              reduced_bodies::some_elements(full)));  // more modes than contacts and rows can hold
  Somewhere start(model);
  PredictiveControl control(model, again({.steps = 6, .smoothness = 1e-8, .effort = 0, .trust = 1e-4}));
  const std::vector<double> goals = start.goals(6, 1e-3);
  const PlanReport first = control.plan(start.state.q, start.state.v, start.state.commands, goals);
  ASSERT_EQ(first.status, PlanReport::Status::planned);
  EXPECT_GT(first.contacts, 0);
  EXPECT_EQ(first.inexact, 0);
  const PlanReport second = control.plan(start.state.q, start.state.v, start.state.commands, goals);
  EXPECT_NEAR(second.distance, first.expected, 2e-2 * (first.distance - first.expected));
}

// Plans five times in a step of the prediction: the cable goes as fast as it is predicted to, not five times as fast.
TEST(PredictiveControl, PeriodsShorterThanSteps) {
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::cables());
  Somewhere start(model);
  const double h = batch_bodies::time_step;
  PredictiveControl control(model, {.steps = 4, .period = h / 5, .smoothness = 1e-6, .effort = 0});
  ASSERT_EQ(control.plan(start.state.q, start.state.v, start.state.commands, start.goals(4, 1e-3)).status,
            PlanReport::Status::planned);
  int displacements = 0;
  for (std::size_t a = 0; a < control.commands().size(); ++a) {
    const double planned = control.planned()[a], before = start.state.commands[a];
    const bool force = gives_force(model->robot.actuators[a], /*at_rest=*/false);
    EXPECT_DOUBLE_EQ(control.commands()[a], force ? planned : before + 0.2 * (planned - before));
    displacements += force ? 0 : 1;
  }
  EXPECT_GT(displacements, 0);
}

TEST(PredictiveControl, Blocks) {
  EXPECT_EQ(default_blocks(10, 4), std::vector<int>(10, 1));
  EXPECT_EQ(default_blocks(60, 1), std::vector<int>(60, 1));
  EXPECT_EQ(default_blocks(10, 8), (std::vector<int>{1, 1, 1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(default_blocks(10, 30), (std::vector<int>{4, 6}));
  for (const int actuators : {1, 3, 8, 20, 64})
    for (const int steps : {1, 2, 7, 10, 30, 100}) {
      const std::vector<int> blocks = default_blocks(steps, actuators);
      int sum = 0;
      for (const int own : blocks) sum += own;
      EXPECT_EQ(sum, steps);
      EXPECT_LE(static_cast<int>(blocks.size()) * actuators, max_qp_unknowns);
      EXPECT_TRUE(std::ranges::is_sorted(std::span(blocks).first(blocks.size() - 1)));
    }
}

TEST(PredictiveControl, WhatDoesNotFit) {
  const Model model = hollow();
  EXPECT_THROW(PredictiveControl(model, {.steps = 0}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.steps = 4, .blocks = {1, 2}}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.steps = 4, .blocks = {4, 0}}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.steps = 100, .blocks = std::vector<int>(100, 1)}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.period = 1}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.period = 0}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.time_step = -1}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.smoothness = -1}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.trust = 0}), InputError);
  EXPECT_THROW(PredictiveControl(model, {.iterations = 0}), InputError);
  ReducedModel without = *model;
  without.robot.effectors.clear();
  EXPECT_THROW(PredictiveControl(std::make_shared<const ReducedModel>(without), {}), InputError);
  ReducedModel endless = *model;
  endless.robot.actuators.front().range.upper = unlimited;
  EXPECT_THROW(PredictiveControl(std::make_shared<const ReducedModel>(endless), {}), InputError);
  PredictiveControl control(model, {.steps = 2});
  Somewhere start(model);
  const std::vector<double> goals = start.goals(2, 0);
  std::vector<double> broken = goals;
  broken[1] = std::nan("");
  EXPECT_THROW((void)control.plan(start.state.q, start.state.v, start.state.commands, start.goals(3, 0)), InputError);
  EXPECT_THROW((void)control.plan(start.state.q, start.state.v, start.state.commands, broken), InputError);
  EXPECT_THROW((void)control.plan(start.state.q, {}, start.state.commands, goals), InputError);
}

}  // namespace
}  // namespace supple

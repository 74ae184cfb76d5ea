// Steps of robots whose states stay on a device, against a Stepper with the same mechanics; robots that are put back,
// that differ.

#include "engine/step/batch_stepper.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include "engine/inverse/inverse_law.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"

namespace supple {
namespace {

using namespace batch_bodies;

State run(ReducedRobots& mechanics, int steps, std::vector<double>* outputs = nullptr) {
  Stepper stepper(mechanics, {.time_step = time_step});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  for (int step = 0; step < steps; ++step) {
    control.commands = commands_at(step, mechanics.robot(), mechanics.robots());
    const StepReport report = stepper.step(control, state);
    EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
  }
  if (outputs) *outputs = stepper.outputs();
  return state;
}

void advance(BatchStepper& stepper, const Robot& robot, int begin, int end) {
  for (int step = begin; step < end; ++step) {
    const StepReport report = stepper.step(commands_at(step, robot, stepper.robots()));
    EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
    EXPECT_TRUE(report.failures.empty());
  }
}

// The same arithmetic, of which a compiler fuses multiplications and additions as it sees fit, here in an op and there
// in a loop of Stepper: rounding of 1e-16 in systems of condition 1e4, damped by implicit Euler. Velocities are found
// to 2e-13.
constexpr double rounding = 1e-11;

void expect_same(const State& found, const State& expected) {
  EXPECT_EQ(found.time, expected.time);
  for (const auto list : {&State::q, &State::v, &State::multipliers, &State::commands})
    EXPECT_LE(boxes::difference(found.*list, expected.*list), rounding);
}

class BatchSteps : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchSteps, test::every_device(), test::device_name);

TEST_P(BatchSteps, MovesAsStepperWithAnyNumberOfParts) {
  constexpr int robots = 7, steps = 150;
  for (const ReducedModel& model : {cables(), cavity()}) {
    SCOPED_TRACE(model.robot.actuators[0].name);
    ReducedBatchMechanics mechanics(model, GetParam(), robots);
    std::vector<double> y;
    const State expected = run(mechanics, steps, &y);
    EXPECT_GT(boxes::norm(expected.multipliers), 0);
    EXPECT_GT(boxes::difference(of_robot(expected.q, robots, 1), of_robot(expected.q, robots, 0)), 1e-3);
    std::vector<std::uint64_t> hashes;
    for (const BatchStepSettings& settings :
         {BatchStepSettings{}, BatchStepSettings{.parts = 2}, BatchStepSettings{.parts = 3, .ahead = true}}) {
      BatchStepper stepper(model, GetParam(), robots, settings);
      EXPECT_EQ(stepper.parts(), settings.parts > 0 ? settings.parts : GetParam().kind == Device::Kind::cpu ? 1 : 2);
      advance(stepper, model.robot, 0, steps);
      const State found = stepper.state();
      expect_same(found, expected);
      EXPECT_LE(boxes::difference(stepper.outputs(), y), rounding);
      hashes.push_back(hash(found));
    }
    if (GetParam().kind == Device::Kind::cpu) {
      EXPECT_EQ(hashes, std::vector<std::uint64_t>(3, hashes[0]));
    }
  }
}

TEST_P(BatchSteps, RobotsWithoutRowsFall) {
  ReducedModel model = cavity();
  model.robot.actuators.clear();
  ReducedBatchMechanics mechanics(model, GetParam(), 3);
  BatchStepper stepper(model, GetParam(), 3, {.parts = 2});
  advance(stepper, model.robot, 0, 20);
  const State expected = run(mechanics, 20);
  EXPECT_GT(boxes::norm(expected.q), 0);
  EXPECT_LE(boxes::difference(stepper.state().q, expected.q), rounding);
}

TEST_P(BatchSteps, TangentInSinglePrecision) {
  const ReducedModel model = cavity();
  ReducedBatchMechanics mechanics(model, GetParam(), 5, {.precision = Precision::mixed});
  BatchStepper stepper(model, GetParam(), 5, {.precision = Precision::mixed, .parts = 2});
  advance(stepper, model.robot, 0, 30);
  // States that are apart by their rounding may round to other numbers in single precision: 1e-7 of K.
  EXPECT_LT(boxes::difference(stepper.state().q, run(mechanics, 30).q), 1e-6);
  ReducedBatchMechanics exact(model, GetParam(), 5);
  EXPECT_GT(boxes::difference(stepper.state().q, run(exact, 30).q), rounding);
}

// By libraries and by teams of its own: both round their sums in another order, which the model's condition number of
// 1e4 shows.
TEST_P(BatchSteps, SinglePrecision) {
  for (const ReducedModel& model : {cables(), cavity()}) {
    SCOPED_TRACE(model.robot.actuators[0].name);
    ReducedBatchMechanics mechanics(model, GetParam(), 5, {.precision = Precision::fp32}), exact(model, GetParam(), 5);
    const std::vector<double> expected = run(mechanics, 30).q;
    EXPECT_GT(boxes::difference(expected, run(exact, 30).q), 1e-9);
    for (const SystemAlgebra algebra : {SystemAlgebra::library, SystemAlgebra::fused}) {
      BatchStepper stepper(model, GetParam(), 5, {.precision = Precision::fp32, .algebra = algebra, .parts = 2});
      advance(stepper, model.robot, 0, 30);
      EXPECT_LT(boxes::difference(stepper.state().q, expected), 1e-5);
    }
  }
}

// The values of effectors are found for goals of zero and the goals taken from them afterwards: another rounding of
// 1e-16 m, through programs whose regularisation is 1e-6.
TEST_P(BatchSteps, LeadsAsStepper) {
  constexpr int robots = 5, steps = 100;
  Scene scene = cable_scene();
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.kind == ConstraintKind::limit; });
  EffectorScene length;
  length.name = "path";
  length.kind = EffectorKind::length;
  length.points = {{{0.2, 0.03, 0.02}}, {{0.1, 0.03, 0.03}}};
  length.pull_point = {{0, 0.03, 0.02}};
  scene.effectors.push_back(length);
  for (const ReducedModel& model : {reduced(scene, reduced_bodies::bar(false)), cavity()}) {
    SCOPED_TRACE(model.robot.actuators[0].name);
    const Robot& robot = model.robot;
    // Goals where the effectors of robots are that are driven.
    ReducedBatchMechanics leaders(model, GetParam(), robots), mechanics(model, GetParam(), robots);
    Stepper forward(leaders, {.time_step = time_step}), inverse(mechanics, {.time_step = time_step});
    State leader = rest_state(leaders), expected = leader;
    InverseLaw law(robot, robots, {});
    BatchStepper stepper(model, GetParam(), robots, {.time_step = time_step, .laws = true, .parts = 2});
    std::vector<std::unique_ptr<InverseLaw>> laws;
    std::vector<ConstraintLaw*> given;
    for (int k = 0; k < stepper.parts(); ++k) {
      laws.push_back(std::make_unique<InverseLaw>(robot, stepper.part(k).count, InverseSettings{}));
      given.push_back(laws.back().get());
    }
    const int effectors = static_cast<int>(robot.effectors.size()), ny = robot.outputs();
    std::vector<double> goals(extent(robots, 3, effectors));
    Control control = zero_control(leaders);
    for (int step = 0; step < steps; ++step) {
      control.commands = commands_at(step, robot, robots);
      ASSERT_EQ(forward.step(control, leader).status, StepStatus::ok);
      const std::vector<double> y = forward.outputs();
      for (int b = 0; b < robots; ++b)
        for (int e = 0; e < effectors; ++e)
          effector_state(robot, e, std::span<const double>(y).subspan(extent(b, ny), extent(ny)),
                         std::span(goals).subspan(extent(b, 3, effectors) + extent(3, e), 3));
      law.set_goals(goals);
      ASSERT_EQ(inverse.step(law, expected.motions, expected).status, StepStatus::ok);
      for (int k = 0; k < stepper.parts(); ++k)
        laws[extent(k)]->set_goals(std::span<const double>(goals).subspan(extent(stepper.part(k).first, 3, effectors),
                                                                          extent(stepper.part(k).count, 3, effectors)));
      ASSERT_EQ(stepper.step(given).status, StepStatus::ok);
    }
    const State found = stepper.state();
    EXPECT_GT(boxes::norm(expected.multipliers), 0);
    for (const auto list : {&State::q, &State::v, &State::multipliers, &State::commands})
      EXPECT_LT(boxes::difference(found.*list, expected.*list), 1e-9);
    for (int b = 0; b < robots; ++b)
      EXPECT_EQ(law.report(b).held, laws[b < stepper.part(0).count ? 0 : 1]->report(b % stepper.part(0).count).held);
  }
}

// A robot's bits do not depend on how many there are, on the CPU.
TEST(BatchStepperOnCpu, BitsDependNeitherOnTheBatchNorOnThreads) {
  const int threads = omp_get_max_threads();
  for (const ReducedModel& model : {cables(), cavity()}) {
    constexpr int robots = 37, steps = 12;
    std::vector<State> states;
    for (const int count : {1, 2, 8}) {
      omp_set_num_threads(count);
      BatchStepper stepper(model, cpu(), robots, {.parts = 2});
      advance(stepper, model.robot, 0, steps);
      states.push_back(stepper.state());
    }
    omp_set_num_threads(threads);
    EXPECT_EQ(hash(states[0]), hash(states[1]));
    EXPECT_EQ(hash(states[0]), hash(states[2]));
    for (const int b : {0, 5, 36}) {
      BatchStepper alone(model, cpu(), 1);
      for (int step = 0; step < steps; ++step)
        ASSERT_EQ(alone.step(commands_at(step, model.robot, 1, b)).status, StepStatus::ok);
      expect_same_robot(states[0], b, alone.state(), 0);
    }
  }
}

// What is put back moves on as what begins, what is not does not notice: bit by bit.
TEST_P(BatchSteps, RobotsArePutBackAlone) {
  const ReducedModel model = cables();
  constexpr int robots = 6, steps = 15;
  const auto same_commands = [&](int step) {
    std::vector<double> all;
    const std::vector<double> one = commands_at(step, model.robot, 1);
    for (int b = 0; b < robots; ++b) all.insert(all.end(), one.begin(), one.end());
    return all;
  };
  for (const bool ahead : {false, true}) {
    BatchStepper stepper(model, GetParam(), robots, {.parts = 2, .ahead = ahead}),
        undisturbed(model, GetParam(), robots, {.parts = 2});
    for (int step = 0; step < steps; ++step) {
      (void)stepper.step(same_commands(step));
      (void)undisturbed.step(same_commands(step));
    }
    const State once = stepper.state();
    BatchStepper one(model, GetParam(), 1);
    const int first[] = {4}, second[] = {0, 5};
    stepper.reset(first, one.state());
    stepper.reset(second, BatchStepper(model, GetParam(), robots).state());
    EXPECT_EQ(stepper.state().time, once.time);
    for (int step = 0; step < steps; ++step) {
      ASSERT_EQ(stepper.step(same_commands(step)).status, StepStatus::ok);
      (void)undisturbed.step(same_commands(step));
    }
    const State mixed = stepper.state(), twice = undisturbed.state();
    for (int b = 0; b < robots; ++b) expect_same_robot(mixed, b, b == 0 || b >= 4 ? once : twice, b);
    EXPECT_NE(of_robot(once.q, robots, 0), of_robot(twice.q, robots, 0));
  }
}

TEST_P(BatchSteps, RobotsOfTheirOwn) {
  const ReducedModel model = cables();
  constexpr int robots = 5;
  Variations own;
  for (int b = 0; b < robots; ++b) {
    own.gravity.insert(own.gravity.end(), {0.5 * b, -1, -9.81 - 3 * b});
    for (int g = 0; g < model.regions(); ++g) own.material_scale.push_back(0.6 + 0.3 * b + 0.2 * g);
  }
  ReducedBatchMechanics mechanics(model, GetParam(), robots);
  mechanics.set_variations(own);
  BatchStepper stepper(model, GetParam(), robots, {.parts = 2, .ahead = true});
  const State start = stepper.state();
  advance(stepper, model.robot, 0, 3);
  stepper.set_variations(own);
  stepper.set_state(start);
  advance(stepper, model.robot, 0, 20);
  expect_same(stepper.state(), run(mechanics, 20));
  // Refused as a whole, by the number of the robot in the batch.
  own.material_scale.back() = -1;
  own.gravity[0] = 3;
  try {
    stepper.set_variations(own);
    ADD_FAILURE() << "a factor below 0 was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("robot 4 has material_scale -1"), std::string::npos) << error.what();
  }
}

// One team for each robot from K to constraint space: sums in another order. What fails is found there too.
TEST_P(BatchSteps, FusedAlgebraMovesAsTheLibraries) {
  const ReducedModel model = cables();
  constexpr int robots = 5;
  ReducedBatchMechanics mechanics(model, GetParam(), robots);
  const BatchStepSettings settings{.algebra = SystemAlgebra::fused, .parts = 2};
  BatchStepper stepper(model, GetParam(), robots, settings);
  advance(stepper, model.robot, 0, 100);
  expect_same(stepper.state(), run(mechanics, 100));
  ReducedModel heavy = model;
  for (double& entry : heavy.mass) entry *= -1e6;
  BatchStepper failing(heavy, GetParam(), 3, settings);
  const StepReport report = failing.step(commands_at(0, heavy.robot, 3));
  EXPECT_EQ(report.status, StepStatus::not_positive);
  EXPECT_EQ(report.failures.size(), 3U);
}

}  // namespace
}  // namespace supple

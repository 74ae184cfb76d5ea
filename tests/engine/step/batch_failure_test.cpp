// Robots of a batch on a device whose step fails: they are named, keep their state, and the others do not notice.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/inverse/inverse_law.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/batch_stepper.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"

namespace supple {
namespace {

using namespace batch_bodies;

class BatchFailure : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchFailure, test::every_device(), test::device_name);

// Runs two batches, of which one has a robot that fails in the way that `spoil` prepares, and compares.
template <class Spoil>
void expect_one_fails(const ReducedModel& model, const Device& device, const Variations& own, int failing,
                      StepStatus status, bool keeps, const Spoil& spoil,
                      const BatchStepSettings& settings = {.parts = 2}) {
  constexpr int robots = 6;
  BatchStepSettings ahead = settings;
  ahead.ahead = true;
  BatchStepper stepper(model, device, robots, ahead), undisturbed(model, device, robots, settings);
  stepper.set_variations(own);
  undisturbed.set_variations(own);
  for (int step = 0; step < 5; ++step) {
    ASSERT_EQ(stepper.step(commands_at(step, model.robot, robots)).status, StepStatus::ok);
    ASSERT_EQ(undisturbed.step(commands_at(step, model.robot, robots)).status, StepStatus::ok);
  }
  const State good = stepper.state();
  for (int step = 5; step < 12; ++step) {
    std::vector<double> commands = commands_at(step, model.robot, robots);
    ASSERT_EQ(undisturbed.step(commands).status, StepStatus::ok);
    spoil(stepper, commands);
    const StepReport report = stepper.step(commands);
    EXPECT_EQ(report.status, status) << describe(report.status);
    ASSERT_EQ(report.failures.size(), 1U);
    EXPECT_EQ(report.failures[0].robot, failing);
    EXPECT_EQ(report.failures[0].status, status);
  }
  const State found = stepper.state(), expected = undisturbed.state();
  for (int b = 0; b < robots; ++b)
    if (b != failing) expect_same_robot(found, b, expected, b);
  if (keeps) expect_same_robot(found, failing, good, failing);
  // It goes on from where it is put.
  const int back[] = {failing};
  stepper.set_variations({});
  stepper.reset(back, good);
  ASSERT_EQ(stepper.step(commands_at(5, model.robot, robots)).status, StepStatus::ok);
  EXPECT_NE(of_robot(stepper.state().q, robots, failing), of_robot(good.q, robots, failing));
}

TEST_P(BatchFailure, ARobotWithoutAForceFailsAlone) {
  // No number is no state to keep.
  const ReducedModel model = cavity();
  expect_one_fails(model, GetParam(), {}, 4, StepStatus::undefined_points, false,
                   [&](BatchStepper& stepper, std::vector<double>&) {
                     State nowhere = stepper.state();
                     nowhere.q[extent(4, modes)] = std::nan("");
                     const int four[] = {4};
                     stepper.reset(four, nowhere);
                   });
}

TEST_P(BatchFailure, ARobotWithoutAnswerFailsAlone) {
  const ReducedModel model = cables();
  ASSERT_EQ(model.robot.actuators[0].control, ActuatorControl::displacement);
  expect_one_fails(model, GetParam(), {}, 1, StepStatus::rows_unsolved, true,
                   [&](BatchStepper&, std::vector<double>& commands) { commands[3] = std::nan(""); });
}

// A mass below zero, which only stiff robots stand.
void expect_not_positive_alone(const Device& device, int failing, const BatchStepSettings& settings) {
  ReducedModel model = cavity();
  for (double& entry : model.mass) entry *= -1e-4;
  Variations stiff, soft;
  for (int b = 0; b < 6; ++b)
    for (int g = 0; g < model.regions(); ++g) stiff.material_scale.push_back(1);
  soft = stiff;
  for (int g = 0; g < model.regions(); ++g) soft.material_scale[extent(failing, model.regions()) + extent(g)] = 1e-8;
  expect_one_fails(
      model, device, stiff, failing, StepStatus::not_positive, true,
      [&](BatchStepper& stepper, std::vector<double>&) { stepper.set_variations(soft); }, settings);
}

TEST_P(BatchFailure, ARobotThatIsNotPositiveFailsAlone) {
  expect_not_positive_alone(GetParam(), 2, {.parts = 2});
}

// Its team leaves in the middle of a factorisation. Where teams are fewer than robots, as on the emulated GPU with four,
// the same team and scratch then serve another robot (5 after 1).
TEST_P(BatchFailure, ARobotThatIsNotPositiveFailsAloneByFusedAlgebra) {
  for (const Precision precision : {Precision::fp64, Precision::mixed, Precision::fp32})
    expect_not_positive_alone(GetParam(), 1, {.precision = precision, .algebra = SystemAlgebra::fused, .parts = 1});
}

// Newton's method continues for the others; a robot that an iteration leads to points without stress goes half the way
// back and converges as it does alone, and one that has no number fails.
TEST_P(BatchFailure, NewtonsMethodStepsBackAlone) {
  constexpr int robots = 4, thrown = 1, failing = 2;
  const ReducedModel model = cavity();
  ReducedMechanics alone(model, robots);
  const StepSettings settings{.scheme = StepScheme::newton, .time_step = time_step};
  Stepper stepper(alone, settings), impatient(alone, settings);
  impatient.set_limits(40, /*max_halvings=*/0, 0);
  BatchStepper batch(model, GetParam(), robots, {.scheme = StepScheme::newton, .parts = 1});
  Control control = zero_control(alone);
  control.commands = commands_at(3, model.robot, robots);
  State state = rest_state(alone);
  for (int k = 0; k < modes; ++k)
    state.v[extent(thrown, modes) + extent(k)] = 4e3 * (k % 3 - 1);  // of a basis that is no metre long
  State other = state;
  const StepReport without = impatient.step(control, other);
  ASSERT_EQ(without.failures.size(), 1U);
  EXPECT_EQ(without.failures[0].robot, thrown);
  EXPECT_EQ(without.failures[0].status, StepStatus::undefined_points);

  state.q[extent(failing, modes)] = std::nan("");
  batch.set_state(state);
  const StepReport expected = stepper.step(control, state), found = batch.step(control.commands);
  for (const StepReport* report : {&expected, &found}) {
    ASSERT_EQ(report->failures.size(), 1U);
    EXPECT_EQ(report->failures[0].robot, failing);
    EXPECT_EQ(report->failures[0].status, StepStatus::undefined_points);
  }
  EXPECT_EQ(found.iterations, expected.iterations);
  const State end = batch.state();
  // Sums in another order, through systems of condition 1e4.
  for (const int b : {0, 1, 3})
    EXPECT_LT(boxes::difference(of_robot(end.q, robots, b), of_robot(state.q, robots, b)), 1e-10) << b;
}

// A robot that waits is factored with the others, where it has no stress: it does not take that factor once more.
TEST(BatchNewton, KeepsNoFactorOfARobotThatSteppedBack) {
  constexpr int robots = 3, thrown = 1;
  const ReducedModel model = cavity();
  State ends[2];
  for (const double keep : {0.0, 0.9}) {
    ReducedMechanics mechanics(model, robots);
    Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = time_step, .keep_factor_below = keep});
    State& state = ends[keep > 0] = rest_state(mechanics);
    for (int k = 0; k < modes; ++k) state.v[extent(thrown, modes) + extent(k)] = 4e3 * (k % 3 - 1);
    Control control = zero_control(mechanics);
    control.commands = commands_at(3, model.robot, robots);
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok) << keep;
  }
  // Converged to 1e-9 of the forces at work.
  EXPECT_LT(boxes::difference(ends[1].q, ends[0].q), 1e-8);
}

// Found on the device first, on the host afterwards: told by number, the status is that of the first.
TEST_P(BatchFailure, AreToldInTheOrderOfTheRobots) {
  const ReducedModel model = cables();
  BatchStepper stepper(model, GetParam(), 6, {.parts = 1});
  State nowhere = stepper.state();
  nowhere.q[extent(4, modes)] = std::nan("");
  const int four[] = {4};
  stepper.reset(four, nowhere);
  std::vector<double> commands = commands_at(1, model.robot, 6);
  commands[3] = std::nan("");
  const StepReport report = stepper.step(commands);
  ASSERT_EQ(report.failures.size(), 2U);
  EXPECT_EQ(report.failures[0].robot, 1);
  EXPECT_EQ(report.failures[1].robot, 4);
  EXPECT_EQ(report.failures[1].status, StepStatus::undefined_points);
  EXPECT_EQ(report.status, StepStatus::rows_unsolved);
}

// The programs of the others are those of a batch in which nothing happened, also where rows are eliminated first.
TEST_P(BatchFailure, LeavesTheProgramsOfTheOthers) {
  constexpr int robots = 4, failing = 2;
  Scene scene = cable_scene();
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.kind == ConstraintKind::limit; });
  const ReducedModel model = reduced(scene, reduced_bodies::bar(false));
  const int effectors = static_cast<int>(model.robot.effectors.size());
  std::vector<double> goals;
  for (int b = 0; b < robots; ++b)
    for (const Effector& effector : model.robot.effectors)
      for (int k = 0; k < 3; ++k) goals.push_back(model.robot.rest_points[extent(effector.point)][k] + 0.001 * (b + k));
  ASSERT_EQ(goals.size(), extent(robots, 3, effectors));
  std::vector<State> ends;
  // Without a system, or with one and no motion.
  struct Disturbance {
    std::vector<double> State::*list;
    double value;
    StepStatus status;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [list, value, status] : {Disturbance{nullptr, 0, StepStatus::ok},
                                            {&State::q, std::nan(""), StepStatus::undefined_points},
                                            {&State::v, infinity, StepStatus::not_converged}}) {
    const bool disturbed = list != nullptr;
    BatchStepper stepper(model, GetParam(), robots, {.laws = true, .parts = 1});
    InverseLaw law(model.robot, robots, {});
    ConstraintLaw* const laws[] = {&law};
    law.set_goals(goals);
    for (int step = 0; step < 10; ++step) {
      State nowhere = stepper.state();
      if (disturbed) (nowhere.*list)[extent(failing, modes)] = value;
      const int one[] = {failing};
      if (disturbed && step >= 4) stepper.reset(one, nowhere);
      const StepReport report = stepper.step(laws);
      ASSERT_EQ(report.failures.size(), disturbed && step >= 4 ? 1U : 0U);
      if (!report.failures.empty()) {
        EXPECT_EQ(report.failures[0].robot, failing);
        EXPECT_EQ(report.failures[0].status, status);
      }
    }
    ends.push_back(stepper.state());
  }
  for (const int b : {0, 1, 3}) {
    expect_same_robot(ends[1], b, ends[0], b);
    expect_same_robot(ends[2], b, ends[0], b);
  }
  EXPECT_GT(boxes::norm(ends[0].multipliers), 0);
}

// A forward law that looks at what it is given.
class Watched final : public ConstraintLaw {
 public:
  Watched(const Robot& robot, int robots) : law_(robot, robots) {}
  ForwardLaw law_;
  std::vector<char> left_out;
  bool finite = true;

  const RowLayout& effector_rows() const override { return law_.effector_rows(); }
  void evaluate_effectors(int, std::span<const double>, std::span<double>, std::span<double>) const override {}
  std::span<const double> goals(int) const override { return {}; }
  bool moves_inputs() const override { return false; }
  int begin(const State& state, double step, bool at_rest, std::span<double> multipliers) override {
    return law_.begin(state, step, at_rest, multipliers);
  }
  bool solve(const ConstraintSpace& space, std::span<const char> touch, std::span<double> multipliers,
             std::span<double> dc) override {
    left_out.assign(touch.begin(), touch.end());
    for (const std::span<const double>& values : {space.W, space.free})
      for (const double value : values) finite = finite && std::isfinite(value);
    return law_.solve(space, touch, multipliers, dc);
  }
  bool solved(int robot) const override { return law_.solved(robot); }
  ContactReport solve_in_contact(int robot, const ContactSpace& space, std::span<double> multipliers,
                                 std::span<double> dc) override {
    return law_.solve_in_contact(robot, space, multipliers, dc);
  }
  double violation(int robot, std::span<const double> delta, std::span<const double> scale,
                   std::span<const double> multipliers) const override {
    return law_.violation(robot, delta, scale, multipliers);
  }
  void commands(std::span<const double> delta, std::span<const double> scale, std::span<const double> multipliers,
                std::span<double> commands) const override {
    law_.commands(delta, scale, multipliers, commands);
  }
};

// A law may look at all robots before it solves any: those that failed are left out, and no number is missing.
TEST_P(BatchFailure, IsNotForTheLaw) {
  constexpr int robots = 3;
  const ReducedModel model = cables();
  BatchStepper stepper(model, GetParam(), robots, {.parts = 1});
  Watched law(model.robot, robots);
  ConstraintLaw* const laws[] = {&law};
  const std::vector<double> commands = commands_at(3, model.robot, robots);
  law.law_.command(commands);
  ASSERT_EQ(stepper.step(laws).status, StepStatus::ok);
  EXPECT_TRUE(law.left_out.empty());
  State nowhere = stepper.state();
  nowhere.q[extent(1, modes)] = std::nan("");
  const int one[] = {1};
  stepper.reset(one, nowhere);
  EXPECT_EQ(stepper.step(laws).failures.size(), 1U);
  EXPECT_EQ(law.left_out, (std::vector<char>{0, 1, 0}));
  EXPECT_TRUE(law.finite);
}

}  // namespace
}  // namespace supple

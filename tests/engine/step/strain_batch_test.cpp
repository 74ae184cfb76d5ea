// Batches of robots whose membranes are modes of their strains: the same steps as robot by robot, on every device.

#include <gtest/gtest.h>

#include <set>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/batch_stepper.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/hosted.hpp"
#include "tests/engine/bodies/strain_bodies.hpp"

namespace supple {
namespace {

constexpr int modes = 9, robots = 7;

class StrainBatch : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StrainBatch, test::every_device(), test::device_name);

ReducedModel covered_bar(int strains = 5) {
  const FullModel full = build_full_model(strain_bodies::covered(), reduced_bodies::bar(false));
  return strain_bodies::with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes,
                                     strain_bodies::random_strains(full, strains));
}

// Robots with solids and membranes of their own, every membrane of a robot with the same factor.
Variations of_their_own(const ReducedModel& model) {
  Variations own;
  for (int b = 0; b < robots; ++b)
    for (int g = 0; g < model.regions(); ++g) own.material_scale.push_back(g == 0 ? 1 + 0.1 * b : 2 - 0.2 * b);
  for (int b = 0; b < robots; ++b) {
    own.density.push_back(1.5 - 0.2 * b);
    own.rayleigh_stiffness.push_back(0.001 * b);
  }
  return own;
}

std::vector<double> commands_at(int step) {
  std::vector<double> commands;
  for (int b = 0; b < robots; ++b)
    for (const double amplitude : {0.01, 1.0, 0.002})
      commands.push_back(amplitude * (1 - std::cos(0.3 * step * (1 + 0.1 * b))));
  return commands;
}

State run(Mechanics& mechanics, int steps) {
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  for (int step = 1; step <= steps; ++step) {
    control.commands = commands_at(step);
    EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
  }
  return state;
}

// In double the same sums in another order; in single precision as ReducedBatch.
TEST_P(StrainBatch, MovesAsRobotByRobot) {
  const ReducedModel model = covered_bar();
  for (const bool varied : {false, true}) {
    ReducedMechanics one_by_one(model, robots);
    if (varied) one_by_one.set_variations(of_their_own(model));
    const State expected = run(one_by_one, 30);
    EXPECT_GT(boxes::norm(expected.q), 1e-4);
    for (const auto& [precision, tolerance] :
         {std::pair{Precision::fp64, 1e-10}, {Precision::mixed, 1e-5}, {Precision::fp32, 1e-5}}) {
      ReducedBatchMechanics batch(model, GetParam(), robots, {.precision = precision});
      if (varied) batch.set_variations(of_their_own(model));
      const State found = run(batch, 30);
      EXPECT_LT(boxes::difference(found.q, expected.q), tolerance);
      EXPECT_LT(boxes::difference(found.v, expected.v), 10 * tolerance);
      EXPECT_EQ(boxes::difference(found.q, expected.q) > 1e-10, precision != Precision::fp64);
    }
  }
}

TEST_P(StrainBatch, StaysOnTheDevice) {
  const ReducedModel model = covered_bar();
  ReducedMechanics one_by_one(model, robots);
  one_by_one.set_variations(of_their_own(model));
  BatchStepper stepper(model, GetParam(), robots, {.parts = 2});
  stepper.set_variations(of_their_own(model));
  for (int step = 1; step <= 30; ++step) EXPECT_EQ(stepper.step(commands_at(step)).status, StepStatus::ok);
  EXPECT_LT(boxes::difference(stepper.state().q, run(one_by_one, 30).q), 1e-10);
  EXPECT_THROW(BatchStepper(model, GetParam(), 2, {.algebra = SystemAlgebra::fused}), InputError);
}

// One strain mode, stretched in some robots and compressed in others, the further the less of its geometric stiffness
// their tangents take.
TEST_P(StrainBatch, TakesTheShareOfTheGeometricStiffnessThatRobotByRobotTakes) {
  ReducedModel model = covered_bar(1);
  StrainModes& strains = model.fields[1].strains;
  strains.linear.assign(modes, 0.0);
  strains.linear[0] = 1e3;
  std::ranges::fill(strains.quadratic, 0.0);
  for (int i = 1; i < modes; ++i) strains.quadratic[extent(i, i + 1) / 2 + extent(i)] = 1e5;
  std::vector<double> alpha(extent(robots, modes), 0.0), f(alpha.size()), y(extent(robots, model.robot.outputs())),
      multipliers(extent(robots, model.robot.rows()), 0.0);
  const auto solve = [&](ReducedRobots& robots_there, double scale) {
    test::Hosted mechanics(robots_there);
    for (int b = 0; b < robots; ++b) alpha[extent(b, modes)] = scale * (b % 3 == 0 ? 1 : -b);
    std::vector<double> x = boxes::random_vector(robots * modes, 1);
    mechanics.evaluate_outputs(alpha, {}, y);
    (void)mechanics.evaluate_forces(alpha, {}, TangentKind::safe, f);
    const SystemReport report = mechanics.factor({.mass = 0, .stiffness = 1}, y, multipliers);
    EXPECT_EQ(report.status, SystemStatus::ok);
    return std::pair(x, report.weakened);
  };
  std::set<int> counts;
  for (const double scale : {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.1}) {
    ReducedMechanics one_by_one(model, robots);
    auto [right, weakened] = solve(one_by_one, scale);
    counts.insert(weakened);
    std::vector<double> expected = right;
    one_by_one.solve(expected, 1);
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      ReducedBatchMechanics batch(model, GetParam(), robots, {.precision = precision});
      auto [x, found] = solve(batch, scale);
      EXPECT_EQ(found, weakened) << scale;
      test::Hosted(batch).solve(x, 1);
      // 1e3 is about the condition number of what is left.
      EXPECT_LT(boxes::difference(x, expected), precision == Precision::fp64 ? 1e-10 : 1e-3) << scale;
    }
  }
  EXPECT_EQ(*counts.begin(), 0);
  EXPECT_EQ(*counts.rbegin(), 4);  // robots 1, 2, 4, 5
}

// Compressed at the start: steps that stay on the device say what steps of the host say.
TEST_P(StrainBatch, StaysOnTheDeviceWithAWeakenedTangent) {
  ReducedModel model = covered_bar(1);
  StrainModes& strains = model.fields[1].strains;
  strains.linear.assign(modes, 0.0);
  strains.linear[0] = 1e3;
  std::ranges::fill(strains.quadratic, 0.0);
  for (int i = 1; i < modes; ++i) strains.quadratic[extent(i, i + 1) / 2 + extent(i)] = 1e5;
  ReducedMechanics mechanics(model, robots);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  for (int b = 0; b < robots; ++b) state.q[extent(b, modes)] = b % 3 == 0 ? 0.001 : -0.3;
  BatchStepper resident(model, GetParam(), robots, {.time_step = 0.01, .parts = 2});
  resident.set_state(state);
  const Control control = zero_control(mechanics);
  const StepReport expected = stepper.step(control, state);
  const StepReport found = resident.step(control.commands);
  EXPECT_EQ(expected.status, StepStatus::ok);
  EXPECT_EQ(found.status, StepStatus::ok);
  EXPECT_EQ(expected.weakened, 4);
  EXPECT_EQ(found.weakened, 4);
  EXPECT_LT(boxes::difference(resident.state().q, state.q), 1e-10);
}

}  // namespace
}  // namespace supple

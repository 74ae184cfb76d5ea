// The slowest vibration of a body and what steps leave of it, against time steps of the body itself.

#include "engine/reduction/snapshots/sweep_increment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

// A bar that hangs out from x = 0, slowest along z.
class HeldBar : public testing::Test {
 protected:
  FullModel bar(double gravity, double damping = 0) const {
    Scene scene = boxes::scene({"corotational", MaterialModel::corotational}, 5e5, 0.3);
    scene.gravity = {{0, 0, -gravity}};
    scene.bodies[0].rayleigh_mass = damping;
    FixScene held;
    held.region = boxes::group_region("x-");
    scene.bodies[0].fixes = {held};
    return build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.4, 0.1, 0.05}}, 8, 2, 1));
  }
  static double along_z(const std::vector<double>& values) {
    double sum = 0;
    for (std::size_t i = 2; i < values.size(); i += 3) sum += values[i];
    return sum;
  }
  // Bent a little and let go, for half a period of coarse steps that leave nothing of faster vibrations.
  State vibrating(const FullModel& model, double period) const {
    State state;
    {
      const FullModel heavy = bar(0.01);
      FullMechanics mechanics(heavy);
      state = rest_state(mechanics);
      EXPECT_EQ(Equilibrium(mechanics, {}).solve(zero_control(mechanics), state).status, StepStatus::ok);
    }
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = period / 20});
    for (int step = 0; step < 10; ++step)
      EXPECT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
    return state;
  }
};

TEST_F(HeldBar, PeriodIsThatOfItsFreeVibration) {
  const FullModel model = bar(0);
  const double period = *lowest_period(model);
  State state = vibrating(model, period);
  FullMechanics mechanics(model);
  const double h = period / 200;
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = h});
  std::vector<double> crossings;
  double before = along_z(state.q);
  for (int step = 1; step <= 400 && crossings.size() < 2; ++step) {
    ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
    const double now = along_z(state.q);
    if (before * now < 0) crossings.push_back(h * (step - now / (now - before)));
    before = now;
  }
  ASSERT_EQ(crossings.size(), 2U);
  EXPECT_NEAR(2 * (crossings[1] - crossings[0]) / period, 1, 0.01);
}

TEST_F(HeldBar, StepsLeaveOfAVibrationWhatIsForetold) {
  for (const double damping : {0.0, 2.0}) {
    FullModel model = bar(0, damping);
    const double period = *lowest_period(model), w = 2 * std::numbers::pi / period;
    for (const int steps : {20, 60}) {  // of a period
      model.robot.time_step = period / steps;
      State state = vibrating(model, period);
      FullMechanics mechanics(model);
      Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = model.robot.time_step});
      const auto amplitude = [&] { return std::hypot(along_z(state.q), along_z(state.v) / w); };
      const double start = amplitude();
      for (int step = 0; step < steps; ++step)
        ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
      EXPECT_NEAR(amplitude() / start, vibration_left(model.robot, period, steps), 0.02) << damping << ", " << steps;
    }
  }
}

TEST_F(HeldBar, OnlySweepsThatDoNotSettleAreTold) {
  FullModel model = bar(9.81);
  ReductionScene recipe;
  recipe.sampling = SamplingKind::grid;
  recipe.converged = false;
  model.robot.time_step = *lowest_period(model) / 50;
  EXPECT_NE(unsettled_sweep(model, recipe).find("converged = true"), std::string::npos);
  // The sweep is implicit Euler whatever the robot's own factors are.
  FullModel midpoint = model;
  midpoint.robot.implicit_velocity = midpoint.robot.implicit_position = 0.5;
  EXPECT_EQ(unsettled_sweep(midpoint, recipe), unsettled_sweep(model, recipe));
  recipe.converged = true;
  EXPECT_EQ(unsettled_sweep(model, recipe), "");
  recipe.converged = false;
  recipe.sweep_steps = 200;
  EXPECT_EQ(unsettled_sweep(model, recipe), "");
  recipe.sweep_steps = 9;
  model.robot.time_step *= 10;
  EXPECT_EQ(unsettled_sweep(model, recipe), "");
}

}  // namespace
}  // namespace supple

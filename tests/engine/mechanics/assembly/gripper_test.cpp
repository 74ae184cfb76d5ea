// The gripper of the assets lifts a free ball, holds it and lets it go.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/model/touches.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

int frame_named(const AssemblyMechanics& mechanics, const std::string& name) {
  const std::vector<Assembly::Frame>& frames = mechanics.assembly().frames;
  return static_cast<int>(std::ranges::find(frames, name, &Assembly::Frame::name) - frames.begin());
}

TEST(LongGripper, LiftsABallAndHoldsIt) {
  AssemblyRobot robot(read_assembly(std::string(SUPPLE_SOURCE_DIR) + "/assets/gripper/lift.toml"));
  AssemblyMechanics& mechanics = robot.mechanics();
  const int ball = frame_named(mechanics, "ball"), palm = frame_named(mechanics, "palm");
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  const auto height = [&](int frame) { return mechanics.frame_pose(frame, state.q, state.motions).position[2]; };
  double held = 0;
  for (int step = 1; step <= 300; ++step) {
    // The fingers close within 0.9 s, the palm rises by 100 mm within one.
    for (double& command : control.commands) command = 0.014 * std::clamp((0.01 * step - 0.1) / 0.9, 0.0, 1.0);
    control.motions[0] = 0.1 * std::clamp(0.01 * step - 1.2, 0.0, 1.0);
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok) << step;
    if (step == 250) held = height(ball) - height(palm);
  }
  EXPECT_GT(height(ball), 0.04);  // it began at -80 mm
  // Half a second of rest: it sticks.
  EXPECT_NEAR(height(ball) - height(palm), held, 1e-6);
  // The fingers bear 20 g, a third each.
  double borne = 0;
  const std::vector<BodyTouch> touches = body_touches(mechanics.robot(), state);
  EXPECT_EQ(touches.size(), 3U);
  for (const BodyTouch& touch : touches) borne -= touch.force[2];
  EXPECT_NEAR(borne, 0.02 * 9.81, 1e-4);
}

}  // namespace
}  // namespace supple

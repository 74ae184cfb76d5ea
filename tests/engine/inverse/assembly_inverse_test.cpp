// Inverse control of several bodies: turned frames, links and contact between bodies.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/inverse/inverse_step.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/scene/writer.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/assembly_files.hpp"

namespace supple {
namespace {

using assemblies::point_at;
using assemblies::scene_of;

// A bar on a disc that turns; a box hangs on its tip by a spring, and a second box on a hinge with a motor.
std::string arm(const reduced_bodies::TemporaryFolder& folder) {
  std::ofstream(folder / "bar.toml") << write_scene(reduced_bodies::saved_bar(folder, assemblies::corotational, false));
  return R"(
name = "arm"
[[rigid]]
name = "disc"
motion = [{name = "turn", type = "rotation", direction = [0, 1, 1], range = [-3, 3]}]
[[part]]
name = "bar"
scene = "bar.toml"
on = "disc"
translation = [0.05, 0, 0]
rotation = [0.3, 0, 0]
collision = "none"
[[rigid]]
name = "load"
mass = 0.2
size = [0.02, 0.04, 0.02]
translation = [0.35, 0.05, 0]
collision = "none"
[[rigid]]
name = "tool"
mass = 0.05
size = [0.1, 0.02, 0.02]
translation = [0.4, 0.05, 0]
point = [{name = "end", point = [-0.05, 0, 0]}, {name = "tip", point = [0.05, 0, 0]}]
collision = "none"
[[link]]
name = "spring"
type = "distance"
from = "bar:tip"
to = "load"
stiffness = 300
damping_time = 0.01
[[link]]
name = "string"
type = "distance"
from = "bar:side"
to = "load"
[[link]]
name = "wrist"
type = "hinge"
axis = [0, 1, 0]
from = "load"
to = "tool:end"
damping = 0.02
motor = {control = "servo", stiffness = 2, torque = [-5, 5]}
)";
}

// What a forward step under small changes of the inputs reaches is a goal that an inverse step from the same state
// reaches with the same changes: to what one linearisation leaves, of second order.
TEST(AssemblyInverse, FindsTheInputsThatAForwardStepTook) {
  const reduced_bodies::TemporaryFolder folder;
  AssemblyRobot robot(scene_of(folder, arm(folder) + R"(
[[effector]]
name = "tip"
at = "tool:tip"
directions = [[1, 0, 0], [0, 0, 1]]
)"));
  AssemblyMechanics& mechanics = robot.mechanics();
  ASSERT_EQ(mechanics.robot().actuators.size(), 3U);  // the bar's two cables, the motor
  const int motor = 2;
  Control control = zero_control(mechanics);
  control.motions[0] = 0.2;
  control.commands[motor] = -0.4;
  State start = rest_state(mechanics);
  // It comes near to rest in time, from where the equilibrium is found.
  ForwardStep settle(mechanics, Integrator::implicit_euler, 0.02);
  for (int k = 0; k < 300; ++k) ASSERT_EQ(settle.step(control, start).status, StepStatus::ok);
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, start).status, StepStatus::ok);
  ForwardStep forward(mechanics, Integrator::implicit_euler, 0.01);
  double errors[2];
  for (int k = 0; k < 2; ++k) {
    const double size = k == 0 ? 2e-2 : 1e-2;
    Control changed = control;
    changed.motions[0] += 0.7 * size;
    changed.commands[motor] -= size;
    State moved = start;
    ASSERT_EQ(forward.step(changed, moved).status, StepStatus::ok);
    std::vector<double> y(extent(mechanics.robot().outputs()));
    mechanics.evaluate_outputs(moved.q, moved.motions, y);
    const Vec3d goal = point_at(y, mechanics.robot().effectors[0].point);
    InverseStep inverse(mechanics, {.epsilon = 1e-12}, Integrator::implicit_euler, 0.01);
    for (const int cable : {0, 1}) inverse.law().know(0, cable, 0);
    State led = start;
    ASSERT_EQ(inverse.step(goal.v, led).status, StepStatus::ok);
    errors[k] = std::max(std::abs(led.motions[0] - changed.motions[0]),
                         std::abs(led.commands[motor] - changed.commands[motor]));
    // Of second order in the change (below): some 10/rad times its square, 15/rad on processors that round otherwise,
    // however far the start is from equilibrium.
    EXPECT_LT(errors[k], 20 * size * size)
        << led.motions[0] << " " << changed.motions[0] << " " << led.commands[motor] << " " << changed.commands[motor];
  }
  EXPECT_NEAR(errors[0] / errors[1], 4, 1);
}

// A plate that is driven along x pushes a box over the floor, which it touches by its face. Where the box stops by
// itself in a step, the plate that stays behind is a minimum too: other starts find the better one.
TEST(AssemblyInverse, APlatePushesABoxToItsGoal) {
  const reduced_bodies::TemporaryFolder folder;
  AssemblyRobot robot(scene_of(folder, R"(
name = "pushed"
time_step = "10 ms"
[contact]
distance = "0.1 mm"
[[rigid]]
name = "floor"
held = true
size = [1, 1, 0.1]
translation = [0, 0, -0.05]
friction = 0.4
[[rigid]]
name = "box"
mass = 0.1
size = [0.04, 0.04, 0.04]
translation = [0, 0, 0.0201]
friction = 0.4
[[rigid]]
name = "plate"
size = [0.01, 0.03, 0.02]
translation = [-0.02505, 0, 0.02]
motion = [{name = "push", direction = [1, 0, 0], range = ["-50 mm", "50 mm"]}]
[[effector]]
name = "place"
at = "box"
directions = [[1, 0, 0]]
)"));
  AssemblyMechanics& mechanics = robot.mechanics();
  InverseStep inverse(mechanics, {.starts = 4}, Integrator::implicit_euler, 0.01);
  State state = rest_state(mechanics);
  for (int k = 0; k < 60; ++k) {
    const double goal[3] = {std::min(0.001 / 3 * k, 0.015), 0, 0};
    ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
    if (k > 5) {
      EXPECT_NEAR(robot.rigid_pose(1, state.q, state.motions).position[0], goal[0], 2e-5) << k;
    }
  }
  // Behind the box by the contact distance, from 0.05 mm.
  EXPECT_NEAR(state.motions[0], 0.015 - 0.00005, 2e-5);
}

}  // namespace
}  // namespace supple

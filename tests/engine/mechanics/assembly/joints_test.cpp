// Hinges, sliders and welds read from scenes, against what is known of pendulums.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "engine/inverse/inverse_step.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/scene/writer.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/assembly_files.hpp"

namespace supple {
namespace {

using assemblies::point_at;

constexpr double g = 9.81, mass = 0.2, length = 0.2, width = 0.02;
// About the pivot at the end of a box length x width x width.
constexpr double arm = length / 2, inertia = mass * (length * length + width * width) / 12 + mass * arm * arm;

// A box that starts along x on a hinge about y at the origin: weight turns it down, a positive angle about y.
std::string pendulum(const std::string& link, const std::string& top = "") {
  return top + R"(
name = "pendulum"
[[rigid]]
name = "post"
held = true
[[rigid]]
name = "rod"
mass = 0.2
size = [0.2, 0.02, 0.02]
translation = [0.1, 0, 0]
collision = "none"
point = [{name = "end", point = [-0.1, 0, 0]}, {name = "tip", point = [0.1, 0, 0]}]
[[link]]
name = "pivot"
from = "post"
to = "rod:end"
)" + link;
}

class Joints : public testing::Test {
 protected:
  AssemblyRobot robot(const std::string& text) const { return AssemblyRobot(assemblies::scene_of(folder_, text)); }
  // Why it is not read or built.
  std::string refusal(const std::string& text) const {
    try {
      (void)robot(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  reduced_bodies::TemporaryFolder folder_;
};

const std::string hinge = "type = \"hinge\"\naxis = [0, 1, 0]\n";

double value_of(AssemblyMechanics& mechanics, const State& state, const ActuatorRow& motor) {
  std::vector<double> y(extent(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  double gradient[9];
  return joint_value(motor.joint, y, gradient);
}

Pose rod_pose(const AssemblyRobot& robot, const State& state) {
  return robot.rigid_pose(1, state.q, state.motions);
}

// The angle by which the rod hangs below the x axis.
double angle_of(const AssemblyRobot& robot, const State& state) {
  const Mat3d R = rod_pose(robot, state).rotation;
  return std::atan2(-R(2, 0), R(0, 0));
}

State simulated(AssemblyRobot& robot, Integrator integrator, double h, int steps, const Control& control) {
  ForwardStep step(robot.mechanics(), integrator, h);
  State state = rest_state(robot.mechanics());
  for (int k = 0; k < steps; ++k)
    if (const StepReport report = step.step(control, state); report.status != StepStatus::ok)
      throw std::runtime_error(describe(report.status));
  return state;
}

// I w' = m g l cos(angle) + torque by the classical Runge-Kutta method, exact to 1e-10 here.
double swung(double time, double torque = 0) {
  const auto rate = [&](double angle) { return (mass * g * arm * std::cos(angle) + torque) / inertia; };
  const int steps = 2000;
  const double h = time / steps;
  double a = 0, w = 0;
  for (int k = 0; k < steps; ++k) {
    const double a1 = w, w1 = rate(a), a2 = w + h / 2 * w1, w2 = rate(a + h / 2 * a1), a3 = w + h / 2 * w2,
                 w3 = rate(a + h / 2 * a2), a4 = w + h * w3, w4 = rate(a + h * a3);
    a += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    w += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
  }
  return a;
}

// Hard rows are imposed at the end of a step: of first order, so that twice the half step less the whole one is of second.
TEST_F(Joints, AHingeMakesAPendulum) {
  AssemblyRobot robot = this->robot(pendulum(hinge));
  double errors[2];
  for (int k = 0; k < 2; ++k) {
    const double h = k == 0 ? 4e-4 : 2e-4;
    const State state = simulated(robot, Integrator::implicit_euler_newton, h, static_cast<int>(std::lround(0.3 / h)),
                                  zero_control(robot.mechanics()));
    errors[k] = angle_of(robot, state) - swung(0.3);
    // It stays at its pivot and in its plane.
    EXPECT_LT(norm(rod_pose(robot, state)(Vec3d{{-0.1, 0, 0}})), 1e-10);
    EXPECT_NEAR(rod_pose(robot, state).rotation(1, 1), 1, 1e-10);
  }
  EXPECT_NEAR(errors[0] / errors[1], 2, 0.1);
  EXPECT_NEAR(2 * errors[1] - errors[0], 0, 2e-4);
  const State state = simulated(robot, Integrator::implicit_euler, 2e-4, 1500, zero_control(robot.mechanics()));
  EXPECT_NEAR(angle_of(robot, state), swung(0.3), 0.02);
  // What one linearisation leaves: (h w)^2 of the arm.
  EXPECT_LT(norm(rod_pose(robot, state)(Vec3d{{-0.1, 0, 0}})), 1e-6);
}

// The rod as two halves that are welded to each other: both of first order (see above), with one limit.
TEST_F(Joints, APendulumOfTwoWeldedHalvesIsThatOfOneBody) {
  const std::string halves = R"(
name = "halves"
[[rigid]]
name = "post"
held = true
[[rigid]]
name = "upper"
mass = 0.1
size = [0.1, 0.02, 0.02]
translation = [0.05, 0, 0]
collision = "none"
point = [{name = "end", point = [-0.05, 0, 0]}, {name = "seam", point = [0.05, 0, 0]}]
[[rigid]]
name = "lower"
mass = 0.1
size = [0.1, 0.02, 0.02]
translation = [0.15, 0, 0]
rotation = [0.4, 0, 0]
collision = "none"
point = [{name = "seam", point = [-0.05, 0, 0]}, {name = "tip", point = [0.05, 0, 0]}]
[[link]]
name = "pivot"
from = "post"
to = "upper:end"
type = "hinge"
axis = [0, 1, 0]
[[link]]
name = "seam"
from = "upper:seam"
to = "lower:seam"
type = "weld"
)";
  AssemblyRobot one = robot(pendulum(hinge)), two = robot(halves);
  Vec3d differences[2];
  for (int k = 0; k < 2; ++k) {
    const double h = k == 0 ? 2e-4 : 1e-4;
    const int steps = static_cast<int>(std::lround(0.2 / h));
    const State a = simulated(one, Integrator::implicit_euler_newton, h, steps, zero_control(one.mechanics()));
    const State b = simulated(two, Integrator::implicit_euler_newton, h, steps, zero_control(two.mechanics()));
    const Vec3d tip = rod_pose(one, a)(Vec3d{{0.1, 0, 0}});
    EXPECT_GT(norm(tip - Vec3d{{0.2, 0, 0}}), 0.1);  // it has swung by more than half its length
    differences[k] = (1 / length) * (tip - two.rigid_pose(2, b.q, b.motions)(Vec3d{{0.05, 0, 0}}));
  }
  EXPECT_LT(norm(differences[1]), 1e-4);
  EXPECT_LT(norm(2.0 * differences[1] - differences[0]), 1e-6);
}

TEST_F(Joints, ALimitStopsIt) {
  AssemblyRobot robot = this->robot(pendulum(hinge + "range = [\"-10 deg\", \"40 deg\"]\ndamping = 0.02\n"));
  const State state = simulated(robot, Integrator::implicit_euler, 1e-3, 1500, zero_control(robot.mechanics()));
  const double stop = 40 * std::numbers::pi / 180;
  EXPECT_NEAR(angle_of(robot, state), stop, 1e-6);
  // The torque of the stop holds the weight; rows: pivot x, y, z, turn 1, turn 2, lower, upper limit.
  const std::vector<ConstraintRow>& rows = robot.mechanics().robot().constraints;
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[6].name, "pivot upper limit");
  EXPECT_EQ(state.multipliers[5], 0);
  EXPECT_NEAR(state.multipliers[6], mass * g * arm * std::cos(stop), 1e-5);
}

TEST_F(Joints, SpringAndWeightBalance) {
  // k (angle - rest) = m g l cos(angle)
  const double k = 0.5, rest = -0.2;
  AssemblyRobot robot = this->robot(pendulum(hinge + "stiffness = 0.5\nrest = -0.2\n"));
  State state = rest_state(robot.mechanics());
  Equilibrium equilibrium(robot.mechanics(), {});
  ASSERT_EQ(equilibrium.solve(zero_control(robot.mechanics()), state).status, StepStatus::ok);
  const double angle = angle_of(robot, state);
  EXPECT_GT(angle, 0.05);
  EXPECT_NEAR(k * (angle - rest), mass * g * arm * std::cos(angle), 1e-8);
}

TEST_F(Joints, ADamperSlowsIt) {
  // With the overdamped rod d w = m g l cos(angle): sin(angle) = tanh(t m g l/d).
  AssemblyRobot robot = this->robot(pendulum(hinge + "damping = 2\n"));
  const State state = simulated(robot, Integrator::implicit_euler_newton, 2e-3, 1000, zero_control(robot.mechanics()));
  // Inertia delays it by I/d = 1.3 ms of 2 s, the scheme by about h/2.
  EXPECT_NEAR(std::sin(angle_of(robot, state)), std::tanh(2 * mass * g * arm / 2), 2e-3);
}

TEST_F(Joints, MotorsTurnHoldAndYield) {
  const double weight = mass * g * arm;
  const auto with = [&](const std::string& motor) {
    return robot(pendulum(hinge + "damping = 0.01\n[link.motor]\n" + motor));
  };
  {  // An angle, which takes the torque that it takes.
    AssemblyRobot robot = with("control = \"angle\"\nrate = \"90 deg/s\"\n");
    Control control = zero_control(robot.mechanics());
    control.commands[0] = -0.5;
    const State state = simulated(robot, Integrator::implicit_euler_newton, 5e-3, 400, control);
    EXPECT_NEAR(angle_of(robot, state), -0.5, 1e-9);
    EXPECT_NEAR(state.multipliers[0], -weight * std::cos(-0.5), 1e-6);
    EXPECT_EQ(robot.mechanics().robot().actuators[0].name, "pivot");
  }
  {  // One that is too weak for the weight sinks until it can hold it.
    AssemblyRobot robot = with("control = \"angle\"\ntorque = [-0.1, 0.1]\n");
    const State state = simulated(robot, Integrator::implicit_euler, 2e-3, 3000, zero_control(robot.mechanics()));
    EXPECT_NEAR(state.multipliers[0], -0.1, 1e-12);
    EXPECT_NEAR(std::cos(angle_of(robot, state)), 0.1 / weight, 1e-3);
  }
  {  // A servo: k (command - angle) = -m g l cos(angle).
    AssemblyRobot robot = with("control = \"servo\"\nstiffness = 2\n");
    Control control = zero_control(robot.mechanics());
    control.commands[0] = -0.3;
    const State state = simulated(robot, Integrator::implicit_euler, 2e-3, 3000, control);
    const double angle = angle_of(robot, state);
    EXPECT_NEAR(2 * (-0.3 - angle), -weight * std::cos(angle), 1e-6);
    EXPECT_NEAR(state.multipliers[0], -weight * std::cos(angle), 1e-6);
    EXPECT_NEAR(value_of(robot.mechanics(), state, robot.mechanics().robot().actuators[0]), angle, 1e-9);
  }
  {  // A torque.
    AssemblyRobot robot = this->robot(pendulum(hinge + "[link.motor]\ncontrol = \"torque\"\nrange = [-1, 1]\n"));
    Control control = zero_control(robot.mechanics());
    control.commands[0] = -0.3;
    const double h = 2e-4;
    const State state = simulated(robot, Integrator::implicit_euler_newton, h, 1000, control);
    EXPECT_NEAR(angle_of(robot, state), swung(0.2, -0.3), 5e-3);
  }
}

// A motor turns the rod on and on against a damper, to where torque and damping balance: past half a turn too.
TEST_F(Joints, AMotorTurnsOnAndOn) {
  for (const Integrator integrator : {Integrator::implicit_euler, Integrator::implicit_euler_newton}) {
    AssemblyRobot robot = this->robot(pendulum(
        hinge + "damping = 0.01\n[link.motor]\ncontrol = \"torque\"\nrange = [-1, 1]\n", "gravity = [0, 0, 0]\n"));
    Control control = zero_control(robot.mechanics());
    control.commands[0] = 0.05;
    ForwardStep step(robot.mechanics(), integrator, 5e-3);
    State state = rest_state(robot.mechanics());
    double turned = 0, before = 0;
    // 0.05/0.01 rad/s after I/d = 0.27 s.
    for (int k = 0; k < 1000; ++k) {
      ASSERT_EQ(step.step(control, state).status, StepStatus::ok);
      const double angle = angle_of(robot, state);
      double change = angle - before;
      if (change < -3) change += 2 * std::numbers::pi;
      turned += change;
      before = angle;
      EXPECT_LT(std::abs(change), 5.1 * 5e-3) << k;
    }
    EXPECT_NEAR(turned, 5 * (5 - inertia / 0.01), 0.8);  // of first order
  }
}

// What motors hold has equilibria, and servos are led.
TEST_F(Joints, MotorsHoldInStaticsAndServosAreLed) {
  const double weight = mass * g * arm;
  AssemblyRobot held = robot(pendulum(hinge + "motor = {control = \"angle\"}\n"));
  Control control = zero_control(held.mechanics());
  control.commands[0] = 0.3;
  State state = rest_state(held.mechanics());
  ASSERT_EQ(Equilibrium(held.mechanics(), {}).solve(control, state).status, StepStatus::ok);
  EXPECT_NEAR(angle_of(held, state), 0.3, 1e-9);
  EXPECT_NEAR(state.multipliers[0], -weight * std::cos(0.3), 1e-8);
  AssemblyRobot servo = robot(pendulum(hinge + "motor = {control = \"servo\", stiffness = 3}\n") +
                              "[[effector]]\nname = \"place\"\nat = \"rod:tip\"\ndirections = [[0, 0, 1]]\n");
  InverseStep inverse(servo.mechanics(), {}, Integrator::quasi_static, 0.01);
  state = settled_state(servo.mechanics());
  const double goal[3] = {0, 0, -0.05};
  ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
  EXPECT_NEAR(rod_pose(servo, state)(Vec3d{{0.1, 0, 0}})[2], -0.05, 1e-7);
}

// On a slope of 30 degrees, which a slider of a carried post follows.
TEST_F(Joints, ASliderTravelsAlongItsAxis) {
  const std::string text = R"(
[[rigid]]
name = "rail"
held = true
rotation = [0, "30 deg", 0]
[[rigid]]
name = "car"
mass = 0.2
size = [0.02, 0.02, 0.02]
rotation = [0, "30 deg", 0]
collision = "none"
[[link]]
name = "travel"
from = "rail"
to = "car"
type = "slider"
axis = [1, 0, 0]
)";
  AssemblyRobot sprung = robot(text + "stiffness = \"20 N/m\"\n");
  State state = rest_state(sprung.mechanics());
  ASSERT_EQ(Equilibrium(sprung.mechanics(), {}).solve(zero_control(sprung.mechanics()), state).status, StepStatus::ok);
  const double down = mass * g * 0.5;
  const Vec3d slope{{std::cos(std::numbers::pi / 6), 0, -0.5}};
  EXPECT_LT(norm(rod_pose(sprung, state).position - (down / 20) * slope), 1e-8);
  AssemblyRobot led = robot(text + "motor = {control = \"travel\", range = [\"-50 mm\", \"50 mm\"]}\n");
  Control control = zero_control(led.mechanics());
  control.commands[0] = 0.03;
  state = simulated(led, Integrator::implicit_euler_newton, 5e-3, 5, control);
  EXPECT_LT(norm(rod_pose(led, state).position - 0.03 * slope), 1e-9);
  EXPECT_NEAR(led.mechanics().robot().actuators[0].range.upper, 0.05, 1e-15);
}

// A bar whose tip is welded to a box in the air: the box turns as the region at the tip does, in statics too.
TEST_F(Joints, ASoftTipCarriesWhatIsWeldedToIt) {
  Scene bar = reduced_bodies::saved_bar(folder_, assemblies::corotational, false);
  EffectorScene end;
  end.name = "end";
  end.kind = EffectorKind::orientation;
  Region region;
  region.kind = Region::Kind::box;
  region.lower = {{0.25, -1, -1}};
  region.upper = {{0.31, 1, 1}};
  end.region = region;
  bar.effectors.push_back(end);
  std::ofstream(folder_ / "bar.toml") << write_scene(bar);
  const FullModel alone = build_full_model(bar);
  const Effector& tip = alone.robot.effectors.back();
  const Vec3d seat = alone.robot.rest_points[extent(tip.point)];
  // Turned about the axis that its seat is on.
  AssemblyRobot robot =
      this->robot(fmt::format("[[rigid]]\ntranslation = [{}, {}, {}]\n", seat[0] + 0.01, seat[1], seat[2]) + R"(
name = "load"
mass = "20 g"
size = [0.02, 0.02, 0.02]
rotation = ["40 deg", 0, 0]
collision = "none"
point = [{name = "seat", point = [-0.01, 0, 0]}]
[[link]]
name = "weld"
from = "bar:end"
to = "load:seat"
type = "weld"
[[part]]
name = "bar"
scene = "bar.toml"
collision = "none"
)");
  State state = rest_state(robot.mechanics());
  ASSERT_EQ(Equilibrium(robot.mechanics(), {}).solve(zero_control(robot.mechanics()), state).status, StepStatus::ok);
  std::vector<double> y(extent(robot.mechanics().robot().outputs()));
  robot.mechanics().evaluate_outputs(state.q, state.motions, y);
  const Pose pose = robot.rigid_pose(0, state.q, state.motions);
  const Effector& effector = robot.mechanics().robot().effectors.back();
  EXPECT_LT(norm(pose(Vec3d{{-0.01, 0, 0}}) - point_at(y, effector.point)), 1e-9);
  Mat3d columns;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) columns(i, k) = point_at(y, effector.first_point + k)[i];
  const Mat3d turned = pose.rotation * transpose(robot.rigid_pose(0, rest_state(robot.mechanics()).q, {}).rotation);
  // It hangs: by more than a degree; and the antisymmetric part of R^T F vanishes.
  EXPECT_GT(-turned(2, 0), 0.02);
  const Mat3d relative = transpose(turned) * columns;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) EXPECT_NEAR(relative(i, j), relative(j, i), 1e-9);
}

TEST_F(Joints, WhatCannotBeJoinedIsRefused) {
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(contains(refusal(pendulum("type = \"hinge\"\n")), "has no axis"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "range = [0, \"200 deg\"]\n")), "goes to 200 deg"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "range = [0, \"20 mm\"]\n")), "is a length"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "range = [0, \"inf\"]\n")), "a limit at one end"));
  EXPECT_TRUE(contains(refusal(pendulum("type = \"weld\"\naxis = [0, 0, 1]\n")), "axis"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "rest = \"10 deg\"\n")), "rest"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "motor = {control = \"travel\"}\n")), "has no travel"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "motor = {control = \"servo\"}\n")), "has no stiffness"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "motor = {control = \"torque\", force = [0, 1]}\n")), "force"));
  EXPECT_TRUE(contains(refusal(pendulum(hinge + "motor = {rate = 1}\n")), "has no control"));
  EXPECT_TRUE(contains(refusal(pendulum("type = \"hinge\"\naxis = [0, 0, 0]\n")), "axis"));
  std::string apart = pendulum(hinge);
  apart.replace(apart.find("rod:end"), 7, "rod:tip");
  EXPECT_TRUE(contains(refusal(apart), "200 mm apart"));
  std::ofstream(folder_ / "bar.toml") << write_scene(
      reduced_bodies::saved_bar(folder_, assemblies::corotational, false));
  EXPECT_TRUE(contains(refusal(R"(
[[part]]
name = "bar"
scene = "bar.toml"
[[rigid]]
name = "load"
mass = "20 g"
size = [0.02, 0.02, 0.02]
translation = [0.29, 0.05, 0.05]
collision = "none"
[[link]]
name = "weld"
from = "bar:tip"
to = "load"
type = "weld"
)"),
                       "has no orientation"));
}

}  // namespace
}  // namespace supple

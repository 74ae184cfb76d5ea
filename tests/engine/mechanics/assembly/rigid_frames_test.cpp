// Rigid frames: turns, and single rigid bodies against what is known of them.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/engine/bodies/assemblies.hpp"

namespace supple {
namespace {

using assemblies::frame;
using assemblies::Hold;
using assemblies::irregular;
using assemblies::on_frame;

Vec3d vector_of(const std::vector<double>& values) {
  return {{values[0], values[1], values[2]}};
}

Assembly one_body(const RigidInertia& inertia, const Vec3d& gravity = {{0, 0, 0}}) {
  Assembly assembly;
  assembly.name = "rigid";
  assembly.gravity = gravity;
  assembly.frames = {frame("body", Hold::free, assemblies::turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}}), inertia)};
  return assembly;
}

TEST(RigidFrame, TurnsComposeAndReturn) {
  for (const double size : {1e-9, 1e-3, 1.0, 2.0, 3.1}) {
    const Vec3d a = size * normalized(vector_of(boxes::random_vector(3, 1)));
    // One rotation in three forms; rounding.
    EXPECT_LT(norm(quaternion_log(quaternion_exp(a)) - a), 1e-14 * std::max(1.0, size));
    EXPECT_LT(norm(quaternion_log(quaternion_of(rotation_exp(a))) - a), 4e-14 * std::max(1.0, size));
    const Mat3d R = rotation_exp(a), expected = boxes::rotation(normalized(a), size);
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(R[k], expected[k], 1e-15);
    double q[7], one[7], u[6] = {0.1, 0, 0, a[0], a[1], a[2]};
    const double du[6] = {0, 0.2, 0, 0.02, -0.03, 0.01};
    write_pose({{1, 2, 3}}, quaternion_exp({{0.3, 0.2, -0.5}}), q);
    std::copy_n(q, 7, one);
    integrate_rigid(q, u);
    integrate_rigid(q, du);
    compose_rigid(u, du);
    integrate_rigid(one, u);
    const Mat3d difference = pose_of(q).rotation - pose_of(one).rotation;
    EXPECT_LT(std::sqrt(dot(difference, difference)), 1e-14);
    EXPECT_LT(norm(pose_of(q).position - pose_of(one).position), 1e-15);
  }
}

TEST(RigidFrame, InertiaAddsUpAsPointMassesDo) {
  std::vector<double> x = boxes::random_vector(12, 0.2);
  RigidInertia sum, parts[2];
  for (std::size_t i = 0; i < 4; ++i) {
    const RigidInertia point{
        0.1 + 0.1 * static_cast<double>(i), {{x[3 * i], x[3 * i + 1], x[3 * i + 2]}}, Mat3d::zero()};
    sum = sum + point;
    parts[i / 2] = parts[i / 2] + point;
  }
  const RigidInertia again = parts[0] + parts[1];
  EXPECT_NEAR(again.mass, 1, 1e-15);
  EXPECT_LT(norm(again.centre - sum.centre), 1e-15);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(again.inertia[k], sum.inertia[k], 1e-16);
}

TEST(RigidFrame, FallsFreely) {
  // Implicit Euler: after n steps of h the height is g h^2 n (n + 1)/2, whatever the shape.
  AssemblyMechanics mechanics(one_body(irregular(), {{0.5, 0, -9.81}}));
  for (const StepScheme scheme : point_masses::schemes) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
    State state = rest_state(mechanics);
    const std::vector<double> start = state.q;
    point_masses::run(stepper, mechanics, 50, state);
    const double way = 0.01 * 0.01 * 50 * 51 / 2;
    EXPECT_NEAR(state.q[2] - start[2], -9.81 * way, 1e-13);
    EXPECT_NEAR(state.q[0] - start[0], 0.5 * way, 1e-13);
    for (std::size_t k = 3; k < 7; ++k) EXPECT_NEAR(state.q[k], start[k], 1e-14);
  }
}

TEST(RigidFrame, KeepsItsAngularMomentum) {
  AssemblyMechanics mechanics(one_body(irregular()));
  for (const StepScheme scheme : point_masses::schemes) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = 1e-3, .tolerance = 1e-13});
    State state = rest_state(mechanics);
    state.v = {0.1, 0, 0, 2, -3, 4};
    const Vec3d before = mechanics.momentum(state.q, state.v).second;
    point_masses::run(stepper, mechanics, 300, state);
    const auto [linear, after] = mechanics.momentum(state.q, state.v);
    // To the tolerance of Newton's method, or to rounding of the balance after one linearisation, 300 times.
    EXPECT_LT(norm(after - before), 1e-10 * norm(before));
    EXPECT_NEAR(linear[0], 0.07, 1e-14);
  }
}

TEST(RigidFrame, SymmetricTopPrecessesAsEulerSays) {
  // I1 = I2: Omega turns about the third axis of the body at (I1 - I3)/I1 Omega3... in the body's axes; first order in
  // h, so that half the step has half the error.
  const RigidInertia top{0.5, {{0, 0, 0}}, {{2e-3, 0, 0, 0, 2e-3, 0, 0, 0, 3e-3}}};
  AssemblyMechanics mechanics(one_body(top));
  for (const StepScheme scheme : point_masses::schemes) {
    double error[2];
    for (int k = 0; k < 2; ++k) {
      const double h = k == 0 ? 1e-3 : 5e-4;
      Stepper stepper(mechanics, {.scheme = scheme, .time_step = h, .tolerance = 1e-12});
      State state = rest_state(mechanics);
      state.v = {0, 0, 0, 1, 0, 4};
      point_masses::run(stepper, mechanics, k == 0 ? 500 : 1000, state);
      const double angle = (3e-3 - 2e-3) / 2e-3 * 4 * 0.5;  // dOmega1/dt = -(I3 - I1)/I1 Omega3 Omega2
      error[k] = std::hypot(state.v[3] - std::cos(angle), state.v[4] - std::sin(angle));
      EXPECT_NEAR(state.v[5], 4, 2e-2);
    }
    EXPECT_LT(error[0], 1e-2);
    EXPECT_NEAR(error[1] / error[0], 0.5, 0.1);
  }
}

// A body hung by a point of its own at the origin; only the turn about y is excited.
double pendulum_quarter(StepScheme scheme, double h, double amplitude) {
  const double mass = 0.8, length = 0.25;
  const RigidInertia bob{mass, {{0, 0, -length}}, {{2e-3, 0, 0, 0, 3e-3, 0, 0, 0, 1e-3}}};
  Assembly assembly;
  assembly.name = "pendulum";
  assembly.gravity = {{0, 0, -9.81}};
  assembly.frames = {frame("world", Hold::fixed),
                     frame("bob", Hold::free, assemblies::turned({{0, 0, 0}}, {{0, amplitude, 0}}), bob)};
  assemblies::join(assembly, on_frame(0, {{0, 0, 0}}), on_frame(1, {{0, 0, 0}}));
  AssemblyMechanics mechanics(assembly);
  Stepper stepper(mechanics, {.scheme = scheme, .time_step = h, .tolerance = 1e-10});
  State state = rest_state(mechanics);
  double before = amplitude;
  for (int step = 1;; ++step) {
    point_masses::run(stepper, mechanics, 1, state);
    const Mat3d R = mechanics.frame_pose(1, state.q, {}).rotation;
    const double angle = std::atan2(R(0, 2), R(2, 2));
    if (angle <= 0) return h * (step - 1 + before / (before - angle));
    before = angle;
  }
}

TEST(RigidFrame, PhysicalPendulumHasItsPeriod) {
  // T = 4 K(sin(a/2)) sqrt(J/(m g l)), J about the pivot. Implicit Euler damps: first order in h, so that two steps
  // extrapolate to it.
  const double J = 3e-3 + 0.8 * 0.25 * 0.25, quarter = std::sqrt(J / (0.8 * 9.81 * 0.25));
  for (const StepScheme scheme : point_masses::schemes)
    for (const double amplitude : {0.1, 1.5}) {
      const double exact = quarter * std::comp_ellint_1(std::sin(amplitude / 2));
      const double coarse = pendulum_quarter(scheme, 2e-3, amplitude), fine = pendulum_quarter(scheme, 1e-3, amplitude);
      EXPECT_NEAR(fine, exact, 0.02 * exact);
      EXPECT_NEAR(2 * fine - coarse, exact, 1e-3 * exact);
    }
}

}  // namespace
}  // namespace supple

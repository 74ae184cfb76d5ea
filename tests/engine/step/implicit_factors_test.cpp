// Time steps with the implicit factors alpha (velocity) and beta (position) of engine/step/step.hpp: their
// formulas, phase volume, energy, orders, hard rows, inputs, contact.

#include <gtest/gtest.h>

#include <numbers>

#include "engine/inverse/inverse_step.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/boxes.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"
#include "tests/engine/bodies/point_masses.hpp"

namespace supple {
namespace {

using point_masses::all_factors;
using point_masses::Factors;
using point_masses::model;
using point_masses::run;
using point_masses::schemes;

StepSettings settings(StepScheme scheme, double h, const Factors& factors) {
  return point_masses::settings(scheme, h, factors, StepSettings{}.row_tolerance);
}

TEST(ImplicitFactors, StepIsThatOfTheEquations) {
  // Mass on a spring under weight with Rayleigh damping, a linear system, solved here for v' by hand. Rounding.
  //   v' = v + h (alpha F' + (1 - alpha) F)/m,   x' = x + h (beta v' + (1 - beta) v),
  //   F = m g - (k + b k d/dt + a m d/dt) x
  const double m = 0.3, k = 70, g = -9.81, a = 0.8, b = 0.01, h = 0.02;
  for (const Factors& factors : all_factors)
    for (const StepScheme scheme : schemes) {
      ReducedModel spring = model({{{{0, 0, 0}}, m, k}}, {{0, 0, g}});
      spring.robot.rayleigh_mass = a;
      spring.robot.rayleigh_stiffness = b;
      ReducedMechanics mechanics(spring);
      Stepper stepper(mechanics, settings(scheme, h, factors));
      State state = rest_state(mechanics);
      double x = state.q[2] = 0.04, v = state.v[2] = -0.6;
      for (int step = 0; step < 5; ++step) {
        const double alpha = factors.alpha, beta = factors.beta, damping = a * m + b * k;
        const auto force = [&](double x, double v) { return m * g - k * x - damping * v; };
        // F' = F(x + h (1 - beta) v, 0) - (k h beta + damping) v'
        const double explicit_part = m * v + h * (alpha * force(x + h * (1 - beta) * v, 0) + (1 - alpha) * force(x, v));
        const double new_v = explicit_part / (m + h * alpha * (k * h * beta + damping));
        x += h * (beta * new_v + (1 - beta) * v);
        v = new_v;
        run(stepper, mechanics, 1, state);
        EXPECT_NEAR(state.q[2], x, 1e-14);
        EXPECT_NEAR(state.v[2], v, 1e-13);
      }
    }
}

TEST(ImplicitFactors, PhaseVolumeIsAsPredicted) {
  // Determinant of the update of (x, v) of an oscillator: (1 + (1 - alpha)(1 - beta) z)/(1 + alpha beta z), z = h^2
  // omega^2: one for alpha + beta = 1 alone. From 1/2 on none exceeds one.
  const double m = 2, h = 0.1;
  for (const double z : {0.01, 1.0, 30.0})
    for (const Factors& factors : all_factors) {
      const ReducedModel spring = model({{{{0, 0, 0}}, m, m * z / (h * h)}});
      ReducedMechanics mechanics(spring);
      Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, factors));
      const double determinant = point_masses::phase_volume(stepper, mechanics);
      EXPECT_NEAR(determinant, point_masses::predicted_phase_volume(factors, z), 1e-12 * (1 + z));
      EXPECT_LE(determinant, 1 + 1e-12);
    }
}

TEST(ImplicitFactors, HalvesKeepTheEnergyOfAnOscillator) {
  // 1e5 steps of a twentieth of a period. Rounding of each step, 1e-16 and some more, adds up as a walk or at worst in
  // line: 1e-11.
  const double m = 1, k = 4 * std::numbers::pi * std::numbers::pi, h = 0.05;
  for (const StepScheme scheme : schemes) {
    const ReducedModel spring = model({{{{0, 0, 0}}, m, k}});
    ReducedMechanics mechanics(spring);
    Stepper stepper(mechanics, settings(scheme, h, {0.5, 0.5}));
    State state = rest_state(mechanics);
    state.q[0] = 0.1;
    state.v[1] = 0.3;
    const auto energy = [&] { return 0.5 * m * boxes::dot(state.v, state.v) + 0.5 * k * boxes::dot(state.q, state.q); };
    const double start = energy();
    run(stepper, mechanics, scheme == StepScheme::newton ? 10000 : 100000, state);
    EXPECT_NEAR(energy() / start, 1, 1e-10);
  }
}

TEST(ImplicitFactors, HalfAndOneLosesEnergyAsPredicted) {
  // The square of the amplitude shrinks by the determinant 1/(1 + z/2) a step: with z = (2 pi/20)^2 and 100 steps to
  // 1 %. The guess that alpha = 1/2, beta = 1 keeps energy is wrong.
  const double k = 4 * std::numbers::pi * std::numbers::pi, h = 0.05, z = k * h * h;
  const ReducedModel spring = model({{{{0, 0, 0}}, 1, k}});
  ReducedMechanics mechanics(spring);
  Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, {0.5, 1}));
  State state = rest_state(mechanics);
  state.q[0] = 0.1;
  const auto energy = [&] { return 0.5 * state.v[0] * state.v[0] + 0.5 * k * state.q[0] * state.q[0]; };
  const double start = energy();
  run(stepper, mechanics, 100, state);
  const double predicted = std::pow(1 + z / 2, -100.0);
  // The ellipse that the scheme keeps is not that of the energy: a factor between them, of the order of h omega.
  EXPECT_NEAR(std::log(energy() / start), std::log(predicted), std::sqrt(z));
  EXPECT_LT(energy(), 0.02 * start);
}

TEST(ImplicitFactors, OrdersOnAnOscillator) {
  // Against the exact solution after 1.3 periods.
  const double omega = 2 * std::numbers::pi, end = 1.3;
  const ReducedModel spring = model({{{{0, 0, 0}}, 1, omega * omega}});
  ReducedMechanics mechanics(spring);
  const auto error = [&](const Factors& factors, int steps) {
    Stepper stepper(mechanics, settings(StepScheme::one_linearisation, end / steps, factors));
    State state = rest_state(mechanics);
    state.q[0] = 1;
    run(stepper, mechanics, steps, state);
    return std::hypot(state.q[0] - std::cos(omega * end), state.v[0] / omega + std::sin(omega * end));
  };
  for (const Factors& factors : all_factors) {
    const double order = std::log2(error(factors, 2000) / error(factors, 4000));
    const bool second = factors.alpha == 0.5 && factors.beta == 0.5;
    // The next power of h is 1e-3 of the first.
    EXPECT_NEAR(order, second ? 2 : 1, 0.02) << factors.alpha << " " << factors.beta;
  }
}

TEST(ImplicitFactors, NewtonIsOfSecondOrderOnABody) {
  // A clamped bar that swings, begun with the velocity of a bend: smooth, so that powers of h are seen. Differences of
  // solutions at h, h/2 and h/4 shrink by 4.
  for (const boxes::Law& law : {boxes::Law{"svk", MaterialModel::st_venant_kirchhoff},
                                boxes::Law{"corotational", MaterialModel::corotational}}) {
    Scene scene = boxes::scene(law);
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    scene.bodies[0].rayleigh_mass = 0.5;
    const FullModel bar = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
    FullMechanics mechanics(bar);
    const auto at_end = [&](int steps) {
      Stepper stepper(mechanics, settings(StepScheme::newton, 0.08 / steps, {0.5, 0.5}));
      State state = rest_state(mechanics);
      for (std::size_t i = 0; i < bar.free_nodes.size(); ++i)
        state.v[3 * i + 2] = 10 * std::pow(bar.mesh.nodes[static_cast<std::size_t>(bar.free_nodes[i])][0], 2);
      run(stepper, mechanics, steps, state);
      return state;
    };
    const State coarse = at_end(80), middle = at_end(160), fine = at_end(320);
    const auto ratio = [&](std::vector<double> State::*part) {
      return boxes::norm(boxes::plus(coarse.*part, -1, middle.*part)) /
             boxes::norm(boxes::plus(middle.*part, -1, fine.*part));
    };
    EXPECT_NEAR(ratio(&State::q), 4, 0.1) << law.name;
    EXPECT_NEAR(ratio(&State::v), 4, 0.4) << law.name;
  }
}

TEST(ImplicitFactors, WithoutEffectInStatics) {
  Scene scene = boxes::scene({"corotational", MaterialModel::corotational});
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  const FullModel bar = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
  FullMechanics mechanics(bar);
  State states[2] = {rest_state(mechanics), rest_state(mechanics)};
  for (int k = 0; k < 2; ++k) {
    Stepper stepper(mechanics, settings(StepScheme::quasi_static, 0.01, k == 0 ? Factors{1, 1} : Factors{0.5, 0.7}));
    run(stepper, mechanics, 1, states[k]);
  }
  EXPECT_EQ(hash(states[0]), hash(states[1]));
}

TEST(ImplicitFactors, DisturbedHardRowDecays) {
  // A length-controlled actuator holds a mass at d; phi and h phi' follow e' = (1 - beta)(e + h phi'), h phi'' = -e:
  // the squared norm of this map's eigenvalues is 1 - beta. Imposed on the position it would alternate for ever.
  const double h = 0.01, d = 0.02;
  for (const Factors& factors : all_factors)
    for (const StepScheme scheme : schemes) {
      ReducedModel held = model({{{{0, 0, 0}}, 0.5, 3}});
      ActuatorRow row;
      row.name = "strut";
      row.kind = ActuatorKind::force;
      row.point_count = 1;
      row.direction = {{1, 0, 0}};
      row.bilateral = true;
      held.robot.actuators = {row};
      ReducedMechanics mechanics(held);
      Stepper stepper(mechanics, settings(scheme, h, factors));
      State state = rest_state(mechanics);
      Control control = zero_control(mechanics);
      control.commands[0] = state.commands[0] = d;
      double e = 0.003, rate = 0.4;
      state.q[0] = d + e;
      state.v[0] = rate;
      for (int step = 0; step < 60; ++step) {
        ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
        const double next = (1 - factors.beta) * (e + h * rate);
        rate = -e / h;
        e = next;
        EXPECT_NEAR(state.q[0] - d, e, 1e-13);
        EXPECT_NEAR(state.v[0], rate, 1e-11);
      }
      EXPECT_LT(std::abs(state.q[0] - d), 1e-8);
      // Held still it is the spring's force, whatever the factors: alpha does not divide it.
      EXPECT_NEAR(state.multipliers[0], 3 * d, 1e-6);
    }
}

TEST(ImplicitFactors, ForcesOfActuatorsAreThoseOfTheCommand) {
  // m (v' - v)/h = f exactly: the force of an actuator is that over the step, not a mean of two commands.
  const double m = 0.5, h = 0.01;
  for (const Factors& factors : all_factors) {
    ReducedModel loose = model({{{{0, 0, 0}}, m, 0}});
    ActuatorRow row;
    row.name = "push";
    row.kind = ActuatorKind::force;
    row.point_count = 1;
    row.direction = {{0, 1, 0}};
    row.bilateral = true;
    row.control = ActuatorControl::force;
    loose.robot.actuators = {row};
    ReducedMechanics mechanics(loose);
    Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, factors));
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    double v = 0;
    for (const double force : {2.0, -1.0, 5.0}) {
      control.commands[0] = force;
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
      v += h * force / m;
      EXPECT_NEAR(state.v[1], v, 1e-14);
      EXPECT_EQ(state.multipliers[0], force);
    }
  }
}

TEST(ImplicitFactors, BodyCarriedAtConstantSpeedIsNotStrained) {
  // Everything moves at V already: inertia and damping see no change.
  Scene scene = boxes::scene({"corotational", MaterialModel::corotational});
  scene.bodies[0].rayleigh_stiffness = 0.01;
  FixScene base = boxes::clamp_at_origin();
  base.motion = "base";
  base.motion_direction = {{0, 0, 1}};
  scene.bodies[0].fixes = {base};
  const FullModel bar = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
  const double V = 0.2, h = 0.01;
  for (const Factors& factors : all_factors) {
    FullMechanics mechanics(bar);
    Stepper stepper(mechanics, settings(StepScheme::newton, h, factors));
    stepper.set_tolerances(1e-10, 1e-11);
    State state = rest_state(mechanics);
    state.motion_velocities[0] = V;
    for (std::size_t i = 2; i < state.v.size(); i += 3) state.v[i] = V;
    Control control = zero_control(mechanics);
    for (int step = 1; step <= 20; ++step) {
      control.motions[0] = step * h * V;
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
    // Newton's 1e-10 of the forces with which a step begins: those of a base that has moved by 2 mm.
    for (std::size_t i = 0; i < state.q.size(); ++i) {
      EXPECT_NEAR(state.q[i], i % 3 == 2 ? 20 * h * V : 0, 1e-9);
      EXPECT_NEAR(state.v[i], i % 3 == 2 ? V : 0, 1e-7);
    }
  }
}

// A mass on a spring to a base that moves along x, with inertia that couples them and damping.
ReducedModel mass_on_a_base() {
  const double k = 40;
  ReducedModel carried = model({{{{0, 0, 0}}, 0.5, k}});
  carried.robot.motions = {{.name = "base", .direction = {{1, 0, 0}}, .range = {-1, 1}}};
  carried.input_mass = {0.1, 0, 0};
  carried.output_inputs = {0, 0, 0};
  carried.stiffness.assign(16, 0.0);
  for (std::size_t i = 0; i < 4; ++i) carried.stiffness[5 * i] = k;
  carried.stiffness[3] = carried.stiffness[12] = -k;
  carried.robot.rayleigh_mass = 0.7;
  carried.robot.rayleigh_stiffness = 0.004;
  Effector effector;
  effector.name = "mass";
  effector.directions = {{{1, 0, 0}}};
  carried.robot.effectors = {effector};
  return carried;
}

TEST(ImplicitFactors, InputsMayBeUnknowns) {
  // Where the law moves the base is where a forward step with this motion ends: A_c is the derivative. The system is
  // linear: rounding.
  for (const Factors& factors : all_factors) {
    ReducedModel carried = mass_on_a_base();
    carried.robot.implicit_velocity = factors.alpha;
    carried.robot.implicit_position = factors.beta;
    ReducedMechanics mechanics(carried);
    InverseStep inverse(mechanics, {.regularisation = Regularisation::none}, Integrator::implicit_euler, 0.01);
    ForwardStep forward(mechanics, Integrator::implicit_euler, 0.01);
    State led = rest_state(mechanics), replayed = led;
    Control control = zero_control(mechanics);
    for (int step = 1; step <= 10; ++step) {
      const double goal[3] = {0.01 * std::sin(0.3 * step), 0, 0};
      ASSERT_EQ(inverse.step(goal, led).status, StepStatus::ok);
      EXPECT_NEAR(led.q[0], goal[0], 1e-12);
      control.motions = led.motions;
      ASSERT_EQ(forward.step(control, replayed).status, StepStatus::ok);
      EXPECT_NEAR(replayed.q[0], led.q[0], 1e-12);
      EXPECT_NEAR(replayed.v[0], led.v[0], 1e-10);
    }
  }
}

ReducedModel mass_above_floor(double mass, double height) {
  ReducedModel falling = model({{{{0, 0, height}}, mass, 0}}, {{0, 0, -9.81}});
  falling.robot.obstacles = {{.name = "floor", .obstacle = Obstacle::plane(), .pose = {}, .friction = 0.4}};
  falling.robot.collision_points = 1;
  return falling;
}

TEST(ImplicitFactors, ContactBearsTheWeight) {
  // beta = 1: a mass comes to rest on a floor and is borne by its weight exactly, whatever alpha and the step.
  const double mass = 0.3;
  const ReducedModel falling = mass_above_floor(mass, 0.01);
  for (const double alpha : {1.0, 0.5, 0.8})
    for (const double h : {0.01, 0.001}) {
      ReducedMechanics mechanics(falling);
      Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, {alpha, 1}));
      State state = rest_state(mechanics);
      state.v[0] = 0.05;
      run(stepper, mechanics, static_cast<int>(0.2 / h), state);
      EXPECT_NEAR(state.q[2], -0.01, 1e-12);
      EXPECT_NEAR(state.contact_forces[2], mass * 9.81, 1e-9);
      EXPECT_NEAR(state.v[0], 0, 1e-9);  // friction
    }
}

TEST(ImplicitFactors, ContactWithAPositionFactorIsRefused) {
  ReducedModel falling = mass_above_floor(1, 0.01);
  falling.robot.implicit_position = 0.5;
  ReducedMechanics mechanics(falling);
  for (const Integrator integrator : {Integrator::implicit_euler, Integrator::implicit_euler_newton}) {
    try {
      const ForwardStep step(mechanics, integrator, 0.01);
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("steps in contact with obstacles need implicit_position = 1"),
                std::string::npos);
    }
  }
  const ForwardStep statics(mechanics, Integrator::quasi_static, 0.01);
}

}  // namespace
}  // namespace supple

// Constraints: hard rows, springs as rows and springs as forces, limits. Alone on point masses, then on bodies.

#include <gtest/gtest.h>

#include <numbers>

#include "engine/inverse/inverse_step.hpp"
#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/constrained_bodies.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"
#include "tests/engine/bodies/point_masses.hpp"

namespace supple {
namespace {

using constrained_bodies::constrained_bar;
using constrained_bodies::constraint;
using point_masses::all_factors;
using point_masses::along;
using point_masses::Factors;
using point_masses::model;
using point_masses::run;
using point_masses::schemes;
using point_masses::tether;

StepSettings settings(StepScheme scheme, double h, const Factors& factors = {1, 1}) {
  return point_masses::settings(scheme, h, factors, 1e-14);
}

void hold(ReducedModel& body, const ConstraintRow& row, bool as_force) {
  (as_force ? body.robot.springs : body.robot.constraints).push_back(row);
}

// ---- rows alone

TEST(ConstraintRows, ValuesGradientsAndCurvatureAgreeWithDifferences) {
  const Vec3d anchor{{0.1, -0.2, 0.5}};
  ConstraintRow stop = tether(anchor, 0.4);
  stop.side = -1;
  ConstraintRow between = tether(anchor, 0.3);
  between.anchor.reset();
  between.point_count = 2;
  const Vec3d e = normalized(Vec3d{{1, 2, -2}});
  Robot robot;
  robot.constraints = {tether(anchor, 0.4), stop, between, along(e, {{0.1, 0.1, 0.1}}, 0, 0, 1)};
  robot.rest_points = {{{0.3, 0.1, 0}}, {{-0.2, 0.3, 0.4}}};
  const RowLayout layout = row_layout(robot);
  ASSERT_EQ(layout.rows(), 4);
  std::vector<double> y;
  for (const Vec3d& x : robot.rest_points) y.insert(y.end(), x.v, x.v + 3);
  const double lambda = 3, h = 1e-6;
  const auto evaluate = [&](const std::vector<double>& at, std::vector<double>& gradients) {
    std::vector<double> phi(4);
    gradients.resize(static_cast<std::size_t>(layout.gradients()));
    evaluate_rows(robot, layout, at, phi, gradients);
    return phi;
  };
  std::vector<double> gradients, up, down;
  const std::vector<double> phi = evaluate(y, gradients);
  const double length = norm(robot.rest_points[0] - anchor);
  EXPECT_NEAR(phi[0], 0.4 - length, 1e-16);
  EXPECT_NEAR(phi[1], length - 0.4, 1e-16);
  EXPECT_NEAR(phi[2], 0.3 - norm(robot.rest_points[1] - robot.rest_points[0]), 1e-16);
  EXPECT_NEAR(phi[3], dot(e, robot.rest_points[1] - Vec3d{{0.1, 0.1, 0.1}}), 1e-16);
  for (int row = 0; row < 4; ++row) {
    const auto k = static_cast<std::size_t>(row);
    const int n = layout.count[k], first = layout.first[k], offset = layout.offset[k];
    std::vector<double> curvature(static_cast<std::size_t>(n * n), 0.0);
    visit_row_curvature(robot, row, y, lambda, [&](int a, int b, const Mat3d& block) {
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) curvature[static_cast<std::size_t>((3 * a + i) * n + 3 * b + j)] += block(i, j);
    });
    for (int j = 0; j < n; ++j) {
      std::vector<double> plus = y, minus = y;
      plus[static_cast<std::size_t>(first + j)] += h;
      minus[static_cast<std::size_t>(first + j)] -= h;
      const double high = evaluate(plus, up)[k], low = evaluate(minus, down)[k];
      // Central differences over 1e-6 m of lengths of 0.5 m: rounding 1e-10, truncation 1e-11.
      EXPECT_NEAR(gradients[static_cast<std::size_t>(offset + j)], (high - low) / (2 * h), 1e-9);
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(offset + i);
        EXPECT_NEAR(curvature[static_cast<std::size_t>(i * n + j)], -lambda * (up[at] - down[at]) / (2 * h), 1e-8);
      }
    }
  }
}

// ---- a hanging mass, equation by equation

TEST(ConstraintRows, SpringObeysEquation14) {
  // Mass on a string that holds its height, J = e_z, with lambda the mean alpha lambda' + (1 - alpha) lambda_n:
  //   m Dv/h - lambda = f,   Dv + C lambda/l = -(phi + (d + alpha h) phi')/l,   l = alpha (h beta + d),
  //   x' = x + h (v + beta Dv).
  // Both forms of the spring, both schemes. Rounding.
  const double m = 0.4, g = -9.81, h = 0.02, z = 0.1;
  for (const Factors& factors : all_factors)
    for (const double c : {1e-2, 1e-5})
      for (const double d : {0.0, 0.03})
        for (const StepScheme scheme : schemes)
          for (const bool as_force : {false, true}) {
            ReducedModel mass = model({{{{0, 0, 0}}, m, 0}}, {{0, 0, g}});
            hold(mass, along({{0, 0, 1}}, {{0, 0, z}}, c, d), as_force);
            ReducedMechanics mechanics(mass);
            Stepper stepper(mechanics, settings(scheme, h, factors));
            State state = rest_state(mechanics);
            double x = state.q[2] = z + 0.003, v = state.v[2] = 0.2;
            for (int step = 0; step < 4; ++step) {
              const double alpha = factors.alpha, beta = factors.beta, l = alpha * (h * beta + d), phi = x - z;
              // Schur complement of eq. 14.
              const double lambda = (-(phi + (d + alpha * h) * v) / l - h * g) / (h / m + c / l),
                           Dv = h * (g + lambda / m);
              const double old_force = -(phi + d * v) / c;
              x += h * (v + beta * Dv);
              v += Dv;
              run(stepper, mechanics, 1, state);
              const double scale = 1 + std::abs(lambda);
              EXPECT_NEAR(state.q[2], x, 1e-13 * scale);
              EXPECT_NEAR(state.v[2], v, 1e-11 * scale);
              if (as_force) continue;
              // What is reported is the force at the end of the step: eq. 12, and the rest of the mean.
              EXPECT_NEAR(state.multipliers[0], -(x - z + d * v) / c, 1e-8 * scale);
              EXPECT_NEAR(alpha * state.multipliers[0] + (1 - alpha) * old_force, lambda, 1e-8 * scale);
            }
          }
}

TEST(ConstraintRows, HardRowSetsTheVelocityAtTheEnd) {
  // v' = -phi/(h + d) whatever came before; lambda is the force over the step, m (v' - v)/h - m g. d = 0, beta = 1:
  // phi' = 0.
  const double m = 0.4, g = -9.81, h = 0.02, z = 0.1;
  for (const Factors& factors : all_factors)
    for (const double d : {0.0, 0.03})
      for (const StepScheme scheme : schemes) {
        ReducedModel mass = model({{{{0, 0, 0}}, m, 0}}, {{0, 0, g}});
        hold(mass, along({{0, 0, 1}}, {{0, 0, z}}, 0, d), false);
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(scheme, h, factors));
        State state = rest_state(mechanics);
        double x = state.q[2] = z + 0.003, v = state.v[2] = 0.2;
        for (int step = 0; step < 40; ++step) {
          const double new_v = -(x - z) / (h + d), lambda = m * (new_v - v) / h - m * g;
          x += h * (factors.beta * new_v + (1 - factors.beta) * v);
          v = new_v;
          run(stepper, mechanics, 1, state);
          EXPECT_NEAR(state.q[2], x, 1e-13);
          EXPECT_NEAR(state.v[2], v, 1e-11);
          EXPECT_NEAR(state.multipliers[0], lambda, 1e-9);
        }
        // A disturbance decays by d/(h + d) a step, or faster: 0.6^40.
        EXPECT_LT(std::abs(state.q[2] - z), 1e-6);
        EXPECT_NEAR(state.multipliers[0], -m * g, 1e-2);
      }
}

TEST(ConstraintRows, SpringsTendToTheHardRow) {
  // c -> 0 with beta = 1, alpha any: the same step.
  for (const double alpha : {1.0, 0.6})
    for (const double d : {0.0, 0.01}) {
      State states[2];
      for (int k = 0; k < 2; ++k) {
        ReducedModel mass = model({{{{0, 0, 0}}, 0.4, 20}}, {{0, 0, -9.81}});
        hold(mass, along({{0, 0, 1}}, {{0, 0, 0.1}}, k == 0 ? 0 : 1e-13, d), false);
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(StepScheme::one_linearisation, 0.01, {alpha, 1}));
        states[k] = rest_state(mechanics);
        states[k].q[2] = 0.1;
        run(stepper, mechanics, 5, states[k]);
      }
      EXPECT_NEAR(states[0].q[2], states[1].q[2], 1e-9);
      EXPECT_NEAR(states[0].v[2], states[1].v[2], 1e-7);
    }
}

// ---- the two forms

TEST(ConstraintRows, FormsAgreeWhereTheJacobianIsConstant) {
  // A mass held along three oblique directions by damped springs: the same motion to rounding.
  for (const Factors& factors : all_factors)
    for (const StepScheme scheme : schemes) {
      State states[2];
      for (const bool as_force : {false, true}) {
        ReducedModel mass = model({{{{0.1, 0.2, 0}}, 0.4, 7}, {{{0, 0, 0.1}}, 0.2, 3}}, {{0.5, 0, -9.81}});
        for (int k = 0; k < 3; ++k)
          hold(mass,
               along(normalized(Vec3d{{1.0 + k, 1.0 - k * k, 0.5 * k - 1}}), {{0.1, 0.21, 0.01 * k}}, 1e-3 * (k + 1),
                     0.01 * k, k % 2),
               as_force);
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(scheme, 0.01, factors));
        State& state = states[as_force ? 1 : 0] = rest_state(mechanics);
        state.v = boxes::random_vector(6, 0.3);
        run(stepper, mechanics, 50, state);
      }
      // Rounding of two ways to solve one system, cond(A) < 1e3, over fifty steps.
      EXPECT_LT(boxes::difference(states[1].q, states[0].q), 1e-12);
      EXPECT_LT(boxes::difference(states[1].v, states[0].v), 1e-12);
    }
}

TEST(ConstraintRows, FormsDifferByTheGeometricStiffness) {
  // A stretched tether swings sideways, one linearisation: as rows A u = r, as a force (A + alpha lambda (I - e e^T)/L)
  // u = r with the same r. Then u_f - u_c = O(h^3): 8 for each halving.
  const double m = 0.4, c = 0.01, d = 0.02, length = 0.2;
  const Vec3d start{{0.21, 0.03, -0.01}};
  for (const Factors& factors : all_factors) {
    std::vector<double> differences;
    for (const double h : {0.01, 0.005, 0.0025}) {
      Vec3d u[2];
      for (const bool as_force : {false, true}) {
        ReducedModel mass = model({{start, m, 0}}, {{0, 0, -9.81}});
        hold(mass, tether({{0, 0, 0}}, length, c, d), as_force);
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, factors));
        State state = rest_state(mechanics);
        state.v = {0.1, 0.5, -0.4};
        run(stepper, mechanics, 1, state);
        u[as_force ? 1 : 0] = {{state.q[0], state.q[1], state.q[2]}};
      }
      const double alpha = factors.alpha, beta = factors.beta, L = norm(start);
      const Vec3d e = (1 / L) * start, v{{0.1, 0.5, -0.4}};
      // At u = 0 the rate by the scheme is -(1 - beta)/beta phi'_n.
      const double lambda = -(length - L + d * (1 - beta) / beta * dot(e, v)) / c;
      ASSERT_GT(lambda, 0);
      const Mat3d A = (m / (beta * h * h)) * Mat3d::identity() + (alpha * (1 + d / (beta * h)) / c) * outer(e, e);
      const Mat3d G = (alpha * lambda / L) * (Mat3d::identity() - outer(e, e));
      const Vec3d left = (A + G) * u[1], right = A * u[0];
      // Forces of m u/h^2 = 40 N, rounding of positions of 0.2 m times it.
      EXPECT_NEAR(norm(left - right), 0, 1e-10 * norm(right));
      EXPECT_GT(norm(u[1] - u[0]), 1e-9);
      differences.push_back(norm(u[1] - u[0]));
    }
    EXPECT_NEAR(differences[0] / differences[1], 8, 1);
    EXPECT_NEAR(differences[1] / differences[2], 8, 0.6);
  }
}

TEST(ConstraintRows, NewtonGivesBothFormsTheSameAnswer) {
  for (const Factors& factors : all_factors) {
    State states[2];
    for (const bool as_force : {false, true}) {
      ReducedModel mass = model({{{{0.2, 0, 0}}, 0.4, 0}}, {{0, 0, -9.81}});
      hold(mass, tether({{0, 0, 0}}, 0.19, 0.003, 0.01), as_force);
      ReducedMechanics mechanics(mass);
      Stepper stepper(mechanics, settings(StepScheme::newton, 0.02, factors));
      State& state = states[as_force ? 1 : 0] = rest_state(mechanics);
      state.v[1] = 1;
      run(stepper, mechanics, 25, state);
    }
    // Newton's tolerance of 1e-13 of the forces, over 25 steps of a swing.
    EXPECT_LT(boxes::difference(states[1].q, states[0].q), 1e-10);
    EXPECT_LT(boxes::difference(states[1].v, states[0].v), 1e-10);
  }
}

TEST(ConstraintRows, PhaseVolumeIsAsPredictedInBothForms) {
  // As of any spring: (1 + (1 - alpha)(1 - beta) z)/(1 + alpha beta z), z = h^2/(c m): alpha = 1/2, beta = 1 loses
  // energy.
  const double m = 2, h = 0.1;
  for (const double z : {0.01, 1.0, 30.0})
    for (const Factors& factors : all_factors)
      for (const bool as_force : {false, true}) {
        ReducedModel mass = model({{{{0, 0, 0}}, m, 0}});
        hold(mass, along({{1, 0, 0}}, {{0, 0, 0}}, h * h / (m * z)), as_force);
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, factors));
        EXPECT_NEAR(point_masses::phase_volume(stepper, mechanics), point_masses::predicted_phase_volume(factors, z),
                    1e-12 * (1 + z));
      }
}

TEST(ConstraintRows, HalvesKeepTheEnergyInBothForms) {
  // An oscillator whose only spring is a constraint, 1e5 steps of a twentieth of a period: rounding alone.
  const double m = 1, k = 4 * std::numbers::pi * std::numbers::pi, h = 0.05;
  for (const bool as_force : {false, true}) {
    ReducedModel mass = model({{{{0, 0, 0}}, m, 0}});
    hold(mass, along({{1, 0, 0}}, {{0, 0, 0}}, 1 / k), as_force);
    ReducedMechanics mechanics(mass);
    Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, {0.5, 0.5}));
    State state = rest_state(mechanics);
    state.q[0] = 0.1;
    const auto energy = [&] { return 0.5 * m * state.v[0] * state.v[0] + 0.5 * k * state.q[0] * state.q[0]; };
    const double start = energy();
    run(stepper, mechanics, 100000, state);
    EXPECT_NEAR(energy() / start, 1, 1e-9);
  }
}

TEST(ConstraintRows, OrdersInBothForms) {
  // Position, velocity and force of a damped oscillator made of a constraint, against the exact solution: order two for
  // halves and else one. A pendulum on an elastic string (the Jacobian turns), Newton, against itself.
  const double m = 1, c = 0.02, d = 0.03, end = 0.9;
  const double k = 1 / c, decay = 0.5 * d * k / m, omega = std::sqrt(k / m - decay * decay);
  const double x = std::exp(-decay * end) * (std::cos(omega * end) + decay / omega * std::sin(omega * end));
  const double v = -std::exp(-decay * end) * (k / m) / omega * std::sin(omega * end);
  for (const Factors& factors : all_factors) {
    const bool second = factors.alpha == 0.5 && factors.beta == 0.5;
    for (const bool as_force : {false, true}) {
      ReducedModel mass = model({{{{0, 0, 0}}, m, 0}});
      hold(mass, along({{1, 0, 0}}, {{0, 0, 0}}, c, d), as_force);
      ReducedMechanics mechanics(mass);
      const auto error = [&](int steps) {
        Stepper stepper(mechanics, settings(StepScheme::one_linearisation, end / steps, factors));
        State state = rest_state(mechanics);
        state.q[0] = 1;
        run(stepper, mechanics, steps, state);
        const double force = as_force ? 0 : state.multipliers[0] + (x + d * v) / c;
        return std::hypot(state.q[0] - x, state.v[0] - v, c * force);
      };
      EXPECT_NEAR(std::log2(error(1000) / error(2000)), second ? 2 : 1, 0.05) << factors.alpha << " " << factors.beta;
    }
  }
  for (const bool as_force : {false, true}) {
    ReducedModel mass = model({{{{0.2, 0, 0}}, 0.4, 0}}, {{0, 0, -9.81}});
    hold(mass, tether({{0, 0, 0}}, 0.19, 0.003, 0.01), as_force);
    ReducedMechanics mechanics(mass);
    const auto at_end = [&](int steps) {
      Stepper stepper(mechanics, settings(StepScheme::newton, 0.3 / steps, {0.5, 0.5}));
      State state = rest_state(mechanics);
      run(stepper, mechanics, steps, state);
      std::vector<double> all = state.q;
      all.insert(all.end(), state.v.begin(), state.v.end());
      all.insert(all.end(), state.multipliers.begin(), state.multipliers.end());
      return all;
    };
    const auto coarse = at_end(100), middle = at_end(200), fine = at_end(400);
    const double ratio = boxes::norm(boxes::plus(coarse, -1, middle)) / boxes::norm(boxes::plus(middle, -1, fine));
    EXPECT_NEAR(ratio, 4, 0.2);
  }
}

// ---- multipliers are newtons

TEST(ConstraintRows, MultiplierAtRestDoesNotDependOnTheStep) {
  // A mass that swung comes to rest on its string: m g at steps a hundred times apart, soft or hard.
  const double m = 0.4, g = 9.81;
  for (const Factors& factors : {Factors{1, 1}, Factors{0.5, 0.5}, Factors{0.5, 1}})
    for (const double c : {0.0, 0.002})
      for (const double h : {0.05, 0.0005}) {
        ReducedModel mass = model({{{{0, 0, -0.2}}, m, 0}}, {{0, 0, -g}});
        hold(mass, tether({{0, 0, 0}}, 0.2, c, 0.02), false);
        mass.robot.rayleigh_mass = 10;  // 1/s: e^-50 at the end
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, factors));
        State state = rest_state(mechanics);
        state.v[2] = 0.1;
        run(stepper, mechanics, static_cast<int>(10 / h), state);
        EXPECT_NEAR(state.multipliers[0], m * g, 1e-6 * m * g) << c << " " << h;
        EXPECT_NEAR(-state.q[2], c * m * g, 1e-9);
      }
  // The same in statics, where the mass hangs from a spring of the body too.
  for (const double c : {0.0, 0.002}) {
    ReducedModel mass = model({{{{0, 0, -0.2}}, m, 5}}, {{0, 0, -g}});
    hold(mass, tether({{0, 0, 0}}, 0.2, c, 0.02), false);
    ReducedMechanics mechanics(mass);
    Stepper stepper(mechanics, settings(StepScheme::quasi_static, 0));
    State state = rest_state(mechanics);
    run(stepper, mechanics, 1, state);
    EXPECT_NEAR(state.multipliers[0], m * g / (1 + 5 * c), 1e-9);
  }
}

TEST(ConstraintRows, HardMultiplierAlongAPath) {
  // A mass on a spring and weight is led along a smooth path: the force m d'' + k d + m g is met to first order in h,
  // whatever the factors (the velocity of a hard row is that of a difference).
  const double m = 0.4, k = 30, end = 0.55;
  for (const Factors& factors : all_factors) {
    ReducedModel mass = model({{{{0, 0, 0}}, m, k}}, {{-9.81, 0, 0}});
    ActuatorRow row;
    row.name = "strut";
    row.kind = ActuatorKind::force;
    row.point_count = 1;
    row.direction = {{1, 0, 0}};
    row.bilateral = true;
    mass.robot.actuators = {row};
    ReducedMechanics mechanics(mass);
    const auto error = [&](int steps) {
      const double h = end / steps;
      Stepper stepper(mechanics, settings(StepScheme::one_linearisation, h, factors));
      State state = rest_state(mechanics);
      Control control = zero_control(mechanics);
      const auto path = [](double t) { return 0.1 * std::pow(std::sin(4 * t), 4); };
      for (int step = 1; step <= steps; ++step) {
        control.commands[0] = path(step * h);
        EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
      }
      const double e = 1e-4, curvature = (path(end + e) - 2 * path(end) + path(end - e)) / (e * e);
      return std::abs(state.multipliers[0] - (m * curvature + k * path(end) + m * 9.81));
    };
    EXPECT_NEAR(std::log2(error(1000) / error(2000)), 1, 0.1) << factors.alpha << " " << factors.beta;
  }
}

// ---- limits

ReducedModel thrown_mass(double compliance, double damping_time, bool shortest) {
  ReducedModel mass = model({{{{0, 0, shortest ? 0.2 : -0.1}}, 0.4, 0}}, {{0, 0, -9.81}});
  ConstraintRow limit = tether({{0, 0, 0}}, shortest ? 0.15 : 0.2, compliance, damping_time);
  limit.one_sided = true;
  limit.side = shortest ? -1 : 1;
  mass.robot.constraints = {limit};
  return mass;
}

TEST(Limit, StringIsSlackOrHolds) {
  for (const bool shortest : {false, true})
    for (const StepScheme scheme : schemes)
      for (const Factors& factors : {Factors{1, 1}, Factors{0.5, 1}}) {
        const ReducedModel mass = thrown_mass(0, 0, shortest);
        ReducedMechanics mechanics(mass);
        Stepper stepper(mechanics, settings(scheme, 0.005, factors));
        State state = rest_state(mechanics);
        state.v = {0.001, 0, shortest ? 0.5 : 0};
        int slack = 0, taut = 0;
        for (int step = 0; step < 60; ++step) {
          run(stepper, mechanics, 1, state);
          const double x = state.q[0], z = state.q[2] + (shortest ? 0.2 : -0.1), length = std::hypot(x, z);
          const double room = shortest ? length - 0.15 : 0.2 - length;
          EXPECT_GE(state.multipliers[0], 0);
          // One linearisation leaves the curvature of the path, (h v)^2/L.
          EXPECT_GE(room, scheme == StepScheme::newton ? -1e-10 : -1e-4);
          if (state.multipliers[0] > 0) {
            EXPECT_NEAR(room, 0, scheme == StepScheme::newton ? 1e-10 : 1e-4);
            ++taut;
          } else {
            ++slack;
          }
        }
        EXPECT_GT(slack, 5);
        EXPECT_GT(taut, 5);
      }
}

TEST(Limit, SoftStringStretchesAsItsCompliance) {
  const double c = 0.01, weight = 0.4 * 9.81;
  for (const Factors& factors : {Factors{1, 1}, Factors{0.5, 1}, Factors{0.5, 0.5}}) {
    const ReducedModel mass = thrown_mass(c, 0.02, false);
    ReducedMechanics mechanics(mass);
    Stepper stepper(mechanics, settings(StepScheme::one_linearisation, 0.005, factors));
    State state = rest_state(mechanics);
    run(stepper, mechanics, 2000, state);
    EXPECT_NEAR(state.q[2], -0.1 - c * weight, 1e-8);
    EXPECT_NEAR(state.multipliers[0], weight, 1e-6);
  }
}

// ---- with obstacles

TEST(ConstraintRows, SpringPullsABodyOntoTheFloor) {
  // A soft row and a contact are found together, in both representations of W (roots, compliance): the floor bears the
  // weight and the spring.
  const double m = 0.3, c = 0.005, below = 0.02;
  for (const StepScheme scheme : schemes)
    for (const bool as_force : {false, true}) {
      ReducedModel mass = model({{{{0, 0, 0.001}}, m, 0}}, {{0, 0, -9.81}});
      mass.robot.obstacles = {{.name = "floor", .obstacle = Obstacle::plane(), .pose = {}, .friction = 0}};
      mass.robot.collision_points = 1;
      hold(mass, along({{0, 0, 1}}, {{0, 0, -below}}, c), as_force);
      ReducedMechanics mechanics(mass);
      Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
      State state = rest_state(mechanics);
      run(stepper, mechanics, 20, state);
      EXPECT_NEAR(state.q[2], -0.001, 1e-11);
      EXPECT_NEAR(state.contact_forces[2], m * 9.81 + below / c, 1e-7);
      if (!as_force) {
        EXPECT_NEAR(state.multipliers[0], -below / c, 1e-7);
      }
    }
}

// ---- bodies

TEST(ConstrainedBody, HasItsRows) {
  const FullModel model = build_full_model(
      constrained_bar(reduced_bodies::bar_scene({"c", MaterialModel::corotational})), reduced_bodies::bar(false));
  const Robot& robot = model.robot;
  ASSERT_EQ(robot.constraints.size(), 4u);
  EXPECT_EQ(robot.rows(), 3 + 4);
  EXPECT_EQ(robot.constraints[0].name, "string");
  EXPECT_TRUE(robot.constraints[0].one_sided);
  EXPECT_EQ(robot.constraints[1].name, "joint 1");
  EXPECT_EQ(robot.constraints[3].name, "slide");
  ASSERT_EQ(robot.springs.size(), 4u);
  EXPECT_EQ(robot.springs[0].rest_length, 0.15);
  EXPECT_EQ(robot.springs[3].name, "pin z");
  EXPECT_EQ(robot.springs[2].place[1], 0.072);
}

class ConstrainedBody : public testing::TestWithParam<StepScheme> {};

TEST_P(ConstrainedBody, StepsWithAllModesAsTheFullModel) {
  const FullModel model = build_full_model(
      constrained_bar(reduced_bodies::bar_scene({"c", MaterialModel::corotational})), reduced_bodies::bar(false));
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, reduced_bodies::full_basis(nv), nv, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  ReducedMechanics several(reduced, 3);
  for (const Factors& factors : all_factors) {
    Stepper a(full, settings(GetParam(), 0.01, factors)), b(mine, settings(GetParam(), 0.01, factors)),
        all(several, settings(GetParam(), 0.01, factors));
    a.set_tolerances(1e-10, 1e-11);
    b.set_tolerances(1e-10, 1e-11);
    all.set_tolerances(1e-10, 1e-11);
    State x = rest_state(full), z = rest_state(mine), w = rest_state(several);
    Control control = zero_control(full), controls = zero_control(several);
    for (int k = 1; k <= 8; ++k) {
      control.commands = {0.001 * k, 0.1 * k, 0.0002 * k};
      for (std::size_t i = 0; i < controls.commands.size(); ++i) controls.commands[i] = control.commands[i % 3];
      const StepReport first = a.step(control, x), second = b.step(control, z), third = all.step(controls, w);
      ASSERT_EQ(first.status, StepStatus::ok) << describe(first.status);
      ASSERT_EQ(second.status, StepStatus::ok) << describe(second.status);
      ASSERT_EQ(third.status, StepStatus::ok) << describe(third.status);
    }
    EXPECT_GT(std::abs(x.multipliers[4]), 1e-3);
    EXPECT_GT(std::abs(x.multipliers[6]), 1e-3);
    // Rounding of the solves; Newton's tolerance.
    const double tolerance = GetParam() == StepScheme::newton ? 1e-6 : 1e-9;
    EXPECT_LT(boxes::difference(z.q, x.q), tolerance);
    if (GetParam() != StepScheme::quasi_static) {
      EXPECT_LT(boxes::difference(z.v, x.v), tolerance);
    }
    EXPECT_LT(boxes::difference(z.multipliers, x.multipliers), tolerance);
    // Three robots in a row do the same.
    std::vector<double> third(w.multipliers.end() - static_cast<std::ptrdiff_t>(z.multipliers.size()),
                              w.multipliers.end());
    EXPECT_LT(boxes::difference(third, z.multipliers), tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, ConstrainedBody,
                         testing::Values(StepScheme::one_linearisation, StepScheme::newton, StepScheme::quasi_static),
                         [](const auto& info) {
                           return std::string(info.param == StepScheme::newton         ? "newton"
                                              : info.param == StepScheme::quasi_static ? "statics"
                                                                                       : "one");
                         });

TEST(ConstrainedBatch, StepsAsRobotByRobot) {
  Scene scene = constrained_bar(reduced_bodies::bar_scene({"c", MaterialModel::corotational}));
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.form == ConstraintForm::force; });
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 12), 12, all_elements(full));
  ReducedMechanics one_by_one(model, 4);
  ReducedBatchMechanics batch(model, cpu(), 4);
  State states[2];
  for (int k = 0; k < 2; ++k) {
    Mechanics& mechanics = k == 0 ? static_cast<Mechanics&>(one_by_one) : batch;
    Stepper stepper(mechanics, settings(StepScheme::one_linearisation, 0.01, {0.5, 0.5}));
    State& state = states[k] = rest_state(mechanics);
    Control control = zero_control(mechanics);
    for (std::size_t b = 0; b < 4; ++b) control.commands[3 * b] = 0.002 * static_cast<double>(b);
    for (int step = 0; step < 20; ++step) ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
  }
  EXPECT_LT(boxes::difference(states[1].q, states[0].q), 1e-10);
  EXPECT_LT(boxes::difference(states[1].multipliers, states[0].multipliers), 1e-9);
}

TEST(ConstrainedBody, RowsThatAllModesObeyNeedNoForce) {
  // Modes of states that obeyed a hard row obey it, to the tolerance of those states: the row would be a quotient of
  // roundings. Any other modes keep it.
  Scene scene = reduced_bodies::bar_scene({"c", MaterialModel::corotational});
  ConstraintScene guide = constraint("guide", ConstraintKind::plane, {{{0.24, 0.04, 0.06}}});
  guide.directions = {normalized(Vec3d{{1, -1, 0.2}})};
  scene.constraints = {guide};
  const FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  FullMechanics full(model);
  const auto nv = static_cast<std::size_t>(model.coordinates.nv);
  std::vector<double> H(static_cast<std::size_t>(full.rows().rows()) * nv), phi(4),
      gradients(static_cast<std::size_t>(full.rows().gradients())), y(static_cast<std::size_t>(model.robot.outputs()));
  full.evaluate_outputs(rest_state(full).q, {}, y);
  evaluate_rows(model.robot, full.rows(), y, phi, gradients);
  full.row_jacobians(full.rows(), gradients, H, {});
  const std::vector<double> h(H.begin() + 3 * static_cast<std::ptrdiff_t>(nv), H.end());
  std::vector<double> basis = reduced_bodies::random_basis(model.coordinates.nv, 6);
  EXPECT_EQ(project(model, basis, 6, all_elements(model)).robot.constraints[0].compliance, 0);
  for (std::size_t k = 0; k < 6; ++k) {
    double along = 0;
    for (std::size_t i = 0; i < nv; ++i) along += basis[k * nv + i] * h[i];
    for (std::size_t i = 0; i < nv; ++i) basis[k * nv + i] -= (1 - 1e-7) * along / boxes::dot(h, h) * h[i];
  }
  const ReducedModel reduced = project(model, basis, 6, all_elements(model));
  EXPECT_EQ(reduced.robot.constraints[0].direction, (Vec3d{{0, 0, 0}}));
  ReducedMechanics mechanics(reduced);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  run(stepper, mechanics, 20, state);
  EXPECT_EQ(state.multipliers[3], 0);
  EXPECT_LT(boxes::norm(state.q), 1);
}

TEST(ConstrainedBody, SpringsFeelInputs) {
  // A spring between the body and its driven end, and one to a place: stiffness towards the inputs against differences
  // of the forces, full and reduced.
  Scene scene = driven_bodies::scene(driven_bodies::Drive::ends);
  ConstraintScene rod = constraint("rod", ConstraintKind::distance, {{{0, 0.05, 0.03}}, {{0.15, 0.06, 0.07}}}, 2e-3,
                                   ConstraintForm::force);
  rod.length = 0.12;
  scene.constraints = {rod};
  const FullModel model = build_full_model(scene, driven_bodies::bar(false));
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, reduced_bodies::random_basis(nv, 7), 7, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&full), static_cast<Mechanics*>(&mine)}) {
    const int n = mechanics->coordinates().nv, m = 2;
    const auto size = static_cast<std::size_t>(n);
    const ConstraintRow& spring = mechanics->robot().springs[0];
    const RowLayout layout = spring_layout(mechanics->robot());
    const std::vector<double> q = boxes::random_vector(n, 0.002), c = {0.003, -0.002};
    std::vector<double> y(static_cast<std::size_t>(mechanics->robot().outputs())), f(size), H(size), H_c(2), g(6);
    const auto force = [&](const std::vector<double>& inputs) {
      mechanics->evaluate_outputs(q, inputs, y);
      const double lambda = -evaluate_constraint(spring, y, g.data()) / spring.compliance;
      mechanics->row_jacobians(layout, g, H, H_c);
      std::vector<double> all = H;
      for (double& x : all) x *= -lambda;
      return all;
    };
    (void)force(c);
    const double lambda = -evaluate_constraint(spring, y, g.data()) / spring.compliance;
    std::vector<PointStiffness> points;
    const auto add = [&](int i, int j, const Mat3d& S) {
      points.push_back({0, spring.first_point + i, spring.first_point + j, S});
    };
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        add(i, j,
            (1 / spring.compliance) *
                outer(Vec3d{{g[static_cast<std::size_t>(3 * i)], g[static_cast<std::size_t>(3 * i + 1)],
                             g[static_cast<std::size_t>(3 * i + 2)]}},
                      Vec3d{{g[static_cast<std::size_t>(3 * j)], g[static_cast<std::size_t>(3 * j + 1)],
                             g[static_cast<std::size_t>(3 * j + 2)]}}));
    visit_constraint_curvature(spring, y, lambda, add);
    (void)mechanics->evaluate_forces(q, c, TangentKind::exact, f);
    std::vector<double> with(2 * size), without(2 * size),
        multipliers(static_cast<std::size_t>(mechanics->robot().rows()), 0.0);
    SystemCoefficients coefficients{1e4, 1, true};
    (void)mechanics->factor(coefficients, y, multipliers);
    mechanics->input_columns(coefficients, without);
    coefficients.points = points;
    (void)mechanics->factor(coefficients, y, multipliers);
    mechanics->input_columns(coefficients, with);
    const double h = 1e-6;
    for (std::size_t k = 0; k < static_cast<std::size_t>(m); ++k) {
      std::vector<double> plus = c, minus = c;
      plus[k] += h;
      minus[k] -= h;
      const std::vector<double> high = force(plus), low = force(minus);
      for (std::size_t i = 0; i < size; ++i)
        // A spring of 500 N/m: rounding 1e-7, truncation 1e-8.
        EXPECT_NEAR(with[k * size + i] - without[k * size + i], (high[i] - low[i]) / (2 * h), 1e-5);
    }
  }
}

TEST(ConstrainedBody, HangsByConstraintsAlone) {
  // Three hard points hold a body that no region holds; their forces are its weight, in statics and when it has come to
  // rest in time.
  Scene scene = boxes::scene({"corotational", MaterialModel::corotational});
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 20;
  const std::vector<Vec3d> held = {{{0, 0, 0.1}}, {{0.4, 0, 0.1}}, {{0.2, 0.1, 0.1}}};
  for (std::size_t k = 0; k < held.size(); ++k)
    scene.constraints.push_back(constraint("hook" + std::to_string(k), ConstraintKind::fixed_point, {held[k]}));
  const FullModel model = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
  FullMechanics mechanics(model);
  const double weight = 9.81 * model.total_mass;
  const auto borne = [&](const State& state) {
    Vec3d sum{{0, 0, 0}};
    for (std::size_t k = 0; k < state.multipliers.size(); ++k) sum[static_cast<int>(k % 3)] += state.multipliers[k];
    return sum;
  };
  Equilibrium equilibrium(mechanics, {});
  State still = rest_state(mechanics);
  const EquilibriumReport report = equilibrium.solve(zero_control(mechanics), still);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_NEAR(norm(borne(still) - Vec3d{{0, 0, weight}}), 0, 1e-6 * weight);
  Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = 0.02});
  State state = rest_state(mechanics);
  run(stepper, mechanics, 200, state);
  EXPECT_NEAR(norm(borne(state) - Vec3d{{0, 0, weight}}), 0, 1e-5 * weight);
  EXPECT_LT(boxes::norm(boxes::plus(still.q, -1, state.q)), 1e-4 * boxes::norm(state.q));
}

// Hard rows that add nothing to those before them have no unique force, or no answer at all.
TEST(ConstrainedBody, DependentHardConstraintsAreRefusedByName) {
  const auto bar = [](std::vector<ConstraintScene> constraints) {
    Scene scene = reduced_bodies::bar_scene({"c", MaterialModel::corotational});
    scene.constraints = std::move(constraints);
    return build_full_model(scene, reduced_bodies::bar(false));
  };
  const Vec3d point{{0.18, 0.05, 0.05}}, other{{0.24, 0.04, 0.06}};
  const ConstraintScene joint = constraint("joint", ConstraintKind::fixed_point, {point});
  ConstraintScene slide = constraint("slide", ConstraintKind::plane, {point});
  slide.directions = {normalized(Vec3d{{1, -1, 0.2}})};
  EXPECT_THROW((void)bar({joint, slide}), InputError);
  slide.position = {{0, 0, 1}};  // contradicts the joint
  try {
    (void)bar({joint, slide});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'slide'"), std::string::npos) << error.what();
  }
  // Two points held, and their distance.
  const ConstraintScene rod = constraint("rod", ConstraintKind::distance, {point, other});
  EXPECT_THROW((void)bar({joint, constraint("second", ConstraintKind::fixed_point, {other}), rod}), InputError);
  // Alone, elsewhere, soft or one-sided they add something.
  EXPECT_EQ(bar({joint, rod}).robot.constraints.size(), 4U);
  slide.compliance = 1e-3;
  EXPECT_EQ(bar({joint, slide}).robot.constraints.size(), 4U);
  ConstraintScene string = constraint("string", ConstraintKind::limit, {point});
  string.anchor = {{0.3, 0.05, 0.4}};
  EXPECT_EQ(bar({joint, string}).robot.constraints.size(), 4U);
}

TEST(ConstrainedBody, InverseControlObeysConstraints) {
  // A soft joint and a hard slide; the commands that inverse control finds, given to a forward step, do the same.
  Scene scene = constrained_bar(reduced_bodies::bar_scene({"c", MaterialModel::corotational}));
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.kind == ConstraintKind::limit; });
  scene.effectors.resize(1);
  const FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  EXPECT_FALSE(cannot_lead(model.robot));
  for (const Integrator integrator :
       {Integrator::implicit_euler, Integrator::implicit_euler_newton, Integrator::quasi_static}) {
    FullMechanics mechanics(model), other(model);
    InverseStep inverse(mechanics, {}, integrator, 0.01);
    const Vec3d goal =
        model.robot.rest_points[static_cast<std::size_t>(model.robot.effectors[0].point)] + Vec3d{{-0.001, 0, 0.002}};
    State led = rest_state(mechanics), replayed = rest_state(other);
    Stepper forward(other, settings(integrator == Integrator::implicit_euler          ? StepScheme::one_linearisation
                                    : integrator == Integrator::implicit_euler_newton ? StepScheme::newton
                                                                                      : StepScheme::quasi_static,
                                    0.01));
    forward.set_tolerances(1e-10, 1e-11);
    for (int k = 0; k < 4; ++k) {
      const StepReport report = inverse.step(goal.v, led);
      ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
      ASSERT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
      Control control = zero_control(other);
      control.commands = led.commands;
      const StepReport again = forward.step(control, replayed);
      ASSERT_EQ(again.status, StepStatus::ok) << describe(again.status);
      // Newton's tolerances; rates of commands are kept by the goals' smallness.
      EXPECT_LT(boxes::difference(replayed.q, led.q), 1e-5);
      EXPECT_LT(boxes::difference(replayed.multipliers, led.multipliers), 1e-4);
    }
  }
}

}  // namespace
}  // namespace supple

#pragma once
// Robots without elements for tests of the time step: point masses, each held to its rest by a spring of its own. Their
// coordinates are the displacements, and everything is linear but the rows.

#include <cmath>
#include <functional>
#include <vector>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/step.hpp"

namespace supple::point_masses {

struct PointMass {
  Vec3d rest{{0, 0, 0}};
  double mass = 1;       // kg
  double stiffness = 0;  // N/m
};

inline ReducedModel model(const std::vector<PointMass>& points, const Vec3d& gravity = {{0, 0, 0}}) {
  ReducedModel model;
  const std::size_t r = 3 * points.size();
  model.modes = static_cast<int>(r);
  model.robot.name = "points";
  model.robot.gravity = gravity;
  for (auto* matrix : {&model.mass, &model.stiffness, &model.outputs}) matrix->assign(r * r, 0.0);
  model.gravity.assign(3 * r, 0.0);
  for (std::size_t i = 0; i < r; ++i) {
    model.mass[i * r + i] = points[i / 3].mass;
    model.stiffness[i * r + i] = points[i / 3].stiffness;
    model.outputs[i * r + i] = 1;
    model.gravity[3 * i + i % 3] = points[i / 3].mass;
  }
  for (const PointMass& point : points) model.robot.rest_points.push_back(point.rest);
  return model;
}

// point held along `direction` at `place`.
inline ConstraintRow along(const Vec3d& direction, const Vec3d& place, double compliance = 0, double damping_time = 0,
                           int point = 0) {
  ConstraintRow row;
  row.name = "along";
  row.first_point = point;
  row.direction = direction;
  row.place = place;
  row.compliance = compliance;
  row.damping_time = damping_time;
  return row;
}

// point at `length` from `anchor`.
inline ConstraintRow tether(const Vec3d& anchor, double length, double compliance = 0, double damping_time = 0,
                            int point = 0) {
  ConstraintRow row;
  row.name = "tether";
  row.value = ConstraintRow::Value::length;
  row.first_point = point;
  row.anchor = anchor;
  row.rest_length = length;
  row.compliance = compliance;
  row.damping_time = damping_time;
  return row;
}

// Steps that must go well.
inline void run(Stepper& stepper, const Mechanics& mechanics, int steps, State& state) {
  const Control control = zero_control(mechanics);
  for (int step = 0; step < steps; ++step) {
    const StepReport report = stepper.step(control, state);
    if (report.status != StepStatus::ok) throw std::runtime_error(describe(report.status));
  }
}

// Implicit factors of a step.
struct Factors {
  double alpha, beta;
};
inline const std::vector<Factors> all_factors = {{1, 1}, {0.5, 0.5}, {0.5, 1}, {1, 0.5}, {0.7, 0.8}};
inline const std::vector<StepScheme> schemes = {StepScheme::one_linearisation, StepScheme::newton};

inline StepSettings settings(StepScheme scheme, double h, const Factors& factors, double row_tolerance) {
  return {.scheme = scheme,
          .time_step = h,
          .implicit_velocity = factors.alpha,
          .implicit_position = factors.beta,
          .tolerance = 1e-13,
          .row_tolerance = row_tolerance};
}

// Determinant of a step's update of (q_0, v_0).
inline double phase_volume(Stepper& stepper, const Mechanics& mechanics) {
  double update[2][2];
  for (int column = 0; column < 2; ++column) {
    State state = rest_state(mechanics);
    (column == 0 ? state.q : state.v)[0] = 1;
    run(stepper, mechanics, 1, state);
    update[0][column] = state.q[0];
    update[1][column] = state.v[0];
  }
  return update[0][0] * update[1][1] - update[0][1] * update[1][0];
}
// The same of an oscillator with z = h^2 omega^2.
inline double predicted_phase_volume(const Factors& factors, double z) {
  return (1 + (1 - factors.alpha) * (1 - factors.beta) * z) / (1 + factors.alpha * factors.beta * z);
}

}  // namespace supple::point_masses

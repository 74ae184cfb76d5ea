// Positions and rows in a step (step.hpp): mapped points, actuators and constraints, effectors, springs, and what of
// them at the start of the step implicit factors and dampers take. Derivation: docs/theory/full-model.md, "Time steps"
// and "Constraints".

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// What belongs to one robot.
std::span<double> part(std::span<double> values, int robot, int size) {
  return values.subspan(extent(robot, size), extent(size));
}

}  // namespace

// q = q_n (+) u
void Stepper::set_positions(const StateView& state) {
  const Coordinates& coordinates = mechanics_.coordinates();
  if (coordinates.flat()) {
    for_robots(PositionTeamOp{ConstVectors(state.q, size_.robots, size_.nv), vectors(motion_.u), vectors(motion_.q)});
    return;
  }
  for_each_robot(size_.robots, [&](int b) {
    double* q = motion_.q.data() + extent(b, size_.nq);
    std::copy_n(state.q + extent(b, size_.nq), size_.nq, q);
    coordinates.integrate(q, motion_.u.data() + extent(b, size_.nv));
  });
}

// phi and H of rows at y; on_host(b, y, phi, gradients): those of robot b.
template <class Evaluate>
void Stepper::evaluate(RowArrays& rows, const Evaluate& on_host) {
  if (rows.rows() == 0) return;
  if (rows.program) {
    launch(size_.device, size_.robots * rows.rows(),
           RowValuesOp{rows.program->shapes.data(), rows.program->coefficients.data(), rows.rows(), size_.outputs,
                       rows.layout.gradients(), motion_.y.data(), rows.phi.data(), rows.gradients.data()});
  } else {
    if (!on_cpu()) {
      motion_.y.fetch();
      wait_for_device();
    }
    const std::span<double> y = motion_.y.host(), phi = rows.phi.host(), gradients = rows.gradients.host();
    for_each_robot(size_.robots, [&](int b) {
      on_host(b, part(y, b, size_.outputs), part(phi, b, rows.rows()), part(gradients, b, rows.layout.gradients()));
    });
    rows.phi.send();
    rows.gradients.send();
  }
  mechanics_.row_jacobians(rows.layout, rows.gradients.span(), rows.H.span(), rows.H_c.span());
}

// y, then all rows and springs.
void Stepper::evaluate_rows(std::span<const double> inputs) {
  mechanics_.evaluate_outputs(motion_.q.span(), inputs, motion_.y.span());
  const supple::Robot& robot = mechanics_.robot();
  evaluate(rows_, [&](int b, std::span<const double> y, std::span<double> phi, std::span<double> gradients) {
    supple::evaluate_rows(robot, rows_.layout, y, phi, gradients);
    evaluate_friction(b, y, gradients);
  });
  if (rubbing_.count() > 0) scheme_.send_scale();
  evaluate(springs_.rows, [&](int, std::span<const double> y, std::span<double> phi, std::span<double> gradients) {
    for (std::size_t s = 0; s < robot.springs.size(); ++s)
      phi[s] = evaluate_constraint(robot.springs[s], y, gradients.data() + extent(springs_.rows.layout.offset[s]));
  });
  if (has_angles_ && knows_start_) keep_branches();
}

// Of a robot's cables that rub where they turn: tensions at y, in place of the same one all along (gradients, unless
// empty).
void Stepper::evaluate_friction(int b, std::span<const double> y, std::span<double> gradients) {
  const supple::Robot& robot = mechanics_.robot();
  const std::span<const double> before =
      std::span<const double>(history_.host()).subspan(extent(b, robot.history()), extent(robot.history()));
  for (int k = 0; k < rubbing_.count(); ++k) {
    const auto row = extent(rubbing_.rows.host()[extent(k)]);
    const ActuatorRow& cable = robot.actuators[row];
    CableFriction& friction = host_.friction[extent(b, rubbing_.count()) + extent(k)];
    const std::span<const double> points = row_coordinates(cable, y);
    friction.evaluate(cable, points, before.subspan(extent(rubbing_.history[extent(k)]), extent(cable.history())),
                      settings_.iterates());
    if (gradients.empty()) continue;
    friction.gradient(cable, gradients.subspan(extent(rows_.layout.offset[row]), extent(rows_.layout.count[row])));
    scheme_.set_scale(extent(b), row, friction.mean_weight());
  }
}

// Angles of joints continue from where the step began, past half a turn.
void Stepper::keep_branches() {
  const supple::Robot& robot = mechanics_.robot();
  const auto keep = [](const ConstraintRow& row, double start, double& phi) {
    if (row.value != ConstraintRow::Value::angle) return;
    constexpr double turn = 2 * std::numbers::pi;
    phi += turn * std::round((start - phi) / turn);
  };
  const std::span<double> phi = rows_.phi.host(), of_springs = springs_.rows.phi.host();
  const std::span<const double> start = start_.phi.host(), start_of_springs = start_.spring_phi.host();
  for (std::size_t j = 0; j < robot.actuators.size(); ++j)
    if (robot.actuators[j].is_motor()) keep(robot.actuators[j].joint, start[j], phi[j]);
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    keep(robot.constraints[k], start[robot.actuators.size() + k], phi[robot.actuators.size() + k]);
  for (std::size_t s = 0; s < robot.springs.size(); ++s) keep(robot.springs[s], start_of_springs[s], of_springs[s]);
}

// With a program without their goals: subtract_goals().
void Stepper::evaluate_effectors(const ConstraintLaw& law) {
  evaluate(effectors_, [&](int b, std::span<const double> y, std::span<double> phi, std::span<double> gradients) {
    law.evaluate_effectors(b, y, phi, gradients);
  });
}

void Stepper::evaluate_springs(bool at_rest) {
  if (springs_.rows.rows() == 0) return;
  const int springs = springs_.rows.rows();
  for_robots(SpringTeamOp{at_rest,
                          settings_.time_step,
                          settings_.beta(),
                          scheme_.springs(),
                          springs_.rows.values(),
                          {start_.spring_phi.data(), size_.robots, springs},
                          {start_.spring_rate.data(), size_.robots, springs},
                          springs_.rows.jacobians(),
                          {springs_.lambda.data(), size_.robots, springs},
                          vectors(springs_.force)});
}

// What the law sees of the rows at this linearisation.
void Stepper::set_values() {
  const SpaceViews& space = space_.on_device();
  if (size_.rows > 0)
    for_robots(RowValuesSeenTeamOp{settings_.beta(), scheme_.weights(), rows_.values(), rows_of(start_.phi),
                                   rows_of(start_.rate), space.values});
  if (rubbing_.count() > 0)
    for_robots(ScaleRowsTeamOp{
        rubbing_.rows.data(), rubbing_.count(), {scheme_.scale_on_device(), size_.robots, size_.rows}, space.values});
  if (scheme_.gas_rows() > 0)
    for_robots(scheme_.gas(rows_.values(), rows_of(space_.lambda),
                           {history_.data(), size_.robots, mechanics_.robot().history()}, space.values));
  if (effectors_.rows() > 0) for_robots(CopyTeamOp{effectors_.values(), nullptr, space.effector_phi});
}

// What the law will see of the rows, and what of the start of the step it takes: their values and rates, forces.
void Stepper::begin_scheme(const StateView& state) {
  if (!scheme_.looks_back()) return;
  const int B = size_.robots;
  for_robots(CopyTeamOp{{state.q, B, size_.nq}, nullptr, {motion_.q.data(), B, size_.nq}});
  const auto take = [&](const std::vector<double>& from, Mirrored<double>& to) {
    if (from.empty()) return;
    std::ranges::copy(from, to.host().begin());
    to.send();
  };
  knows_start_ = false;
  take(state.host.motions, inputs_.start);
  take(state.host.motion_velocities, inputs_.start_velocity);
  evaluate_rows(inputs_.start.span());
  const auto remember = [&](RowArrays& rows, Mirrored<double>& phi, Mirrored<double>& rate) {
    if (rows.rows() == 0) return;
    for_robots(CopyTeamOp{rows.values(), nullptr, {phi.data(), B, rows.rows()}});
    for_robots(RowRatesTeamOp{rows.jacobians(),
                              rows.input_jacobians(),
                              {state.v, B, size_.nv},
                              inputs_of(inputs_.start_velocity),
                              {rate.data(), B, rows.rows()}});
  };
  remember(rows_, start_.phi, start_.rate);
  remember(springs_.rows, start_.spring_phi, start_.spring_rate);
  knows_start_ = true;
  evaluate_start_force(state);
}

// (1 - alpha) F: gravity, load, stress, damping, springs of both forms.
void Stepper::evaluate_start_force(const StateView& state) {
  if (settings_.alpha() == 1) return;
  const Mechanics::Damped damping = mechanics_.damped();
  const bool stiff = damping.by_stiffness, damped = damping.any();
  const int B = size_.robots, springs = springs_.rows.rows();
  mechanics_.evaluate_forces(motion_.q.span(), inputs_.start.span(), stiff ? settings_.tangent() : TangentKind::none,
                             motion_.f.span(), found_.start_points.span());
  if (damped) mechanics_.damping({state.v, motion_.u.size()}, inputs_.start_velocity.span(), motion_.damping.span());
  for_robots(
      StartForceTeamOp{settings_.alpha(),
                       vectors(motion_.p),
                       vectors(motion_.f),
                       damped ? ConstVectors(vectors(motion_.damping)) : ConstVectors(),
                       {scheme_.constraint_springs(), rows_of(start_.phi), rows_of(start_.rate), rows_.jacobians()},
                       {scheme_.springs(), Vectors(start_.spring_phi.data(), B, springs),
                        Vectors(start_.spring_rate.data(), B, springs), springs_.rows.jacobians()},
                       vectors(motion_.start_force)});
}

// At the first linearisation y is where the step starts from unless inputs have moved on.
void Stepper::begin_contact(const StateView& state) {
  if (std::ranges::equal(inputs_.motions.host(), state.host.motions)) {
    contact_->begin(state.host, motion_.y.host());
    return;
  }
  Mirrored<double> start(size_.device, motion_.y.size());
  std::ranges::copy(state.host.motions, inputs_.start.host().begin());
  inputs_.start.send();
  mechanics_.outputs_elsewhere({state.q, motion_.q.size()}, inputs_.start.span(), start.span());
  start.fetch();
  wait_for_device();
  contact_->begin(state.host, start.host());
}

// At y, which is on the host.
void Stepper::linearise_contact() {
  contact_->linearise(motion_.y.host(), settings_.iterates());
  const std::span<double> force = motion_.contact_force.host();
  for (int b = 0; b < size_.robots; ++b)
    for (int k = 0; k < size_.nv; ++k) force[extent(b, size_.nv) + extent(k)] = contact_->force(b, k);
  motion_.contact_force.send();
}

}  // namespace supple

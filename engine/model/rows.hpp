#pragma once
// Constraint rows of a robot evaluated at mapped points, its actuators' and then its constraints': value phi, gradient
// d phi/dy, curvature. Row i touches the consecutive coordinates y[3 first_point] ... of its own points, so gradients
// are stored flat, one after the other. Springs are rows too, with a layout of their own.
//
// Cable (frictionless, inextensible): L = sum |x_{k+1} - x_k| over its via-points and its pull point, phi = L0 - L, d
// phi/dy = -dL/dy. Generalised force H^T lambda with lambda = tension >= 0 shortens the cable. Source: C. Duriez,
// "Control of elastic soft robots based on real-time finite element method", ICRA 2013 (J^T lambda).
// Force: phi = e . (x - x_rest) with a direction e fixed in space; H^T lambda is the force lambda e at x.
// Cavity: phi = V - V0, H^T lambda the pressure lambda on its walls (cavity.hpp). Values in m^3 and Pa.
// Constraints: ConstraintRow. Motors: that of their joint.

#include <span>
#include <vector>

#include "engine/model/joint_values.hpp"
#include "engine/model/robot.hpp"
#include "kernels/step/row_ops.hpp"

namespace supple {

struct RowLayout {
  std::vector<int> first;         // per row: first coordinate in y
  std::vector<int> count;         // per row: number of coordinates
  std::vector<int> offset = {0};  // per row: start of its gradient; one more entry at the end
  int rows() const { return static_cast<int>(first.size()); }
  int gradients() const { return offset.back(); }
  void add(int first_point, int point_count);
};

RowLayout row_layout(const Robot& robot);
RowLayout spring_layout(const Robot& robot);

/// Calls visit(i, j, a, b) per segment between its points i and j (local numbers; j = -1: the end) at positions a and
/// b.
template <class Visitor>
void for_each_segment(std::span<const double> y, int first_point, int count, const std::optional<Vec3d>& end,
                      Visitor visit) {
  const auto point = [&](int i) {
    const auto k = 3 * static_cast<std::size_t>(first_point + i);
    return Vec3d{{y[k], y[k + 1], y[k + 2]}};
  };
  for (int k = 0; k + 1 < count; ++k) visit(k, k + 1, point(k), point(k + 1));
  if (end) visit(count - 1, -1, point(count - 1), *end);
}

/// A path of straight segments through `count` mapped points from `first_point` on, to `end` where it is given: its
/// length [m], and its gradient [3 count] unless null.
double path_length(std::span<const double> y, int first_point, int count, const std::optional<Vec3d>& end,
                   double* gradient);

/// Calls visit(j, k, B) for the blocks of a stiffness S between the ends of a segment; k < 0: its end is fixed.
template <class Visitor>
void visit_segment_blocks(int j, int k, const Mat3d& S, const Visitor& visit) {
  visit(j, j, S);
  if (k < 0) return;
  visit(k, k, S);
  visit(j, k, -1.0 * S);
  visit(k, j, -1.0 * S);
}

/// Calls visit(j, k, B) for blocks that add up to d^2 L / dy_j dy_k, j and k points of the path counted from its first:
/// for a segment d of length l, e = d/l, (I - e e^T)/l at its ends and the opposite across.
template <class Visitor>
void visit_path_curvature(std::span<const double> y, int first_point, int count, const std::optional<Vec3d>& end,
                          Visitor visit) {
  for_each_segment(y, first_point, count, end, [&](int j, int k, const Vec3d& a, const Vec3d& b) {
    const Vec3d d = b - a;
    const double l = norm(d);
    if (l < shortest_segment) return;
    const Mat3d block = (1 / l) * (Mat3d::identity() - (1 / (l * l)) * outer(d, d));
    visit_segment_blocks(j, k, block, visit);
  });
}

/// The row's own part of y.
inline std::span<const double> row_coordinates(const ActuatorRow& actuator, std::span<const double> y) {
  return y.subspan(3 * static_cast<std::size_t>(actuator.first_point),
                   3 * static_cast<std::size_t>(actuator.point_count));
}

/// phi [rows] and gradients [layout.gradients()] for one robot's y.
void evaluate_rows(const Robot& robot, const RowLayout& layout, std::span<const double> y, std::span<double> phi,
                   std::span<double> gradients);
/// phi and gradient [3 point_count] of one of the constraints or springs.
double evaluate_constraint(const ConstraintRow& constraint, std::span<const double> y, double* gradient);

/// Calls visit(j, k, B) as visit_row_curvature does.
template <class Visitor>
void visit_constraint_curvature(const ConstraintRow& constraint, std::span<const double> y, double lambda,
                                Visitor visit) {
  if (lambda == 0) return;
  visit_joint_curvature(constraint, y, [&](int j, int k, const Mat3d& block) { visit(j, k, -lambda * block); });
  if (constraint.value != ConstraintRow::Value::length) return;
  visit_path_curvature(y, constraint.first_point, constraint.point_count, constraint.anchor,
                       [&](int j, int k, const Mat3d& block) { visit(j, k, constraint.side * lambda * block); });
}

/// First mapped point of a row.
inline int first_point(const Robot& robot, int row) {
  const std::size_t k = static_cast<std::size_t>(row), n = robot.actuators.size();
  return k < n ? robot.actuators[k].first_point : robot.constraints[k - n].first_point;
}

/// Curvature of row i, -lambda d^2 phi / dy^2: the geometric stiffness the row adds to K in y [N/m]. Positive
/// semidefinite for tension, zero for forces, indefinite for pressure. Calls visit(j, k, B) for 3x3 blocks B that add
/// up to it, j and k points of the row counted from its first; block (k, j) comes too. Not for a cavity's polynomial,
/// whose curvature is -lambda times its Hessian.
template <class Visitor>
void visit_row_curvature(const Robot& robot, int row, std::span<const double> y, double lambda, Visitor visit) {
  const std::size_t at = static_cast<std::size_t>(row), actuators = robot.actuators.size();
  if (lambda == 0) return;
  if (at >= actuators) {
    visit_constraint_curvature(robot.constraints[at - actuators], y, lambda, visit);
    return;
  }
  const ActuatorRow& actuator = robot.actuators[at];
  if (actuator.kind == ActuatorKind::cable)
    visit_path_curvature(y, actuator.first_point, actuator.point_count, actuator.pull_point,
                         [&](int j, int k, const Mat3d& block) { visit(j, k, lambda * block); });
  if (actuator.is_motor()) visit_constraint_curvature(actuator.joint, y, lambda, visit);
  if (actuator.kind == ActuatorKind::cavity)
    visit_cavity_curvature(row_coordinates(actuator, y), actuator.triangles,
                           [&](int j, int k, const Mat3d& block) { visit(j, k, -lambda * block); });
}

/// Whether the command is the multiplier: at rest that of a supply too, whose gas has come to its pressure.
inline bool gives_force(const ActuatorRow& actuator, bool at_rest) {
  return actuator.control == ActuatorControl::force || (at_rest && actuator.control == ActuatorControl::supply);
}

/// Target of a row under a command: lambda in [lower, upper], complementary to delta - scale target
/// (solvers/complementarity; command_scale in engine/step/constraint_law.hpp, 1 but of gas).
struct RowTarget {
  double target = 0;  // the command as a displacement
  double lower = 0, upper = 0;
  bool limited = false;  // the command was outside its range or rate and was cut
};

/// `previous` is the last command (rate limits), step the time step [s]; step = 0: no rate limit.
RowTarget row_target(const ActuatorRow& actuator, double command, double previous, double step, bool at_rest = false);

/// Whether a row with this multiplier holds the body at its target: not a force that is given or at its limit, nor a
/// one-sided constraint that is open.
bool holds(const Robot& robot, int row, double multiplier);

}  // namespace supple

#pragma once
// Constraint rows of a robot's actuators evaluated at mapped points: value phi, gradient d phi/dy, curvature. Row i
// touches the consecutive coordinates y[3 first_point] ... of its own points, so gradients are stored flat, one after
// the other.
//
// Cable (frictionless, inextensible): L = sum |x_{k+1} - x_k| over its via-points and its pull point, phi = L0 - L, d
// phi/dy = -dL/dy. Generalised force H^T lambda with lambda = tension >= 0 shortens the cable. Source: C. Duriez,
// "Control of elastic soft robots based on real-time finite element method", ICRA 2013 (J^T lambda).
// Force: phi = e . (x - x_rest) with a direction e fixed in space; H^T lambda is the force lambda e at x.

#include <span>
#include <vector>

#include "engine/model/robot.hpp"

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

// A path of straight segments through `count` mapped points from `first_point` on, to `end` where it is given: its
// length [m], and its gradient [3 count] unless null.
double path_length(std::span<const double> y, int first_point, int count, const std::optional<Vec3d>& end,
                   double* gradient);

// phi [rows] and gradients [layout.gradients()] for one robot's y.
void evaluate_rows(const Robot& robot, const RowLayout& layout, std::span<const double> y, std::span<double> phi,
                   std::span<double> gradients);

// Curvature of row i: out (count x count, row-major) = -lambda d^2 phi / dy^2, the geometric stiffness the row adds to
// K in y [N/m]; positive semidefinite for tension, zero for forces.
void row_curvature(const Robot& robot, const RowLayout& layout, int row, std::span<const double> y, double lambda,
                   std::span<double> out);

// What a command asks of the multipliers: lambda in [lower, upper], complementary to phi - target
// (solvers/complementarity).
struct RowTarget {
  double target = 0;  // m
  double lower = 0, upper = 0;
  bool limited = false;  // the command was outside its range or rate and was cut
};

// `previous` is the last command (rate limits), step the time step [s]; step = 0: no rate limit.
RowTarget row_target(const ActuatorRow& actuator, double command, double previous, double step);

}  // namespace supple

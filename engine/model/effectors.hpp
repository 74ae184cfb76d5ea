#pragma once
// Rows of a robot's effectors evaluated at mapped points, for given goals: phi_e(y) and its gradient, in metres, zero
// at the goal. Their multipliers are zero (an effector is not acted on): they only state what the inverse problem
// minimises.
//
// Goal of an effector, three numbers: position [m]; orientation, a rotation vector from rest [rad]; length, the length
// by which the path is shortened [m], or volume of the cavity [m^3], in the first number.
//
// Orientation of a region: y holds the columns of its best linear fit A over its nodes' rest positions r_i from their
// mean (so A = I at rest), R is the rotation in A = R S and theta the vector of R R_goal^T:
//   A = sum_i w_i x_i (C^-1 r_i)^T,   C = sum_i w_i r_i r_i^T,
//   d omega = R (tr(S) I - S)^-1 ax(R^T dA - dA^T R),   d theta = J(theta)^-1 d omega,
// J the left Jacobian of the rotation group.

#include <span>

#include "engine/model/rows.hpp"

namespace supple {

RowLayout effector_layout(const Robot& robot);

/// goals [3 x effectors]; phi [layout.rows()], gradients [layout.gradients()] for one robot's y. An orientation has no
/// gradient half a turn away from its goal, and none where its region is turned inside out: zero there.
void evaluate_effectors(const Robot& robot, const RowLayout& layout, std::span<const double> y,
                        std::span<const double> goals, std::span<double> phi, std::span<double> gradients);

/// Present value of an effector [3]: the goal for which its rows vanish.
void effector_state(const Robot& robot, int effector, std::span<const double> y, std::span<double> state);

/// Rotation R of a region: of its linear fit, whose columns are the three mapped vectors from `first_point` on.
Mat3d region_rotation(std::span<const double> y, int first_point);

/// Rotation matrix of a rotation vector [rad], and back (of length pi at most).
Mat3d rotation_of_vector(const Vec3d& theta);
Vec3d vector_of_rotation(const Mat3d& R);

}  // namespace supple

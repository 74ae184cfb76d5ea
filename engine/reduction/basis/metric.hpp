#pragma once
// The displacement metric of element selection: the displacement of the robot due to the force error of a reduced
// integration domain. At an equilibrium with tangent K (exact, with the cables' geometric stiffness) and the rows J
// that are held at a commanded displacement (taut cables, forces within their limits), a generalised force error f
// moves the robot by S f,
//   S = K^-1 - K^-1 J^T (J K^-1 J^T)^-1 J K^-1,
// to first order. Rows of the training matrix weighted by T with T^T T = S M S measure the residual as a relative
// displacement instead of a force; M = I / u^2 + L^T L / g^2 adds shape (modes are orthonormal, u = mean |alpha|) and
// effectors (L their rows, g their mean displacement); of states in time u and g are those of the shape, without the
// rigid modes. docs/theory/reduction.md.
//
// For a free-floating body K is singular: K + w^2 M replaces it, w [rad/s] the lowest frequency at which the body
// vibrates about rest. A force error then moves the body as a whole as far as it does in the response time of its
// softest shape.

#include <span>
#include <vector>

#include "engine/model/reduced_model.hpp"

namespace supple {

// T of every state, [count][modes][modes] row-major [1/N]. all: a model with every element; states [count][modes
// + motions], alpha and c; multipliers [count][rows], those of the full-order states [N]. Where S is far larger than at
// most states (next to a fold) it is scaled down to `largest_compliance` times the median norm, so that one state
// does not rule the selection.
inline constexpr double largest_compliance = 10;
// parameters: [count][Robot::parameters], or empty: those of the model.
std::vector<double> displacement_metric(const ReducedModel& all, std::span<const double> states,
                                        std::span<const double> multipliers, int count,
                                        std::span<const double> parameters = {});

// A row of J and the compliance [m/N] on its diagonal.
struct HeldRow {
  int row;
  double compliance;
};
// H [rows][any number of coordinates], multipliers [rows].
std::vector<HeldRow> held_rows(const Robot& robot, std::span<const double> H, std::span<const double> multipliers);

// w^2 [1/s^2] of a free-floating body.
double lowest_frequency_squared(const ReducedModel& all);

}  // namespace supple

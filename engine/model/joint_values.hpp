#pragma once
// Rows of joints between bodies of an assembly (ConstraintRow::Value::slide, aligned, angle), over points and over
// vectors that turn with a body. Gradients and curvatures are exact for vectors of any length; values are those of a
// joint where each body's vectors are unit vectors across each other.
//   slide    s = u . (b - a)                                 y = [u, a, b]
//   aligned  phi = u . v, or (u . v - w . x)/2               y = [u, v] or [u, v, w, x]
//   angle    atan2(u . (a x b), a . b) of b from a about u   y = [u, a, b]

#include <array>
#include <span>

#include "engine/model/pose.hpp"
#include "engine/model/robot.hpp"
#include "kernels/step/row_ops.hpp"

namespace supple {

inline bool is_joint_value(const ConstraintRow& row) {
  return row.value == ConstraintRow::Value::slide || row.value == ConstraintRow::Value::aligned ||
         row.value == ConstraintRow::Value::angle;
}

/// phi and its gradient [3 point_count].
double joint_value(const ConstraintRow& row, std::span<const double> y, double* gradient);

/// d^2 angle / dy_j dy_k of the three vectors.
std::array<std::array<Mat3d, 3>, 3> angle_curvature(const Vec3d& u, const Vec3d& a, const Vec3d& b);

/// Calls visit(j, k, B) for blocks that add up to d^2 phi / dy_j dy_k.
template <class Visitor>
void visit_joint_curvature(const ConstraintRow& row, std::span<const double> y, Visitor visit) {
  const Mat3d one = Mat3d::identity();
  const auto couple = [&](int j, int k, double factor) {
    visit(j, k, factor * one);
    visit(k, j, factor * one);
  };
  switch (row.value) {
    case ConstraintRow::Value::slide:
      couple(0, 2, row.side);
      couple(0, 1, -row.side);
      return;
    case ConstraintRow::Value::aligned:
      couple(0, 1, row.point_count == 4 ? 0.5 : 1);
      if (row.point_count == 4) couple(2, 3, -0.5);
      return;
    case ConstraintRow::Value::angle: {
      const auto at = [&](int i) { return point_at(y.data(), row.first_point + i); };
      const auto blocks = angle_curvature(at(0), at(1), at(2));
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k)
          visit(j, k, row.side * blocks[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)]);
      return;
    }
    default:
      return;
  }
}

}  // namespace supple

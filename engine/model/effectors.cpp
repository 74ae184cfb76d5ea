#include "engine/model/effectors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/polar.hpp"

namespace supple {

namespace {

Vec3d point(std::span<const double> y, int i) {
  const auto k = static_cast<std::size_t>(3 * i);
  return {{y[k], y[k + 1], y[k + 2]}};
}

Vec3d goal_of(std::span<const double> goals, std::size_t effector) {
  return {{goals[3 * effector], goals[3 * effector + 1], goals[3 * effector + 2]}};
}

// (M32 - M23, M13 - M31, M21 - M12)
Vec3d axial(const Mat3d& m) {
  return {{m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)}};
}

Mat3d cross_matrix(const Vec3d& v) {
  return {{0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0}};
}

// The region's linear fit: its mapped vectors are the columns.
Mat3d fit_at(std::span<const double> y, int k) {
  return from_columns(point(y, k), point(y, k + 1), point(y, k + 2));
}

// J(theta)^-1 = I - [theta]/2 + (1/t^2 - (1 + cos t)/(2 t sin t)) [theta]^2
Mat3d inverse_left_jacobian(const Vec3d& theta) {
  const double t = norm(theta);
  const Mat3d cross = cross_matrix(theta);
  const double c = t < 1e-3 ? 1.0 / 12 : 1 / (t * t) - (1 + std::cos(t)) / (2 * t * std::sin(t));
  return Mat3d::identity() - 0.5 * cross + c * (cross * cross);
}

void orientation_rows(const Effector& effector, std::span<const double> y, const Vec3d& goal, double* phi, double* g) {
  const int rows = effector.rows();
  std::fill(g, g + 9 * rows, 0.0);
  const Mat3d A = fit_at(y, effector.first_point), R = polar_rotation(A);
  const Vec3d theta = vector_of_rotation(R * transpose(rotation_of_vector(goal)));
  for (int i = 0; i < rows; ++i) phi[i] = effector.lever * dot(effector.directions[static_cast<std::size_t>(i)], theta);
  const Mat3d S = transpose(R) * A, T = trace(S) * Mat3d::identity() - S;
  const double size = std::sqrt(dot(T, T));
  if (!(determinant(T) > 1e-9 * size * size * size) || norm(theta) > 0.999 * std::numbers::pi) return;
  // e . d theta = (J^-T e) . R T^-1 ax(R^T dA - dA^T R) = b . ax(R^T dA - dA^T R), b = T^-T R^T J^-T e;
  // ax(M - M^T) . b = sum_ij M_ij [b]_ij, so the gradient with respect to A is R [b].
  const Mat3d inverse = (1 / determinant(T)) * cofactor(T);  // T^-T
  const Mat3d left = inverse * transpose(R) * transpose(inverse_left_jacobian(theta));
  for (int i = 0; i < rows; ++i) {
    const Vec3d b = left * effector.directions[static_cast<std::size_t>(i)];
    const Mat3d gradient = effector.lever * (R * cross_matrix(b));
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) g[9 * i + 3 * c + r] = gradient(r, c);
  }
}

double volume_of(const Effector& effector, std::span<const double> y, std::span<double> gradient) {
  const auto points = y.subspan(extent(3, effector.first_point), extent(3, effector.point_count));
  return effector.rest_volume + volume_gained(effector, points, gradient);
}

}  // namespace

Mat3d region_rotation(std::span<const double> y, int first_point) {
  return polar_rotation(fit_at(y, first_point));
}

Mat3d rotation_of_vector(const Vec3d& theta) {
  const double t = norm(theta);
  const Mat3d cross = cross_matrix(theta);
  const double a = t < 1e-4 ? 1 - t * t / 6 : std::sin(t) / t,
               b = t < 1e-4 ? 0.5 - t * t / 24 : (1 - std::cos(t)) / (t * t);
  return Mat3d::identity() + a * cross + b * (cross * cross);
}

Vec3d vector_of_rotation(const Mat3d& R) {
  const Vec3d a = axial(R);  // 2 sin(t) axis
  const double s = norm(a) / 2, c = (R(0, 0) + R(1, 1) + R(2, 2) - 1) / 2, t = std::atan2(s, c);
  if (c > 0) return (s > 1e-6 ? t / (2 * s) : 0.5 + s * s / 12) * a;
  // Towards half a turn sin(t) loses the axis e, and (R + R^T)/2 - cos(t) I = (1 - cos(t)) e e^T keeps all but its
  // sign.
  int k = 0;
  for (int i = 1; i < 3; ++i)
    if (R(i, i) > R(k, k)) k = i;
  Vec3d e;
  for (int i = 0; i < 3; ++i) e[i] = (R(i, k) + R(k, i)) / 2 - (i == k ? c : 0);
  return (dot(e, a) < 0 ? -t : t) / norm(e) * e;
}

RowLayout effector_layout(const Robot& robot) {
  RowLayout layout;
  for (const Effector& effector : robot.effectors)
    for (int i = 0; i < effector.rows(); ++i) {
      if (effector.kind == EffectorKind::position)
        layout.add(effector.point, 1);
      else
        layout.add(effector.first_point, effector.point_count);
    }
  return layout;
}

void evaluate_effectors(const Robot& robot, const RowLayout& layout, std::span<const double> y,
                        std::span<const double> goals, std::span<double> phi, std::span<double> gradients) {
  SUPPLE_EXPECT(goals.size() == 3 * robot.effectors.size() && static_cast<int>(phi.size()) == layout.rows());
  std::size_t row = 0;
  for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
    const Effector& effector = robot.effectors[e];
    const Vec3d goal = goal_of(goals, e);
    double* g = gradients.data() + layout.offset[row];
    switch (effector.kind) {
      case EffectorKind::position: {
        const Vec3d shift = point(y, effector.point) - goal;
        for (std::size_t i = 0; i < effector.directions.size(); ++i) {
          phi[row + i] = dot(effector.directions[i], shift);
          for (int k = 0; k < 3; ++k) g[3 * i + static_cast<std::size_t>(k)] = effector.directions[i][k];
        }
        break;
      }
      case EffectorKind::orientation:
        orientation_rows(effector, y, goal, phi.data() + row, g);
        break;
      case EffectorKind::length:
        phi[row] = effector.rest_length -
                   path_length(y, effector.first_point, effector.point_count, effector.pull_point, g) - goal[0];
        for (int k = 0; k < layout.count[row]; ++k) g[k] = -g[k];
        break;
      case EffectorKind::volume:
        phi[row] = (volume_of(effector, y, {g, extent(layout.count[row])}) - goal[0]) / effector.rest_area;
        for (int k = 0; k < layout.count[row]; ++k) g[k] /= effector.rest_area;
        break;
    }
    row += static_cast<std::size_t>(effector.rows());
  }
}

void effector_state(const Robot& robot, int effector, std::span<const double> y, std::span<double> state) {
  const Effector& e = robot.effectors[static_cast<std::size_t>(effector)];
  Vec3d value{{0, 0, 0}};
  switch (e.kind) {
    case EffectorKind::position:
      value = point(y, e.point);
      break;
    case EffectorKind::orientation:
      value = vector_of_rotation(region_rotation(y, e.first_point));
      break;
    case EffectorKind::length:
      value[0] = e.rest_length - path_length(y, e.first_point, e.point_count, e.pull_point, nullptr);
      break;
    case EffectorKind::volume:
      value[0] = volume_of(e, y, {});
      break;
  }
  for (int k = 0; k < 3; ++k) state[static_cast<std::size_t>(k)] = value[k];
}

}  // namespace supple

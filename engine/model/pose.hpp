#pragma once
// Rigid frames: where one is, and how it moves. x_world = R x_own + t; seven coordinates q = (t, unit quaternion
// w, x, y, z), six velocities (dt/dt in the world, Omega in the frame's own axes), so that
//   q (+) dq = (t + dt, R exp(dtheta)).

#include <algorithm>
#include <cmath>

#include "kernels/math/small.hpp"

namespace supple {

inline constexpr int rigid_positions = 7, rigid_velocities = 6;

struct Pose {
  Vec3d position{{0, 0, 0}};
  Mat3d rotation = Mat3d::identity();
  Vec3d operator()(const Vec3d& x) const { return rotation * x + position; }
  // First `inner`, then this one.
  Pose operator*(const Pose& inner) const { return {(*this)(inner.position), rotation * inner.rotation}; }
};

// a x b = skew(a) b.
inline Mat3d skew(const Vec3d& a) {
  return {{0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0}};
}

struct Quaternion {
  double w = 1;
  Vec3d v{{0, 0, 0}};
  Quaternion operator*(const Quaternion& b) const { return {w * b.w - dot(v, b.v), w * b.v + b.w * v + cross(v, b.v)}; }
};

// exp: of a rotation vector [rad].
inline Quaternion quaternion_exp(const Vec3d& theta) {
  const double angle = norm(theta);
  // sin(a/2)/a; the series is exact to rounding below 1e-4.
  const double s = angle < 1e-4 ? 0.5 - angle * angle / 48 : std::sin(angle / 2) / angle;
  return {std::cos(angle / 2), s * theta};
}

// The rotation vector of a unit quaternion, at most pi long.
inline Vec3d quaternion_log(const Quaternion& q) {
  const double sign = q.w < 0 ? -1 : 1, s = norm(q.v), angle = 2 * std::atan2(s, std::abs(q.w));
  return (sign * (s < 1e-6 ? 2 + s * s / 3 : angle / s)) * q.v;
}

inline Mat3d rotation_of(const Quaternion& q) {
  const Mat3d K = skew(q.v);
  return Mat3d::identity() + 2 * q.w * K + 2.0 * (K * K);
}

inline Mat3d rotation_exp(const Vec3d& theta) {
  return rotation_of(quaternion_exp(theta));
}

// Of an orthonormal matrix of determinant one: from its largest diagonal, so that nothing cancels.
inline Quaternion quaternion_of(const Mat3d& R) {
  const double t[4] = {1 + R(0, 0) + R(1, 1) + R(2, 2), 1 + R(0, 0) - R(1, 1) - R(2, 2),
                       1 - R(0, 0) + R(1, 1) - R(2, 2), 1 - R(0, 0) - R(1, 1) + R(2, 2)};
  const auto k = static_cast<int>(std::max_element(t, t + 4) - t);
  const Vec3d a{{R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)}};
  const Vec3d b{{R(2, 1) + R(1, 2), R(0, 2) + R(2, 0), R(1, 0) + R(0, 1)}};
  const double s = 0.5 / std::sqrt(t[k]);
  if (k == 0) return {s * t[0], s * a};
  if (k == 1) return {s * a[0], {{s * t[1], s * b[2], s * b[1]}}};
  if (k == 2) return {s * a[1], {{s * b[2], s * t[2], s * b[0]}}};
  return {s * a[2], {{s * b[1], s * b[0], s * t[3]}}};
}

inline Pose pose_of(const double* q) {
  return {{{q[0], q[1], q[2]}}, rotation_of({q[3], {{q[4], q[5], q[6]}}})};
}

inline void write_pose(const Vec3d& position, const Quaternion& rotation, double* q) {
  for (int k = 0; k < 3; ++k) {
    q[k] = position[k];
    q[4 + k] = rotation.v[k];
  }
  q[3] = rotation.w;
}

// q <- q (+) dq, of unit length again.
inline void integrate_rigid(double* q, const double* dq) {
  const Quaternion end = Quaternion{q[3], {{q[4], q[5], q[6]}}} * quaternion_exp({{dq[3], dq[4], dq[5]}});
  const double scale = 1 / std::sqrt(end.w * end.w + dot(end.v, end.v));
  write_pose({{q[0] + dq[0], q[1] + dq[1], q[2] + dq[2]}}, {scale * end.w, scale * end.v}, q);
}

// u <- the increment that does what u and then du do: q (+) u = (q (+) u) (+) du.
inline void compose_rigid(double* u, const double* du) {
  const Vec3d theta = quaternion_log(quaternion_exp({{u[3], u[4], u[5]}}) * quaternion_exp({{du[3], du[4], du[5]}}));
  for (int k = 0; k < 3; ++k) {
    u[k] += du[k];
    u[3 + k] = theta[k];
  }
}

// Mass, centre of mass, inertia about it in the frame's axes.
struct RigidInertia {
  double mass = 0;                // kg
  Vec3d centre{{0, 0, 0}};        // m
  Mat3d inertia = Mat3d::zero();  // kg m^2
};

// Inertia of a point mass about a point at distance d from it.
inline Mat3d point_inertia(double mass, const Vec3d& d) {
  return mass * (dot(d, d) * Mat3d::identity() - outer(d, d));
}

inline RigidInertia operator+(const RigidInertia& a, const RigidInertia& b) {
  const double mass = a.mass + b.mass;
  if (mass == 0) return {};
  const Vec3d centre = (1 / mass) * (a.mass * a.centre + b.mass * b.centre);
  return {mass, centre,
          a.inertia + b.inertia + point_inertia(a.mass, a.centre - centre) + point_inertia(b.mass, b.centre - centre)};
}

// The same body seen from a frame in which its own has this pose.
inline RigidInertia seen_from(const Pose& pose, const RigidInertia& body) {
  return {body.mass, pose(body.centre), pose.rotation * body.inertia * transpose(pose.rotation)};
}

}  // namespace supple

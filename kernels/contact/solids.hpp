#pragma once
// Distances to solids by formula, for host and device: what engine/obstacles/obstacle.hpp offers but for meshes. Sizes in
// metres; shapes and the choices made on medial axes are described there.

#include "kernels/contact/proximity.hpp"

// In the shape's own frame, with e_z its axis, rho = |(x, y)|, e_r = (x, y, 0) / rho, e_t = e_z x e_r:
// clang-format off
//   plane     gap = z, n = e_z, dn/dx = 0
//   sphere    gap = |x| - r, n = x / |x|, dn/dx = (1 - n n^T) / |x|
//   capsule   d = x - c, c on the segment: gap = |d| - r, n = d / |d|, dn/dx = (1 - n n^T) / |d|, beside the segment
//             (1 - n n^T - e_z e_z^T) / |d|
//   box       q_k = |x_k| - h_k; outside p = max(q, 0), gap = |p|, n_k = sgn(x_k) p_k / |p|, dn/dx = (1_p - n n^T) / |p|
//             with 1_p = 1 on the axes with p_k > 0; inside gap = max q_k, n = sgn(x_k) e_k
//   cylinder  r its radius, u = 1; a = u (rho - r), b = |z| - l/2; beside a rim (a, b > 0) gap = sqrt(a^2 + b^2),
//             n = (a u e_r + b sgn(z) e_z) / gap, dn/dx = (e_r e_r^T + e_z e_z^T - n n^T + u a/rho e_t e_t^T) / gap;
//             else a >= b: gap = a, n = u e_r, dn/dx = u e_t e_t^T / rho; else gap = b, n = sgn(z) e_z, dn/dx = 0
//   tube      the same with the nearer side: r the outer radius, or r the inner one and u = -1
// clang-format on

namespace supple {

struct Solid {
  enum class Shape : int { plane, sphere, capsule, box, cylinder, tube, mesh };
  Shape shape = Shape::plane;
  double radius = 0, length = 0, thickness = 0;
  Vec3d half{{0, 0, 0}};  // half the edges of a box
};

namespace solids {

inline constexpr double tiny = 1e-100;              // m: no direction is read from less
inline constexpr double largest_coordinate = 1e30;  // as in check_mesh: no square overflows below it

SUPPLE_INLINE Vec3d unit_x() {
  return {{1, 0, 0}};
}
SUPPLE_INLINE Vec3d unit_z() {
  return {{0, 0, 1}};
}

SUPPLE_HD inline double sign(double a) {
  return a < 0 ? -1 : 1;
}

// Around the point c (the nearest of a sphere's centre or a capsule's segment): d = x - c.
SUPPLE_HD inline Proximity around(const Vec3d& c, const Vec3d& d, double radius, const Vec3d& otherwise) {
  Proximity result;
  const double distance = norm(d);
  result.feature = Feature::face;
  result.index = 0;
  result.gap = distance - radius;
  result.normal = distance > tiny ? (1 / distance) * d : otherwise;
  result.nearest = c + radius * result.normal;
  if (distance > tiny) result.curvature = (1 / distance) * across(result.normal);
  return result;
}

SUPPLE_HD inline Proximity to_plane(const Vec3d& x) {
  Proximity result;
  result.feature = Feature::face;
  result.index = 0;
  result.gap = x[2];
  result.nearest = {{x[0], x[1], 0}};
  return result;
}

SUPPLE_HD inline Proximity to_capsule(const Vec3d& x, double radius, double length) {
  const Vec3d c{{0, 0, x[2] < -length / 2 ? -length / 2 : x[2] > length / 2 ? length / 2 : x[2]}};
  Proximity result = around(c, x - c, radius, unit_x());
  if (x[2] == c[2]) {
    if (norm(x - c) > tiny) result.curvature = (1 / norm(x - c)) * across(result.normal, unit_z());
  } else {
    result.index = x[2] < 0 ? 1 : 2;
  }
  return result;
}

SUPPLE_HD inline Proximity to_box(const Vec3d& x, const Vec3d& half) {
  Proximity result;
  Vec3d p, q;
  for (int k = 0; k < 3; ++k) {
    q[k] = std::abs(x[k]) - half[k];
    p[k] = q[k] > 0 ? q[k] : 0;
  }
  const double outside = norm(p);
  result.nearest = x;
  bool beyond[3] = {};  // the axes along which the nearest point is on a face
  if (outside > tiny) {
    Mat3d active = Mat3d::zero();
    int axes = 0;
    for (int k = 0; k < 3; ++k) {
      beyond[k] = p[k] > 0;
      active(k, k) = beyond[k];
      axes += beyond[k];
      result.normal[k] = sign(x[k]) * (p[k] / outside);
    }
    result.gap = outside;
    if (axes > 1) result.curvature = (1 / outside) * (active - outer(result.normal, result.normal));
    result.feature = axes == 1 ? Feature::face : axes == 2 ? Feature::edge : Feature::corner;
  } else {
    const int k = q[0] >= q[1] && q[0] >= q[2] ? 0 : q[1] >= q[2] ? 1 : 2;
    beyond[k] = true;
    result.normal = {{0, 0, 0}};
    result.normal[k] = sign(x[k]);
    result.gap = q[k];
    result.feature = Feature::face;
  }
  result.index = 0;
  for (int k = 0; k < 3; ++k) {
    if (beyond[k]) result.nearest[k] = sign(x[k]) * half[k];
    result.index = 3 * result.index + (beyond[k] ? (x[k] < 0 ? 0 : 2) : 1);
  }
  return result;
}

// bore: radius of the hole along the axis; -infinity without one.
SUPPLE_HD inline Proximity to_cylinder(const Vec3d& x, double bore, double radius, double length) {
  Proximity result;
  const double rho = norm(Vec3d{{x[0], x[1], 0}});
  const Vec3d e_r = rho > tiny ? Vec3d{{x[0] / rho, x[1] / rho, 0}} : unit_x();
  const Vec3d e_t{{-e_r[1], e_r[0], 0}};
  const bool inner = bore - rho > rho - radius;
  const double r = inner ? bore : radius, u = inner ? -1 : 1;
  const double a = u * (rho - r), b = std::abs(x[2]) - length / 2, s = sign(x[2]);
  const Vec3d cap{{0, 0, s * length / 2}};
  const double rim = norm(Vec3d{{a, b, 0}});
  const int side = inner ? 3 : 0, end = x[2] < 0 ? 1 : 2;
  if (a > 0 && b > 0 && rim > tiny) {
    result.gap = rim;
    result.normal = (u * a / rim) * e_r + (s * b / rim) * unit_z();
    // e_r e_r^T + e_z e_z^T = 1 - e_t e_t^T
    result.curvature = (1 / rim) * (across(result.normal, e_t) + (rho > tiny ? u * a / rho : 0) * outer(e_t, e_t));
    result.nearest = r * e_r + cap;
    result.feature = Feature::edge;
    result.index = side + end;
  } else if (a >= b) {
    result.gap = a;
    result.normal = u * e_r;
    if (rho > tiny) result.curvature = (u / rho) * outer(e_t, e_t);
    result.nearest = r * e_r + x[2] * unit_z();
    result.feature = Feature::face;
    result.index = side;
  } else {
    result.gap = b;
    result.normal = s * unit_z();
    result.nearest = Vec3d{{x[0], x[1], 0}} + cap;
    result.feature = Feature::face;
    result.index = end;
  }
  return result;
}

SUPPLE_HD inline bool is_usable(const Vec3d& x) {
  for (int k = 0; k < 3; ++k)
    if (!(std::abs(x[k]) <= largest_coordinate)) return false;
  return true;
}

}  // namespace solids

// In the solid's own frame, seen from outside. Not for meshes.
SUPPLE_HD inline Proximity proximity_of(const Solid& solid, const Vec3d& x) {
  switch (solid.shape) {
    case Solid::Shape::sphere:
      return solids::around({{0, 0, 0}}, x, solid.radius, solids::unit_z());
    case Solid::Shape::capsule:
      return solids::to_capsule(x, solid.radius, solid.length);
    case Solid::Shape::box:
      return solids::to_box(x, solid.half);
    case Solid::Shape::cylinder:
      return solids::to_cylinder(x, -HUGE_VAL, solid.radius, solid.length);
    case Solid::Shape::tube:
      return solids::to_cylinder(x, solid.radius, solid.radius + solid.thickness, solid.length);
    default:
      return solids::to_plane(x);
  }
}

// Turned round where the free space is inside.
SUPPLE_HD inline void turn_inside(Proximity& near) {
  near.gap = -near.gap;
  near.normal = -1.0 * near.normal;
  near.curvature = -1.0 * near.curvature;
}

// A solid in the world: x_world = rotation x_own + position.
struct PlacedSolid {
  Solid solid;
  bool inside = false;
  Mat3d rotation{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  Vec3d position{{0, 0, 0}};
};

// Gap (NaN for a point without usable coordinates) and normal of Obstacle::at() at any distance.
struct GapAndNormal {
  double gap;
  Vec3d normal;
};
SUPPLE_HD inline GapAndNormal gap_at(const PlacedSolid& placed, const Vec3d& x) {
  const Vec3d own = transpose(placed.rotation) * (x - placed.position);
  if (!solids::is_usable(x) || !solids::is_usable(own)) return {HUGE_VAL - HUGE_VAL, {{0, 0, 1}}};
  Proximity near = proximity_of(placed.solid, own);
  if (placed.inside) turn_inside(near);
  return {near.gap, placed.rotation * near.normal};
}

}  // namespace supple

#include "engine/contact/obstacle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"

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
namespace {

const Vec3d e_x{{1, 0, 0}}, e_z{{0, 0, 1}};
constexpr double tiny = 1e-100;              // m: no direction is read from less
constexpr double largest_coordinate = 1e30;  // as in check_mesh: no square overflows below it

double sign(double a) {
  return a < 0 ? -1 : 1;
}

double checked(double value, const char* what, bool may_be_zero = false) {
  if (!(std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) || value > largest_coordinate)
    throw InputError(fmt::format("the {} of an obstacle is {} m (it must be {})", what, value,
                                 may_be_zero ? "0 or more" : "positive"),
                     fmt::format("give a {} in metres or with its unit", what));
  return value;
}

// Around the point c (the nearest of a sphere's centre or a capsule's segment): d = x - c.
Proximity around(const Vec3d& c, const Vec3d& d, double radius, const Vec3d& otherwise) {
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

Proximity to_plane(const Vec3d& x) {
  Proximity result;
  result.feature = Feature::face;
  result.index = 0;
  result.gap = x[2];
  result.nearest = {{x[0], x[1], 0}};
  return result;
}

Proximity to_capsule(const Vec3d& x, double radius, double length) {
  const Vec3d c{{0, 0, std::clamp(x[2], -length / 2, length / 2)}};
  Proximity result = around(c, x - c, radius, e_x);
  if (x[2] == c[2]) {
    if (norm(x - c) > tiny) result.curvature = (1 / norm(x - c)) * across(result.normal, e_z);
  } else {
    result.index = x[2] < 0 ? 1 : 2;
  }
  return result;
}

Proximity to_box(const Vec3d& x, const Vec3d& half) {
  Proximity result;
  Vec3d p, q;
  for (int k = 0; k < 3; ++k) {
    q[k] = std::abs(x[k]) - half[k];
    p[k] = std::max(q[k], 0.0);
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
Proximity to_cylinder(const Vec3d& x, double bore, double radius, double length) {
  Proximity result;
  const double rho = norm(Vec3d{{x[0], x[1], 0}});
  const Vec3d e_r = rho > tiny ? Vec3d{{x[0] / rho, x[1] / rho, 0}} : e_x;
  const Vec3d e_t{{-e_r[1], e_r[0], 0}};
  const bool inner = bore - rho > rho - radius;
  const double r = inner ? bore : radius, u = inner ? -1 : 1;
  const double a = u * (rho - r), b = std::abs(x[2]) - length / 2, s = sign(x[2]);
  const Vec3d cap{{0, 0, s * length / 2}};
  const double rim = norm(Vec3d{{a, b, 0}});
  const int side = inner ? 3 : 0, end = x[2] < 0 ? 1 : 2;
  if (a > 0 && b > 0 && rim > tiny) {
    result.gap = rim;
    result.normal = (u * a / rim) * e_r + (s * b / rim) * e_z;
    // e_r e_r^T + e_z e_z^T = 1 - e_t e_t^T
    result.curvature = (1 / rim) * (across(result.normal, e_t) + (rho > tiny ? u * a / rho : 0) * outer(e_t, e_t));
    result.nearest = r * e_r + cap;
    result.feature = Feature::edge;
    result.index = side + end;
  } else if (a >= b) {
    result.gap = a;
    result.normal = u * e_r;
    if (rho > tiny) result.curvature = (u / rho) * outer(e_t, e_t);
    result.nearest = r * e_r + x[2] * e_z;
    result.feature = Feature::face;
    result.index = side;
  } else {
    result.gap = b;
    result.normal = s * e_z;
    result.nearest = Vec3d{{x[0], x[1], 0}} + cap;
    result.feature = Feature::face;
    result.index = end;
  }
  return result;
}

bool is_usable(const Vec3d& x) {
  for (int k = 0; k < 3; ++k)
    if (!(std::abs(x[k]) <= largest_coordinate)) return false;
  return true;
}

}  // namespace

Obstacle Obstacle::plane() {
  return {Shape::plane, Side::outside};
}

Obstacle Obstacle::sphere(double radius, Side side) {
  Obstacle sphere(Shape::sphere, side);
  sphere.radius_ = checked(radius, "radius");
  sphere.enclose({{0, 0, 0}}, radius);
  return sphere;
}

Obstacle Obstacle::capsule(double radius, double length, Side side) {
  Obstacle capsule(Shape::capsule, side);
  capsule.radius_ = checked(radius, "radius");
  capsule.length_ = checked(length, "length", true);
  capsule.enclose({{0, 0, 0}}, radius + length / 2);
  return capsule;
}

Obstacle Obstacle::box(const Vec3d& size, Side side) {
  Obstacle box(Shape::box, side);
  for (int k = 0; k < 3; ++k) box.half_[k] = checked(size[k], "size") / 2;
  box.enclose({{0, 0, 0}}, norm(box.half_));
  return box;
}

Obstacle Obstacle::cylinder(double radius, double length, Side side) {
  Obstacle cylinder(Shape::cylinder, side);
  cylinder.radius_ = checked(radius, "radius");
  cylinder.length_ = checked(length, "length");
  cylinder.enclose({{0, 0, 0}}, norm(Vec3d{{radius, length / 2, 0}}));
  return cylinder;
}

Obstacle Obstacle::tube(double radius, double thickness, double length) {
  Obstacle tube(Shape::tube, Side::outside);
  tube.radius_ = checked(radius, "radius");
  tube.thickness_ = checked(thickness, "thickness");
  tube.length_ = checked(length, "length");
  tube.enclose({{0, 0, 0}}, norm(Vec3d{{radius + thickness, length / 2, 0}}));
  return tube;
}

Obstacle Obstacle::mesh(Surface surface, Side side) {
  Obstacle mesh(Shape::mesh, side);
  mesh.distance_ = std::make_shared<const SurfaceDistance>(std::move(surface));
  const BoundingBox& box = mesh.distance_->box();
  mesh.enclose(0.5 * (box.lower + box.upper), norm(box.upper - box.lower) / 2);
  return mesh;
}

// The distance changes by no more than the point moves: what it is at the centre bounds it all around.
void Obstacle::enclose(const Vec3d& centre, double outer) {
  centre_ = centre;
  outer_ = outer;
  inner_ = std::max(0.0, -in_own_frame(centre).gap);
}

Proximity Obstacle::in_own_frame(const Vec3d& x) const {
  switch (shape_) {
    case Shape::plane:
      return to_plane(x);
    case Shape::sphere:
      return around({{0, 0, 0}}, x, radius_, e_z);
    case Shape::capsule:
      return to_capsule(x, radius_, length_);
    case Shape::box:
      return to_box(x, half_);
    case Shape::cylinder:
      return to_cylinder(x, -std::numeric_limits<double>::infinity(), radius_, length_);
    case Shape::tube:
      return to_cylinder(x, radius_, radius_ + thickness_, length_);
    case Shape::mesh:
      break;
  }
  return distance_->at(x);
}

Proximity Obstacle::at(const ObstaclePose& pose, const Vec3d& x, double reach) const {
  const Vec3d own = transpose(pose.rotation) * (x - pose.position);
  if (!is_usable(x) || !is_usable(own)) {
    Proximity unusable;
    unusable.gap = std::numeric_limits<double>::quiet_NaN();
    return unusable;
  }
  // What is surely free. A little less of it, so that rounding never hides a point that is just within reach.
  const double from_centre = norm(own - centre_);
  const double free_space = side_ == Side::inside ? inner_ - from_centre
                            : distance_           ? distance_to_box(distance_->box(), own)
                                                  : from_centre - outer_;
  if (free_space - 1e-12 * (from_centre + inner_) > std::max(reach, 0.0)) return {};
  Proximity result = in_own_frame(own);
  if (side_ == Side::inside) {
    result.gap = -result.gap;
    result.normal = -1.0 * result.normal;
    result.curvature = -1.0 * result.curvature;
  }
  if (result.gap > reach) return {};
  result.normal = pose.rotation * result.normal;
  result.nearest = pose.rotation * result.nearest + pose.position;
  result.curvature = pose.rotation * result.curvature * transpose(pose.rotation);
  return result;
}

int Obstacle::at_all(const ObstaclePose& pose, std::span<const Vec3d> points, double reach,
                     std::span<Proximity> out) const {
  SUPPLE_EXPECT(points.size() == out.size());
  int near = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    out[i] = at(pose, points[i], reach);
    near += out[i].feature != Feature::none ? 1 : 0;
  }
  return near;
}

}  // namespace supple

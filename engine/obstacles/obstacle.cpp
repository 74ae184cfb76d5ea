#include "engine/obstacles/obstacle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

using solids::is_usable, solids::largest_coordinate;

double checked(double value, const char* what, bool may_be_zero = false) {
  if (!(std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) || value > largest_coordinate)
    throw InputError(fmt::format("the {} of an obstacle is {} m (it must be {})", what, value,
                                 may_be_zero ? "0 or more" : "positive"),
                     fmt::format("give a {} in metres or with its unit", what));
  return value;
}

}  // namespace

Obstacle Obstacle::plane() {
  return {Shape::plane, Side::outside};
}

Obstacle Obstacle::sphere(double radius, Side side) {
  Obstacle sphere(Shape::sphere, side);
  sphere.solid_.radius = checked(radius, "radius");
  sphere.enclose({{0, 0, 0}}, radius);
  return sphere;
}

Obstacle Obstacle::capsule(double radius, double length, Side side) {
  Obstacle capsule(Shape::capsule, side);
  capsule.solid_.radius = checked(radius, "radius");
  capsule.solid_.length = checked(length, "length", true);
  capsule.enclose({{0, 0, 0}}, radius + length / 2);
  return capsule;
}

Obstacle Obstacle::box(const Vec3d& size, Side side) {
  Obstacle box(Shape::box, side);
  for (int k = 0; k < 3; ++k) box.solid_.half[k] = checked(size[k], "size") / 2;
  box.enclose({{0, 0, 0}}, norm(box.solid_.half));
  return box;
}

Obstacle Obstacle::cylinder(double radius, double length, Side side) {
  Obstacle cylinder(Shape::cylinder, side);
  cylinder.solid_.radius = checked(radius, "radius");
  cylinder.solid_.length = checked(length, "length");
  cylinder.enclose({{0, 0, 0}}, norm(Vec3d{{radius, length / 2, 0}}));
  return cylinder;
}

Obstacle Obstacle::tube(double radius, double thickness, double length) {
  Obstacle tube(Shape::tube, Side::outside);
  tube.solid_.radius = checked(radius, "radius");
  tube.solid_.thickness = checked(thickness, "thickness");
  tube.solid_.length = checked(length, "length");
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
  return distance_ ? distance_->at(x) : proximity_of(solid_, x);
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
  if (side_ == Side::inside) turn_inside(result);
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

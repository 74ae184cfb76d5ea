#pragma once
// Obstacles as signed distances: pure geometry, in metres. The surface of a solid, seen from outside or, turned round,
// from inside: a room is the inside of a box, a closed pipe that of a cylinder or a capsule. Formulae and symbols:
// kernels/contact/solids.hpp.
//
// In its own frame a shape is centred on the origin; the axis of capsule, cylinder and tube is z.
//   plane     the solid is z <= 0
//   sphere    radius
//   capsule   radius around a segment of `length` (length + 2 radius over all)
//   box       edge lengths `size`
//   cylinder  radius, `length` over all, with flat caps
//   tube      wall of `thickness` around a bore of radius `radius`, `length` over all, open at both ends; has no inside
//   mesh      closed triangulated surface (surface_distance.hpp)
//
// gap is the distance, negative inside the solid, exact on both sides; its gradient `normal` has unit length
// everywhere. Outside a convex solid both are continuous. Inside, and on the axis of a tube's bore, the nearest point
// jumps on the medial axis; there, and where no direction is nearest, a fixed choice is made and curvature that would
// be infinite is 0: at a sphere's centre the normal is +z, on the axis of capsule and cylinder +x, on that of a tube
// the nearest point is on the side of +x, in a box the first of the equal axes (and its upper face in the middle), in a
// cylinder and a tube's wall the side before a cap, in the middle of the wall the outer side, and z = 0 belongs to the
// upper cap; in a mesh the lowest triangle. Results are finite for every usable point.
//
// Features: the plane, sphere and capsule are faces (0 the side, 1 and 2 the lower and upper end of a capsule); a
// cylinder has the faces 0 side, 1 lower, 2 upper cap and the edges 1 and 2 around them; a tube the same, and the face
// 3 inner side with the edges 4 lower and 5 upper; in a box face, edge and corner have the index 9 i + 3 j + k, with 0,
// 1, 2 = lower, within, upper along x, y, z; in a mesh it is the triangle, the edge (3 triangle + k of the first
// triangle with it, from corner k to the next), or the node.

#include <memory>
#include <span>

#include "engine/obstacles/surface_distance.hpp"
#include "kernels/contact/solids.hpp"

namespace supple {

// Where an obstacle is: x_world = rotation x_own + position.
struct ObstaclePose {
  Mat3d rotation = Mat3d::identity();  // orthonormal, determinant 1
  Vec3d position{{0, 0, 0}};
};

class Obstacle {
 public:
  using Shape = Solid::Shape;
  // On which side of the surface the free space is. `inside` turns the signs of gap, normal and curvature.
  enum class Side { outside, inside };

  // All throw InputError for a size that is not positive and finite (a capsule may have length 0).
  static Obstacle plane();
  static Obstacle sphere(double radius, Side side = Side::outside);
  static Obstacle capsule(double radius, double length, Side side = Side::outside);
  static Obstacle box(const Vec3d& size, Side side = Side::outside);
  static Obstacle cylinder(double radius, double length, Side side = Side::outside);
  static Obstacle tube(double radius, double thickness, double length);
  static Obstacle mesh(Surface surface, Side side = Side::outside);

  Shape shape() const { return solid_.shape; }
  // Sizes; of a mesh the shape alone.
  const Solid& solid() const { return solid_; }
  Side side() const { return side_; }
  double radius() const { return solid_.radius; }
  double length() const { return solid_.length; }
  double thickness() const { return solid_.thickness; }
  Vec3d size() const { return 2.0 * solid_.half; }
  // Of a mesh, else null.
  const Surface* surface() const { return distance_ ? &distance_->surface() : nullptr; }

  // Of the point x. With more than `reach` [m] of free space it is a default Proximity: gap = infinity, Feature::none.
  // With a coordinate that is not finite or beyond 1e30 m, the same with gap = NaN. Allocates nothing.
  Proximity at(const ObstaclePose& pose, const Vec3d& x, double reach = std::numeric_limits<double>::infinity()) const;
  // Of every point; out has their number. Returns how many are within reach.
  int at_all(const ObstaclePose& pose, std::span<const Vec3d> points, double reach, std::span<Proximity> out) const;

 private:
  Obstacle(Shape shape, Side side) : side_(side) { solid_.shape = shape; }
  void enclose(const Vec3d& centre, double outer);
  Proximity in_own_frame(const Vec3d& x) const;

  Solid solid_;
  Side side_;
  std::shared_ptr<const SurfaceDistance> distance_;  // of a mesh
  // The solid is within `outer_` of `centre_` (own frame) and holds all that is within `inner_` of it.
  Vec3d centre_{{0, 0, 0}};
  double inner_ = 0, outer_ = std::numeric_limits<double>::infinity();
};

}  // namespace supple

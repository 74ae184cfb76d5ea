#pragma once
// What a point has to know of an obstacle: gap(x) is the signed distance [m] to its surface, positive outside the
// solid.

#include <limits>

#include "kernels/math/small.hpp"

namespace supple {

// The part of the surface on which the nearest point lies; none: too far away, or the point is unusable.
enum class Feature { none, face, edge, corner };

struct Proximity {
  double gap = std::numeric_limits<double>::infinity();  // m
  Vec3d normal{{0, 0, 1}};                               // unit, d gap / dx: away from the solid
  Vec3d nearest{{0, 0, 0}};                              // point of the surface: x - gap normal
  Mat3d curvature = Mat3d::zero();                       // d normal / dx = d^2 gap / dx^2, symmetric [1/m]
  Feature feature = Feature::none;
  int index = -1;  // which one of its kind; obstacle.hpp says how each shape counts
};

// The projector on what is across the unit vectors n, and n and t, of which t is across n.
inline Mat3d across(const Vec3d& n) {
  return Mat3d::identity() - outer(n, n);
}
inline Mat3d across(const Vec3d& n, const Vec3d& t) {
  return across(n) - outer(t, t);
}

}  // namespace supple

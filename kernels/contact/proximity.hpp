#pragma once
// What a point has to know of an obstacle: gap(x) is the signed distance [m] to its surface, positive outside the
// solid.

#include <cmath>

#include "kernels/math/small.hpp"

namespace supple {

// The part of the surface on which the nearest point lies; none: too far away, or the point is unusable.
enum class Feature { none, face, edge, corner };

struct Proximity {
  double gap = HUGE_VAL;                         // m
  Vec3d normal{{0, 0, 1}};                       // unit, d gap / dx: away from the solid
  Vec3d nearest{{0, 0, 0}};                      // point of the surface: x - gap normal
  Mat3d curvature{{0, 0, 0, 0, 0, 0, 0, 0, 0}};  // d normal / dx = d^2 gap / dx^2, symmetric [1/m]
  Feature feature = Feature::none;
  int index = -1;  // which one of its kind; obstacle.hpp has the numbering of each shape
};

// The projector on what is across the unit vectors n, and n and t, of which t is across n.
SUPPLE_HD inline Mat3d across(const Vec3d& n) {
  return Mat3d::identity() - outer(n, n);
}
SUPPLE_HD inline Mat3d across(const Vec3d& n, const Vec3d& t) {
  return across(n) - outer(t, t);
}

// Rows n, t1, t2 of a frame on the unit vector n: t1 across n and the axis it leans to least (the first of equals).
SUPPLE_HD inline Mat3d frame_on(const Vec3d& n) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(n[k]) < std::abs(n[axis])) axis = k;
  Vec3d e{{0, 0, 0}};
  e[axis] = 1;
  Vec3d t = cross(n, e);
  t = (1 / norm(t)) * t;
  const Vec3d s = cross(n, t);
  Mat3d frame;
  for (int k = 0; k < 3; ++k) {
    frame(0, k) = n[k];
    frame(1, k) = t[k];
    frame(2, k) = s[k];
  }
  return frame;
}

}  // namespace supple

#pragma once
// Closest points of two simplices of 1 to 3 points: point, segment, triangle. A result is on the lowest feature that is
// closest to within rounding: a point over the edge of a triangle has two weights there, not three.

#include <array>

#include "kernels/math/small.hpp"

namespace supple {

/// 1, 2 or 3 points: point, segment, triangle. They may coincide or lie on one line.
struct Simplex {
  int count = 1;
  std::array<Vec3d, 3> x{};
};

struct ClosestPoints {
  // Convex weights of the points of either simplex, exactly 0 for points that are not of the closest feature.
  std::array<double, 3> a{}, b{};
  Vec3d difference{{0, 0, 0}};  // sum_k a_k x_k of the first - sum_k b_k x_k of the second [m]
  double distance = 0;          // its length [m]
  // Two segments along each other: every point of their overlap is closest, these are those of its middle.
  bool parallel = false;

  /// Bit k: point k is of the closest feature.
  int mask_a() const { return (a[0] != 0) + 2 * (a[1] != 0) + 4 * (a[2] != 0); }
  int mask_b() const { return (b[0] != 0) + 2 * (b[1] != 0) + 4 * (b[2] != 0); }
};

/// At least one of the two is a point, or both are segments. The distance has an error of about 1e-15 of the largest
/// coordinate, also for degenerate simplices; exchanged arguments give the exchanged result.
ClosestPoints closest_points(const Simplex& a, const Simplex& b);

}  // namespace supple

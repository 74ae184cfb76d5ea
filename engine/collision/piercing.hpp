#pragma once
// Where a segment goes through a triangle.

#include "engine/collision/simplex_distance.hpp"

namespace supple {

struct Piercing {
  bool pierced = false;
  double s = 0;  // the point is (1 - s) p + s q of the segment pq
};

/// The ends are on different sides, neither in the plane; the border of the triangle counts.
inline Piercing pierce(const Simplex& segment, const Simplex& triangle) {
  const Vec3d &p = segment.x[0], &q = segment.x[1];
  const std::array<Vec3d, 3>& t = triangle.x;
  const Vec3d n = cross(t[1] - t[0], t[2] - t[0]);
  const double from = dot(n, p - t[0]), to = dot(n, q - t[0]);
  if (!((from < 0 && to > 0) || (from > 0 && to < 0))) return {};
  // Volumes of the segment with each side have one sign.
  const Vec3d d = q - p;
  bool positive = false, negative = false;
  for (std::size_t k = 0; k < 3; ++k) {
    const double volume = dot(d, cross(t[k] - p, t[(k + 1) % 3] - p));
    positive = positive || volume > 0;
    negative = negative || volume < 0;
  }
  if (positive && negative) return {};
  return {true, from / (from - to)};
}

}  // namespace supple

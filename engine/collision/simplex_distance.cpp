#include "engine/collision/simplex_distance.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"

namespace supple {
namespace {

constexpr double rounding = 1e-15;     // of the largest coordinate: distances this near to each other are equal
constexpr double clear_of_end = 1e-5;  // a weight from which on a feature is the closest one without comparison
constexpr double no_area = 1e-14;      // height of a triangle, of its longer side: it is a segment
constexpr double nearly_parallel = 1e-4;

double largest_coordinate(const Simplex& a, const Simplex& b) {
  double size = 0;
  for (const Simplex* s : {&a, &b})
    for (int i = 0; i < s->count; ++i)
      for (int k = 0; k < 3; ++k) size = std::max(size, std::abs(s->x[static_cast<std::size_t>(i)][k]));
  return size;
}

// s and t of the least |r - s u - t v|, by Gram-Schmidt and two corrections with the residual, which keep full accuracy
// for slivers. `sine`: |v across u| / |v| for the longer of both as u; 0: no unique answer.
struct PlanePoint {
  double s = 0, t = 0, sine = 0;
};

PlanePoint nearest_in_plane(const Vec3d& r, const Vec3d& u, const Vec3d& v) {
  const double uu = dot(u, u), vv = dot(v, v);
  if (vv > uu) {
    const PlanePoint p = nearest_in_plane(r, v, u);
    return {p.t, p.s, p.sine};
  }
  if (!(vv > 0)) return {};
  const double c = dot(u, v) / uu;
  Vec3d w = v - c * u;
  w = w - (dot(w, u) / uu) * u;
  const double ww = dot(w, w);
  if (!(ww > no_area * no_area * vv)) return {};
  PlanePoint p{0, 0, std::sqrt(ww / vv)};
  Vec3d rest = r;
  for (int i = 0; i < 3; ++i) {
    const double along = dot(rest, u) / uu, t = dot(rest - along * u, w) / ww;
    p.s += along - c * t;
    p.t += t;
    if (p.sine > 0.1) break;
    rest = r - p.s * u - p.t * v;
  }
  return p;
}

ClosestPoints from_weights(const Simplex& a, const Simplex& b, const std::array<double, 3>& wa,
                           const std::array<double, 3>& wb) {
  // Relative to the first points, so that equal offsets of both cancel.
  ClosestPoints p{wa, wb, a.x[0] - b.x[0], 0, false};
  for (std::size_t k = 1; k < static_cast<std::size_t>(a.count); ++k)
    p.difference = p.difference + wa[k] * (a.x[k] - a.x[0]);
  for (std::size_t k = 1; k < static_cast<std::size_t>(b.count); ++k)
    p.difference = p.difference - wb[k] * (b.x[k] - b.x[0]);
  p.distance = norm(p.difference);
  return p;
}

int points_of(const ClosestPoints& p) {
  int count = 0;
  for (std::size_t k = 0; k < 3; ++k) count += (p.a[k] != 0) + (p.b[k] != 0);
  return count;
}

// Which of two is closer; of those equal to within rounding the one on fewer points, then the first.
ClosestPoints closer(const ClosestPoints& p, const ClosestPoints& q, double equal) {
  if (std::abs(p.distance - q.distance) > equal) return p.distance < q.distance ? p : q;
  return points_of(q) < points_of(p) ? q : p;
}

// Point p of a against the side from point i to point j of b.
ClosestPoints point_segment(const Simplex& a, std::size_t p, const Simplex& b, std::size_t i, std::size_t j,
                            double equal) {
  const Vec3d u = b.x[j] - b.x[i], r = a.x[p] - b.x[i];
  const double uu = dot(u, u);
  const double t = uu > 0 ? dot(r, u) / uu : 0.0;
  std::array<double, 3> wa{}, wb{};
  wa[p] = 1;
  const auto at = [&](double weight) {
    wb = {};
    wb[i] = 1 - weight;
    wb[j] = weight;
    return from_weights(a, b, wa, wb);
  };
  if (t <= 0) return at(0);
  if (t >= 1) return at(1);
  const ClosestPoints inner = at(t);
  if (t > clear_of_end && t < 1 - clear_of_end) return inner;
  return closer(inner, at(t < 0.5 ? 0 : 1), equal);
}

// The closest point of a border is on a side beyond which the closest point of the whole plane lies. If that one is
// well known, other sides need no look.
ClosestPoints point_triangle(const Simplex& a, const Simplex& b) {
  const PlanePoint p = nearest_in_plane(a.x[0] - b.x[0], b.x[1] - b.x[0], b.x[2] - b.x[0]);
  const std::array<double, 3> weights{1 - p.s - p.t, p.s, p.t};
  const double least = std::min({weights[0], weights[1], weights[2]});
  const bool inside = p.sine > 0 && least > 0, known = p.sine > nearly_parallel;
  ClosestPoints best;
  bool found = inside;
  if (inside) {
    best = from_weights(a, b, {1, 0, 0}, weights);
    if (least > clear_of_end) return best;
  }
  const double equal = rounding * largest_coordinate(a, b);
  for (std::size_t k = 0; k < 3; ++k) {
    if (known && weights[(k + 2) % 3] > clear_of_end) continue;
    const ClosestPoints side = point_segment(a, 0, b, k, (k + 1) % 3, equal);
    best = found ? closer(best, side, equal) : side;
    found = true;
  }
  return best;
}

ClosestPoints exchanged(const ClosestPoints& p) {
  return {p.b, p.a, -1.0 * p.difference, p.distance, p.parallel};
}

// The middle of the part of segment a over which segment b lies; false: they lie over each other nowhere.
bool middle_of_overlap(const Simplex& a, const Simplex& b, ClosestPoints& middle) {
  const Vec3d u = a.x[1] - a.x[0], v = b.x[1] - b.x[0];
  const double uu = dot(u, u), vv = dot(v, v);
  if (!(uu > 0) || !(vv > 0)) return false;
  const auto [low, high] = std::minmax({dot(b.x[0] - a.x[0], u) / uu, dot(b.x[1] - a.x[0], u) / uu});
  const double begin = std::max(low, 0.0), end = std::min(high, 1.0);
  if (!(end - begin > clear_of_end)) return false;
  const double s = 0.5 * (begin + end);
  const double t = std::clamp(dot(a.x[0] + s * u - b.x[0], v) / vv, 0.0, 1.0);
  middle = from_weights(a, b, {1 - s, s, 0}, {1 - t, t, 0});
  middle.parallel = true;
  return true;
}

ClosestPoints segment_segment(const Simplex& a, const Simplex& b) {
  // |a0 + s u - b0 - t v| is least
  const Vec3d u = a.x[1] - a.x[0], v = b.x[1] - b.x[0];
  const PlanePoint p = nearest_in_plane(b.x[0] - a.x[0], u, -1.0 * v);
  const double least = std::min({p.s, 1 - p.s, p.t, 1 - p.t});
  const bool inside = p.sine > 0 && least > 0, known = p.sine > nearly_parallel;
  ClosestPoints best;
  bool found = inside;
  if (inside) {
    best = from_weights(a, b, {1 - p.s, p.s, 0}, {1 - p.t, p.t, 0});
    if (least > clear_of_end && known) return best;
  }
  const double equal = rounding * largest_coordinate(a, b);
  const auto look = [&](double weight, const auto& end) {
    if (known && weight > clear_of_end) return;
    const ClosestPoints points = end();
    best = found ? closer(best, points, equal) : points;
    found = true;
  };
  look(p.s, [&] { return point_segment(a, 0, b, 0, 1, equal); });
  look(1 - p.s, [&] { return point_segment(a, 1, b, 0, 1, equal); });
  look(p.t, [&] { return exchanged(point_segment(b, 0, a, 0, 1, equal)); });
  look(1 - p.t, [&] { return exchanged(point_segment(b, 1, a, 0, 1, equal)); });
  ClosestPoints middle;
  if (!known && middle_of_overlap(a, b, middle) && middle.distance <= best.distance + 2 * equal) return middle;
  return best;
}

}  // namespace

ClosestPoints closest_points(const Simplex& a, const Simplex& b) {
  SUPPLE_EXPECT(a.count == 1 || b.count == 1 || (a.count == 2 && b.count == 2));
  if (a.count > b.count) return exchanged(closest_points(b, a));
  if (a.count == 2) return segment_segment(a, b);
  if (b.count == 1) return from_weights(a, b, {1, 0, 0}, {1, 0, 0});
  if (b.count == 3) return point_triangle(a, b);
  return point_segment(a, 0, b, 0, 1, rounding * largest_coordinate(a, b));
}

}  // namespace supple

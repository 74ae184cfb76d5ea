#include "engine/collision/pair_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/collision/piercing.hpp"

namespace supple {
namespace {

constexpr double coincide = 1e-12;   // of the largest coordinate: no direction
constexpr double level = 1e-5;       // sine of a way along the surface that leads nowhere nearer
constexpr double off_normal = 1e-3;  // sine: a row this near to a face's normal hardly hinders sliding along the face
constexpr double behind = 1e-3;
constexpr double rest_ratio = 3;  // of one surface: a penetration is not as deep as the solid is thick at rest

bool has_sides(const SurfaceSet& set, const SurfaceFeature& f) {
  return set.surface(f.surface).closed &&
         (f.points != 2 || set.surface(f.surface).edge_triangles[static_cast<std::size_t>(f.index)][0] >= 0) &&
         (f.points != 1 || !set.surface(f.surface).triangles_of(f.index).empty());
}

bool is_along_a_face(const SurfaceSet& set, const SurfaceFeature& f, const Vec3d& u, const Positions& x) {
  const bool closed = set.surface(f.surface).closed;
  bool found = false;
  for_each_face_normal(set, f, x, [&](const Vec3d& n) {
    found = found || (norm(cross(n, u)) <= off_normal && (!closed || dot(n, u) > 0));
  });
  return found;
}

// u points away from f and nothing beside f is nearer.
bool is_nearest(const SurfaceSet& set, const SurfaceFeature& f, const Vec3d& u, const Positions& x) {
  return f.points == 3 || rise_towards(set, f, u, x) <= level;
}

void assign_weights(const SurfaceSet& set, const SurfaceFeature& whole, const std::array<double, 3>& all,
                    const SurfaceFeature& part, std::array<double, 3>& weights) {
  const std::array<int, 3> from = set.vertices_of(whole), to = set.vertices_of(part);
  for (std::size_t k = 0; k < static_cast<std::size_t>(part.points); ++k)
    for (std::size_t i = 0; i < static_cast<std::size_t>(whole.points); ++i)
      if (from[i] == to[k]) weights[k] = all[i];
}

}  // namespace

PairGeometry pair_geometry(const SurfaceSet& set, const SurfaceFeature& a, const SurfaceFeature& b,
                           const ClosestPoints& points, double size) {
  PairGeometry pair;
  pair.a = set.part_of(a, points.mask_a());
  pair.b = set.part_of(b, points.mask_b());
  assign_weights(set, a, points.a, pair.a, pair.weights_a);
  assign_weights(set, b, points.b, pair.b, pair.weights_b);
  pair.parallel = points.parallel;
  pair.touching = points.distance <= coincide * size;
  pair.distance = points.distance;
  if (!pair.touching) pair.normal = (1 / points.distance) * points.difference;
  if (set.code(pair.a) > set.code(pair.b)) {
    std::swap(pair.a, pair.b);
    std::swap(pair.weights_a, pair.weights_b);
    pair.normal = -1.0 * pair.normal;
  }
  return pair;
}

Facing facing(const SurfaceSet& set, const PairGeometry& pair, bool edges, const Positions& x) {
  if (edges && (pair.a.points != 2 || pair.parallel)) return Facing::no;
  const Vec3d u = pair.normal, down = -1.0 * u;
  // Behind a surface, as seen from its closest feature.
  if (has_sides(set, pair.b) && !(dot(u, outward_normal(set, pair.b, x)) > 0)) return Facing::no;
  const bool sided = has_sides(set, pair.a);
  const Vec3d N = sided ? outward_normal(set, pair.a, x) : Vec3d{{0, 0, 0}};
  if (edges && sided && !(dot(down, N) > 0)) return Facing::no;
  const bool a = is_nearest(set, pair.a, down, x), b = is_nearest(set, pair.b, u, x);
  if (a && b) return Facing::yes;
  // The rest of its own surface is between a and b.
  if (sided && dot(down, N) < -behind * norm(N)) return Facing::no;
  if (b && is_along_a_face(set, pair.b, u, x)) return Facing::yes;
  if (a && pair.a.points == pair.b.points && is_along_a_face(set, pair.a, down, x)) return Facing::yes;
  return Facing::almost;
}

bool set_touching_normal(const SurfaceSet& set, PairGeometry& pair, bool edges, const Positions& x) {
  if (edges && (pair.a.points != 2 || pair.parallel)) return false;
  double least = HUGE_VAL;
  const auto propose = [&](const Vec3d& n) {
    const double length = norm(n);
    if (!(length > 0)) return;
    const Vec3d u = (1 / length) * n;
    double rise =
        std::max(pair.b.points == 3 ? 0.0 : rise_towards(set, pair.b, u, x), rise_towards(set, pair.a, -1.0 * u, x));
    for (const SurfaceFeature& f : {pair.a, pair.b}) {
      if (f.points != 2) continue;
      const Simplex edge = set.simplex(f, x);
      const Vec3d along = edge.x[1] - edge.x[0];
      rise = std::max(rise, std::abs(dot(u, along)) / norm(along));
    }
    if (!(std::max(rise, 0.0) < least - level)) return;
    least = std::max(rise, 0.0);
    pair.normal = u;
  };
  const Vec3d up = outward_normal(set, pair.b, x) - outward_normal(set, pair.a, x);
  for_each_face_normal(set, pair.b, x, propose);
  if (pair.b.points == 3) return true;
  for_each_face_normal(set, pair.a, x, [&](const Vec3d& n) { propose(-1.0 * n); });
  if (pair.a.points == 2) {
    const Simplex a = set.simplex(pair.a, x), b = set.simplex(pair.b, x);
    const Vec3d n = cross(a.x[1] - a.x[0], b.x[1] - b.x[0]);
    propose((dot(n, up) < 0 ? -1.0 : 1.0) * n);
  }
  propose(outward_normal(set, pair.b, x));
  propose(-1.0 * outward_normal(set, pair.a, x));
  propose(up);
  if (least == HUGE_VAL) propose({{0, 0, 1}});
  return least <= 0.05;
}

bool turn_if_inside(const SurfaceSet& set, const SurfaceTrees& trees, PairGeometry& pair, bool edges, double depth,
                    const Positions& x) {
  if (pair.distance > depth || (edges && (pair.a.points != 2 || pair.parallel))) return false;
  const Vec3d u = pair.normal, down = -1.0 * u;
  const auto is_behind = [&](const SurfaceFeature& f, const Vec3d& to) {
    return has_sides(set, f) && dot(to, outward_normal(set, f, x)) < 0;
  };
  const auto face_each_other = [&] { return is_nearest(set, pair.b, down, x) && is_nearest(set, pair.a, u, x); };
  const bool same = pair.a.surface == pair.b.surface;
  if (same) {
    Simplex a = set.rest_simplex(pair.a), b = set.rest_simplex(pair.b);
    if (closest_points(a, b).distance < rest_ratio * pair.distance) return false;
  }
  bool inside = false;
  if (edges) {
    if (!is_behind(pair.b, u) || !is_behind(pair.a, down) || !face_each_other()) return false;
    const auto pierces = [&](const SurfaceFeature& edge, const SurfaceFeature& other) {
      for (const int t : set.surface(other.surface).edge_triangles[static_cast<std::size_t>(other.index)])
        if (t >= 0 && pierce(set.simplex(edge, x), set.simplex({other.surface, 3, t}, x)).pierced) return true;
      return false;
    };
    inside = pierces(pair.a, pair.b) || pierces(pair.b, pair.a);
  } else {
    // Of two vertices either may be the one that is inside.
    const auto contains = [&](const SurfaceFeature& solid, const SurfaceFeature& point, const Vec3d& to) {
      if (!is_behind(solid, to)) return false;
      if (same) return is_behind(point, -1.0 * to);
      const double limit = pair.distance * (1 + 1e-9);
      const NearestFeature near = trees.nearest(set, solid.surface, set.simplex(point, x).x[0], limit, x);
      if (near.feature.points == 0) return false;
      if (near.inside && near.distance >= pair.distance * (1 - 1e-9)) return true;
      return near.distance <= 1e-9 * pair.distance && face_each_other();
    };
    inside = contains(pair.b, pair.a, u) || (pair.b.points == 1 && contains(pair.a, pair.b, down));
  }
  if (!inside) return false;
  pair.normal = down;
  pair.distance = -pair.distance;
  return true;
}

}  // namespace supple

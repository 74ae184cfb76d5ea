#include "engine/collision/feature_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Vec3d unit_or_zero(const Vec3d& v) {
  const double length = norm(v);
  return length > 0 ? (1 / length) * v : Vec3d{{0, 0, 0}};
}

}  // namespace

Vec3d face_normal(const SurfaceSet& set, int surface, int triangle, const Positions& x) {
  const Simplex s = set.simplex({surface, 3, triangle}, x);
  return unit_or_zero(cross(s.x[1] - s.x[0], s.x[2] - s.x[0]));
}

Vec3d outward_normal(const SurfaceSet& set, const SurfaceFeature& feature, const Positions& x) {
  Vec3d sum{{0, 0, 0}};
  if (feature.points > 1) {
    for_each_face_normal(set, feature, x, [&](const Vec3d& n) { sum = sum + n; });
    return sum;
  }
  const int vertex = set.placed(feature.surface).first_vertex + feature.index;
  for (const int t : set.surface(feature.surface).triangles_of(feature.index)) {
    const SurfaceFeature face{feature.surface, 3, t};
    const std::array<int, 3> v = set.vertices_of(face);
    const Simplex s = set.simplex(face, x);
    const std::size_t k = v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
    const Vec3d a = s.x[(k + 1) % 3] - s.x[k], b = s.x[(k + 2) % 3] - s.x[k], n = cross(a, b);
    sum = sum + std::atan2(norm(n), dot(a, b)) * unit_or_zero(n);
  }
  return sum;
}

double rise_towards(const SurfaceSet& set, const SurfaceFeature& feature, const Vec3d& u, const Positions& x) {
  const CollisionSurface& s = set.surface(feature.surface);
  const int first = set.placed(feature.surface).first_vertex;
  double rise = -1;
  if (feature.points == 1) {
    const Vec3d here = x(first + feature.index);
    for (const int e : s.edges_of(feature.index)) {
      const auto& [a, b] = s.edges[static_cast<std::size_t>(e)];
      rise = std::max(rise, dot(u, unit_or_zero(x(first + (a == feature.index ? b : a)) - here)));
    }
  }
  if (feature.points == 2) {
    const auto& [a, b] = s.edges[static_cast<std::size_t>(feature.index)];
    const Vec3d here = x(first + a), along = unit_or_zero(x(first + b) - here);
    for (const int t : s.edge_triangles[static_cast<std::size_t>(feature.index)]) {
      if (t < 0) continue;
      for (const int v : s.triangles[static_cast<std::size_t>(t)])
        if (v != a && v != b) {
          const Vec3d w = x(first + v) - here;
          rise = std::max(rise, dot(u, unit_or_zero(w - dot(w, along) * along)));
        }
    }
  }
  return rise;
}

}  // namespace supple

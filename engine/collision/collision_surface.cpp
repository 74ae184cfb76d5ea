#include "engine/collision/collision_surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include "engine/mesh/closed_surface.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

constexpr double flat = 1e-6;  // sine of the angle between faces that are one plane

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

void check(int vertices, std::span<const int> item, const std::string& kind, std::size_t number) {
  for (std::size_t k = 0; k < item.size(); ++k) {
    if (item[k] < 0 || item[k] >= vertices)
      throw InputError(
          fmt::format("{} {} of a contact surface uses vertex {} (there are {})", kind, number, item[k], vertices),
          "export the surface again");
    if (item[k] == item[(k + 1) % item.size()])
      throw InputError(fmt::format("{} {} of a contact surface has vertex {} twice", kind, number, item[k]),
                       "remove degenerate triangles and edges in a mesh program");
  }
}

// Side k of a triangle, -1 for an edge that is isolated.
struct Side {
  int low, high, triangle, k;
  bool forward;
};

std::vector<Side> sides_of(const std::vector<std::array<int, 3>>& triangles,
                           const std::vector<std::array<int, 2>>& edges) {
  std::vector<Side> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const int a = triangles[t][at(k)], b = triangles[t][at((k + 1) % 3)];
      sides.push_back({std::min(a, b), std::max(a, b), static_cast<int>(t), k, a < b});
    }
  for (const auto& [a, b] : edges) sides.push_back({std::min(a, b), std::max(a, b), -1, 0, true});
  const auto key = [](const Side& s) { return std::tuple(s.low, s.high, s.triangle < 0, s.triangle); };
  std::sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) { return key(a) < key(b); });
  return sides;
}

// Items around every vertex, ascending.
template <class Items>
void gather(const Items& items, int vertices, std::vector<int>& begin, std::vector<int>& around) {
  begin.assign(at(vertices) + 1, 0);
  for (const auto& item : items)
    for (const int v : item) ++begin[at(v) + 1];
  for (std::size_t v = 0; v < at(vertices); ++v) begin[v + 1] += begin[v];
  around.resize(at(begin.back()));
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const int v : items[i]) around[at(next[at(v)]++)] = static_cast<int>(i);
}

Vec3d normal_of(const CollisionSurface& s, int triangle) {
  const auto& t = s.triangles[at(triangle)];
  return cross(s.rest[at(t[1])] - s.rest[at(t[0])], s.rest[at(t[2])] - s.rest[at(t[0])]);
}

// Neither flat nor in a hollow: the other triangle's third corner is below the first one's plane.
bool is_convex(const CollisionSurface& s, std::size_t edge) {
  const auto [first, second] = s.edge_triangles[edge];
  if (second < 0) return true;
  const Vec3d n = normal_of(s, first), m = normal_of(s, second);
  if (norm(cross(n, m)) <= flat * norm(n) * norm(m) && dot(n, m) > 0) return false;
  for (const int v : s.triangles[at(second)])
    if (v != s.edges[edge][0] && v != s.edges[edge][1])
      return dot(n, s.rest[at(v)] - s.rest[at(s.edges[edge][0])]) <= 0;
  return true;
}

void make_edges(CollisionSurface& s, const std::vector<std::array<int, 2>>& isolated) {
  s.triangle_edges.resize(s.triangles.size());
  s.closed = !s.triangles.empty();
  const std::vector<Side> sides = sides_of(s.triangles, isolated);
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    std::array<int, 2> faces{-1, -1};
    int count = 0, forward = 0;
    for (end = i; end < sides.size() && sides[end].low == sides[i].low && sides[end].high == sides[i].high; ++end) {
      const Side& side = sides[end];
      if (side.triangle < 0) continue;
      s.triangle_edges[at(side.triangle)][at(side.k)] = static_cast<int>(s.edges.size());
      if (count < 2) faces[at(count)] = side.triangle;
      ++count;
      forward += side.forward;
    }
    if (count > 0 && (count != 2 || forward != 1)) s.closed = false;
    s.edges.push_back({sides[i].low, sides[i].high});
    s.edge_triangles.push_back(faces);
  }
}

}  // namespace

CollisionSurface make_collision_surface(const std::vector<Vec3d>& rest,
                                        const std::vector<std::array<int, 3>>& triangles,
                                        const SurfaceSettings& settings) {
  SUPPLE_EXPECT(settings.radius >= 0);
  if (rest.empty()) throw InputError("a contact surface has no vertices", "leave it out of the scene");
  CollisionSurface s;
  s.rest = rest;
  s.triangles = triangles;
  s.radius = settings.radius;
  for (std::size_t t = 0; t < triangles.size(); ++t) check(s.vertices(), triangles[t], "triangle", t);
  for (std::size_t e = 0; e < settings.edges.size(); ++e) check(s.vertices(), settings.edges[e], "edge", e);
  make_edges(s, settings.edges);
  if (s.closed && enclosed_volume(rest, triangles) < 0)
    throw InputError("a contact surface faces the inside of its solid (its triangles enclose a negative volume)",
                     "recalculate normals outside in a mesh program");
  gather(s.edges, s.vertices(), s.edges_begin, s.edges_around);
  gather(s.triangles, s.vertices(), s.triangles_begin, s.triangles_around);
  s.skipped.assign(s.edges.size(), 0);
  if (settings.rigid)
    for (std::size_t e = 0; e < s.edges.size(); ++e) s.skipped[e] = !is_convex(s, e);
  return s;
}

CollisionSurface make_collision_surface(const Surface& surface, const SurfaceSettings& settings) {
  return make_collision_surface(surface.nodes, surface.triangles, settings);
}

CollisionSurface box_surface(const Vec3d& size) {
  std::vector<Vec3d> x;
  for (int i = 0; i < 8; ++i)
    x.push_back({{(i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1], (i & 4 ? 0.5 : -0.5) * size[2]}});
  return make_collision_surface(x,
                                {{0, 2, 3},
                                 {0, 3, 1},
                                 {4, 5, 7},
                                 {4, 7, 6},
                                 {0, 1, 5},
                                 {0, 5, 4},
                                 {2, 6, 7},
                                 {2, 7, 3},
                                 {0, 4, 6},
                                 {0, 6, 2},
                                 {1, 3, 7},
                                 {1, 7, 5}},
                                {.edges = {}, .radius = 0, .rigid = true});
}

CollisionSurface sphere_surface(double radius) {
  return make_collision_surface({{{0, 0, 0}}}, {}, {.edges = {}, .radius = radius, .rigid = true});
}

CollisionSurface capsule_surface(double radius, double length) {
  if (length == 0) return sphere_surface(radius);
  return make_collision_surface({{{0, 0, -0.5 * length}}, {{0, 0, 0.5 * length}}}, {},
                                {.edges = {{0, 1}}, .radius = radius, .rigid = true});
}

CollisionSurface cylinder_surface(double radius, double length, int sides) {
  SUPPLE_EXPECT(sides >= 3);
  std::vector<Vec3d> x;
  std::vector<std::array<int, 3>> triangles;
  for (const double z : {-0.5 * length, 0.5 * length})
    for (int i = 0; i < sides; ++i) {
      const double angle = 2 * std::numbers::pi * i / sides;
      x.push_back({{radius * std::cos(angle), radius * std::sin(angle), z}});
    }
  for (int i = 0; i < sides; ++i) {
    const int j = (i + 1) % sides;
    triangles.push_back({i, j, sides + j});
    triangles.push_back({i, sides + j, sides + i});
    if (i == 0 || j == 0) continue;
    triangles.push_back({0, j, i});
    triangles.push_back({sides, sides + i, sides + j});
  }
  return make_collision_surface(x, triangles, {.edges = {}, .radius = 0, .rigid = true});
}

}  // namespace supple

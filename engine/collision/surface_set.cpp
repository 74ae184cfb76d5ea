#include "engine/collision/surface_set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.hpp"

namespace supple {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

SurfaceSet::SurfaceSet(std::vector<PlacedSurface> surfaces, const SurfacePairs& pairs)
    : surfaces_(std::move(surfaces)), only_listed_(pairs.only_listed), listed_(pairs.listed) {
  for (auto& [i, j] : listed_) {
    if (i > j) std::swap(i, j);
    if (i < 0 || j >= size())
      throw InputError(fmt::format("contact surfaces {} and {} are a pair (there are {} surfaces)", i, j, size()),
                       "list pairs of surfaces that exist");
  }
  std::sort(listed_.begin(), listed_.end());
  std::uint32_t edges = 0, triangles = 0;
  for (int i = 0; i < size(); ++i) {
    const CollisionSurface& s = surface(i);
    vertices_ = std::max(vertices_, placed(i).first_vertex + s.vertices());
    Owned& o = owned_.emplace_back();
    o.first_edge = edges;
    o.first_triangle = triangles;
    edges += static_cast<std::uint32_t>(s.edges.size());
    triangles += static_cast<std::uint32_t>(s.triangles.size());
    for (std::size_t t = 0; t < s.triangles.size(); ++t) o.items.push_back({i, 3, static_cast<int>(t)});
    for (std::size_t e = 0; e < s.edges.size(); ++e)
      if (s.edge_triangles[e][0] < 0) o.items.push_back({i, 2, static_cast<int>(e)});
    for (int v = 0; v < s.vertices(); ++v)
      if (s.edges_of(v).empty()) o.items.push_back({i, 1, v});
    std::vector<char> vertex_taken(at(s.vertices()), 0), edge_taken = s.skipped;
    for (const SurfaceFeature& item : o.items) {
      std::array<int, 3>& corners = o.corners.emplace_back(vertices_of(item));
      for (std::size_t k = 1; k < 3; ++k)
        if (corners[k] < 0) corners[k] = corners[k - 1];
      o.vertices_begin.push_back(static_cast<int>(o.vertices.size()));
      o.edges_begin.push_back(static_cast<int>(o.edges.size()));
      const auto take = [](std::vector<char>& taken, std::vector<int>& into, int index) {
        if (!taken[at(index)]) into.push_back(index);
        taken[at(index)] = 1;
      };
      for (const int v : vertices_of(item))
        if (v >= 0) take(vertex_taken, o.vertices, v - placed(i).first_vertex);
      if (item.points == 3)
        for (const int e : s.triangle_edges[at(item.index)]) take(edge_taken, o.edges, e);
      if (item.points == 2) take(edge_taken, o.edges, item.index);
    }
    o.vertices_begin.push_back(static_cast<int>(o.vertices.size()));
    o.edges_begin.push_back(static_cast<int>(o.edges.size()));
  }
}

bool SurfaceSet::may_touch(int i, int j) const {
  if (i == j) return placed(i).touches_itself;
  return std::binary_search(listed_.begin(), listed_.end(), std::array<int, 2>{std::min(i, j), std::max(i, j)}) ==
         only_listed_;
}

std::array<int, 3> SurfaceSet::vertices_of(const SurfaceFeature& feature) const {
  const CollisionSurface& s = surface(feature.surface);
  const int first = placed(feature.surface).first_vertex;
  if (feature.points == 1) return {first + feature.index, -1, -1};
  if (feature.points == 2) {
    const auto& e = s.edges[at(feature.index)];
    return {first + e[0], first + e[1], -1};
  }
  const auto& t = s.triangles[at(feature.index)];
  return {first + t[0], first + t[1], first + t[2]};
}

SurfaceFeature SurfaceSet::part_of(const SurfaceFeature& feature, int mask) const {
  const CollisionSurface& s = surface(feature.surface);
  if (mask == (1 << feature.points) - 1) return feature;
  if (feature.points == 3 && (mask == 3 || mask == 6 || mask == 5))
    return {feature.surface, 2, s.triangle_edges[at(feature.index)][mask == 3 ? 0 : mask == 6 ? 1 : 2]};
  const std::size_t k = mask == 1 ? 0 : mask == 2 ? 1 : 2;
  return {feature.surface, 1, vertices_of(feature)[k] - placed(feature.surface).first_vertex};
}

std::uint32_t SurfaceSet::code(const SurfaceFeature& feature) const {
  const Owned& o = owned(feature.surface);
  const std::uint32_t first = feature.points == 1   ? static_cast<std::uint32_t>(placed(feature.surface).first_vertex)
                              : feature.points == 2 ? o.first_edge
                                                    : o.first_triangle;
  return static_cast<std::uint32_t>(feature.points) << 30 | (first + static_cast<std::uint32_t>(feature.index));
}

SurfaceFeature SurfaceSet::feature(std::uint32_t code) const {
  const auto points = static_cast<int>(code >> 30);
  const std::uint32_t number = code & 0x3fffffffU;
  for (int i = 0; i < size(); ++i) {
    const CollisionSurface& s = surface(i);
    const Owned& o = owned(i);
    const std::uint32_t first = points == 1   ? static_cast<std::uint32_t>(placed(i).first_vertex)
                                : points == 2 ? o.first_edge
                                              : o.first_triangle;
    const std::size_t count = points == 1   ? s.rest.size()
                              : points == 2 ? s.edges.size()
                              : points == 3 ? s.triangles.size()
                                            : 0;
    if (number >= first && number - first < count) return {i, points, static_cast<int>(number - first)};
  }
  return {};
}

bool SurfaceSet::share_a_vertex(const SurfaceFeature& a, const SurfaceFeature& b) const {
  for (const int v : vertices_of(a))
    for (const int w : vertices_of(b))
      if (v == w && v >= 0) return true;
  return false;
}

Simplex SurfaceSet::simplex(const SurfaceFeature& feature, const Positions& x) const {
  Simplex s{feature.points, {}};
  const std::array<int, 3> v = vertices_of(feature);
  for (std::size_t k = 0; k < at(feature.points); ++k) s.x[k] = x(v[k]);
  return s;
}

Simplex SurfaceSet::rest_simplex(const SurfaceFeature& feature) const {
  Simplex s{feature.points, {}};
  const std::array<int, 3> v = vertices_of(feature);
  for (std::size_t k = 0; k < at(feature.points); ++k)
    s.x[k] = surface(feature.surface).rest[at(v[k] - placed(feature.surface).first_vertex)];
  return s;
}

MovingSimplex SurfaceSet::moving(const SurfaceFeature& feature, const Positions& x) const {
  MovingSimplex s{feature.points, {}, {}};
  const Positions begin = x.at(0), end = x.at(1);
  const std::array<int, 3> v = vertices_of(feature);
  for (std::size_t k = 0; k < at(feature.points); ++k) {
    s.from[k] = begin(v[k]);
    s.step[k] = end(v[k]) - s.from[k];
  }
  return s;
}

}  // namespace supple

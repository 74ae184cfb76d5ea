#pragma once
// The surface of a body as contact needs it: its features (vertices, edges, triangles), who is next to whom, and a
// radius by which it is rounded. Positions are elsewhere (surface_set.hpp); this is made once, from those at rest.

#include <array>
#include <span>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "kernels/math/small.hpp"

namespace supple {

struct CollisionSurface {
  std::vector<Vec3d> rest;  // places of the vertices [m], for exclusions, marks of edges and the tree of boxes
  std::vector<std::array<int, 3>> triangles;
  std::vector<std::array<int, 2>>
      edges;          // each once, the lower vertex first: ascending; of triangles and isolated ones
  double radius = 0;  // the solid is everything within this distance of the features [m]
  // Triangles enclose a volume and face outwards: every edge is passed once in either direction.
  bool closed = false;

  std::vector<std::array<int, 3>> triangle_edges;  // from corner k to the next
  std::vector<std::array<int, 2>> edge_triangles;  // -1: none. Of more than two only the first two
  // Edges that touch no other edges: of a rigid surface those between coplanar triangles and those in a hollow, for
  // which vertices on faces and the other edges are enough.
  std::vector<char> skipped;

  /// Edges and triangles of a vertex.
  std::span<const int> edges_of(int vertex) const { return part(edges_around, edges_begin, vertex); }
  std::span<const int> triangles_of(int vertex) const { return part(triangles_around, triangles_begin, vertex); }
  int vertices() const { return static_cast<int>(rest.size()); }

  // Vertex v: entries [begin[v], begin[v + 1]).
  std::vector<int> edges_begin, edges_around, triangles_begin, triangles_around;

 private:
  static std::span<const int> part(const std::vector<int>& items, const std::vector<int>& begin, int vertex) {
    const auto v = static_cast<std::size_t>(vertex);
    return std::span(items).subspan(static_cast<std::size_t>(begin[v]),
                                    static_cast<std::size_t>(begin[v + 1] - begin[v]));
  }
};

struct SurfaceSettings {
  std::vector<std::array<int, 2>> edges;  // besides those of the triangles
  double radius = 0;                      // m
  bool rigid = false;                     // keeps its shape: edges that cannot touch others are marked
};

/// Throws InputError without vertices, for numbers of vertices that do not exist, for a triangle or edge that has a
/// vertex twice, and for a closed surface that faces inwards.
CollisionSurface make_collision_surface(const std::vector<Vec3d>& rest,
                                        const std::vector<std::array<int, 3>>& triangles,
                                        const SurfaceSettings& settings = {});
CollisionSurface make_collision_surface(const Surface& surface, const SurfaceSettings& settings = {});

// Rigid shapes, centred on the origin; the axis of capsule and cylinder is z [m].

/// 12 triangles.
CollisionSurface box_surface(const Vec3d& size);
/// One vertex with a radius, and one edge of this length with a radius: exact.
CollisionSurface sphere_surface(double radius);
CollisionSurface capsule_surface(double radius, double length);
/// A prism whose `sides` >= 3 edges are on the cylinder: its faces lie up to radius (1 - cos(pi / sides)) inside, 0.5 %
/// of the radius for 32.
CollisionSurface cylinder_surface(double radius, double length, int sides = 32);

}  // namespace supple

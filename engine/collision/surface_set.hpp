#pragma once
// All surfaces of a scene in one array of vertices, which of them may touch, and names for their features.

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/collision/collision_surface.hpp"
#include "engine/collision/simplex_distance.hpp"
#include "engine/collision/time_of_contact.hpp"

namespace supple {

struct PlacedSurface {
  CollisionSurface surface;
  int first_vertex = 0;  // its vertex v is vertex first_vertex + v of the positions
  bool touches_itself = false;
  // Features of one surface that are nearer than this at rest never touch each other [m]: at least the contact
  // distance.
  double rest_exclusion = 0;
};

/// Which different surfaces may touch: all but those listed, or only those.
struct SurfacePairs {
  bool only_listed = false;
  std::vector<std::array<int, 2>> listed;
};

/// A vertex, edge or triangle (points: 1, 2, 3) by its number in its surface.
struct SurfaceFeature {
  int surface = -1, points = 0, index = -1;
  friend auto operator<=>(const SurfaceFeature&, const SurfaceFeature&) = default;
};

/// Positions of all vertices [3 each, m] at a time in [0, 1] of their linear motion.
struct Positions {
  std::span<const double> from, to;
  double time = 0;
  Vec3d operator()(int vertex) const {
    const std::size_t k = 3 * static_cast<std::size_t>(vertex);
    const Vec3d x{{from[k], from[k + 1], from[k + 2]}};
    if (time == 0) return x;
    return x + time * (Vec3d{{to[k], to[k + 1], to[k + 2]}} - x);
  }
  Positions at(double t) const { return {from, to, t}; }
};

class SurfaceSet {
 public:
  /// Throws InputError for surfaces that do not exist in `pairs`.
  SurfaceSet(std::vector<PlacedSurface> surfaces, const SurfacePairs& pairs = {});

  int size() const { return static_cast<int>(surfaces_.size()); }
  const PlacedSurface& placed(int i) const { return surfaces_[static_cast<std::size_t>(i)]; }
  const CollisionSurface& surface(int i) const { return placed(i).surface; }
  /// Vertices that positions have at least.
  int vertices() const { return vertices_; }
  bool may_touch(int i, int j) const;

  /// The vertices of a feature, in positions; -1 beyond its points.
  std::array<int, 3> vertices_of(const SurfaceFeature& feature) const;
  /// The part of it with the points of which the mask has a bit (ClosestPoints::mask_a).
  SurfaceFeature part_of(const SurfaceFeature& feature, int mask) const;
  /// One number per feature of the set: bits 30 and 31 are its points, the others its place among those of its kind.
  std::uint32_t code(const SurfaceFeature& feature) const;
  /// The feature of a code; one that is none has surface -1.
  SurfaceFeature feature(std::uint32_t code) const;
  bool share_a_vertex(const SurfaceFeature& a, const SurfaceFeature& b) const;

  Simplex simplex(const SurfaceFeature& feature, const Positions& x) const;
  Simplex rest_simplex(const SurfaceFeature& feature) const;
  MovingSimplex moving(const SurfaceFeature& feature, const Positions& x) const;

  // Items are what trees hold: triangles, then isolated edges, then isolated vertices. Every vertex and every edge that
  // is not skipped belongs to one item, so that pairs of them are met once: S. Curtis, R. Tamstorf, D. Manocha, "Fast
  // collision detection for deformable models using representative-triangles", I3D 2008.
  int items(int surface) const { return static_cast<int>(owned(surface).items.size()); }
  const SurfaceFeature& item(int surface, int i) const { return owned(surface).items[static_cast<std::size_t>(i)]; }
  /// [items]: their vertices in positions, the last one again where there are fewer than three.
  std::span<const std::array<int, 3>> item_corners(int surface) const { return owned(surface).corners; }
  std::span<const int> item_vertices(int surface, int i) const {
    return part(owned(surface).vertices, owned(surface).vertices_begin, i);
  }
  std::span<const int> item_edges(int surface, int i) const {
    return part(owned(surface).edges, owned(surface).edges_begin, i);
  }

 private:
  struct Owned {
    std::vector<SurfaceFeature> items;
    std::vector<std::array<int, 3>> corners;
    std::vector<int> vertices_begin, vertices, edges_begin, edges;
    std::uint32_t first_edge = 0, first_triangle = 0;  // in codes
  };
  static std::span<const int> part(const std::vector<int>& items, const std::vector<int>& begin, int i) {
    const auto k = static_cast<std::size_t>(i);
    return std::span(items).subspan(static_cast<std::size_t>(begin[k]),
                                    static_cast<std::size_t>(begin[k + 1] - begin[k]));
  }
  const Owned& owned(int i) const { return owned_[static_cast<std::size_t>(i)]; }

  std::vector<PlacedSurface> surfaces_;
  std::vector<Owned> owned_;
  int vertices_ = 0;
  bool only_listed_;
  std::vector<std::array<int, 2>> listed_;  // ascending, lower surface first
};

}  // namespace supple

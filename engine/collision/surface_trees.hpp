#pragma once
// Boxes around what the surfaces of a set sweep over in a step, in a tree per surface and a tree of surfaces.

#include <array>
#include <vector>

#include "engine/collision/box_hierarchy.hpp"
#include "engine/collision/surface_set.hpp"

namespace supple {

/// The point of a surface nearest to a given one.
struct NearestFeature {
  SurfaceFeature feature;  // surface -1: none within the limit
  double distance = 0;     // without the radius [m]
  bool inside = false;     // of a closed surface, by the pseudonormal
};

class SurfaceTrees {
 public:
  /// Trees of the surfaces at rest.
  explicit SurfaceTrees(const SurfaceSet& set);

  /// Boxes of all vertices from x.from to x.to, grown so that those of features with gaps below `margin` overlap.
  void place(const SurfaceSet& set, const Positions& x, double margin);
  /// Pairs (i <= j) of surfaces that may touch and whose boxes overlap, ascending; their trees are fitted.
  const std::vector<std::array<int, 2>>& close_surfaces(const SurfaceSet& set);

  void fit(const SurfaceSet& set, int surface);
  /// Fitted before.
  const BoxHierarchy& tree(int surface) const { return trees_[static_cast<std::size_t>(surface)]; }
  const PaddedBox& surface_box(int surface) const { return surface_boxes_[static_cast<std::size_t>(surface)]; }
  const PaddedBox& vertex_box(int vertex) const { return vertex_boxes_[static_cast<std::size_t>(vertex)]; }
  PaddedBox box(const SurfaceSet& set, const SurfaceFeature& feature) const;

  /// At x, one of the positions on the way of the fitted surface.
  NearestFeature nearest(const SurfaceSet& set, int surface, const Vec3d& point, double limit,
                         const Positions& x) const;

 private:
  std::vector<BoxHierarchy> trees_;
  std::vector<char> fitted_;
  std::vector<PaddedBox> vertex_boxes_, surface_boxes_;
  BoxHierarchy surfaces_;
  std::vector<std::array<int, 2>> close_;
};

}  // namespace supple

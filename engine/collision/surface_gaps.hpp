#pragma once
// Surfaces of a set at one moment: how far apart, and which ones intersect. For reports and checks, not for steps.

#include <span>
#include <vector>

#include "engine/collision/surface_trees.hpp"

namespace supple {

struct SurfaceGap {
  int first = -1, second = -1;  // surfaces, the lower one first; -1: no two surfaces may touch
  double gap = 0;               // m; below 0: the depth of an overlap
  Vec3d point{{0, 0, 0}};       // on the first surface; of an overlap its deepest point that was found
};

/// The smallest gap between different surfaces that may touch, at x [3 per vertex, m]; -1 for surfaces whose gaps are
/// all above `limit`.
SurfaceGap least_gap(const SurfaceSet& set, std::span<const double> x, double limit = HUGE_VAL);
/// The same with the trees of the set, for whoever asks more than once.
SurfaceGap least_gap(const SurfaceSet& set, SurfaceTrees& trees, std::span<const double> x, double limit);

/// Pairs of different surfaces that intersect, or of which one is inside the other, by more than `tolerance` [m],
/// ascending. Their depth is a lower estimate: the largest distance to the other surface of vertices that are inside it
/// and of the middles of edges' parts inside. For a surface that is not closed, pierced by edges: gap 0 less radii.
std::vector<SurfaceGap> overlaps(const SurfaceSet& set, std::span<const double> x, double tolerance = 1e-9);

}  // namespace supple

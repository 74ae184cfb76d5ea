#include "engine/collision/surface_trees.hpp"

#include <algorithm>
#include <cmath>

#include "engine/collision/feature_geometry.hpp"
#include "kernels/base/contract.hpp"

namespace supple {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

PaddedBox box_of(const Simplex& s) {
  BoundingBox box{s.x[0], s.x[0]};
  for (std::size_t k = 1; k < at(s.count); ++k) extend(box, s.x[k]);
  return box;
}

}  // namespace

SurfaceTrees::SurfaceTrees(const SurfaceSet& set)
    : trees_(at(set.size())), fitted_(at(set.size()), 0), vertex_boxes_(at(set.vertices())) {
  std::vector<PaddedBox> boxes;
  for (int i = 0; i < set.size(); ++i) {
    boxes.clear();
    for (int k = 0; k < set.items(i); ++k) boxes.push_back(box_of(set.rest_simplex(set.item(i, k))));
    trees_[at(i)].build(boxes);
  }
}

void SurfaceTrees::place(const SurfaceSet& set, const Positions& x, double margin) {
  SUPPLE_EXPECT(x.from.size() >= 3 * at(set.vertices()) && x.to.size() >= 3 * at(set.vertices()));
  surface_boxes_.clear();
  std::fill(fitted_.begin(), fitted_.end(), 0);
  const Positions begin = x.at(0), end = x.at(1);
  for (int i = 0; i < set.size(); ++i) {
    const double grow = set.surface(i).radius + 0.5 * margin;
    const int first = set.placed(i).first_vertex;
    PaddedBox all(BoundingBox{{{HUGE_VAL, HUGE_VAL, HUGE_VAL}}, {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}}});
    for (int v = first; v < first + set.surface(i).vertices(); ++v) {
      PaddedBox& box = vertex_boxes_[at(v)];
      const Vec3d p = begin(v), q = end(v);
      for (int k = 0; k < 3; ++k) {
        // Rounding of a position must not take it out of its box.
        const double more = grow + 4e-16 * (std::abs(p[k]) + std::abs(q[k]));
        box.lower[k] = std::min(p[k], q[k]) - more;
        box.upper[k] = std::max(p[k], q[k]) + more;
      }
      join(all, box);
    }
    surface_boxes_.push_back(all);
  }
}

void SurfaceTrees::fit(const SurfaceSet& set, int surface) {
  if (fitted_[at(surface)]) return;
  fitted_[at(surface)] = 1;
  trees_[at(surface)].refit([&, corners = set.item_corners(surface)](int item) {
    const std::array<int, 3>& v = corners[at(item)];
    PaddedBox box = vertex_box(v[0]);
    join(box, vertex_box(v[1]));
    join(box, vertex_box(v[2]));
    return box;
  });
}

const std::vector<std::array<int, 2>>& SurfaceTrees::close_surfaces(const SurfaceSet& set) {
  close_.clear();
  for (int i = 0; i < set.size(); ++i)
    if (set.placed(i).touches_itself) close_.push_back({i, i});
  surfaces_.build(surface_boxes_);
  surfaces_.pairs_within([&](int i, int j) {
    if (i > j) std::swap(i, j);
    if (set.may_touch(i, j)) close_.push_back({i, j});
  });
  std::sort(close_.begin(), close_.end());
  for (const auto& [i, j] : close_) {
    fit(set, i);
    fit(set, j);
  }
  return close_;
}

PaddedBox SurfaceTrees::box(const SurfaceSet& set, const SurfaceFeature& feature) const {
  const std::array<int, 3> v = set.vertices_of(feature);
  PaddedBox box = vertex_box(v[0]);
  for (std::size_t k = 1; k < at(feature.points); ++k) join(box, vertex_box(v[k]));
  return box;
}

NearestFeature SurfaceTrees::nearest(const SurfaceSet& set, int surface, const Vec3d& point, double limit,
                                     const Positions& x) const {
  NearestFeature found;
  found.distance = limit;
  const Simplex p{1, {point}};
  ClosestPoints best;
  SurfaceFeature item;
  tree(surface).near_point(
      point, [&] { return found.distance; },
      [&](int i) {
        const SurfaceFeature feature = set.item(surface, i);
        const ClosestPoints c = closest_points(p, set.simplex(feature, x));
        if (c.distance > found.distance || (c.distance == found.distance && item.points > 0 && item < feature)) return;
        found.distance = c.distance;
        best = c;
        item = feature;
      });
  if (item.points == 0) return found;
  found.feature = set.part_of(item, best.mask_b());
  found.inside = set.surface(surface).closed && dot(best.difference, outward_normal(set, found.feature, x)) < 0;
  return found;
}

}  // namespace supple

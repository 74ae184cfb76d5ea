#include "engine/collision/surface_gaps.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "engine/collision/piercing.hpp"

namespace supple {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// The least distance of two surfaces below `least`, without regard to insides.
void approach(const SurfaceSet& set, const SurfaceTrees& trees, int i, int j, const Positions& x, SurfaceGap& least) {
  const double radii = set.surface(i).radius + set.surface(j).radius;
  const auto look = [&](const SurfaceFeature& a, const SurfaceFeature& b) {
    const Simplex s = set.simplex(a, x), t = set.simplex(b, x);
    const ClosestPoints points = closest_points(s, t);
    if (!(points.distance - radii < least.gap)) return;
    least = {i, j, points.distance - radii, {{0, 0, 0}}};
    const Simplex& first = a.surface == i ? s : t;
    const auto& weights = a.surface == i ? points.a : points.b;
    for (std::size_t k = 0; k < 3; ++k) least.point = least.point + weights[k] * first.x[k];
  };
  trees.tree(i).near_pairs(
      trees.tree(j), [&] { return least.gap; },
      [&](int p, int q) {
        const SurfaceFeature &a = set.item(i, p), &b = set.item(j, q);
        for (const int v : set.item_vertices(i, p)) look({i, 1, v}, b);
        for (const int v : set.item_vertices(j, q)) look({j, 1, v}, a);
        for (const int e : set.item_edges(i, p))
          for (const int f : set.item_edges(j, q)) look({i, 2, e}, {j, 2, f});
      });
}

class Overlap {
 public:
  Overlap(const SurfaceSet& set, const SurfaceTrees& trees, const Positions& x) : set_(set), trees_(trees), x_(x) {}

  // gap above 0: none.
  SurfaceGap of(int i, int j) {
    deepest_ = {i, j, 1, {{0, 0, 0}}};
    cuts_.clear();
    trees_.tree(i).pairs(trees_.tree(j), [&](int p, int q) {
      cut(i, p, set_.item(j, q));
      cut(j, q, set_.item(i, p));
    });
    for (const Cut& cut : cuts_) deepen(0, set_.simplex(cut.edge, x_).x[0] + cut.s * along(cut.edge));
    chords();
    vertices_inside(i, j);
    vertices_inside(j, i);
    return deepest_;
  }

 private:
  struct Cut {
    SurfaceFeature edge;
    int through;
    double s;
  };

  Vec3d along(const SurfaceFeature& edge) const {
    const Simplex e = set_.simplex(edge, x_);
    return e.x[1] - e.x[0];
  }
  void deepen(double depth, const Vec3d& point) {
    if (deepest_.gap > -depth) {
      deepest_.gap = -depth;
      deepest_.point = point;
    }
  }
  void cut(int surface, int item, const SurfaceFeature& triangle) {
    if (triangle.points != 3) return;
    const Simplex t = set_.simplex(triangle, x_);
    const SurfaceFeature& of = set_.item(surface, item);
    const auto look = [&](const SurfaceFeature& edge) {
      const Piercing p = pierce(set_.simplex(edge, x_), t);
      if (p.pierced) cuts_.push_back({edge, triangle.surface, p.s});
    };
    // All edges, also those that touch no others: an edge of two triangles is met twice, which does no harm.
    if (of.points == 2) look(of);
    if (of.points == 3)
      for (const int e : set_.surface(surface).triangle_edges[at(of.index)]) look({surface, 2, e});
  }
  void depth_of(int surface, const Vec3d& point) {
    if (!set_.surface(surface).closed) return;
    const NearestFeature near = trees_.nearest(set_, surface, point, HUGE_VAL, x_);
    if (near.inside) deepen(near.distance, point);
  }
  // The middles between neighbouring cuts of an edge.
  void chords() {
    std::sort(cuts_.begin(), cuts_.end(), [](const Cut& a, const Cut& b) {
      return std::tie(a.edge, a.through, a.s) < std::tie(b.edge, b.through, b.s);
    });
    for (std::size_t k = 1; k < cuts_.size(); ++k) {
      const Cut &a = cuts_[k - 1], &b = cuts_[k];
      if (a.edge == b.edge && a.through == b.through && a.s < b.s)
        depth_of(a.through, set_.simplex(a.edge, x_).x[0] + 0.5 * (a.s + b.s) * along(a.edge));
    }
  }
  void vertices_inside(int i, int solid) {
    if (!set_.surface(solid).closed) return;
    const int first = set_.placed(i).first_vertex;
    for (int v = first; v < first + set_.surface(i).vertices(); ++v)
      if (distance_to_box(trees_.surface_box(solid), x_(v)) == 0) depth_of(solid, x_(v));
  }

  const SurfaceSet& set_;
  const SurfaceTrees& trees_;
  Positions x_;
  std::vector<Cut> cuts_;
  SurfaceGap deepest_;
};

// Places the trees.
std::vector<SurfaceGap> overlaps(const SurfaceSet& set, SurfaceTrees& trees, std::span<const double> x,
                                 double tolerance) {
  const Positions here{x, x, 0};
  trees.place(set, here, 0);
  Overlap overlap(set, trees, here);
  std::vector<SurfaceGap> found;
  for (const auto& [i, j] : trees.close_surfaces(set)) {
    if (i == j) continue;
    const double radii = set.surface(i).radius + set.surface(j).radius;
    SurfaceGap gap = overlap.of(i, j);
    const bool meet = gap.gap <= 0;
    if (meet) {
      gap.gap -= radii;
    } else {
      gap = {i, j, 0, {{0, 0, 0}}};
      if (radii > 0) approach(set, trees, i, j, here, gap);
    }
    // Sheets that are pierced have no depth.
    const bool sheets = meet && gap.gap == 0 && !(set.surface(i).closed && set.surface(j).closed);
    if (gap.gap < -tolerance || sheets) found.push_back(gap);
  }
  return found;
}

}  // namespace

std::vector<SurfaceGap> overlaps(const SurfaceSet& set, std::span<const double> x, double tolerance) {
  SurfaceTrees trees(set);
  return overlaps(set, trees, x, tolerance);
}

SurfaceGap least_gap(const SurfaceSet& set, std::span<const double> x, double limit) {
  SurfaceTrees trees(set);
  return least_gap(set, trees, x, limit);
}

SurfaceGap least_gap(const SurfaceSet& set, SurfaceTrees& trees, std::span<const double> x, double limit) {
  SurfaceGap least{-1, -1, limit, {{0, 0, 0}}};
  for (const SurfaceGap& gap : overlaps(set, trees, x, 0))
    if (gap.gap < least.gap) least = gap;
  if (least.gap < 0) return least;
  const Positions here{x, x, 0};
  struct Near {
    double distance;
    int i, j;
  };
  std::vector<Near> order;
  for (int i = 0; i < set.size(); ++i)
    for (int j = i + 1; j < set.size(); ++j)
      if (set.may_touch(i, j)) order.push_back({distance_between(trees.surface_box(i), trees.surface_box(j)), i, j});
  std::sort(order.begin(), order.end(), [](const Near& a, const Near& b) {
    return std::tie(a.distance, a.i, a.j) < std::tie(b.distance, b.i, b.j);
  });
  for (const Near& near : order) {
    if (!(near.distance < least.gap)) break;
    trees.fit(set, near.i);
    trees.fit(set, near.j);
    approach(set, trees, near.i, near.j, here, least);
  }
  return least;
}

}  // namespace supple

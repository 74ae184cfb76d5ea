#include "engine/collision/feature_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernels/base/contract.hpp"

namespace supple {
namespace {

// How often a pair that is beside a nearer one is looked at again, each time at a quarter of the gap.
constexpr int most_looks = 3;
constexpr double next_look = 0.25;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double largest_coordinate(const MovingSimplex& a, const MovingSimplex& b) {
  double size = 0;
  for (const MovingSimplex* s : {&a, &b})
    for (std::size_t i = 0; i < at(s->count); ++i)
      for (int k = 0; k < 3; ++k)
        size = std::max({size, std::abs(s->from[i][k]), std::abs(s->from[i][k] + s->step[i][k])});
  return size;
}

// All points of one from all of the other.
bool all_nearer(const Simplex& a, const Simplex& b, double distance) {
  for (std::size_t i = 0; i < at(a.count); ++i)
    for (std::size_t j = 0; j < at(b.count); ++j)
      if (norm(a.x[i] - b.x[j]) >= distance) return false;
  return true;
}

}  // namespace

double linear_gap(const FeaturePair& pair, std::span<const double> x) {
  // Differences to the first vertex: the weights sum to 0.
  const Positions at_x{x, x, 0};
  const Vec3d first = at_x(pair.vertices[0]);
  double gap = -pair.radii;
  for (std::size_t k = 1; k < 4 && pair.vertices[k] >= 0; ++k)
    gap += pair.weights[k] * dot(pair.normal, at_x(pair.vertices[k]) - first);
  return gap;
}

const FeaturePair* find_pair(std::span<const FeaturePair> pairs, std::uint64_t key) {
  const auto at = std::ranges::lower_bound(pairs, key, {}, &FeaturePair::key);
  return at != pairs.end() && at->key == key ? &*at : nullptr;
}

const std::vector<FeaturePair>& ContactSearch::pairs(std::span<const double> x0, std::span<const double> x1,
                                                     double reach) {
  return search({x0, x1, 0}, reach, false);
}

const std::vector<FeaturePair>& ContactSearch::violations(std::span<const double> x0, std::span<const double> x1,
                                                          double distance) {
  return search({x0, x1, 0}, distance, true);
}

const std::vector<FeaturePair>& ContactSearch::search(const Positions& x, double goal, bool only_violations) {
  SUPPLE_EXPECT(goal >= 0);
  x_ = x;
  goal_ = goal;
  only_violations_ = only_violations;
  candidates_ = 0;
  found_.clear();
  doubtful_.clear();
  trees_.place(set_, x, std::max(goal, settings_.depth));
  for (const auto& [i, j] : trees_.close_surfaces(set_)) {
    if (i == j)
      trees_.tree(i).pairs_within([&, s = i](int p, int q) { visit_items(s, p, s, q); });
    else
      trees_.tree(i).pairs(trees_.tree(j), [&, s = i, t = j](int p, int q) { visit_items(s, p, t, q); });
  }
  // Of pairs that nothing else explains only the first ones: what comes after a contact means nothing.
  if (found_.empty()) {
    std::swap(found_, doubtful_);
    double first = 1;
    for (const FeaturePair& p : found_) first = std::min(first, p.time);
    std::erase_if(found_, [&](const FeaturePair& p) { return p.time > first; });
  }
  sort_results();
  return found_;
}

// Planes along either triangle, or across what is between them, keep two items apart: this is cheaper than a look at
// the up to 15 pairs of their features.
bool ContactSearch::stay_apart(const SurfaceFeature& p, const SurfaceFeature& q) const {
  const MovingSimplex a = set_.moving(p, x_), b = set_.moving(q, x_);
  const double radii = set_.surface(p.surface).radius + set_.surface(q.surface).radius;
  const double distance = (1 + 1e-9) * (radii + std::max(goal_, settings_.depth));
  const auto normal = [](const MovingSimplex& s) { return cross(s.from[1] - s.from[0], s.from[2] - s.from[0]); };
  if (p.points == 3 && stays_apart(a, b, normal(a), distance)) return true;
  if (q.points == 3 && stays_apart(a, b, normal(b), distance)) return true;
  const auto centre = [](const MovingSimplex& s) {
    Vec3d sum{{0, 0, 0}};
    for (std::size_t k = 0; k < at(s.count); ++k) sum = sum + s.from[k];
    return (1.0 / s.count) * sum;
  };
  return stays_apart(a, b, centre(a) - centre(b), distance);
}

void ContactSearch::visit_items(int i, int item_i, int j, int item_j) {
  const SurfaceFeature &p = set_.item(i, item_i), &q = set_.item(j, item_j);
  if (i == j && all_nearer(set_.rest_simplex(p), set_.rest_simplex(q), set_.placed(i).rest_exclusion)) return;
  if (!(i == j && set_.share_a_vertex(p, q)) && stay_apart(p, q)) return;
  const PaddedBox p_box = trees_.box(set_, p), q_box = trees_.box(set_, q);
  const auto vertices = [&](int surface, int item, const SurfaceFeature& other, const PaddedBox& box) {
    for (const int v : set_.item_vertices(surface, item))
      if (overlap(trees_.vertex_box(set_.placed(surface).first_vertex + v), box)) examine({surface, 1, v}, other);
  };
  vertices(i, item_i, q, q_box);
  if (p.points > 1 || q.points > 1) vertices(j, item_j, p, p_box);
  for (const int e : set_.item_edges(i, item_i)) {
    const SurfaceFeature a{i, 2, e};
    const PaddedBox box = trees_.box(set_, a);
    if (!overlap(box, q_box)) continue;
    for (const int f : set_.item_edges(j, item_j)) {
      const SurfaceFeature b{j, 2, f};
      if (overlap(box, trees_.box(set_, b))) examine(a, b);
    }
  }
}

bool ContactSearch::counts(const FeaturePair& pair) const {
  return !only_violations_ || linear_gap(pair, x_.to) < goal_ - settings_.tolerance;
}

FeaturePair ContactSearch::row(const PairGeometry& geometry, double radii, double time) const {
  FeaturePair pair;
  pair.a = geometry.a;
  pair.b = geometry.b;
  pair.key = static_cast<std::uint64_t>(set_.code(pair.a)) << 32 | set_.code(pair.b);
  const std::array<int, 3> a = set_.vertices_of(pair.a), b = set_.vertices_of(pair.b);
  std::size_t n = 0;
  for (std::size_t k = 0; k < at(pair.a.points); ++k, ++n) {
    pair.vertices[n] = a[k];
    pair.weights[n] = geometry.weights_a[k];
  }
  for (std::size_t k = 0; k < at(pair.b.points); ++k, ++n) {
    pair.vertices[n] = b[k];
    pair.weights[n] = -geometry.weights_b[k];
  }
  pair.normal = geometry.normal;
  pair.radii = radii;
  pair.gap = geometry.distance - radii;
  pair.time = time;
  return pair;
}

// Features of one surface that never touch.
bool ContactSearch::rest_excludes(const SurfaceFeature& a, const SurfaceFeature& b) const {
  if (a.surface != b.surface) return false;
  const double exclusion = set_.placed(a.surface).rest_exclusion;
  return set_.share_a_vertex(a, b) ||
         (exclusion > 0 && closest_points(set_.rest_simplex(a), set_.rest_simplex(b)).distance < exclusion);
}

// a: a vertex, or both are edges.
void ContactSearch::examine(const SurfaceFeature& a, const SurfaceFeature& b) {
  const bool edges = a.points == 2;
  if (rest_excludes(a, b)) return;
  ++candidates_;
  const double radii = set_.surface(a.surface).radius + set_.surface(b.surface).radius, level = radii + goal_;
  const MovingSimplex from_a = set_.moving(a, x_), from_b = set_.moving(b, x_);
  ContactTime hit = time_of_contact(from_a, from_b, level);
  if (!hit.reached && hit.first.distance > settings_.depth) return;
  const double size = largest_coordinate(from_a, from_b);
  const auto geometry = [&](const ClosestPoints& points) { return pair_geometry(set_, a, b, points, size); };
  // Where it starts: in touch, or a little inside.
  PairGeometry start;
  if (hit.first.distance <= std::max(level, settings_.depth)) {
    start = geometry(hit.first);
    if (start.touching ? set_touching_normal(set_, start, edges, x_)
                       : turn_if_inside(set_, trees_, start, edges, settings_.depth, x_)) {
      const FeaturePair pair = row(start, radii, 0);
      if (counts(pair)) found_.push_back(pair);
      if (counts(pair) || !start.touching) return;
    }
  }
  if (!hit.reached) return;
  const auto take = [&](const PairGeometry& found, double time) {
    if (edges && (found.a.points != 2 || found.parallel)) return false;
    const FeaturePair pair = row(found, radii, time);
    if (!counts(pair) || facing(set_, found, edges, x_.at(time)) != Facing::yes) return false;
    found_.push_back(pair);
    return true;
  };
  // Something came too near, but no contact may explain it: where surfaces fold, their normals mean nothing.
  const auto doubt = [&](const PairGeometry& found, double time) {
    if (!only_violations_ || !found_.empty() || (edges && (found.a.points != 2 || found.parallel))) return;
    const FeaturePair pair = row(found, radii, time);
    if (!counts(pair)) return;
    // It was behind or hidden from the start.
    if (start.a.points > 0 && !start.touching && !(edges && start.a.points != 2) &&
        facing(set_, start, edges, x_) == Facing::no)
      return;
    doubtful_.push_back(pair);
  };
  for (int look = 0; hit.reached; ++look) {
    const PairGeometry found = geometry(hit.points);
    if (found.touching) break;
    if (take(found, hit.time)) return;
    if (look == most_looks) {
      doubt(found, hit.time);
      break;
    }
    const double distance = hit.points.distance;
    const double less = (1 - next_look) * std::max({distance - radii, goal_, 0.1 * radii});
    hit = time_of_contact(from_a, from_b, std::max(distance - less, next_look * distance), hit.time);
  }
  const ClosestPoints end = closest_points(from_a.at(1), from_b.at(1));
  if (!(end.distance < level - (only_violations_ ? settings_.tolerance : 0))) return;
  const PairGeometry found = geometry(end);
  if (!found.touching && !take(found, 1)) doubt(found, 1);
}

void ContactSearch::sort_results() {
  std::sort(found_.begin(), found_.end(), [](const FeaturePair& p, const FeaturePair& q) {
    return std::tie(p.key, p.time, p.gap) < std::tie(q.key, q.time, q.gap);
  });
  const auto same = [](const FeaturePair& p, const FeaturePair& q) { return p.key == q.key; };
  found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
  // A vertex that goes through a sheet is on the wrong side of the triangles it meets later: the first one counts.
  const auto wrong = [&](const FeaturePair& p, const FeaturePair& q) {
    return q.b.surface == p.b.surface && q.time < p.time && dot(p.normal, q.normal) < 0;
  };
  const auto is_sheet = [&](const FeaturePair& p) { return p.b.points == 3 && !set_.surface(p.b.surface).closed; };
  for (std::size_t begin = 0, end = 0; begin < found_.size(); begin = end) {
    for (end = begin; end < found_.size() && found_[end].a == found_[begin].a; ++end) {
    }
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = begin; k < end && is_sheet(found_[i]); ++k)
        if (wrong(found_[i], found_[k])) found_[i].a.points = -found_[i].a.points;
  }
  std::erase_if(found_, [](const FeaturePair& p) { return p.a.points < 0; });
}

}  // namespace supple

#pragma once
// All pairs of features that come near each other in a step, and those that a motion would bring too near: what a
// contact stage makes its rows of. Positions move linearly from x0 to x1 [3 per vertex, m]. With weights w, normal n
// and radii r of a pair the row is
//   gap(x) = n . sum_k w_k x_k - r >= distance
// which is the true gap at the time at which the pair was taken, and its derivative.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/collision/pair_geometry.hpp"

namespace supple {

struct FeaturePair {
  std::uint64_t key = 0;  // codes of a and b (SurfaceSet::code): one pair per key, ascending in every result
  SurfaceFeature a, b;    // the closest features: vertex and vertex, edge or face, or two edges
  std::array<int, 4> vertices{-1, -1, -1, -1};  // in positions: those of a, then of b; -1 beyond
  std::array<double, 4> weights{};              // convex ones of a; of b with a minus
  Vec3d normal{{0, 0, 1}};                      // unit, from b to a, outwards where a surface is closed
  double radii = 0;                             // m
  double gap = 0;                               // at `time`, below 0: penetration [m]
  double time = 0;                              // in [0, 1]
};

/// n . sum_k w_k x_k - radii [m].
double linear_gap(const FeaturePair& pair, std::span<const double> x);

/// The pair of a key among results, or null.
const FeaturePair* find_pair(std::span<const FeaturePair> pairs, std::uint64_t key);

struct SearchSettings {
  // Vertices up to this far inside a closed surface at x0 [m], below half of the least thickness: they are pushed out
  // where they are nearest to the outside. Deeper ones are not found (surface_gaps.hpp finds them).
  double depth = 0;
  // violations: a gap this far below the distance is one [m]; more than what rows are solved to.
  double tolerance = 1e-9;
};

/// Results are valid until the next call and do not depend on threads. x0 and x1 are finite.
class ContactSearch {
 public:
  explicit ContactSearch(SurfaceSet set, const SearchSettings& settings = {})
      : set_(std::move(set)), trees_(set_), settings_(settings) {}

  /// Pairs whose gap comes to `reach` or less on the way, as they are at the first time at which they do; also a few
  /// that stay above it by up to 1e-3 of their way. A pair that is beside a nearer feature at that time is taken later,
  /// when it is nearest at one of the times looked at (three smaller gaps, the end), or left out.
  const std::vector<FeaturePair>& pairs(std::span<const double> x0, std::span<const double> x1, double reach);

  /// Pairs whose row, taken where their gap first comes to `distance` (at x0 if it is there already), is violated at
  /// x1; of a pair whose row holds, but whose gap at x1 is too small, the row taken at x1. If no pair is nearest among
  /// its neighbours, the first of those that come too near. None: for surfaces that started without penetration, no
  /// gap is below `distance` less the tolerance at x1, and none comes below a quarter of it on the way (1/64 where a
  /// surface folds).
  const std::vector<FeaturePair>& violations(std::span<const double> x0, std::span<const double> x1, double distance);

  const SurfaceSet& set() const { return set_; }
  const SearchSettings& settings() const { return settings_; }
  /// Pairs of features looked at in the last call, for measurements.
  std::size_t candidates() const { return candidates_; }

 private:
  const std::vector<FeaturePair>& search(const Positions& x, double goal, bool only_violations);
  bool stay_apart(const SurfaceFeature& p, const SurfaceFeature& q) const;
  void visit_items(int i, int item_i, int j, int item_j);
  void examine(const SurfaceFeature& a, const SurfaceFeature& b);
  bool rest_excludes(const SurfaceFeature& a, const SurfaceFeature& b) const;
  FeaturePair row(const PairGeometry& geometry, double radii, double time) const;
  bool counts(const FeaturePair& pair) const;
  void sort_results();

  SurfaceSet set_;
  SurfaceTrees trees_;
  SearchSettings settings_;
  Positions x_;
  double goal_ = 0;  // reach or distance
  bool only_violations_ = false;
  std::size_t candidates_ = 0;
  std::vector<FeaturePair> found_;
  std::vector<FeaturePair> doubtful_;  // for violations, if none is found: pairs beside nearer ones that came too near
};

}  // namespace supple

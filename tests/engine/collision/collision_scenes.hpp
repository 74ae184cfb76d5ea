#pragma once
// Surfaces in motion for the tests of engine/collision, and loops over everything that stand beside its trees.

#include <cmath>
#include <random>
#include <vector>

#include "engine/collision/feature_pairs.hpp"
#include "engine/mesh/mesh.hpp"

namespace supple::collision_tests {

class Random {
 public:
  explicit Random(unsigned seed) : numbers_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(numbers_); }
  Vec3d point(double half) { return {{uniform(-half, half), uniform(-half, half), uniform(-half, half)}}; }
  Vec3d direction() {
    std::normal_distribution<double> normal;
    return normalized(Vec3d{{normal(numbers_), normal(numbers_), normal(numbers_)}});
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(numbers_); }

 private:
  std::mt19937_64 numbers_;
};

// Surfaces with places at the begin and the end of a step.
struct Scene {
  std::vector<PlacedSurface> surfaces;
  std::vector<double> x0, x1;

  // Moves from `begin` to `end`, each a turn and a shift of the rest shape. Returns its number.
  int add(const CollisionSurface& surface, const Transform& begin, const Transform& end) {
    PlacedSurface placed;
    placed.surface = surface;
    placed.first_vertex = static_cast<int>(x0.size() / 3);
    surfaces.push_back(placed);
    for (const Vec3d& x : surface.rest) {
      const Vec3d p = apply(begin, x), q = apply(end, x);
      x0.insert(x0.end(), p.v, p.v + 3);
      x1.insert(x1.end(), q.v, q.v + 3);
    }
    return static_cast<int>(surfaces.size()) - 1;
  }
  int add(const CollisionSurface& surface, const Vec3d& begin, const Vec3d& end) {
    return add(surface, Transform{{{0, 0, 0}}, begin, 1}, Transform{{{0, 0, 0}}, end, 1});
  }
  int add(const CollisionSurface& surface, const Vec3d& place) { return add(surface, place, place); }
};

// n x n squares of two triangles, on z = 0 and centred: a sheet, or with z = -thickness below it a closed plate.
inline CollisionSurface square_sheet(int n, double side) {
  std::vector<Vec3d> x;
  std::vector<std::array<int, 3>> triangles;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) x.push_back({{side * (double(i) / n - 0.5), side * (double(j) / n - 0.5), 0}});
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int k = j * (n + 1) + i;
      triangles.push_back({k, k + 1, k + n + 2});
      triangles.push_back({k, k + n + 2, k + n + 1});
    }
  return make_collision_surface(x, triangles);
}

// A closed ball of 2 n (2 n - 2) triangles.
inline CollisionSurface ball(int n, double radius) {
  const double pi = std::acos(-1.0);
  std::vector<Vec3d> x{{{0, 0, radius}}};
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < 2 * n; ++k)
      x.push_back({{radius * std::sin(pi * i / n) * std::cos(pi * k / n),
                    radius * std::sin(pi * i / n) * std::sin(pi * k / n), radius * std::cos(pi * i / n)}});
  x.push_back({{0, 0, -radius}});
  const auto at = [&](int i, int k) { return 1 + (i - 1) * 2 * n + k % (2 * n); };
  std::vector<std::array<int, 3>> triangles;
  for (int k = 0; k < 2 * n; ++k) {
    triangles.push_back({0, at(1, k), at(1, k + 1)});
    triangles.push_back({static_cast<int>(x.size()) - 1, at(n - 1, k + 1), at(n - 1, k)});
    for (int i = 1; i < n - 1; ++i) {
      triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
      triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
    }
  }
  return make_collision_surface(x, triangles);
}

// Every pair of features of different surfaces: visit(a, b), vertices with items and edges with edges.
template <class Visit>
void every_pair(const SurfaceSet& set, Visit visit) {
  for (int i = 0; i < set.size(); ++i)
    for (int j = 0; j < set.size(); ++j) {
      if (i == j || !set.may_touch(i, j)) continue;
      for (int v = 0; v < set.surface(i).vertices(); ++v)
        for (int k = 0; k < set.items(j); ++k) visit(SurfaceFeature{i, 1, v}, set.item(j, k));
      if (i > j) continue;
      for (int e = 0; e < static_cast<int>(set.surface(i).edges.size()); ++e)
        for (int f = 0; f < static_cast<int>(set.surface(j).edges.size()); ++f)
          visit(SurfaceFeature{i, 2, e}, SurfaceFeature{j, 2, f});
    }
}

// Least distance of features less radii, without regard to insides.
inline double least_distance(const SurfaceSet& set, const Positions& x) {
  double least = HUGE_VAL;
  every_pair(set, [&](const SurfaceFeature& a, const SurfaceFeature& b) {
    const double radii = set.surface(a.surface).radius + set.surface(b.surface).radius;
    least = std::min(least, closest_points(set.simplex(a, x), set.simplex(b, x)).distance - radii);
  });
  return least;
}

}  // namespace supple::collision_tests

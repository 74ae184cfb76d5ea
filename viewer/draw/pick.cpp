#include "viewer/draw/pick.hpp"

#include <algorithm>
#include <cmath>

namespace supple::view {

namespace {

// Möller and Trumbore, Fast, minimum storage ray/triangle intersection (1997): origin + t d = a + u e1 + v e2, solved
// by Cramer's rule; both sides count.
std::optional<Hit> meet(const Ray& ray, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  // A triangle without area, or seen edge-on, has a determinant of rounding errors only.
  constexpr double flat = 1e-12;
  // An edge belongs to both its triangles: no ray slips through between them.
  constexpr double edge = 1e-9;
  const Vec3d e1 = b - a, e2 = c - a;
  const Vec3d across = cross(ray.direction, e2);
  const double determinant = dot(e1, across);
  if (!(std::abs(determinant) > flat * norm(e1) * norm(e2))) return std::nullopt;
  const Vec3d from = ray.origin - a;
  const Vec3d side = cross(from, e1);
  const double u = dot(from, across) / determinant, v = dot(ray.direction, side) / determinant;
  const double distance = dot(e2, side) / determinant;
  if (!(u >= -edge && v >= -edge && u + v <= 1 + edge && distance > 0)) return std::nullopt;
  std::array<double, 3> weights{std::max(1 - u - v, 0.0), std::max(u, 0.0), std::max(v, 0.0)};
  const double sum = weights[0] + weights[1] + weights[2];
  for (double& weight : weights) weight /= sum;
  return Hit{-1, weights, distance};
}

}  // namespace

std::optional<Hit> pick(const Ray& ray, std::span<const Vec3d> nodes, std::span<const std::array<int, 3>> triangles) {
  std::optional<Hit> nearest;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto corner = [&](std::size_t k) -> const Vec3d& { return nodes[static_cast<std::size_t>(triangles[t][k])]; };
    const auto hit = meet(ray, corner(0), corner(1), corner(2));
    if (!hit || (nearest && nearest->distance <= hit->distance)) continue;
    nearest = hit;
    nearest->triangle = static_cast<int>(t);
  }
  return nearest;
}

}  // namespace supple::view

#include "engine/obstacles/surface_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "engine/mesh/closed_surface.hpp"
#include "engine/mesh/geometry.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

constexpr double least_height = 1e-12;       // of a triangle, of its longest side
constexpr double least_distance = 1e-10;     // for a direction, of the surface's size
constexpr double largest_coordinate = 1e30;  // as in check_mesh

[[noreturn]] void fail(const Surface& surface, const std::string& problem, const std::string& suggestion) {
  throw InputError(problem, suggestion, {surface.name, 0, 0, ""});
}

void check(const Surface& surface) {
  const int nodes = static_cast<int>(surface.nodes.size());
  if (surface.triangles.empty()) fail(surface, "the surface has no triangles", "export it again as STL or OBJ");
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    std::array<Vec3d, 3> x;
    for (std::size_t k = 0; k < 3; ++k) {
      const int node = surface.triangles[t][k];
      if (node < 0 || node >= nodes)
        fail(surface, fmt::format("triangle {} uses node {} (there are {})", t, node, nodes),
             "export the surface again");
      x[k] = surface.nodes[static_cast<std::size_t>(node)];
      for (int i = 0; i < 3; ++i)
        if (!(std::abs(x[k][i]) <= largest_coordinate))
          fail(surface, fmt::format("node {} has the coordinate {} (not a usable number)", node, x[k][i]),
               "export the surface again");
    }
    const double side = std::max({norm(x[1] - x[0]), norm(x[2] - x[1]), norm(x[0] - x[2])});
    if (!(norm(cross(x[1] - x[0], x[2] - x[0])) > least_height * side * side))
      fail(surface,
           fmt::format("triangle {} has no area (its corners are on one line, near ({:.4g}, {:.4g}, {:.4g}) m)", t,
                       x[0][0], x[0][1], x[0][2]),
           "remove degenerate triangles in a mesh program and close the gaps they leave");
  }
  auto triangles = surface.triangles;
  const ClosedSurfaceReport report = orient_closed_surface(surface.nodes, triangles);
  if (!report.closed())
    fail(surface, fmt::format("the surface does not enclose a volume ({})", describe(report, surface.nodes)),
         "fill its holes and merge vertices at the same place in a mesh program");
  if (report.turned > 0)
    fail(surface, fmt::format("{} of {} triangles face the inside of the solid", report.turned, triangles.size()),
         "recalculate normals outside in a mesh program; a solid with a hollow in it cannot be an obstacle");
}

std::vector<BoundingBox> triangle_boxes(const Surface& surface) {
  std::vector<BoundingBox> boxes;
  boxes.reserve(surface.triangles.size());
  for (const auto& triangle : surface.triangles) {
    const Vec3d& first = surface.nodes[static_cast<std::size_t>(triangle[0])];
    boxes.push_back({first, first});
    for (const int node : triangle) extend(boxes.back(), surface.nodes[static_cast<std::size_t>(node)]);
  }
  return boxes;
}

// Both sides of every edge stand next to each other.
std::vector<std::pair<std::size_t, std::size_t>> paired_sides(const std::vector<std::array<int, 3>>& triangles) {
  struct Side {
    int low, high;
    std::size_t number;  // 3 triangle + k
  };
  std::vector<Side> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(triangles[t][k], triangles[t][(k + 1) % 3]);
      sides.push_back({low, high, 3 * t + k});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.number) < std::tie(b.low, b.high, b.number);
  });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < sides.size(); i += 2) pairs.emplace_back(sides[i].number, sides[i + 1].number);
  return pairs;
}

Surface checked(Surface surface) {
  check(surface);
  return surface;
}

}  // namespace

SurfaceDistance::SurfaceDistance(Surface surface)
    : surface_(checked(std::move(surface))),
      tree_(triangle_boxes(surface_)),
      smallest_(least_distance * norm(box().upper - box().lower)),
      edge_normals_(surface_.triangles.size()),
      edges_(surface_.triangles.size()),
      corner_normals_(surface_.nodes.size(), Vec3d{{0, 0, 0}}) {
  for (std::size_t t = 0; t < surface_.triangles.size(); ++t) {
    const std::array<Vec3d, 3> x = corners(static_cast<int>(t));
    const Vec3d n = normalized(cross(x[1] - x[0], x[2] - x[0]));
    face_normals_.push_back(n);
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d u = x[(k + 1) % 3] - x[k], v = x[(k + 2) % 3] - x[k];
      const double angle = std::atan2(norm(cross(u, v)), dot(u, v));
      Vec3d& N = corner_normals_[static_cast<std::size_t>(surface_.triangles[t][k])];
      N = N + angle * n;
    }
  }
  for (const auto& [a, b] : paired_sides(surface_.triangles)) {
    edge_normals_[a / 3][a % 3] = edge_normals_[b / 3][b % 3] = face_normals_[a / 3] + face_normals_[b / 3];
    edges_[a / 3][a % 3] = edges_[b / 3][b % 3] = static_cast<int>(a);
  }
}

std::array<Vec3d, 3> SurfaceDistance::corners(int triangle) const {
  const auto& t = surface_.triangles[static_cast<std::size_t>(triangle)];
  const auto at = [&](std::size_t k) { return surface_.nodes[static_cast<std::size_t>(t[k])]; };
  return {at(0), at(1), at(2)};
}

Proximity SurfaceDistance::at(const Vec3d& x) const {
  double least = std::numeric_limits<double>::infinity();
  int triangle = -1;
  TrianglePoint found{};
  tree_.search(
      x, [&] { return least; },
      [&](int t) {
        const std::array<Vec3d, 3> c = corners(t);
        const TrianglePoint point = nearest_on_triangle(x, c[0], c[1], c[2]);
        const double distance = norm(x - point.point);
        if (distance > least || (distance == least && t > triangle)) return;
        least = distance;
        triangle = t;
        found = point;
      });
  const auto t = static_cast<std::size_t>(triangle);
  const auto is_zero = [&](int k) { return found.weights[k] == 0; };
  const int zeros = is_zero(0) + is_zero(1) + is_zero(2);
  const Vec3d away = x - found.point;

  Proximity result;
  result.nearest = found.point;
  const auto face = [&](const Vec3d& N) {
    const double sign = dot(away, N) < 0 ? -1 : 1;
    result.gap = sign * least;
    return sign;
  };
  if (zeros == 0) {
    result.feature = Feature::face;
    result.index = triangle;
    result.normal = face_normals_[t];
    face(result.normal);
    return result;
  }
  // Side k is opposite to corner k + 2.
  const std::size_t k = zeros == 1 ? (is_zero(2) ? 0 : is_zero(0) ? 1 : 2) : (!is_zero(0) ? 0 : !is_zero(1) ? 1 : 2);
  result.feature = zeros == 1 ? Feature::edge : Feature::corner;
  result.index = zeros == 1 ? edges_[t][k] : surface_.triangles[t][k];
  const Vec3d& N = zeros == 1 ? edge_normals_[t][k] : corner_normals_[static_cast<std::size_t>(result.index)];
  const double sign = face(N);
  if (least <= smallest_) {
    result.normal = normalized(N);
    return result;
  }
  result.normal = (sign / least) * away;
  Mat3d projector = across(result.normal);
  if (zeros == 1) {
    const std::array<Vec3d, 3> c = corners(triangle);
    projector = across(result.normal, normalized(c[(k + 1) % 3] - c[k]));
  }
  result.curvature = (sign / least) * projector;
  return result;
}

}  // namespace supple

#include "engine/mesh/closed_surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace supple {

namespace {

// A part whose volume is below this fraction of (its area)^1.5 encloses nothing: a sphere has 0.094, rounding 1e-16.
constexpr double least_volume = 1e-9;

// One side of a triangle: nodes in ascending order, and whether the triangle goes from the lower to the higher one.
struct Side {
  int low, high, triangle;
  bool forward;
};

std::vector<Side> sides_of(const std::vector<std::array<int, 3>>& triangles) {
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = triangles[t][k], b = triangles[t][(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), static_cast<int>(t), a < b});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  return sides;
}

Vec3d corner(const std::vector<Vec3d>& nodes, const std::array<int, 3>& triangle, std::size_t k) {
  return nodes[static_cast<std::size_t>(triangle[k])];
}

struct Part {
  double volume = 0, area = 0;
};

void add(const std::vector<Vec3d>& nodes, const std::array<int, 3>& triangle, const Vec3d& origin, Part& part) {
  const Vec3d a = corner(nodes, triangle, 0) - origin, b = corner(nodes, triangle, 1) - origin,
              c = corner(nodes, triangle, 2) - origin;
  part.volume += dot(a, cross(b, c)) / 6;
  part.area += norm(cross(b - a, c - a)) / 2;
}

Part whole(const std::vector<Vec3d>& nodes, const std::vector<std::array<int, 3>>& triangles) {
  Part part;
  for (const auto& triangle : triangles) add(nodes, triangle, corner(nodes, triangles.front(), 0), part);
  return part;
}

}  // namespace

ClosedSurfaceReport orient_closed_surface(const std::vector<Vec3d>& nodes, std::vector<std::array<int, 3>>& triangles) {
  ClosedSurfaceReport report;
  const std::vector<Side> sides = sides_of(triangles);
  struct Neighbour {
    int triangle;
    bool same;  // both have the orientation of a consistent surface
  };
  std::vector<std::vector<Neighbour>> neighbours(triangles.size());
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i;
    while (end < sides.size() && sides[end].low == sides[i].low && sides[end].high == sides[i].high) ++end;
    if (end - i == 2) {
      const Side &a = sides[i], &b = sides[i + 1];
      neighbours[static_cast<std::size_t>(a.triangle)].push_back({b.triangle, a.forward != b.forward});
      neighbours[static_cast<std::size_t>(b.triangle)].push_back({a.triangle, a.forward != b.forward});
    } else {
      ++(end - i == 1 ? report.open_edges : report.crowded_edges);
      if (report.edge[0] < 0) report.edge = {sides[i].low, sides[i].high};
    }
    i = end;
  }
  // Part by part: agree with the first triangle, then see which way round the volume is positive.
  enum : char { unseen, kept, turned };
  std::vector<char> seen(triangles.size(), unseen);
  for (std::size_t first = 0; first < triangles.size(); ++first) {
    if (seen[first] != unseen) continue;
    ++report.parts;
    std::vector<std::size_t> part{first};
    seen[first] = kept;
    for (std::size_t k = 0; k < part.size(); ++k)
      for (const Neighbour& neighbour : neighbours[part[k]]) {
        const auto t = static_cast<std::size_t>(neighbour.triangle);
        const char wanted = neighbour.same == (seen[part[k]] == kept) ? kept : turned;
        if (seen[t] == unseen) {
          seen[t] = wanted;
          part.push_back(t);
        } else if (seen[t] != wanted) {
          ++report.twisted_edges;
          if (report.edge[0] < 0) report.edge = {triangles[part[k]][0], triangles[part[k]][1]};
        }
      }
    for (const std::size_t t : part)
      if (seen[t] == turned) std::swap(triangles[t][1], triangles[t][2]);
    Part size;
    for (const std::size_t t : part) add(nodes, triangles[t], corner(nodes, triangles[first], 0), size);
    const bool inward = size.volume < 0;
    for (const std::size_t t : part) {
      if (inward) std::swap(triangles[t][1], triangles[t][2]);
      if (inward != (seen[t] == turned)) ++report.turned;
    }
    if (!(std::abs(size.volume) > least_volume * size.area * std::sqrt(size.area))) ++report.flat_parts;
  }
  return report;
}

std::string describe(const ClosedSurfaceReport& report, const std::vector<Vec3d>& nodes) {
  const auto count = [](int n, const char* one, const char* many) {
    return n == 1 ? fmt::format("one {}", one) : fmt::format("{} {}", n, many);
  };
  std::string text;
  if (report.open_edges > 0)
    text = count(report.open_edges, "edge belongs to one triangle only", "edges belong to one triangle only");
  else if (report.crowded_edges > 0)
    text = count(report.crowded_edges, "edge belongs to more than two triangles",
                 "edges belong to more than two triangles");
  else if (report.twisted_edges > 0)
    text = "its triangles have no common orientation";
  else if (report.flat_parts > 0)
    return "a part of it has no volume";
  else
    return "it has no triangle";
  const auto at = [&](std::size_t k) { return nodes[static_cast<std::size_t>(report.edge[k])]; };
  const Vec3d a = at(0), b = at(1);
  return fmt::format("{}, {}between ({:.4g}, {:.4g}, {:.4g}) and ({:.4g}, {:.4g}, {:.4g}) m", text,
                     report.open_edges + report.crowded_edges == 1 ? "" : "for instance ", a[0], a[1], a[2], b[0], b[1],
                     b[2]);
}

double enclosed_volume(const std::vector<Vec3d>& nodes, const std::vector<std::array<int, 3>>& triangles) {
  return whole(nodes, triangles).volume;
}

double surface_area(const std::vector<Vec3d>& nodes, const std::vector<std::array<int, 3>>& triangles) {
  return whole(nodes, triangles).area;
}

}  // namespace supple

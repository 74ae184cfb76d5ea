#include "viewer/draw/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/mesh/geometry.hpp"

namespace supple::view {

namespace {

constexpr int ball_bands = 8;  // from pole to pole

std::array<float, 3> floats(const Vec3d& x) {
  return {static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2])};
}

}  // namespace

Segment segment(const Vec3d& from, const Vec3d& to, Colour colour, float width) {
  return {floats(from), floats(to), colour, width};
}

void add_revolved(const Vec3d& origin, const Vec3d& axis, std::span<const Ring> rings, Colour colour,
                  Surfaces& surfaces, int sectors) {
  // Two directions across: the coordinate axis that is farthest from the axis is not along it.
  int least = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(axis[k]) < std::abs(axis[least])) least = k;
  Vec3d unit{{0, 0, 0}};
  unit[least] = 1;
  const Vec3d x = normalized(cross(axis, unit)), y = cross(axis, x);
  const auto first = static_cast<std::uint32_t>(surfaces.vertices.size()), turn = static_cast<std::uint32_t>(sectors);
  for (const Ring& ring : rings)
    for (int s = 0; s < sectors; ++s) {
      const double angle = 2 * std::numbers::pi * s / sectors;
      const Vec3d out = std::cos(angle) * x + std::sin(angle) * y;
      surfaces.vertices.push_back({floats(origin + ring.along * axis + ring.radius * out),
                                   floats(ring.normal_along * axis + ring.normal_out * out), colour});
    }
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (const std::uint32_t vertex : {a, b, c}) surfaces.triangles.push_back(first + vertex);
  };
  for (std::size_t k = 0; k + 1 < rings.size(); ++k) {
    if (rings[k].along == rings[k + 1].along && rings[k].radius == rings[k + 1].radius) continue;
    for (int s = 0; s < sectors; ++s) {
      const auto low = static_cast<std::uint32_t>(k) * turn, high = low + turn;
      const auto here = static_cast<std::uint32_t>(s), next = static_cast<std::uint32_t>((s + 1) % sectors);
      if (rings[k].radius > 0) add(low + here, low + next, high + next);
      if (rings[k + 1].radius > 0) add(low + here, high + next, high + here);
    }
  }
}

void add_ball(const Vec3d& centre, double radius, Colour colour, Surfaces& surfaces) {
  std::array<Ring, ball_bands + 1> rings;
  for (std::size_t k = 0; k < rings.size(); ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / ball_bands;
    const bool pole = k == 0 || k == ball_bands;
    const double along = -std::cos(angle), out = pole ? 0 : std::sin(angle);
    rings[k] = {radius * along, radius * out, along, out};
  }
  add_revolved(centre, {{0, 0, 1}}, rings, colour, surfaces);
}

void add_rod(const Vec3d& a, const Vec3d& b, double radius, Colour colour, Surfaces& surfaces) {
  const double length = norm(b - a);
  if (!(length > 0)) return;
  const Ring rings[] = {{0, 0, -1, 0},          {0, radius, -1, 0},     {0, radius, 0, 1},
                        {length, radius, 0, 1}, {length, radius, 1, 0}, {length, 0, 1, 0}};
  add_revolved(a, (1 / length) * (b - a), rings, colour, surfaces);
}

void add_tube(std::span<const Vec3d> path, double radius, Colour colour, Surfaces& surfaces) {
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (i > 0) add_ball(path[i], radius, colour, surfaces);
    add_rod(path[i], path[i + 1], radius, colour, surfaces);
  }
}

void add_arrow(const Vec3d& a, const Vec3d& b, double radius, Colour colour, Surfaces& surfaces) {
  const double length = norm(b - a);
  if (!(length > 0)) return;
  const double head = std::min(length / 4, 8 * radius), neck = length - head;
  const double wide = std::max(radius, 0.375 * head), slant = std::hypot(head, wide);
  const Ring rings[] = {{0, 0, -1, 0},
                        {0, radius, -1, 0},
                        {0, radius, 0, 1},
                        {neck, radius, 0, 1},
                        {neck, radius, -1, 0},
                        {neck, wide, -1, 0},
                        {neck, wide, wide / slant, head / slant},
                        {length, 0, wide / slant, head / slant}};
  add_revolved(a, (1 / length) * (b - a), rings, colour, surfaces);
}

void add_triangle(const Vec3d& a, const Vec3d& b, const Vec3d& c, Colour colour, Surfaces& surfaces) {
  const Vec3d area = cross(b - a, c - a);
  if (!(norm(area) > 0)) return;
  const std::array<float, 3> normal = floats(normalized(area));
  for (const Vec3d& corner : {a, b, c}) {
    surfaces.triangles.push_back(static_cast<std::uint32_t>(surfaces.vertices.size()));
    surfaces.vertices.push_back({floats(corner), normal, colour});
  }
}

void add_cell(std::span<const Vec3d> corners, Colour colour, Surfaces& surfaces) {
  for (const Face& face : cell_faces(static_cast<int>(corners.size()))) {
    const auto corner = [&](std::size_t k) { return corners[static_cast<std::size_t>(face.nodes[k])]; };
    add_triangle(corner(0), corner(1), corner(2), colour, surfaces);
    if (face.count == 4) add_triangle(corner(0), corner(2), corner(3), colour, surfaces);
  }
}

std::vector<Vec3d> node_normals(std::span<const Vec3d> nodes, std::span<const std::array<int, 3>> triangles) {
  std::vector<Vec3d> normals(nodes.size(), Vec3d{{0, 0, 0}});
  for (const auto& triangle : triangles) {
    const auto corner = [&](std::size_t k) { return nodes[static_cast<std::size_t>(triangle[k])]; };
    const Vec3d area = cross(corner(1) - corner(0), corner(2) - corner(0));
    for (const int node : triangle)
      normals[static_cast<std::size_t>(node)] = normals[static_cast<std::size_t>(node)] + area;
  }
  for (Vec3d& normal : normals) {
    const double length = norm(normal);
    normal = length > 0 && std::isfinite(length) ? (1 / length) * normal : Vec3d{{0, 0, 1}};
  }
  return normals;
}

}  // namespace supple::view

#pragma once
// Small solids for marks and cables, and others of revolution: added to surfaces as triangles.

#include <span>

#include "viewer/draw/draw_list.hpp"

namespace supple::view {

Segment segment(const Vec3d& from, const Vec3d& to, Colour colour, float width);

// A circle of a solid of revolution: where along the axis, its radius, and the normal there (along, outwards).
struct Ring {
  double along, radius;
  double normal_along, normal_out;
};
inline constexpr int sectors_of_marks = 16;
// The surface that the rings describe, from the first to the last, closed where both have radius 0. Its outside is on
// the right of that way, drawn with the axis upwards and the radius to the right. Rings at the same place make a sharp
// edge. `axis` of length one, the circles as regular polygons.
void add_revolved(const Vec3d& origin, const Vec3d& axis, std::span<const Ring> rings, Colour colour,
                  Surfaces& surfaces, int sectors = sectors_of_marks);

void add_ball(const Vec3d& centre, double radius, Colour colour, Surfaces& surfaces);
// Round rod from a to b, closed at its ends. Nothing where a = b.
void add_rod(const Vec3d& a, const Vec3d& b, double radius, Colour colour, Surfaces& surfaces);
// A rod with balls at its bends.
void add_tube(std::span<const Vec3d> path, double radius, Colour colour, Surfaces& surfaces);
// From a to b, its head a quarter of the way but at most 8 radii long.
void add_arrow(const Vec3d& a, const Vec3d& b, double radius, Colour colour, Surfaces& surfaces);
// A flat triangle with its own normal; nothing where it has no area.
void add_triangle(const Vec3d& a, const Vec3d& b, const Vec3d& c, Colour colour, Surfaces& surfaces);
// Solid cells: tetrahedra (4 corners) or hexahedra (8, VTK order), flat faces
// (quadrilaterals as two triangles).
void add_cell(std::span<const Vec3d> corners, Colour colour, Surfaces& surfaces);

// Area-weighted normals of nodes, length one [nodes]; z where no triangle is.
std::vector<Vec3d> node_normals(std::span<const Vec3d> nodes, std::span<const std::array<int, 3>> triangles);

}  // namespace supple::view

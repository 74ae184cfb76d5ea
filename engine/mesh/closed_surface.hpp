#pragma once
// Surfaces that enclose a volume: cavities, obstacles.

#include <array>
#include <string>
#include <vector>

#include "kernels/math/small.hpp"

namespace supple {

// Why triangles do not enclose a volume; all zero and empty: they do.
struct ClosedSurfaceReport {
  int open_edges = 0;               // edges of one triangle only
  int crowded_edges = 0;            // edges of more than two
  int twisted_edges = 0;            // no orientation of the triangles agrees across these (a Moebius band)
  int flat_parts = 0;               // connected parts without volume
  std::array<int, 2> edge{-1, -1};  // nodes of one such edge
  int turned = 0;                   // triangles whose orientation was changed
  int parts = 0;                    // connected parts
  bool closed() const { return open_edges + crowded_edges + twisted_edges + flat_parts == 0 && parts > 0; }
};

// Turns triangles so that every connected part has its normals to the outside of the volume it encloses, that is a
// positive volume of its own (a part within another one is not taken as a hole). Nodes are numbers into `nodes`;
// triangles of coinciding but different nodes are not connected.
ClosedSurfaceReport orient_closed_surface(const std::vector<Vec3d>& nodes, std::vector<std::array<int, 3>>& triangles);

// What is wrong, for a message: "12 edges belong to one triangle only, one of them between (...) and (...) m".
std::string describe(const ClosedSurfaceReport& report, const std::vector<Vec3d>& nodes);

// 1/6 sum x1 . (x2 x x3) and the area [m^3, m^2].
double enclosed_volume(const std::vector<Vec3d>& nodes, const std::vector<std::array<int, 3>>& triangles);
double surface_area(const std::vector<Vec3d>& nodes, const std::vector<std::array<int, 3>>& triangles);

}  // namespace supple

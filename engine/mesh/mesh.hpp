#pragma once
// A finite-element mesh in memory: nodes in metres, tetrahedra and hexahedra of first or second order, boundary
// triangles as found in the file, named groups. Node order of cells: VTK's (tetra 10, hexahedron 12); positive volume
// when det > 0.

#include <array>
#include <string>
#include <vector>

#include "kernels/math/small.hpp"

namespace supple {

/// Nodes of the largest element, the hexahedron of second order.
inline constexpr int max_element_nodes = 20;

enum class CellType { triangle, tetrahedron, hexahedron };

/// Named set of cells of one type ("physical group" of gmsh): indices into the array of that type.
struct CellGroup {
  std::string name;
  CellType type = CellType::tetrahedron;
  std::vector<int> cells;
};

/// The node of the edge between the nodes a < b, in a mesh of second order.
struct EdgeNode {
  int a, b, node;
};

struct Mesh {
  std::vector<Vec3d> nodes;
  /// Corners of the cells.
  std::vector<std::array<int, 4>> tetrahedra;
  std::vector<std::array<int, 8>> hexahedra;
  std::vector<std::array<int, 3>> triangles;
  /// Second order: one for every edge of an element, sorted by (a, b). First order: empty.
  std::vector<EdgeNode> edge_nodes;
  std::vector<CellGroup> groups;
  std::string name;                // the file it came from, for messages; "" when made in memory
  std::vector<std::string> notes;  // what the reader left out or changed, in plain words
  /// Elements are numbered tetrahedra first, then hexahedra.
  int element_count() const { return static_cast<int>(tetrahedra.size() + hexahedra.size()); }
  int order() const { return edge_nodes.empty() ? 1 : 2; }
};

/// Triangulated surface (STL, OBJ, or the boundary of a mesh), metres.
struct Surface {
  std::vector<Vec3d> nodes;
  std::vector<std::array<int, 3>> triangles;
  std::string name;
  std::vector<std::string> notes;
};

/// x -> scale * R x + translation, R = Rz Ry Rx of the given angles [rad] (rotated about x first, then y, then z).
struct Transform {
  Vec3d rotation{{0, 0, 0}};
  Vec3d translation{{0, 0, 0}};
  double scale = 1;
};

/// R of the transform, without its scale.
Mat3d rotation_matrix(const Transform& transform);
Vec3d apply(const Transform& transform, const Vec3d& x);
/// x -> transform(unit * x) for every node; unit = metres per file unit. Throws InputError if unit or scale is not
/// positive and finite.
void transform_mesh(Mesh& mesh, double unit, const Transform& transform);
void transform_surface(Surface& surface, double unit, const Transform& transform);

}  // namespace supple

#pragma once
// Volumes, faces and shape functions of single cells. Local node order is VTK's.

#include <array>
#include <span>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace supple {

// det(b - a, c - a, d - a) / 6, positive when d is on the side the normal of (a, b, c) points to.
double tetrahedron_volume(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);
double tetrahedron_volume(const Mesh& mesh, int tetrahedron);
// Integral of det dx/dxi by 2x2x2 Gauss points: exact for the trilinear map.
double hexahedron_volume(const Mesh& mesh, int hexahedron);
// Of element `element`: tetrahedra first, then hexahedra. Of second order: of its curved shape.
double element_volume(const Mesh& mesh, int element);
// Mean of the element's corners.
Vec3d element_centroid(const Mesh& mesh, int element);
// 4 or 8 node indices.
int element_corners(const Mesh& mesh, int element, std::array<int, 8>& nodes);
// All its nodes (reference_element.hpp): 4 or 8, of second order 10 or 20.
int element_nodes(const Mesh& mesh, int element, std::array<int, max_element_nodes>& nodes);
// det dx/dxi of an element at a point of its reference cell; nodes: element_nodes().
double map_determinant(const Mesh& mesh, std::span<const int> nodes, const Vec3d& xi);
// The node of the edge between two others, or -1.
int edge_node(const Mesh& mesh, int a, int b);

// Radius ratio 3 r_in / r_out: 1 for the regular tetrahedron, 0 for a flat one.
double tetrahedron_quality(const Mesh& mesh, int tetrahedron);
// Least det of the unit edge vectors over the eight corners: 1 for a box, <= 0 for a folded corner.
double hexahedron_quality(const Mesh& mesh, int hexahedron);

// Trilinear shape functions and their derivatives d N_i / d xi_k on [-1, 1]^3, and its corners.
const int* trilinear_corner(int corner);
std::array<double, 8> trilinear_shape(const Vec3d& xi);
std::array<Vec3d, 8> trilinear_gradient(const Vec3d& xi);

// A face of an element: `count` corners, 3 or 4, anticlockwise seen from outside (for positive volume), and of second
// order as many nodes of edges behind them, node count + k between corners k and k + 1.
struct Face {
  int element = 0;
  int count = 0;
  std::array<int, 8> nodes{{-1, -1, -1, -1, -1, -1, -1, -1}};
  int size() const { return nodes[static_cast<std::size_t>(count)] < 0 || count == 0 ? count : 2 * count; }
  std::span<const int> all_nodes() const { return {nodes.data(), static_cast<std::size_t>(size())}; }
};
// Of a cell alone: 4 corners, or 8; the nodes are its local ones. A triangle (3 corners) has two, its sides.
std::span<const Face> cell_faces(int corners);
std::vector<Face> element_faces(const Mesh& mesh, int element);
// Every face of every element, by element.
std::vector<Face> all_faces(const Mesh& mesh);
// Indices of `faces` sorted so that faces with the same corners are neighbours, and the rank at which each such set
// begins (one more entry at the end).
struct FaceGroups {
  std::vector<int> order;
  std::vector<int> begin;
};
FaceGroups group_faces(const std::vector<Face>& faces);

// The point of the triangle (a, b, c) nearest to x, and its weights at the corners: exactly 0 at those it has no part
// of, so that two zeros mean a corner and one an edge.
struct TrianglePoint {
  Vec3d point;
  Vec3d weights;
};
TrianglePoint nearest_on_triangle(const Vec3d& x, const Vec3d& a, const Vec3d& b, const Vec3d& c);
// Least distance from x to it.
double distance_to_triangle(const Vec3d& x, const Vec3d& a, const Vec3d& b, const Vec3d& c);

}  // namespace supple

#pragma once
// Shape functions and quadrature of the elements on their reference cells. An element is told by its number of nodes:
//   4, 10   tetrahedron of first and second order; xi = (L1, L2, L3), the barycentric coordinates of corners 1 to 3
//   8, 20   hexahedron, trilinear and serendipity; xi in [-1, 1]^3
// Corners come first, in VTK's order, then the nodes of edges in the order of cell_edges().
// Source: O. C. Zienkiewicz, R. L. Taylor, The Finite Element Method, volume 1 (5th edition, 2000), chapter 8.

#include <array>
#include <span>

#include "engine/mesh/mesh.hpp"

namespace supple {

using ElementNodes = std::array<int, max_element_nodes>;

// Both ends, as corners of the cell.
using CellEdge = std::array<int, 2>;

struct QuadraturePoint {
  Vec3d xi;
  double weight;  // in the measure of xi: the sum is the reference cell's volume, 1/6 or 8
};

// Corners of an element with so many nodes: 4 or 8.
int corner_count(int nodes);
// Nodes of an element with so many corners in a mesh of this order.
int node_count(int corners, int order);
// Edges of a cell with so many corners (3, 4 or 8), in VTK's order.
std::span<const CellEdge> cell_edges(int corners);

// N_a and dN_a / dxi_k of the first `nodes` entries.
std::array<double, max_element_nodes> shape_functions(int nodes, const Vec3d& xi);
std::array<Vec3d, max_element_nodes> shape_gradients(int nodes, const Vec3d& xi);

// Points of forces and stiffness: 1 and 4 for tetrahedra (exact to degree 1 and 2), 2 x 2 x 2 Gauss points, x fastest,
// and 14 (degree 5; B. M. Irons, Quadrature rules for brick based finite elements, 1971; with 8 an element could be
// bent without force) for hexahedra.
std::span<const QuadraturePoint> stiffness_points(int nodes);
// Points of the mass matrix, exact for elements with straight and, of hexahedra, parallel edges: 14 of degree 5 for tetrahedra of second order
// (N. J. Walkington, Quadrature on simplices of arbitrary dimension, 2000), 3 x 3 x 3 Gauss points for hexahedra of
// second order. Elements of first order: as for the stiffness (tetrahedra: not exact, their integral has a closed form).
std::span<const QuadraturePoint> mass_points(int nodes);

// The point of the reference cell that is nearest to xi along each coordinate: a hexahedron's by clamping, a
// tetrahedron's with barycentric coordinates that are not negative.
Vec3d into_cell(int corners, Vec3d xi);
// Where Newton's method begins.
Vec3d cell_centre(int corners);

}  // namespace supple

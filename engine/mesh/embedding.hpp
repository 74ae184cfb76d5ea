#pragma once
// Points carried by a mesh: x = sum_i w_i X_i over the nodes of one element, with sum_i w_i = 1.

#include <array>
#include <vector>

#include "engine/mesh/box_tree.hpp"
#include "engine/mesh/mesh.hpp"

namespace supple {

struct EmbeddedPoint {
  int element = -1;    // tetrahedra first, then hexahedra
  int node_count = 0;  // of the element
  std::array<int, max_element_nodes> nodes{};
  std::array<double, max_element_nodes> weights{};
  bool inside = false;  // in the element, with a tolerance of 1e-9 of its size
  double distance = 0;  // to the element; 0 inside
};

// sum_i w_i x_i with any positions of the nodes.
Vec3d embedded_position(const EmbeddedPoint& point, const std::vector<Vec3d>& nodes);

// Search structure over a mesh (a tree of boxes). Keeps a reference: the mesh must outlive it, unchanged.
class Embedding {
 public:
  // The mesh must have passed check_mesh. Throws InputError if it has no element.
  explicit Embedding(const Mesh& mesh);
  Embedding(Mesh&&) = delete;

  // The element that contains x; else the one at the least distance (to its true surface; faces of hexahedra as two
  // triangles each, of second order as triangles between all their nodes), with weights continued from it so that x is reproduced exactly. Among equals the lowest index.
  // Weights of linear tetrahedra are barycentric coordinates; of all others the shape functions inside, continued
  // linearly from the surface outside. Throws InputError if x is not finite.
  EmbeddedPoint locate(const Vec3d& x) const;
  std::vector<EmbeddedPoint> locate_all(const std::vector<Vec3d>& points) const;
  // Weights of x in a given element, inside or not.
  EmbeddedPoint in_element(int element, const Vec3d& x) const;
  // d w_i / dx there [1/m], of nodes at rest: F = I + sum_i u_i (d w_i / dx)^T is the deformation gradient.
  std::array<Vec3d, max_element_nodes> gradients(int element, const Vec3d& x) const;

 private:
  double distance_to_element(int element, const Vec3d& x) const;

  const Mesh& mesh_;
  BoxTree tree_;  // of elements
};

}  // namespace supple

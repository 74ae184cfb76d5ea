#pragma once
// What must hold before a mesh is simulated, and what is worth knowing about it.

#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace supple {

struct MeshReport {
  int nodes = 0, tetrahedra = 0, hexahedra = 0, triangles = 0;  // after the corrections
  int order = 1;
  int flipped = 0;            // elements whose negative volume was turned positive
  int unused_nodes = 0;       // dropped: no element uses them
  int dropped_triangles = 0;  // dropped with them
  int duplicate_nodes = 0;    // nodes at exactly the place of another one; left as they are (a cut may be intended)
  int slivers = 0;            // elements of quality < 0.05
  double min_quality = 1;     // radius ratio of tetrahedra, scaled Jacobian of hexahedra
  int worst_element = 0;
  int components = 0;      // parts not connected by a node
  int boundary_faces = 0;  // faces of one element only
  double volume = 0;       // in the cube of the mesh's unit
  Vec3d lower{{0, 0, 0}}, upper{{0, 0, 0}};
  /// Node i of the mesh as it was is node node_of_original[i] now, -1 if dropped.
  std::vector<int> node_of_original;
  std::vector<std::string> notes;  // all of it worth saying, the reader's notes first, in plain words
};

/// Checks the mesh and corrects it in place: flips elements of negative volume, drops nodes that no element uses;
/// groups stay consistent. Throws InputError if there is no element, a coordinate is not finite or beyond 1e30, an
/// element has repeated or unknown nodes or no volume (|V| <= 1e-12 of its longest edge cubed), a hexahedron or a curved element is folded,
/// an edge of an element of a mesh of second order has no node of its own,
/// two elements are the same, or a face belongs to more than two elements.
MeshReport check_mesh(Mesh& mesh);

}  // namespace supple

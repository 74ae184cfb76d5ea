#pragma once
// The skin of a volume mesh.

#include <vector>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/mesh.hpp"

namespace supple {

struct BoundarySurface {
  Surface surface;  // triangles oriented outwards (for elements of positive volume); quadrilaterals split in two,
                    // faces of second order in four and six
  std::vector<int> mesh_node;  // node i of the surface is node mesh_node[i] of the mesh; ascending
  std::vector<int> element;    // element behind each triangle
};

// Faces that belong to one element only, in order of their elements.
std::vector<Face> boundary_faces(const Mesh& mesh);
// Those with all their nodes among `nodes` (ascending).
std::vector<Face> boundary_faces_among(const Mesh& mesh, const std::vector<int>& nodes);
// A quadrilateral as two triangles along its first diagonal; faces of second order as triangles between all their
// nodes, four and six.
std::vector<std::array<int, 3>> triangles_of(const std::vector<Face>& faces);
// Of faces that look out of a body, those that do not enclose a void of it: of their parts that edges connect.
std::vector<Face> without_voids(const std::vector<Vec3d>& nodes, const std::vector<Face>& faces);
BoundarySurface boundary_surface(const Mesh& mesh);

}  // namespace supple

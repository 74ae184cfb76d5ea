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
// The integrals of a face's shape functions [m^2], add(node, share): exact for triangles and parallelograms, and for
// faces of second order with straight edges, of quadrilaterals parallel ones (corners of triangles 0, of quadrilaterals
// -1/12 of the area).
template <class Add>
void add_face_shares(const std::vector<Vec3d>& nodes, const Face& face, const Add& add) {
  const auto x = [&](int node) { return nodes[static_cast<std::size_t>(node)]; };
  const auto area = [&](int a, int b, int c) { return 0.5 * norm(cross(x(b) - x(a), x(c) - x(a))); };
  const auto& n = face.nodes;
  if (face.size() > face.count) {
    double whole = 0;
    for (const auto& [a, b, c] : triangles_of({face})) whole += area(a, b, c);
    for (int k = 0; k < face.size(); ++k)
      add(n[static_cast<std::size_t>(k)], whole * (k >= face.count ? 1.0 / 3 : face.count == 3 ? 0.0 : -1.0 / 12));
    return;
  }
  const auto add_triangle = [&](double share, int a, int b, int c) {
    const double third = share * area(a, b, c) / 3;
    for (const int node : {a, b, c}) add(node, third);
  };
  if (face.count == 3) return add_triangle(1, n[0], n[1], n[2]);
  for (std::size_t k = 0; k < 4; ++k) add_triangle(0.5, n[k], n[(k + 1) % 4], n[(k + 2) % 4]);
}
// For each face the number of a face that stands for all those it is connected to across edges.
std::vector<int> connected_parts(const std::vector<Face>& faces);
// Of faces that look out of a body, those that do not enclose a void of it: of their parts that edges connect.
std::vector<Face> without_voids(const std::vector<Vec3d>& nodes, const std::vector<Face>& faces);
BoundarySurface boundary_surface(const Mesh& mesh);

}  // namespace supple

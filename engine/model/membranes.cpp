#include "engine/model/membranes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/select.hpp"
#include "engine/model/element_fields.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

namespace {

using Triangle = std::array<int, 3>;

Triangle sorted(Triangle triangle) {
  std::sort(triangle.begin(), triangle.end());
  return triangle;
}

std::string nodes_text(const Triangle& triangle) {
  return fmt::format("{}, {} and {}", triangle[0], triangle[1], triangle[2]);
}

// Every three corners of a face of an element, ascending: a quadrilateral may be divided along either diagonal.
class FaceTriangles {
 public:
  explicit FaceTriangles(const Mesh& mesh) {
    for (const Face& face : all_faces(mesh))
      for (int left_out = face.count == 4 ? 0 : 3; left_out < 4; ++left_out) {
        Triangle triangle;
        for (int k = 0, n = 0; k < face.count; ++k)
          if (k != left_out) triangle[static_cast<std::size_t>(n++)] = face.nodes[static_cast<std::size_t>(k)];
        triangles_.push_back(sorted(triangle));
      }
    std::sort(triangles_.begin(), triangles_.end());
  }
  bool contains(const Triangle& triangle) const {
    return std::binary_search(triangles_.begin(), triangles_.end(), sorted(triangle));
  }

 private:
  std::vector<Triangle> triangles_;
};

// The triangle, of second order as triangles between its corners and the nodes of its edges. Half of a quadrilateral has
// none on the diagonal.
void add_parts(const Mesh& mesh, const Triangle& corners, std::vector<Triangle>& triangles) {
  Face face{0, 3, {corners[0], corners[1], corners[2], -1, -1, -1, -1, -1}};
  std::size_t diagonal = 3;
  for (std::size_t k = 0; k < 3 && mesh.order() == 2; ++k) {
    face.nodes[3 + k] = edge_node(mesh, corners[k], corners[(k + 1) % 3]);
    if (face.nodes[3 + k] < 0) diagonal = k;
  }
  if (diagonal == 3) {
    const std::vector<Triangle> parts = supple::triangles_of({face});
    triangles.insert(triangles.end(), parts.begin(), parts.end());
    return;
  }
  // a, between a and b, b, between b and c, c; c a is the diagonal.
  const int a = corners[(diagonal + 1) % 3], b = corners[(diagonal + 2) % 3], c = corners[diagonal];
  const int ab = edge_node(mesh, a, b), bc = edge_node(mesh, b, c);
  triangles.insert(triangles.end(), {Triangle{ab, b, bc}, Triangle{a, ab, bc}, Triangle{a, bc, c}});
}

std::vector<Triangle> triangles_of(const MembraneScene& membrane, const Mesh& mesh) {
  const Place& place = membrane.region.place.file.empty() ? membrane.place : membrane.region.place;
  if (membrane.region.kind != Region::Kind::group) {
    std::vector<Triangle> triangles = triangles_of(boundary_faces_among(mesh, nodes_in(membrane.region, mesh)));
    if (triangles.empty())
      throw InputError("this membrane's region holds no face of the body's surface with all its nodes",
                       "move or enlarge it (lengths are in metres after the transform), or name a group of triangles",
                       place);
    return triangles;
  }
  std::vector<Triangle> triangles;
  const FaceTriangles faces(mesh);
  for (int t : triangles_of_group(mesh, membrane.region.group)) {
    const Triangle& corners = mesh.triangles[static_cast<std::size_t>(t)];
    add_parts(mesh, corners, triangles);
    if (!faces.contains(corners))
      throw InputError(fmt::format("triangle {} of group \"{}\" is no face of the body's elements (its nodes are {})",
                                   t, membrane.region.group, nodes_text(corners)),
                       "mesh surface and volume together, so that they share nodes (gmsh: both in physical groups)",
                       place);
  }
  return triangles;
}

MaterialParameters<double> parameters_of(const MembraneScene& membrane) {
  const double E = membrane.young, nu = membrane.poisson;
  return {{E / (2 * (1 + nu)), E * nu / (1 - nu * nu), 0}};
}

// Frame, gradients and area of a triangle at rest.
void add_point(const Mesh& mesh, const Triangle& triangle, double thickness, ElementField& field) {
  const auto x = [&](std::size_t a) { return mesh.nodes[static_cast<std::size_t>(triangle[a % 3])]; };
  const Vec3d edge = x(1) - x(0), area = cross(edge, x(2) - x(0));
  const double twice = norm(area);
  const Vec3d e1 = normalized(edge), n = (1 / twice) * area;
  field.edges.push_back(from_columns(e1, cross(n, e1), n));
  for (std::size_t a = 0; a < 3; ++a) {
    field.node.push_back(triangle[a]);
    // n x (opposite edge) / (2 area): zero on that edge, one at the node.
    const Vec3d g = (1 / twice) * cross(n, x(a + 2) - x(a + 1));
    field.gradient.insert(field.gradient.end(), g.v, g.v + 3);
  }
  field.volume.push_back(thickness * twice / 2);
}

}  // namespace

ElementField build_membrane_field(const BodyScene& body, const Mesh& mesh) {
  SUPPLE_EXPECT(!body.membranes.empty());
  ElementField field;
  field.name = "corotational-membrane";
  field.law = LawId::corotational_membrane;
  field.nodes_per_element = 3;
  field.points_per_element = 1;
  std::map<Triangle, std::size_t> covered;  // by which membrane
  for (std::size_t m = 0; m < body.membranes.size(); ++m) {
    const MembraneScene& membrane = body.membranes[m];
    field.parameters.push_back(parameters_of(membrane));
    for (const Triangle& triangle : triangles_of(membrane, mesh)) {
      const auto [first, added] = covered.try_emplace(sorted(triangle), m);
      if (!added)
        throw InputError(
            fmt::format("a triangle, of nodes {}, is covered twice, {} (its stiffness would count twice)",
                        nodes_text(triangle),
                        first->second == m ? std::string("by this membrane")
                                           : fmt::format("by membranes {} and {}", first->second + 1, m + 1)),
            first->second == m ? "remove the copy of the triangle from the mesh"
                               : "regions that do not overlap; for a thicker layer, a larger thickness",
            membrane.place);
      field.element.push_back(mesh.element_count() + field.elements());
      field.region.push_back(static_cast<int>(m));
      add_point(mesh, triangle, membrane.thickness, field);
    }
  }
  return field;
}

}  // namespace supple

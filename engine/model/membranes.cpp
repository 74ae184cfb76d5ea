#include "engine/model/membranes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/select.hpp"
#include "engine/model/element_fields.hpp"

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

// Of a layer as thick as its threads are apart.
MaterialParameters<double> parameters_of(const ThreadScene& threads) {
  return {{threads.stiffness / (threads.spacing * threads.spacing), threads.push ? 0.0 : threads.buckling}};
}

// Direction of the threads at x on a plane with this normal, not yet in the plane.
Vec3d direction_at(const ThreadScene& threads, const Vec3d& x, const Vec3d& normal) {
  if (threads.direction) return *threads.direction;
  const Vec3d along = threads.axis - dot(threads.axis, normal) * normal;
  const Vec3d around = cross(threads.axis, x - threads.centre);
  const Vec3d in_plane = around - dot(around, normal) * normal;
  const double size = norm(along), turn = norm(in_plane);
  Vec3d d{{0, 0, 0}};
  if (size > 0) d = d + (std::cos(threads.angle) / size) * along;
  if (turn > 0) d = d + (std::sin(threads.angle) / turn) * in_plane;
  return d;
}

struct RestTriangle {
  Vec3d x[3], normal, centre;
  double area;
  RestTriangle(const Mesh& mesh, const Triangle& nodes) {
    for (std::size_t a = 0; a < 3; ++a) x[a] = mesh.nodes[static_cast<std::size_t>(nodes[a])];
    const Vec3d twice = cross(x[1] - x[0], x[2] - x[0]);
    area = norm(twice) / 2;
    normal = normalized(twice);
    centre = (1.0 / 3) * (x[0] + x[1] + x[2]);
  }
};

// The point of a triangle, with the first direction of its frame.
void add_point(const Triangle& triangle, const RestTriangle& rest, const Vec3d& e1, double thickness,
               ElementField& field) {
  field.edges.push_back(from_columns(e1, cross(rest.normal, e1), rest.normal));
  for (std::size_t a = 0; a < 3; ++a) {
    field.node.push_back(triangle[a]);
    // n x (opposite edge) / (2 area): zero on that edge, one at the node.
    const Vec3d g = (0.5 / rest.area) * cross(rest.normal, rest.x[(a + 2) % 3] - rest.x[(a + 1) % 3]);
    field.gradient.insert(field.gradient.end(), g.v, g.v + 3);
  }
  field.volume.push_back(thickness * rest.area);
}

void add_sheet(const BodyScene& body, const Mesh& mesh, std::size_t m, std::map<Triangle, std::size_t>& covered,
               ElementField& field) {
  const MembraneScene& membrane = body.membranes[m];
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
    const RestTriangle rest(mesh, triangle);
    field.region.push_back(static_cast<int>(m));
    add_point(triangle, rest, normalized(rest.x[1] - rest.x[0]), membrane.thickness, field);
  }
}

// Layers of threads may cross.
void add_threads(const BodyScene& body, const Mesh& mesh, std::size_t m, ElementField& field) {
  const MembraneScene& membrane = body.membranes[m];
  const ThreadScene& threads = *membrane.threads;
  for (const Triangle& triangle : triangles_of(membrane, mesh)) {
    const RestTriangle rest(mesh, triangle);
    Vec3d e1 = direction_at(threads, rest.centre, rest.normal);
    e1 = e1 - dot(e1, rest.normal) * rest.normal;
    if (!(norm(e1) > 1e-6))
      throw InputError(
          fmt::format("threads have no direction on the face of nodes {} (theirs is across it)", nodes_text(triangle)),
          "a region without such faces, or another direction, axis or centre", membrane.place);
    field.region.push_back(static_cast<int>(m));
    add_point(triangle, rest, normalized(e1), threads.spacing, field);
  }
}

ElementField layer(LawId law, const char* name, int membranes) {
  ElementField field;
  field.name = name;
  field.law = law;
  field.nodes_per_element = 3;
  field.points_per_element = 1;
  field.parameters.resize(static_cast<std::size_t>(membranes));
  return field;
}

}  // namespace

std::vector<ElementField> build_membrane_fields(const BodyScene& body, const Mesh& mesh) {
  const int count = static_cast<int>(body.membranes.size());
  ElementField sheets = layer(LawId::corotational_membrane, "corotational-membrane", count);
  ElementField threads = layer(LawId::fibres, "threads", count);
  std::map<Triangle, std::size_t> covered;  // by which sheet
  for (std::size_t m = 0; m < body.membranes.size(); ++m) {
    const MembraneScene& membrane = body.membranes[m];
    if (membrane.threads) {
      threads.parameters[m] = parameters_of(*membrane.threads);
      add_threads(body, mesh, m, threads);
    } else {
      sheets.parameters[m] = parameters_of(membrane);
      add_sheet(body, mesh, m, covered, sheets);
    }
  }
  std::vector<ElementField> fields;
  int number = mesh.element_count();
  for (ElementField* field : {&sheets, &threads}) {
    if (field->region.empty()) continue;
    for (std::size_t e = 0; e < field->region.size(); ++e) field->element.push_back(number++);
    fields.push_back(std::move(*field));
  }
  return fields;
}

}  // namespace supple

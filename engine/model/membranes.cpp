#include "engine/model/membranes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

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

// The directions of a layer of threads. Wound about the axis z, with the unit vectors along the axis in a face and around
// it, which are orthogonal there,
//   l = z - (z.n) n,   a = z x m,   m = +-n outwards from the axis,
// threads at the angle alpha lie along cos(alpha) l/|l| + sin(alpha) a/|a|: a right-handed helix for alpha > 0.
class Winding {
 public:
  // triangles: those of the layer.
  Winding(const ThreadScene& threads, const std::vector<RestTriangle>& triangles) : threads_(threads) {
    if (threads.centre) {
      centre_ = *threads.centre;
      return;
    }
    double area = 0;
    for (const RestTriangle& t : triangles) {
      centre_ = centre_ + t.area * t.centre;
      area += t.area;
    }
    centre_ = (1 / area) * centre_;
  }

  // In the plane of the triangle, not of unit length.
  Vec3d at(const RestTriangle& t, const Triangle& nodes, const Place& place) const {
    if (threads_.direction) {
      const Vec3d d = *threads_.direction - dot(*threads_.direction, t.normal) * t.normal;
      if (!(norm(d) > least))
        throw InputError(
            fmt::format("threads have no direction on the face of nodes {} (theirs is across it)", nodes_text(nodes)),
            "a group of triangles without such faces, or another direction", place);
      return d;
    }
    const Vec3d& z = threads_.axis;
    const Vec3d along = z - dot(z, t.normal) * t.normal, across = cross(z, t.normal);
    if (!(norm(across) > least))
      throw InputError(fmt::format("the face of nodes {} is across the axis of the winding, on which threads have no "
                                   "direction",
                                   nodes_text(nodes)),
                       "a group of triangles without the ends, or another axis", place);
    const double side = side_of(t.centre, t.normal);
    if (!(std::abs(side) > least))
      throw InputError(fmt::format("the axis of the winding lies in the plane of the face of nodes {}, so that it is "
                                   "not told which way around the threads go",
                                   nodes_text(nodes)),
                       "centre = [x, y, z] inside the section", place);
    return (std::cos(threads_.angle) / norm(along)) * along +
           (std::sin(threads_.angle) * (side < 0 ? -1 : 1) / norm(across)) * across;
  }

  // Of a face at x that looks along this normal: the cosine, across the axis, to the way outwards from it.
  double side_of(const Vec3d& x, const Vec3d& normal) const {
    const auto across_axis = [&](const Vec3d& v) { return v - dot(v, threads_.axis) * threads_.axis; };
    const Vec3d radial = across_axis(x - centre_), outwards = across_axis(normal);
    return dot(outwards, radial) / (norm(outwards) * norm(radial));
  }
  bool wound() const { return !threads_.direction; }

 private:
  static constexpr double least = 0.02;  // sines, of a degree
  const ThreadScene& threads_;
  Vec3d centre_{{0, 0, 0}};
};

// What layers of threads share: normals out of the body of its boundary's triangles, and the directions of threads on
// each triangle so far, with the number of their layer.
struct LaidThreads {
  std::map<Triangle, Vec3d> normals;
  std::map<Triangle, std::vector<std::pair<std::size_t, Vec3d>>> directions;
  explicit LaidThreads(const Mesh& mesh) {
    for (const Triangle& t : triangles_of(boundary_faces(mesh))) normals[sorted(t)] = RestTriangle(mesh, t).normal;
  }
};

// A wound layer lies on one side of the body's surface: all around it, or all around a chamber. Otherwise its axis is
// somewhere else than its section.
void check_side(const Winding& winding, const MembraneScene& membrane, const std::map<Triangle, Vec3d>& normals,
                const std::vector<Triangle>& triangles, const std::vector<RestTriangle>& rest) {
  int sides[2] = {0, 0};
  for (std::size_t t = 0; t < triangles.size(); ++t)
    if (const auto found = normals.find(sorted(triangles[t])); found != normals.end())
      ++sides[winding.side_of(rest[t].centre, found->second) > 0];
  if (sides[0] > 0 && sides[1] > 0)
    throw InputError(fmt::format("of the faces of a winding, {} look away from its axis and {} towards it, so that its "
                                 "threads would turn both ways",
                                 sides[1], sides[0]),
                     "centre = [x, y, z] inside the section, or a layer for each side", membrane.place);
}

// Layers of threads may cross.
void add_threads(const BodyScene& body, const Mesh& mesh, std::size_t m, LaidThreads& laid, ElementField& field) {
  const MembraneScene& membrane = body.membranes[m];
  const std::vector<Triangle> triangles = triangles_of(membrane, mesh);
  std::vector<RestTriangle> rest;
  for (const Triangle& triangle : triangles) rest.emplace_back(mesh, triangle);
  const Winding winding(*membrane.threads, rest);
  if (winding.wound()) check_side(winding, membrane, laid.normals, triangles, rest);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Vec3d e1 = normalized(winding.at(rest[t], triangles[t], membrane.place));
    auto& others = laid.directions[sorted(triangles[t])];
    for (const auto& [layer, direction] : others)
      if (layer == m || std::abs(dot(direction, e1)) > 1 - 1e-6)
        throw InputError(fmt::format("threads lie twice in the same direction on the face of nodes {}, {} (their "
                                     "stiffness would count twice)",
                                     nodes_text(triangles[t]),
                                     layer == m ? std::string("of this layer")
                                                : fmt::format("of membranes {} and {}", layer + 1, m + 1)),
                         "remove one; for threads that are nearer to each other, a smaller spacing", membrane.place);
    others.emplace_back(m, e1);
    field.region.push_back(static_cast<int>(m));
    add_point(triangles[t], rest[t], e1, membrane.threads->spacing, field);
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
  std::optional<LaidThreads> laid;
  for (std::size_t m = 0; m < body.membranes.size(); ++m) {
    const MembraneScene& membrane = body.membranes[m];
    if (membrane.threads) {
      threads.parameters[m] = parameters_of(*membrane.threads);
      if (!laid) laid.emplace(mesh);
      add_threads(body, mesh, m, *laid, threads);
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

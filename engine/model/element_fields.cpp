#include "engine/model/element_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/select.hpp"
#include "engine/model/membranes.hpp"

namespace supple {

namespace {

// One quadrature point of an element: rest gradients and volume.
struct RestPoint {
  std::array<Vec3d, 8> gradient;
  std::array<double, 8> shape;
  double volume;
};

// Linear tetrahedron: one point; trilinear hexahedron: 2x2x2 Gauss points, x fastest.
std::vector<RestPoint> rest_points(const Mesh& mesh, int element) {
  std::array<int, 8> nodes{};
  const int count = element_nodes(mesh, element, nodes);
  const auto x = [&](int a) { return mesh.nodes[static_cast<std::size_t>(nodes[static_cast<std::size_t>(a)])]; };
  std::vector<RestPoint> points;
  if (count == 4) {
    const Mat3d edges = from_columns(x(1) - x(0), x(2) - x(0), x(3) - x(0));
    // Rows of edges^-1 are the gradients of the last three barycentric coordinates.
    const Mat3d inverse_edges = inverse(edges);
    RestPoint point{};
    for (int a = 0; a < 3; ++a)
      for (int j = 0; j < 3; ++j) {
        point.gradient[static_cast<std::size_t>(a + 1)][j] = inverse_edges(a, j);
        point.gradient[0][j] -= inverse_edges(a, j);
      }
    point.shape.fill(0.25);
    point.volume = determinant(edges) / 6;
    points.push_back(point);
    return points;
  }
  const double s = 1 / std::sqrt(3.0);
  for (int g = 0; g < 8; ++g) {
    const Vec3d xi{{(g & 1) ? s : -s, (g & 2) ? s : -s, (g & 4) ? s : -s}};
    const auto derivative = trilinear_gradient(xi);
    Mat3d J = Mat3d::zero();  // dx/dxi
    for (int a = 0; a < 8; ++a) J = J + outer(x(a), derivative[static_cast<std::size_t>(a)]);
    const Mat3d inverse_transpose = transpose(inverse(J));
    RestPoint point{};
    for (std::size_t a = 0; a < 8; ++a) point.gradient[a] = inverse_transpose * derivative[a];
    point.shape = trilinear_shape(xi);
    point.volume = determinant(J);
    points.push_back(point);
  }
  return points;
}

}  // namespace

std::vector<int> elements_in(const Region& region, const Mesh& mesh) {
  switch (region.kind) {
    case Region::Kind::box:
      return elements_in_box(mesh, region.lower, region.upper);
    case Region::Kind::sphere:
      return elements_in_sphere(mesh, region.centre, region.radius);
    case Region::Kind::group:
      return elements_of_group(mesh, region.group);
    case Region::Kind::all:
      break;
  }
  std::vector<int> all(static_cast<std::size_t>(mesh.element_count()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> nodes_in(const Region& region, const Mesh& mesh) {
  switch (region.kind) {
    case Region::Kind::box:
      return nodes_in_box(mesh, region.lower, region.upper);
    case Region::Kind::sphere:
      return nodes_in_sphere(mesh, region.centre, region.radius);
    case Region::Kind::group:
      return nodes_of_group(mesh, region.group);
    case Region::Kind::all:
      break;
  }
  std::vector<int> all(mesh.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

LawId law_of(const MaterialScene& material) {
  switch (material.model) {
    case MaterialModel::corotational:
      return material.rotation == RotationKind::polar        ? LawId::corotational
             : material.rotation == RotationKind::edge_frame ? LawId::corotational_edge_frame
                                                             : LawId::corotational_edge_polar;
    case MaterialModel::st_venant_kirchhoff:
      return LawId::st_venant_kirchhoff;
    case MaterialModel::stable_neo_hookean:
      return LawId::stable_neo_hookean;
    case MaterialModel::mooney_rivlin:
      break;
  }
  return LawId::mooney_rivlin;
}

bool has_exact_tangent(LawId law) {
  return law != LawId::corotational_edge_frame && law != LawId::corotational_edge_polar;
}

MaterialParameters<double> law_parameters(const MaterialScene& material) {
  const double E = material.young, nu = material.poisson;
  const double mu = E / (2 * (1 + nu)), lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
  switch (material.model) {
    case MaterialModel::mooney_rivlin: {
      if (material.c01) return {{*material.c01, *material.c10, *material.d}};
      const double sum = mu / 2;  // C01 + C10
      const double c10 = sum * material.mooney_ratio / (1 + material.mooney_ratio);
      return {{sum - c10, c10, E / (3 * (1 - 2 * nu)) / 2}};
    }
    case MaterialModel::stable_neo_hookean:
      return {{4.0 / 3.0 * mu, lambda + 5.0 / 6.0 * mu, 0}};
    case MaterialModel::corotational:
    case MaterialModel::st_venant_kirchhoff:
      break;
  }
  return {{mu, lambda, 0}};
}

std::vector<ElementField> build_element_fields(const BodyScene& body, const Mesh& mesh) {
  const int tetrahedra = static_cast<int>(mesh.tetrahedra.size());
  std::vector<int> material_of(static_cast<std::size_t>(mesh.element_count()), -1);
  for (std::size_t m = 0; m < body.materials.size(); ++m) {
    const std::vector<int> elements = elements_in(body.materials[m].region, mesh);
    if (elements.empty())
      throw InputError(
          "this material's region holds no element",
          "move or enlarge the region (lengths are in metres after the transform)",
          body.materials[m].region.place.file.empty() ? body.materials[m].place : body.materials[m].region.place);
    for (int e : elements) material_of[static_cast<std::size_t>(e)] = static_cast<int>(m);
  }
  std::map<std::pair<int, int>, std::size_t> field_of;  // (law, nodes per element)
  std::vector<ElementField> fields;
  for (int e = 0; e < mesh.element_count(); ++e) {
    const int m = material_of[static_cast<std::size_t>(e)];
    if (m < 0)
      throw InputError(fmt::format("element {} of the mesh has no material", e),
                       "let one [[body.material]] without a region come first: it covers everything", body.place);
    const MaterialScene& material = body.materials[static_cast<std::size_t>(m)];
    const LawId law = law_of(material);
    const int nodes_per_element = e < tetrahedra ? 4 : 8;
    if (nodes_per_element == 8 && !has_exact_tangent(law))
      throw InputError("rotations from element edges are defined for tetrahedra only, and the mesh has hexahedra",
                       "rotation = \"polar\"", material.place);
    const auto [it, added] = field_of.try_emplace({static_cast<int>(law), nodes_per_element}, fields.size());
    if (added) {
      ElementField field;
      static constexpr const char* names[] = {"corotational",
                                              "corotational-edge-frame",
                                              "corotational-edge-polar",
                                              "st-venant-kirchhoff",
                                              "stable-neo-hookean",
                                              "mooney-rivlin",
                                              "membrane"};
      static_assert(std::size(names) == static_cast<std::size_t>(last_law) + 1);
      field.name =
          fmt::format("{}-{}", names[static_cast<int>(law)], nodes_per_element == 4 ? "tetrahedra" : "hexahedra");
      field.law = law;
      field.nodes_per_element = nodes_per_element;
      field.points_per_element = nodes_per_element == 4 ? 1 : 8;
      for (const MaterialScene& each : body.materials) field.parameters.push_back(law_parameters(each));
      fields.push_back(std::move(field));
    }
    ElementField& field = fields[it->second];
    std::array<int, 8> nodes{};
    element_nodes(mesh, e, nodes);
    field.element.push_back(e);
    for (int a = 0; a < nodes_per_element; ++a) field.node.push_back(nodes[static_cast<std::size_t>(a)]);
    for (const RestPoint& point : rest_points(mesh, e)) {
      for (int a = 0; a < nodes_per_element; ++a)
        for (int j = 0; j < 3; ++j) field.gradient.push_back(point.gradient[static_cast<std::size_t>(a)][j]);
      field.volume.push_back(point.volume);
      field.region.push_back(m);
      if (!has_exact_tangent(law)) {
        const auto x = [&](std::size_t a) { return mesh.nodes[static_cast<std::size_t>(nodes[a])]; };
        field.edges.push_back(from_columns(x(1) - x(0), x(2) - x(0), x(3) - x(0)));
      }
    }
  }
  if (!body.membranes.empty()) fields.push_back(build_membrane_field(body, mesh));
  return fields;
}

NodeMatrix build_mass(const BodyScene& body, const Mesh& mesh, const std::vector<ElementField>& fields,
                      double& total_mass) {
  bool regional = false;
  for (const MaterialScene& material : body.materials) regional = regional || material.density.has_value();
  if (body.mass && (body.density || regional))
    throw InputError("both a total mass and a density are given", "keep one of mass and density", body.place);
  if (!body.mass && !body.density && !regional)
    throw InputError("the body has neither mass nor density", "mass = \"500 g\", or density = \"1100 kg/m^3\"",
                     body.place);
  std::vector<double> density(static_cast<std::size_t>(mesh.element_count()), body.density.value_or(0.0));
  for (const MaterialScene& material : body.materials)
    if (material.density)
      for (int e : elements_in(material.region, mesh)) density[static_cast<std::size_t>(e)] = *material.density;
  double volume = 0, mass = 0;
  for (int e = 0; e < mesh.element_count(); ++e) volume += element_volume(mesh, e);
  if (body.mass) std::fill(density.begin(), density.end(), *body.mass / volume);
  for (int e = 0; e < mesh.element_count(); ++e) {
    if (!(density[static_cast<std::size_t>(e)] > 0))
      throw InputError(fmt::format("element {} has no density", e), "give the body a density; materials override it",
                       body.place);
    mass += density[static_cast<std::size_t>(e)] * element_volume(mesh, e);
  }
  total_mass = mass;

  const int n = static_cast<int>(mesh.nodes.size());
  std::vector<std::map<int, double>> columns(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    columns[static_cast<std::size_t>(i)][i] = body.mass_kind == MassKind::per_node ? mass / n : 0.0;
  if (body.mass_kind != MassKind::per_node)
    for (int e = 0; e < mesh.element_count(); ++e) {
      std::array<int, 8> nodes{};
      const int count = element_nodes(mesh, e, nodes);
      const double rho = density[static_cast<std::size_t>(e)];
      const auto add = [&](std::size_t a, std::size_t b, double value) {
        const int i = body.mass_kind == MassKind::lumped ? nodes[a] : std::max(nodes[a], nodes[b]);
        const int j = body.mass_kind == MassKind::lumped ? nodes[a] : std::min(nodes[a], nodes[b]);
        columns[static_cast<std::size_t>(j)][i] += value;
      };
      if (count == 4) {
        // Integral of N_a N_b over a linear tetrahedron: V/20 (1 + delta_ab).
        const double unit = rho * element_volume(mesh, e) / 20;
        for (std::size_t a = 0; a < 4; ++a)
          for (std::size_t b = 0; b < 4; ++b)
            if (body.mass_kind == MassKind::lumped || nodes[a] >= nodes[b]) add(a, b, a == b ? 2 * unit : unit);
        continue;
      }
      for (const RestPoint& point : rest_points(mesh, e))
        for (std::size_t a = 0; a < 8; ++a)
          for (std::size_t b = 0; b < 8; ++b)
            if (body.mass_kind == MassKind::lumped || nodes[a] >= nodes[b])
              add(a, b, rho * point.volume * point.shape[a] * point.shape[b]);
    }
  for (const ElementField& field : fields) {
    if (!membrane_law(field.law)) continue;
    for (std::size_t e = 0; e < field.element.size(); ++e) {
      const std::optional<double>& rho = body.membranes[static_cast<std::size_t>(field.region[e])].density;
      if (!rho) continue;
      // Integral of N_a N_b over a triangle: area/12 (1 + delta_ab). On nodes of its own also where the body's mass is
      // the same on every node.
      const double whole = *rho * field.volume[e];
      total_mass += whole;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
          const int i = field.node[3 * e + a], j = field.node[3 * e + b];
          if (body.mass_kind != MassKind::consistent)
            columns[static_cast<std::size_t>(i)][i] += whole / 9;
          else if (i >= j)
            columns[static_cast<std::size_t>(j)][i] += whole / (a == b ? 6 : 12);
        }
    }
  }
  NodeMatrix matrix;
  matrix.column_start.push_back(0);
  for (const auto& column : columns) {
    for (const auto& [row, value] : column) {
      matrix.row.push_back(row);
      matrix.value.push_back(value);
    }
    matrix.column_start.push_back(static_cast<int>(matrix.row.size()));
  }
  return matrix;
}

}  // namespace supple

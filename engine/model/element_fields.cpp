#include "engine/model/element_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"
#include "engine/mesh/select.hpp"
#include "engine/model/membranes.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

namespace {

// One quadrature point of an element: rest gradients, shape functions and volume.
struct RestPoint {
  std::array<Vec3d, max_element_nodes> gradient;
  std::array<double, max_element_nodes> shape;
  double volume;
};

struct RestElement {
  ElementNodes nodes;
  int count;
  std::vector<RestPoint> points;
};

RestElement rest_element(const Mesh& mesh, int element, std::span<const QuadraturePoint> (*rule)(int nodes)) {
  RestElement rest{};
  rest.count = element_nodes(mesh, element, rest.nodes);
  const auto count = static_cast<std::size_t>(rest.count);
  const auto x = [&](std::size_t a) { return mesh.nodes[static_cast<std::size_t>(rest.nodes[a])]; };
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
    std::fill_n(point.shape.begin(), 4, 0.25);
    point.volume = determinant(edges) / 6;
    rest.points.push_back(point);
    return rest;
  }
  for (const QuadraturePoint& at : rule(rest.count)) {
    const auto derivative = shape_gradients(rest.count, at.xi);
    Mat3d J = Mat3d::zero();  // dx/dxi
    for (std::size_t a = 0; a < count; ++a) J = J + outer(x(a), derivative[a]);
    const Mat3d inverse_transpose = transpose(inverse(J));
    RestPoint point{};
    for (std::size_t a = 0; a < count; ++a) point.gradient[a] = inverse_transpose * derivative[a];
    point.shape = shape_functions(rest.count, at.xi);
    point.volume = at.weight * determinant(J);
    rest.points.push_back(point);
  }
  return rest;
}

// The mean gradient over the element: u -> its mean deformation gradient. Forces of a uniform stress are those of the
// element's own points, so that a body at rest has none and the patch test is passed.
RestPoint mean_point(const RestElement& rest) {
  RestPoint mean{};
  for (const RestPoint& point : rest.points) mean.volume += point.volume;
  for (const RestPoint& point : rest.points)
    for (std::size_t a = 0; a < static_cast<std::size_t>(rest.count); ++a)
      mean.gradient[a] = mean.gradient[a] + (point.volume / mean.volume) * point.gradient[a];
  return mean;
}

const char* shape_name(int nodes) {
  switch (nodes) {
    case 4:
      return "tetrahedra";
    case 10:
      return "quadratic-tetrahedra";
    case 8:
      return "hexahedra";
    default:
      return "quadratic-hexahedra";
  }
}

const char* part_name(LawPart part) {
  return part == LawPart::whole ? "" : part == LawPart::points ? "-points" : "-mean";
}

// lambda / mu that the points of an element keep; the excess is for the mean. Measured on beams and panels of one to four
// elements across (docs/decisions/0042-elements-that-do-not-lock.md): all in the mean is best for trilinear hexahedra and
// makes elements of second order too soft in bending, by a fifth with one across.
double dilatation_at_points(int nodes) {
  return nodes == 8 ? 0 : nodes == 10 ? 4 : 9;  // 4 and 9: Poisson's ratios of 0.4 and 0.45
}

// Parts of the law that an element's points have, in fields of their own.
std::vector<LawPart> parts_of(const BodyScene& body, const MaterialScene& material, int nodes) {
  const LawId law = law_of(material);
  if (nodes == 4 || !has_exact_tangent(law) || body.dilatation == Dilatation::points) return {LawPart::whole};
  const MaterialParameters<double> excess = part_of(law, LawPart::mean, nodes, law_parameters(material));
  if (sum_of_moduli(law, excess) == 0) return {LawPart::whole};
  return {LawPart::points, LawPart::mean};
}

// Means resist a change of volume alone, and are not viscous.
FieldViscosity viscosity_of(const std::vector<MaterialScene>& materials) {
  FieldViscosity all;
  for (const MaterialScene& m : materials)
    all.terms = std::max(all.terms, static_cast<int>(m.prony.size()) + (m.retardation > 0 ? 1 : 0));
  for (const MaterialScene& m : materials) {
    std::vector<PronyTerm> branches = m.prony;
    for (PronyTerm& branch : branches) branch.modulus *= branch.time;
    if (m.retardation > 0) branches.push_back({m.retardation, 0});
    branches.resize(static_cast<std::size_t>(all.terms));
    for (const PronyTerm& branch : branches) {
      all.viscosity.push_back(branch.modulus);
      all.time.push_back(branch.time);
    }
  }
  return all;
}

void add_element(const RestElement& rest, int element, int material, ElementField& field, const Mesh& mesh) {
  const auto count = static_cast<std::size_t>(rest.count);
  field.element.push_back(element);
  field.node.insert(field.node.end(), rest.nodes.begin(), rest.nodes.begin() + rest.count);
  const auto add_point = [&](const RestPoint& point) {
    for (std::size_t a = 0; a < count; ++a)
      for (int j = 0; j < 3; ++j) field.gradient.push_back(point.gradient[a][j]);
    field.volume.push_back(point.volume);
    field.region.push_back(material);
  };
  if (field.part == LawPart::mean)
    add_point(mean_point(rest));
  else
    for (const RestPoint& point : rest.points) add_point(point);
  if (!has_exact_tangent(field.law)) {
    const auto x = [&](std::size_t a) { return mesh.nodes[static_cast<std::size_t>(rest.nodes[a])]; };
    field.edges.push_back(from_columns(x(1) - x(0), x(2) - x(0), x(3) - x(0)));
  }
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
    case MaterialModel::yeoh:
      return LawId::yeoh;
    case MaterialModel::gent:
      return LawId::gent;
    case MaterialModel::ogden:
      return LawId::ogden;
    case MaterialModel::mooney_rivlin:
      break;
  }
  return LawId::mooney_rivlin;
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
    case MaterialModel::yeoh:
    case MaterialModel::gent:
    case MaterialModel::ogden: {
      MaterialParameters<double> m{};
      SUPPLE_EXPECT(material.constants.size() <= most_parameters);
      std::ranges::copy(material.constants, m.p);
      return m;
    }
    case MaterialModel::stable_neo_hookean:
      return {{4.0 / 3.0 * mu, lambda + 5.0 / 6.0 * mu, 0}};
    case MaterialModel::corotational:
    case MaterialModel::st_venant_kirchhoff:
      break;
  }
  return {{mu, lambda, 0}};
}

MaterialParameters<double> part_of(LawId law, LawPart part, int nodes, const MaterialParameters<double>& parameters) {
  MaterialParameters<double> kept = parameters;
  if (part == LawPart::whole) return kept;
  SUPPLE_EXPECT(solid(law));
  visit_law(law, [&](auto type) {
    using Law = decltype(type);
    if constexpr (solid_law<Law>) {
      const double mu = Law::shear_modulus(parameters);
      const double lambda = Law::bulk_modulus(parameters) - 2.0 / 3 * mu;
      double excess = std::max(0.0, lambda - dilatation_at_points(nodes) * mu);
      if (excess < 1e-9 * lambda) excess = 0;  // rounding, of Poisson's ratios at the limit
      if (part == LawPart::points) {
        kept.p[Law::volumetric] -= Law::volumetric_share * excess;
        return;
      }
      for (int i = 0; i < Law::parameters; ++i)
        if ((Law::moduli >> i & 1u) != 0) kept.p[i] = 0;
      kept.p[Law::volumetric] = Law::volumetric_share * excess;
    }
  });
  return kept;
}

std::vector<ElementField> build_element_fields(const BodyScene& body, const Mesh& mesh) {
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
  std::map<std::tuple<int, int, int>, std::size_t> field_of;  // (law, nodes per element, part)
  std::vector<ElementField> fields;
  for (int e = 0; e < mesh.element_count(); ++e) {
    const int m = material_of[static_cast<std::size_t>(e)];
    if (m < 0)
      throw InputError(fmt::format("element {} of the mesh has no material", e),
                       "let one [[body.material]] without a region come first: it covers everything", body.place);
    const MaterialScene& material = body.materials[static_cast<std::size_t>(m)];
    const LawId law = law_of(material);
    const RestElement rest = rest_element(mesh, e, stiffness_points);
    if (rest.count > 4 && !has_exact_tangent(law))
      throw InputError(
          fmt::format("rotations from element edges are defined for linear tetrahedra only, and the mesh has {}",
                      rest.count == 10 ? "tetrahedra of second order" : "hexahedra"),
          rest.count == 10 ? "rotation = \"polar\", or order = 1 in [body]" : "rotation = \"polar\"", material.place);
    for (const LawPart part : parts_of(body, material, rest.count)) {
      const auto [it, added] =
          field_of.try_emplace({static_cast<int>(law), rest.count, static_cast<int>(part)}, fields.size());
      if (added) {
        ElementField field;
        static constexpr const char* names[] = {"corotational",
                                                "corotational-edge-frame",
                                                "corotational-edge-polar",
                                                "st-venant-kirchhoff",
                                                "stable-neo-hookean",
                                                "mooney-rivlin",
                                                "membrane",
                                                "yeoh",
                                                "gent",
                                                "ogden",
                                                "threads",
                                                "rods"};
        static_assert(std::size(names) == static_cast<std::size_t>(last_law) + 1);
        field.name = fmt::format("{}-{}{}", names[static_cast<int>(law)], shape_name(rest.count), part_name(part));
        field.law = law;
        field.part = part;
        field.nodes_per_element = rest.count;
        field.points_per_element = part == LawPart::mean ? 1 : static_cast<int>(rest.points.size());
        for (const MaterialScene& each : body.materials)
          field.parameters.push_back(part_of(law, part, rest.count, law_parameters(each)));
        if (part != LawPart::mean) field.viscosity = viscosity_of(body.materials);
        fields.push_back(std::move(field));
      }
      add_element(rest, e, m, fields[it->second], mesh);
    }
  }
  for (ElementField& layer : build_membrane_fields(body, mesh)) fields.push_back(std::move(layer));
  return fields;
}

namespace {

// Of each element [kg/m^3].
std::vector<double> element_densities(const BodyScene& body, const Mesh& mesh) {
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
  double volume = 0;
  for (int e = 0; e < mesh.element_count(); ++e) volume += element_volume(mesh, e);
  if (body.mass) std::fill(density.begin(), density.end(), *body.mass / volume);
  for (int e = 0; e < mesh.element_count(); ++e)
    if (!(density[static_cast<std::size_t>(e)] > 0))
      throw InputError(fmt::format("element {} has no density", e), "give the body a density; materials override it",
                       body.place);
  return density;
}

}  // namespace

NodeMatrix build_mass(const BodyScene& body, const Mesh& mesh, const std::vector<ElementField>& fields,
                      double& total_mass) {
  return build_mass(body, mesh, mesh, fields, total_mass);
}

NodeMatrix build_mass(const BodyScene& body, const Mesh& at_rest, const Mesh& mesh,
                      const std::vector<ElementField>& fields, double& total_mass) {
  const std::vector<double> density = element_densities(body, at_rest);
  double mass = 0;
  for (int e = 0; e < mesh.element_count(); ++e) mass += density[static_cast<std::size_t>(e)] * element_volume(mesh, e);
  total_mass = mass;

  const int n = static_cast<int>(mesh.nodes.size());
  std::vector<std::map<int, double>> columns(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    columns[static_cast<std::size_t>(i)][i] = body.mass_kind == MassKind::per_node ? mass / n : 0.0;
  if (body.mass_kind != MassKind::per_node)
    for (int e = 0; e < mesh.element_count(); ++e) {
      const RestElement rest = rest_element(mesh, e, mass_points);
      const double rho = density[static_cast<std::size_t>(e)];
      const auto count = static_cast<std::size_t>(rest.count);
      const auto add = [&](std::size_t a, std::size_t b, double value) {
        const int i = body.mass_kind == MassKind::lumped ? rest.nodes[a] : std::max(rest.nodes[a], rest.nodes[b]);
        const int j = body.mass_kind == MassKind::lumped ? rest.nodes[a] : std::min(rest.nodes[a], rest.nodes[b]);
        columns[static_cast<std::size_t>(j)][i] += value;
      };
      if (count == 4) {
        // Integral of N_a N_b over a linear tetrahedron: V/20 (1 + delta_ab).
        const double unit = rho * rest.points.front().volume / 20;
        for (std::size_t a = 0; a < 4; ++a)
          for (std::size_t b = 0; b < 4; ++b)
            if (body.mass_kind == MassKind::lumped || rest.nodes[a] >= rest.nodes[b])
              add(a, b, a == b ? 2 * unit : unit);
        continue;
      }
      if (body.mass_kind == MassKind::lumped && mesh.order() == 2) {
        // Sums of rows are negative at the corners: in proportion to the diagonal instead (E. Hinton, T. Rock,
        // O. C. Zienkiewicz, A note on mass lumping, 1976).
        std::array<double, max_element_nodes> diagonal{};
        double whole = 0, sum = 0;
        for (const RestPoint& point : rest.points) {
          whole += point.volume;
          for (std::size_t a = 0; a < count; ++a) diagonal[a] += point.volume * point.shape[a] * point.shape[a];
        }
        for (std::size_t a = 0; a < count; ++a) sum += diagonal[a];
        for (std::size_t a = 0; a < count; ++a) add(a, a, rho * whole * diagonal[a] / sum);
        continue;
      }
      for (const RestPoint& point : rest.points)
        for (std::size_t a = 0; a < count; ++a)
          for (std::size_t b = 0; b < count; ++b)
            if (body.mass_kind == MassKind::lumped || rest.nodes[a] >= rest.nodes[b])
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

#include "engine/reduction/basis/project.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/mesh/boundary.hpp"
#include "engine/model/body_inertia.hpp"
#include "engine/model/stretch.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/tiles.hpp"

namespace supple {

namespace {

// Copies what a kept element brings, apart from G.
void keep_element(const ReducedField& from, int element, double xi, ReducedField& to) {
  to.element.push_back(from.element[static_cast<std::size_t>(element)]);
  to.xi.push_back(xi);
  if (!from.corners.empty()) {
    const int* const corner = from.corners.data() + extent(element, from.corners_per_element());
    to.corners.insert(to.corners.end(), corner, corner + from.corners_per_element());
  }
  for (int q = 0; q < from.points_per_element; ++q) {
    const auto p = static_cast<std::size_t>(element * from.points_per_element + q);
    to.weight.push_back(xi * from.weight[p]);
    to.region.push_back(from.region[p]);
    const auto slopes = static_cast<std::ptrdiff_t>(from.slopes.size() / from.weight.size());
    const auto slope = from.slopes.begin() + slopes * static_cast<std::ptrdiff_t>(p);
    to.slopes.insert(to.slopes.end(), slope, slope + slopes);
    if (!from.edges.empty()) to.edges.push_back(from.edges[p]);
  }
}

// Corners of the model's elements whose place is below 0, ascending.
std::vector<int> interior_nodes(const ReducedModel& model, const std::vector<int>& place) {
  std::vector<int> nodes;
  for (const ReducedField& field : model.fields)
    for (int node : field.corners)
      if (place[static_cast<std::size_t>(node)] < 0) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void renumber_corners(ReducedModel& model, const std::vector<int>& place) {
  for (ReducedField& field : model.fields)
    for (int& node : field.corners) node = place[static_cast<std::size_t>(node)];
}

// Leaves the interior nodes that a kept element has.
void drop_unused_interior(ReducedModel& model) {
  const std::size_t skin = model.skin.rest.size();
  std::vector<int> place(skin + model.interior.rest.size(), -1);
  std::iota(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(skin), 0);
  const ReducedInterior all = std::move(model.interior);
  const std::vector<double> stretched = std::move(model.stretched.interior);
  const std::size_t stretches = all.rest.empty() ? 0 : stretched.size() / all.rest.size();
  model.interior = {};
  model.stretched.interior.clear();
  const std::size_t modes = 3 * extent(model.modes), inputs = 3 * extent(model.motions());
  const auto copy_row = [](const std::vector<double>& from, std::size_t row, std::size_t width,
                           std::vector<double>& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * width);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  for (int node : interior_nodes(model, place)) {
    const std::size_t i = static_cast<std::size_t>(node) - skin;
    place[static_cast<std::size_t>(node)] = static_cast<int>(skin + model.interior.rest.size());
    model.interior.rest.push_back(all.rest[i]);
    copy_row(all.modes, i, modes, model.interior.modes);
    copy_row(all.inputs, i, inputs, model.interior.inputs);
    copy_row(stretched, i, stretches, model.stretched.interior);
  }
  renumber_corners(model, place);
}

void allocate_tiles(ReducedField& field, int columns) {
  field.G.assign(extent(tile_count(field.points()), columns, tile_rows), 0.0);
}

std::size_t tile_entry(int point, int column, int component, int columns) {
  return extent(point / tile_size, columns, tile_rows) + extent(column, tile_rows) + extent(component, tile_size) +
         static_cast<std::size_t>(point % tile_size);
}

// Converts volumes of cavities from functions of the corners of their walls to polynomials of the coordinates alpha, c.
// The corners are the last mapped points and serve display alone; ceil((r + m)/3) points that hold the coordinates
// replace them.
void replace_walls_by_polynomials(ReducedModel& model) {
  Robot& robot = model.robot;
  const int r = model.modes, m = model.motions(), n = r + m, points = (n + 2) / 3;
  int first = static_cast<int>(robot.rest_points.size());
  for (const ActuatorRow& row : robot.actuators)
    if (row.kind == ActuatorKind::cavity) first = std::min(first, row.first_point);
  for (const Effector& row : robot.effectors)
    if (row.kind == EffectorKind::volume) first = std::min(first, row.first_point);
  SUPPLE_EXPECT(std::all_of(robot.actuators.begin(), robot.actuators.end(), [&](const ActuatorRow& row) {
    return row.kind == ActuatorKind::cavity || row.first_point + row.point_count <= first;
  }));
  if (first == static_cast<int>(robot.rest_points.size())) return;
  const auto replace = [&](auto& row) {
    ReducedWalls walls;
    std::vector<double> rest, columns;
    for (int p = row.first_point; p < row.first_point + row.point_count; ++p) {
      walls.rest.push_back(robot.rest_points[static_cast<std::size_t>(p)]);
      for (int k = 0; k < 3; ++k) {
        rest.push_back(robot.rest_points[static_cast<std::size_t>(p)][k]);
        const auto alpha = model.outputs.begin() + static_cast<std::ptrdiff_t>(extent(3 * p + k, r));
        const auto c = model.output_inputs.begin() + static_cast<std::ptrdiff_t>(extent(3 * p + k, m));
        columns.insert(columns.end(), alpha, alpha + r);
        columns.insert(columns.end(), c, c + m);
        walls.modes.insert(walls.modes.end(), alpha, alpha + r);
        walls.inputs.insert(walls.inputs.end(), c, c + m);
      }
    }
    walls.triangles = row.triangles;
    row.volume = volume_polynomial(rest, columns, n, row.triangles);
    row.triangles.clear();
    row.first_point = first;
    row.point_count = points;
    return walls;
  };
  for (std::size_t a = 0; a < robot.actuators.size(); ++a) {
    if (robot.actuators[a].kind != ActuatorKind::cavity) continue;
    model.walls.resize(robot.actuators.size());
    model.walls[a] = replace(robot.actuators[a]);
  }
  for (Effector& row : robot.effectors)
    if (row.kind == EffectorKind::volume) (void)replace(row);
  robot.rest_points.resize(static_cast<std::size_t>(first));
  robot.rest_points.resize(static_cast<std::size_t>(first + points), Vec3d{{0, 0, 0}});
  model.outputs.resize(extent(3 * first, r));
  model.outputs.resize(extent(3 * (first + points), r), 0.0);
  model.output_inputs.resize(extent(3 * first, m));
  model.output_inputs.resize(extent(3 * (first + points), m), 0.0);
  for (int i = 0; i < r; ++i) model.outputs[extent(3 * first + i, r) + static_cast<std::size_t>(i)] = 1;
  for (int k = 0; k < m; ++k) model.output_inputs[extent(3 * first + r + k, m) + static_cast<std::size_t>(k)] = 1;
}

// Below this share of the largest motion of a mapped point a row does not move: states that obey it to 1e-11 m leave so
// much in the weakest modes.
constexpr double obeyed_share = 1e-5;

// Hard rows of one direction that every mode obeys, as those of states that obeyed them do. What is left of them is
// rounding, and a multiplier would be a quotient of roundings: they become rows without a direction, whose force is 0.
void drop_obeyed_rows(ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = extent(model.motions());
  const auto size = [](const std::vector<double>& H) {
    return std::sqrt(std::inner_product(H.begin(), H.end(), H.begin(), 0.0));
  };
  // Of points: the first corner of an orientation's fit holds rotations, not motions.
  double largest = 0;
  const auto see = [&](int point) {
    for (std::size_t row = extent(3, point); row < extent(3, point) + 3; ++row) {
      const auto begin = model.outputs.begin() + static_cast<std::ptrdiff_t>(row * r);
      largest = std::max(largest, size({begin, begin + static_cast<std::ptrdiff_t>(r)}));
    }
  };
  for (const ConstraintRow& row : model.robot.constraints)
    for (int p = 0; p < row.point_count; ++p) see(row.first_point + p);
  for (const Effector& effector : model.robot.effectors)
    if (effector.kind == EffectorKind::position) see(effector.point);
  for (ConstraintRow& row : model.robot.constraints) {
    if (row.value != ConstraintRow::Value::along || row.compliance > 0 || row.one_sided) continue;
    std::vector<double> H(r + m, 0.0);
    for (int k = 0; k < 3; ++k) {
      const std::size_t output = extent(3 * row.first_point + k);
      for (std::size_t j = 0; j < r; ++j) H[j] += row.direction[k] * model.outputs[output * r + j];
      for (std::size_t j = 0; j < m; ++j) H[r + j] += row.direction[k] * model.output_inputs[output * m + j];
    }
    if (size(H) > obeyed_share * largest) continue;
    row.direction = {{0, 0, 0}};
    row.compliance = 1;  // any: 0 = c lambda
    row.damping_time = 0;
  }
}

// Columns of [Phi Psi] at the nodes.
struct NodeColumns {
  const FullModel& model;
  std::span<const double> basis;
  const Lifting& lifting;
  int modes;

  double psi(int node, int k, int motion) const {
    return lifting.nodes[extent(motion, 3 * static_cast<int>(model.mesh.nodes.size())) + extent(3 * node + k)];
  }
  double phi(int node, int k, int column) const {
    if (column >= modes) return psi(node, k, column - modes);
    const int unknown = model.node_unknown[extent(node)];
    return unknown < 0 ? 0.0 : basis[extent(column, model.coordinates.nv) + extent(3 * unknown + k)];
  }
};

// Modes that move a free-floating body as a whole: rounding of the gradients would strain it a little, and push it.
std::vector<char> translations(const FullModel& model, std::span<const double> basis, int modes) {
  const std::size_t nv = extent(model.coordinates.nv);
  std::vector<char> translates(extent(modes), model.robot.floating);
  for (std::size_t m = 0; m < translates.size(); ++m)
    for (std::size_t i = m * nv + 3; i < (m + 1) * nv; ++i)
      if (basis[i] != basis[i - 3]) translates[m] = 0;
  return translates;
}

ReducedField project_field(const FullModel& model, const ElementField& full, const IntegrationDomain& domain,
                           const NodeColumns& at, std::span<const char> translates, int columns) {
  ReducedField all;  // the full field, without G
  all.law = full.law;
  all.part = full.part;
  all.nodes_per_element = full.law == LawId::rod ? 0 : full.nodes_per_element;
  all.element = full.element;
  for (int e = 0; e < full.elements(); ++e) {
    const auto first = full.node.begin() + static_cast<std::ptrdiff_t>(extent(e, full.nodes_per_element));
    all.corners.insert(all.corners.end(), first, first + all.corners_per_element());
  }
  all.weight = full.volume;
  all.region = full.region;
  all.edges = full.edges;
  all.points_per_element = full.points_per_element;
  all.slopes = stretch_slopes(model.robot, model.mesh.nodes, full);
  ReducedField field;
  field.name = full.name;
  field.law = full.law;
  field.part = full.part;
  field.nodes_per_element = all.nodes_per_element;
  field.total_elements = full.elements();
  field.points_per_element = full.points_per_element;
  field.parameters = full.parameters;
  field.viscosity = full.viscosity;
  field.tolerance = domain.tolerance;
  field.residual = domain.residual;
  for (std::size_t k = 0; k < domain.elements.size(); ++k) keep_element(all, domain.elements[k], domain.xi[k], field);
  allocate_tiles(field, columns);
  // G_p row (i, j), column m: sum_a Phi[(a, i), m] g_a[j].
  const int n = full.nodes_per_element;
#pragma omp parallel for schedule(static)
  for (int p = 0; p < field.points(); ++p) {
    const int e = domain.elements[extent(p / full.points_per_element)];
    const int point = e * full.points_per_element + p % full.points_per_element;
    for (int m = 0; m < columns; ++m) {
      if (m < at.modes && translates[extent(m)]) continue;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          double sum = 0;
          for (int a = 0; a < n; ++a)
            sum += at.phi(full.node[extent(e, n) + extent(a)], i, m) *
                   full.gradient[extent(point, n, 3) + extent(3 * a + j)];
          field.G[tile_entry(p, m, 3 * i + j, columns)] = sum;
        }
    }
  }
  return field;
}

// Phi^T M Phi, Psi^T M Phi and Phi^T M e, M with these values.
MassTerm project_mass(const FullModel& model, const std::vector<double>& values, const NodeColumns& at, int r,
                      int motions) {
  MassTerm reduced;
  reduced.mass.assign(extent(r, r), 0.0);
  reduced.input_mass.assign(extent(motions, r), 0.0);
  reduced.gravity.assign(extent(r, 3), 0.0);
  const auto add_pair = [&](int a, int b, double mass) {
    for (int i = 0; i < r; ++i)
      for (int k = 0; k < 3; ++k) {
        const double left = mass * at.phi(a, k, i);
        reduced.gravity[extent(i, 3) + extent(k)] += left;
        for (int j = 0; j < r; ++j) reduced.mass[extent(i, r) + extent(j)] += left * at.phi(b, k, j);
        for (int m = 0; m < motions; ++m) reduced.input_mass[extent(m, r) + extent(i)] += left * at.psi(b, k, m);
      }
  };
  for (int column = 0; column < static_cast<int>(model.mesh.nodes.size()); ++column)
    for (int k = model.mass.column_start[extent(column)]; k < model.mass.column_start[extent(column) + 1]; ++k) {
      const int row = model.mass.row[extent(k)];
      const double m = values[extent(k)];
      add_pair(row, column, m);
      if (row != column) add_pair(column, row, m);
    }
  return reduced;
}

// The mass, and [Phi Psi]^T k [Phi Psi], k the springs of nodes.
void project_matrices(const FullModel& model, const NodeColumns& at, ReducedModel& reduced) {
  const int r = reduced.modes, columns = reduced.columns(), motions = reduced.motions();
  MassTerm mass = project_mass(model, model.mass.value, at, r, motions);
  reduced.mass = std::move(mass.mass);
  reduced.input_mass = std::move(mass.input_mass);
  reduced.gravity = std::move(mass.gravity);
  for (const std::vector<double>& term : model.mass_terms)
    reduced.mass_terms.push_back(project_mass(model, term, at, r, motions));
  reduced.stiffness.assign(extent(columns, columns), 0.0);
  for (std::size_t f = 0; f < model.free_nodes.size(); ++f) {
    if (model.node_spring[f] == 0) continue;
    for (int i = 0; i < columns; ++i)
      for (int j = 0; j < columns; ++j)
        for (int k = 0; k < 3; ++k)
          reduced.stiffness[extent(i, columns) + extent(j)] +=
              model.node_spring[f] * at.phi(model.free_nodes[f], k, i) * at.phi(model.free_nodes[f], k, j);
  }
}

void project_outputs(const FullModel& model, const NodeColumns& at, ReducedModel& reduced) {
  const int r = reduced.modes, motions = reduced.motions();
  reduced.outputs.assign(extent(model.robot.outputs(), r), 0.0);
  reduced.output_inputs.assign(extent(model.robot.outputs(), motions), 0.0);
  for (std::size_t p = 0; p < model.interpolation.size(); ++p)
    for (std::size_t n = 0; n < model.interpolation[p].node.size(); ++n)
      for (int k = 0; k < 3; ++k) {
        const int row = 3 * static_cast<int>(p) + k, node = model.interpolation[p].node[n];
        const double weight = model.interpolation[p].weight[n];
        for (int m = 0; m < r; ++m) reduced.outputs[extent(row, r) + extent(m)] += weight * at.phi(node, k, m);
        for (int m = 0; m < motions; ++m)
          reduced.output_inputs[extent(row, motions) + extent(m)] += weight * at.psi(node, k, m);
      }
}

// Shown nodes: those of the skin, then the corners of kept elements that are not among them.
void project_shown(const FullModel& model, const NodeColumns& at, ReducedModel& reduced) {
  const auto show = [&](int node, auto& shown, std::vector<double>& stretched) {
    shown.rest.push_back(model.mesh.nodes[extent(node)]);
    const std::vector<double> along = stretched_along(model.robot, model.mesh.nodes[extent(node)]);
    stretched.insert(stretched.end(), along.begin(), along.end());
    for (int k = 0; k < 3; ++k) {
      for (int m = 0; m < reduced.modes; ++m) shown.modes.push_back(at.phi(node, k, m));
      for (int m = 0; m < reduced.motions(); ++m) shown.inputs.push_back(at.psi(node, k, m));
    }
  };
  BoundarySurface skin = boundary_surface(model.mesh);
  for (int node : skin.mesh_node) show(node, reduced.skin, reduced.stretched.skin);
  reduced.skin.triangles = std::move(skin.surface.triangles);
  reduced.skin.mesh_node = std::move(skin.mesh_node);
  reduced.skin.element = std::move(skin.element);
  std::vector<int> place(model.mesh.nodes.size(), -1);
  for (std::size_t i = 0; i < reduced.skin.mesh_node.size(); ++i)
    place[extent(reduced.skin.mesh_node[i])] = static_cast<int>(i);
  const std::vector<int> inside = interior_nodes(reduced, place);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    show(inside[i], reduced.interior, reduced.stretched.interior);
    place[extent(inside[i])] = static_cast<int>(reduced.skin.rest.size() + i);
  }
  renumber_corners(reduced, place);
}

}  // namespace

std::vector<IntegrationDomain> all_elements(const FullModel& model) {
  std::vector<IntegrationDomain> domains;
  for (const ElementField& field : model.fields) {
    IntegrationDomain domain;
    for (int e = 0; e < field.elements(); ++e) domain.elements.push_back(e);
    domain.xi.assign(domain.elements.size(), 1.0);
    domains.push_back(std::move(domain));
  }
  return domains;
}

ReducedModel project(const FullModel& model, std::span<const double> basis, int modes,
                     const std::vector<IntegrationDomain>& domains) {
  SUPPLE_EXPECT(domains.size() == model.fields.size());
  SUPPLE_EXPECT(basis.size() == extent(model.coordinates.nv, modes));
  const Lifting lifting = lifting_of(model);
  const NodeColumns at{model, basis, lifting, modes};
  const std::vector<char> translates = translations(model, basis, modes);
  ReducedModel reduced;
  reduced.robot = model.robot;
  reduced.modes = modes;
  for (std::size_t f = 0; f < model.fields.size(); ++f)
    reduced.fields.push_back(project_field(model, model.fields[f], domains[f], at, translates, reduced.columns()));
  reduced.robot.viscous = viscous_numbers(reduced.fields);
  project_matrices(model, at, reduced);
  BodyInertia inertia = project_inertia(model, basis, modes);
  reduced.rest_inertia = inertia.rest;
  reduced.first_moments = std::move(inertia.first);
  reduced.second_moments = std::move(inertia.second);
  project_outputs(model, at, reduced);
  reduced.stretched.points = stretch_of_points(model);
  drop_obeyed_rows(reduced);
  replace_walls_by_polynomials(reduced);
  project_shown(model, at, reduced);
  reduced.provenance.nodes = static_cast<int>(model.mesh.nodes.size());
  reduced.provenance.elements = model.mesh.element_count();
  return reduced;
}

ReducedModel by_points(ReducedModel all) {
  for (ReducedField& field : all.fields) {
    if (field.points_per_element == 1) continue;
    SUPPLE_EXPECT(field.points_per_element == field.element_points() && field.units() == field.total_elements);
    const std::vector<int> element = std::exchange(field.element, {}), corners = std::exchange(field.corners, {});
    const std::vector<double> xi = std::exchange(field.xi, {});
    const int width = field.corners_per_element();
    for (std::size_t e = 0; e < element.size(); ++e)
      for (int q = 0; q < field.element_points(); ++q) {
        field.element.push_back(element[e]);
        field.xi.push_back(xi[e]);
        if (corners.empty()) continue;
        const auto first = corners.begin() + static_cast<std::ptrdiff_t>(extent(static_cast<int>(e), width));
        field.corners.insert(field.corners.end(), first, first + width);
      }
    field.unit = DomainUnit::point;
    field.points_per_element = 1;
  }
  return all;
}

ReducedModel restrict_to(const ReducedModel& all, const std::vector<IntegrationDomain>& domains) {
  SUPPLE_EXPECT(domains.size() == all.fields.size());
  ReducedModel reduced = all;
  const int columns = all.columns();
  for (std::size_t f = 0; f < all.fields.size(); ++f) {
    const ReducedField& from = all.fields[f];
    SUPPLE_EXPECT(from.units() == (from.strains.count > 0 ? 0 : from.total_units()));
    ReducedField& to = reduced.fields[f];
    to.element.clear();
    to.xi.clear();
    to.corners.clear();
    to.weight.clear();
    to.region.clear();
    to.slopes.clear();
    to.edges.clear();
    to.tolerance = domains[f].tolerance;
    to.residual = domains[f].residual;
    for (std::size_t k = 0; k < domains[f].elements.size(); ++k)
      keep_element(from, domains[f].elements[k], domains[f].xi[k], to);
    allocate_tiles(to, columns);
    for (int p = 0; p < to.points(); ++p) {
      const int source =
          domains[f].elements[static_cast<std::size_t>(p / from.points_per_element)] * from.points_per_element +
          p % from.points_per_element;
      for (int m = 0; m < columns; ++m)
        for (int c = 0; c < gradient_components; ++c)
          to.G[tile_entry(p, m, c, columns)] = from.G[tile_entry(source, m, c, columns)];
    }
  }
  reduced.robot.viscous = viscous_numbers(reduced.fields);
  drop_unused_interior(reduced);
  return reduced;
}

}  // namespace supple

#include "engine/reduction/project.hpp"

#include <algorithm>

#include "engine/dynamics/full_mechanics.hpp"
#include "engine/mesh/boundary.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/points/tiles.hpp"

namespace supple {

namespace {

// Copies what a kept element brings, apart from G.
void keep_element(const ReducedField& from, int element, double xi, ReducedField& to) {
  to.element.push_back(from.element[static_cast<std::size_t>(element)]);
  to.xi.push_back(xi);
  for (int q = 0; q < from.points_per_element; ++q) {
    const auto p = static_cast<std::size_t>(element * from.points_per_element + q);
    to.weight.push_back(xi * from.weight[p]);
    to.region.push_back(from.region[p]);
    if (!from.edges.empty()) to.edges.push_back(from.edges[p]);
  }
}

void allocate_tiles(ReducedField& field, int modes) {
  field.G.assign(extent(tile_count(field.points()), modes, tile_rows), 0.0);
}

std::size_t tile_entry(int point, int mode, int component, int modes) {
  return extent(point / tile_size, modes, tile_rows) + extent(mode, tile_rows) + extent(component, tile_size) +
         static_cast<std::size_t>(point % tile_size);
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
  if (!model.robot.motions.empty())
    throw InputError("scenes with a driven region cannot be reduced yet",
                     "simulate the full model, or hold the region still ([[fix]] without motion)");
  SUPPLE_EXPECT(domains.size() == model.fields.size());
  const int nv = model.coordinates.nv, r = modes;
  SUPPLE_EXPECT(basis.size() == extent(nv, r));
  const auto phi = [&](int node, int k, int mode) {
    const int unknown = model.node_unknown[static_cast<std::size_t>(node)];
    return unknown < 0 ? 0.0 : basis[extent(mode, nv) + static_cast<std::size_t>(3 * unknown + k)];
  };

  ReducedModel reduced;
  reduced.robot = model.robot;
  reduced.modes = r;
  for (std::size_t f = 0; f < model.fields.size(); ++f) {
    const ElementField& full = model.fields[f];
    const IntegrationDomain& domain = domains[f];
    ReducedField all;  // the full field, without G
    all.element = full.element;
    all.weight = full.volume;
    all.region = full.region;
    all.edges = full.edges;
    all.points_per_element = full.points_per_element;
    ReducedField field;
    field.name = full.name;
    field.law = full.law;
    field.total_elements = full.elements();
    field.points_per_element = full.points_per_element;
    field.parameters = full.parameters;
    field.tolerance = domain.tolerance;
    field.residual = domain.residual;
    for (std::size_t k = 0; k < domain.elements.size(); ++k) keep_element(all, domain.elements[k], domain.xi[k], field);
    allocate_tiles(field, r);
    // G_p row (i, j), column m: sum_a Phi[(a, i), m] g_a[j].
    const int n = full.nodes_per_element;
#pragma omp parallel for schedule(static)
    for (int p = 0; p < field.points(); ++p) {
      const int e = domain.elements[static_cast<std::size_t>(p / full.points_per_element)];
      const int point = e * full.points_per_element + p % full.points_per_element;
      for (int m = 0; m < r; ++m)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            double sum = 0;
            for (int a = 0; a < n; ++a)
              sum += phi(full.node[extent(e, n) + static_cast<std::size_t>(a)], i, m) *
                     full.gradient[extent(point, n, 3) + static_cast<std::size_t>(3 * a + j)];
            field.G[tile_entry(p, m, 3 * i + j, r)] = sum;
          }
    }
    reduced.fields.push_back(std::move(field));
  }

  // Phi^T M Phi, Phi^T M e and Phi^T k Phi.
  reduced.mass.assign(extent(r, r), 0.0);
  reduced.stiffness.assign(extent(r, r), 0.0);
  reduced.gravity.assign(extent(r, 3), 0.0);
  const auto add_pair = [&](int a, int b, double m) {
    for (int i = 0; i < r; ++i)
      for (int k = 0; k < 3; ++k) {
        const double left = m * phi(a, k, i);
        reduced.gravity[extent(i, 3) + static_cast<std::size_t>(k)] += left;
        for (int j = 0; j < r; ++j) reduced.mass[extent(i, r) + static_cast<std::size_t>(j)] += left * phi(b, k, j);
      }
  };
  for (int column = 0; column < static_cast<int>(model.mesh.nodes.size()); ++column)
    for (int k = model.mass.column_start[static_cast<std::size_t>(column)];
         k < model.mass.column_start[static_cast<std::size_t>(column) + 1]; ++k) {
      const int row = model.mass.row[static_cast<std::size_t>(k)];
      const double m = model.mass.value[static_cast<std::size_t>(k)];
      add_pair(row, column, m);
      if (row != column) add_pair(column, row, m);
    }
  for (std::size_t f = 0; f < model.free_nodes.size(); ++f) {
    if (model.node_spring[f] == 0) continue;
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < r; ++j)
        for (int k = 0; k < 3; ++k)
          reduced.stiffness[extent(i, r) + static_cast<std::size_t>(j)] +=
              model.node_spring[f] * phi(model.free_nodes[f], k, i) * phi(model.free_nodes[f], k, j);
  }

  reduced.outputs.assign(extent(3 * static_cast<int>(model.interpolation.size()), r), 0.0);
  for (std::size_t p = 0; p < model.interpolation.size(); ++p)
    for (std::size_t n = 0; n < model.interpolation[p].node.size(); ++n)
      for (std::size_t k = 0; k < 3; ++k)
        for (int m = 0; m < r; ++m)
          reduced.outputs[(3 * p + k) * static_cast<std::size_t>(r) + static_cast<std::size_t>(m)] +=
              model.interpolation[p].weight[n] * phi(model.interpolation[p].node[n], static_cast<int>(k), m);

  const BoundarySurface skin = boundary_surface(model.mesh);
  reduced.skin.rest = skin.surface.nodes;
  reduced.skin.triangles = skin.surface.triangles;
  for (int node : skin.mesh_node)
    for (int k = 0; k < 3; ++k)
      for (int m = 0; m < r; ++m) reduced.skin.modes.push_back(phi(node, k, m));
  reduced.provenance.nodes = static_cast<int>(model.mesh.nodes.size());
  reduced.provenance.elements = model.mesh.element_count();
  return reduced;
}

ReducedModel restrict_to(const ReducedModel& all, const std::vector<IntegrationDomain>& domains) {
  SUPPLE_EXPECT(domains.size() == all.fields.size());
  ReducedModel reduced = all;
  const int r = all.modes;
  for (std::size_t f = 0; f < all.fields.size(); ++f) {
    const ReducedField& from = all.fields[f];
    SUPPLE_EXPECT(static_cast<int>(from.element.size()) == from.total_elements);
    ReducedField& to = reduced.fields[f];
    to.element.clear();
    to.xi.clear();
    to.weight.clear();
    to.region.clear();
    to.edges.clear();
    to.tolerance = domains[f].tolerance;
    to.residual = domains[f].residual;
    for (std::size_t k = 0; k < domains[f].elements.size(); ++k)
      keep_element(from, domains[f].elements[k], domains[f].xi[k], to);
    allocate_tiles(to, r);
    for (int p = 0; p < to.points(); ++p) {
      const int source =
          domains[f].elements[static_cast<std::size_t>(p / from.points_per_element)] * from.points_per_element +
          p % from.points_per_element;
      for (int m = 0; m < r; ++m)
        for (int c = 0; c < gradient_components; ++c)
          to.G[tile_entry(p, m, c, r)] = from.G[tile_entry(source, m, c, r)];
    }
  }
  return reduced;
}

}  // namespace supple

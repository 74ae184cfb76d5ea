#include "engine/cli/reports/shape_writer.hpp"

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/model/reduced_shape.hpp"

namespace supple::cli {

namespace {

std::vector<double> skin_displacements(const ReducedModel& model, const State& state) {
  std::vector<double> u(3 * model.skin.rest.size());
  const auto robot = [&](const std::vector<double>& values, int size) {
    return std::span<const double>(values).first(static_cast<std::size_t>(size));
  };
  displacements(model, model.skin, robot(state.q, model.nq()), robot(state.motions, model.motions()), u);
  return u;
}

}  // namespace

WriteShape full_shape_writer(const FullMechanics& mechanics) {
  return [&mechanics](const std::string& path, const State& state) {
    const Mesh& rest = mechanics.model().mesh;
    std::vector<double> u(3 * rest.nodes.size()), ratio;
    node_displacements(mechanics.model(), state.q, state.motions, u);
    Mesh deformed = rest;
    for (std::size_t i = 0; i < u.size(); ++i) deformed.nodes[i / 3][static_cast<int>(i % 3)] += u[i];
    for (int e = 0; e < rest.element_count(); ++e)
      ratio.push_back(element_volume(deformed, e) / element_volume(rest, e));
    write_vtu(path, deformed.nodes, rest,
              {{"displacement", VtuField::On::nodes, 3, std::move(u)},
               {"volume_ratio", VtuField::On::cells, 1, std::move(ratio)}});
  };
}

WriteShape reduced_shape_writer(const ReducedModel& model) {
  return [&model](const std::string& path, const State& state) {
    std::vector<double> u = skin_displacements(model, state);
    Surface surface;
    surface.nodes = model.skin.rest;
    surface.triangles = model.skin.triangles;
    for (std::size_t i = 0; i < u.size(); ++i) surface.nodes[i / 3][static_cast<int>(i % 3)] += u[i];
    write_vtu(path, surface, {{"displacement", VtuField::On::nodes, 3, std::move(u)}});
  };
}

SkinOf full_skin(const FullMechanics& mechanics) {
  const FullModel& model = mechanics.model();
  return [&model, skin = boundary_surface(model.mesh).mesh_node](const State& state) {
    std::vector<double> u(3 * model.mesh.nodes.size());
    node_displacements(model, state.q, state.motions, u);
    std::vector<Vec3d> nodes;
    for (int node : skin) {
      const auto k = static_cast<std::size_t>(node);
      nodes.push_back(model.mesh.nodes[k] + Vec3d{{u[3 * k], u[3 * k + 1], u[3 * k + 2]}});
    }
    return nodes;
  };
}

SkinOf reduced_skin(const ReducedModel& model) {
  return [&model](const State& state) {
    const std::vector<double> u = skin_displacements(model, state);
    std::vector<Vec3d> nodes = model.skin.rest;
    for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k] = nodes[k] + Vec3d{{u[3 * k], u[3 * k + 1], u[3 * k + 2]}};
    return nodes;
  };
}

}  // namespace supple::cli

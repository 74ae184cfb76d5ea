#include "engine/cli/shape_writer.hpp"

#include "engine/mesh/geometry.hpp"

namespace supple::cli {

WriteShape full_shape_writer(const FullMechanics& mechanics) {
  return [&mechanics](const std::string& path, const State& state) {
    const Mesh& rest = mechanics.model().mesh;
    std::vector<double> u(3 * rest.nodes.size()), ratio;
    mechanics.node_displacements(state.q, state.motions, u);
    Mesh deformed = rest;
    for (std::size_t i = 0; i < u.size(); ++i) deformed.nodes[i / 3][static_cast<int>(i % 3)] += u[i];
    for (int e = 0; e < rest.element_count(); ++e)
      ratio.push_back(element_volume(deformed, e) / element_volume(rest, e));
    write_vtu(path, deformed.nodes, rest,
              {{"displacement", VtuField::On::nodes, 3, std::move(u)},
               {"volume_ratio", VtuField::On::cells, 1, std::move(ratio)}});
  };
}

std::vector<double> skin_displacements(const ReducedModel& model, const std::vector<double>& q,
                                       const std::vector<double>& motions) {
  const auto r = static_cast<std::size_t>(model.modes);
  std::vector<double> u(3 * model.skin.rest.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    for (std::size_t m = 0; m < r; ++m) u[i] += model.skin.modes[i * r + m] * q[m];
    for (std::size_t m = 0; m < motions.size(); ++m) u[i] += model.skin.inputs[i * motions.size() + m] * motions[m];
  }
  return u;
}

WriteShape reduced_shape_writer(const ReducedModel& model) {
  return [&model](const std::string& path, const State& state) {
    std::vector<double> u = skin_displacements(model, state.q, state.motions);
    Surface surface;
    surface.nodes = model.skin.rest;
    surface.triangles = model.skin.triangles;
    for (std::size_t i = 0; i < u.size(); ++i) surface.nodes[i / 3][static_cast<int>(i % 3)] += u[i];
    write_vtu(path, surface, {{"displacement", VtuField::On::nodes, 3, std::move(u)}});
  };
}

}  // namespace supple::cli

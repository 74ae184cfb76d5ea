#include "engine/cli/shape_writer.hpp"

#include "engine/mesh/geometry.hpp"
#include "engine/reduction/reduced_shape.hpp"

namespace supple::cli {

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
    std::vector<double> u(3 * model.skin.rest.size());
    displacements(model.skin.modes, model.skin.inputs, state.q, state.motions, u);
    Surface surface;
    surface.nodes = model.skin.rest;
    surface.triangles = model.skin.triangles;
    for (std::size_t i = 0; i < u.size(); ++i) surface.nodes[i / 3][static_cast<int>(i % 3)] += u[i];
    write_vtu(path, surface, {{"displacement", VtuField::On::nodes, 3, std::move(u)}});
  };
}

}  // namespace supple::cli

#include "engine/model/full_model.hpp"

namespace supple {

void node_displacements(const FullModel& model, std::span<const double> q, std::span<const double> c,
                        std::span<double> u) {
  for (std::size_t node = 0; node < model.mesh.nodes.size(); ++node) {
    const int unknown = model.node_unknown[node], motion = model.node_motion[node];
    for (int k = 0; k < 3; ++k)
      u[3 * node + static_cast<std::size_t>(k)] =
          unknown >= 0 ? q[static_cast<std::size_t>(3 * unknown + k)]
          : motion >= 0
              ? c[static_cast<std::size_t>(motion)] * model.robot.motions[static_cast<std::size_t>(motion)].direction[k]
              : 0.0;
  }
}

}  // namespace supple

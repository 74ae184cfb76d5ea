#include "engine/step/constraint_law.hpp"

#include "kernels/base/extent.hpp"

namespace supple {

ConstraintSpace of_robot(const ConstraintSpace& space, int robot) {
  const int n = space.rows, e = space.effector_rows, m = space.motions;
  const auto part = [robot](std::span<const double> values, std::size_t size) {
    return values.subspan(static_cast<std::size_t>(robot) * size, size);
  };
  const auto given = [&](std::span<const double> values, std::size_t size) {
    return values.empty() ? values : part(values, size);
  };
  return {.robots = 1,
          .rows = n,
          .effector_rows = e,
          .motions = m,
          .phi = part(space.phi, extent(n)),
          .free = part(space.free, extent(n)),
          .W = part(space.W, extent(n, n)),
          .B = part(space.B, extent(n, m)),
          .effector_phi = part(space.effector_phi, extent(e)),
          .effector_free = part(space.effector_free, extent(e)),
          .effector_W = part(space.effector_W, extent(e, n)),
          .effector_B = part(space.effector_B, extent(e, m)),
          .inputs = part(space.inputs, extent(m)),
          .compliance = given(space.compliance, extent(n)),
          .command_scale = given(space.command_scale, extent(n))};
}

}  // namespace supple

#include "engine/model/reduced_shape.hpp"

#include <algorithm>
#include <unordered_map>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

Pose body_pose(const ReducedModel& model, std::span<const double> q) {
  if (!model.on_frame) return {};
  return pose_of(q.data() + model.modes) * Pose{-1.0 * model.rest_inertia.centre, Mat3d::identity()};
}

void displacements(const ReducedModel& model, std::span<const Vec3d> rest, std::span<const double> modes,
                   std::span<const double> inputs, std::span<const double> q, std::span<const double> motions,
                   std::span<double> out) {
  const std::size_t r = extent(model.modes);
  SUPPLE_EXPECT(q.size() == extent(model.nq()) && modes.size() == out.size() * r &&
                inputs.size() == out.size() * motions.size() && out.size() == 3 * rest.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    for (std::size_t m = 0; m < r; ++m) sum += modes[i * r + m] * q[m];
    for (std::size_t m = 0; m < motions.size(); ++m) sum += inputs[i * motions.size() + m] * motions[m];
    out[i] = sum;
  }
  if (!model.on_frame) return;
  const Pose pose = body_pose(model, q);
  for (std::size_t node = 0; node < rest.size(); ++node) {
    double* u = out.data() + 3 * node;
    const Vec3d moved = pose(rest[node] + Vec3d{{u[0], u[1], u[2]}}) - rest[node];
    std::copy_n(moved.v, 3, u);
  }
}

KeptElements kept_elements(const ReducedField& field) {
  KeptElements kept;
  std::unordered_map<int, int> place;
  for (int u = 0; u < field.units(); ++u) {
    const auto [at, added] = place.emplace(field.element[static_cast<std::size_t>(u)], kept.count());
    if (added) kept.first.push_back(u);
    kept.of_unit.push_back(at->second);
  }
  return kept;
}

}  // namespace supple

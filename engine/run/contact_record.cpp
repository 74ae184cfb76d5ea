#include "engine/run/contact_record.hpp"

#include <algorithm>
#include <cmath>

#include "engine/collision/surface_gaps.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

void ContactRecord::add(const ContactFigures& step, const ReducedModel* model, const State& state) {
  figures.include(step);
  if (model == nullptr) return;
  for (int b = 0; b < state.robots; ++b) {
    Vec3d sum{{0, 0, 0}};
    const std::size_t own = state.contact_forces.size() / extent(state.robots);
    for (std::size_t k = 0; k < own; ++k) sum[static_cast<int>(k % 3)] += state.contact_forces[extent(b) * own + k];
    const double pushes = model->robot.pushes, force = norm(sum);
    if (pushes > 0 && force > (harder ? harder->force : pushes)) harder = {force, pushes};
    if (const std::optional<OutsideModes> now = outside_modes(*model, state, b)) {
      if (!outside) outside = OutsideModes{};
      outside->depth = std::max(outside->depth, now->depth);
      outside->share = std::max(outside->share, now->share);
    }
  }
}

void ContactRecord::add_gap(const Robot& robot, const std::vector<Vec3d>& skin) {
  double least = least_gap.value_or(unlimited);
  for (const PlacedObstacle& placed : robot.obstacles)
    for (const Vec3d& x : skin) least = std::min(least, placed.obstacle.at(placed.pose, x).gap);
  least_gap = least;
}

void ContactRecord::add_body_gap(const Robot& robot, std::span<const double> y) {
  if (!trees) trees = std::make_shared<SurfaceTrees>(*robot.surfaces);
  const SurfaceGap gap = supple::least_gap(
      *robot.surfaces, *trees, y.subspan(extent(3, robot.first_surface_point), extent(3, robot.surfaces->vertices())),
      least_body_gap.value_or(HUGE_VAL));
  if (gap.first >= 0) least_body_gap = gap.gap;
}

}  // namespace supple

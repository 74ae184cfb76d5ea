#include "engine/run/contact_record.hpp"

#include <algorithm>
#include <cmath>

#include "engine/collision/surface_gaps.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

void add_pushes(const Robot& robot, const State& state, std::optional<HarderThanTrained>& harder) {
  const std::size_t obstacles = robot.obstacles.size(), points = extent(robot.collision_points);
  for (std::size_t b = 0; b < extent(state.robots); ++b)
    for (std::size_t k = 0; k < obstacles; ++k) {
      Vec3d sum{{0, 0, 0}};
      for (std::size_t p = 0; p < points; ++p)
        for (std::size_t i = 0; i < 3; ++i)
          sum[static_cast<int>(i)] += state.contact_forces[3 * ((b * points + p) * obstacles + k) + i];
      if (const double force = norm(sum); force > (harder ? harder->force : robot.pushes))
        harder = {force, robot.pushes};
    }
}

}  // namespace

void ContactRecord::add(const ContactFigures& step, const ReducedModel* model, const State& state) {
  figures.include(step);
  if (model == nullptr) return;
  if (model->robot.pushes > 0 || model->robot.other_obstacles != 0) add_pushes(model->robot, state, harder);
  for (int b = 0; b < state.robots; ++b)
    if (const std::optional<OutsideModes> now = outside_modes(*model, state, b)) {
      if (!outside) outside = OutsideModes{};
      outside->depth = std::max(outside->depth, now->depth);
      outside->share = std::max(outside->share, now->share);
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

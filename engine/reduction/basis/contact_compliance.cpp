#include "engine/reduction/basis/contact_compliance.hpp"

#include <algorithm>

#include "engine/reduction/basis/rest_response.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr int points_at_once = 16;

}  // namespace

std::vector<double> point_compliance(Mechanics& mechanics) {
  const Robot& robot = mechanics.robot();
  const RestResponse response(mechanics);
  if (!response.known()) return {};
  std::vector<double> result;
  for (int first = 0; first < robot.collision_points; first += points_at_once) {
    PointRows points;
    for (int p = first; p < std::min(first + points_at_once, robot.collision_points); ++p) {
      points.point.push_back(robot.first_collision_point + p);
      points.frame.push_back(Mat3d::identity());
    }
    const int n = points.rows();
    const std::vector<double> C = response.compliance(points);
    for (int p = 0; p < points.points(); ++p)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) result.push_back(C[extent(3 * p + i, n) + extent(3 * p + j)]);
  }
  return result;
}

std::optional<OutsideModes> outside_modes(const ReducedModel& model, const State& state, int robot) {
  const Robot& r = model.robot;
  if (model.full_compliance.empty() || r.pairs() == 0) return std::nullopt;
  const int obstacles = static_cast<int>(r.obstacles.size());
  OutsideModes outside;
  double lacking = 0, all = 0;
  for (int p = 0; p < r.collision_points; ++p) {
    Vec3d force{{0, 0, 0}};
    for (int o = 0; o < obstacles; ++o)
      for (int i = 0; i < 3; ++i)
        force[i] += state.contact_forces[extent(3, robot * r.pairs() + p * obstacles + o) + extent(i)];
    if (force == Vec3d{{0, 0, 0}}) continue;
    if (model.on_frame)  // compliances are in the body's axes
      force = transpose(pose_of(state.q.data() + extent(robot, model.nq()) + extent(model.modes)).rotation) * force;
    Mat3d full, own;
    std::copy_n(model.full_compliance.begin() + 9 * p, 9, full.m);
    std::copy_n(model.own_compliance.begin() + 9 * p, 9, own.m);
    const Vec3d lack = (full - own) * force;
    outside.depth = std::max(outside.depth, norm(lack));
    lacking += dot(force, lack);
    all += dot(force, full * force);
  }
  if (!(all > 0)) return std::nullopt;
  outside.share = std::max(0.0, lacking / all);
  return outside;
}

}  // namespace supple

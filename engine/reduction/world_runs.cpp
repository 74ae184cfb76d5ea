#include "engine/reduction/world_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/step/forward_step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

VariedCommands::VariedCommands(const Actuation& table, double variation, int run, std::uint64_t seed) : table_(table) {
  first_.resize(table.inputs().size());
  table.sample(0, first_);
  factors_.assign(first_.size(), 1.0);
  if (run == 0) return;
  std::mt19937_64 generator(seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(run));
  for (double& factor : factors_) factor = 1 + variation * (2 * uniform(generator) - 1);
}

Control VariedCommands::control(const Mechanics& mechanics, double time) const {
  Control control = zero_control(mechanics);
  std::vector<double> values(first_.size());
  table_.sample(time, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = first_[i] + factors_[i] * (values[i] - first_[i]);
    const Interval& range = table_.inputs()[i].range;
    if (i < control.commands.size())
      control.commands[i] = value;
    else
      control.motions[i - control.commands.size()] = std::clamp(value, range.lower, range.upper);
  }
  return control;
}

WorldMoment moment_of(AssemblyRobot& robot, const State& state) {
  WorldMoment now;
  const Robot& whole = robot.mechanics().robot();
  std::vector<double> y(extent(whole.outputs()));
  robot.mechanics().outputs_elsewhere(state.q, state.motions, y);
  const auto add = [&](int point) {
    now.goals.push_back({{y[extent(3, point)], y[extent(3, point) + 1], y[extent(3, point) + 2]}});
  };
  for (const Effector& effector : whole.effectors) add(effector.point);
  if (whole.effectors.empty())
    for (const NamedPoint& point : whole.reported_points()) add(point.point);
  const AssemblyMechanics& mechanics = robot.mechanics();
  for (int rigid = 0; rigid < static_cast<int>(robot.scene().rigids.size()); ++rigid)
    if (mechanics.assembly().frames[extent(robot.frame_of_rigid(rigid))].hold == Assembly::Hold::free)
      now.goals.push_back(robot.rigid_pose(rigid, state.q, state.motions).position);
  for (int part = 0; part < static_cast<int>(robot.scene().parts.size()); ++part) {
    const std::vector<Vec3d> skin = robot.part_skin(part, state.q, state.motions);
    now.skin.insert(now.skin.end(), skin.begin(), skin.end());
  }
  now.touches = body_touches(whole, state);
  return now;
}

RanWorld run_world(AssemblyRobot& robot, const VariedCommands& commands, int every,
                   const std::function<void(const State&, bool kept)>& visit) {
  AssemblyMechanics& mechanics = robot.mechanics();
  const double h = robot.scene().time_step;
  ForwardStep step(mechanics, robot.scene().integrator, h);
  State state = rest_state(mechanics);
  visit(state, true);
  RanWorld ran;
  const auto steps = static_cast<long>(std::llround(commands.end() / h));
  for (long k = 1; k <= steps; ++k) {
    const Control control = commands.control(mechanics, h * static_cast<double>(k));
    const auto begun = std::chrono::steady_clock::now();
    ran.status = step.step(control, state).status;
    ran.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    if (ran.status != StepStatus::ok) {
      ran.failed_at = h * static_cast<double>(k);
      break;
    }
    visit(state, k % every == 0 || k == steps);
  }
  return ran;
}

TouchWeights::TouchWeights(AssemblyRobot& robot) : robot_(robot) {
  const Robot& whole = robot.mechanics().robot();
  if (!whole.surfaces) return;
  search_.emplace(*whole.surfaces, SearchSettings{.depth = whole.contact_distance});  // as in a step
  for (int s = 0; s < whole.surfaces->size(); ++s)
    sums_.emplace_back(extent(whole.surfaces->surface(s).vertices()), Mat3d{});
}

void TouchWeights::add(const State& state) {
  ++states_;
  if (!search_) return;
  AssemblyMechanics& mechanics = robot_.mechanics();
  const Robot& whole = mechanics.robot();
  std::vector<double> y(extent(whole.outputs()));
  mechanics.outputs_elsewhere(state.q, state.motions, y);
  const std::span<const double> x =
      std::span<const double>(y).subspan(extent(3, whole.first_surface_point), extent(3, whole.surfaces->vertices()));
  // Those that press are at the distance; what is near them will be when the contact moves.
  for (const FeaturePair& pair : search_->pairs(x, x, 2 * whole.contact_distance)) {
    const double along =
        whole.surface_friction[extent(pair.a.surface)] * whole.surface_friction[extent(pair.b.surface)];
    for (std::size_t k = 0; k < 4 && pair.vertices[k] >= 0; ++k) {
      const int surface = pair.weights[k] > 0 ? pair.a.surface : pair.b.surface;
      const Assembly::BodySurface& body = mechanics.assembly().surfaces[extent(surface)];
      const int vertex = pair.vertices[k] - whole.surfaces->placed(surface).first_vertex;
      const Assembly::Point& at = body.vertices[extent(vertex)];
      if (at.body < 0) continue;
      const Vec3d n = transpose(mechanics.body_pose(at.body, state.q, state.motions).rotation) * pair.normal;
      const Mat3d normal = outer(n, n);
      Mat3d& sum = sums_[extent(surface)][extent(vertex)];
      sum = sum + std::abs(pair.weights[k]) * (normal + along * (Mat3d::identity() - normal));
    }
  }
}

PointWeights TouchWeights::of(const std::vector<int>& parts) const {
  PointWeights weights;
  weights.first_point = robot_.touching_skin(parts.front()).first_output;
  weights.weight.resize(robot_.touching_skin(parts.front()).surface.nodes.size());
  const std::vector<Assembly::BodySurface>& surfaces = robot_.mechanics().assembly().surfaces;
  for (std::size_t s = 0; s < sums_.size(); ++s) {
    const int body = surfaces[s].vertices.empty() ? -1 : surfaces[s].vertices.front().body;
    if (std::ranges::find(parts, body) == parts.end()) continue;
    for (std::size_t v = 0; v < sums_[s].size(); ++v)
      weights.weight[v] = weights.weight[v] + (1.0 / std::max(1, states_)) * sums_[s][v];
  }
  for (const Mat3d& weight : weights.weight) weights.touching += trace(weight) > 0 ? 1 : 0;
  return weights;
}

}  // namespace supple

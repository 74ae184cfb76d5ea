#include "tests/engine/bodies/full_systems.hpp"

#include <algorithm>
#include <cmath>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/extent.hpp"

namespace supple::test {
namespace {

// Uniform in [-1, 1), the same everywhere.
class Numbers {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1.0;
  }

 private:
  std::uint64_t state_ = 2026;
};

// A displacement whose gradient is of the size `strain`: a random linear map and a wave, less near nodes that are held.
std::vector<double> deformed(const FullModel& model, double strain, Numbers& number) {
  Vec3d lower = model.mesh.nodes.front(), upper = lower;
  for (const Vec3d& x : model.mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
  Mat3d linear, waves;
  for (int k = 0; k < 9; ++k) linear[k] = 0.5 * strain * number();
  for (int k = 0; k < 9; ++k) waves[k] = 2 * 3.14159265358979 * number();
  std::vector<double> q(extent(model.coordinates.nv));
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
    const Vec3d x = model.mesh.nodes[static_cast<std::size_t>(model.free_nodes[i])] - lower;
    const Vec3d u = linear * x;
    double nearest = model.node_unknown.size() > model.free_nodes.size() ? 1e30 : norm(upper - lower);
    for (std::size_t n = 0; n < model.node_unknown.size(); ++n)
      if (model.node_unknown[n] < 0)
        nearest = std::min(nearest,
                           norm(model.mesh.nodes[n] - model.mesh.nodes[static_cast<std::size_t>(model.free_nodes[i])]));
    const double free = nearest / (nearest + 0.25 * norm(upper - lower));
    for (int k = 0; k < 3; ++k) {
      const double length = upper[k] - lower[k];
      double phase = 0;
      for (int d = 0; d < 3; ++d) phase += waves(k, d) * x[d] / (upper[d] - lower[d]);
      q[3 * i + static_cast<std::size_t>(k)] = free * (u[k] + 0.08 * strain * length * std::sin(phase));
    }
  }
  return q;
}

}  // namespace

FullSystems full_systems(const std::string& scene, int robots, int right_sides, TangentKind tangent, double strain) {
  const FullModel model = build_full_model(read_scene(scene));
  FullMechanics mechanics(model);
  Numbers number;
  FullSystems systems;
  std::vector<double> f(extent(model.coordinates.nv)), y(extent(model.robot.outputs())),
      multipliers(extent(mechanics.rows().rows()), 1.0), c(model.robot.motions.size(), 0.0);
  for (int b = 0; b < robots; ++b) {
    const std::vector<double> q = deformed(model, strain, number);
    mechanics.evaluate_outputs(q, c, y);
    if (mechanics.evaluate_forces(q, c, tangent, f).undefined > 0)
      throw RunError("a law has no value at this strain", "a smaller one");
    static_cast<void>(mechanics.factor({.geometric = true}, y, multipliers));
    systems.values.insert(systems.values.end(), mechanics.system().begin(), mechanics.system().end());
  }
  systems.pattern = mechanics.pattern();
  systems.right.resize(extent(robots, right_sides, systems.pattern.n));
  for (double& x : systems.right) x = number();
  return systems;
}

}  // namespace supple::test

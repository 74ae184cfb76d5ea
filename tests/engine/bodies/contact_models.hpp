#pragma once
// Reduced bodies on floors for the tests of batches in contact.

#include <Eigen/QR>

#include <array>
#include <cmath>

#include "tests/engine/bodies/constrained_bodies.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"

namespace supple::contact_models {

inline PlacedObstacle floor_at(double height, double friction) {
  PlacedObstacle floor = contact_bodies::floor(friction);
  floor.pose.position = {{0, 0, height}};
  return floor;
}

using Power = std::array<int, 3>;

// Smooth modes x^a y^b z^c in every component, orthonormal [3 powers][nv].
inline Eigen::MatrixXd smooth_modes(const FullModel& full, std::span<const Power> powers) {
  const int nv = full.coordinates.nv, count = 3 * static_cast<int>(powers.size());
  Eigen::MatrixXd fields = Eigen::MatrixXd::Zero(nv, count);
  for (int k = 0; k < count; ++k)
    for (int node = 0; node < nv / 3; ++node) {
      const Vec3d& x = full.mesh.nodes[static_cast<std::size_t>(full.free_nodes[static_cast<std::size_t>(node)])];
      const Power& p = powers[static_cast<std::size_t>(k / 3)];
      fields(3 * node + k % 3, k) = std::pow(x[0], p[0]) * std::pow(x[1] - 0.05, p[1]) * std::pow(x[2] - 0.05, p[2]);
    }
  return Eigen::HouseholderQR<Eigen::MatrixXd>(fields).householderQ() * Eigen::MatrixXd::Identity(nv, count);
}

// Fifteen of them. Held at x = 0, or loose: rigid motions are among them.
inline constexpr int modes = 15;

inline ReducedModel reduced(const FullModel& full, bool loose = false) {
  constexpr Power held_powers[] = {{1, 0, 0}, {2, 0, 0}, {1, 1, 0}, {1, 0, 1}, {2, 0, 1}},
                  loose_powers[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}};
  const Eigen::MatrixXd basis = smooth_modes(full, loose ? loose_powers : held_powers);
  return project(full, {basis.data(), static_cast<std::size_t>(basis.size())}, modes,
                 loose ? all_elements(full) : reduced_bodies::some_elements(full));
}

}  // namespace supple::contact_models

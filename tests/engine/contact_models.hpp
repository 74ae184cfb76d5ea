#pragma once
// Reduced bodies on floors for the tests of batches in contact.

#include <Eigen/QR>

#include <cmath>

#include "tests/engine/constrained_bodies.hpp"
#include "tests/engine/contact_bodies.hpp"

namespace supple::contact_models {

inline PlacedObstacle floor_at(double height, double friction) {
  PlacedObstacle floor = contact_bodies::floor(friction);
  floor.pose.position = {{0, 0, height}};
  return floor;
}

// Fifteen smooth modes: x^a y^b z^c in every component, orthonormal. Held at x = 0, or loose: rigid motions are among
// them.
inline constexpr int modes = 15;

inline ReducedModel reduced(const FullModel& full, bool loose = false) {
  const int powers[2][5][3] = {{{1, 0, 0}, {2, 0, 0}, {1, 1, 0}, {1, 0, 1}, {2, 0, 1}},
                               {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}}};
  const int nv = full.coordinates.nv;
  Eigen::MatrixXd fields = Eigen::MatrixXd::Zero(nv, modes);
  for (int k = 0; k < modes; ++k)
    for (int node = 0; node < nv / 3; ++node) {
      const Vec3d& x = full.mesh.nodes[static_cast<std::size_t>(full.free_nodes[static_cast<std::size_t>(node)])];
      const auto& p = powers[loose ? 1 : 0][k / 3];
      fields(3 * node + k % 3, k) = std::pow(x[0], p[0]) * std::pow(x[1] - 0.05, p[1]) * std::pow(x[2] - 0.05, p[2]);
    }
  const Eigen::MatrixXd basis =
      Eigen::HouseholderQR<Eigen::MatrixXd>(fields).householderQ() * Eigen::MatrixXd::Identity(nv, modes);
  return project(full, {basis.data(), static_cast<std::size_t>(basis.size())}, modes,
                 loose ? all_elements(full) : reduced_bodies::some_elements(full));
}

}  // namespace supple::contact_models

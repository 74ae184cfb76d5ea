#pragma once
// For display: where the nodes of a reduced model are, those of its skin and of its interior, and which elements it
// keeps.

#include <span>
#include <vector>

#include "engine/model/reduced_model.hpp"

namespace supple {

// Displacements from rest [m] of nodes of a model (ReducedSkin, ReducedInterior, ReducedWalls), three for each:
//   out[i] = sum_m modes[i][m] q[m] + sum_m inputs[i][m] motions[m]
// and of a model on a frame pose(X + out) - X. q [model.nq()]. A sum is taken from the first mode to the last; nothing
// is allocated.
void displacements(const ReducedModel& model, std::span<const Vec3d> rest, std::span<const double> modes,
                   std::span<const double> inputs, std::span<const double> q, std::span<const double> motions,
                   std::span<double> out);
template <class Nodes>
void displacements(const ReducedModel& model, const Nodes& nodes, std::span<const double> q,
                   std::span<const double> motions, std::span<double> out) {
  displacements(model, nodes.rest, nodes.modes, nodes.inputs, q, motions, out);
}
// The pose of the body's axes in the world; of a model that is on no frame the identity.
Pose body_pose(const ReducedModel& model, std::span<const double> q);

// The elements that units of a field are of, each once, in the order in which they come first.
struct KeptElements {
  std::vector<int> first;    // [elements] their first unit
  std::vector<int> of_unit;  // [units] place of the unit's element in `first`
  int count() const { return static_cast<int>(first.size()); }
};
KeptElements kept_elements(const ReducedField& field);

}  // namespace supple

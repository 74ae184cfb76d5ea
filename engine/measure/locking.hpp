#pragma once
// How much too stiff a mesh of linear elements is: its compliance at rest beside that of the same mesh with elements of
// second order, under the loads that the scene has.

#include <string>
#include <vector>

#include "engine/model/full_model.hpp"

namespace supple {

struct LockingEstimate {
  struct Load {
    std::string name;   // "gravity", the actuator's, or "a force on" the effector, the worst of its three directions
    double stiffening;  // compliance of second order / compliance - 1
  };
  std::vector<Load> loads;
  int unknowns = 0;  // of the mesh with elements of second order
};

/// Of a model whose elements are of first order and whose laws have exact tangents. No loads where the body is not held
/// (K at rest is singular) or nothing loads it. Forces are those of unit multipliers at rest, compliances p^T K^-1 p
/// with hard constraints held; of forces on effectors, those on their points. Cost: one factorisation of each mesh.
LockingEstimate estimate_locking(const Scene& scene, const FullModel& model);

}  // namespace supple

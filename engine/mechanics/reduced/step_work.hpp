#pragma once
// Arithmetic of one time step, counted from sizes: what a measured time is held against. Counted is what the method
// asks for, each multiplication and each addition as one: no padding of tiles and blocks, no stress law at the points
// (a few hundred operations a point that depend on the law and on the deformation), no complementarity. So a rate made
// of it is a lower bound.

#include "engine/model/reduced_model.hpp"

namespace supple {

struct StepWork {
  double outputs = 0, forces = 0, factor = 0, solve = 0, rows = 0;  // flop, stages as in StageTimes
  double gradient_bytes = 0;                                        // of G and of strain modes, which the forces read
  double total() const { return outputs + forces + factor + solve + rows; }
};

// One robot's one-linearisation implicit Euler step with the safe tangent. With r modes, n rows, a point costs
// clang-format off
//   four-row laws  36 r forces + 58 r rows + 4 r (r + 1) rank update
//   other laws     36 r forces + 162 r C G + 9 r (r + 1) rank update
//   a strain mode  2 r^2 + 5 r forces + 2 r (r + 1) stiffness
// clang-format on
// and a robot r^3 / 3 + ... for Cholesky, 2 r^2 (n + 1) for the solves.
StepWork reduced_step_work(const ReducedModel& model);

}  // namespace supple

#pragma once
// The full model driven along the commands of a reduced run, and the distance between the two.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "engine/cli/verbs/session.hpp"
#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"

namespace supple::cli {

// The reduced model after each step.
struct TrajectoryPoint {
  std::vector<double> q, motions;
};
using Trajectory = std::vector<TrajectoryPoint>;

// Errors as fractions of the mean displacement of the full model over the run: goal at the effectors, shape over the
// nodes of the skin (a reduced model has no others). Displacements are relative to a base that carries the robot along
// (carried_rest). For a free-floating body the rigid motion between both models, and that to rest, is removed.
struct Comparison {
  int states = 0;
  double goal_mean = 0, goal_median = 0, goal_max = 0;
  double shape_mean = 0, shape_median = 0, shape_max = 0;
  std::optional<Whereabouts> where;  // of free-floating bodies: largest over the run
  double full_steps_per_s = 0, speedup = 0;
};

// `settle`: both began in equilibrium. Throws InputError if the names of the effectors, the skins or the prescribed
// motions differ, RunError if the full model fails, Interrupted.
Comparison compare_with_full(const FullModel& full, const ReducedModel& model, const SessionResult& result,
                             const Trajectory& reduced, bool settle, bool quiet);

nlohmann::ordered_json comparison_json(const Comparison& comparison);
// `threads`: of the full run; one reduced robot steps on one.
void print_comparison(const Comparison& comparison, int threads);

}  // namespace supple::cli

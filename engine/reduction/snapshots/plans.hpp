#pragma once
// Which full-order states a reduction needs, and in which folders they lie.

#include <optional>
#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/reduction/snapshots/sampling.hpp"

namespace supple {

// The three disjoint sets of full-order states. Training: the scene's sampling; selection (the curves of elements
// against error) and test (the errors that are reported): independent uniform draws from seeds used nowhere else.
struct SamplingPlans {
  SamplingPlan training, selection, test;
};
SamplingPlans make_plans(const Robot& robot, const ReductionScene& recipe);

// Throws InputError for a free-floating body with external forces, unless it is in contact with obstacles
// (shaken_in_time): its equilibria, which are independent of its position and orientation, do not cover its motion.
void check_floating(const Scene& scene, const Robot& robot);

// Equilibria of a robot in contact with obstacles are computed, trained on and tested without friction, because with
// friction they depend on the path. The model made of them has the friction of the scene again. Transient trajectories
// have the friction of their paths. `copy` holds the returned model where there are obstacles.
const FullModel& without_friction(const FullModel& model, std::optional<FullModel>& copy);

// The sets of a folder of snapshots, training first; `plans` must outlive them.
struct SetPlan {
  std::string folder;
  const SamplingPlan* plan;
};
std::vector<SetPlan> sets_of(const SamplingPlans& plans, const std::string& folder, bool with_validation = true);

}  // namespace supple

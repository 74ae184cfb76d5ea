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

// Throws InputError where the body is free-floating and its equilibria, which are the same wherever it is turned and
// moved to, are not all that it can do: forces from outside, unless it lies in contact with obstacles (shaken_in_time).
void check_floating(const Scene& scene, const Robot& robot);

// Equilibria of a robot in contact with obstacles are computed, trained on and measured without friction, under which
// shapes depend on the way to them; the model made of them has its friction back. Transient trajectories have the
// friction of its paths. `copy` holds what is returned where there are obstacles.
const FullModel& without_friction(const FullModel& model, std::optional<FullModel>& copy);

// The sets of a folder of snapshots, training first; `plans` must outlive them.
struct SetPlan {
  std::string folder;
  const SamplingPlan* plan;
};
std::vector<SetPlan> sets_of(const SamplingPlans& plans, const std::string& folder, bool with_validation = true);

}  // namespace supple

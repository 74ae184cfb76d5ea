#pragma once
// All full-order states that a reduction needs, computed by one process or several.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/reduction/claims.hpp"
#include "engine/reduction/snapshots.hpp"
#include "kernels/base/ranks.hpp"

namespace supple {

// The three disjoint sets of full-order states. Training: the scene's sampling; selection (the curves of elements
// against error) and test (the errors that are reported): independent uniform draws from seeds used nowhere else.
struct SamplingPlans {
  SamplingPlan training, selection, test;
};
SamplingPlans make_plans(const Robot& robot, const ReductionScene& recipe);

// Throws InputError where nothing holds the body and its equilibria, which are the same wherever it is turned and moved
// to, are not all that it can do: forces from outside, unless it lies among obstacles (shaken_in_time).
void check_floating(const Scene& scene, const Robot& robot);

// Equilibria of a robot among obstacles are found, learnt and judged without friction, under which shapes depend on the
// way to them; the model made of them has its friction back. What is shaken in time has the friction of its paths.
// `copy` holds what is returned where there are obstacles.
const FullModel& without_friction(const FullModel& model, std::optional<FullModel>& copy);

// Folder layout: scene.toml (canonical copy), training/, selection/, test/ (snapshots.hpp).
struct SnapshotJob {
  std::string folder;
  ExistingFolder existing = ExistingFolder::resume;
  int jobs = 1;
  std::string executable;  // program whose `snapshots` verb the workers run; needed for jobs > 1
  int shard = 0, shards = 1;
  // Only paths that nobody else is at work on, without waiting for those of others and without choosing more: what a
  // worker of `jobs` does.
  bool worker = false;
  bool with_validation = true;
  StateBatch batch;
  Ranks ranks;  // each computes paths that no other is at work on
};
// The sets of such a folder, training first; `plans` must outlive them.
struct SetPlan {
  std::string folder;
  const SamplingPlan* plan;
};
std::vector<SetPlan> sets_of(const SamplingPlans& plans, const std::string& folder, bool with_validation = true);

struct SnapshotTotals {
  int states = 0;  // in the folder now
  int failed = 0;
  int factorisations = 0;
  int left = 0;        // paths of this shard that another run was at work on
  double seconds = 0;  // of this call
  bool locks = true;   // false: the folder's file system has none, and runs that share it compute everything each
  // While this lives no other run replaces what is in the folder. None where it cannot be written.
  std::shared_ptr<const std::vector<Claims>> present;
};
// Any number of runs may be at work in one folder, on one machine or several: they share what is missing (claims.hpp).
// A greedy plan grows round by round, its states being looked at in between by one run at a time; not in a shard or a
// worker, which compute their part of what is planned and count no totals.
SnapshotTotals compute_snapshots(const FullModel& model, const Scene& scene, const SnapshotJob& job,
                                 const Progress& progress);

}  // namespace supple

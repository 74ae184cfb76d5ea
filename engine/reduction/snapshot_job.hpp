#pragma once
// All full-order states that a reduction needs, computed by one process or several.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/reduction/snapshots/claims.hpp"
#include "engine/reduction/snapshots/plans.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "kernels/base/ranks.hpp"

namespace supple {

/// Folder layout: scene.toml (canonical copy), training/, selection/, test/ (snapshots.hpp).
struct SnapshotJob {
  std::string folder;
  ExistingFolder existing = ExistingFolder::resume;
  int jobs = 1;
  /// Words that start the program whose `snapshots` verb the workers run, its path first; needed for jobs > 1.
  std::vector<std::string> program;
  int shard = 0, shards = 1;
  /// Only paths that no other process computes, without waiting for those of others and without choosing more: the work
  /// of a worker of `jobs`.
  bool worker = false;
  bool with_validation = true;
  StateBatch batch;
  Ranks ranks;  // each computes paths that no other is at work on
};
struct SnapshotTotals {
  int states = 0;  // in the folder now
  int failed = 0;
  int short_of = 0;  // out of reach, and replaced (snapshots.hpp)
  int factorisations = 0;
  int left = 0;        // paths of this shard that another run was at work on
  double seconds = 0;  // of this call
  bool locks = true;   // false: the folder's file system has none, and runs that share it compute everything each
  /// While this object exists no other run replaces the contents of the folder. Null where the folder cannot be
  /// written.
  std::shared_ptr<const std::vector<Claims>> present;
};
/// Throws InputError where no equilibria of the robot can be found.
void check_states(const FullModel& model, const Scene& scene);
/// Any number of runs may be at work in one folder, on one machine or several: they share what is missing (claims.hpp).
/// A greedy plan grows round by round, with one run at a time evaluating the states in between. A shard or a worker
/// does not extend the plan: it computes its part of it and counts no totals.
SnapshotTotals compute_snapshots(const FullModel& model, const Scene& scene, const SnapshotJob& job,
                                 const Progress& progress);

}  // namespace supple

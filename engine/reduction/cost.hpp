#pragma once
// What a reduction is expected to take, before it is paid.

#include <string>

#include "engine/reduction/snapshot_job.hpp"

namespace supple {

struct ReductionCost {
  int states = 0;            // to compute: those of all sets that the folder lacks
  double state_seconds = 0;  // for them
  double seconds = 0;        // in all, if no states are added
  double most_seconds = 0;   // in all, if as many states are added as may be
  double memory = 0;         // of this process at its peak [bytes]; workers have less
  double disk = 0;           // of all states [bytes]
};

/// From a few states that are computed and thrown away, for a hundredth of the time and 0.3 s at least; a state out of
/// reach costs many times one that is not, so that where they are common the figure is rough. Of states in batches as
/// if they were not. Without a folder in the job no states are there. rate_seconds: ReduceSettings's. Throws InputError
/// as compute_snapshots does where no states can be found.
ReductionCost expected_cost(const FullModel& full, const Scene& scene, const SnapshotJob& job, double rate_seconds);

}  // namespace supple

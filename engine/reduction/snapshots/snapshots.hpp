#pragma once
// Full-order states over the actuation box, as a folder: plan.json (what, from which scene and mesh) and one HDF5 file
// per path, written under a temporary name and renamed. Resuming, sharding and parallel jobs are directory operations;
// the bits of a path depend on nothing but the path, whether it was computed in a batch
// (of any number of robots: state_batch.hpp), and a solver that was asked for.
//
// path_NNNN.h5: commands [n][inputs] (samples: sampling.hpp), q [n][nv] (m), multipliers [n][rows] (N), status [n]
// (StepStatus, 0 = ok), factorisations [n], identity (hash of scene, mesh and path).
//
// Some of the box may be out of reach: antagonist cables are pulled, and the body buckles or folds into itself. Such a
// sample is replaced by an equilibrium before that, on the straight way to its commands from those of the body at rest.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/reduction/snapshots/state_batch.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/progress.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

// Tells whether stored states still belong to a scene: its text without the parts of [reduce] that do not change
// states, and its mesh's bytes.
struct SceneIdentity {
  std::uint64_t scene = 0, mesh = 0;
};
SceneIdentity identify(const Scene& scene);

enum class ExistingFolder { refuse, resume, replace };

// The error of replacing what another run works on.
InputError in_use(const std::string& folder);
// Makes the folder ready: writes plan.json. An existing folder is resumed only if its plan is this plan, and replaced
// only while no other process computes in it. Throws InputError otherwise. Several processes may do so at the same
// time. `alone`: whether the caller is the only one there already (Claims::alone).
void prepare_snapshot_folder(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan,
                             ExistingFolder existing, const Progress& progress = {}, bool alone = false);

// A greedy plan grows with its states: the one that is stored in the folder, if it begins with this plan and belongs to
// the same scene, else this plan; any other plan as it is.
SamplingPlan grown_plan(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan);
// Replaces the folder's plan by one that has grown from it.
void store_plan(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan);

// Of the states of a path: a file of another identity is none of the plan's.
std::uint64_t path_identity(const SceneIdentity& identity, bool converged, const SamplePath& path);
std::string path_file(const std::string& folder, int path);
// False where it is damaged or missing, too.
bool is_path_of(const std::string& file, std::uint64_t identity);
// Paths of the plan that are not in the folder yet.
std::vector<int> missing_paths(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan);

// What a state costs, on one core [s].
struct StateSeconds {
  double from_rest = 0, followed = 0;  // equilibria
  double step = 0;                     // in time
};

// From the beginnings of some of a plan's paths, for `share` of what they all take, or 0.3 s. Nothing is written.
StateSeconds measure_states(const FullModel& model, const Scene& scene, const SamplingPlan& plan, double share,
                            const StateBatch& batch);

struct SnapshotRun {
  int states = 0;  // computed now
  int failed = 0, short_of = 0;
  int factorisations = 0;
  int left = 0;  // paths that others were at work on
  double seconds = 0;
};

// Which of the missing paths a process computes: those k with k % shards == shard that no other process has claimed
// (claims.hpp). `wait`: it returns when the others have finished theirs, and takes over what they leave behind.
struct PathShare {
  int shard = 0, shards = 1;
  bool wait = true;
};

// Computes missing paths, in a batch one path for each of its robots; without friction of obstacles but along paths
// that have it. Throws Interrupted between states, finished paths stay; InputError where the folder has been given
// another plan.
SnapshotRun compute_paths(const FullModel& model, const Scene& scene, const SceneIdentity& identity,
                          const SamplingPlan& plan, const std::string& folder, const PathShare& share,
                          const Progress& progress, const StateBatch& batch = {});

// Converged states; failed ones left out.
struct SnapshotSet {
  struct Source {
    int path, sample;
    bool friction = false, in_time = false;  // SamplePath's
    bool replaced = false;                   // its sample was out of reach
  };
  int count = 0, failed = 0;
  std::map<StepStatus, int> failures;  // why
  std::vector<Sample> out_of_reach;    // samples that were replaced
  double least_reach = 1;              // of their commands
  std::vector<Source> source;          // of every state
  std::vector<Sample> commands;
  std::vector<double> q;            // [count][nv], unless they stay on disk
  std::vector<double> multipliers;  // [count][rows]
  int factorisations = 0;
};
// Throws InputError if a path is missing, damaged or of another scene. with_q = false leaves the displacements on disk.
SnapshotSet read_snapshots(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan, int nv,
                           int rows, bool with_q = true);
// Displacements of the states [first, first + count) of a set, [count][nv].
std::vector<double> read_displacements(const std::string& folder, const SnapshotSet& set, int nv, int first, int count);
// The displacements of a set, left on disk and read in blocks of at most 250 MB (or 64 states), and at least `parts` of
// them where there are so many states. The set must outlive them.
ColumnBlocks displacement_blocks(const std::string& folder, const SnapshotSet& set, int nv, int parts = 1);

}  // namespace supple

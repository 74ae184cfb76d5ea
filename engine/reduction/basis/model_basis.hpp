#pragma once
// The modes of a model as its recipe asks for them: those of the training snapshots (basis.hpp), then contact modes
// (contact_modes.hpp). `supple reduce` makes a model of them; `supple export --format sofa` makes them again, since a
// model file holds them at the skin only.

#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "kernels/base/progress.hpp"
#include "kernels/base/ranks.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

// The training snapshots in a folder of `supple snapshots`, their displacements left on disk. plan: as it is stored
// there (a greedy one has grown).
struct TrainingSet {
  std::string folder;  // of this set
  SamplingPlan plan;
  SnapshotSet snapshots;
};
// Throws InputError where a snapshot is missing, damaged or of another scene.
TrainingSet read_training(const FullModel& full, const Scene& scene, const std::string& folder);

struct ModelBasis {
  int modes = 0;
  std::vector<double> vectors;  // nv x modes, column-major, orthonormal
  Pod pod;                      // of the training snapshots (SnapshotBasis)
  std::vector<std::string> notes;
};
// displacements: basis_columns (lifting.hpp) of the set. The ranks share the work; those after the first get no contact
// modes. Throws RunError where all snapshots are at rest, or contact modes are asked for and none touches anything.
ModelBasis model_basis(const FullModel& full, const TrainingSet& training, const ColumnBlocks& displacements,
                       const ReductionScene& recipe, const Ranks& ranks = {},
                       const std::optional<DeviceRoom>& device = std::nullopt, const Progress& progress = {});
// The same with modes of the snapshots that are there already.
ModelBasis model_basis(const FullModel& full, const TrainingSet& training, SnapshotBasis snapshots,
                       const ReductionScene& recipe, const Progress& progress);

}  // namespace supple

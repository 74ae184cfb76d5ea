#pragma once
// The modes of a set of snapshots (Goury & Duriez 2018, eqs. 13-15, 22).

#include <vector>

#include "engine/model/full_model.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

struct SnapshotBasis {
  int modes = 0;
  std::vector<double> vectors;  // nv x modes, column-major, orthonormal; of a free-floating body rigid modes first
  Pod pod;                      // of the modes that are not rigid; its basis has been moved to `vectors`
};

// displacements: basis_columns (lifting.hpp). The recipe determines how many modes are kept. Throws RunError where all
// snapshots are at rest. The ranks share the work, and a device may do it (pod.hpp).
SnapshotBasis snapshot_basis(const FullModel& full, const ColumnBlocks& displacements, const ReductionScene& recipe,
                             const Ranks& ranks = {}, const std::optional<DeviceRoom>& device = std::nullopt);

// The first modes of those, so many that are not rigid.
SnapshotBasis first_modes(const SnapshotBasis& all, int modes, PodTruncation truncation);

// What the recipe's tolerance of the modes is compared with.
PodTruncation truncation_of(const ReductionScene& recipe);

}  // namespace supple

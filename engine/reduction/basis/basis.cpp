#include "engine/reduction/basis/basis.hpp"

#include <utility>

#include "engine/reduction/basis/rigid_motion.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// What of the snapshots is no rigid mode: the columns of which a floating body's modes are made.
ColumnBlocks without_rigid_modes(const ColumnBlocks& columns, const std::vector<double>& rigid) {
  if (rigid.empty()) return columns;
  return {columns.rows, columns.counts, [&columns, &rigid](int k, std::vector<double>& storage) {
            (void)columns.read(k, storage);  // basis_columns reads into storage
            remove_modes(rigid, columns.rows, storage);
            return std::span<const double>(storage);
          }};
}

}  // namespace

PodTruncation truncation_of(const ReductionScene& recipe) {
  return recipe.pod_tolerance_squared ? PodTruncation::squared : PodTruncation::root;
}

SnapshotBasis snapshot_basis(const FullModel& full, const ColumnBlocks& displacements, const ReductionScene& recipe,
                             const Ranks& ranks, const std::optional<DeviceRoom>& device) {
  const std::vector<double> rigid = full.robot.floating ? rigid_modes(full) : std::vector<double>{};
  SnapshotBasis basis;
  basis.pod = proper_orthogonal_decomposition(without_rigid_modes(displacements, rigid),
                                              {.tolerance = recipe.pod_tolerance,
                                               .truncation = truncation_of(recipe),
                                               .max_modes = recipe.max_modes,
                                               .device = device},
                                              ranks);
  if (basis.pod.modes == 0)
    throw RunError("the training states are all at rest: there is nothing to reduce",
                   "check gravity and the actuators' ranges");
  basis.vectors = std::exchange(basis.pod.basis, {});
  if (!rigid.empty()) basis.vectors = join_modes(rigid, basis.vectors, displacements.rows);
  basis.modes = static_cast<int>(basis.vectors.size() / extent(displacements.rows));
  return basis;
}

SnapshotBasis first_modes(const SnapshotBasis& all, int modes, PodTruncation truncation) {
  SnapshotBasis first;
  const int rigid = all.modes - all.pod.modes;
  first.modes = rigid + modes;
  first.pod = all.pod;
  first.pod.modes = modes;
  first.pod.truncation_error = truncation_errors(all.pod.singular_values, truncation)[extent(modes)];
  first.vectors.assign(all.vectors.begin(), all.vectors.begin() + static_cast<long>(extent(first.modes, all.pod.rows)));
  return first;
}

}  // namespace supple

#pragma once
// Whether more training states would help: what the modes of half of them leave of unseen states, against what the
// modes of all leave.

#include <optional>

#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {

/// How often a plan of training states is doubled where an error is asked for.
inline constexpr int most_added_doublings = 2;

/// The projection error on `unseen` (validate.hpp) to expect of the modes of 2^doublings times as many states, if each
/// doubling divides it by as much as the last did. displacements: basis_columns of the training set; error: that of all
/// of its modes, which the recipe's tolerance determines.
double error_of_more_states(const FullModel& full, const ColumnBlocks& displacements, const ReductionScene& recipe,
                            const ReferenceStates& unseen, double error, int doublings,
                            const std::optional<DeviceRoom>& device);

}  // namespace supple

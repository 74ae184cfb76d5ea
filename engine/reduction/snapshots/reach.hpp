#pragma once
// What of the actuation box is out of reach, in words.

#include <string>

#include "engine/model/robot.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"

namespace supple {

/// "'a' 84 % in the far half of its range, 40 % in the near one; ...": up to three actuators whose commands, far from
/// where they are released or near, tell most of whether a sample was reached; "" where none tells much, or the set has
/// no samples out of reach.
std::string where_out_of_reach(const Robot& robot, const SnapshotSet& set);

/// "2: Newton's method did not converge, 1: ..."; "" where none has failed.
std::string failures_text(const SnapshotSet& set);

}  // namespace supple

#pragma once
// Robots brought to rest before a run.

#include "engine/commands/command_source.hpp"
#include "engine/model/state.hpp"
#include "engine/run/mechanics_team.hpp"

namespace supple {

/// Brings all robots of `state`, which are in the same one, to equilibrium under their commands at time 0. Throws
/// RunError.
void settle(const MechanicsTeam& team, const CommandSource& source, State& state);

}  // namespace supple

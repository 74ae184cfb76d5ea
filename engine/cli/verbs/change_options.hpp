#pragma once
// --parameter and --obstacles of the verbs that open a robot (engine/model/changes.hpp).

#include "engine/model/changes.hpp"

namespace supple::cli {

class Options;

void declare_changes(Options& options, ModelChanges& changes);

}  // namespace supple::cli

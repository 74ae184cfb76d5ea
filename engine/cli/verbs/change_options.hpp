#pragma once
// --parameter and --obstacles of the verbs that open a robot (engine/model/changes.hpp).

#include "engine/model/changes.hpp"

namespace supple::cli {

class Options;
struct Context;

void declare_changes(Options& options, ModelChanges& changes);
// What a user should know of a robot and the obstacles that were put there.
void print_change_notes(const Context& context, const ModelChanges& changes, const Robot& robot);

}  // namespace supple::cli

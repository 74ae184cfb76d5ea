#include "engine/cli/verbs/change_options.hpp"

#include "engine/cli/shell/options.hpp"

namespace supple::cli {

void declare_changes(Options& options, ModelChanges& changes) {
  options.texts("--parameter", changes.parameters, "NAME=FACTOR", "value of a [[parameter]], softness=0.8 (1)");
  options.text("--obstacles", changes.obstacles, "FILE",
               "the [[obstacle]] tables of this file in the place of the robot's own");
}

}  // namespace supple::cli

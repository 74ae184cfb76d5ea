#include "engine/cli/verbs/change_options.hpp"

#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/model/collision_points.hpp"

namespace supple::cli {

void declare_changes(Options& options, ModelChanges& changes) {
  options.texts("--parameter", changes.parameters, "NAME=FACTOR", "value of a [[parameter]], softness=0.8 (1)");
  options.text("--obstacles", changes.obstacles, "FILE",
               "the [[obstacle]] tables of this file in the place of the robot's own");
}

void print_change_notes(const Context& context, const ModelChanges& changes, const Robot& robot) {
  if (context.common.quiet || changes.obstacles.empty()) return;
  for (const std::string& note : notes_on_contact(robot)) print_note(note);
}

}  // namespace supple::cli

#include "engine/cli/shell/command.hpp"
#include "engine/cli/verbs/view.hpp"

namespace supple::cli {

std::vector<Command> all_commands() {
  return {info_command(),         check_command(),   simulate_command(),    snapshots_command(), reduce_command(),
          run_command(),          inverse_command(), bench_command(),       calibrate_command(), mesh_command(),
          fit_material_command(), export_command(),  import_sofa_command(), view_command(),      render_command()};
}

}  // namespace supple::cli

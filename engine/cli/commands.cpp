#include "engine/cli/command.hpp"

namespace supple::cli {

std::vector<Command> all_commands() {
  return {info_command(), check_command(), simulate_command()};
}

}  // namespace supple::cli

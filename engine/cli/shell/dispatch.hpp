#pragma once
// From the command line to a verb.

#include "engine/cli/shell/command.hpp"

namespace supple::cli {

// Runs the verb of `arguments` (without the program's name) and returns its exit code. Throws what it throws.
int dispatch(const std::vector<std::string>& arguments, const std::vector<Command>& commands);

}  // namespace supple::cli

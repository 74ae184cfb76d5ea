#pragma once
// What `main` does, whatever the verbs: run one of them, print errors, return the exit code.

#include "engine/cli/command.hpp"

namespace supple::cli {

int run_program(int argc, char** argv, const std::vector<Command>& commands);

}  // namespace supple::cli

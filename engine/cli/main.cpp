// The `supple` program: start reading at dispatch.cpp; each verb is a file of its own (command.hpp).

#include "engine/cli/shell/early_start.hpp"
#include "engine/cli/shell/program.hpp"

int main(int argc, char** argv) {
  return supple::cli::run_program(argc, argv, supple::cli::all_commands());
}

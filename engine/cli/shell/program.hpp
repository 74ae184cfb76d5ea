#pragma once
// What `main` does, whatever the verbs: run one of them, print errors, return the exit code.

#include <string>
#include <vector>

#include "engine/cli/shell/command.hpp"

namespace supple::cli {

struct Ending {
  int code = 0;
  std::string error;       // for stderr
  bool elsewhere = false;  // another rank has failed and reports why
};
// One verb.
Ending run_verb(const std::vector<std::string>& arguments, const std::vector<Command>& commands);

int run_program(int argc, char** argv, const std::vector<Command>& commands);

}  // namespace supple::cli

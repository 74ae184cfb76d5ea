#pragma once
// A verb of `supple`: one file with a function that returns its Command. commands.cpp lists them; dispatch.cpp finds
// the one asked for, parses its options and runs it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/ranks.hpp"

namespace supple::cli {

class Options;

// Options that every verb takes.
struct CommonOptions {
  std::string json;                   // file for what was measured; "" = none
  int threads = 0;                    // as used; all processors unless told otherwise
  std::string device = "auto";        // see parse_device
  std::optional<std::uint64_t> seed;  // none: the scene's own
  bool force = false;                 // existing files may be replaced
  bool quiet = false;                 // errors only
};

struct Context {
  CommonOptions common;
  std::vector<std::string> arguments;  // as typed, from the verb on
  Ranks ranks;                         // of supple-mpi; only the first writes and prints
};

// Exit code (docs/reference/command-line.md): 0 done; failures are thrown as Error.
using Run = std::function<int(Context&)>;

struct Command {
  std::string name;
  std::string description;  // one line, no full stop
  std::string examples;     // lines for the end of --help
  // Declares the options of the verb and returns what runs with them.
  std::function<Run(Options&)> declare;
};

// In the order of the help.
std::vector<Command> all_commands();

Command info_command();
Command check_command();
Command simulate_command();
Command snapshots_command();
Command reduce_command();
Command calibrate_command();
Command mesh_command();
Command fit_material_command();
Command run_command();
Command inverse_command();
Command bench_command();
Command export_command();
Command import_sofa_command();

}  // namespace supple::cli

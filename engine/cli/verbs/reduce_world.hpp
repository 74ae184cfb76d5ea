#pragma once
// supple reduce of a scene of several bodies.

#include <optional>
#include <string>

#include "engine/cli/shell/command.hpp"

namespace supple::cli {

struct WorldArguments {
  std::string scene, output;
  std::optional<double> error;
  std::optional<long> modes;
  bool accept_errors = false;
};

/// Reduces the scene's full parts in their world and writes a folder with their models and a scene of these. Throws
/// InputError, RunError for a model that misses its error, Interrupted.
int reduce_world(Context& context, const WorldArguments& arguments);

}  // namespace supple::cli

#pragma once
// A reduction of the parts of a scene of several bodies as JSON and in words: the same for the command line and for Python.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/reduction/world_reduction.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

/// Every figure; what `supple reduce --json` writes, but for the machine.
nlohmann::ordered_json world_json(const WorldReduction& reduction);
/// Why the models are not written, and what helps. accept: how they are written all the same.
RunError refusal_of(const WorldReduction& reduction, const WorldRecipe& recipe, const std::string& accept);

}  // namespace supple::cli

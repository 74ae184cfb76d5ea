#pragma once
// Reduced models of the built-in robots, for `supple bench`: made by the pipeline of `supple reduce` from fewer states,
// so that a robot takes about a minute, each with its error measured, and kept in a folder for the next time.

#include <string>
#include <vector>

#include "engine/model/reduced_model.hpp"
#include "engine/scene/scene.hpp"
#include "kernels/base/progress.hpp"

namespace supple::cli {

// $XDG_CACHE_HOME/supple/bench, or ~/.cache/supple/bench. Throws InputError if the environment names neither.
std::string default_model_folder();

// Its file in `folder`: the name holds a hash of the scene with its (smaller) recipe, the mesh and the program's
// version. Throws InputError if the mesh cannot be read.
std::string kept_model_file(const Scene& scene, const std::string& folder);

// The model of kept_model_file. If the file is missing or damaged, or belongs to another scene, the model is made by
// `jobs` processes and written there; `notes` states why it is made again. Throws InputError if the scene cannot be
// reduced or the folder cannot be written, RunError if the full model fails, Interrupted (finished states stay in the
// folder and are used the next time).
ReducedModel kept_model(const Scene& scene, const std::string& folder, int jobs, std::vector<std::string>& notes,
                        const Progress& progress);

}  // namespace supple::cli

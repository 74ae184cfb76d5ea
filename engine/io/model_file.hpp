#pragma once
// The reduced model as one self-describing HDF5 file (docs/reference/model-file.md). It needs no mesh and no scene.

#include <string>

#include "engine/model/reduced_model.hpp"

namespace supple {

/// Formats that are read. A model is written in the oldest format that supports its contents: 9 has strain modes,
/// 8 points of hexahedra as units, 7 effectors that are volumes, 6 obstacles that are tubes or have a largest force, 5
/// constraints and implicit factors of the step, 4 obstacles, 3 membranes and cavities, 2 none of them.
inline constexpr int oldest_model_format = 2;
inline constexpr int model_format_version = 9;

/// Writes a model: aside first, then renamed.
void write_model(const ReducedModel& model, const std::string& path);

/// Reads a model. Throws InputError for a file that is not a reduced model, is damaged, inconsistent or of another
/// format.
ReducedModel read_model(const std::string& path);

/// True if the file is HDF5 and is marked as a reduced model (cheap; for `info` and `view`).
bool is_model_file(const std::string& path);

}  // namespace supple

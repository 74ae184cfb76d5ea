#pragma once
// The reduced model as one self-describing HDF5 file (docs/reference/model-file.md).

#include <string>

#include "engine/io/model_data.hpp"

namespace supple {

/// Writes a model: aside first, then renamed.
void write_model(const ReducedModel& model, const std::string& path);

/// Reads a model. Throws InputError for a file that is not a reduced model, is damaged, inconsistent or of another
/// format.
ReducedModel read_model(const std::string& path);

/// True if the file is HDF5 and is marked as a reduced model (cheap; for `info` and `view`).
bool is_model_file(const std::string& path);

}  // namespace supple

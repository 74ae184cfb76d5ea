#pragma once
// The reduced model as one flat file, for the runtime (runtime/supple.h): the same data as in model_file.hpp, read without
// HDF5.

#include <string>
#include <string_view>

#include "engine/model/reduced_model.hpp"

namespace supple {

/// Writes a model: aside first, then renamed. Throws as write_file does.
void write_runtime_file(const ReducedModel& model, const std::string& path);
/// Throws InputError for a file that is not one, is damaged, inconsistent or of another format.
ReducedModel read_runtime_file(const std::string& path);
/// The same from memory; `name` stands for the file in messages.
ReducedModel read_runtime_bytes(std::string_view bytes, const std::string& name);

}  // namespace supple

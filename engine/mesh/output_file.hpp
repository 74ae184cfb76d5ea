#pragma once
// Internal to engine/mesh.

#include <string>
#include <string_view>

namespace supple {

// Writes under a temporary name beside `path` and renames. Throws InputError if that fails.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace supple

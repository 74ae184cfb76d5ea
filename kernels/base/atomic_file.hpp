#pragma once
// Files that appear whole: after a crash or a power cut there is the old file or the new one.

#include <string>
#include <string_view>

namespace supple {

// Writes `bytes` to `path`.part-PID, brings that to disk and renames it. Throws InputError if the file cannot be
// created or replaced, RunError if the disk does not take it; then nothing is left but the old file. Not for two
// threads writing the same path.
void write_file(const std::string& path, std::string_view bytes);

// Adds `bytes` to the end of a file, which is created where there is none, and brings them to disk. After a crash a
// part of them may be there. Throws as write_file does.
void append_file(const std::string& path, std::string_view bytes);

}  // namespace supple

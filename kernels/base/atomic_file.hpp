#pragma once
// Files that appear whole: after a crash or a power cut there is the old file or the new one.

#include <cstdint>
#include <string>
#include <string_view>

namespace supple {

// A file that grows beside `path`, as path.part-PID, and takes its name when it is whole. Whoever writes it opens it by
// name().
class FileAside {
 public:
  // Creates it, empty. Throws InputError if that cannot be. With `guard` a file of that name that is not there now is
  // not replaced in finish(): another program has made it meanwhile.
  explicit FileAside(const std::string& path, bool guard = false);
  // Removes what has not taken its name.
  ~FileAside();
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;
  const std::string& name() const { return name_; }
  // Takes the room on the disk for `size` bytes in all, so that what is written up to there does not fail for want of
  // it. Throws RunError if there is none. Where the file system cannot promise it, nothing happens.
  void reserve(std::uintmax_t size);
  // Cuts it to its first `size` bytes, brings them to disk and renames it. Throws as write_file does; RunError where it
  // may not replace another file, and then it stays under its own name.
  void finish(std::uintmax_t size);

 private:
  std::string path_, name_;
  bool guarded_;
  int number_;
};

// Writes `bytes` to `path`.part-PID, brings that to disk and renames it. Throws InputError if the file cannot be
// created or replaced, RunError if the disk does not take it; then nothing is left but the old file. Not for two
// threads writing the same path.
void write_file(const std::string& path, std::string_view bytes);

// Adds `bytes` to the end of a file, which is created where there is none, and brings them to disk. After a crash a
// part of them may be there. Throws as write_file does.
void append_file(const std::string& path, std::string_view bytes);

}  // namespace supple

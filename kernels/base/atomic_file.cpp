#include "kernels/base/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "kernels/base/error.hpp"

namespace supple {

namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw InputError("cannot write '" + path + "' (" + std::strerror(error) + ")",
                   "check that its folder exists and is writable", {path, 0, 0, ""});
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw RunError("writing '" + path + "' failed (" + std::strerror(error) + ")", "is the disk full?", {path, 0, 0, ""});
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() { (void)close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool close() {
    const int number = number_;
    number_ = -1;
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

// Writes, brings to disk and closes; `path` is for words.
void put(Descriptor& descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(descriptor.number()) != 0 || !descriptor.close()) fail(path, errno);
}

// Some file systems cannot bring a folder to disk (EINVAL) and need not.
void sync_folder(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  // A folder may be writable and not readable.
  if (descriptor.number() < 0) return;
  if (::fsync(descriptor.number()) != 0 && errno != EINVAL) fail(path, errno);
}

// Removed unless it got its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) : path_(path), name_(path + ".part-" + std::to_string(::getpid())) {}
  ~TemporaryFile() {
    if (!renamed_) std::remove(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& name() const { return name_; }
  void rename() {
    if (std::rename(name_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
    renamed_ = true;
  }

 private:
  std::string path_, name_;
  bool renamed_ = false;
};

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  TemporaryFile file(path);
  Descriptor descriptor(file.name(), O_WRONLY | O_CREAT | O_TRUNC);
  if (descriptor.number() < 0) refuse(path, errno);
  // The data must be on disk before the name is.
  put(descriptor, path, bytes);
  file.rename();
  sync_folder(path);
}

void append_file(const std::string& path, std::string_view bytes) {
  Descriptor descriptor(path, O_WRONLY | O_CREAT | O_APPEND);
  if (descriptor.number() < 0) refuse(path, errno);
  put(descriptor, path, bytes);
}

}  // namespace supple

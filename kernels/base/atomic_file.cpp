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

}  // namespace

FileAside::FileAside(const std::string& path, bool guard)
    : path_(path),
      name_(path + ".part-" + std::to_string(::getpid())),
      guarded_(guard && ::access(path.c_str(), F_OK) != 0),
      number_(::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (number_ < 0) refuse(path, errno);
}

FileAside::~FileAside() {
  if (number_ < 0) return;
  ::close(number_);
  std::remove(name_.c_str());
}

void FileAside::reserve(std::uintmax_t size) {
  while (::fallocate(number_, 0, 0, static_cast<off_t>(size)) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) return;
    if (errno != EINTR) fail(path_, errno);
  }
}

void FileAside::finish(std::uintmax_t size) {
  // The data must be on disk before the name is.
  if (::ftruncate(number_, static_cast<off_t>(size)) != 0 || ::fsync(number_) != 0) fail(path_, errno);
  if (guarded_ && ::link(name_.c_str(), path_.c_str()) == 0) {
    std::remove(name_.c_str());
  } else if (guarded_ && errno == EEXIST) {
    ::close(number_);
    number_ = -1;
    throw RunError("another program has made '" + path_ + "' meanwhile", "what was written is in '" + name_ + "'",
                   {path_, 0, 0, ""});
  } else if (std::rename(name_.c_str(), path_.c_str()) != 0) {  // also where there are no links
    refuse(path_, errno);
  }
  ::close(number_);
  number_ = -1;
  sync_folder(path_);
}

void write_file(const std::string& path, std::string_view bytes) {
  FileAside file(path);
  Descriptor descriptor(file.name(), O_WRONLY);
  if (descriptor.number() < 0) refuse(path, errno);
  put(descriptor, path, bytes);
  file.finish(bytes.size());
}

void append_file(const std::string& path, std::string_view bytes) {
  Descriptor descriptor(path, O_WRONLY | O_CREAT | O_APPEND);
  if (descriptor.number() < 0) refuse(path, errno);
  put(descriptor, path, bytes);
}

}  // namespace supple

#include "engine/reduction/snapshots/claims.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kernels/base/error.hpp"

namespace supple {

namespace {

constexpr long plan_byte = 0, presence_byte = 1, first_path_byte = 2;

}  // namespace

Claims::Claims(const std::string& folder) {
  const std::string name = (std::filesystem::path(folder) / "claims").string();
  file_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw InputError("cannot write '" + name + "' (" + std::strerror(errno) + ")",
                     "check that its folder exists and is writable", {name, 0, 0, ""});
}

Claims::~Claims() {
  if (file_ >= 0) close(file_);
}

Claims::Claims(Claims&& other) noexcept : file_(other.file_), available_(other.available_) {
  other.file_ = -1;
}

// Locks of the open file, not of the process: closing another descriptor of the file does not end them.
bool Claims::lock(long byte, short kind) {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  int result;
  do result = fcntl(file_, F_OFD_SETLK, &range);
  while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  available_ = false;  // ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL
  return true;
}

bool Claims::claim(int path) {
  return lock(first_path_byte + path, F_WRLCK);
}

void Claims::release(int path) {
  (void)lock(first_path_byte + path, F_UNLCK);
}

bool Claims::claim_plan() {
  return lock(plan_byte, F_WRLCK);
}

void Claims::release_plan() {
  (void)lock(plan_byte, F_UNLCK);
}

bool Claims::enter() {
  return lock(presence_byte, F_RDLCK);
}

bool Claims::alone() {
  return lock(presence_byte, F_WRLCK);
}

}  // namespace supple

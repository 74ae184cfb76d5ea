#include "kernels/base/hash.hpp"

#include <xxhash.h>

#include <fstream>
#include <vector>

#include "kernels/base/error.hpp"

namespace supple {

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed) {
  return XXH64(data, size, seed);
}

std::uint64_t hash_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read '" + path + "'", "check the path and its permissions", {path, 0, 0, ""});
  std::uint64_t hash = 0;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash = XXH64(buffer.data(), static_cast<std::size_t>(file.gcount()), hash);
  }
  return hash;
}

std::string hash_hex(std::uint64_t hash) {
  static const char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) text[static_cast<std::size_t>(i)] = digits[hash & 15];
  return text;
}

}  // namespace supple

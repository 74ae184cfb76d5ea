#pragma once
// 64-bit hashes of bytes (xxHash), for state hashes and for telling whether files still belong together.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace supple {

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed = 0);
inline std::uint64_t hash_text(std::string_view text) {
  return hash_bytes(text.data(), text.size());
}
// Of a file's content; throws InputError if it cannot be read.
std::uint64_t hash_file(const std::string& path);
// 16 hexadecimal digits.
std::string hash_hex(std::uint64_t hash);

}  // namespace supple

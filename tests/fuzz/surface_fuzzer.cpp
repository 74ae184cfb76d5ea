// Any bytes are a surface or an InputError. The first byte chooses the file's ending.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/mesh/read.hpp"
#include "kernels/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char* const names[] = {"fuzz.stl", "fuzz.obj", "fuzz"};
  try {
    supple::parse_surface({reinterpret_cast<const char*>(data) + 1, size - 1}, names[data[0] % 3]);
  } catch (const supple::InputError&) {
  }
  return 0;
}

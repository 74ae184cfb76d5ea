// Any bytes are a model of the runtime or an InputError. The sum over the bytes is set right, so that what lies behind it
// is reached.
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/io/runtime_file.hpp"
#include "kernels/base/hash.hpp"
#include "tests/fuzz/step_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= 64) {
    const std::uint64_t whole = size, sum = supple::hash_bytes(bytes.data() + 64, size - 64);
    std::memcpy(bytes.data() + 32, &whole, sizeof whole);
    std::memcpy(bytes.data() + 40, &sum, sizeof sum);
  }
  step_model([&] { return supple::read_runtime_bytes(bytes, "fuzz"); });
  return 0;
}

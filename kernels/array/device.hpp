#pragma once
// Where work runs: a value passed as an argument, never a global. cpu() always exists; cuda(n) needs a CUDA build and a
// GPU.

#include <string>

namespace supple {

struct Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;  // CUDA device ordinal
  friend bool operator==(const Device&, const Device&) = default;
};

inline Device cpu() {
  return {};
}
inline Device cuda(int index) {
  return {Device::Kind::cuda, index};
}

// "cpu", "cuda:0".
std::string to_string(const Device& device);
// Parses "cpu", "cuda", "cuda:N", "auto" (the first GPU if there is one, else the CPU). Throws InputError or
// CapabilityError.
Device parse_device(const std::string& text);
// Number of usable CUDA devices; 0 without a GPU, a driver, or CUDA in the build.
int cuda_device_count();
// Why cuda_device_count() is 0, in words for the user.
std::string cuda_absence_reason();

}  // namespace supple

#include "kernels/array/device.hpp"

#include "kernels/base/error.hpp"

namespace supple {

std::string to_string(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

Device parse_device(const std::string& text) {
  if (text == "cpu") return cpu();
  if (text == "auto") return cuda_device_count() > 0 ? cuda(0) : cpu();
  if (text == "cuda" || text.rfind("cuda:", 0) == 0) {
    int index = 0;
    if (text.size() > 5) {
      const std::string digits = text.substr(5);
      if (digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 4)
        throw InputError("device '" + text + "' is not understood", "cpu, cuda:0, cuda:1, ... or auto");
      index = std::stoi(digits);
    }
    if (index >= cuda_device_count())
      throw CapabilityError(
          "no CUDA device " + std::to_string(index) + " (" +
              (cuda_device_count() == 0 ? cuda_absence_reason() : "there are " + std::to_string(cuda_device_count())) +
              ")",
          "--device cpu");
    return cuda(index);
  }
  throw InputError("device '" + text + "' is not understood", "cpu, cuda:0, cuda:1, ... or auto");
}

}  // namespace supple

#include "kernels/array/device.hpp"

#include "kernels/base/error.hpp"

#ifdef SUPPLE_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace supple {

std::string to_string(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

#ifdef SUPPLE_HAVE_CUDA
int cuda_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
std::string cuda_absence_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count > 0 ? "" : "the CUDA driver sees no GPU";
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
    const auto release = [](int version) {
      return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    return driver == 0
               ? "no NVIDIA driver is installed"
               : "the NVIDIA driver knows CUDA " + release(driver) + ", this build needs " + release(CUDART_VERSION);
  }
  return std::string("CUDA answers: ") + cudaGetErrorString(status);
}
#else
int cuda_device_count() {
  return 0;
}
std::string cuda_absence_reason() {
  return "this build has no CUDA code (configured with SUPPLE_CUDA=OFF or without nvcc)";
}
#endif

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

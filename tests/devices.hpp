#pragma once
// The devices a test runs on: the CPU, and a GPU where there is one. Without one the cuda case is visibly skipped, or
// fails where SUPPLE_REQUIRE_CUDA=1.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels/array/device.hpp"

namespace supple::test {

// For SetUp of a test.
inline void need_device(const Device& device) {
  if (device.kind == Device::Kind::cpu || cuda_device_count() > 0) return;
  const char* required = std::getenv("SUPPLE_REQUIRE_CUDA");
  if (required != nullptr && std::string(required) == "1")
    FAIL() << "SUPPLE_REQUIRE_CUDA=1, but " << cuda_absence_reason();
  GTEST_SKIP() << cuda_absence_reason();
}

// Not the emulated GPU, whose tests run with its mode in the environment.
inline bool is_real_gpu(const Device& device) {
  return device.kind == Device::Kind::cuda && std::getenv("SUPPLE_EMULATION") == nullptr;
}

class OnDevice : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override { need_device(GetParam()); }
};

inline std::string device_name(const testing::TestParamInfo<Device>& info) {
  return info.param.kind == Device::Kind::cpu ? "cpu" : "cuda";
}
inline auto every_device() {
  return testing::Values(cpu(), cuda(0));
}

}  // namespace supple::test

#pragma once
// What a device does at its best, measured through the calls that a batch makes (batched.hpp, kernels/array/array.hpp).
// For one core by itself: machine_peaks.hpp.

#include "kernels/array/device.hpp"

namespace supple {

struct DevicePeaks {
  double product = 0, product_fp32 = 0;   // flop/s of a large square matrix product
  double to_device = 0, from_device = 0;  // bytes/s of copies from and to ordinary host memory
};

/// The best of trials that last `seconds` for each number, at least two trials after one that warms up.
DevicePeaks measure_device_peaks(const Device& device, double seconds);

}  // namespace supple

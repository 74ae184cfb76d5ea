#include "solvers/dense/device_peaks.hpp"

#include "tests/devices.hpp"

namespace supple {
namespace {

class Peaks : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Peaks, test::every_device(), test::device_name);

// No machine that runs this is slower than 10 Mflop/s and 10 MB/s, none faster than 10 Pflop/s and 100 TB/s.
TEST_P(Peaks, AreNumbersOfAMachine) {
  const DevicePeaks peaks = measure_device_peaks(GetParam(), 0.01);
  for (const double rate : {peaks.product, peaks.product_fp32}) {
    EXPECT_GT(rate, 1e7);
    EXPECT_LT(rate, 1e16);
  }
  for (const double rate : {peaks.to_device, peaks.from_device}) {
    EXPECT_GT(rate, 1e7);
    EXPECT_LT(rate, 1e14);
  }
}

}  // namespace
}  // namespace supple

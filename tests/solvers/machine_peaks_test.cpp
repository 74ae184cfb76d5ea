#include "solvers/dense/machine_peaks.hpp"

#include <gtest/gtest.h>

namespace supple {
namespace {

TEST(MachinePeaks, AreInTheOrderOfTheHardware) {
  MachinePeaks peaks = measure_peaks(0.02);
  peaks = best_of(peaks, measure_peaks(0.02));
  EXPECT_GT(peaks.fma, 1e9);
  EXPECT_GT(peaks.product, 0.1 * peaks.fma);
  EXPECT_LT(peaks.product, 1.2 * peaks.fma);
  EXPECT_GT(peaks.read_memory, 1e8);
  EXPECT_GT(2 * peaks.read_l2, peaks.read_l3);
  EXPECT_GT(2 * peaks.read_l3, peaks.read_memory);
}

TEST(MachinePeaks, OneTrialIsEnough) {
  EXPECT_GT(read_bandwidth(1, 0), 0);
  EXPECT_GT(read_bandwidth(100'000, 0), 0);
}

}  // namespace
}  // namespace supple

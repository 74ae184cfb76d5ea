#pragma once
// What one core of this machine can do, measured: the roofs that a kernel's speed is held against (S. Williams et al.,
// "Roofline: an insightful visual performance model", 2009). Each number is the best of many short trials, since other
// work on the machine only ever takes away.

#include <cstddef>

namespace supple {

struct MachinePeaks {
  double fma = 0;      // flop/s of fused multiply-adds between registers, FP64, SIMD width of the build
  double product = 0;  // flop/s of a packed matrix product that lies in L1: what a good dense kernel reaches
  /// Bytes/s of reading, from a block that fits in L2, in L3, in neither.
  double read_l2 = 0, read_l3 = 0, read_memory = 0;
};

/// `seconds` of trials for each number, at least one trial.
MachinePeaks measure_peaks(double seconds);

/// Bytes/s of reading a block of `bytes` (at least a cache line) again and again.
double read_bandwidth(std::size_t bytes, double seconds);

/// The better of two measurements, number by number.
MachinePeaks best_of(const MachinePeaks& a, const MachinePeaks& b);

}  // namespace supple

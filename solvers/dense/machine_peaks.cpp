#include "solvers/dense/machine_peaks.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "kernels/array/aligned.hpp"
#include "kernels/math/lanes.hpp"

namespace supple {

namespace {

using V = Lanes<double, SingleTeam>::type;
constexpr int width = Lanes<double, SingleTeam>::width;

volatile double sink;  // results go here, so that they have to be computed

double total(const V* v, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += lane_sum<double>(V(v[k]));
  return sum;
}

// Best rate of `work` units a trial. The first trial warms up and is not counted.
template <class Trial>
double best_rate(double work, double seconds, const Trial& trial) {
  using Clock = std::chrono::steady_clock;
  trial();
  double best = 0;
  const Clock::time_point start = Clock::now();
  Clock::time_point end;
  do {
    const Clock::time_point begin = Clock::now();
    trial();
    end = Clock::now();
    best = std::max(best, work / std::max(1e-9, std::chrono::duration<double>(end - begin).count()));
  } while (std::chrono::duration<double>(end - start).count() < seconds);
  return best;
}

// 12 chains hide the latency of two pipes and leave room for the factors in 16 registers.
double fma_peak(double seconds) {
  constexpr int chains = 12, turns = 20'000;
  static volatile double factor = 0.999, term = 1e-3;  // not known to the compiler
  return best_rate(2.0 * width * chains * turns, seconds, [&] {
    const V x = V{} + factor, y = V{} + term;
    V sum[chains];
    for (int k = 0; k < chains; ++k) sum[k] = V{} + static_cast<double>(k);
    for (int turn = 0; turn < turns; ++turn) SUPPLE_UNROLL for (int k = 0; k < chains; ++k) sum[k] = sum[k] * x + y;
    sink = total(sum, chains);
  });
}

// C (3 registers by `columns`) += A B over `depth`, A and B packed: the inner kernel of a matrix product.
double product_peak(double seconds) {
  constexpr int rows = 3, columns = SUPPLE_SIMD_BYTES == 64 ? 8 : 4, depth = 96, turns = 100;
  const AlignedVector<double> a(rows * width * depth, 1.0), b(columns * depth, 0.5);
  return best_rate(2.0 * rows * width * columns * depth * turns, seconds, [&] {
    V c[rows * columns] = {};
    for (int turn = 0; turn < turns; ++turn)
      for (int k = 0; k < depth; ++k) {
        const V* left = reinterpret_cast<const V*>(a.data() + k * rows * width);
        const double* right = b.data() + k * columns;
        SUPPLE_UNROLL for (int j = 0; j < columns; ++j) SUPPLE_UNROLL for (int i = 0; i < rows; ++i)
            c[i * columns + j] += left[i] * right[j];
      }
    sink = total(c, rows * columns);
  });
}

std::size_t cache_bytes(int name, std::size_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

}  // namespace

double read_bandwidth(std::size_t bytes, double seconds) {
  constexpr int group = 8;  // chains of additions
  constexpr std::size_t line = group * width, least_trial = std::size_t(1) << 20;
  const std::size_t lines = std::max<std::size_t>(1, bytes / (line * sizeof(double)));
  const AlignedVector<double> block(lines * line, 1.0);
  const std::size_t block_bytes = block.size() * sizeof(double), turns = (least_trial + block_bytes - 1) / block_bytes;
  return best_rate(static_cast<double>(block_bytes * turns), seconds, [&] {
    V sum[group] = {};
    for (std::size_t turn = 0; turn < turns; ++turn)
      for (const double* from = block.data(); from != block.data() + block.size(); from += line)
        SUPPLE_UNROLL for (int k = 0; k < group; ++k) sum[k] += *reinterpret_cast<const V*>(from + k * width);
    sink = total(sum, group);
  });
}

MachinePeaks measure_peaks(double seconds) {
  // A quarter of a cache leaves room for others; four times the last one is out of its reach, within reason.
  const std::size_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, std::size_t(1) << 20),
                    l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, std::size_t(32) << 20);
  MachinePeaks peaks;
  peaks.fma = fma_peak(seconds);
  peaks.product = product_peak(seconds);
  peaks.read_l2 = read_bandwidth(l2 / 4, seconds);
  peaks.read_l3 = read_bandwidth(std::max(2 * l2, l3 / 4), seconds);
  peaks.read_memory = read_bandwidth(std::min(4 * l3, std::size_t(256) << 20), seconds);
  return peaks;
}

MachinePeaks best_of(const MachinePeaks& a, const MachinePeaks& b) {
  return {std::max(a.fma, b.fma), std::max(a.product, b.product), std::max(a.read_l2, b.read_l2),
          std::max(a.read_l3, b.read_l3), std::max(a.read_memory, b.read_memory)};
}

}  // namespace supple

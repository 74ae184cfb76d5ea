#include "engine/step/step_rate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace supple {

namespace {

// 0 if there are none.
double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(q * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(0.0, rank))];
}

}  // namespace

StepRate step_rate(std::vector<double> seconds, int robots, double time_step) {
  std::sort(seconds.begin(), seconds.end());
  const double median = quantile(seconds, 0.5);
  StepRate rate;
  rate.p50_us = 1e6 * median;
  rate.p99_us = 1e6 * quantile(seconds, 0.99);
  rate.p999_us = 1e6 * quantile(seconds, 0.999);
  if (median > 0) {
    rate.steps_per_s = robots / median;
    rate.realtime_factor = time_step / median;
  }
  return rate;
}

}  // namespace supple

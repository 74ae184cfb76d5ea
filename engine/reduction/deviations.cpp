#include "engine/reduction/deviations.hpp"

#include <algorithm>
#include <limits>

namespace supple {

namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

double Deviations::mean_displacement() const {
  double sum = 0;
  for (double d : displacement) sum += d;
  return displacement.empty() ? 0 : sum / static_cast<double>(displacement.size());
}

void Deviations::summarise(double& mean, double& middle, double& largest) const {
  const double scale = mean_displacement();
  // Nothing moves: an error relative to nothing is not a number, and passes no limit.
  mean = middle = largest = std::numeric_limits<double>::quiet_NaN();
  if (!(scale > 0)) return;
  mean = 0;
  for (double e : error) mean += e / scale / static_cast<double>(error.size());
  middle = median(error) / scale;
  largest = *std::max_element(error.begin(), error.end()) / scale;
}

}  // namespace supple

#pragma once
// Errors of one quantity over several states: distances between two models, and how far the reference has moved from
// rest.

#include <vector>

namespace supple {

struct Deviations {
  std::vector<double> error, displacement;
  double mean_displacement() const;
  // Mean, median and largest error as fractions of the mean displacement; not a number where nothing moves.
  void summarise(double& mean, double& median, double& largest) const;
};

}  // namespace supple

#pragma once
// The curvature of a row as one dense matrix [count x count], row-major.

#include "engine/model/rows.hpp"

namespace supple {

inline std::vector<double> dense_curvature(const Robot& robot, int row, std::span<const double> y, double lambda) {
  const int n = 3 * robot.actuators[static_cast<std::size_t>(row)].point_count;
  std::vector<double> all(static_cast<std::size_t>(n * n), 0.0);
  visit_row_curvature(robot, row, y, lambda, [&](int a, int b, const Mat3d& block) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) all[static_cast<std::size_t>((3 * a + i) * n + 3 * b + j)] += block(i, j);
  });
  return all;
}

}  // namespace supple

#include "solvers/sparse/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace supple {

void multiply(const SymmetricPattern& pattern, const double* values, const double* x, double* y) {
  std::fill(y, y + pattern.n, 0.0);
  for (int j = 0; j < pattern.n; ++j) {
    const int first = pattern.column_start[j], last = pattern.column_start[j + 1];
    double sum = values[first] * x[j];  // the diagonal comes first
    for (int k = first + 1; k < last; ++k) {
      const int i = pattern.row[k];
      y[i] += values[k] * x[j];
      sum += values[k] * x[i];
    }
    y[j] += sum;
  }
}

double backward_error(const SymmetricPattern& pattern, const double* values, const double* x, const double* b) {
  const auto n = static_cast<std::size_t>(pattern.n);
  std::vector<double> product(n), sums(n, 0.0);
  multiply(pattern, values, x, product.data());
  for (int j = 0; j < pattern.n; ++j)
    for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
      sums[static_cast<std::size_t>(j)] += std::abs(values[k]);
      if (pattern.row[k] != j) sums[static_cast<std::size_t>(pattern.row[k])] += std::abs(values[k]);
    }
  double error = 0, matrix = 0, solution = 0, right = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double e = std::abs(product[i] - b[i]);
    if (std::isnan(e)) return e;
    error = std::max(error, e);
    matrix = std::max(matrix, sums[i]);
    solution = std::max(solution, std::abs(x[i]));
    right = std::max(right, std::abs(b[i]));
  }
  return error / (matrix * solution + right);
}

}  // namespace supple

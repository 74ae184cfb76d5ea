#include "solvers/sparse/symmetric_matrix.hpp"

#include <algorithm>

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

}  // namespace supple

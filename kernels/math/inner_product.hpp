#pragma once

namespace supple {

// sum a_k b_k of plain arrays, in order.
inline double inner_product(const double* a, const double* b, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace supple

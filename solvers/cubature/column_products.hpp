#pragma once
// Products with a large column-major G, parallel over chunks that do not depend on the thread count.

#include <span>
#include <vector>

namespace supple {

struct ColumnMatrix {
  const double* data = nullptr;
  int rows = 0;
  int columns = 0;
  const double* column(int i) const { return data + static_cast<std::size_t>(i) * rows; }
};

constexpr int column_chunk = 256;

/// out_i = g_i^T v for all columns.
void transpose_multiply(const ColumnMatrix& G, const double* v, double* out);
/// out_k = g_c^T v for c = chosen[k].
void transpose_multiply(const ColumnMatrix& G, std::span<const int> chosen, const double* v, double* out);
/// r = y - sum_k w_k g_c(k). Returns ||r||.
double residual(const ColumnMatrix& G, std::span<const int> chosen, const double* w, const double* y, double* r);

}  // namespace supple

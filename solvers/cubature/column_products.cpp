#include "solvers/cubature/column_products.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "solvers/cubature/cubature.hpp"
#include "solvers/dense/pack.hpp"

namespace supple {
namespace {
constexpr int row_chunk = 512;
constexpr long parallel_from = 2000000;  // entries read (about 1 ms); below, starting threads costs more than it saves
}  // namespace

void transpose_multiply(const ColumnMatrix& G, const double* v, double* out) {
#pragma omp parallel for schedule(static) if (static_cast <long>(G.rows) * G.columns > parallel_from)
  for (int i = 0; i < G.columns; ++i) out[i] = dot(G.column(i), v, G.rows);
}

void transpose_multiply(const ColumnMatrix& G, std::span<const int> chosen, const double* v, double* out) {
  const int count = static_cast<int>(chosen.size());
#pragma omp parallel for schedule(static) if (static_cast <long>(G.rows) * count > parallel_from)
  for (int k = 0; k < count; ++k) out[k] = dot(G.column(chosen[k]), v, G.rows);
}

double residual(const ColumnMatrix& G, std::span<const int> chosen, const double* w, const double* y, double* r) {
  const int count = static_cast<int>(chosen.size()), chunks = (G.rows + row_chunk - 1) / row_chunk;
#pragma omp parallel for schedule(static) if (static_cast <long>(G.rows) * count > parallel_from)
  for (int b = 0; b < chunks; ++b) {
    const int first = b * row_chunk, size = std::min(row_chunk, G.rows - first);
    std::copy(y + first, y + first + size, r + first);
    for (int k = 0; k < count; ++k) add_scaled(r + first, -w[k], G.column(chosen[k]) + first, size);
  }
  return std::sqrt(dot(r, r, G.rows));
}

std::vector<double> column_sum(std::span<const double> G, int rows, int columns) {
  SUPPLE_EXPECT(G.size() == static_cast<std::size_t>(rows) * columns);
  const ColumnMatrix matrix{G.data(), rows, columns};
  std::vector<double> sum(rows, 0.0);
  const int chunks = (rows + row_chunk - 1) / row_chunk;
#pragma omp parallel for schedule(static) if (static_cast <long>(rows) * columns > parallel_from)
  for (int b = 0; b < chunks; ++b) {
    const int first = b * row_chunk, size = std::min(row_chunk, rows - first);
    for (int i = 0; i < columns; ++i) add_scaled(sum.data() + first, 1, matrix.column(i) + first, size);
  }
  return sum;
}

}  // namespace supple

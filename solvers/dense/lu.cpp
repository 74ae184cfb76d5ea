// Blocked right-looking LU for one core, panels of eight columns; the update of the trailing matrix runs in tiles of
// eight rows by sixteen columns that stay in registers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/contract.hpp"
#include "solvers/dense/general_factor.hpp"
#include "solvers/dense/pack.hpp"

namespace supple {
namespace {

constexpr int B = pack_width;
constexpr int tile_rows = 8;

// Rows i .. i + height, columns j .. j + 8 packs of C.
template <int packs>
void add_tile(double* c, int height, int ldc, double factor, const double* p, int ldp, const double* q, int ldq,
              int count) {
  Pack sum[tile_rows][packs] = {};
  for (int k = 0; k < count; ++k) {
    Pack right[packs];
    for (int s = 0; s < packs; ++s) load(right[s], q + k * ldq + s * B);
    for (int r = 0; r < tile_rows; ++r)
      for (int s = 0; s < packs; ++s) sum[r][s] += p[k * ldp + r] * right[s];
  }
  for (int r = 0; r < height; ++r)
    for (int s = 0; s < packs; ++s) {
      Pack old;
      load(old, c + r * ldc + s * B);
      old += factor * sum[r][s];
      store(c + r * ldc + s * B, old);
    }
}

}  // namespace

void add_products(double* c, int m, int n, int ldc, double factor, const double* p, int ldp, const double* q, int ldq,
                  int count) {
  for (int i = 0; i < m; i += tile_rows) {
    const int height = std::min(tile_rows, m - i);
    int j = 0;
    for (; j + B < n; j += 2 * B) add_tile<2>(c + i * ldc + j, height, ldc, factor, p + i, ldp, q + j, ldq, count);
    if (j < n) add_tile<1>(c + i * ldc + j, height, ldc, factor, p + i, ldp, q + j, ldq, count);
  }
}

namespace {

// The largest |x_i|, the first of equal ones; NaN is passed over.
int largest_entry(const double* x, int n) {
  double most = -1;
#pragma omp simd reduction(max : most)
  for (int i = 0; i < n; ++i) most = std::abs(x[i]) > most ? std::abs(x[i]) : most;
  int at = 0;
  for (int found = 0; at + B <= n; at += B) {
#pragma omp simd reduction(| : found)
    for (int i = 0; i < B; ++i) found |= std::abs(x[at + i]) >= most ? 1 : 0;
    if (found != 0) break;
  }
  while (at < n && !(std::abs(x[at]) >= most)) ++at;
  return at < n ? at : 0;
}

// A panel's columns, each contiguous, and what was exchanged in them. False without a pivot.
bool factor_panel(double* panel, int stride, int rows, int columns, int* pivots) {
  for (int k = 0; k < columns; ++k) {
    double* column = panel + k * stride;
    const int pivot = pivots[k] = k + largest_entry(column + k, rows - k);
    if (pivot != k)
      for (int j = 0; j < columns; ++j) std::swap(panel[j * stride + k], panel[j * stride + pivot]);
    const double inverse = 1 / column[k];
    if (!std::isfinite(inverse) || !std::isfinite(column[k])) return false;
    for (int i = k + 1; i < rows; ++i) column[i] *= inverse;
    for (int j = k + 1; j < columns; ++j)
      add_scaled(panel + j * stride + k + 1, -panel[j * stride + k], column + k + 1, rows - k - 1);
  }
  return true;
}

}  // namespace

bool lu_factor(double* a, int n, int ld, int* pivots, double* panel) {
  SUPPLE_EXPECT(n >= 0 && ld >= n && ld % B == 0);
  const int stride = n + B;  // of the transposed panel
  std::fill_n(panel, B * stride, 0.0);
  for (int first = 0; first < n; first += B) {
    const int end = std::min(first + B, n), columns = end - first, rows = n - first, left = n - end;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < columns; ++k) panel[k * stride + i] = a[(first + i) * ld + first + k];
    if (!factor_panel(panel, stride, rows, columns, pivots + first)) return false;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < columns; ++k) a[(first + i) * ld + first + k] = panel[k * stride + i];
    for (int k = first; k < end; ++k) {
      const int pivot = pivots[k] += first;
      if (pivot == k) continue;
      std::swap_ranges(a + k * ld, a + k * ld + first, a + pivot * ld);
      std::swap_ranges(a + k * ld + end, a + k * ld + n, a + pivot * ld + end);
    }
    if (left <= 0) break;
    for (int k = first; k < end; ++k)
      for (int i = k + 1; i < end; ++i) add_scaled(a + i * ld + end, -a[i * ld + k], a + k * ld + end, left);
    add_products(a + end * ld + end, left, left, ld, -1, panel + B, stride, a + first * ld + end, ld, B);
  }
  return true;
}

void lu_solve(const double* a, int n, int ld, const int* pivots, double* x) {
  for (int k = 0; k < n; ++k) std::swap(x[k], x[pivots[k]]);
  for (int i = 0; i < n; ++i) x[i] -= dot(a + i * ld, x, i);
  for (int i = n - 1; i >= 0; --i) x[i] = (x[i] - dot(a + i * ld + i + 1, x + i + 1, n - i - 1)) / a[i * ld + i];
}

// U^T L^T P x = b
void lu_solve_transposed(const double* a, int n, int ld, const int* pivots, double* x) {
  for (int i = 0; i < n; ++i) {
    x[i] /= a[i * ld + i];
    add_scaled(x + i + 1, -x[i], a + i * ld + i + 1, n - i - 1);
  }
  for (int i = n - 1; i > 0; --i) add_scaled(x, -x[i], a + i * ld, i);
  for (int k = n - 1; k >= 0; --k) std::swap(x[k], x[pivots[k]]);
}

}  // namespace supple

// Blocked right-looking Cholesky for one core. Panels of eight columns are copied transposed, T[k][i] = l_ik, so that
// both the triangular solve and the update a_ij -= sum_k T[k][i] T[k][j] run over contiguous packs of eight.
#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/dense/cholesky.hpp"
#include "solvers/dense/pack.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {
namespace {

constexpr int W = pack_width;
constexpr int largest_panel = 512;  // rows of the copied panel, on the stack
constexpr int panel_stride = largest_panel + W;
constexpr int tile_rows = 4;

struct Panel {
  alignas(64) double t[W][panel_stride];
  double diagonal[W][W];
  double inverse[W];
};

// Unblocked factorisation of the w x w block at d; also L and 1 / l_kk into the panel.
bool factor_diagonal(double* d, int w, int ld, Panel& panel) {
  auto& l = panel.diagonal;
  for (int j = 0; j < w; ++j) {
    double pivot = d[j * ld + j];
    for (int m = 0; m < j; ++m) pivot -= l[j][m] * l[j][m];
    if (!(pivot > 0)) return false;
    l[j][j] = std::sqrt(pivot);
    panel.inverse[j] = 1 / l[j][j];
    d[j * ld + j] = l[j][j];
    for (int i = j + 1; i < w; ++i) {
      double s = d[i * ld + j];
      for (int m = 0; m < j; ++m) s -= l[i][m] * l[j][m];
      d[i * ld + j] = l[i][j] = s * panel.inverse[j];
    }
  }
  return true;
}

// L21 = A21 L11^-T for `rows` rows starting at a21; the result also stays transposed in the panel, padded with zero
// columns.
void solve_panel(double* a21, int rows, int ld, Panel& panel) {
  const int padded = (rows + W - 1) / W * W;
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < W; ++k) panel.t[k][i] = a21[i * ld + k];
  for (int i = rows; i < padded; ++i)
    for (int k = 0; k < W; ++k) panel.t[k][i] = 0;
  for (int i = 0; i < padded; i += W) {
    Pack x[W];
    for (int k = 0; k < W; ++k) {
      load(x[k], &panel.t[k][i]);
      for (int m = 0; m < k; ++m) x[k] -= panel.diagonal[k][m] * x[m];
      x[k] *= panel.inverse[k];
      store(&panel.t[k][i], x[k]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < W; ++k) a21[i * ld + k] = panel.t[k][i];
}

// A22 -= L21 L21^T, lower triangle.
void update_trailing(double* a22, int rows, int ld, const Panel& panel) {
  for (int i = 0; i < rows; i += tile_rows) {
    const int height = std::min(tile_rows, rows - i);
    for (int j = 0; j < i + height; j += W) {
      Pack sum[tile_rows] = {};
      for (int k = 0; k < W; ++k) {
        Pack right;
        load(right, &panel.t[k][j]);
        for (int r = 0; r < tile_rows; ++r) sum[r] += panel.t[k][i + r] * right;
      }
      for (int r = 0; r < height; ++r) {
        double* row = a22 + (i + r) * ld + j;
        if (j + W <= i + r + 1) {
          Pack old;
          load(old, row);
          old -= sum[r];
          store(row, old);
        } else {
          for (int c = 0; c <= i + r - j; ++c) row[c] -= sum[r][c];
        }
      }
    }
  }
}

// One right-hand side: rows of L are contiguous, so forward by dot products, backward by row updates.
void solve_one(const double* a, int n, int ld, double* x, bool backward) {
  for (int i = 0; i < n; ++i) x[i] = (x[i] - dot(a + i * ld, x, i)) / a[i * ld + i];
  for (int i = n - 1; backward && i >= 0; --i) {
    x[i] /= a[i * ld + i];
    add_scaled(x, -x[i], a + i * ld, i);
  }
}

// Eight right-hand sides interleaved, y[i][c].
void solve_interleaved(const double* a, int n, int ld, double* y, bool backward) {
  const auto substitute = [=](int i, int from, int to, auto entry) {
    Pack value, other, s0, s1 = {};
    load(s0, y + i * W);
    int j = from;
    for (; j + 1 < to; j += 2) {
      load(other, y + j * W);
      s0 -= entry(j) * other;
      load(other, y + (j + 1) * W);
      s1 -= entry(j + 1) * other;
    }
    if (j < to) load(other, y + j * W), s0 -= entry(j) * other;
    value = (s0 + s1) * (1 / a[i * ld + i]);
    store(y + i * W, value);
  };
  for (int i = 0; i < n; ++i) substitute(i, 0, i, [=](int j) { return a[i * ld + j]; });
  for (int i = n - 1; backward && i >= 0; --i) substitute(i, i + 1, n, [=](int j) { return a[j * ld + i]; });
}

void substitute_all(const double* a, int n, int ld, double* x, int count, int ldx, bool backward) {
  SUPPLE_EXPECT(n >= 0 && ld >= n && ldx >= n);
  alignas(64) double y[largest_panel * W];
  int c = 0;
  if (n <= largest_panel) {
    for (; count - c >= 3; c += std::min(W, count - c)) {
      const int width = std::min(W, count - c);
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < W; ++k) y[i * W + k] = k < width ? x[(c + k) * ldx + i] : 0;
      solve_interleaved(a, n, ld, y, backward);
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < width; ++k) x[(c + k) * ldx + i] = y[i * W + k];
    }
  }
  for (; c < count; ++c) solve_one(a, n, ld, x + c * ldx, backward);
}

}  // namespace

DenseFactorReport cholesky_factor(double* a, int n, int ld) {
  SUPPLE_EXPECT(n >= 0 && ld >= n);
  const DenseFactorReport failed{DenseFactorStatus::not_positive, 0};
  if (n > largest_panel) return cholesky_factor(SingleTeam{}, a, n, ld) == n ? DenseFactorReport{} : failed;
  Panel panel;
  for (int k = 0; k < n; k += W) {
    const int rows = n - k - W;
    if (!factor_diagonal(a + k * ld + k, std::min(W, n - k), ld, panel)) return failed;
    if (rows <= 0) break;
    solve_panel(a + (k + W) * ld + k, rows, ld, panel);
    update_trailing(a + (k + W) * ld + k + W, rows, ld, panel);
  }
  return {};
}

void cholesky_solve(const double* a, int n, int ld, double* x, int count, int ldx) {
  substitute_all(a, n, ld, x, count, ldx, true);
}

void forward_solve(const double* a, int n, int ld, double* x, int count, int ldx) {
  substitute_all(a, n, ld, x, count, ldx, false);
}

}  // namespace supple

#include "solvers/qpcc/scaled_qpcc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/dense/pack.hpp"

namespace supple::qpcc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool all_finite(std::span<const double> values) {
  double sum = 0;  // 0, or NaN
  for (const double value : values) sum += value - value;
  return sum == 0;
}

// value^-1/2, 0 where that is no number.
double inverse_root(double value) {
  return value > 1e-280 && value < 1e280 ? 1 / std::sqrt(value) : 0;
}

bool limits_are_numbers(std::span<const double> low, std::span<const double> high) {
  return std::all_of(low.begin(), low.end(), [](double a) { return a < infinity; }) &&
         std::all_of(high.begin(), high.end(), [](double b) { return b > -infinity; });
}

}  // namespace

std::size_t ScaledQpcc::memory(int n, int m, int k) {
  const int all = n + 3 * m;
  return extent(all + k + 3 * m + 2, all) + extent(3 * m) + extent(2, n) + extent(3, k);
}

void ScaledQpcc::use(Room room, int unknowns, int contacts, int rows) {
  n = unknowns, m = contacts, k = rows, all = n + 3 * m;
  P = room.take(extent(all, all));
  C = room.take(extent(k, all));
  W = room.take(extent(3 * m, all));
  for (double** v : {&g, &column}) *v = room.take(extent(all));
  d = room.take(extent(3 * m));
  for (double** v : {&lower, &upper}) *v = room.take(extent(n));
  for (double** v : {&row_lower, &row_upper, &row_size}) *v = room.take(extent(k));
}

QpStatus ScaledQpcc::load(const QpccProblem& p) {
  facets = p.facets;
  double sum = 0;
  for (int i = 0; i < all; ++i)
    for (int j = 0; j <= i; ++j) {
      const double value = p.P[extent(i, all) + extent(j)];
      sum += value - value;
    }
  if (!(sum == 0) || !all_finite(p.g) || !all_finite(p.C) || !all_finite(p.W) || !all_finite(p.d) ||
      !all_finite(p.angle) || !limits_are_numbers(p.lower, p.upper) || !limits_are_numbers(p.row_lower, p.row_upper))
    return QpStatus::not_finite;
  for (const double mu : p.friction)
    if (!(mu >= 0)) return QpStatus::not_finite;

  const auto low = [&](int i) { return p.lower.empty() ? -infinity : p.lower[extent(i)]; };
  const auto high = [&](int i) { return p.upper.empty() ? infinity : p.upper[extent(i)]; };
  for (int i = 0; i < n; ++i) {
    double scale = inverse_root(p.P[extent(i, all) + extent(i)]);
    const double range = high(i) - low(i);
    if (!(scale > 0)) scale = inverse_root(1 / (range * range));
    // Without contacts a power of two: the program's own scaling then gives the same bits.
    if (m == 0 && scale > 0) scale = std::exp2(std::round(std::log2(scale)));
    column[i] = scale > 0 ? scale : 1;
    lower[i] = low(i) / column[i];
    upper[i] = high(i) / column[i];
  }
  for (int c = 0; c < m; ++c) {
    const double mu = p.friction[extent(c)], angle = p.angle.empty() ? 0 : p.angle[extent(c)];
    pyramid[c] = Pyramid(facets, mu, angle);
    const int used = mu > 0 ? 3 : 1;
    double mean = 0, reach = 0;
    for (int a = 0; a < used; ++a) {
      const double* row = p.W.data() + extent(3 * c + a, all);
      mean += row[n + 3 * c + a] / used;
      for (int i = 0; i < n; ++i) reach = std::max(reach, std::abs(row[i]) * column[i]);
    }
    double scale = inverse_root(mean);
    if (!(scale > 0)) scale = inverse_root(reach * reach);
    for (int a = 0; a < 3; ++a) {
      column[n + 3 * c + a] = scale > 0 ? scale : 1;
      if (a >= used) column[n + 3 * c + a] = 0;
    }
  }
  for (int i = 0; i < all; ++i) {
    for (int j = 0; j <= i; ++j)
      matrix_row(P, i)[j] = matrix_row(P, j)[i] = p.P[extent(i, all) + extent(j)] * column[i] * column[j];
    g[i] = p.g[extent(i)] * column[i];
  }
  for (int r = 0; r < k; ++r) {
    double* row = matrix_row(C, r);
    for (int j = 0; j < all; ++j) row[j] = p.C[extent(r, all) + extent(j)] * column[j];
    row_lower[r] = p.row_lower.empty() ? -infinity : p.row_lower[extent(r)];
    row_upper[r] = p.row_upper.empty() ? infinity : p.row_upper[extent(r)];
  }
  for (int r = 0; r < 3 * m; ++r) {
    double* row = matrix_row(W, r);
    const double scale = column[n + r];
    for (int j = 0; j < all; ++j) row[j] = scale * p.W[extent(r, all) + extent(j)] * column[j];
    d[r] = scale * p.d[extent(r)];
  }
  // Forces in proportion to x: those that would undo the motion of x = 1.
  force_unit = 0;
  for (int r = 0; r < 3 * m; ++r)
    for (int i = 0; i < n; ++i) force_unit = std::max(force_unit, std::abs(matrix_row(W, r)[i]));
  if (force_unit == 0) force_unit = 1;
  for (int r = 0; r < k; ++r) {
    const double* row = matrix_row(C, r);
    row_size[r] = std::hypot(std::sqrt(dot(row, row, n)), force_unit * std::sqrt(dot(row + n, row + n, 3 * m)));
  }
  return QpStatus::solved;
}

void ScaledQpcc::motion(int c, const double* z, double largest_x, double force, double* w, double& size,
                        double& load) const {
  size = load = 0;
  for (int a = 0; a < 3; ++a) {
    const double* row = W + extent(3 * c + a, all);
    double of_x = 0, of_forces = 0;
    for (int j = 0; j < n; ++j) of_x += std::abs(row[j]);
    for (int j = n; j < all; ++j) of_forces += std::abs(row[j]);
    w[a] = dot(row, z, all) + d[3 * c + a];
    const double here = of_x * largest_x + std::abs(d[3 * c + a]);
    load = std::max(load, here);
    size = std::max(size, here + of_forces * force);
  }
}

}  // namespace supple::qpcc

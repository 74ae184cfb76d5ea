#include "solvers/qp/scaled_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple::qp {
namespace {

constexpr double smallest_diagonal = 1e-280;  // below: d would overflow
constexpr double noise = 1e-14;               // of the largest |P_ij|: a diagonal <= 0 that stands for 0
constexpr double infinity = std::numeric_limits<double>::infinity();

bool all_finite(std::span<const double> values) {
  double sum = 0;  // 0, or NaN
  for (const double value : values) sum += value - value;
  return sum == 0;
}

// P_ii <= 0 is an unknown without curvature where its row is zero too, else P is not convex.
bool flat(const QpProblem& problem, int i) {
  const int n = problem.n;
  double largest = 0, here = 0;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c <= r; ++c) {
      const double size = std::abs(problem.P[extent(r, n) + extent(c)]);
      largest = std::max(largest, size);
      if (r == i || c == i) here = std::max(here, size);
    }
  return here <= noise * largest;
}

// d of unknowns without curvature (0 so far): such that they count in a row like the unknowns with curvature; failing
// that by the range of their bounds or, last, by their cost. Any choice that follows the unit of x_i does.
void scale_flat_columns(const QpProblem& problem, ScaledQp& s) {
  for (int k = 0; k < s.m; ++k) {
    const double* row = problem.C.data() + extent(k, s.n);
    double known = 0;
    for (int i = 0; i < s.n; ++i) known = std::max(known, std::abs(row[i]) * std::max(s.column[i], 0.0));
    s.row[k] = known;
  }
  for (int i = 0; i < s.n; ++i) {
    if (s.column[i] > 0) continue;
    double largest = 0;  // of |C_ki| / (what the others make of the row)
    for (int k = 0; k < s.m; ++k)
      if (s.row[k] > 0) largest = std::max(largest, std::abs(problem.C[extent(k, s.n) + extent(i)]) / s.row[k]);
    const double low = s.lower[i], high = s.upper[i];
    const double reach = std::isfinite(high - low) && high > low ? high - low
                                                                 : std::max(std::isfinite(low) ? std::abs(low) : 0,
                                                                            std::isfinite(high) ? std::abs(high) : 0);
    const double cost = std::abs(problem.g[extent(i)]);
    s.column[i] = largest > 0 ? 1 / largest : reach > 0 ? reach : cost > 0 ? 1 / cost : 1;
    if (!(s.column[i] > 0 && std::isfinite(s.column[i]))) s.column[i] = 1;
  }
}

}  // namespace

QpStatus scale_qp(const QpProblem& problem, ScaledQp& s, int& contradiction) {
  const int n = s.n, m = s.m, ld = s.ld;
  if (!all_finite(problem.g) || !all_finite(problem.C) || !all_finite(problem.centre)) return QpStatus::not_finite;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double value = problem.P[extent(i, n) + extent(j)];
      sum += value - value;
    }
  if (!(sum == 0)) return QpStatus::not_finite;

  contradiction = -1;
  const auto take = [&](std::span<const double> low, std::span<const double> high, int offset, int count) {
    for (int k = 0; k < count; ++k) {
      const double a = low.empty() ? -infinity : low[extent(k)], b = high.empty() ? infinity : high[extent(k)];
      if (!(a < infinity) || !(b > -infinity)) return false;
      if (a > b && contradiction < 0) contradiction = offset + k;
      s.lower[offset + k] = a;
      s.upper[offset + k] = b;
    }
    return true;
  };
  if (!take(problem.lower, problem.upper, 0, n) || !take(problem.row_lower, problem.row_upper, n, m))
    return QpStatus::not_finite;

  bool curved = true;
  for (int i = 0; i < n; ++i) {
    const double diagonal = problem.P[extent(i, n) + extent(i)];
    if (diagonal > smallest_diagonal) {
      s.column[i] = 1 / std::sqrt(diagonal);
      continue;
    }
    if (!flat(problem, i)) return QpStatus::not_convex;
    s.column[i] = 0;
    curved = false;
  }
  for (int i = 0; i < n; ++i) {
    double* row = s.P + i * ld;
    std::fill(row + i + 1, row + ld, 0.0);
    for (int j = 0; j < i; ++j)
      row[j] = s.P[j * ld + i] = problem.P[extent(i, n) + extent(j)] * (s.column[i] * s.column[j]);
    row[i] = s.column[i] > 0 ? 1 : 0;
  }
  if (contradiction >= 0) {
    for (int i = 0; i < n; ++i) s.column[i] = s.column[i] > 0 ? s.column[i] : 1;
    std::fill_n(s.row, m, 1.0);
    return QpStatus::infeasible;
  }
  if (!curved) scale_flat_columns(problem, s);

  std::fill(s.g + n, s.g + ld, 0.0);
  std::fill(s.centre, s.centre + ld, 0.0);
  s.largest_g = s.largest_end = 0;
  for (int i = 0; i < n; ++i) {
    const double d = s.column[i], inverse = 1 / d;
    s.g[i] = problem.g[extent(i)] * d;
    if (!problem.centre.empty()) s.centre[i] = problem.centre[extent(i)] * inverse;
    s.lower[i] *= inverse;
    s.upper[i] *= inverse;
    s.largest_g = std::max(s.largest_g, std::abs(s.g[i]));
  }
  for (int k = 0; k < m; ++k) {
    double* row = s.C + k * ld;
    double norm = 0;
    for (int i = 0; i < n; ++i) row[i] = problem.C[extent(k, n) + extent(i)] * s.column[i];
    for (int i = 0; i < n; ++i) norm += row[i] * row[i];
    std::fill(row + n, row + ld, 0.0);
    const double scale = norm > smallest_diagonal ? 1 / std::sqrt(norm) : 1;
    for (int i = 0; i < n; ++i) row[i] *= scale;
    s.row[k] = scale;
    s.lower[n + k] *= scale;
    s.upper[n + k] *= scale;
  }
  for (int k = 0; k < n + m; ++k)
    for (const double end : {s.lower[k], s.upper[k]})
      if (std::isfinite(end)) s.largest_end = std::max(s.largest_end, std::abs(end));
  return QpStatus::solved;
}

}  // namespace supple::qp

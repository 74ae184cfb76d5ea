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

double size_if_finite(double a) {
  return std::isfinite(a) ? std::abs(a) : 0;
}

// d of unknowns without curvature (0 so far): such that they count in a row like the unknowns whose d is known; failing
// that by the reach of their bounds, of their rows, or by their cost. Any choice that follows the unit of x_i does.
void scale_flat_columns(const QpProblem& problem, ScaledQp& s) {
  const auto entry = [&](int k, int i) { return std::abs(problem.C[extent(k, s.n) + extent(i)]); };
  const auto set_where_unknown = [&](auto&& choice) {
    for (int i = 0; i < s.n; ++i) {
      if (s.column[i] > 0) continue;
      const double d = choice(i);
      s.column[i] = d > 0 && std::isfinite(d) ? d : 0;
    }
  };
  const auto by_known_columns = [&] {
    for (int k = 0; k < s.m; ++k) {
      s.row[k] = 0;
      for (int i = 0; i < s.n; ++i) s.row[k] = std::max(s.row[k], entry(k, i) * s.column[i]);
    }
    set_where_unknown([&](int i) {
      double largest = 0;  // of |C_ki| / (what the others make of the row)
      for (int k = 0; k < s.m; ++k)
        if (s.row[k] > 0) largest = std::max(largest, entry(k, i) / s.row[k]);
      return 1 / largest;
    });
  };
  by_known_columns();
  set_where_unknown([&](int i) {
    const double low = s.lower[i], high = s.upper[i], range = high - low;
    return std::isfinite(range) && range > 0 ? range : std::max(size_if_finite(low), size_if_finite(high));
  });
  by_known_columns();
  set_where_unknown([&](int i) {
    double reach = 0;
    for (int k = 0; k < s.m; ++k) {
      const double limit = std::max(size_if_finite(s.lower[s.n + k]), size_if_finite(s.upper[s.n + k]));
      if (entry(k, i) > 0) reach = std::max(reach, limit / entry(k, i));
    }
    return reach;
  });
  set_where_unknown([&](int i) { return 1 / std::abs(problem.g[extent(i)]); });
  set_where_unknown([](int) { return 1.0; });
}

}  // namespace

QpStatus scale_qp(const QpProblem& problem, ScaledQp& s, int& conflict) {
  const int n = s.n, m = s.m, ld = s.ld;
  if (!all_finite(problem.g) || !all_finite(problem.C) || !all_finite(problem.centre)) return QpStatus::not_finite;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double value = problem.P[extent(i, n) + extent(j)];
      sum += value - value;
    }
  if (!(sum == 0)) return QpStatus::not_finite;

  conflict = -1;
  const auto take = [&](std::span<const double> low, std::span<const double> high, int offset, int count) {
    for (int k = 0; k < count; ++k) {
      const double a = low.empty() ? -infinity : low[extent(k)], b = high.empty() ? infinity : high[extent(k)];
      if (!(a < infinity) || !(b > -infinity)) return false;
      if (a > b && conflict < 0) conflict = offset + k;
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
  if (conflict >= 0) {
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

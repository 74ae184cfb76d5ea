#include "solvers/qp/gauss_seidel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/pack.hpp"

namespace supple {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double conflict = 1e-9;  // of a displacement beyond its limit, relative to the terms it is summed from

struct Interval {
  double low, high;
  double clamp(double value) const { return std::min(std::max(value, low), high); }
};

Interval interval(std::span<const double> low, std::span<const double> high, int j) {
  return {low.empty() ? -infinity : low[extent(j)], high.empty() ? infinity : high[extent(j)]};
}

bool finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool usable(const GaussSeidelProblem& p, std::span<const double> lambda) {
  if (!finite(p.W_ea) || !finite(p.delta_free) || !finite(p.W_aa) || !finite(p.displacement_free) || !finite(lambda))
    return false;
  const auto proper = [](const Interval& i) { return i.low <= i.high && i.low < infinity && i.high > -infinity; };
  for (int j = 0; j < p.actuators; ++j)
    if (!proper(interval(p.lower, p.upper, j)) || !proper(interval(p.displacement_lower, p.displacement_upper, j)))
      return false;
  return true;
}

// sum_k w_jk lambda_k + delta_j_free over k != j, the right-hand side of eq. 6; size: of its terms.
double displacement_of_others(const GaussSeidelProblem& p, int j, std::span<const double> lambda, double& size) {
  double sum = p.displacement_free.empty() ? 0 : p.displacement_free[extent(j)];
  size = std::abs(sum);
  for (int k = 0; k < p.actuators; ++k) {
    if (k == j) continue;
    const double term = p.W_aa[extent(j, p.actuators) + extent(k)] * lambda[extent(k)];
    sum += term;
    size += std::abs(term);
  }
  return sum;
}

// lambda_j moved into the interval in which delta_j keeps its limits, then into its own.
double within_limits(const GaussSeidelProblem& p, int j, double value, std::span<const double> lambda) {
  if (!p.W_aa.empty()) {
    const double w = p.W_aa[extent(j, p.actuators) + extent(j)];
    const Interval limits = interval(p.displacement_lower, p.displacement_upper, j);
    double size;
    const double others = displacement_of_others(p, j, lambda, size);
    if (w > 0) value = Interval{(limits.low - others) / w, (limits.high - others) / w}.clamp(value);
  }
  return interval(p.lower, p.upper, j).clamp(value);
}

bool displacements_kept(const GaussSeidelProblem& p, std::span<const double> lambda) {
  if (p.W_aa.empty()) return true;
  for (int j = 0; j < p.actuators; ++j) {
    const Interval limits = interval(p.displacement_lower, p.displacement_upper, j);
    double size;
    const double others = displacement_of_others(p, j, lambda, size);
    const double own = p.W_aa[extent(j, p.actuators) + extent(j)] * lambda[extent(j)], here = own + others;
    if (std::abs(here - limits.clamp(here)) > conflict * (size + std::abs(own))) return false;
  }
  return true;
}

}  // namespace

int gauss_seidel_work(int actuators, int effectors) {
  return actuators * (effectors + 1) + effectors;
}

GaussSeidelReport solve_gauss_seidel(const GaussSeidelProblem& p, std::span<double> lambda, std::span<double> work,
                                     const GaussSeidelSettings& settings) {
  const int n = p.actuators, e = p.effectors;
  SUPPLE_EXPECT(p.W_ea.size() == extent(e, n) && p.delta_free.size() == extent(e) && lambda.size() == extent(n));
  SUPPLE_EXPECT(p.W_aa.empty() || p.W_aa.size() == extent(n, n));
  SUPPLE_EXPECT(work.size() >= extent(gauss_seidel_work(n, e)));
  GaussSeidelReport report{GaussSeidelStatus::not_finite, 0, 0, 0};
  if (!usable(p, lambda)) return report;

  double *columns = work.data(), *squares = columns + n * e, *shift = squares + n;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < e; ++i) columns[j * e + i] = p.W_ea[extent(i, n) + extent(j)];
    squares[j] = dot(columns + j * e, columns + j * e, e);
    lambda[extent(j)] = interval(p.lower, p.upper, j).clamp(lambda[extent(j)]);
  }
  // Summed afresh before every sweep: updates leave no rounding behind.
  const auto sum_shift = [&] {
    std::copy(p.delta_free.begin(), p.delta_free.end(), shift);
    double size = std::sqrt(dot(shift, shift, e));
    for (int j = 0; j < n; ++j) {
      add_scaled(shift, lambda[extent(j)], columns + j * e, e);
      size += std::sqrt(squares[j]) * std::abs(lambda[extent(j)]);
    }
    return size;
  };
  report.status = GaussSeidelStatus::iteration_limit;
  while (report.iterations < settings.max_iterations) {
    ++report.iterations;
    const double size = sum_shift();
    double largest = 0;
    for (int j = 0; j < n; ++j) {
      if (squares[j] == 0) continue;
      double& value = lambda[extent(j)];
      const double* column = columns + j * e;
      const double wish = value - dot(column, shift, e) / squares[j];  // eq. 10
      const double next = within_limits(p, j, wish, lambda), change = next - value;
      value = next;
      add_scaled(shift, change, column, e);  // eq. 8
      largest = std::max(largest, std::sqrt(squares[j]) * std::abs(change));
    }
    report.residual = size > 0 ? largest / size : 0;
    if (report.residual <= settings.tolerance) {
      report.status = GaussSeidelStatus::solved;
      break;
    }
  }
  sum_shift();
  report.shift = std::sqrt(dot(shift, shift, e));
  if (!displacements_kept(p, lambda)) report.status = GaussSeidelStatus::limits_conflict;
  return report;
}

}  // namespace supple

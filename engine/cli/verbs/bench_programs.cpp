#include "engine/cli/verbs/bench_programs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"
#include "solvers/qp/qp_batch.hpp"

namespace supple::cli {

ProgramRate measure_programs(int unknowns, int batch, int threads, int steps, double seconds) {
  constexpr int goals = 3;
  const int n = unknowns;
  std::mt19937_64 generator(7);
  const auto uniform = [&] { return static_cast<double>(generator() >> 11) * 0x1.0p-52 - 1; };
  // W = X X^T / 2n, a compliance of actuators that feel each other; W_ea; P = W_ea^T W_ea + 1e-6 of it on the diagonal.
  std::vector<double> X(extent(n, 2 * n)), W(extent(n, n)), W_ea(extent(goals, n)), P(extent(n, n));
  for (double& x : X) x = uniform();
  for (double& x : W_ea) x = uniform();
  double trace = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const std::size_t at = extent(i, n) + extent(j);
      for (int k = 0; k < 2 * n; ++k)
        W[at] += X[extent(i, 2 * n) + extent(k)] * X[extent(j, 2 * n) + extent(k)] / (2 * n);
      for (int k = 0; k < goals; ++k) P[at] += W_ea[extent(k, n) + extent(i)] * W_ea[extent(k, n) + extent(j)];
      if (i == j) trace += P[at];
    }
  for (int i = 0; i < n; ++i) P[extent(i, n + 1)] += 1e-6 * trace / n;
  const std::vector<double> lower(extent(n), 0.0), upper(extent(n), 1.0), row_lower(extent(n), -0.5),
      row_upper(extent(n), 0.6);
  std::vector<double> g(extent(batch, n)), x(extent(batch, n));
  QpBatch programs(n, n, batch, threads);
  ProgramRate rate;
  static_cast<Rate&>(rate) = measure_steps(batch, 1, steps, seconds, [&](int step, double& wall) {
    for (int b = 0; b < batch; ++b) {
      const double t = 0.02 * step + 0.1 * b;
      const double free[goals] = {0.8 * std::cos(t), 0.8 * std::sin(t), 0.5 * std::sin(2 * t)};
      for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = 0; k < goals; ++k) sum += W_ea[extent(k, n) + extent(i)] * free[k];
        g[extent(b, n) + extent(i)] = sum;
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    const int solved = programs.solve({.P = P,
                                       .g = g,
                                       .lower = lower,
                                       .upper = upper,
                                       .C = W,
                                       .row_lower = row_lower,
                                       .row_upper = row_upper,
                                       .centre = {}},
                                      {.x = x, .bound_multipliers = {}, .row_multipliers = {}});
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    StepReport report;
    report.times.rows = wall;
    for (const QpReport& found : programs.reports())
      rate.residual =
          std::max({rate.residual, found.stationarity, found.primal, found.complementarity, found.dual_sign});
    if (solved != batch) report.status = StepStatus::rows_unsolved;
    return report;
  });
  rate.state_hash = hash_bytes(x.data(), x.size() * sizeof(double));
  return rate;
}

}  // namespace supple::cli

#include "solvers/cubature/cubature.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/contract.hpp"
#include "solvers/cubature/device_scores.hpp"
#include "solvers/cubature/grow.hpp"

namespace supple {
namespace {

constexpr int inverse_renewed_every = 32;  // removals between two fresh H^-1, against accumulated rounding

Cubature as_cubature(const PassiveSet& passive, const CubatureSettings& settings, CubatureStatus status,
                     std::vector<CubatureStep> history) {
  std::vector<int> order(passive.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return passive.columns()[a] < passive.columns()[b]; });
  Cubature result;
  result.relative_residual = passive.relative_residual();
  const bool reached = result.relative_residual <= std::max(settings.tolerance, residual_floor);
  result.status = reached && status != CubatureStatus::interrupted ? CubatureStatus::converged : status;
  for (int k : order) {
    result.columns.push_back(passive.columns()[k]);
    result.weights.push_back(passive.weights()[k]);
  }
  result.history = std::move(history);
  return result;
}

// H^-1 without row and column p: the rest minus h_p h_p^T / h_pp.
std::vector<double> without(const std::vector<double>& inverse, int n, int p) {
  std::vector<double> smaller;
  smaller.reserve(inverse.size());
  const double* hp = inverse.data() + static_cast<std::size_t>(p) * n;
  for (int i = 0; i < n; ++i) {
    if (i == p) continue;
    const double* hi = inverse.data() + static_cast<std::size_t>(i) * n;
    for (int j = 0; j < n; ++j)
      if (j != p) smaller.push_back(hi[j] - hp[i] * hp[j] / hp[p]);
  }
  return smaller;
}

// Removes columns while the tolerance holds. False if interrupted.
bool prune(PassiveSet& passive, double tolerance, const CubatureProgress& progress) {
  const double limit = std::max(tolerance, residual_floor);
  std::vector<double> inverse;
  for (int removed = 0; passive.size() > 1; ++removed) {
    const int n = passive.size();
    if (removed % inverse_renewed_every == 0) inverse = passive.inverse_gram();
    // Without column p the squared residual grows by w_p^2 / (H^-1)_pp, or more if a weight would turn negative.
    int cheapest = 0;
    double cost = HUGE_VAL;
    for (int p = 0; p < n; ++p) {
      const double w = passive.weights()[p], here = w * w / inverse[static_cast<std::size_t>(p) * n + p];
      if (here < cost) cost = here, cheapest = p;
    }
    PassiveSet trial = passive;
    (void)trial.remove(cheapest);
    const std::vector<Removal> more = trial.refit();
    if (!(trial.relative_residual() <= limit)) return true;
    inverse = without(inverse, n, cheapest);
    for (std::size_t k = 0; k < more.size(); ++k)
      inverse = without(inverse, n - 1 - static_cast<int>(k), more[k].position);
    passive = std::move(trial);
    if (progress && !progress(passive.size(), passive.relative_residual())) return false;
  }
  return true;
}

// From a set that was fitted; met: it has the tolerance.
template <class Score>
Cubature prune_and_regrow(PassiveSet& passive, Score score, bool met, int columns, const CubatureSettings& settings,
                          const CubatureProgress& progress) {
  std::vector<CubatureStep> history;
  if (!met) {
    score.rebuild(passive);
    const CubatureStatus status =
        grow(passive, score, {settings.tolerance, settings.max_columns}, columns, history, progress);
    if (status != CubatureStatus::converged) return as_cubature(passive, settings, status, std::move(history));
  }
  if (!prune(passive, settings.tolerance, progress))
    return as_cubature(passive, settings, CubatureStatus::interrupted, std::move(history));
  for (int round = 0; round < settings.regrow_rounds; ++round) {
    PassiveSet trial = passive;
    score.rebuild(trial);
    const int larger = trial.size() + std::max(4, trial.size() / 5);
    std::vector<CubatureStep> ignored;
    const CubatureStatus status = grow(trial, score, {0, larger}, columns, ignored, progress);
    if (status == CubatureStatus::interrupted || !prune(trial, settings.tolerance, progress))
      return as_cubature(passive, settings, CubatureStatus::interrupted, std::move(history));
    if (trial.size() >= passive.size()) break;
    passive = std::move(trial);
  }
  return as_cubature(passive, settings, CubatureStatus::converged, std::move(history));
}

template <class Score, class DeviceScore>
Cubature select(std::span<const double> G, int rows, int columns, const CubatureSettings& settings,
                const CubatureProgress& progress, std::span<const double> y) {
  SUPPLE_EXPECT(G.size() == static_cast<std::size_t>(rows) * columns);
  SUPPLE_EXPECT(y.empty() || static_cast<int>(y.size()) == rows);
  const ColumnMatrix matrix{G.data(), rows, columns};
  std::vector<double> sum;
  if (y.empty()) {
    sum = column_sum(G, rows, columns);
    y = sum;
  }
  PassiveSet passive(matrix, y.data());
  std::vector<CubatureStep> history;
  const GrowLimits limits{settings.tolerance * settings.selection_fraction, settings.max_columns};
  const auto grown = [&](auto score) { return grow(passive, score, limits, columns, history, progress); };
  const CubatureStatus status =
      settings.columns ? grown(DeviceScore(settings.columns, matrix, y.data())) : grown(Score(matrix, y.data()));
  Cubature selected = as_cubature(passive, settings, status, std::move(history));
  if (!settings.prune || selected.status != CubatureStatus::converged) return selected;
  Cubature pruned = prune_and_regrow(G, rows, columns, y, selected, settings, progress);
  pruned.history = std::move(selected.history);
  return pruned;
}

}  // namespace

Cubature select_lawson_hanson(std::span<const double> G, int rows, int columns, const CubatureSettings& settings,
                              const CubatureProgress& progress, std::span<const double> y) {
  return select<GradientScore, DeviceGradientScore>(G, rows, columns, settings, progress, y);
}

Cubature select_nn_ols(std::span<const double> G, int rows, int columns, const CubatureSettings& settings,
                       const CubatureProgress& progress, std::span<const double> y) {
  return select<OrthogonalScore, DeviceOrthogonalScore>(G, rows, columns, settings, progress, y);
}

Cubature prune_and_regrow(std::span<const double> G, int rows, int columns, std::span<const double> y,
                          const Cubature& start, const CubatureSettings& settings, const CubatureProgress& progress) {
  SUPPLE_EXPECT(G.size() == static_cast<std::size_t>(rows) * columns && static_cast<int>(y.size()) == rows);
  const ColumnMatrix matrix{G.data(), rows, columns};
  PassiveSet passive(matrix, y.data());
  passive.append_all(start.columns, start.weights);
  (void)passive.refit();
  const bool met = passive.relative_residual() <= std::max(settings.tolerance, residual_floor);
  if (met && settings.regrow_rounds <= 0) {
    const bool done = prune(passive, settings.tolerance, progress);
    return as_cubature(passive, settings, done ? CubatureStatus::converged : CubatureStatus::interrupted, {});
  }
  return settings.columns
             ? prune_and_regrow(passive, DeviceOrthogonalScore(settings.columns, matrix, y.data()), met, columns,
                                settings, progress)
             : prune_and_regrow(passive, OrthogonalScore(matrix, y.data()), met, columns, settings, progress);
}

Cubature refit_weights(std::span<const double> G, int rows, int columns, std::span<const double> y,
                       std::span<const double> start) {
  SUPPLE_EXPECT(G.size() == static_cast<std::size_t>(rows) * columns && static_cast<int>(y.size()) == rows &&
                static_cast<int>(start.size()) == columns);
  const ColumnMatrix matrix{G.data(), rows, columns};
  PassiveSet passive(matrix, y.data());
  std::vector<int> all(static_cast<std::size_t>(columns));
  std::iota(all.begin(), all.end(), 0);
  passive.append_all(all, start);
  (void)passive.refit();
  return as_cubature(passive, {}, CubatureStatus::converged, {});
}

std::shared_ptr<DeviceColumns> device_columns(const DeviceRoom& room, std::span<const double> G, int rows, int columns,
                                              DeviceSelections selections) {
  SUPPLE_EXPECT(G.size() == static_cast<std::size_t>(rows) * columns);
  const ColumnMatrix matrix{G.data(), rows, columns};
  return selections == DeviceSelections::all ? DeviceOrthogonalScore::columns(room, matrix)
                                             : DeviceGradientScore::columns(room, matrix);
}

}  // namespace supple

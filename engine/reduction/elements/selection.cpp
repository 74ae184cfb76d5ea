#include "engine/reduction/elements/selection.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "engine/reduction/elements/device_training.hpp"
#include "engine/reduction/elements/training.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/tiles.hpp"
#include "solvers/cubature/cubature.hpp"
#include "solvers/cubature/sketch_rows.hpp"

namespace supple {

namespace {

constexpr double block_bytes = 5e8;
constexpr int most_candidates = 100000;
// The first set is chosen to this fraction of the smallest tolerance: pruning from a tight set finds better domains.
constexpr double tight_fraction = 0.75, tight_fraction_force = 0.5;

constexpr int attempts = 6;      // at a domain that keeps its tolerance on all rows
constexpr double missed = 0.02;  // share of the tolerance above which a miss is told

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double length(const std::vector<double>& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return std::sqrt(sum);
}

// The `count` elements of largest weight, as a choice among the candidates.
Cubature heaviest(const IntegrationDomain& domain, int count, const std::vector<int>& candidates) {
  std::vector<std::size_t> order(domain.elements.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return domain.xi[a] > domain.xi[b]; });
  order.resize(static_cast<std::size_t>(count));
  std::sort(order.begin(), order.end());
  Cubature chosen;
  for (const std::size_t k : order) {
    const auto at = std::lower_bound(candidates.begin(), candidates.end(), domain.elements[k]);
    chosen.columns.push_back(static_cast<int>(at - candidates.begin()));
    chosen.weights.push_back(domain.xi[k]);
  }
  return chosen;
}

// Element forces of states [first, first + count), in the metric.
TrainingMatrix weighted_matrix(const ReducedModel& model, int field, const TrainingStates& training, int first,
                               int count) {
  const int r = model.modes, n = model.modes + model.motions();
  std::span<const double> parameters = training.parameters;
  if (!parameters.empty()) {
    const std::size_t given = model.robot.parameters.size();
    parameters = parameters.subspan(extent(first) * given, extent(count) * given);
  }
  TrainingMatrix matrix = training_matrix(
      model, field, std::span(training.states).subspan(extent(first, n), extent(count, n)), count, parameters);
  if (training.metric.empty()) return matrix;
  using Row = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Strided = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
#pragma omp parallel for schedule(static)
  for (int s = 0; s < count; ++s) {
    const Eigen::Map<const Row> T(training.metric.data() + extent(first + s, r, r), r, r);
    Strided rows(matrix.G.data() + extent(s, r), r, matrix.columns, Eigen::OuterStride<>(matrix.rows));
    constexpr int chunk = 256;
    Eigen::MatrixXd product(r, chunk);
    for (int c = 0; c < matrix.columns; c += chunk) {
      const int width = std::min(chunk, matrix.columns - c);
      product.leftCols(width).noalias() = T * rows.middleCols(c, width);
      rows.middleCols(c, width) = product.leftCols(width);
    }
  }
  return matrix;
}

void sketch_here(const ReducedModel& all, int field, const TrainingStates& training, RowSketch& sketch,
                 std::vector<double>& target, const Progress& progress, const std::function<void()>& check_stop) {
  const int r = all.modes, elements = all.fields[static_cast<std::size_t>(field)].units();
  const int block = std::max(1, static_cast<int>(block_bytes / 8 / r / elements));
  for (int first = 0; first < training.count; first += block) {
    progress("element forces", first, training.count);
    const int count = std::min(block, training.count - first);
    const TrainingMatrix matrix = weighted_matrix(all, field, training, first, count);
    const std::vector<double> sum = column_sum(matrix.G, matrix.rows, elements);
    target.insert(target.end(), sum.begin(), sum.end());
    sketch.add(matrix.G, first * r, matrix.rows);
    check_stop();
  }
}

// With products of columns on the device, if there is one.
CubatureSettings cubature_settings(const SelectionSettings& settings, const std::vector<double>& R, int rows,
                                   int columns) {
  CubatureSettings cubature{.prune = false};
  if (!settings.device) return cubature;
  const bool gradients_alone = settings.elements > 0 ? settings.rule != SelectionRule::displacement
                                                     : settings.rule == SelectionRule::lawson_hanson;
  cubature.columns = device_columns(*settings.device, R, rows, columns,
                                    gradients_alone ? DeviceSelections::lawson_hanson : DeviceSelections::all);
  return cubature;
}

// One domain of exactly so many units. choose(n): at most n; fit: weights on all rows. More are chosen for those whose
// weight on all rows is zero; of too many the lightest go.
template <class Choose, class Fit>
IntegrationDomain so_many_units(int units, const std::vector<int>& candidates, const Choose& choose, const Fit& fit) {
  IntegrationDomain domain;
  for (int wanted = units, attempt = 0; attempt < attempts; ++attempt) {
    domain = fit(choose(wanted), 0);
    const int missing = units - static_cast<int>(domain.elements.size());
    if (missing < 0) domain = fit(heaviest(domain, units, candidates), 0);
    if (missing <= 0) break;
    wanted += missing;
  }
  domain.tolerance = domain.residual;
  return domain;
}

}  // namespace

std::vector<int> candidate_units(int units, int most, DomainUnit unit) {
  std::vector<int> candidates;
  const int kept = std::min(units, most);
  for (int k = 0; k < kept; ++k) {
    const auto begin = static_cast<long>(k) * units / kept, end = (static_cast<long>(k) + 1) * units / kept;
    // A stride of 8 would see one point of every hexahedron: anywhere in its share.
    const double golden = 0.6180339887498949 * k;
    const long into = unit == DomainUnit::point
                          ? static_cast<long>((golden - std::floor(golden)) * static_cast<double>(end - begin))
                          : 0;
    candidates.push_back(static_cast<int>(begin + into));
  }
  return candidates;
}

SelectedDomains select_domains(const ReducedModel& all, int field, const TrainingStates& training,
                               const SelectionSettings& settings, const Progress& progress,
                               const std::function<void()>& check_stop) {
  const auto f = static_cast<std::size_t>(field);
  const int r = all.modes, elements = all.fields[f].units(), rows = training.count * r;
  const bool displacement = settings.rule == SelectionRule::displacement;
  SUPPLE_EXPECT((settings.elements > 0 || !settings.tolerances.empty()) && displacement == !training.metric.empty());
  SelectedDomains result;

  double mark = now();
  const std::vector<int> candidates = candidate_units(elements, most_candidates, all.fields[f].unit);
  const int kept = static_cast<int>(candidates.size());
  RowSketch sketch(rows, elements, settings.sketch_rows, 1, candidates);
  RowSketch target_sketch(rows, 1, settings.sketch_rows);  // the same rows go to the same places
  std::vector<double> target;
  const int points = all.fields[f].points_per_element;
  const bool on_device = settings.device && tile_size % points == 0 && training.parameters.empty();
  if (settings.device && !training.parameters.empty())
    result.notes.push_back(
        fmt::format("{}: forces of states of different parameters are found on the CPU", all.fields[f].name));
  else if (settings.device && !on_device)
    result.notes.push_back(
        fmt::format("{}: forces of elements of {} points are found on the CPU (unit = \"point\" in "
                    "[reduce] finds them on the device)",
                    all.fields[f].name, points));
  if (on_device)
    sketch_on_device(all, field, training, *settings.device, sketch, target, progress, check_stop);
  else
    sketch_here(all, field, training, sketch, target, progress, check_stop);
  target_sketch.add(target, 0, rows);
  result.training_seconds = now() - mark;

  mark = now();
  // The solvers' tolerances are relative to the target's length; a displacement is relative already.
  const double size = length(target),
               unit = displacement && size > 0 ? std::sqrt(static_cast<double>(training.count)) / size : 1;
  std::string what = "selection";
  const char* const units = all.fields[f].unit == DomainUnit::point ? "points" : "elements";
  const auto watch = [&](int columns, double residual) {
    progress(what, 0, 1, fmt::format("{} {}, residual {:.3g}", columns, units, residual / unit));
    return !progress.stopped();
  };
  const std::vector<double>& R = sketch.matrix();
  const std::vector<double>& sketched = target_sketch.matrix();
  // Weights and residual of a choice from all rows.
  const auto fit = [&](const Cubature& chosen, double tolerance) {
    std::vector<IntegrationDomain> only(all.fields.size());
    for (const int k : chosen.columns) only[f].elements.push_back(candidates[static_cast<std::size_t>(k)]);
    only[f].xi.assign(chosen.columns.size(), 1.0);
    const TrainingMatrix matrix = weighted_matrix(restrict_to(all, only), field, training, 0, training.count);
    const Cubature fitted = refit_weights(matrix.G, matrix.rows, matrix.columns, target, std::span(chosen.weights));
    IntegrationDomain domain{{}, fitted.weights, tolerance, fitted.relative_residual / unit};
    for (const int k : fitted.columns) domain.elements.push_back(only[f].elements[static_cast<std::size_t>(k)]);
    return domain;
  };
  CubatureSettings cubature = cubature_settings(settings, R, sketch.rows(), kept);
  Cubature start;
  const auto select = [&] {
    Cubature chosen = displacement ? select_nn_ols(R, sketch.rows(), kept, cubature, watch, sketched)
                                   : select_lawson_hanson(R, sketch.rows(), kept, cubature, watch, sketched);
    check_stop();
    return chosen;
  };
  if (settings.elements > 0) {
    const auto at_most = [&](int count) {
      cubature.tolerance = 0;
      cubature.max_columns = count;
      return select();
    };
    IntegrationDomain domain = so_many_units(settings.elements, candidates, at_most, fit);
    if (static_cast<int>(domain.elements.size()) != settings.elements)
      result.notes.push_back(fmt::format("{}: {} {} instead of {}, the others would have no weight", all.fields[f].name,
                                         domain.elements.size(), units, settings.elements));
    result.domains.push_back(std::move(domain));
    result.selection_seconds = now() - mark;
    return result;
  }
  if (settings.rule != SelectionRule::lawson_hanson) {
    cubature.tolerance = settings.tolerances.front() * unit * (displacement ? tight_fraction : tight_fraction_force);
    start = select();
  }
  // One round: domains follow each other, each is pruned from the one before.
  if (displacement) cubature.regrow_rounds = 1;
  for (const double tolerance : settings.tolerances) {
    what = fmt::format("selection for {:.3g}", tolerance);
    cubature.tolerance = tolerance * unit;
    IntegrationDomain domain;
    // The sketch sees a residual a little smaller than all rows do: aim lower where the tolerance was missed.
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const Cubature chosen = settings.rule == SelectionRule::lawson_hanson
                                  ? select_lawson_hanson(R, sketch.rows(), kept, cubature, watch, sketched)
                                  : prune_and_regrow(R, sketch.rows(), kept, sketched, start, cubature, watch);
      check_stop();
      domain = fit(chosen, tolerance);
      if (domain.residual <= tolerance || chosen.status != CubatureStatus::converged || attempt + 1 == attempts) {
        if (displacement) start = chosen;
        break;
      }
      cubature.tolerance *= 0.99 * tolerance / domain.residual;
    }
    if (domain.residual > tolerance * (1 + missed))
      result.notes.push_back(fmt::format("{}: tolerance {:.3g} was not reached (residual {:.3g})", all.fields[f].name,
                                         tolerance, domain.residual));
    result.domains.push_back(std::move(domain));
  }
  result.selection_seconds = now() - mark;
  return result;
}

}  // namespace supple

#include "engine/calibration/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/calibration/loaded_scene.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/model/effectors.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Relative residual of equilibria at the start, and where a step changes parameters by a share of their size: `search` of
// its square. What is left then moves a slender body by less than the step gains.
constexpr double exact = 1e-9, coarse = 1e-7, search = 1e-4;

// A parameter's value, or a tenth of its bounds' distance where that is more: it may be 0.
double size_of(double value, const Interval& bound) {
  return std::max(std::abs(value), 0.1 * (bound.upper - bound.lower));
}

// Upwards, or downwards at the upper bound; near a bound, where things may change quickly, a tenth of the way there.
double difference_step(double value, const Interval& bound, double share) {
  const double up = bound.upper - value, down = value - bound.lower, nearer = std::min(up, down);
  double step = share * size_of(value, bound);
  step = std::min(step, 0.01 * std::max(up, down));
  if (nearer > 0) step = std::min(step, std::max(0.1 * nearer, 0.1 * share * size_of(value, bound)));
  return up >= step ? step : -step;
}

// Residuals over noise, measured minus predicted in the scene's axes, one for each measured value.
class Residuals {
 public:
  Residuals(const Measurements& measurements, const CalibrationSettings& settings) : measurements_(measurements) {
    const std::size_t columns = measurements.columns.size();
    for (std::size_t load = 0; load < measurements.loads.size(); ++load) {
      int last = -1;
      for (int place = 0; place < measurements.places; ++place)
        for (std::size_t c = 0; c < columns; ++c) {
          if (measurements.columns[c].place != place || std::isnan(measurements.value(load, c))) continue;
          if (last != place) place_of_group.push_back(load * extent(measurements.places) + extent(place));
          last = place;
          group.push_back(static_cast<int>(place_of_group.size()) - 1);
          entry_.push_back(load * columns + c);
        }
    }
    for (const MeasuredColumn& column : measurements.columns) {
      const double noise = settings.noise[static_cast<std::size_t>(column.dimension)];
      noise_.push_back(noise > 0 ? noise : display_scale(column.dimension));
    }
  }

  Eigen::Index size() const { return static_cast<Eigen::Index>(group.size()); }

  void evaluate(const std::vector<double>& predicted, const Registration& registration, Eigen::VectorXd& r) const {
    const std::vector<double> measured = in_scene(registration);
    r.resize(size());
    for (std::size_t i = 0; i < entry_.size(); ++i)
      r[static_cast<Eigen::Index>(i)] =
          (measured[entry_[i]] - predicted[entry_[i]]) / noise_[entry_[i] % noise_.size()];
  }
  // A slope of predicted values as the residuals see it.
  void differentiate(const std::vector<double>& slope, Eigen::Ref<Eigen::VectorXd> column) const {
    for (std::size_t i = 0; i < entry_.size(); ++i)
      column[static_cast<Eigen::Index>(i)] = -slope[entry_[i]] / noise_[entry_[i] % noise_.size()];
  }
  // Predicted values [loads][columns] in the axes of the measurement.
  std::vector<double> as_measured(const std::vector<double>& predicted, const Registration& registration) const {
    const Mat3d back = transpose(rotation_of_vector(registration.turn));
    return mapped(predicted, [&](const Vec3d& x) { return back * (x - registration.shift); });
  }

  std::vector<int> group;                   // of each residual
  std::vector<std::size_t> place_of_group;  // load * places + place

 private:
  std::vector<double> in_scene(const Registration& registration) const {
    const Mat3d R = rotation_of_vector(registration.turn);
    return mapped(measurements_.values, [&](const Vec3d& x) { return R * x + registration.shift; });
  }
  // Places with all three coordinates; others stay as they are, which the alignment of the settings excludes.
  template <class Map>
  std::vector<double> mapped(const std::vector<double>& values, const Map& map) const {
    std::vector<double> result = values;
    const auto& columns = measurements_.columns;
    for (std::size_t load = 0; load < measurements_.loads.size(); ++load)
      for (int place = 0; place < measurements_.places; ++place) {
        std::array<std::size_t, 3> at{};
        int axes = 0;
        for (std::size_t c = 0; c < columns.size(); ++c)
          if (columns[c].place == place && columns[c].kind == MeasuredColumn::Kind::coordinate) {
            at[extent(columns[c].index % 3)] = load * columns.size() + c;
            ++axes;
          }
        if (axes != 3) continue;
        const Vec3d x = map(Vec3d{{values[at[0]], values[at[1]], values[at[2]]}});
        for (int k = 0; k < 3; ++k) result[at[extent(k)]] = x[k];
      }
    return result;
  }

  const Measurements& measurements_;
  std::vector<std::size_t> entry_;  // of each residual among the values
  std::vector<double> noise_;       // [columns]
};

void check_alignment(const Measurements& measurements) {
  for (int place = 0; place < measurements.places; ++place) {
    long axes = 0;
    bool coordinates = true;
    for (const MeasuredColumn& column : measurements.columns)
      if (column.place == place) ++axes, coordinates = coordinates && column.kind == MeasuredColumn::Kind::coordinate;
    const auto first = std::ranges::find(measurements.columns, place, &MeasuredColumn::place);
    if (coordinates && axes != 3)
      throw InputError(fmt::format("'{}' has {} of three coordinates, which cannot be turned", first->name, axes),
                       "--align none, or all three columns");
    for (std::size_t load = 0; load < measurements.loads.size() && coordinates; ++load) {
      long measured = 0;
      for (std::size_t c = 0; c < measurements.columns.size(); ++c)
        if (measurements.columns[c].place == place && !std::isnan(measurements.value(load, c))) ++measured;
      if (measured != 0 && measured != 3)
        throw InputError(
            fmt::format("load {}: '{}' has {} of three coordinates", measurements.loads[load], first->name, measured),
            "all three or none of them");
    }
  }
}

void check_bounds(const SceneNumbers& scene, const std::vector<Interval>& bounds) {
  std::vector<double> values;
  for (const SceneNumber& number : scene.numbers()) values.push_back(number.value);
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    const SceneNumber& number = scene.numbers()[k];
    if (!(bounds[k].lower < bounds[k].upper) || number.value < bounds[k].lower || number.value > bounds[k].upper)
      throw InputError(fmt::format("'{}' is {:g} {} in the scene, not between its bounds {:g} and {:g}", number.keys,
                                   number.value, number.unit, bounds[k].lower, bounds[k].upper),
                       "bounds around the value of the scene, from which the search starts", number.place);
    for (const double bound : {bounds[k].lower, bounds[k].upper}) {
      std::vector<double> trial = values;
      trial[k] = bound;
      try {
        (void)build_full_model(scene.scene(trial));
      } catch (const InputError& error) {
        throw InputError(fmt::format("the bound {:g} {} of '{}' is no value for it: {}", bound, number.unit,
                                     number.keys, error.what()),
                         "narrower bounds");
      }
    }
  }
}

}  // namespace

Calibration calibrate(const SceneNumbers& scene, const std::vector<Interval>& bounds, const Measurements& measurements,
                      const CalibrationSettings& settings) {
  check_bounds(scene, bounds);
  if (settings.alignment != Alignment::none) check_alignment(measurements);
  const auto p = static_cast<Eigen::Index>(bounds.size());
  const Eigen::Index turns = settings.alignment == Alignment::rigid ? 3 : 0,
                     shifts = settings.alignment == Alignment::none ? 0 : 3, all = p + turns + shifts;
  const Residuals residuals(measurements, settings);
  if (residuals.size() <= all)
    throw InputError(fmt::format("{} numbers are to be found from {} measured values", all, residuals.size()),
                     "more loads, or fewer parameters");
  LoadedScene loaded(measurements, settings.progress);

  const auto values_of = [&](const Eigen::VectorXd& z) { return std::vector<double>(z.data(), z.data() + p); };
  const auto registration_of = [&](const Eigen::VectorXd& z) {
    Registration registration;
    for (int k = 0; k < shifts; ++k) registration.shift[k] = z[p + turns + k];
    for (int k = 0; k < turns; ++k) registration.turn[k] = z[p + k];
    return registration;
  };
  const auto model_of = [&](const Eigen::VectorXd& z) { return build_full_model(scene.scene(values_of(z))); };

  Calibration result;
  int unknowns = 0;
  std::optional<Equilibria> accepted, latest;  // at the last accepted z; at the last z
  Eigen::VectorXd accepted_z;
  int iteration = 0;
  const auto so_far = [&] {
    std::vector<std::string> words;
    for (Eigen::Index k = 0; k < p; ++k) {
      const SceneNumber& number = scene.numbers()[static_cast<std::size_t>(k)];
      words.push_back(fmt::format("{} = {:.6g} {}", number.keys, accepted_z[k], number.unit));
    }
    return fmt::format("{}", fmt::join(words, ", "));
  };
  FitProblem problem;
  problem.group = residuals.group;
  problem.start = problem.lower = problem.upper = Eigen::VectorXd::Zero(all);
  problem.size = Eigen::VectorXd::Ones(all);  // rad; a metre is of the size of a robot
  for (Eigen::Index k = 0; k < p; ++k) {
    problem.start[k] = scene.numbers()[static_cast<std::size_t>(k)].value;
    problem.lower[k] = bounds[static_cast<std::size_t>(k)].lower;
    problem.upper[k] = bounds[static_cast<std::size_t>(k)].upper;
    problem.size[k] = size_of(problem.start[k], bounds[static_cast<std::size_t>(k)]);
  }
  problem.lower.tail(turns + shifts).setConstant(-std::numeric_limits<double>::infinity());
  problem.upper.tail(turns + shifts).setConstant(std::numeric_limits<double>::infinity());
  const auto step_of = [&](const Eigen::VectorXd& z, Eigen::Index k, const Robot& robot) {
    return difference_step(z[k], bounds[static_cast<std::size_t>(k)], relative_step(robot));
  };
  const auto neighbour_of = [&](const Eigen::VectorXd& z, Eigen::Index k, double step) {
    Eigen::VectorXd changed = z;
    changed[k] += step;
    return Neighbour{model_of(changed), changed[k] - z[k]};
  };
  const auto neighbours_of = [&](const Eigen::VectorXd& z, const Robot& robot) {
    std::vector<Neighbour> neighbours;
    for (Eigen::Index k = 0; k < p; ++k) neighbours.push_back(neighbour_of(z, k, step_of(z, k, robot)));
    return neighbours;
  };
  const auto check_unknowns = [&](const FullModel& model, const std::vector<Neighbour>& neighbours) {
    const auto same = [&](const FullModel& of) { return of.coordinates.nv == unknowns; };
    if (!same(model) || !std::ranges::all_of(neighbours, same, &Neighbour::model))
      throw InputError("a parameter changes the number of unknowns", "parameters that leave the mesh as it is");
  };
  problem.residuals = [&](const Eigen::VectorXd& z, Eigen::VectorXd& r) {
    if (z.head(p) == accepted_z.head(p)) {
      latest = accepted;
    } else {
      std::optional<FullModel> model;
      std::vector<Neighbour> neighbours;
      try {
        model = model_of(z);
        neighbours = neighbours_of(z, model->robot);
      } catch (const InputError&) {
        return false;  // values that go alone, but not together
      }
      check_unknowns(*model, neighbours);
      LoadedScene::Start start{&*accepted, {}};
      double share = 0;
      for (Eigen::Index k = 0; k < p; ++k) {
        start.changes.push_back(z[k] - accepted_z[k]);
        share = std::max(share, std::abs(z[k] - accepted_z[k]) / problem.size[k]);
      }
      latest =
          loaded.solve(*model, neighbours, start,
                       compares_equilibria(model->robot) ? exact : std::clamp(search * share * share, exact, coarse),
                       fmt::format("iteration {}", iteration + 1));
      if (!latest) return false;
    }
    residuals.evaluate(latest->shown, registration_of(z), r);
    return true;
  };
  problem.accepted = [&](const Eigen::VectorXd& z, const Eigen::VectorXd&, int number) {
    accepted = latest;
    accepted_z = z;
    iteration = number;
    if (result.start.empty()) result.start = residuals.as_measured(accepted->shown, {});
  };
  // Of a parameter beside which not all loads had an equilibrium: on the other side of its value.
  const auto slope_elsewhere = [&](const Eigen::VectorXd& z, Eigen::Index k) {
    const Interval& bound = bounds[static_cast<std::size_t>(k)];
    const FullModel model = model_of(z);
    const double step = -step_of(z, k, model.robot);
    if (z[k] + step >= bound.lower && z[k] + step <= bound.upper) {
      std::vector<Neighbour> other;
      other.push_back(neighbour_of(z, k, step));
      const std::string stage =
          fmt::format("iteration {}, change of {}", iteration + 1, scene.numbers()[static_cast<std::size_t>(k)].keys);
      const std::optional<Equilibria> there = loaded.solve(model, other, {&*accepted, {}}, exact, stage);
      if (there && !there->slopes.front().shown.empty()) return there->slopes.front();
    }
    throw RunError(fmt::format("no equilibrium beside one that was found, with {} changed a little ({})",
                               scene.numbers()[static_cast<std::size_t>(k)].keys, loaded.failure()),
                   "loads further from where the robot snaps; begin there: " + so_far());
  };
  problem.jacobian = [&](const Eigen::VectorXd& z, const Eigen::VectorXd&, Eigen::MatrixXd& J) {
    for (Eigen::Index k = 0; k < p; ++k) {
      Slope& slope = accepted->slopes[static_cast<std::size_t>(k)];
      if (slope.shown.empty()) slope = slope_elsewhere(z, k);
      residuals.differentiate(slope.shown, J.col(k));
    }
    // Central differences of what costs nothing.
    constexpr double small = 1e-6;  // rad, m
    Eigen::VectorXd up, down;
    for (Eigen::Index k = p; k < all; ++k) {
      Eigen::VectorXd beside = z;
      beside[k] = z[k] + small;
      residuals.evaluate(accepted->shown, registration_of(beside), up);
      beside[k] = z[k] - small;
      residuals.evaluate(accepted->shown, registration_of(beside), down);
      J.col(k) = (up - down) / (2 * small);
    }
  };

  // Looked for before the search, so that its failure names the load.
  {
    const FullModel model = model_of(problem.start);
    unknowns = model.coordinates.nv;
    const std::vector<Neighbour> neighbours = neighbours_of(problem.start, model.robot);
    check_unknowns(model, neighbours);
    accepted = loaded.solve(model, neighbours, {}, exact, "equilibria at the start");
    if (!accepted)
      throw RunError(fmt::format("no equilibrium with the scene's own values ({})", loaded.failure()),
                     "values in the scene that are nearer to the robot's, or smaller loads");
    accepted_z = problem.start;
  }
  FitResult found;
  try {
    found = fit(problem, {.loss = settings.loss, .max_iterations = all > 0 ? settings.max_iterations : 0});
  } catch (const Interrupted&) {
    throw Interrupted(fmt::format("interrupted in iteration {}", iteration + 1),
                      "begin there to continue: " + so_far());
  }

  result.values = values_of(found.z);
  result.registration = registration_of(found.z);
  result.covariance = found.covariance;
  for (Eigen::Index k = 0; k < p; ++k) {
    result.standard_error.push_back(std::sqrt(found.covariance(k, k)));
    result.at_bound.push_back(found.at_bound[static_cast<std::size_t>(k)]);
  }
  if (found.singular.size() > 0)
    result.condition = found.singular[0] / std::max(found.singular[found.singular.size() - 1], 1e-300);
  result.spread = found.spread;
  result.iterations = found.iterations;
  result.equilibria = loaded.count();
  result.converged = found.converged || all == 0;
  if (!result.converged) result.stopped = found.stopped;
  result.predicted = residuals.as_measured(accepted->shown, result.registration);
  const std::size_t places = measurements.loads.size() * extent(measurements.places);
  result.size.assign(places, std::numeric_limits<double>::quiet_NaN());
  result.weight.assign(places, 0);
  result.components.assign(places, 0);
  for (std::size_t g = 0; g < residuals.place_of_group.size(); ++g) {
    result.size[residuals.place_of_group[g]] = found.size[g];
    result.weight[residuals.place_of_group[g]] = found.weight[g];
  }
  for (const int g : residuals.group) ++result.components[residuals.place_of_group[extent(g)]];
  return result;
}

double distance_rms(const Measurements& measurements, const std::vector<double>& predicted, int load, int place) {
  double sum = 0;
  int count = 0;
  const std::size_t columns = measurements.columns.size();
  for (std::size_t l = 0; l < measurements.loads.size(); ++l) {
    if (load >= 0 && l != extent(load)) continue;
    for (int q = 0; q < measurements.places; ++q) {
      if (place >= 0 && q != place) continue;
      double square = 0;
      int axes = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        const MeasuredColumn& column = measurements.columns[c];
        if (column.place != q || column.kind != MeasuredColumn::Kind::coordinate) continue;
        const double difference_here = measurements.value(l, c) - predicted[l * columns + c];
        if (std::isnan(difference_here)) continue;
        square += difference_here * difference_here;
        ++axes;
      }
      if (axes == 3) sum += square, ++count;
    }
  }
  return count > 0 ? std::sqrt(sum / count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace supple

#include "engine/reduction/strains/solid_strains.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/reduction/basis/strain_modes.hpp"
#include "engine/reduction/strains/strain_fit.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/reduced_tile.hpp"
#include "kernels/math/counter_random.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr int components = 6;
constexpr int most_states = 400;       // that the energy is fitted to
constexpr int motions = 8;             // about each state, random
constexpr int motions_of_basis = 2;    // of these in the strains' POD
constexpr double small_motion = 0.01;  // of the spread of each coordinate
constexpr double least_spread = 3e-3;  // of the largest one: softer or stiffer, all coordinates have to be known
// At least so many strain modes: fewer than columns would leave K singular, and about as many are too few to be fitted.
constexpr int least_modes(int columns) {
  return 2 * columns + 2;
}
// Strains of motions count in the POD as if motions were so many times the spread; in the fit of s, gradients so against
// values; forces of motions in the fit of forces so.
constexpr double motion_in_basis = 0.3, gradient_weight = 0.3, motion_in_forces = 0.1;
// States whose displacement is below the mean one count relative to their own, up to so many times as much: robots spend
// much of their time near rest.
constexpr double most_weight = 10;
constexpr double gradient_step = 1e-4;  // of the spread, central differences
constexpr double regular = 1e-8;        // of the mean diagonal of the normal matrix of step 3
constexpr double unstrained = 1e-5;     // below, z is Biot's strain: the law's energy is one of rounding

// z of a point; W(F) - W(I) of its law.
class LawStrain {
 public:
  LawStrain(const ReducedField& field, int point)
      : law_(field.law),
        weight_(field.weight[extent(point)]),
        parameters_(field.parameters[extent(field.region[extent(point)])]),
        edges_(field.edges.empty() ? Mat3d::identity() : field.edges[extent(point)]) {
    visit_law(law_, [&](auto type) {
      using Law = decltype(type);
      if constexpr (solid_law<Law>) {
        volume_ = std::sqrt(weight_ * std::max(0.0, Law::bulk_modulus(parameters_)));
        shape_ = std::sqrt(2 * weight_ * std::max(0.0, Law::shear_modulus(parameters_)));
        rest_energy_ = Law::energy(Mat3d::identity(), parameters_, edges_);
      }
    });
  }
  void at(const Mat3d& F, double* z) const {
    const Mat3d A = transpose(polar_rotation(F)) * F, e = 0.5 * (A + transpose(A)) - Mat3d::identity();
    z[0] = volume_ * trace(e);
    z[1] = shape_ * std::sqrt(0.5) * (e(0, 0) - e(1, 1));
    z[2] = shape_ * std::sqrt(1.0 / 6) * (e(0, 0) + e(1, 1) - 2 * e(2, 2));
    z[3] = shape_ * std::sqrt(2.0) * e(0, 1);
    z[4] = shape_ * std::sqrt(2.0) * e(0, 2);
    z[5] = shape_ * std::sqrt(2.0) * e(1, 2);
    double squares = 0;
    for (int c = 0; c < components; ++c) squares += z[c] * z[c];
    if (dot(e, e) < unstrained * unstrained || squares == 0) return;
    double energy = 0;
    visit_law(law_, [&](auto type) {
      using Law = decltype(type);
      if constexpr (solid_law<Law>) energy = weight_ * (Law::energy(F, parameters_, edges_) - rest_energy_);
    });
    const double factor = energy > 0 ? std::sqrt(2 * energy / squares) : 0;
    for (int c = 0; c < components; ++c) z[c] *= factor;
  }
  // |z|^2 at a stretch of one along one direction, by the moduli at rest.
  double unit_squares() const { return volume_ * volume_ + 2.0 / 3 * shape_ * shape_; }

 private:
  LawId law_;
  double weight_;
  MaterialParameters<double> parameters_;
  Mat3d edges_;
  double volume_ = 0, shape_ = 0, rest_energy_ = 0;
};

// z of all points of the solids at x.
class LawStrains {
 public:
  explicit LawStrains(const ReducedModel& model) : model_(model) {
    for (const ReducedField& field : model.fields) {
      if (!solid(field.law)) continue;
      for (int p = 0; p < field.points(); ++p) laws_.emplace_back(field, p);
    }
  }
  int length() const { return components * static_cast<int>(laws_.size()); }
  double unit() const {
    double sum = 0;
    for (const LawStrain& law : laws_) sum += law.unit_squares();
    return std::sqrt(sum);
  }
  void at(const double* x, double* z) const {
    const int n = model_.columns();
    AlignedVector<double> F(tile_rows);
    const LawStrain* law = laws_.data();
    for (const ReducedField& field : model_.fields) {
      if (!solid(field.law)) continue;
      for (int p = 0; p < field.points(); ++p, z += components) {
        if (p % tile_size == 0)
          tile_gradient(SingleTeam{}, n, field.G.data() + extent(p / tile_size, n, tile_rows), x, F.data());
        Mat3d own;
        for (int c = 0; c < gradient_components; ++c) own[c] = F[extent(c, tile_size) + extent(p % tile_size)];
        law++->at(own, z);
      }
    }
  }

 private:
  const ReducedModel& model_;
  std::vector<LawStrain> laws_;
};

// States to fit to, and small motions about them. Some evenly spread ones of many.
struct Neighbourhoods {
  std::vector<int> state;  // numbers of the training states
  Matrix x;                // [columns][states (1 + motions)]
  Vector spread;           // [columns]
};

Neighbourhoods neighbourhoods(const ReducedModel& model, const TrainingStates& training, std::uint64_t seed) {
  const int n = model.columns(), length = model.modes + model.motions();
  Neighbourhoods found;
  // Those without a metric, whose points have no stress or whose tangent is singular, have no say.
  const int r = model.modes;
  std::vector<int> with_metric;
  for (int s = 0; s < training.count; ++s) {
    const auto own = std::span(training.metric).subspan(extent(s, r, r), extent(r, r));
    if (std::ranges::any_of(own, [](double t) { return t != 0; })) with_metric.push_back(s);
  }
  if (with_metric.size() < 2)
    throw RunError("[reduce] solids = \"strains\": fewer than two training snapshots have a regular tangent",
                   "solids = \"elements\"");
  const int count = std::min(static_cast<int>(with_metric.size()), most_states);
  for (int k = 0; k < count; ++k) found.state.push_back(with_metric[extent(k) * with_metric.size() / extent(count)]);
  found.spread = Vector::Zero(n);
  found.x.resize(n, static_cast<long>(count) * (1 + motions));
  for (int k = 0; k < count; ++k) {
    const Eigen::Map<const Vector> own(training.states.data() + extent(found.state[extent(k)], length), n);
    found.x.col(static_cast<long>(k) * (1 + motions)) = own;
    found.spread += own.cwiseAbs2() / count;
  }
  found.spread = found.spread.cwiseSqrt();
  found.spread = found.spread.cwiseMax(least_spread * found.spread.maxCoeff());
  for (int k = 0; k < count; ++k)
    for (int m = 1; m <= motions; ++m) {
      const long at = static_cast<long>(k) * (1 + motions) + m;
      for (int i = 0; i < n; ++i)
        found.x(i, at) =
            found.x(i, at - m) + small_motion * found.spread(i) *
                                     standard_normal({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(m),
                                                      static_cast<std::uint32_t>(found.state[extent(k)]), 0x57a1},
                                                     seed);
    }
  return found;
}

// The forces that are wanted of the solids, and how they change with the motions.
Matrix wanted_forces(const ReducedModel& elements, const TrainingStates& training, const Neighbourhoods& near,
                     bool closed) {
  const int r = elements.modes, inputs = elements.motions(), rows = elements.robot.rows();
  const ReducedModel without = without_solids(elements);
  ReducedMechanics all(elements), rest(without);
  Stepper stepper(all, StepSettings{.scheme = StepScheme::quasi_static, .time_step = 0});
  Matrix out(r, near.x.cols());
  std::vector<double> f(extent(r)), g(extent(r)), lacking(extent(r), 0.0);
  State state = rest_state(all);
  for (std::size_t k = 0; k < near.state.size(); ++k) {
    const auto first = static_cast<long>(k) * (1 + motions);
    // Motions that strain nothing stand at their values all the time.
    const std::span<const double> given =
        std::span(training.states).subspan(extent(near.state[k], r + inputs), extent(r + inputs));
    std::vector<double> c(given.begin() + r, given.end());
    const auto own = [&](long at) {
      const std::span<const double> q(near.x.col(at).data(), extent(r));
      for (int i = r; i < elements.columns(); ++i) c[extent(i - r)] = near.x(i, at);
      (void)all.evaluate_forces(q, c, TangentKind::none, f);
      (void)rest.evaluate_forces(q, c, TangentKind::none, g);
      return Vector(Eigen::Map<const Vector>(f.data(), r) - Eigen::Map<const Vector>(g.data(), r));
    };
    const Vector here = own(first);
    out.col(first) = here;
    if (closed) {
      std::ranges::copy(given.first(extent(r)), state.q.begin());
      std::ranges::copy(given.subspan(extent(r)), state.motions.begin());
      std::ranges::copy(std::span(training.multipliers).subspan(extent(near.state[k], rows), extent(rows)),
                        state.multipliers.begin());
      (void)stepper.imbalance(state, lacking);
      out.col(first) += Eigen::Map<const Vector>(lacking.data(), r);
    }
    for (int m = 1; m <= motions; ++m) out.col(first + m) = own(first + m) - here;
  }
  return out;
}

// Step 2: S [length][modes].
Pod strain_pod(const LawStrains& law, const Neighbourhoods& near, int columns, const SolidStrainSettings& settings) {
  const int length = law.length(), states = static_cast<int>(near.state.size()), per = 1 + motions_of_basis;
  std::vector<double> z(extent(states, per, length));
#pragma omp parallel for schedule(static)
  for (int k = 0; k < states; ++k)
    for (int m = 0; m < per; ++m) {
      double* own = z.data() + extent(k * per + m, length);
      law.at(near.x.col(static_cast<long>(k) * (1 + motions) + m).data(), own);
      const double* here = z.data() + extent(k * per, length);
      for (int i = 0; m > 0 && i < length; ++i) own[i] = (own[i] - here[i]) * (motion_in_basis / small_motion);
    }
  PodSettings pod{.tolerance = settings.tolerance, .truncation = PodTruncation::root, .max_modes = settings.max_modes};
  Pod found = proper_orthogonal_decomposition(z, length, states * per, pod);
  int wanted = least_modes(columns);
  if (settings.max_modes > 0) wanted = std::max(columns, std::min(wanted, settings.max_modes));
  if (found.modes >= wanted) return found;
  pod.tolerance = 1e-12;
  pod.max_modes = wanted;
  return proper_orthogonal_decomposition(z, length, states * per, pod);
}

// Step 3: theta.
Matrix fit_strains(const LawStrains& law, const Neighbourhoods& near, const Eigen::Map<const Matrix>& S,
                   const std::function<void()>& check_stop) {
  const int n = static_cast<int>(near.spread.size()), features = feature_count(n), length = law.length();
  const auto states = static_cast<int>(near.state.size());
  Matrix normal = Matrix::Zero(features, features), right = Matrix::Zero(features, S.cols());
  constexpr int block = 16;  // states whose features are in memory
  std::vector<Matrix> phi(block), values(block);
  for (int begin = 0; begin < states; begin += block) {
    const int end = std::min(states, begin + block);
#pragma omp parallel for schedule(dynamic)
    for (int k = begin; k < end; ++k) {
      const Vector x = near.x.col(static_cast<long>(k) * (1 + motions));
      Matrix z(length, 1 + n);
      law.at(x.data(), z.col(0).data());
      std::vector<double> above(extent(length)), below(extent(length));
      for (int i = 0; i < n; ++i) {
        Vector moved = x;
        moved(i) = x(i) + gradient_step * near.spread(i);
        law.at(moved.data(), above.data());
        moved(i) = x(i) - gradient_step * near.spread(i);
        law.at(moved.data(), below.data());
        for (int c = 0; c < length; ++c)
          z(c, 1 + i) = gradient_weight * (above[extent(c)] - below[extent(c)]) / (2 * gradient_step);
      }
      values[extent(k - begin)] = z.transpose() * S;
      const Vector unit = x.cwiseQuotient(near.spread);
      Matrix& own = phi[extent(k - begin)];
      own.resize(features, 1 + n);
      strain_features(unit.data(), n, own.col(0).data());
      for (int i = 0; i < n; ++i)
        feature_rates(unit.data(), Vector(gradient_weight * Vector::Unit(n, i)).data(), n, own.col(1 + i).data());
    }
    check_stop();
    for (int k = 0; k < end - begin; ++k) {
      normal.selfadjointView<Eigen::Lower>().rankUpdate(phi[extent(k)]);
      right.noalias() += phi[extent(k)] * values[extent(k)];
    }
  }
  normal.diagonal().array() += regular * normal.trace() / features;
  return normal.selfadjointView<Eigen::Lower>().ldlt().solve(right).transpose();
}

StrainModes modes_of(const Matrix& theta, const Vector& spread) {
  const auto n = static_cast<int>(spread.size());
  StrainModes modes;
  modes.count = static_cast<int>(theta.rows());
  for (int k = 0; k < modes.count; ++k) {
    for (int i = 0; i < n; ++i) modes.linear.push_back(theta(k, i) / spread(i));
    for (int i = 0, at = n; i < n; ++i)
      for (int j = 0; j <= i; ++j, ++at) {
        const double q = theta(k, at) * (i == j ? 2 : 1) / (spread(i) * spread(j));
        modes.quadratic.push_back(static_cast<double>(static_cast<float>(q)));  // so that steps read half as much
      }
  }
  return modes;
}

}  // namespace

bool closes(const Robot& robot) {
  return robot.pairs() == 0 &&
         std::ranges::all_of(robot.actuators, [](const ActuatorRow& row) { return row.friction == 0; });
}

std::string no_solid_strains(const FullModel& model) {
  if (std::ranges::none_of(model.fields, [](const ElementField& field) { return solid(field.law); }))
    return "the body has no solids";
  if (model.robot.floating)
    return "the body is free-floating, and strains that are fitted are not quite without strain where it turns";
  if (!model.robot.parameters.empty()) return "the scene has parameters, and one fit serves one set of them";
  if (model.robot.pushes > 0) return "training states are pushed, and the fit is to the forces of actuators alone";
  if (model.robot.viscous > 0) return "materials are viscous, and what they remember lies in elements";
  for (const ElementField& field : model.fields)
    if (solid(field.law) && !has_exact_tangent(field.law))
      return "the material's rotations are those of edges, and its forces have no energy";
  return "";
}

SolidStrainFit solid_strains(const ReducedModel& elements, const TrainingStates& training,
                             const SolidStrainSettings& settings, const Progress& progress,
                             const std::function<void()>& check_stop) {
  const int r = elements.modes, n = elements.columns();
  constexpr double ridges[] = {200, 60, 20, 6, 2};
  const double steps = 1 + std::size(ridges);
  progress("strain modes", 0, steps);
  const Neighbourhoods near = neighbourhoods(elements, training, settings.seed);
  const LawStrains law(elements);
  const Pod pod = strain_pod(law, near, n, settings);
  check_stop();
  SolidStrainFit fit;
  fit.tolerance = settings.tolerance;
  fit.left_out = pod.truncation_error;
  fit.states = static_cast<int>(near.state.size());
  fit.closed = closes(elements.robot) && std::ranges::any_of(training.equilibrium, [](double yes) { return yes != 0; });
  Matrix theta = fit_strains(law, near, Eigen::Map<const Matrix>(pod.basis.data(), pod.rows, pod.modes), check_stop);
  ForceSamples samples{.columns = n,
                       .rows = r,
                       .states = fit.states,
                       .weights = std::vector<double>(motions, motion_in_forces / small_motion),
                       .own = {},
                       .x = near.spread.cwiseInverse().asDiagonal() * near.x,
                       .force = wanted_forces(elements, training, near, fit.closed),
                       .metric = {},
                       .spread = near.spread};
  const auto size = [&](std::size_t k) { return near.x.col(static_cast<long>(k) * (1 + motions)).head(r).norm(); };
  double mean = 0;
  for (std::size_t k = 0; k < near.state.size(); ++k) mean += size(k) / fit.states;
  for (std::size_t k = 0; k < near.state.size(); ++k) {
    const int state = near.state[k];
    // mean / 0 is infinite, 0 / 0 the lower bound
    const double weight = std::fmin(std::fmax(mean / size(k), 1.0), most_weight);
    samples.own.push_back(fit.closed ? weight * training.equilibrium[extent(state)] : weight);
    const auto own = std::span(training.metric).subspan(extent(state, r, r), extent(r, r));
    samples.metric.insert(samples.metric.end(), own.begin(), own.end());
  }
  fit.states = static_cast<int>(std::ranges::count_if(samples.own, [](double o) { return o > 0; }));
  fit.missed = force_misfit(samples, theta);
  const Matrix start = theta;
  for (const double ridge : ridges) {
    const auto done = static_cast<double>(1 + fit.found.size());
    theta = fit_forces(
        samples, start, theta, ridge,
        [&](int, double cost) { progress("strain modes", done, steps, fmt::format("misfit {:.3g}", std::sqrt(cost))); },
        check_stop);
    fit.found.push_back({modes_of(theta, near.spread), ridge, force_misfit(samples, theta)});
    fit.found.back().modes.unit = law.unit();
  }
  return fit;
}

ReducedModel without_solids(const ReducedModel& model) {
  ReducedModel others = model;
  for (ReducedField& field : others.fields)
    if (solid(field.law)) become_strain_modes(field, {}, field.tolerance, field.residual);
  return others;
}

void use_solid_strains(ReducedModel& model, const StrainModes& modes, double tolerance, double left_out) {
  bool first = true;
  std::erase_if(model.fields,
                [&](const ReducedField& field) { return solid(field.law) && !std::exchange(first, false); });
  const auto field = std::ranges::find_if(model.fields, [](const ReducedField& f) { return solid(f.law); });
  become_strain_modes(*field, modes, tolerance, left_out);
}

}  // namespace supple

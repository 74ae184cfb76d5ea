#include "engine/reduction/greedy.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/elements/training.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr int candidates_per_sample = 4;

// The reduced equilibrium of every candidate, from the nearest known state or else from rest in increments; no
// multipliers: it was not found.
std::vector<State> reduced_states(const ReducedModel& all, std::span<const double> alpha, const SnapshotSet& set,
                                  const std::vector<Sample>& candidates, const std::vector<InputRange>& inputs) {
  std::vector<State> states(candidates.size());
#pragma omp parallel
  {
    ReducedMechanics mechanics(all);
    Equilibrium direct(mechanics, {.patient_iterations = 0}),
        patient(mechanics, {.first_increment = careful_increment});
#pragma omp for schedule(dynamic)
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const Control control = control_of(all.robot, candidates[k]);
      const auto nearest = extent(nearest_sample(inputs, set.commands, candidates[k]));
      State state = rest_state(mechanics);
      const Control known = control_of(all.robot, set.commands[nearest]);
      std::copy_n(alpha.begin() + static_cast<long>(nearest * state.q.size()), state.q.size(), state.q.begin());
      std::copy_n(set.multipliers.begin() + static_cast<long>(nearest * state.multipliers.size()),
                  state.multipliers.size(), state.multipliers.begin());
      state.commands = known.commands;
      state.motions = known.motions;
      bool found = direct.solve(control, state).status == StepStatus::ok;
      if (!found) {
        state = rest_state(mechanics);
        found = patient.solve(control, state).status == StepStatus::ok;
      }
      if (found) states[k] = std::move(state);
    }
  }
  return states;
}

// d of one state after the other.
class Correction {
 public:
  // mass [1/s^2]: K + mass M replaces K for a free-floating body.
  Correction(const FullModel& model, double mass)
      : model_(model), mass_(mass), mechanics_(model), stepper_(mechanics_, {.scheme = StepScheme::quasi_static}) {}
  // False: there is no prediction.
  bool operator()(const State& state, std::span<double> d) {
    using Matrix = Eigen::MatrixXd;
    const int nv = model_.coordinates.nv, rows = model_.robot.rows();
    if (!std::isfinite(stepper_.imbalance(state, d))) return false;
    const RowLayout& layout = mechanics_.rows();
    std::vector<double> y(extent(model_.robot.outputs())), phi(extent(rows)), gradients(extent(layout.gradients())),
        H(extent(rows, nv)), H_c(extent(rows, static_cast<int>(model_.robot.motions.size())));
    mechanics_.evaluate_outputs(state.q, state.motions, y);
    evaluate_rows(model_.robot, layout, y, phi, gradients);
    mechanics_.row_jacobians(layout, gradients, H, H_c);
    std::vector<double> f(extent(nv));
    (void)mechanics_.evaluate_forces(state.q, state.motions, TangentKind::exact, f);
    if (mechanics_.factor({.mass = mass_, .stiffness = 1, .geometric = true}, y, state.multipliers).status !=
        SystemStatus::ok)
      return false;
    const std::vector<HeldRow> held = held_rows(model_.robot, H, state.multipliers);
    const int h = static_cast<int>(held.size());
    Matrix J(nv, h), C = Matrix::Zero(h, h), X(nv, h + 1);  // J by columns
    for (int k = 0; k < h; ++k) {
      const HeldRow& one = held[static_cast<std::size_t>(k)];
      J.col(k) = Eigen::Map<const Eigen::VectorXd>(H.data() + extent(one.row, nv), nv);
      C(k, k) = one.compliance;
    }
    Eigen::Map<Eigen::VectorXd> out(d.data(), nv);
    X << out, J;
    mechanics_.solve(std::span(X.data(), static_cast<std::size_t>(X.size())), h + 1);
    out = X.col(0);
    if (h > 0) out -= X.rightCols(h) * (J.transpose() * X.rightCols(h) + C).fullPivLu().solve(J.transpose() * out);
    return out.allFinite();
  }
  State rest() const { return rest_state(mechanics_); }
  // What of displacements the effectors see [3 effectors].
  std::vector<double> at_effectors(std::span<const double> d) {
    const std::vector<double> still(model_.robot.motions.size(), 0.0);
    std::vector<double> y(extent(model_.robot.outputs())), seen;
    mechanics_.evaluate_outputs(d, still, y);
    for (const Effector& effector : model_.robot.effectors)
      for (int i = 0; i < 3; ++i)
        seen.push_back(y[extent(3 * effector.point + i)] - model_.robot.rest_points[extent(effector.point)][i]);
    return seen;
  }

 private:
  const FullModel& model_;
  double mass_;
  FullMechanics mechanics_;
  Stepper stepper_;
};

}  // namespace

std::vector<int> pivot_order(std::vector<double> gram, int n, int count) {
  SUPPLE_EXPECT(gram.size() == extent(n, n) && count <= n);
  Eigen::Map<Eigen::MatrixXd> G(gram.data(), n, n);
  std::vector<char> taken(extent(n), 0);
  std::vector<int> order;
  while (static_cast<int>(order.size()) < count) {
    int worst = -1;
    for (int k = 0; k < n; ++k)
      if (!taken[extent(k)] && (worst < 0 || G(k, k) > G(worst, worst))) worst = k;
    order.push_back(worst);
    taken[extent(worst)] = 1;
    // G <- G - g g^T / g_worst: what is left of the others across this one.
    const double pivot = G(worst, worst);
    if (!(pivot > 0)) continue;
    const Eigen::VectorXd g = G.col(worst);
    G.noalias() -= g * (g.transpose() / pivot);
  }
  return order;
}

GreedyChoice choose_samples(const FullModel& model, const ReductionScene& recipe, const std::string& folder,
                            const SnapshotSet& set, int count, const Progress& progress) {
  if (set.count < 2)
    throw RunError("fewer than two training states converged", "`supple simulate` the scene; smaller actuator ranges");
  const std::string stage = "choosing states";
  const auto check_stop = [&](int done, int total) {
    progress(stage, done, total);
    if (progress.stopped())
      throw Interrupted("stopped while states were chosen", "the same command again: finished states are kept");
  };
  const int nv = model.coordinates.nv, n = candidates_per_sample * count;
  check_stop(0, n);
  const ColumnBlocks displacements = basis_columns(model, folder, set, recipe.rigid_motion);
  const SnapshotBasis basis = snapshot_basis(model, displacements, recipe);
  const int r = basis.modes;
  const ReducedModel all = project(model, basis.vectors, r, all_elements(model));
  const std::vector<InputRange> inputs = training_ranges(model.robot);
  const std::vector<Sample> candidates =
      latin_hypercube(model.robot, n, recipe.seed + 0xbf58476d1ce4e5b9ULL * static_cast<std::uint64_t>(set.count));
  const std::vector<State> reduced =
      reduced_states(all, project_states(basis.vectors, r, displacements), set, candidates, inputs);

  const Lifting lifting = lifting_of(model);
  Correction correction(model, model.robot.floating ? lowest_frequency_squared(all) : 0);
  const Eigen::Map<const Eigen::MatrixXd> Phi(basis.vectors.data(), nv, r);
  const int effectors = 3 * static_cast<int>(model.robot.effectors.size());
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(nv, n), E = Eigen::MatrixXd::Zero(effectors, n);
  std::vector<char> known(extent(n), 0);
  double shape = 0, goal = 0;
  int found = 0;
  for (int k = 0; k < n; ++k) {
    check_stop(k, n);
    const State& from = reduced[extent(k)];
    if (from.q.empty()) continue;
    Eigen::VectorXd u = Phi * Eigen::Map<const Eigen::VectorXd>(from.q.data(), r);
    shape += u.norm();
    const std::vector<double> moved = correction.at_effectors(std::span(u.data(), extent(nv)));
    goal += Eigen::Map<const Eigen::VectorXd>(moved.data(), effectors).norm();
    for (std::size_t m = 0; m < from.motions.size(); ++m)
      u += from.motions[m] * Eigen::Map<const Eigen::VectorXd>(lifting.free.data() + m * extent(nv), nv);
    State state = correction.rest();
    state.q.assign(u.begin(), u.end());
    state.multipliers = from.multipliers;
    state.commands = from.commands;
    state.motions = from.motions;
    if (from.contact_forces.size() == state.contact_forces.size()) state.contact_forces = from.contact_forces;
    ++found;
    const std::span<double> d(D.col(k).data(), extent(nv));
    if (!correction(state, d)) {
      D.col(k).setZero();
      continue;
    }
    known[extent(k)] = 1;
    const std::vector<double> seen = correction.at_effectors(d);
    E.col(k) = Eigen::Map<const Eigen::VectorXd>(seen.data(), effectors);
  }
  // Relative to the means. Next to a fold S is large beyond reason and one step of Newton's method too long.
  shape /= std::max(1, found);
  goal /= std::max(1, found);
  if (shape > 0) D /= shape;
  if (goal > 0) E /= goal;
  std::vector<double> sizes;
  for (int k = 0; k < n; ++k)
    if (known[extent(k)]) sizes.push_back(std::hypot(D.col(k).norm(), E.col(k).norm()));
  if (!sizes.empty()) {
    const auto middle = sizes.begin() + static_cast<long>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    for (int k = 0; k < n; ++k) {
      const double size = std::hypot(D.col(k).norm(), E.col(k).norm()), limit = largest_compliance * *middle;
      if (size <= limit) continue;
      D.col(k) *= limit / size;
      E.col(k) *= limit / size;
    }
  }
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(n, n);
  if (shape > 0) G += D.transpose() * D;
  if (goal > 0) G += E.transpose() * E;
  // A candidate without a prediction is as wrong as if it had not moved, in a way of its own.
  int unknown = 0;
  for (int k = 0; k < n; ++k)
    if (!known[extent(k)]) {
      G(k, k) = (shape > 0) + (goal > 0);
      ++unknown;
    }
  GreedyChoice choice;
  const auto mean = [&](const Eigen::MatrixXd& columns) { return (columns.colwise().norm().sum() + unknown) / n; };
  choice.predicted_error = std::max(shape > 0 ? mean(D) : 0, goal > 0 ? mean(E) : 0);
  for (const int k : pivot_order({G.data(), G.data() + G.size()}, n, count))
    choice.samples.push_back(candidates[extent(k)]);
  return choice;
}

}  // namespace supple

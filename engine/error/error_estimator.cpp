#include "engine/error/error_estimator.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "engine/mechanics/reduced/step_work.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int most_iterations = 12;
// Of an estimate, by which the steps between two are counted: iterations, each with an exact tangent and the residual at
// its end, which take as long as so many steps of the finer model (measured: 2.8 to 4.6, and 2.5 to 4).
constexpr double usual_iterations = 2.7, steps_of_iteration = 4;
constexpr double row_tolerance = 1e-6;  // m
// Of the skin's motion in a mode that the finer model's modes leave: more, and it is a model of something else.
constexpr double foreign = 0.05;

template <class List>
bool same_names(const List& a, const List& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.name == y.name; });
}

// Modes of the model at the skin by those of the finer one, least squares [modes of the finer][modes]. left: the share of
// them that those leave.
Matrix coordinates_of(const ReducedModel& model, const ReducedModel& finer, double& left) {
  const int rows = static_cast<int>(3 * model.skin.rest.size());
  const Eigen::Map<const Matrix> own(model.skin.modes.data(), rows, model.modes),
      other(finer.skin.modes.data(), rows, finer.modes);
  Matrix P = other.colPivHouseholderQr().solve(own);
  left = (own - other * P).norm() / own.norm();
  return P;
}

ReducedModel without_obstacles(ReducedModel model) {
  model.robot.obstacles.clear();
  return model;
}

}  // namespace

std::string cannot_estimate(const ReducedModel& model, const ReducedModel& finer) {
  const Robot &a = model.robot, &b = finer.robot;
  if (model.on_frame || a.floating) return "estimates are for robots that are held somewhere";
  if (a.history() > 0 || a.viscous > 0)
    return "estimates are not for cables with friction, supplied cavities or viscous materials";
  if (!same_names(a.actuators, b.actuators) || !same_names(a.motions, b.motions) ||
      !same_names(a.effectors, b.effectors) || !same_names(a.constraints, b.constraints))
    return "the finer model is one of another robot (other actuators, motions, effectors or constraints)";
  if (a.effectors.empty()) return "the robot has no effectors";
  if (model.skin.rest.size() != finer.skin.rest.size()) return "the finer model is one of another mesh";
  if (a.collision_points != b.collision_points)
    return "the finer model has other collision points ([contact], or pushes in [reduce])";
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    for (const Parameter& parameter : one->parameters) {
      const auto same = std::ranges::find(other->parameters, parameter.name, &Parameter::name);
      const double value = same == other->parameters.end() ? 1 : same->value;
      if (parameter.value != value)
        return fmt::format("parameter '{}' is {:g} in one of the models and {:g} in the other", parameter.name,
                           parameter.value, value);
    }
  if (finer.modes <= model.modes)
    return fmt::format("the finer model has {} modes, the model itself {}", finer.modes, model.modes);
  double left = 0;
  (void)coordinates_of(model, finer, left);
  if (!(left < foreign))
    return fmt::format("the finer model's modes leave {:.2g} % of the model's: it was made of other states",
                       100 * left);
  return "";
}

ErrorEstimator::ErrorEstimator(const ReducedModel& model, const ReducedModel& finer,
                               const ErrorEstimatorSettings& settings)
    : model_(model),
      finer_(without_obstacles(finer)),
      mechanics_(finer_),
      stepper_(mechanics_,
               {.scheme = StepScheme::quasi_static, .time_step = 0}) {  // 0: commands are not limited in rate
  if (const std::string why = cannot_estimate(model, finer); !why.empty())
    throw InputError(why, "a model of the same scene and snapshots with more modes: supple reduce --modes");
  double left = 0;
  const Matrix P = coordinates_of(model, finer, left);
  P_.assign(P.data(), P.data() + P.size());
  stepper_.set_tolerances(settings.tolerance, row_tolerance);
  stepper_.set_limits(most_iterations, 8, 0);
  every_step_ = !(settings.share > 0);
  if (!every_step_) {
    const double cost =
        usual_iterations * steps_of_iteration * reduced_step_work(finer).total() / reduced_step_work(model).total();
    steps_between_ = std::max(1, static_cast<int>(std::ceil(cost / settings.share)));
  }
  reset();
}

void ErrorEstimator::reset() {
  state_ = rest_state(mechanics_);
  const std::size_t n = extent(finer_.modes);
  load_.assign(n, 0.0);
  lifted_.assign(n, 0.0);
  force_.assign(n, 0.0);
  v_.assign(extent(model_.modes), 0.0);
  motion_v_.assign(extent(model_.motions()), 0.0);
  begun_ = moved_ = false;
  wait_ = 0;
  iterations_ = 0;
  failed_ = 0;
  newest_.reset();
}

// Forces on the finer model beside gravity and rows.
void ErrorEstimator::find_loads(const State& state, double elapsed) {
  const int n = finer_.modes, r = model_.modes;
  const Eigen::Map<const Matrix> P(P_.data(), n, r);
  Eigen::Map<Eigen::VectorXd> lifted(lifted_.data(), n), load(load_.data(), n);
  const Eigen::Map<const Eigen::VectorXd> v(state.v.data(), r), before(v_.data(), r), force(force_.data(), n);
  std::vector<double> motions = state.motion_velocities;
  for (std::size_t m = 0; m < motions.size(); ++m) motions[m] = (motions[m] - motion_v_[m]) / elapsed;
  lifted = P * (v - before) / elapsed;
  mechanics_.inertia(lifted_, motions, force_);
  load = -force;
  lifted = P * v;
  mechanics_.damping(lifted_, state.motion_velocities, force_);
  load -= force;
  const auto add = [&](int point, int k, double newton) {
    load += newton * Eigen::Map<const Eigen::VectorXd>(finer_.outputs.data() + extent(3 * point + k, n), n);
  };
  for (const PointForce& one : forces_)
    for (int k = 0; k < 3; ++k) add(one.point, k, one.force[k]);
  const int obstacles = static_cast<int>(model_.robot.obstacles.size());
  for (int point = 0; point < model_.robot.collision_points; ++point)
    for (int k = 0; k < 3; ++k) {
      double sum = 0;
      for (int o = 0; o < obstacles; ++o) sum += state.contact_forces[extent(3 * (point * obstacles + o) + k)];
      if (sum != 0) add(finer_.robot.first_collision_point + point, k, sum);
    }
}

bool ErrorEstimator::after_step(const State& state, bool now) {
  if (moved_ && !(state.time > time_)) reset();
  --wait_;
  const bool due = moved_ && (now || wait_ <= 0);
  bool found = false;
  if (due) {
    const int n = finer_.modes, r = model_.modes;
    const Eigen::Map<const Matrix> P(P_.data(), n, r);
    const Eigen::Map<const Eigen::VectorXd> q(state.q.data(), r);
    if (!begun_) {
      // From where the model is.
      Eigen::Map<Eigen::VectorXd>(state_.q.data(), n) = P * q;
      state_.multipliers = state.multipliers;
      state_.commands = state.commands;
      state_.motions = state.motions;
      std::vector<double> f(extent(n));
      (void)mechanics_.evaluate_forces(state_.q, state_.motions, TangentKind::safe, f);  // for damping
    }
    find_loads(state, state.time - time_);
    stepper_.set_load(load_);
    const StepReport report = stepper_.step({state.commands, state.motions}, state_);
    iterations_ += report.iterations;
    const double longer = std::max(1, report.iterations) / usual_iterations;
    wait_ = every_step_ ? 1 : std::max(1, static_cast<int>(std::ceil(steps_between_ * longer)));
    found = report.status == StepStatus::ok;
    if (found) {
      begun_ = true;
      const std::vector<double> there = stepper_.outputs();
      Estimate estimate{state.time, {}, report.iterations};
      for (const Effector& effector : model_.robot.effectors)
        for (int k = 0; k < 3; ++k) {
          const int row = 3 * effector.point + k;
          double y = model_.robot.rest_points[extent(effector.point)][k];
          for (int j = 0; j < r; ++j) y += model_.outputs[extent(row, r) + extent(j)] * state.q[extent(j)];
          for (std::size_t m = 0; m < state.motions.size(); ++m)
            y += model_.output_inputs[extent(row, model_.motions()) + m] * state.motions[m];
          estimate.error.push_back(there[extent(row)] - y);
        }
      newest_ = std::move(estimate);
    } else {
      begun_ = false;  // from the model's place again
      ++failed_;
      newest_.reset();
    }
  }
  v_ = state.v;
  motion_v_ = state.motion_velocities;
  time_ = state.time;
  moved_ = true;
  return found;
}

}  // namespace supple

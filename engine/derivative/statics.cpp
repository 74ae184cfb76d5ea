#include "engine/derivative/statics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/derivative/differentiable_steps.hpp"
#include "engine/mechanics/reduced/reduced_robots.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// s: bodies whose slowest vibration takes seconds have masses of 1e-8 of their stiffness in a step of that length.
constexpr double long_step = 1e4;
// Reciprocal condition of du/dq, below which a robot is about to snap.
constexpr double about_to_snap = 1e-12;

std::vector<double> part(std::span<const double> values, int robot, std::size_t size) {
  if (values.empty()) return {};
  const std::span<const double> own = values.subspan(extent(robot) * size, size);
  return {own.begin(), own.end()};
}

void append(std::vector<double>& to, const std::vector<double>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

StepSettings long_steps(const Robot& robot) {
  const StepSettings settings{.scheme = StepScheme::one_linearisation, .time_step = long_step};
  if (auto why = no_derivative(robot, settings)) throw InputError(*why);
  for (const PlacedObstacle& obstacle : robot.obstacles)
    if (obstacle.friction > 0)
      throw InputError(
          fmt::format("'{}' has friction: where the robot comes to rest depends on its way there", obstacle.name),
          "friction = 0, or a Rollout, whose derivatives are those of the way");
  return settings;
}

}  // namespace

Statics::AtRest::AtRest(const ReducedModel& model, const StepSettings& settings)
    : mechanics(model, 1), step(mechanics, settings), derivative(mechanics, settings) {}

Statics::Statics(std::shared_ptr<const ReducedModel> model, int robots) : model_(std::move(model)) {
  const StepSettings settings = long_steps(model_->robot);
  for (int b = 0; b < robots; ++b) robots_.push_back(std::make_unique<AtRest>(*model_, settings));
}

void Statics::forget() {
  rest_ = {};
  ++runs_;
}

void Statics::set_variations(const Variations& variations) {
  forget();
  check_variations(*model_, robots(), variations);
  if (std::ranges::any_of(variations.friction, [](double coefficient) { return coefficient > 0; }))
    throw InputError("equilibria on obstacles with friction depend on the way there", "friction of 0");
  for (int b = 0; b < robots(); ++b)
    robots_[extent(b)]->mechanics.set_variations(variations_of(variations, robots(), b, 1));
}

void Statics::solve(int b, std::span<const double> commands, std::span<const double> load) {
  AtRest& robot = *robots_[extent(b)];
  const auto fail = [b](StepStatus status) {
    throw RunError(fmt::format("robot {} has no equilibrium that is found: {}", b, describe(status)),
                   "smaller commands or loads");
  };
  robot.commands.assign(commands.begin(), commands.end());
  robot.before = rest_state(robot.mechanics);
  Equilibrium equilibrium(robot.mechanics, from_rest(model_->robot));
  if (!load.empty()) equilibrium.set_load(load);
  const Control control{robot.commands, {}};
  if (const EquilibriumReport report = equilibrium.solve(control, robot.before); report.status != StepStatus::ok)
    fail(report.status);
  robot.after = robot.before;
  robot.step.set_load(load);
  if (const StepReport report = robot.step.step(control, robot.after); report.status != StepStatus::ok)
    fail(report.status);
  robot.derivative.linearise(robot.commands, robot.before, robot.after);
  if (!robot.derivative.matrices(0, robot.matrices))
    throw RunError(fmt::format("the rows that hold robot {} do not determine where it is", b), "fewer constraints");
  const int n = model_->modes;
  robot.stiffness.compute(-Eigen::Map<const RowMajor>(robot.matrices.q.data(), n, n));
}

const Statics::Rest& Statics::solve(std::span<const double> commands, std::span<const double> loads,
                                    const std::function<bool()>& stopped) {
  forget();
  const std::size_t actuators = model_->robot.actuators.size(), n = extent(model_->modes);
  check_numbers(commands, robots_.size() * actuators, "commands");
  check_numbers(loads, robots_.size() * n, "loads", true);
  for (int b = 0; b < robots(); ++b) {
    if (stopped && stopped()) throw Interrupted("the search for equilibria was stopped", "the same call again");
    solve(b, part(commands, b, actuators), part(loads, b, n));
  }
  for (const std::unique_ptr<AtRest>& robot : robots_) {
    append(rest_.q, robot->before.q);
    append(rest_.forces, robot->before.multipliers);
  }
  return rest_;
}

void Statics::require_rest() const {
  if (rest_.q.empty()) throw InputError("there is no equilibrium to differentiate", "solve() first");
  for (int b = 0; b < robots(); ++b)
    if (!(robots_[extent(b)]->stiffness.rcond() > about_to_snap))
      throw RunError(fmt::format("robot {} is about to snap, where equilibria have no derivatives", b),
                     "other commands or loads");
}

InputGradient Statics::pull_back(std::span<const double> q, std::span<const double> forces) {
  require_rest();
  const int n = model_->modes;
  const std::size_t rows = extent(model_->robot.rows());
  check_numbers(q, robots_.size() * extent(n), "q", true);
  check_numbers(forces, robots_.size() * rows, "forces", true);
  InputGradient found;
  for (int b = 0; b < robots(); ++b) {
    AtRest& robot = *robots_[extent(b)];
    StateGradient by = zero_gradient(robot.mechanics), before;
    InputGradient inputs;
    const auto step_back = [&] {
      if (!robot.derivative.pull_back(by, before, inputs))
        throw RunError(
            fmt::format("robot {} has no such derivative (more constraints than coordinates share their forces "
                        "in more than one way, and the scalar depends on it)",
                        b),
            "derivatives by q, or by the sum of forces that are shared");
    };
    // y - (dq'/dq)^T y = q* + (dlambda'/dq)^T lambda*, with q' = q + u.
    Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
    if (!forces.empty()) {
      by.multipliers = part(forces, b, rows);
      step_back();
      right = Eigen::Map<const Eigen::VectorXd>(before.q.data(), n);
    }
    if (!q.empty()) right += Eigen::Map<const Eigen::VectorXd>(q.data() + extent(b, n), n);
    Eigen::Map<Eigen::VectorXd>(by.q.data(), n) = robot.stiffness.transpose().solve(right);
    step_back();
    append(found.commands, inputs.commands);
    append(found.load, inputs.load);
    append(found.gravity, inputs.gravity);
    append(found.material_scale, inputs.material_scale);
    append(found.density, inputs.density);
    append(found.friction, inputs.friction);
  }
  return found;
}

Statics::Matrices Statics::matrices() {
  require_rest();
  const int n = model_->modes, actuators = static_cast<int>(model_->robot.actuators.size());
  Matrices found;
  for (const std::unique_ptr<AtRest>& robot : robots_) {
    const auto add = [&](const std::vector<double>& by, int columns, std::vector<double>& to) {
      const RowMajor moved = robot->stiffness.solve(Eigen::Map<const RowMajor>(by.data(), n, columns));
      to.insert(to.end(), moved.data(), moved.data() + moved.size());
    };
    add(robot->matrices.applied, actuators, found.commands);
    add(robot->matrices.load, n, found.loads);
  }
  return found;
}

}  // namespace supple

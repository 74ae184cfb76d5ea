#include "engine/calibration/neighbours.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr double by_forces = 1e-5, by_equilibria = 1e-3;
// Of the way to a neighbour.
constexpr double accuracy = 1e-4;
constexpr int most_iterations = 8;
// Below so much of the forces at work is rounding.
constexpr double rounding = 1e-13;

constexpr StepSettings at_rest{.scheme = StepScheme::quasi_static, .time_step = 0, .forgets_friction = true};

// Newton's method from `state` to the neighbour's equilibrium under `load`.
std::optional<State> follow(FullMechanics& mechanics, const std::vector<double>& load, const Control& control,
                            const State& state) {
  StepSettings settings = at_rest;
  std::vector<double> r(load.size());
  {
    Stepper start(mechanics, at_rest);
    start.set_load(load);
    settings.tolerance = std::max(accuracy * start.imbalance(state, r), rounding);
  }
  if (std::isnan(settings.tolerance)) return {};
  settings.max_iterations = most_iterations;
  settings.keep_factor_below = 0.5;
  Stepper stepper(mechanics, settings);
  stepper.set_load(load);
  State there = state;
  if (stepper.step(control, there).status != StepStatus::ok) return {};
  return there;
}

// Of one neighbour: d with A^-1 r(q + d) = 0, from values of the left side.
class Way {
 public:
  // value: the left side at d. Moves d; false where that no longer makes it smaller.
  bool next(const Eigen::VectorXd& value) {
    const bool first = d.size() == 0;
    Eigen::VectorXd step = value;
    if (first) {
      d = Eigen::VectorXd::Zero(value.size());
    } else {
      const Eigen::Index k = changes_.cols();
      changes_.conservativeResize(value.size(), k + 1);
      ways_.conservativeResize(value.size(), k + 1);
      changes_.col(k) = value - value_;
      ways_.col(k) = step_;
      step -= (ways_ + changes_) * changes_.householderQr().solve(value);
    }
    last_ = step.norm();
    longest_ = first ? last_ : std::max(longest_, d.norm());
    d += step;
    step_ = step;
    value_ = value;
    return std::isfinite(last_) && (first || last_ < 2 * longest_);
  }
  bool arrived() const { return last_ <= accuracy * longest_; }
  Eigen::VectorXd d;

 private:
  Eigen::VectorXd value_, step_;
  Eigen::MatrixXd changes_, ways_;  // of the left side, of d
  double longest_ = 0, last_ = 0;
};

}  // namespace

bool compares_equilibria(const Robot& robot) {
  const auto rubs = [](const ActuatorRow& actuator) { return actuator.friction > 0; };
  return robot.floating || std::ranges::any_of(robot.actuators, rubs);
}

double relative_step(const Robot& robot) {
  return compares_equilibria(robot) ? by_equilibria : by_forces;
}

Neighbourhood::Neighbourhood(const FullModel& model, const std::vector<Neighbour>& neighbours, LentFactor& factor)
    : neighbours_(neighbours),
      factor_(factor),
      own_(std::make_unique<FullMechanics>(model, [&factor] { return factor.solver(); })) {
  factor_.forget();
  for (const Neighbour& neighbour : neighbours) {
    std::unique_ptr<FullMechanics>& beside = beside_.emplace_back();
    if (!compares_equilibria(model.robot))
      beside = std::make_unique<FullMechanics>(neighbour.model, [&factor] { return factor.borrowed(); });
    // Friction that begins at 0 couples a cable's points otherwise (segment_unknowns.hpp).
    if (!beside || !same_pattern(beside->pattern(), own_->pattern()))
      beside = std::make_unique<FullMechanics>(neighbour.model);
  }
}

// Whether no multiplier depends on where the robot is, nor on what the neighbour has changed.
bool Neighbourhood::forces_are_given(const Robot& neighbour, const State& state) const {
  const Robot& robot = own_->robot();
  if (robot.touches()) return false;
  for (int row = 0; row < robot.rows(); ++row)
    if (holds(robot, row, state.multipliers[extent(row)])) return false;
  for (std::size_t k = 0; k < robot.actuators.size(); ++k) {
    const ActuatorRow &one = robot.actuators[k], &other = neighbour.actuators[k];
    const RowTarget own = row_target(one, 0, 0, 0), target = row_target(other, 0, 0, 0);
    if (one.control == ActuatorControl::gas || one.friction > 0 || other.friction > 0 || own.lower != target.lower ||
        own.upper != target.upper)
      return false;
  }
  return true;
}

void Neighbourhood::solve_together(const std::vector<double>& load, const State& state,
                                   std::vector<std::optional<State>>& found) {
  const auto nv = static_cast<Eigen::Index>(load.size());
  struct Traveller {
    std::size_t neighbour;
    std::unique_ptr<Stepper> stepper;
    Way way;
    State there;
  };
  std::vector<Traveller> travellers;
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    if (!forces_are_given(neighbours_[k].model.robot, state)) continue;
    travellers.push_back({k, std::make_unique<Stepper>(*beside_[k], at_rest), {}, state});
    travellers.back().stepper->set_load(load);
  }
  for (int iteration = 0; iteration < most_iterations && !travellers.empty(); ++iteration) {
    Eigen::MatrixXd values(nv, static_cast<Eigen::Index>(travellers.size()));
    for (std::size_t i = 0; i < travellers.size(); ++i) {
      auto column = values.col(static_cast<Eigen::Index>(i));
      // Where a point has no stress forces are incomplete.
      if (std::isnan(
              travellers[i].stepper->imbalance(travellers[i].there, {column.data(), static_cast<std::size_t>(nv)})))
        column.setConstant(std::numeric_limits<double>::quiet_NaN());
    }
    own_->solve({values.data(), static_cast<std::size_t>(values.size())}, static_cast<int>(values.cols()));
    std::vector<Traveller> go_on;
    for (std::size_t i = 0; i < travellers.size(); ++i) {
      Traveller& one = travellers[i];
      if (!one.way.next(values.col(static_cast<Eigen::Index>(i)))) continue;
      one.there.q = state.q;
      own_->coordinates().integrate(one.there.q.data(), one.way.d.data());
      if (one.way.arrived())
        found[one.neighbour] = one.there;
      else
        go_on.push_back(std::move(one));
    }
    travellers = std::move(go_on);
  }
}

std::vector<std::optional<State>> Neighbourhood::equilibria(const Control& control, const State& state) {
  std::vector<std::optional<State>> found(neighbours_.size());
  if (compares_equilibria(own_->robot())) {
    for (std::size_t k = 0; k < found.size(); ++k) {
      State there = state;
      const EquilibriumReport report =
          Equilibrium(*beside_[k], from_rest(neighbours_[k].model.robot)).solve(control, there);
      if (report.status == StepStatus::ok) found[k] = std::move(there);
    }
    return found;
  }
  std::vector<double> load(state.v.size());
  if (std::isnan(Stepper(*own_, at_rest).imbalance(state, load))) return found;
  for (double& force : load) force = -force;
  if (factor_.factored()) solve_together(load, state, found);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!found[k] && factor_.factored()) found[k] = follow(*beside_[k], load, control, state);
    if (!found[k]) {
      FullMechanics alone(neighbours_[k].model);
      found[k] = follow(alone, load, control, state);
    }
  }
  return found;
}

}  // namespace supple

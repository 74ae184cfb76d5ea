#include "engine/control/predictive_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/derivative/differentiable_steps.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

std::vector<int> default_blocks(int steps, int actuators) {
  const int most = std::max(1, max_qp_unknowns / std::max(1, actuators));
  // Whether so many steps fit into so many blocks, the first one of this size, each twice as long as the one before.
  const auto fits = [](int left, int free, int size) {
    long room = 0;
    for (long next = size; free > 0 && room < left; --free, next *= 2) room += next;
    return room >= left;
  };
  std::vector<int> blocks;
  for (int left = steps, size = 1; left > 0;) {
    const int free = most - static_cast<int>(blocks.size());
    while (free > 1 && !fits(left, free, size)) size *= 2;
    const int own = free == 1 ? left : std::min(size, left);
    blocks.push_back(own);
    left -= own;
  }
  return blocks;
}

PredictiveControl::PredictiveControl(std::shared_ptr<const ReducedModel> model, const PredictiveSettings& settings)
    : model_(std::move(model)),
      settings_(settings),
      step_settings_(differentiable_steps(model_->robot, settings.time_step)),
      period_(settings.period.value_or(step_settings_.time_step)),
      mechanics_(*model_, 1),
      stepper_(mechanics_, step_settings_),
      derivative_(mechanics_, step_settings_),
      effector_rows_(effector_layout(model_->robot)),
      nv_(model_->modes),
      actuators_(static_cast<int>(model_->robot.actuators.size())),
      unknowns_(0),
      before_(rest_state(mechanics_)),
      state_(before_),
      control_(zero_control(mechanics_)),
      workspace_(max_qp_unknowns, max_qp_unknowns) {
  check_settings();
  const Robot& robot = model_->robot;
  int first = 0;
  for (const int steps : settings_.blocks) {
    blocks_.push_back({first, steps});
    first += steps;
  }
  unknowns_ = static_cast<int>(blocks_.size()) * actuators_;
  for (const ActuatorRow& actuator : robot.actuators) {
    width_.push_back(actuator.range.upper - actuator.range.lower);
    largest_.push_back(std::max(std::abs(actuator.range.lower), std::abs(actuator.range.upper)));
  }
  for (const Effector& effector : robot.effectors)
    weight_.insert(weight_.end(), extent(effector.rows()), effector.weight);
  plan_.assign(extent(steps(), actuators_), 0.0);
  predicted_.assign(extent(steps(), nv_), 0.0);
  trial_.assign(extent(unknowns_), 0.0);
  commands_.assign(extent(actuators_), 0.0);
  slack_.assign(extent(unknowns_), 0);
  S_.resize(nv_, unknowns_);
  dS_.resize(nv_, unknowns_);
  J_.resize(steps() * effector_rows_.rows(), unknowns_);
  distance_.resize(J_.rows());
  points_.resize(extent(robot.outputs()));
  phi_.resize(extent(effector_rows_.rows()));
  gradients_.resize(extent(effector_rows_.gradients()));
  for (auto* values : {&g_, &lower_, &upper_, &change_}) values->resize(extent(unknowns_));
  P_.resize(extent(unknowns_, unknowns_));
  active_.assign(extent(2 * unknowns_), QpSide::none);
}

void PredictiveControl::check_settings() {
  const Robot& robot = model_->robot;
  if (robot.effectors.empty())
    throw InputError(fmt::format("'{}' has no effector, so there is nothing to bring to a goal", robot.name),
                     "[[effector]] in the scene");
  for (const ActuatorRow& actuator : robot.actuators)
    if (!(std::isfinite(actuator.range.lower) && std::isfinite(actuator.range.upper)) ||
        actuator.range.lower == actuator.range.upper)
      throw InputError(
          fmt::format("'{}' has no range between two ends, which a plan is weighed and limited by", actuator.name),
          "range = [lower, upper] in its [[actuator]]");
  const auto at_least = [](const char* name, double value, double least) {
    if (!(value >= least && std::isfinite(value)))
      throw InputError(fmt::format("{} is {}", name, value), fmt::format("{} or more", least));
  };
  at_least("steps", settings_.steps, 1);
  at_least("iterations", settings_.iterations, 1);
  at_least("smoothness", settings_.smoothness, 0);
  at_least("effort", settings_.effort, 0);
  if (!(settings_.trust > 0))
    throw InputError(fmt::format("trust is {}", settings_.trust), "a number above 0, such as 0.25");
  if (!(period_ > 0 && period_ <= time_step() * (1 + 1e-9)))
    throw InputError(fmt::format("the period is {} s and the steps of the prediction have {} s", period_, time_step()),
                     "a period above 0, and not longer than a step of the prediction");
  if (settings_.blocks.empty()) settings_.blocks = default_blocks(settings_.steps, actuators_);
  if (std::ranges::any_of(settings_.blocks, [](int steps) { return steps < 1; }) ||
      std::accumulate(settings_.blocks.begin(), settings_.blocks.end(), 0) != settings_.steps)
    throw InputError(
        fmt::format("blocks are {} steps, and the horizon has {}", fmt::join(settings_.blocks, " + "), settings_.steps),
        "numbers of steps above 0 that add up to those of the horizon");
  if (static_cast<int>(settings_.blocks.size()) * actuators_ > max_qp_unknowns)
    throw InputError(fmt::format("{} blocks of {} commands are more than {} unknowns", settings_.blocks.size(),
                                 actuators_, max_qp_unknowns),
                     "longer blocks, or none: blocks that fit are chosen then");
}

// The last plan a period later: what its steps have then, on average over each block; as far as rates allow.
void PredictiveControl::move_on(std::span<const double> applied) {
  const double later = period_ / time_step();
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (int a = 0; a < actuators_; ++a) {
      double sum = 0;
      for (int k = blocks_[b].first; k < blocks_[b].first + blocks_[b].steps; ++k) {
        const int next = std::min(k + 1, steps() - 1);
        sum += (1 - later) * plan_[extent(k, actuators_) + extent(a)] +
               later * plan_[extent(next, actuators_) + extent(a)];
      }
      trial_[b * extent(actuators_) + extent(a)] = planned_ ? sum / blocks_[b].steps : applied[extent(a)];
    }
}

// A force acts all along a step of the prediction, so it is applied at once; a displacement is reached at its end.
double PredictiveControl::time_to_first(int actuator) const {
  return gives_force(model_->robot.actuators[extent(actuator)], /*at_rest=*/false) ? period_ : time_step();
}

// By its rate, from the block before or from what is applied.
double PredictiveControl::most_change(std::size_t block, int actuator) const {
  return model_->robot.actuators[extent(actuator)].rate * (block == 0 ? time_to_first(actuator) : time_step());
}

// Of the command of a block, by its range and its rate from the one before.
Interval PredictiveControl::limits(std::size_t block, int actuator, std::span<const double> applied) const {
  const ActuatorRow& row = model_->robot.actuators[extent(actuator)];
  const double before =
      block == 0 ? applied[extent(actuator)] : trial_[(block - 1) * extent(actuators_) + extent(actuator)];
  const double change = most_change(block, actuator);
  const auto in_range = [&](double command) { return std::clamp(command, row.range.lower, row.range.upper); };
  if (!std::isfinite(row.rate)) return row.range;
  return {in_range(before - change), in_range(before + change)};
}

void PredictiveControl::limit(std::span<const double> applied) {
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (int a = 0; a < actuators_; ++a) {
      const Interval can = limits(b, a, applied);
      double& command = trial_[b * extent(actuators_) + extent(a)];
      command = std::clamp(command, can.lower, can.upper);
    }
}

bool PredictiveControl::predict(std::span<const double> q, std::span<const double> v, std::span<const double> applied,
                                std::span<const double> goals, PlanReport& report) {
  std::ranges::copy(q, state_.q.begin());
  std::ranges::copy(v, state_.v.begin());
  std::ranges::copy(applied, state_.commands.begin());
  for (auto* values : {&state_.multipliers, &state_.contact_forces}) std::ranges::fill(*values, 0.0);
  S_.setZero();
  dS_.setZero();
  std::ranges::fill(slack_, 0);
  std::vector<double> reached(extent(unknowns_));
  report.contacts = report.inexact = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (int step = blocks_[b].first; step < blocks_[b].first + blocks_[b].steps; ++step) {
      const std::size_t at = b * extent(actuators_);
      std::copy_n(trial_.begin() + static_cast<std::ptrdiff_t>(at), actuators_, control_.commands.begin());
      before_ = state_;
      const StepReport own = stepper_.step(control_, state_);
      report.step = own.status;
      if (own.status != StepStatus::ok) return false;
      report.contacts = std::max(report.contacts, own.contact.touching);
      if (own.contact.softened + own.contact.loose > 0) ++report.inexact;
      derivative_.linearise(control_.commands, before_, state_);
      if (!derivative_.matrices(0, matrices_)) {
        report.step = StepStatus::rows_unsolved;
        return false;
      }
      // A cable that is slack as the block begins, and can come to where it pulls, is taken to pull from there all
      // along.
      for (std::size_t a = 0; a < extent(actuators_); ++a) {
        if (step == blocks_[b].first) {
          reached[at + a] = matrices_.reached[a];
          const Interval can = limits(b, static_cast<int>(a), applied);
          slack_[at + a] = matrices_.slack[a] && reached[at + a] >= can.lower && reached[at + a] <= can.upper;
        }
        if (matrices_.slack[a] && !slack_[at + a])
          for (int i = 0; i < nv_; ++i) matrices_.applied[extent(i, actuators_) + a] = 0;
      }
      add_sensitivities(static_cast<int>(b));
      std::ranges::copy(state_.q, predicted_.begin() + static_cast<std::ptrdiff_t>(extent(step, nv_)));
      add_distances(step, goals);
    }
  // Its command goes there, which changes nothing.
  for (std::size_t k = 0; k < trial_.size(); ++k)
    if (slack_[k]) trial_[k] = std::max(trial_[k], reached[k]);
  limit(applied);
  report.distance = size_of(distance_);
  return true;
}

// Root mean square over steps and effectors.
double PredictiveControl::size_of(const Eigen::VectorXd& weighted) const {
  double sum = 0;
  const auto rows = static_cast<Eigen::Index>(weight_.size());
  for (Eigen::Index k = 0; k < weighted.size(); ++k)
    if (const double weight = weight_[static_cast<std::size_t>(k % rows)]; weight != 0)
      sum += weighted[k] * weighted[k] / (weight * weight);
  return std::sqrt(sum / static_cast<double>(extent(steps()) * model_->robot.effectors.size()));
}

// Columns of blocks that have begun, in widths of ranges.
void PredictiveControl::add_sensitivities(int block) {
  const Eigen::Map<const RowMajor> by_q(matrices_.q.data(), nv_, nv_), by_v(matrices_.v.data(), nv_, nv_),
      applied(matrices_.applied.data(), nv_, actuators_);
  const Eigen::Index begun = static_cast<Eigen::Index>(block + 1) * actuators_;
  const Eigen::Map<const Eigen::VectorXd> width(width_.data(), actuators_);
  Eigen::MatrixXd u = by_q * S_.leftCols(begun);
  u.noalias() += (by_v / time_step()) * dS_.leftCols(begun);
  u.rightCols(actuators_) += applied * width.asDiagonal();
  S_.leftCols(begun) += u;
  dS_.leftCols(begun) = u;
}

void PredictiveControl::add_distances(int step, std::span<const double> goals) {
  const Robot& robot = model_->robot;
  const std::size_t numbers = 3 * robot.effectors.size();
  mechanics_.outputs_elsewhere(state_.q, state_.motions, points_);
  evaluate_effectors(robot, effector_rows_, points_, goals.subspan(extent(step) * numbers, numbers), phi_, gradients_);
  const int rows = effector_rows_.rows();
  for (int r = 0; r < rows; ++r) {
    const double* gradient = gradients_.data() + effector_rows_.offset[extent(r)];
    const int first = effector_rows_.first[extent(r)], count = effector_rows_.count[extent(r)];
    const Eigen::Map<const RowMajor> L(model_->outputs.data() + extent(first, nv_), count, nv_);
    const Eigen::RowVectorXd along = Eigen::Map<const Eigen::RowVectorXd>(gradient, count) * L;
    const Eigen::Index at = static_cast<Eigen::Index>(step) * rows + r;
    distance_[at] = weight_[extent(r)] * phi_[extent(r)];
    J_.row(at).noalias() = weight_[extent(r)] * (along * S_);
  }
}

// The quadratic program of the change x of the plan, in widths of ranges.
bool PredictiveControl::improve(std::span<const double> applied, PlanReport& report) {
  const Robot& robot = model_->robot;
  Eigen::Map<RowMajor> P(P_.data(), unknowns_, unknowns_);
  Eigen::Map<Eigen::VectorXd> g(g_.data(), unknowns_), x(change_.data(), unknowns_);
  // The same weights for any horizon.
  const double share = 1 / static_cast<double>(steps());
  P.setZero();
  P.selfadjointView<Eigen::Lower>().rankUpdate(J_.transpose(), share);
  g.noalias() = share * (J_.transpose() * distance_);
  const double smooth = settings_.smoothness * settings_.smoothness / static_cast<double>(blocks_.size()),
               effort = settings_.effort * settings_.effort / static_cast<double>(blocks_.size());
  C_.clear();
  row_lower_.clear();
  row_upper_.clear();
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (int a = 0; a < actuators_; ++a) {
      const ActuatorRow& actuator = robot.actuators[extent(a)];
      const auto k = static_cast<Eigen::Index>(b * extent(actuators_) + extent(a)), last = k - actuators_;
      const double width = width_[extent(a)], part = width * width / (largest_[extent(a)] * largest_[extent(a)]),
                   now = trial_[extent(static_cast<int>(k))] / width,
                   before = (b == 0 ? applied[extent(a)] : trial_[extent(static_cast<int>(last))]) / width;
      P(k, k) += smooth + effort * part;
      g[k] += smooth * (now - before) + effort * part * now;
      if (b > 0) {
        P(last, last) += smooth;
        P(k, last) -= smooth;
        g[last] -= smooth * (now - before);
      }
      lower_[extent(static_cast<int>(k))] = std::min(
          0.0,
          std::max(actuator.range.lower / width - now, slack_[extent(static_cast<int>(k))] ? 0.0 : -settings_.trust));
      upper_[extent(static_cast<int>(k))] =
          std::max(0.0, std::min(actuator.range.upper / width - now, settings_.trust));
      if (!std::isfinite(actuator.rate)) continue;
      const double change = most_change(b, a) / width;
      const std::size_t row = C_.size();
      C_.resize(row + extent(unknowns_), 0.0);
      C_[row + extent(static_cast<int>(k))] = 1;
      if (b > 0) C_[row + extent(static_cast<int>(last))] = -1;
      row_lower_.push_back(std::min(0.0, -change - (now - before)));
      row_upper_.push_back(std::max(0.0, change - (now - before)));
    }
  const auto rows = static_cast<int>(row_lower_.size());
  active_.resize(extent(unknowns_ + rows), QpSide::none);
  report.program =
      solve_qp({.n = unknowns_,
                .m = rows,
                .P = P_,
                .g = g_,
                .lower = lower_,
                .upper = upper_,
                .C = C_,
                .row_lower = row_lower_,
                .row_upper = row_upper_,
                .centre = {}},
               {.x = change_, .bound_multipliers = {}, .row_multipliers = {}, .active = active_}, workspace_);
  if (report.program.status != QpStatus::solved && report.program.status != QpStatus::iteration_limit) return false;
  report.expected = size_of(distance_ + J_ * x);
  for (int k = 0; k < unknowns_; ++k) trial_[extent(k)] += x[k] * width_[extent(k % actuators_)];
  limit(applied);  // rounding
  return true;
}

PlanReport PredictiveControl::plan(std::span<const double> q, std::span<const double> v,
                                   std::span<const double> applied, std::span<const double> goals,
                                   std::span<const double> load) {
  check_numbers(q, extent(nv_), "q");
  check_numbers(v, extent(nv_), "v");
  check_numbers(applied, extent(actuators_), "applied");
  check_numbers(goals, extent(steps()) * 3 * model_->robot.effectors.size(), "goals");
  check_numbers(load, extent(nv_), "load", true);
  stepper_.set_load(load);
  PlanReport report;
  move_on(applied);
  limit(applied);
  std::vector<double> simulated = trial_;
  for (; report.iterations < settings_.iterations; ++report.iterations) {
    if (!predict(q, v, applied, goals, report)) {
      report.status = PlanReport::Status::prediction_failed;
      trial_ = simulated;  // as far as it has been simulated
      break;
    }
    simulated = trial_;
    if (!improve(applied, report)) {
      report.status = PlanReport::Status::no_answer;
      break;
    }
  }
  keep(applied);
  // What led to a state without a step is no start for the next plan.
  planned_ = report.status != PlanReport::Status::prediction_failed;
  return report;
}

void PredictiveControl::keep(std::span<const double> applied) {
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (int k = blocks_[b].first; k < blocks_[b].first + blocks_[b].steps; ++k)
      std::copy_n(trial_.begin() + static_cast<std::ptrdiff_t>(b * extent(actuators_)), actuators_,
                  plan_.begin() + static_cast<std::ptrdiff_t>(extent(k, actuators_)));
  for (int a = 0; a < actuators_; ++a) {
    const double share = period_ / time_to_first(a);
    commands_[extent(a)] =
        share < 1 ? applied[extent(a)] + share * (plan_[extent(a)] - applied[extent(a)]) : plan_[extent(a)];
  }
}

}  // namespace supple

#include "engine/inverse/inverse_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "engine/inverse/inverse_contact.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

namespace {

// What a command may be in a step of length `step`. From outside its range it comes back at its rate.
Interval command_limits(const ActuatorRow& actuator, double previous, double step) {
  if (!(step > 0) || actuator.rate == unlimited) return actuator.range;
  const double low = previous - actuator.rate * step, high = previous + actuator.rate * step;
  return {std::min(std::max(actuator.range.lower, low), high), std::max(std::min(actuator.range.upper, high), low)};
}

// Unknowns of the program of a robot, and rows beside the goals that are computed in the mean: limits on lengths, exact
// goals.
struct ProgramSize {
  int unknowns = 0, rows = 0;
};

ProgramSize program_size(const Robot& robot, bool moves_inputs) {
  ProgramSize size{
      static_cast<int>(robot.actuators.size()) + (moves_inputs ? static_cast<int>(robot.motions.size()) : 0), 0};
  for (const ActuatorRow& actuator : robot.actuators)
    if (actuator.control != ActuatorControl::force) ++size.rows;
  for (const Effector& effector : robot.effectors)
    if (effector.exact) size.rows += effector.rows();
  return size;
}

bool has_limits(const Robot& robot) {
  return std::ranges::any_of(robot.constraints, &ConstraintRow::one_sided);
}

constexpr int fewest_contacts = 4;  // that inverse control is to have room for

std::optional<InputError> too_large(const ProgramSize& size) {
  if (size.unknowns <= max_qp_unknowns && size.rows <= max_qp_rows) return std::nullopt;
  return InputError(fmt::format("inverse control takes at most {} actuators and inputs and {} limits on lengths and "
                                "exact goals (the robot has {} and {})",
                                max_qp_unknowns, max_qp_rows, size.unknowns, size.rows),
                    "fewer actuators, or control = \"force\"");
}

}  // namespace

Interval own_force_limits(const ActuatorRow& actuator) {
  const bool pulls_only = actuator.kind != ActuatorKind::force && !actuator.bilateral;
  return {pulls_only ? std::max(0.0, actuator.force.lower) : actuator.force.lower, actuator.force.upper};
}

Interval limited_force(const ActuatorRow& actuator, const Interval& asked, const std::string& when) {
  const auto what = [&] { return fmt::format("the limits of '{}'{}", actuator.name, when); };
  const Interval own = own_force_limits(actuator);
  // One that was not asked for is the robot's own: then the other lies outside.
  if (asked.lower > asked.upper && asked.lower != own.lower && asked.upper != own.upper)
    throw InputError(what() + " are reversed", "the least first");
  // What it is commanded by has a range of its own.
  Interval allowed = own;
  if (commands_force(actuator.control))
    allowed = {std::max(own.lower, actuator.range.lower), std::min(own.upper, actuator.range.upper)};
  if (asked.lower > allowed.upper || asked.upper < allowed.lower)
    throw InputError(fmt::format("{} lie outside those of the robot ({} to {})", what(),
                                 format_quantity(allowed.lower, multiplier_dimension(actuator.kind)),
                                 format_quantity(allowed.upper, multiplier_dimension(actuator.kind))),
                     "limits within them");
  return clipped(asked, own);
}

std::optional<InputError> cannot_lead(const Robot& robot) {
  if (robot.effectors.empty()) return InputError("the robot has no effector to bring anywhere", "[[effector]]");
  const ProgramSize size = program_size(robot, true);
  if (size.unknowns == 0)
    return InputError("the robot has no actuator to bring its effectors anywhere", "[[actuator]]");
  if (const auto why = too_large(size)) return why;
  const auto limited =
      std::ranges::count_if(robot.obstacles, [](const PlacedObstacle& o) { return o.max_force < unlimited; });
  if ((robot.touches() || has_limits(robot)) &&
      InverseLaw::most_contacts(size.unknowns, size.rows + static_cast<int>(limited)) < fewest_contacts)
    return InputError(
        fmt::format("{} obstacles with a max_force and {} actuators and inputs leave inverse control no room "
                    "for {} contacts and limits at once",
                    limited, size.unknowns, fewest_contacts),
        "fewer obstacles with a max_force, or fewer actuators");
  return std::nullopt;
}

InverseLaw::InverseLaw(const Robot& robot, int robots, const InverseSettings& settings)
    : robot_(robot),
      settings_(settings),
      robots_(robots),
      n_(static_cast<int>(robot.actuators.size())),
      motions_(settings.moves_inputs ? static_cast<int>(robot.motions.size()) : 0),
      rows_(0),
      has_limits_(has_limits(robot)),
      layout_(effector_layout(robot)),
      constraints_(robots, n_, static_cast<int>(robot.constraints.size()), layout_.rows(), motions_) {
  SUPPLE_EXPECT(settings.effort.empty() || settings.effort.size() == robot.actuators.size());
  if (settings.solver == InverseSolver::gauss_seidel && robot.touches())
    throw InputError("Gauss-Seidel knows no contact, and the robot may touch obstacles",
                     "the quadratic program, or the scene without [[obstacle]]");
  if (settings.solver == InverseSolver::gauss_seidel && has_limits(robot))
    throw InputError("Gauss-Seidel knows no one-sided constraints, and the robot has some",
                     "the quadratic program, or the scene without type = \"limit\"");
  if (settings.solver == InverseSolver::gauss_seidel)
    for (const Effector& effector : robot.effectors)
      if (effector.exact)
        throw InputError(fmt::format("Gauss-Seidel cannot reach '{}' exactly", effector.name),
                         "the quadratic program, or exact = false");
  for (int j = 0; j < n_; ++j) {
    const ActuatorRow& actuator = robot.actuators[static_cast<std::size_t>(j)];
    if (actuator.control != ActuatorControl::force) limited_.push_back(j);
  }
  const ProgramSize size = program_size(robot, settings.moves_inputs);
  if (const auto why = too_large(size)) throw InputError(*why);
  rows_ = size.rows;
  const int unknowns = size.unknowns, effectors = static_cast<int>(robot.effectors.size());
  goals_.assign(extent(robots, 3, effectors), 0.0);
  steered_.assign(extent(effectors), 1);
  known_.assign(extent(robots, n_), std::nan(""));
  std::ranges::transform(robot.actuators, std::back_inserter(force_limits_), own_force_limits);
  for (auto* v : {&start_multipliers_, &start_commands_}) v->assign(extent(robots, n_), 0.0);
  const int threads = std::min(robots, most_threads());
  for (int t = 0; t < threads; ++t) {
    problems_.emplace_back(layout_.rows(), n_, unknowns, rows_);
    workspaces_.emplace_back(unknowns, rows_);
  }
  active_.assign(extent(robots, unknowns + rows_), QpSide::none);
  asked_.assign(extent(robots, layout_.rows()), 0.0);
  reports_.resize(extent(robots));
  movements_.assign(extent(robots), 0.0);
  for (auto* v : {&solved_, &held_before_, &found_}) v->assign(extent(robots), 1);
  found_commands_.assign(extent(robots, n_), 0.0);
  for (std::size_t o = 0; o < robot.obstacles.size(); ++o)
    if (robot.obstacles[o].max_force < unlimited) limited_obstacles_.push_back(static_cast<int>(o));
  if (robot.touches() || has_limits(robot))
    contact_ = std::make_unique<Contact>(robot, robots, layout_.rows(), motions_,
                                         rows_ + static_cast<int>(limited_obstacles_.size()));
  conflicts_.resize(extent(robots));
}

InverseLaw::~InverseLaw() = default;

void InverseLaw::set_goals(std::span<const double> goals) {
  SUPPLE_EXPECT(goals.size() == goals_.size());
  std::copy(goals.begin(), goals.end(), goals_.begin());
}

void InverseLaw::know(int robot, int actuator, double command) {
  known_[extent(robot, n_) + static_cast<std::size_t>(actuator)] = command;
}

void InverseLaw::forget() {
  std::ranges::transform(robot_.actuators, force_limits_.begin(), own_force_limits);
  std::fill(active_.begin(), active_.end(), QpSide::none);
  std::fill(known_.begin(), known_.end(), std::nan(""));
  std::fill(steered_.begin(), steered_.end(), 0);
  if (contact_) std::fill(contact_->active.begin(), contact_->active.end(), QpSide::none);
}

std::vector<int> InverseLaw::memory() const {
  std::vector<int> sides;
  memory(sides);
  return sides;
}

void InverseLaw::memory(std::vector<int>& sides) const {
  sides.clear();
  const auto add = [&](const std::vector<QpSide>& active) {
    for (QpSide side : active) sides.push_back(static_cast<int>(side));
  };
  add(active_);
  if (contact_) add(contact_->active);
}

void InverseLaw::recall(std::span<const int> memory) {
  SUPPLE_EXPECT(memory.size() == active_.size() + (contact_ ? contact_->active.size() : 0));
  auto from = memory.begin();
  const auto take = [&](std::vector<QpSide>& active) {
    for (QpSide& side : active) side = static_cast<QpSide>(std::clamp(*from++, -1, 1));
  };
  take(active_);
  if (contact_) take(contact_->active);
}

void InverseLaw::start_cold(int robot) {
  const auto clear = [&](std::vector<QpSide>& active) {
    const std::size_t own = active.size() / extent(robots_);
    std::ranges::fill(std::span(active).subspan(extent(robot) * own, own), QpSide::none);
  };
  clear(active_);
  if (contact_) clear(contact_->active);
}

// What the command of an actuator may be in this step: a known one is cut to its range, as a forward step does it.
Interval InverseLaw::limits_of_command(int robot, int j) const {
  const std::size_t at = extent(robot, n_) + static_cast<std::size_t>(j);
  const ActuatorRow& actuator = robot_.actuators[static_cast<std::size_t>(j)];
  if (std::isnan(known_[at])) return command_limits(actuator, start_commands_[at], step_);
  const double command = std::clamp(known_[at], actuator.range.lower, actuator.range.upper);
  return {command, command};
}

Interval InverseLaw::limits_of_row(int robot, int j) const {
  if (gives_force(robot_.actuators[static_cast<std::size_t>(j)], at_rest_)) return {};
  const Interval limits = limits_of_command(robot, j);
  const double scale = scale_of(robot, j);
  return {scale * limits.lower, scale * limits.upper};
}

void InverseLaw::evaluate_effectors(int robot, std::span<const double> y, std::span<double> phi,
                                    std::span<double> gradients) const {
  supple::evaluate_effectors(robot_, layout_, y, goals(robot), phi, gradients);
}

int InverseLaw::begin(const State& state, double step, bool at_rest, std::span<double> multipliers) {
  step_ = step;
  at_rest_ = at_rest;
  std::fill(movements_.begin(), movements_.end(), unlimited);
  qp_seconds_ = 0;
  begun_ = false;
  std::fill(found_.begin(), found_.end(), 0);
  for (std::size_t b = 0; b < reports_.size(); ++b) {
    reports_[b].held = !hold_reason_.empty();
    conflicts_[b] = hold_reason_;
  }
  const std::size_t n = extent(n_), rows = extent(robot_.rows());
  for (std::size_t b = 0; b < reports_.size(); ++b)
    std::copy_n(state.multipliers.data() + b * rows, n, start_multipliers_.data() + b * n);
  std::copy(state.commands.begin(), state.commands.end(), start_commands_.begin());
  std::copy(state.multipliers.begin(), state.multipliers.end(), multipliers.begin());
  return 0;
}

bool InverseLaw::solve(const ConstraintSpace& all, std::span<const char> touch, std::span<double> multipliers,
                       std::span<double> dc) {
  scale_.assign(all.command_scale.begin(), all.command_scale.end());
  if (has_limits_) return solve_with_limits(all, touch, multipliers, dc);
  const auto start = std::chrono::steady_clock::now();
  const int n = n_, m = motions_, N = n + m;
  [[maybe_unused]] const auto threads = static_cast<int>(problems_.size());  // without OpenMP
  const ConstraintSpace& free_of_constraints = constraints_.eliminate(all);
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    const auto thread = static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0);
    const ConstraintSpace space = of_robot(free_of_constraints, b);
    Problem& problem = problems_[thread];
    QpWorkspace& workspace = workspaces_[thread];
    InverseReport& report = reports_[static_cast<std::size_t>(b)];
    std::string& conflict = conflicts_[static_cast<std::size_t>(b)];
    double* x = problem.x.data();
    held_before_[static_cast<std::size_t>(b)] = report.held;
    report.contacts = 0;
    report.pyramid_error = 0;
    if (!begun_) ask(space, b);
    if (!touch.empty() && touch[extent(b)] != 0) {
      solved_[static_cast<std::size_t>(b)] = 1;
      continue;
    }
    if (!constraints_.independent(b)) {
      solved_[static_cast<std::size_t>(b)] = 0;
      movements_[static_cast<std::size_t>(b)] = 0;
      continue;
    }
    if (!report.held) {
      build(space, b, problem);
      const std::span<QpSide> active = std::span<QpSide>(active_).subspan(extent(b, N + rows_), extent(N + rows_));
      report.qp = settings_.solver == InverseSolver::gauss_seidel
                      ? descend(problem)
                      : solve_program(
                            problem, [&] { return solve_once(problem, workspace, active); },
                            [&] { return hold(space, b, problem); });
      report.held = report.qp.status != QpStatus::solved;
      conflict = report.held ? explain(workspace.conflicts(), problem, report.qp.status) : "";
    }
    solved_[static_cast<std::size_t>(b)] = !report.held || hold(space, b, problem);
    report.saturated = report.held ? 0 : saturated(problem);
    double* lambda = multipliers.data() + extent(b, all.rows);
    std::copy_n(x, n, lambda);
    std::copy_n(x + n, m, dc.data() + extent(b, m));
    constraints_.multipliers(b, x, x + n, lambda + n);
    movements_[static_cast<std::size_t>(b)] = promise(of_robot(all, b), lambda, x + n, problem, report);
  }
  begun_ = true;
  qp_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::all_of(solved_.begin(), solved_.end(), [](char solved) { return solved != 0; });
}

// One robot after the other: their limits are contacts of the one program in contact.
bool InverseLaw::solve_with_limits(const ConstraintSpace& all, std::span<const char> touch,
                                   std::span<double> multipliers, std::span<double> dc) {
  bool solved = true;
  for (int b = 0; b < robots_; ++b) {
    const ConstraintSpace space = of_robot(all, b);
    InverseReport& report = reports_[extent(b)];
    held_before_[extent(b)] = report.held;
    if (!begun_) ask(space, b);
    solved_[extent(b)] = 1;
    if (!touch.empty() && touch[extent(b)] != 0) continue;
    ContactSpace alone;
    alone.rows = all.rows;
    alone.free = space.free;
    alone.W = space.W;
    alone.alone = space;
    const ContactReport answer = solve_in_contact(b, alone, multipliers.subspan(extent(b, all.rows), extent(all.rows)),
                                                  dc.subspan(extent(b, motions_), extent(motions_)));
    solved_[extent(b)] = answer.status == ContactStatus::solved;
    solved = solved && solved_[extent(b)] != 0;
  }
  begun_ = true;
  return solved;
}

// What the linearisation promises, and how far it moves any row; multipliers and dc of all rows of `space`.
double InverseLaw::promise(const ConstraintSpace& space, const double* lambda, const double* dc, const Problem& problem,
                           InverseReport& report) const {
  const int all = space.rows, m = space.motions;
  double error = 0, movement = 0;
  for (int r = 0; r < space.effector_rows && !report.held; ++r) {
    const std::size_t k = extent(r);
    if (problem.weight[k] == 0 && !problem.exact[k]) continue;
    const double end = space.effector_free[k] + inner_product(space.effector_W.data() + extent(r, all), lambda, all) +
                       inner_product(space.effector_B.data() + extent(r, m), dc, m);
    const double scaled = (problem.exact[k] ? 1 : problem.weight[k]) * end;
    error += scaled * scaled;
    movement = std::max(movement, std::abs(end - space.effector_phi[k]));
  }
  for (int j = 0; j < n_; ++j) {
    const double end = space.free[extent(j)] + inner_product(space.W.data() + extent(j, all), lambda, all) +
                       inner_product(space.B.data() + extent(j, m), dc, m);
    const ActuatorRow& actuator = robot_.actuators[extent(j)];
    const double moved = end - space.compliance[extent(j)] * lambda[j] - space.phi[extent(j)];  // W has it
    movement = std::max(movement, std::abs(moved) / actuator.size());
  }
  for (int k = 0; k < m; ++k) movement = std::max(movement, std::abs(dc[k]));
  report.predicted_error = report.held ? std::nan("") : std::sqrt(error);
  return movement;
}

std::string InverseLaw::explain(std::span<const QpConflict> conflicts, const Problem& problem, QpStatus status) const {
  switch (status) {
    case QpStatus::not_finite:
      return "a goal, a command or the robot's state is not a number";
    case QpStatus::unbounded:
      return "nothing limits the multipliers: give the actuators force limits, or use a regularisation";
    case QpStatus::not_convex:
      return "the compliance of the actuators is not positive (the equilibrium is unstable)";
    case QpStatus::iteration_limit:
      return "the quadratic program was not solved to its tolerance";
    case QpStatus::infeasible:
    case QpStatus::solved:
      break;
  }
  if (settings_.solver == InverseSolver::gauss_seidel)
    return "limits of forces and of displacements are infeasible together";
  std::vector<std::string> named;
  for (const QpConflict& conflict : conflicts) {
    std::string text = name_of(conflict, problem);
    if (std::ranges::find(named, text) == named.end()) named.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

// The limit that a conflict is about, in words with units.
std::string InverseLaw::name_of(const QpConflict& conflict, const Problem& problem) const {
  const bool upper = conflict.side == QpSide::upper;
  const char* side = upper ? "at most" : "at least";
  const int i = conflict.constraint, N = n_ + motions_;
  if (i >= N + rows_) {
    const auto k = static_cast<std::size_t>(i - N - rows_);
    if (k < limited_obstacles_.size()) {
      const PlacedObstacle& obstacle = robot_.obstacles[static_cast<std::size_t>(limited_obstacles_[k])];
      return fmt::format("force on '{}' at most {:.4g} N", obstacle.name, obstacle.max_force);
    }
    const int contact = contact_->chosen[k - limited_obstacles_.size()] - contact_->obstacle_contacts;
    if (contact < 0) return "contact with the obstacles";
    return fmt::format("limit '{}'", robot_.constraints[extent(contact_->limit_rows[extent(contact)] - n_)].name);
  }
  if (i < n_) {
    const auto k = static_cast<std::size_t>(i);
    const ActuatorRow& actuator = robot_.actuators[k];
    // A limit that follows from the last command is another one in each step.
    const bool follows = commands_force(actuator.control) && actuator.rate < unlimited;
    return fmt::format(
        "{} of '{}' {} {}", multiplier_word(actuator.kind), actuator.name, side,
        follows ? "its range and rate allow"
                : format_quantity(upper ? problem.upper[k] : problem.lower[k], multiplier_dimension(actuator.kind)));
  }
  if (i < N) {
    const MotionInput& motion = robot_.motions[static_cast<std::size_t>(i - n_)];
    return fmt::format("'{}' {} {}", motion.name, side,
                       format_quantity(upper ? motion.range.upper : motion.range.lower,
                                       motion.rotation ? Dimension::angle : Dimension::length));
  }
  if (static_cast<std::size_t>(i - N) < limited_.size()) {
    const ActuatorRow& actuator = robot_.actuators[static_cast<std::size_t>(limited_[static_cast<std::size_t>(i - N)])];
    return fmt::format("{} of '{}' {} its {}", command_word(actuator.kind, actuator.control), actuator.name, side,
                       actuator.rate < unlimited ? "range and rate allow" : "range allows");
  }
  int row = i - N - static_cast<int>(limited_.size());
  for (const Effector& effector : robot_.effectors) {
    if (!effector.exact) continue;
    if (row < effector.rows()) return fmt::format("goal of '{}' exactly", effector.name);
    row -= effector.rows();
  }
  return "a limit";
}

double InverseLaw::violation(int robot, std::span<const double>, std::span<const double>,
                             std::span<const double>) const {
  return movements_[extent(robot)];
}

void InverseLaw::commands(std::span<const double> delta, std::span<const double> scale,
                          std::span<const double> multipliers, std::span<double> commands) const {
  for (std::size_t k = 0; k < commands.size(); ++k) {
    const ActuatorRow& actuator = robot_.actuators[k % robot_.actuators.size()];
    const bool force = gives_force(actuator, at_rest_);
    const auto robot = static_cast<int>(k / robot_.actuators.size()), j = static_cast<int>(k % robot_.actuators.size());
    if (reports_[static_cast<std::size_t>(robot)].held) {
      const double command = std::isnan(known_[k]) ? start_commands_[k] : known_[k];
      const RowTarget law = row_target(actuator, command, command, 0, at_rest_);
      commands[k] = force ? law.lower : law.target;
      continue;
    }
    const Interval limits = limits_of_command(robot, j);
    const std::size_t row = extent(robot, robot_.rows()) + extent(j);
    commands[k] =
        std::clamp(force ? multipliers[row] : delta[row] / command_scale(scale, row), limits.lower, limits.upper);
  }
}

}  // namespace supple

#include "engine/inverse/inverse_law.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/complementarity/box_complementarity.hpp"
#include "solvers/qp/gauss_seidel.hpp"

namespace supple {

// The program of one robot; N unknowns, M rows.
struct InverseLaw::Problem {
  std::vector<double> J, shift, weight;  // effector rows x N; delta_e_free - delta_e_asked; Omega by row
  std::vector<char> exact;               // by effector row
  std::vector<double> P, g, lower, upper, C, row_lower, row_upper, centre, x, bound_multipliers, row_multipliers;

  std::vector<double> held_lower, held_upper, held_free, work;  // of the forward law, where the last commands are held
  std::vector<double> W, displacement_free, displacement_lower, displacement_upper;  // of Gauss-Seidel

  std::vector<double> kept_lower, kept_upper, kept_row_upper, kept_x, kept_bound_multipliers, kept_row_multipliers;
  void keep_limits() {
    kept_lower = lower;
    kept_upper = upper;
    kept_row_upper = row_upper;
  }
  void restore_limits() {
    lower = kept_lower;
    upper = kept_upper;
    row_upper = kept_row_upper;
  }
  void keep_answer() {
    kept_x = x;
    kept_bound_multipliers = bound_multipliers;
    kept_row_multipliers = row_multipliers;
  }
  void restore_answer() {
    x = kept_x;
    bound_multipliers = kept_bound_multipliers;
    row_multipliers = kept_row_multipliers;
  }

  Problem(int effector_rows, int actuators, int unknowns, int rows) {
    J.assign(extent(effector_rows, unknowns), 0.0);
    for (auto* v : {&shift, &weight}) v->assign(extent(effector_rows), 0.0);
    exact.assign(extent(effector_rows), 0);
    P.assign(extent(unknowns, unknowns), 0.0);
    for (auto* v : {&g, &lower, &upper, &centre, &x, &bound_multipliers}) v->assign(extent(unknowns), 0.0);
    C.assign(extent(rows, unknowns), 0.0);
    for (auto* v : {&row_lower, &row_upper, &row_multipliers}) v->assign(extent(rows), 0.0);
    keep_limits();
    keep_answer();
    for (auto* v : {&held_lower, &held_upper, &held_free}) v->assign(extent(actuators), 0.0);
    work.assign(static_cast<std::size_t>(
                    std::max(box_complementarity_work(actuators), gauss_seidel_work(unknowns, effector_rows))),
                0.0);
    W.assign(extent(unknowns, unknowns), 0.0);
    for (auto* v : {&displacement_free, &displacement_lower, &displacement_upper}) v->assign(extent(unknowns), 0.0);
  }
};

namespace {

// Largest absolute row sum of an n x n block of a matrix with `stride` columns.
double row_sum_norm(const double* A, int n, int stride) {
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += std::abs(A[i * stride + j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

double product(const double* a, const double* b, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

Interval intersect(const Interval& a, const Interval& b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

// What a command may be in a step of length `step`. From outside its range it comes back at its rate.
Interval command_limits(const ActuatorRow& actuator, double previous, double step) {
  if (!(step > 0) || actuator.rate == unlimited) return actuator.range;
  const double low = previous - actuator.rate * step, high = previous + actuator.rate * step;
  return {std::min(std::max(actuator.range.lower, low), high), std::max(std::min(actuator.range.upper, high), low)};
}

// A cable that only pulls: where it hangs loose (lambda = 0) its length is not its command.
bool may_hang_loose(const ActuatorRow& actuator) {
  return !actuator.bilateral && actuator.control == ActuatorControl::displacement && actuator.force.lower <= 0;
}

}  // namespace

InverseLaw::InverseLaw(const Robot& robot, int robots, const InverseSettings& settings)
    : robot_(robot),
      settings_(settings),
      robots_(robots),
      n_(robot.rows()),
      motions_(settings.moves_inputs ? static_cast<int>(robot.motions.size()) : 0),
      rows_(0),
      layout_(effector_layout(robot)) {
  SUPPLE_EXPECT(settings.effort.empty() || settings.effort.size() == robot.actuators.size());
  if (settings.solver == InverseSolver::gauss_seidel)
    for (const Effector& effector : robot.effectors)
      if (effector.exact)
        throw InputError(fmt::format("Gauss-Seidel cannot reach '{}' exactly", effector.name),
                         "the quadratic program, or exact = false");
  for (int j = 0; j < n_; ++j) {
    const ActuatorRow& actuator = robot.actuators[static_cast<std::size_t>(j)];
    if (actuator.control == ActuatorControl::displacement) limited_.push_back(j);
  }
  rows_ = static_cast<int>(limited_.size());
  for (const Effector& effector : robot.effectors)
    if (effector.exact) rows_ += effector.rows();
  const int unknowns = n_ + motions_, effectors = static_cast<int>(robot.effectors.size());
  if (unknowns > max_qp_unknowns || rows_ > max_qp_rows)
    throw InputError(fmt::format("inverse control takes at most {} actuators and inputs and {} limits on lengths and "
                                 "exact goals (the robot has {} and {})",
                                 max_qp_unknowns, max_qp_rows, unknowns, rows_),
                     "fewer actuators, or control = \"force\"");
  goals_.assign(extent(robots, 3, effectors), 0.0);
  steered_.assign(extent(effectors), 1);
  known_.assign(extent(robots, n_), std::nan(""));
  for (auto* v : {&start_multipliers_, &start_commands_}) v->assign(extent(robots, n_), 0.0);
  const int threads = std::min(robots, omp_get_max_threads());
  for (int t = 0; t < threads; ++t) {
    problems_.emplace_back(layout_.rows(), n_, unknowns, rows_);
    workspaces_.emplace_back(unknowns, rows_);
  }
  active_.assign(extent(robots, unknowns + rows_), QpSide::none);
  asked_.assign(extent(robots, layout_.rows()), 0.0);
  reports_.resize(extent(robots));
  movements_.assign(extent(robots), 0.0);
  solved_.assign(extent(robots), 1);
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
  std::fill(active_.begin(), active_.end(), QpSide::none);
  std::fill(known_.begin(), known_.end(), std::nan(""));
  std::fill(steered_.begin(), steered_.end(), 0);
}

// What the command of an actuator may be in this step: a known one is cut to its range, as a forward step does it.
Interval InverseLaw::limits_of_command(int robot, int j) const {
  const std::size_t at = extent(robot, n_) + static_cast<std::size_t>(j);
  const ActuatorRow& actuator = robot_.actuators[static_cast<std::size_t>(j)];
  if (std::isnan(known_[at])) return command_limits(actuator, start_commands_[at], step_);
  const double command = std::clamp(known_[at], actuator.range.lower, actuator.range.upper);
  return {command, command};
}

void InverseLaw::evaluate_effectors(int robot, std::span<const double> y, std::span<double> phi,
                                    std::span<double> gradients) const {
  const std::size_t size = 3 * robot_.effectors.size();
  supple::evaluate_effectors(robot_, layout_, y,
                             std::span<const double>(goals_).subspan(static_cast<std::size_t>(robot) * size, size), phi,
                             gradients);
}

int InverseLaw::begin(const State& state, double step, std::span<double> multipliers) {
  step_ = step;
  movement_ = unlimited;
  qp_seconds_ = 0;
  begun_ = false;
  for (std::size_t b = 0; b < reports_.size(); ++b) {
    reports_[b].held = !hold_reason_.empty();
    conflicts_[b] = hold_reason_;
  }
  std::copy(state.multipliers.begin(), state.multipliers.end(), start_multipliers_.begin());
  std::copy(state.commands.begin(), state.commands.end(), start_commands_.begin());
  std::copy(state.multipliers.begin(), state.multipliers.end(), multipliers.begin());
  return 0;
}

void InverseLaw::build(const ConstraintSpace& space, int robot, bool begun, Problem& problem) {
  const int n = n_, m = motions_, N = n + m, e = layout_.rows();
  const double *W = space.W.data() + extent(robot, n, n), *B = space.B.data() + extent(robot, n, m);
  const double* free = space.free.data() + extent(robot, n);
  const double* inputs = space.inputs.data() + extent(robot, m);
  const double* start = start_multipliers_.data() + extent(robot, n);

  // Effector rows: J = [W_ea, B_e]. What is left of the way where the goal's speed is limited is settled by the first
  // linearisation of a step; a limited reach brings all rows nearer by the same share, so that where nothing moves any
  // more the conditions of the optimum hold.
  const double *phi = space.effector_phi.data() + extent(robot, e), speed = settings_.goal_speed * step_;
  double* asked = asked_.data() + extent(robot, e);
  double share = 1;
  int row = 0;
  for (std::size_t k = 0; k < robot_.effectors.size(); ++k) {
    const int rows = robot_.effectors[k].rows();
    const bool steered = steered_[k] != 0;
    if (!begun) {
      const double distance = std::sqrt(product(phi + row, phi + row, rows));
      const double left = steered && step_ > 0 && distance > speed ? 1 - speed / distance : 0;
      for (int i = row; i < row + rows; ++i) asked[i] = left * phi[i];
    }
    double way = 0;
    for (int i = row; i < row + rows; ++i) way += (phi[i] - asked[i]) * (phi[i] - asked[i]);
    if (steered && way > trust_ * trust_) share = std::min(share, trust_ / std::sqrt(way));
    row += rows;
  }
  row = 0;
  for (std::size_t k = 0; k < robot_.effectors.size(); ++k) {
    const Effector& effector = robot_.effectors[k];
    const bool steered = steered_[k] != 0;
    for (int i = 0; i < effector.rows(); ++i, ++row) {
      const std::size_t at = extent(robot, e) + static_cast<std::size_t>(row);
      double* J = problem.J.data() + extent(row, N);
      std::copy_n(space.effector_W.data() + at * extent(n), n, J);
      std::copy_n(space.effector_B.data() + at * extent(m), m, J + n);
      const auto r = static_cast<std::size_t>(row);
      const double target = asked[row] + (1 - share) * (phi[row] - asked[row]);
      problem.shift[r] = steered ? space.effector_free[at] - target : 0;
      problem.exact[r] = effector.exact && steered;
      problem.weight[r] = steered && !effector.exact ? effector.weight : 0;
    }
  }

  // P = J^T Omega^2 J, g = J^T Omega^2 shift
  std::fill(problem.P.begin(), problem.P.end(), 0.0);
  std::fill(problem.g.begin(), problem.g.end(), 0.0);
  for (int r = 0; r < e; ++r) {
    const double weight = problem.weight[static_cast<std::size_t>(r)];
    if (weight == 0) continue;
    const double* J = problem.J.data() + extent(r, N);
    for (int i = 0; i < N; ++i) {
      const double scaled = weight * weight * J[i];
      problem.g[static_cast<std::size_t>(i)] += scaled * problem.shift[static_cast<std::size_t>(r)];
      for (int j = 0; j < N; ++j) problem.P[static_cast<std::size_t>(i * N + j)] += scaled * J[j];
    }
  }
  const auto effort = [&](int j) {
    return settings_.effort.empty() ? 1 : settings_.effort[static_cast<std::size_t>(j)];
  };
  if (settings_.regularisation != Regularisation::none && settings_.epsilon > 0) {
    const double compliance = row_sum_norm(W, n, n);
    const double goals = row_sum_norm(problem.P.data(), n, N);
    // Where nothing is steered the regularisation is all there is.
    const double rho = compliance > 0 ? (goals > 0 ? settings_.epsilon * goals : 1) / compliance : 0;
    if (settings_.regularisation == Regularisation::energy) {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          problem.P[static_cast<std::size_t>(i * N + j)] += rho * std::sqrt(effort(i) * effort(j)) * W[i * n + j];
    } else {
      for (int j = 0; j < n; ++j) {
        const double change = rho * effort(j) * std::abs(W[j * n + j]);
        problem.P[static_cast<std::size_t>(j * N + j)] += change;
        problem.g[static_cast<std::size_t>(j)] -= change * start[j];
      }
    }
    const double motion =
        settings_.epsilon * row_sum_norm(problem.P.data() + extent(n, N) + static_cast<std::size_t>(n), m, N);
    for (int k = n; k < N; ++k) problem.P[static_cast<std::size_t>(k * N + k)] += motion;
  }

  // Limits.
  for (int j = 0; j < n; ++j) {
    const ActuatorRow& actuator = robot_.actuators[static_cast<std::size_t>(j)];
    Interval limits = actuator.force;
    if (actuator.kind == ActuatorKind::cable && !actuator.bilateral) limits.lower = std::max(0.0, limits.lower);
    if (actuator.control == ActuatorControl::force) limits = intersect(limits, limits_of_command(robot, j));
    problem.lower[static_cast<std::size_t>(j)] = limits.lower;
    problem.upper[static_cast<std::size_t>(j)] = limits.upper;
    problem.centre[static_cast<std::size_t>(j)] = start[j];
  }
  for (int k = 0; k < m; ++k) {
    const Interval& range = robot_.motions[static_cast<std::size_t>(k)].range;
    problem.lower[static_cast<std::size_t>(n + k)] = range.lower - inputs[k];
    problem.upper[static_cast<std::size_t>(n + k)] = range.upper - inputs[k];
    problem.centre[static_cast<std::size_t>(n + k)] = 0;
  }
  std::size_t c = 0;
  for (int j : limited_) {
    const Interval limits = limits_of_command(robot, j);
    double* C = problem.C.data() + c * extent(N);
    std::copy_n(W + j * n, n, C);
    std::copy_n(B + j * m, m, C + n);
    problem.row_lower[c] = limits.lower - free[j];
    problem.row_upper[c] = limits.upper - free[j];
    ++c;
  }
  row = 0;
  for (const Effector& effector : robot_.effectors)
    for (int i = 0; i < effector.rows(); ++i, ++row) {
      if (!effector.exact) continue;
      const auto r = static_cast<std::size_t>(row);
      std::copy_n(problem.J.data() + r * extent(N), N, problem.C.data() + c * extent(N));
      problem.row_lower[c] = problem.exact[r] ? -problem.shift[r] : -unlimited;
      problem.row_upper[c] = problem.exact[r] ? -problem.shift[r] : unlimited;
      ++c;
    }
}

QpReport InverseLaw::solve_once(Problem& problem, QpWorkspace& workspace, std::span<QpSide> active) const {
  return solve_qp({.n = n_ + motions_,
                   .m = rows_,
                   .P = problem.P,
                   .g = problem.g,
                   .lower = problem.lower,
                   .upper = problem.upper,
                   .C = problem.C,
                   .row_lower = problem.row_lower,
                   .row_upper = problem.row_upper,
                   .centre = problem.centre},
                  {.x = problem.x,
                   .bound_multipliers = problem.bound_multipliers,
                   .row_multipliers = problem.row_multipliers,
                   .active = active},
                  workspace);
}

// Solves the program. A cable that only pulls may hang loose (lambda = 0) and then be shorter than its command: the
// upper limit of its displacement binds only while it is taut. Which cables are loose is not convex. Where the limits
// contradict each other although forward simulation with commands in their ranges finds an answer, the cables that
// hang loose in that are let go; where an upper limit holds a cable at lambda = 0, it is let go if that helps.
QpReport InverseLaw::solve_program(const ConstraintSpace& space, int robot, Problem& problem, QpWorkspace& workspace,
                                   std::span<QpSide> active) const {
  const auto may_be_let_go = [&](std::size_t c) {
    const auto j = static_cast<std::size_t>(limited_[c]);
    return problem.row_upper[c] < unlimited && problem.lower[j] <= 0 && may_hang_loose(robot_.actuators[j]);
  };
  const auto let_go = [&](std::size_t c) {
    const auto j = static_cast<std::size_t>(limited_[c]);
    problem.row_upper[c] = unlimited;
    problem.lower[j] = problem.upper[j] = 0;
  };
  problem.keep_limits();
  QpReport report = solve_once(problem, workspace, active);
  if (report.status == QpStatus::infeasible) {
    if (!hold(space, robot, problem)) return report;
    bool any = false;
    for (std::size_t c = 0; c < limited_.size(); ++c) {
      const auto j = static_cast<std::size_t>(limited_[c]);
      const double displacement =
          product(problem.C.data() + c * extent(n_ + motions_), problem.x.data(), n_ + motions_);
      if (!may_be_let_go(c) || problem.x[j] != 0 || displacement <= problem.row_upper[c]) continue;
      let_go(c);
      any = true;
    }
    if (!any) return report;
    const QpReport loose = solve_once(problem, workspace, active);
    if (loose.status == QpStatus::solved) return loose;
    problem.restore_limits();  // the contradiction that is reported is one of the scene's
    return solve_once(problem, workspace, active);
  }
  for (int round = 0; round < n_ && report.status == QpStatus::solved; ++round) {
    bool any = false;
    problem.keep_answer();
    for (std::size_t c = 0; c < limited_.size(); ++c)
      if (may_be_let_go(c) && problem.kept_row_multipliers[c] > 0 &&
          problem.kept_bound_multipliers[static_cast<std::size_t>(limited_[c])] < 0) {
        let_go(c);
        any = true;
      }
    if (!any) break;
    const QpReport loose = solve_once(problem, workspace, active);
    if (loose.status != QpStatus::solved || loose.objective > report.objective) {
      problem.restore_limits();
      problem.restore_answer();
      break;
    }
    problem.keep_limits();
    report = loose;
  }
  return report;
}

// The same limits and goals by Gauss-Seidel; its unknowns are all of x.
QpReport InverseLaw::descend(Problem& problem) const {
  const int N = n_ + motions_, e = layout_.rows();
  for (int r = 0; r < e; ++r) {
    const auto k = static_cast<std::size_t>(r);
    const double weight = problem.weight[k];
    for (int i = 0; i < N; ++i) problem.J[extent(r, N) + static_cast<std::size_t>(i)] *= weight;
    problem.shift[k] *= weight;
  }
  std::fill(problem.W.begin(), problem.W.end(), 0.0);
  std::fill(problem.displacement_lower.begin(), problem.displacement_lower.end(), -unlimited);
  std::fill(problem.displacement_upper.begin(), problem.displacement_upper.end(), unlimited);
  for (std::size_t c = 0; c < limited_.size(); ++c) {
    const auto j = static_cast<std::size_t>(limited_[c]);
    std::copy_n(problem.C.data() + c * extent(N), N, problem.W.data() + j * extent(N));
    problem.displacement_lower[j] = problem.row_lower[c];
    problem.displacement_upper[j] = problem.row_upper[c];
  }
  problem.x = problem.centre;
  const GaussSeidelReport found = solve_gauss_seidel({.actuators = N,
                                                      .effectors = e,
                                                      .W_ea = problem.J,
                                                      .delta_free = problem.shift,
                                                      .lower = problem.lower,
                                                      .upper = problem.upper,
                                                      .W_aa = problem.W,
                                                      .displacement_free = problem.displacement_free,
                                                      .displacement_lower = problem.displacement_lower,
                                                      .displacement_upper = problem.displacement_upper},
                                                     problem.x, problem.work);
  QpReport report;
  report.iterations = found.iterations;
  report.objective = found.shift * found.shift / 2;
  report.stationarity = found.residual;
  // Sweeps that did not settle leave a usable answer; its residual is reported.
  report.status = found.status == GaussSeidelStatus::limits_conflict ? QpStatus::infeasible
                  : found.status == GaussSeidelStatus::not_finite    ? QpStatus::not_finite
                                                                     : QpStatus::solved;
  std::fill(problem.bound_multipliers.begin(), problem.bound_multipliers.end(), 0.0);
  std::fill(problem.row_multipliers.begin(), problem.row_multipliers.end(), 0.0);
  return report;
}

bool InverseLaw::solve(const ConstraintSpace& space, std::span<double> multipliers, std::span<double> dc) {
  const auto start = std::chrono::steady_clock::now();
  const int n = n_, m = motions_, N = n + m, e = layout_.rows(), threads = static_cast<int>(problems_.size());
  SUPPLE_EXPECT(space.rows == n && space.motions == m && space.effector_rows == e);
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    const auto thread = static_cast<std::size_t>(robots_ > 1 ? omp_get_thread_num() : 0);
    Problem& problem = problems_[thread];
    QpWorkspace& workspace = workspaces_[thread];
    InverseReport& report = reports_[static_cast<std::size_t>(b)];
    std::string& conflict = conflicts_[static_cast<std::size_t>(b)];
    double* x = problem.x.data();
    if (!report.held) {
      build(space, b, begun_, problem);
      const std::span<QpSide> active = std::span<QpSide>(active_).subspan(extent(b, N + rows_), extent(N + rows_));
      report.qp = settings_.solver == InverseSolver::gauss_seidel ? descend(problem)
                                                                  : solve_program(space, b, problem, workspace, active);
      report.held = report.qp.status != QpStatus::solved;
      conflict = report.held ? explain(workspace, problem, report.qp.status) : "";
    }
    if (report.held) solved_[static_cast<std::size_t>(b)] = hold(space, b, problem);
    report.saturated = report.held ? 0 : saturated(problem);
    std::copy_n(x, n, multipliers.data() + extent(b, n));
    std::copy_n(x + n, m, dc.data() + extent(b, m));

    // What the linearisation promises, and how far it moves any row.
    double error = 0, movement = 0;
    for (int r = 0; r < e && !report.held; ++r) {
      const std::size_t at = extent(b, e) + static_cast<std::size_t>(r), k = static_cast<std::size_t>(r);
      if (problem.weight[k] == 0 && !problem.exact[k]) continue;
      const double end = space.effector_free[at] + product(space.effector_W.data() + at * extent(n), x, n) +
                         product(space.effector_B.data() + at * extent(m), x + n, m);
      const double scaled = (problem.exact[k] ? 1 : problem.weight[k]) * end;
      error += scaled * scaled;
      movement = std::max(movement, std::abs(end - space.effector_phi[at]));
    }
    for (int j = 0; j < n; ++j) {
      const std::size_t at = extent(b, n) + static_cast<std::size_t>(j);
      const double end = space.free[at] + product(space.W.data() + extent(b, n, n) + extent(j, n), x, n) +
                         product(space.B.data() + extent(b, n, m) + extent(j, m), x + n, m);
      movement = std::max(movement, std::abs(end - space.phi[at]));
    }
    for (int k = 0; k < m; ++k) movement = std::max(movement, std::abs(x[n + k]));
    report.predicted_error = report.held ? std::nan("") : std::sqrt(error);
    movements_[static_cast<std::size_t>(b)] = movement;
  }
  begun_ = true;
  movement_ = *std::max_element(movements_.begin(), movements_.end());
  qp_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::all_of(solved_.begin(), solved_.end(), [](char solved) { return solved != 0; });
}

// The last commands again: multipliers of the forward law, inputs at rest.
bool InverseLaw::hold(const ConstraintSpace& space, int robot, Problem& problem) const {
  for (int j = 0; j < n_; ++j) {
    const std::size_t at = extent(robot, n_) + static_cast<std::size_t>(j), k = static_cast<std::size_t>(j);
    const double command = std::isnan(known_[at]) ? start_commands_[at] : known_[at];
    const RowTarget law = row_target(robot_.actuators[k], command, command, 0);
    problem.held_lower[k] = law.lower;
    problem.held_upper[k] = law.upper;
    problem.held_free[k] = space.free[at] - law.target;
    problem.x[k] = start_multipliers_[at];
  }
  std::fill(problem.x.begin() + n_, problem.x.end(), 0.0);
  return solve_box_complementarity(n_, space.W.subspan(extent(robot, n_, n_), extent(n_, n_)), problem.held_free,
                                   problem.held_lower, problem.held_upper,
                                   std::span<double>(problem.x).first(extent(n_)), problem.work)
             .status == ComplementarityStatus::solved;
}

// Limits that hold the robot back; that a cable cannot push is none.
int InverseLaw::saturated(const Problem& problem) const {
  int count = 0;
  for (int i = 0; i < n_ + motions_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const bool slack = i < n_ && robot_.actuators[k].kind == ActuatorKind::cable && problem.lower[k] == 0;
    if (problem.lower[k] < problem.upper[k] &&
        (problem.bound_multipliers[k] > 0 || (problem.bound_multipliers[k] < 0 && !slack)))
      ++count;
  }
  for (std::size_t c = 0; c < limited_.size(); ++c)
    if (problem.row_lower[c] < problem.row_upper[c] && problem.row_multipliers[c] != 0) ++count;
  return count;
}

std::string InverseLaw::explain(const QpWorkspace& workspace, const Problem& problem, QpStatus status) const {
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
    return "limits of forces and of displacements contradict each other";
  std::string text;
  for (const QpConflict& conflict : workspace.conflicts()) {
    if (!text.empty()) text += ", ";
    const bool upper = conflict.side == QpSide::upper;
    const char* side = upper ? "at most" : "at least";
    const int i = conflict.constraint, N = n_ + motions_;
    if (i < n_) {
      const auto k = static_cast<std::size_t>(i);
      text += fmt::format("force of '{}' {} {:.4g} N", robot_.actuators[k].name, side,
                          upper ? problem.upper[k] : problem.lower[k]);
    } else if (i < N) {
      const MotionInput& motion = robot_.motions[static_cast<std::size_t>(i - n_)];
      text +=
          fmt::format("'{}' {} {:.4g} mm", motion.name, side, 1e3 * (upper ? motion.range.upper : motion.range.lower));
    } else if (static_cast<std::size_t>(i - N) < limited_.size()) {
      const ActuatorRow& actuator =
          robot_.actuators[static_cast<std::size_t>(limited_[static_cast<std::size_t>(i - N)])];
      text += fmt::format("displacement of '{}' {} its {}", actuator.name, side,
                          actuator.rate < unlimited ? "range and rate allow" : "range allows");
    } else {
      int row = i - N - static_cast<int>(limited_.size());
      for (const Effector& effector : robot_.effectors) {
        if (!effector.exact) continue;
        if (row < effector.rows()) {
          text += fmt::format("goal of '{}' exactly", effector.name);
          break;
        }
        row -= effector.rows();
      }
    }
  }
  return text;
}

double InverseLaw::violation(std::span<const double>, std::span<const double>) const {
  return movement_;
}

void InverseLaw::commands(std::span<const double> phi, std::span<const double> multipliers,
                          std::span<double> commands) const {
  for (std::size_t k = 0; k < commands.size(); ++k) {
    const ActuatorRow& actuator = robot_.actuators[k % robot_.actuators.size()];
    const bool force = actuator.control == ActuatorControl::force;
    const auto robot = static_cast<int>(k / robot_.actuators.size()), j = static_cast<int>(k % robot_.actuators.size());
    if (reports_[static_cast<std::size_t>(robot)].held) {
      const double command = std::isnan(known_[k]) ? start_commands_[k] : known_[k];
      const RowTarget law = row_target(actuator, command, command, 0);
      commands[k] = force ? law.lower : law.target;
      continue;
    }
    const Interval limits = limits_of_command(robot, j);
    commands[k] = std::clamp(force ? multipliers[k] : phi[k], limits.lower, limits.upper);
  }
}

}  // namespace supple

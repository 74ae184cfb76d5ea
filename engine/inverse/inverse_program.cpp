// The program of an inverse step: built from constraint space, solved, and what holds the robot where it has no answer.
#include "engine/inverse/inverse_program.hpp"

#include <cmath>

#include "kernels/math/inner_product.hpp"

namespace supple {

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

Interval intersect(const Interval& a, const Interval& b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

// A cable that only pulls: where it hangs loose (lambda = 0) its length is not its command.
bool may_hang_loose(const ActuatorRow& actuator) {
  return !actuator.bilateral && actuator.control == ActuatorControl::displacement && actuator.force.lower <= 0;
}

}  // namespace

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
      const double distance = std::sqrt(inner_product(phi + row, phi + row, rows));
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
    if (actuator.kind != ActuatorKind::force && !actuator.bilateral) limits.lower = std::max(0.0, limits.lower);
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
          inner_product(problem.C.data() + c * extent(n_ + motions_), problem.x.data(), n_ + motions_);
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
    const bool slack = i < n_ && robot_.actuators[k].kind != ActuatorKind::force && problem.lower[k] == 0;
    if (problem.lower[k] < problem.upper[k] &&
        (problem.bound_multipliers[k] > 0 || (problem.bound_multipliers[k] < 0 && !slack)))
      ++count;
  }
  for (std::size_t c = 0; c < limited_.size(); ++c)
    if (problem.row_lower[c] < problem.row_upper[c] && problem.row_multipliers[c] != 0) ++count;
  return count;
}

}  // namespace supple

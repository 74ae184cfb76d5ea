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

}  // namespace

// What is left of the way where the goal's speed is limited: settled by the first linearisation of a step.
void InverseLaw::ask(const ConstraintSpace& space, int robot) {
  const double *phi = space.effector_phi.data(), speed = settings_.goal_speed * step_;
  double* asked = asked_.data() + extent(robot, layout_.rows());
  int row = 0;
  for (std::size_t k = 0; k < robot_.effectors.size(); ++k) {
    const int end = row + robot_.effectors[k].rows();
    const double distance = std::sqrt(inner_product(phi + row, phi + row, end - row));
    const double left = steered_[k] != 0 && step_ > 0 && distance > speed ? 1 - speed / distance : 0;
    for (; row < end; ++row) asked[row] = left * phi[row];
  }
}

// `space`: rows of the actuators, then of contacts.
void InverseLaw::build(const ConstraintSpace& space, int robot, Problem& problem) {
  const int n = n_, m = motions_, N = n + m, e = layout_.rows(), contacts = space.rows - n, Z = N + contacts;
  problem.resize(contacts);
  const double *W = space.W.data(), *B = space.B.data();
  const double* start = start_multipliers_.data() + extent(robot, n);
  // A row of W and B in the order of the unknowns.
  const auto copy_row = [&](const double* of_forces, const double* of_inputs, double* out) {
    std::copy_n(of_forces, n, out);
    std::copy_n(of_inputs, m, out + n);
    std::copy_n(of_forces + n, contacts, out + N);
  };

  // Effector rows: J = [W_ea, B_e, W_ec]. A limited reach brings all rows nearer by the same share, so that where
  // nothing moves any more the conditions of the optimum hold.
  const double *phi = space.effector_phi.data(), *asked = asked_.data() + extent(robot, e);
  double share = 1;
  int row = 0;
  for (std::size_t k = 0; k < robot_.effectors.size(); ++k) {
    const int rows = robot_.effectors[k].rows();
    const bool steered = steered_[k] != 0;
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
      const auto r = static_cast<std::size_t>(row);
      copy_row(space.effector_W.data() + extent(row, n + contacts), space.effector_B.data() + extent(row, m),
               problem.J.data() + extent(row, Z));
      const double target = asked[row] + (1 - share) * (phi[row] - asked[row]);
      problem.shift[r] = steered ? space.effector_free[r] - target : 0;
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
    const double* J = problem.J.data() + extent(r, Z);
    for (int i = 0; i < Z; ++i) {
      const double scaled = weight * weight * J[i];
      problem.g[static_cast<std::size_t>(i)] += scaled * problem.shift[static_cast<std::size_t>(r)];
      for (int j = 0; j < Z; ++j) problem.P[extent(i, Z) + extent(j)] += scaled * J[j];
    }
  }
  const auto effort = [&](int j) {
    return settings_.effort.empty() ? 1 : settings_.effort[static_cast<std::size_t>(j)];
  };
  if (settings_.regularisation != Regularisation::none && settings_.epsilon > 0) {
    const double compliance = row_sum_norm(W, n, space.rows);
    const double goals = row_sum_norm(problem.P.data(), n, Z);
    // Where nothing is steered the regularisation is all there is.
    const double rho = compliance > 0 ? (goals > 0 ? settings_.epsilon * goals : 1) / compliance : 0;
    if (settings_.regularisation == Regularisation::energy) {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          problem.P[extent(i, Z) + extent(j)] +=
              rho * std::sqrt(effort(i) * effort(j)) * W[extent(i, space.rows) + extent(j)];
    } else {
      for (int j = 0; j < n; ++j) {
        const double change = rho * effort(j) * std::abs(W[extent(j, space.rows) + extent(j)]);
        problem.P[extent(j, Z) + extent(j)] += change;
        problem.g[static_cast<std::size_t>(j)] -= change * start[j];
      }
    }
    const double motion = settings_.epsilon * row_sum_norm(problem.P.data() + extent(n, Z) + extent(n), m, Z);
    for (int k = n; k < N; ++k) problem.P[extent(k, Z) + extent(k)] += motion;
    // Forces between rigid bodies that touch at many places are not unique.
    if (robot_.surfaces) {
      const double touch = settings_.epsilon * row_sum_norm(problem.P.data() + extent(N, Z) + extent(N), contacts, Z);
      for (int k = N; k < Z; ++k) problem.P[extent(k, Z) + extent(k)] += touch;
    }
  }

  // Limits.
  for (int j = 0; j < n; ++j) {
    const ActuatorRow& actuator = robot_.actuators[static_cast<std::size_t>(j)];
    Interval limits = force_limits_[static_cast<std::size_t>(j)];
    if (gives_force(actuator, at_rest_)) limits = intersect(limits, limits_of_command(robot, j));
    problem.lower[static_cast<std::size_t>(j)] = limits.lower;
    problem.upper[static_cast<std::size_t>(j)] = limits.upper;
    problem.centre[static_cast<std::size_t>(j)] = start[j];
  }
  for (int k = 0; k < m; ++k) {
    const Interval& range = robot_.motions[static_cast<std::size_t>(k)].range;
    problem.lower[static_cast<std::size_t>(n + k)] = range.lower - space.inputs[extent(k)];
    problem.upper[static_cast<std::size_t>(n + k)] = range.upper - space.inputs[extent(k)];
    problem.centre[static_cast<std::size_t>(n + k)] = 0;
  }
  std::size_t c = 0;
  for (int j : limited_) {
    const Interval limits = limits_of_row(robot, j);
    copy_row(W + extent(j, space.rows), B + extent(j, m), problem.C.data() + c * extent(Z));
    problem.row_lower[c] = limits.lower - space.free[extent(j)];
    problem.row_upper[c] = limits.upper - space.free[extent(j)];
    ++c;
  }
  row = 0;
  for (const Effector& effector : robot_.effectors)
    for (int i = 0; i < effector.rows(); ++i, ++row) {
      if (!effector.exact) continue;
      const auto r = static_cast<std::size_t>(row);
      std::copy_n(problem.J.data() + r * extent(Z), Z, problem.C.data() + c * extent(Z));
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
    const RowTarget law = row_target(robot_.actuators[k], command, command, 0, at_rest_);
    problem.held_lower[k] = law.lower;
    problem.held_upper[k] = law.upper;
    problem.held_free[k] = space.free[k] - scale_of(robot, j) * law.target;
    problem.x[k] = start_multipliers_[at];
  }
  std::fill(problem.x.begin() + n_, problem.x.end(), 0.0);
  return solve_box_complementarity(n_, space.W, problem.held_free, problem.held_lower, problem.held_upper,
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

#pragma once
// What a time step does between its stages of mechanics (engine/step/step.hpp has the formulas), one team for each
// robot. Arrays are robot-major; nv: velocities of a robot, n: its rows with multipliers, m: prescribed inputs that
// the law moves.

#include <cmath>
#include <type_traits>

#include "kernels/array/view.hpp"
#include "kernels/base/team.hpp"
#include "kernels/dense/cholesky.hpp"
#include "kernels/elements/robot_reports.hpp"
#include "kernels/elements/system_factors.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

using Vectors = View<double, 2>;              // [robot][entry]
using ConstVectors = View<const double, 2>;   // the same, to read
using Matrices = View<double, 3>;             // [robot][row][entry]
using ConstMatrices = View<const double, 3>;  // the same, to read
using RobotMask = const unsigned char*;       // [robot], 1: the robot takes part

// f(k) for the team's share of 0 .. n - 1.
template <class Team, class Function>
SUPPLE_INLINE void team_each(Team team, int n, const Function& f) {
  for (int k = team.rank(); k < n; k += team.size()) f(k);
}

// Velocity at the end of a step with the implicit factor beta of position: (mean - (1 - beta) start)/beta.
SUPPLE_INLINE double end_velocity(double increment, double start, double time_step, double beta) {
  const double mean = increment / time_step;
  return beta == 1 ? mean : (mean - (1 - beta) * start) / beta;
}

// Of forces, solutions and multipliers: with less the motion, a sum of at most some hundred products, is finite.
inline constexpr double largest_finite = 1e150;

SUPPLE_HD inline bool all_finite(const double* x, int n) {
  int bad = 0;
  SUPPLE_SIMD_SUM(bad)
  for (int k = 0; k < n; ++k) bad += std::abs(x[k]) < largest_finite ? 0 : 1;
  return bad == 0;
}

// q = q_n + u, where velocities are the rates of the coordinates.
struct PositionTeamOp {
  ConstVectors start, u;
  Vectors q;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const double *from = start.at(b), *by = u.at(b);
    double* to = q.at(b);
    team_each(team, q.size[1], [&](int k) { to[k] = from[k] + by[k]; });
  }
};

// out = (v_n - u/h)/beta: what the inertia of a step acts on.
struct MomentumTeamOp {
  double time_step, beta;
  ConstVectors u, v;
  Vectors out;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const double *moved = u.at(b), *start = v.at(b);
    double* to = out.at(b);
    team_each(team, out.size[1], [&](int k) { to[k] = (start[k] - moved[k] / time_step) / beta; });
  }
};

// out = the velocity at the end of the step.
struct EndVelocityTeamOp {
  double time_step, beta;
  ConstVectors u, v;
  Vectors out;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const double *moved = u.at(b), *start = v.at(b);
    double* to = out.at(b);
    team_each(team, out.size[1], [&](int k) { to[k] = end_velocity(moved[k], start[k], time_step, beta); });
  }
};

// r = inertia/h + alpha (p - f - damping + springs) + start force in time, p - f + springs + pull in statics. Arrays
// that are empty count as zero; in statics `inertia` is the pull of an anchor.
struct ResidualTeamOp {
  bool dynamic;
  double time_step, alpha;
  ConstVectors inertia, p, f, damping, springs, start_force;
  Vectors r;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int nv = r.size[1];
    double* to = r.at(b);
    const double *load = p.at(b), *stress = f.at(b);
    if (dynamic) {
      const double* M = inertia.at(b);
      team_each(team, nv, [&](int k) { to[k] = M[k] / time_step + alpha * load[k] - alpha * stress[k]; });
    } else {
      team_each(team, nv, [&](int k) { to[k] = load[k] - stress[k]; });
    }
    const double share = dynamic ? alpha : 1;
    const auto add = [&](const ConstVectors& values, double factor) {
      if (values.empty()) return;
      const double* x = values.at(b);
      team_each(team, nv, [&](int k) { to[k] += factor * x[k]; });
    };
    add(damping, -share);
    add(springs, share);
    add(start_force, 1);
    if (!dynamic) add(inertia, 1);
  }
};

// out = H^T lambda of one robot, rows in order; contact: H^T lambda of its contacts, or null.
template <class Team>
SUPPLE_HD inline void row_forces(Team team, int b, const ConstMatrices& H, const ConstVectors& lambda,
                                 const ConstVectors& contact, double* out) {
  const int n = H.size[1], nv = H.size[2];
  const double* touching = contact.empty() ? nullptr : contact.at(b);
  team_each(team, nv, [&](int k) { out[k] = touching == nullptr ? 0 : touching[k]; });
  for (int i = 0; i < n; ++i) {
    const double *h = H.at(b, i), l = lambda(b, i);
    team_each(team, nv, [&](int k) { out[k] += h[k] * l; });
  }
}

// X = [r + row forces, H^T, A_c], [robot][1 + n + m][nv].
struct RightSidesTeamOp {
  ConstVectors r, row_force;  // row_force: H^T lambda_0, or empty for none
  ConstMatrices H, A_c;
  Matrices X;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int n = H.size[1], m = A_c.size[1], nv = X.size[2];
    double* x = X.at(b);
    const double* residual = r.at(b);
    if (row_force.empty()) {
      team_each(team, nv, [&](int k) { x[k] = residual[k]; });
    } else {
      const double* forces = row_force.at(b);
      team_each(team, nv, [&](int k) { x[k] = residual[k] + forces[k]; });
    }
    if (n > 0) {
      const double* rows = H.at(b);
      team_each(team, n * nv, [&](int k) { x[nv + k] = rows[k]; });
    }
    if (m > 0) {
      const double* inputs = A_c.at(b);
      team_each(team, m * nv, [&](int k) { x[(1 + n) * nv + k] = inputs[k]; });
    }
  }
};

// u_f = X_0 - (u_f + sum_i lambda_0,i X_1+i): the motion without multipliers, where X_0 has those that are held. u_f
// holds what the held forces of contacts do.
struct FreeMotionTeamOp {
  ConstMatrices X;
  ConstVectors held;
  Vectors u_f;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int n = held.size[1], nv = u_f.size[1];
    double* to = u_f.at(b);
    for (int i = 0; i < n; ++i) {
      const double *x = X.at(b, 1 + i), l = held(b, i);
      team_each(team, nv, [&](int k) { to[k] += l * x[k]; });
    }
    const double* x = X.at(b);
    team_each(team, nv, [&](int k) { to[k] = x[k] - to[k]; });
  }
};

// Where a row of H is not zero: up to two ranges, of several bodies those of one body and of the frames.
struct RowEntries {
  struct Range {
    int first, last;
  } head, tail;
  SUPPLE_HD static RowEntries all(int n) { return {{0, n}, {n, n}}; }
  SUPPLE_HD static RowEntries of(const double* h, int n) {
    constexpr int shortest_gap = 16;
    int first = 0, last = n;
    while (first < n && h[first] == 0) ++first;
    while (last > first && h[last - 1] == 0) --last;
    Range gap{last, last};
    for (int k = first; k < last; ++k) {
      int end = k;
      while (h[end] == 0) ++end;
      if (end - k > shortest_gap && end - k > gap.last - gap.first) gap = {k, end};
      k = end;
    }
    return {{first, gap.first}, {gap.last, last}};
  }
  SUPPLE_INLINE double product(const double* h, const double* x) const {
    const double sum = inner_product(h + head.first, x + head.first, head.last - head.first);
    if (tail.first == tail.last) return sum;
    return sum + inner_product(h + tail.first, x + tail.first, tail.last - tail.first);
  }
};

// Constraint space of rows with Jacobians H/beta and H_c/beta:
//   free = phi + H u_f/beta,   W = H X_a/beta + compliance,   B = (H_c - H X_c)/beta,   X = [X_0, X_a (n), X_c (m)]
// own: the rows are those of X, W is symmetric and both triangles are those of the lower one.
struct SpaceTeamOp {
  int n, m;
  bool own;
  double beta;
  ConstVectors phi;
  ConstMatrices H, H_c, X;
  ConstVectors u_f;         // empty: X_0
  ConstVectors compliance;  // of own rows
  Vectors free;
  Matrices W, B;
  bool several_blocks = false;  // of coordinates: rows of H are mostly zero
  // free, then the columns of W and B, of one row.
  SUPPLE_INLINE void entry(int b, int i, int column, const RowEntries& entries) const {
    const double* h = H.at(b, i);
    if (column == 0) {
      free(b, i) = phi(b, i) + entries.product(h, u_f.empty() ? X.at(b) : u_f.at(b)) / beta;
    } else if (column <= n) {
      const int j = column - 1;
      if (own && j > i) return;
      double value = entries.product(h, X.at(b, column)) / beta;
      if (own && j < i) W(b, j, i) = value;
      if (own && j == i) value += compliance(b, i);
      W(b, i, j) = value;
    } else {
      const int j = column - 1 - n;
      B(b, i, j) = (H_c(b, i, j) - entries.product(h, X.at(b, column))) / beta;
    }
  }
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int rows = H.size[1], columns = 1 + n + m;
    if constexpr (std::is_same_v<Team, SingleTeam>) {
      for (int i = 0; i < rows; ++i) {
        const RowEntries entries = several_blocks ? RowEntries::of(H.at(b, i), H.size[2]) : RowEntries::all(H.size[2]);
        for (int column = 0; column < columns; ++column) entry(b, i, column, entries);
      }
    } else {
      const RowEntries all = RowEntries::all(H.size[2]);
      team_each(team, rows * columns, [&](int k) { entry(b, k / columns, k % columns, all); });
    }
  }
};

// From K to constraint space by one team for each robot, which keeps its system where it works: its Cholesky factor and
//   A = stiffness K + mass M,   X = A^-1 [r, H^T],
// then both spaces. The same as a batch of systems, factors and solves between RightSidesTeamOp and SpaceTeamOp.
template <class S>
struct FusedSystemTeamOp {
  SystemFactors factors;
  const S* K;  // [robot] r x r, lower triangle
  const S* M;  // r x r
  RightSidesTeamOp sides;
  SpaceTeamOp rows, effectors;  // effectors without rows: none
  SystemReport* found;
  S* scratch;  // [slot][scratch_length(r, n)]
  // A, and X where it is solved for in another precision than it lies there.
  static std::size_t scratch_length(int r, int n) {
    const int columns = std::is_same_v<S, double> ? 0 : 1 + n;
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(r + columns);
  }
  template <class Team>
  SUPPLE_HD void operator()(Team team, int slot, int robot) const {
    const int r = sides.X.size[2], columns = sides.X.size[1];
    const std::size_t square = static_cast<std::size_t>(r) * static_cast<std::size_t>(r);
    double* X = sides.X.at(robot);
    const std::size_t solved = std::is_same_v<S, double> ? 0 : static_cast<std::size_t>(columns * r);
    S* a = scratch + static_cast<std::size_t>(slot) * (square + solved);
    const S* k = K + static_cast<std::size_t>(robot) * square;
    team.sync();  // the robot before is done with the scratch
    const S stiffness = static_cast<S>(factors.stiffness_of(robot)), mass = static_cast<S>(factors.mass_of(robot));
    for (int e = team.rank(); e < r * r; e += team.size()) a[e] = stiffness * k[e] + mass * M[e];
    sides(team, slot, robot);
    if constexpr (!std::is_same_v<S, double>) {
      team.sync();
      for (int e = team.rank(); e < columns * r; e += team.size()) a[r * r + e] = static_cast<S>(X[e]);
    }
    const int factored = cholesky_factor(team, a, r, r);
    if (team.rank() == 0)
      found[robot] = {factored == r ? SystemStatus::ok : SystemStatus::not_positive, factored == r ? 0 : 1, 0};
    if (factored < r) return;
    if constexpr (std::is_same_v<S, double>) {
      cholesky_solve(team, a, r, r, X, columns, r);
    } else {
      cholesky_solve(team, a, r, r, a + square, columns, r);
      for (int e = team.rank(); e < columns * r; e += team.size()) X[e] = static_cast<double>(a[r * r + e]);
      team.sync();
    }
    rows(team, slot, robot);
    if (effectors.H.size[1] > 0) effectors(team, slot, robot);
  }
};

// What went wrong, in the order in which it happens; one member of a team looks.
struct FindingTeamOp {
  const PointReport* start_points;  // at the start of the step, or null
  const PointReport* points;
  const SystemReport* systems;
  ConstVectors f;
  ConstMatrices X;
  RobotFinding* findings;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    if (team.rank() != 0) return;
    RobotFinding found{RobotStatus::ok, points[b], systems[b]};
    if (start_points != nullptr && start_points[b].undefined > 0) found.points = start_points[b];
    if (found.points.undefined > 0 || !all_finite(f.at(b), f.size[1]))
      found.status = RobotStatus::undefined_points;
    else if (found.system.status == SystemStatus::singular)
      found.status = RobotStatus::singular;
    else if (found.system.status == SystemStatus::not_positive)
      found.status = RobotStatus::not_positive;
    else if (found.system.status == SystemStatus::out_of_memory)
      found.status = RobotStatus::out_of_memory;
    else if (!all_finite(X.at(b), X.size[1] * X.size[2]))
      found.status = RobotStatus::not_finite;
    findings[b] = found;
  }
};

// du = X_0 + sum_i X_1+i (lambda_i - lambda_0,i) - sum_j X_1+n+j dc_j + what contacts do, and u += du where velocities
// are the rates of the coordinates; of the robots that take part.
struct CorrectTeamOp {
  ConstMatrices X;
  ConstVectors lambda, held, dc, contact;  // held, contact: empty for none
  RobotMask goes;
  Vectors du, u;  // u: empty where frames turn
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    if (goes[b] == 0) return;
    const int n = lambda.size[1], nv = du.size[1], m = X.size[1] - 1 - n;
    double* to = du.at(b);
    const double* x = X.at(b);
    team_each(team, nv, [&](int k) { to[k] = x[k]; });
    for (int i = 0; i < n; ++i) {
      const double *follow = X.at(b, 1 + i), change = held.empty() ? lambda(b, i) : lambda(b, i) - held(b, i);
      team_each(team, nv, [&](int k) { to[k] += follow[k] * change; });
    }
    for (int j = 0; j < m; ++j) {
      const double *follow = X.at(b, 1 + n + j), change = dc(b, j);
      team_each(team, nv, [&](int k) { to[k] -= follow[k] * change; });
    }
    if (!contact.empty()) {
      const double* moved = contact.at(b);
      team_each(team, nv, [&](int k) { to[k] += moved[k]; });
    }
    if (u.empty()) return;
    double* sum = u.at(b);
    team_each(team, nv, [&](int k) { sum[k] += to[k]; });
  }
};

// q += u (where velocities are the rates of the coordinates) and v = the velocity at the end, zero in statics; of the
// robots that take part.
struct FinishTeamOp {
  bool dynamic;
  double time_step, beta;
  ConstVectors u;
  RobotMask goes;
  Vectors q, v;  // q: empty where frames turn
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    if (goes[b] == 0) return;
    const double* moved = u.at(b);
    if (!q.empty()) {
      double* to = q.at(b);
      team_each(team, u.size[1], [&](int k) { to[k] += moved[k]; });
    }
    double* rate = v.at(b);
    team_each(team, u.size[1],
              [&](int k) { rate[k] = dynamic ? end_velocity(moved[k], rate[k], time_step, beta) : 0.0; });
  }
};

// Squares of the forces of a robot, for Newton's method.
struct ResidualSquares {
  double residual, rows, p, springs;  // |r + H^T lambda|^2, |H^T lambda|^2, |p|^2, |springs|^2 [N^2]
  int finite;                         // 0: internal forces are not
};

// By one member, in order. out, when it is not empty: r + H^T lambda.
struct ResidualSquaresTeamOp {
  ConstVectors r, f, p, springs;  // springs: empty for none
  ConstMatrices H;
  ConstVectors lambda, contact;
  Vectors rows;  // H^T lambda
  Vectors out;
  ResidualSquares* squares;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    double* forces = rows.at(b);
    row_forces(team, b, H, lambda, contact, forces);
    team.sync();
    if (team.rank() != 0) return;
    const int nv = r.size[1];
    const double* left = r.at(b);
    double residual = 0, of_rows = 0;
    for (int k = 0; k < nv; ++k) {
      const double value = left[k] + forces[k];
      residual += value * value;
      of_rows += forces[k] * forces[k];
      if (!out.empty()) out(b, k) = value;
    }
    const auto square = [&](const ConstVectors& x) { return x.empty() ? 0 : inner_product(x.at(b), x.at(b), nv); };
    squares[b] = {residual, of_rows, square(p), square(springs), all_finite(f.at(b), nv) ? 1 : 0};
  }
};

// phi' = H v + H_c w of rows at the start of a step.
struct RowRatesTeamOp {
  ConstMatrices H, H_c;
  ConstVectors v, w;
  Vectors rates;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int nv = H.size[2], m = H_c.size[2];
    team_each(team, H.size[1], [&](int i) {
      rates(b, i) = inner_product(H.at(b, i), v.at(b), nv) + (m > 0 ? inner_product(H_c.at(b, i), w.at(b), m) : 0.0);
    });
  }
};

// What the law sees of a row: phi/beta + start phi_n + rate phi'_n.
struct RowWeights {
  double start, rate;
};
struct RowValuesSeenTeamOp {
  double beta;
  const RowWeights* weights;  // [n], or null: phi
  ConstVectors phi, start, rate;
  Vectors values;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    team_each(team, values.size[1], [&](int i) {
      values(b, i) = weights == nullptr
                         ? phi(b, i)
                         : phi(b, i) / beta + weights[i].start * start(b, i) + weights[i].rate * rate(b, i);
    });
  }
};

// Values of these rows in the measure of their scale: cables with friction (engine/model/cable_friction.hpp).
struct ScaleRowsTeamOp {
  const int* rows;
  int count;
  ConstVectors scale;
  Vectors values;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    team_each(team, count, [&](int k) { values(b, rows[k]) *= scale(b, rows[k]); });
  }
};

// A cavity whose pressure is that of the gas in it (GasLaw in engine/model/robot.hpp).
struct GasRow {
  int row = 0;
  int history = 0;        // of a supplied one: where the gas that it has gained stands in the robot's history
  double atmosphere = 0;  // p_a [Pa]
  double content = 0;     // C [m^3]: volume at rest and dead volume
  double line = 0;        // p_a h/R [m^3] of a supplied one; 0: its gas is the command
};

// What the law sees of these rows, phi and lambda being where the row is linearised: delta = scale command.
struct GasRowsTeamOp {
  const GasRow* gas;
  int count;
  ConstVectors phi, lambda, history;
  Vectors values, compliance, scale;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    team_each(team, count, [&](int k) {
      const GasRow& row = gas[k];
      const int i = row.row;
      const double p = row.atmosphere, value = phi(b, i), pressure = lambda(b, i), V = row.content + value;
      // A trial state may lie where no gas does: slopes are then those of the nearest place.
      constexpr double least = 1e-3;
      const double x = p + pressure > least * p ? p + pressure : least * p;
      const double c = ((V > least * row.content ? V : least * row.content) + row.line) / x;
      const double gained = row.line > 0 ? history(b, row.history) : 0.0;
      const double left = (p * (value - gained) + pressure * (V + row.line)) / x;
      values(b, i) = left - c * pressure;
      compliance(b, i) = c;
      scale(b, i) = (row.line > 0 ? row.line : p) / x;
    });
  }
};

// A row that is a force: lambda = -(phi + d phi')/c.
struct SpringRow {
  double compliance = 0, damping_time = 0;  // c [m/N], d [s]; c = 0: no such row
};

// lambda, and forces = H^T lambda; phi' = ((phi - phi_n)/h - (1 - beta) phi'_n)/beta, in statics 0.
struct SpringTeamOp {
  bool at_rest;
  double time_step, beta;
  const SpringRow* springs;
  ConstVectors phi, start, rate;
  ConstMatrices H;
  Vectors lambda, forces;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int n = H.size[1], nv = H.size[2];
    double* sum = forces.at(b);
    team_each(team, nv, [&](int k) { sum[k] = 0; });
    for (int i = 0; i < n; ++i) {
      double stretch = phi(b, i);
      if (!at_rest && springs[i].damping_time > 0)
        stretch += springs[i].damping_time * end_velocity(phi(b, i) - start(b, i), rate(b, i), time_step, beta);
      const double force = -stretch / springs[i].compliance;
      const double* h = H.at(b, i);
      if (team.rank() == 0) lambda(b, i) = force;
      team_each(team, nv, [&](int k) { sum[k] += force * h[k]; });
    }
  }
};

// Forces at the start of a step, (1 - alpha) (p - f - damping + the rows that are springs, of both kinds).
struct StartForceTeamOp {
  double alpha;
  ConstVectors p, f, damping;  // damping: empty for none
  struct Rows {
    const SpringRow* springs;
    ConstVectors phi, rate;
    ConstMatrices H;
  } constraints, springs;
  Vectors out;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    const int nv = out.size[1];
    double* sum = out.at(b);
    const double *load = p.at(b), *stress = f.at(b);
    team_each(team, nv, [&](int k) { sum[k] = load[k] - stress[k]; });
    if (!damping.empty()) {
      const double* damped = damping.at(b);
      team_each(team, nv, [&](int k) { sum[k] -= damped[k]; });
    }
    add(team, b, constraints, sum);
    add(team, b, springs, sum);
    team_each(team, nv, [&](int k) { sum[k] *= 1 - alpha; });
  }

 private:
  template <class Team>
  SUPPLE_HD void add(Team team, int b, const Rows& rows, double* sum) const {
    for (int i = 0; i < rows.H.size[1]; ++i) {
      if (!(rows.springs[i].compliance > 0)) continue;
      const double force =
          -(rows.phi(b, i) + rows.springs[i].damping_time * rows.rate(b, i)) / rows.springs[i].compliance;
      const double* h = rows.H.at(b, i);
      team_each(team, rows.H.size[2], [&](int k) { sum[k] += force * h[k]; });
    }
  }
};

// to = from of the robots that take part; without a mask, of all.
struct CopyTeamOp {
  ConstVectors from;
  RobotMask goes;  // or null
  Vectors to;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    if (goes != nullptr && goes[b] == 0) return;
    const double* x = from.at(b);
    double* out = to.at(b);
    team_each(team, to.size[1], [&](int k) { out[k] = x[k]; });
  }
};

struct ZeroTeamOp {
  Vectors to;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    double* out = to.at(b);
    team_each(team, to.size[1], [&](int k) { out[k] = 0; });
  }
};

// du = du/2, u -= du: half of the last motion back, of the robots that step back; where frames turn the host does it.
struct StepBackTeamOp {
  RobotMask back;
  Vectors du, u;
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int b) const {
    if (back[b] == 0) return;
    double *half = du.at(b), *sum = u.at(b);
    team_each(team, u.size[1], [&](int k) {
      half[k] *= 0.5;
      sum[k] -= half[k];
    });
  }
};

// Puts some robots to states. Index: place in the list * r + k; no robot twice.
struct PlaceOp {
  int r;
  const int* robots;
  const double* values;  // [list][r]
  double* target;        // [robot][r]
  SUPPLE_HD void operator()(int at) const { target[robots[at / r] * r + at % r] = values[at]; }
};

}  // namespace supple

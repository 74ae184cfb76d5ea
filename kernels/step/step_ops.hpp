#pragma once
// What a time step of a batch of reduced robots does between its products and solves (engine/step/step.hpp, one
// linearisation, implicit Euler): right-hand sides, constraint space, what went wrong, the new state. Layouts are
// robot-major; X holds 1 + n columns of r numbers for each robot: free motion, then one for each row.

#include <cmath>
#include <type_traits>

#include "kernels/dense/cholesky.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

// X = [r, H^T] with r = M v/h + p - f at u = 0. Index: robot * (1 + n) r + column * r + k.
struct RightSidesOp {
  int n, r;
  double time_step;
  const double* inertia;  // [robot][r]: M v
  const double* p;        // [robot][r]
  const double* f;        // [robot][r]
  const double* H;        // [robot][n][r]
  double* X;
  SUPPLE_HD void operator()(int at) const {
    const int length = (1 + n) * r, robot = at / length, e = at % length;
    if (e < r) {
      const int k = robot * r + e;
      X[at] = inertia[k] / time_step + p[k] - f[k];
    } else {
      X[at] = H[robot * n * r + e - r];
    }
  }
};

// free_i = phi_i + H_i X_0 and W_ij = H_i X_1+j, with the compliance on the diagonal where the rows are those of X
// (`own`: W is symmetric, and both triangles are those of the lower one). Index: robot * rows + i.
struct SpaceOp {
  int rows, n, r;
  bool own;
  const double* phi;         // [robot][rows]
  const double* H;           // [robot][rows][r]
  const double* X;           // [robot][1 + n][r]
  const double* compliance;  // own: [n]
  double* free;              // [robot][rows]
  double* W;                 // [robot][rows][n]
  SUPPLE_HD void operator()(int k) const {
    const int i = k % rows;
    const std::size_t robot = static_cast<std::size_t>(k / rows), length = static_cast<std::size_t>(r);
    const double *h = H + static_cast<std::size_t>(k) * length,
                 *x = X + robot * static_cast<std::size_t>(1 + n) * length;
    double* w = W + robot * static_cast<std::size_t>(rows * n);
    free[k] = phi[k] + inner_product(h, x, r);
    for (int j = 0; j < (own ? i + 1 : n); ++j) {
      const double value = inner_product(h, x + static_cast<std::size_t>(1 + j) * length, r);
      w[i * n + j] = value;
      if (own && j < i) w[j * n + i] = value;
    }
    if (own) w[i * n + i] += compliance[i];
  }
};

// From K to constraint space by one team for each robot, which keeps its system where it works: its Cholesky factor, W,
// free and
//   A = stiffness K + mass M,   X = A^-1 [r, H^T].
// The same as SystemOp, RightSidesOp, a batch of factors and solves, and SpaceOp one after the other.
template <class S>
struct FusedSystemTeamOp {
  S stiffness, mass;
  const S* K;  // [robot] r x r, lower triangle
  const S* M;  // r x r
  RightSidesOp sides;
  SpaceOp rows, effectors;  // effectors.rows = 0: none
  int* info;                // 0, or the number (from 1) of the pivot that is not positive
  S* scratch;               // [slot][scratch_length(r, n)]
  // A, and X where it is solved for in another precision than it lies there.
  static std::size_t scratch_length(int r, int n) {
    const int columns = std::is_same_v<S, double> ? 0 : 1 + n;
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(r + columns);
  }
  template <class Team>
  SUPPLE_HD void operator()(Team team, int slot, int robot) const {
    const int r = sides.r, columns = 1 + sides.n;
    const std::size_t square = static_cast<std::size_t>(r) * static_cast<std::size_t>(r);
    double* X = sides.X + static_cast<std::size_t>(robot) * static_cast<std::size_t>(columns * r);
    const std::size_t solved = std::is_same_v<S, double> ? 0 : static_cast<std::size_t>(columns * r);
    S* a = scratch + static_cast<std::size_t>(slot) * (square + solved);
    const S* k = K + static_cast<std::size_t>(robot) * square;
    team.sync();  // the robot before is done with the scratch
    for (int e = team.rank(); e < r * r; e += team.size()) a[e] = stiffness * k[e] + mass * M[e];
    for (int e = team.rank(); e < columns * r; e += team.size()) {
      sides(robot * columns * r + e);
      if constexpr (!std::is_same_v<S, double>) a[r * r + e] = static_cast<S>(X[e]);
    }
    const int factored = cholesky_factor(team, a, r, r);
    if (team.rank() == 0) info[robot] = factored == r ? 0 : factored + 1;
    if (factored < r) return;
    if constexpr (std::is_same_v<S, double>) {
      cholesky_solve(team, a, r, r, X, columns, r);
    } else {
      cholesky_solve(team, a, r, r, a + square, columns, r);
      for (int e = team.rank(); e < columns * r; e += team.size()) X[e] = static_cast<double>(a[r * r + e]);
      team.sync();
    }
    for (int i = team.rank(); i < rows.rows; i += team.size()) rows(robot * rows.rows + i);
    for (int i = team.rank(); i < effectors.rows; i += team.size()) effectors(robot * effectors.rows + i);
  }
};

enum class RobotStatus : int { ok, undefined_points, not_positive, not_finite };

// How a robot fared, for the host.
struct RobotFinding {
  RobotStatus status;
  int inverted, undefined_at;  // points, as in PointCount
  int weakened;                // 1: as in SystemReport
};

// Of solutions and multipliers: with less the motion, a sum of at most some hundred products, is finite.
inline constexpr double largest_finite = 1e150;

// Index: robot.
struct FindingOp {
  int n, r;
  const PointCount* counts;
  const double* f;      // [robot][r]
  const int* info;      // of the factorisation
  const int* weakened;  // GeometricShareTeamOp's, or null
  const double* X;      // [robot][1 + n][r]
  RobotFinding* findings;
  SUPPLE_HD void operator()(int robot) const {
    const PointCount count = counts[robot];
    RobotFinding found{RobotStatus::ok, count.inverted, count.undefined_at, weakened == nullptr ? 0 : weakened[robot]};
    const std::size_t length = static_cast<std::size_t>(r), solutions = static_cast<std::size_t>((1 + n) * r),
                      b = static_cast<std::size_t>(robot);
    bool forces = count.undefined == 0, solved = true;
    for (std::size_t k = 0; k < length; ++k) forces = forces && std::abs(f[b * length + k]) < largest_finite;
    for (std::size_t k = 0; k < solutions; ++k) solved = solved && std::abs(X[b * solutions + k]) < largest_finite;
    if (!forces)
      found.status = RobotStatus::undefined_points;
    else if (info[robot] != 0)
      found.status = RobotStatus::not_positive;
    else if (!solved)
      found.status = RobotStatus::not_finite;
    findings[robot] = found;
  }
};

// u = X_0 + sum_i X_i lambda_i, q += u, v = u/h of the robots that may go on. Index: robot * r + k.
struct MoveOp {
  int n, r;
  double time_step;
  const double* X;            // [robot][1 + n][r]
  const double* lambda;       // [robot][n]
  const unsigned char* goes;  // [robot]
  double* q;                  // [robot][r]
  double* v;
  SUPPLE_HD void operator()(int at) const {
    const int robot = at / r, k = at % r;
    if (goes[robot] == 0) return;
    const double* x = X + static_cast<std::size_t>(robot) * static_cast<std::size_t>((1 + n) * r) + k;
    double u = x[0];
    for (int i = 0; i < n; ++i) u += x[(1 + i) * r] * lambda[robot * n + i];
    q[at] += u;
    v[at] = u / time_step;
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

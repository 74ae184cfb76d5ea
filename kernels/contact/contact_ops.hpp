#pragma once
// Contact of a batch of reduced robots in a step of one linearisation, on a device: which pairs of a collision point
// and an obstacle need rows, those rows in constraint space, and what their forces (contact_solve_op.hpp) do. The
// stages are those of engine/step/contact_stage.hpp for one robot; the host calls them in turns until no robot gets
// further rows. With A = R R^T, W = V V^T of V = H R^-T is never formed: its rank is at most r. Layouts are
// robot-major; one team works on one robot.

#include <cmath>
#include <cstddef>

#include "kernels/contact/contact_rows.hpp"
#include "kernels/contact/solids.hpp"
#include "kernels/dense/cholesky.hpp"
#include "kernels/math/inner_product.hpp"
#include "kernels/step/row_ops.hpp"

namespace supple {

// How a robot's contacts fare, for the host.
struct ContactFinding {
  int contacts, added;            // rows of pairs, and how many came in this round; 0: no further ones are needed
  int known;                      // contacts with their rows of V
  int full;                       // 1: there is no room for the rows that it needs
  int sweeps, steps;              // of Gauss-Seidel and of Newton's method
  double residual, displacement;  // of the forces, as ContactReport has them
  double violation;               // deepest point that may have no further rows [m]
};

// Contacts of all robots, with room for `capacity` of each. N = n + 3 capacity.
struct ContactArrays {
  int n, r, outputs, first_point, points, obstacles, capacity;
  double distance;              // m
  const PlacedSolid* solids;    // [obstacles]
  const double* friction;       // [robot][obstacles]
  const double* L;              // [outputs][r]
  const double* y;              // [robot][outputs]: where the step begins
  const double* factor;         // [robot] r x r: R
  const double* H;              // [robot][n][r]
  const double* X;              // [robot][1 + n][r]
  const double* free;           // [robot][n]
  const double* compliance;     // [n]
  const double* target;         // [robot][n]
  const double *lower, *upper;  // [robot][n]
  const unsigned char* open;    // [robot]
  double* forces;               // [robot][points][obstacles][3]: of the last step, in the world
  unsigned char* rows_of_pair;  // [robot][points obstacles]
  int* pair;                    // [robot][capacity]
  double* frame;                // [robot][capacity][9]
  double* V;                    // [robot][N][r]: H R^-T
  double* d;                    // [robot][N]: free - target
  double* lambda;               // [robot][N]
  double* motion;               // [robot][r]: A^-1 (r + H^T lambda) when rows were last looked for
  const double* multipliers;    // [robot][n]: where the search begins
  double* mu;                   // [robot][capacity]
  ContactFinding* findings;

  SUPPLE_INLINE int pairs() const { return points * obstacles; }
  SUPPLE_INLINE int all() const { return n + 3 * capacity; }
  static SUPPLE_INLINE std::size_t at(int robot, int a, int b = 1) {
    return static_cast<std::size_t>(robot) * static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  }
};

// Frame and first entries of the rows of contact k: linearised where the point is moved from its place.
SUPPLE_HD inline void linearise_contact(const ContactArrays& a, int robot, int k, const Vec3d& moved, double* phi) {
  const int pair = a.pair[ContactArrays::at(robot, a.capacity) + static_cast<std::size_t>(k)];
  const Vec3d here = point_at(a.y + ContactArrays::at(robot, a.outputs), a.first_point + pair / a.obstacles);
  // The step begins here: nothing has slipped.
  const PairRows rows =
      rows_of_pair(gap_at(a.solids[pair % a.obstacles], here + moved), moved, {{0, 0, 0}}, a.distance);
  double* kept = a.frame + ContactArrays::at(robot, a.capacity, 9) + 9 * static_cast<std::size_t>(k);
  for (int i = 0; i < 9; ++i) kept[i] = rows.frame[i];
  for (int i = 0; i < 3; ++i) phi[i] = rows.phi[i];
}

// Rows for pairs that carried a force at the end of the last step (first), or that the motion of the present forces
// would leave below the distance, and their part of constraint space. scratch [slot]: scratch_length().
struct ContactRowsTeamOp {
  ContactArrays a;
  bool first;
  double* scratch;
  static SUPPLE_INLINE std::size_t scratch_length(int r, int points, int pairs) {
    return static_cast<std::size_t>(r + 3 * points + pairs);
  }
  template <class Team>
  SUPPLE_HD void operator()(Team team, int slot, int robot) const {
    if (a.open[robot] == 0) return;
    const int n = a.n, r = a.r, pairs = a.pairs();
    double* pushed = scratch + static_cast<std::size_t>(slot) * scratch_length(r, a.points, pairs);
    double *moved = pushed + r, *decision = moved + 3 * a.points;
    unsigned char* rows_of_pair = a.rows_of_pair + ContactArrays::at(robot, pairs);
    double *d = a.d + ContactArrays::at(robot, a.all()), *V = a.V + ContactArrays::at(robot, a.all(), r);
    const double *factor = a.factor + ContactArrays::at(robot, r, r), *X = a.X + ContactArrays::at(robot, 1 + n, r);
    ContactFinding& found = a.findings[robot];
    team.sync();  // the robot before is done with the scratch
    if (first) {
      begin(team, robot, rows_of_pair, decision);
      add(team, robot, decision, moved, a.forces + ContactArrays::at(robot, pairs, 3));
    }
    team.sync();
    if (!first || found.contacts == 0) {
      find_motion(team, robot, pushed);
      const double* motion = a.motion + ContactArrays::at(robot, r);
      for (int i = team.rank(); i < 3 * a.points; i += team.size())
        moved[i] = inner_product(a.L + static_cast<std::size_t>(3 * a.first_point + i) * static_cast<std::size_t>(r),
                                 motion, r);
      team.sync();
      for (int k = team.rank(); k < pairs; k += team.size()) decision[k] = decide(robot, k, rows_of_pair[k], moved);
      team.sync();
      add(team, robot, decision, moved, nullptr);
      team.sync();
    }
    const int known = found.known, contacts = found.contacts, from = n + 3 * known, to = n + 3 * contacts;
    if (known == contacts) return;
    // H = frame L, then V = H R^-T
    const double* frame = a.frame + ContactArrays::at(robot, a.capacity, 9);
    for (int e = team.rank(); e < (to - from) * r; e += team.size()) {
      const int i = 3 * known + e / r, k = e % r;
      const int point = a.pair[ContactArrays::at(robot, a.capacity) + static_cast<std::size_t>(i / 3)] / a.obstacles;
      const double* L = a.L + static_cast<std::size_t>(3 * (a.first_point + point)) * static_cast<std::size_t>(r) + k;
      const double* row = frame + 9 * (i / 3) + 3 * (i % 3);
      V[(n + i) * r + k] = row[0] * L[0] + row[1] * L[r] + row[2] * L[2 * r];
    }
    team.sync();
    for (int i = from + team.rank(); i < to; i += team.size()) d[i] += inner_product(V + i * r, X, r);
    cholesky_forward(team, factor, r, r, V + from * r, to - from, r);
    if (team.rank() == 0) found.known = contacts;
  }

 private:
  template <class Team>
  SUPPLE_HD void begin(Team team, int robot, unsigned char* rows_of_pair, double* decision) const {
    const int n = a.n, r = a.r;
    const double* forces = a.forces + ContactArrays::at(robot, a.pairs(), 3);
    for (int k = team.rank(); k < a.pairs(); k += team.size()) {
      rows_of_pair[k] = 0;
      decision[k] = forces[3 * k] != 0 || forces[3 * k + 1] != 0 || forces[3 * k + 2] != 0 ? 1 : 0;
    }
    if (team.rank() == 0) a.findings[robot] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    double *lambda = a.lambda + ContactArrays::at(robot, a.all()), *d = a.d + ContactArrays::at(robot, a.all()),
           *V = a.V + ContactArrays::at(robot, a.all(), r);
    for (int i = team.rank(); i < n; i += team.size()) {
      const std::size_t row = ContactArrays::at(robot, n) + static_cast<std::size_t>(i);
      lambda[i] = a.multipliers[row];
      d[i] = a.free[row] - a.target[row];
    }
    const double* H = a.H + ContactArrays::at(robot, n, r);
    for (int e = team.rank(); e < n * r; e += team.size()) V[e] = H[e];
    cholesky_forward(team, a.factor + ContactArrays::at(robot, r, r), r, r, V, n, r);
  }
  // Of the present forces.
  template <class Team>
  SUPPLE_HD void find_motion(Team team, int robot, double* pushed) const {
    const int n = a.n, r = a.r, contacts = a.findings[robot].contacts;
    const double *lambda = a.lambda + ContactArrays::at(robot, a.all()),
                 *V = a.V + ContactArrays::at(robot, a.all(), r), *X = a.X + ContactArrays::at(robot, 1 + n, r);
    for (int k = team.rank(); k < r; k += team.size()) {
      double sum = 0;
      for (int i = n; i < n + 3 * contacts; ++i) sum += V[i * r + k] * lambda[i];
      pushed[k] = sum;
    }
    cholesky_backward(team, a.factor + ContactArrays::at(robot, r, r), r, r, pushed, 1, r);
    double* motion = a.motion + ContactArrays::at(robot, r);
    for (int k = team.rank(); k < r; k += team.size()) {
      double u = X[k];
      for (int i = 0; i < n; ++i) u += X[(1 + i) * r + k] * lambda[i];
      motion[k] = u + pushed[k];
    }
    team.sync();
  }
  // 0: no rows, 1: rows linearised where the point is, 2: where it would be, -depth: none left.
  SUPPLE_HD double decide(int robot, int pair, int rows, const double* moved) const {
    const int point = pair / a.obstacles;
    const PlacedSolid& solid = a.solids[pair % a.obstacles];
    const Vec3d from = point_at(a.y + ContactArrays::at(robot, a.outputs), a.first_point + point),
                move = point_at(moved, point);
    const PairNeed need = need_of_pair([&](const Vec3d& x, double) { return gap_at(solid, x); },
                                       solid.solid.shape == Solid::Shape::plane, rows, from, move, a.distance);
    switch (need.rows) {
      case PairNeed::Rows::at_its_place:
        return 1;
      case PairNeed::Rows::where_it_ends:
        return 2;
      case PairNeed::Rows::none:
        break;
    }
    return need.depth > 0 ? -need.depth : 0;
  }
  // By one member, in the order of the pairs.
  template <class Team>
  SUPPLE_HD void add(Team team, int robot, const double* decision, const double* moved, const double* forces) const {
    if (team.rank() != 0) return;
    ContactFinding& found = a.findings[robot];
    const int before = found.contacts;
    double *lambda = a.lambda + ContactArrays::at(robot, a.all()) + a.n,
           *d = a.d + ContactArrays::at(robot, a.all()) + a.n;
    for (int k = 0; k < a.pairs(); ++k) {
      if (decision[k] < 0 && found.violation < -decision[k]) found.violation = -decision[k];
      if (!(decision[k] > 0)) continue;
      if (found.contacts == a.capacity) {
        found.full = 1;
        break;
      }
      const int c = found.contacts++;
      a.pair[ContactArrays::at(robot, a.capacity) + static_cast<std::size_t>(c)] = k;
      ++a.rows_of_pair[ContactArrays::at(robot, a.pairs()) + static_cast<std::size_t>(k)];
      a.mu[ContactArrays::at(robot, a.capacity) + static_cast<std::size_t>(c)] =
          a.friction[ContactArrays::at(robot, a.obstacles) + static_cast<std::size_t>(k % a.obstacles)];
      const Vec3d none{{0, 0, 0}};
      linearise_contact(a, robot, c, decision[k] > 1 ? point_at(moved, k / a.obstacles) : none, d + 3 * c);
      const double* frame = a.frame + ContactArrays::at(robot, a.capacity, 9) + 9 * static_cast<std::size_t>(c);
      for (int i = 0; i < 3; ++i)
        lambda[3 * c + i] = forces == nullptr ? 0
                                              : frame[3 * i] * forces[3 * k] + frame[3 * i + 1] * forces[3 * k + 1] +
                                                    frame[3 * i + 2] * forces[3 * k + 2];
    }
    found.added = found.contacts - before;
  }
};

// Forces in the world, summed over the rows of a pair, of the robots that take part. Index: robot.
struct ContactForcesOp {
  ContactArrays a;
  const unsigned char* goes;  // [robot]
  SUPPLE_HD void operator()(int robot) const {
    if (goes[robot] == 0) return;
    double* forces = a.forces + ContactArrays::at(robot, a.pairs(), 3);
    for (int i = 0; i < 3 * a.pairs(); ++i) forces[i] = 0;
    for (int c = 0; c < a.findings[robot].contacts; ++c) {
      const double *frame = a.frame + ContactArrays::at(robot, a.capacity, 9) + 9 * static_cast<std::size_t>(c),
                   *lambda = a.lambda + ContactArrays::at(robot, a.all()) + a.n + 3 * c;
      double* sum = forces + 3 * a.pair[ContactArrays::at(robot, a.capacity) + static_cast<std::size_t>(c)];
      for (int i = 0; i < 3; ++i) sum[i] += frame[i] * lambda[0] + frame[3 + i] * lambda[1] + frame[6 + i] * lambda[2];
    }
  }
};

}  // namespace supple

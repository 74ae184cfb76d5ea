#pragma once
// Contact of a batch of reduced robots in a step of one linearisation, on a device: which pairs of a collision point
// and an obstacle need rows, those rows in constraint space, and their forces by block Gauss-Seidel. The stages are
// those of engine/dynamics/contact_stage.hpp for one robot; the host calls them in turns until no robot gets further
// rows. Layouts are robot-major; one team works on one robot.

#include <cmath>
#include <cstddef>

#include "kernels/dense/cholesky.hpp"
#include "kernels/math/inner_product.hpp"
#include "kernels/points/coulomb.hpp"
#include "kernels/points/row_ops.hpp"
#include "kernels/points/solids.hpp"

namespace supple {

// A pair further below its distance than this [m] gets rows; rounding of a position is 1e-17.
inline constexpr double deepest_idle = 1e-12;
// Further rows of a pair are for where it would end deeper than this [m], and so many it may have.
inline constexpr double deepest_cut = 1e-9;
inline constexpr int most_rows = 4;

// How a robot's contacts fare, for the host.
struct ContactFinding {
  int contacts, added;  // rows of pairs, and how many came in this round; 0: no further ones are needed
  int known;            // contacts with their part of W
  int full;             // 1: there is no room for the rows that it needs
  int sweeps;
  double residual, displacement;  // of the forces, as ContactReport has them
  double violation;               // deepest point that may have no further rows [m]
};

// Contacts of all robots, with room for `capacity` of each. N = n + 3 capacity.
struct ContactArrays {
  int n, r, outputs, first_point, points, obstacles, capacity;
  double distance;                // m
  const PlacedSolid* solids;      // [obstacles]
  const double* friction;         // [robot][obstacles]
  const double* L;                // [outputs][r]
  const double* y;                // [robot][outputs]: where the step begins
  const double* factor;           // [robot] r x r
  const double* H;                // [robot][n][r]
  const double* X;                // [robot][1 + n][r]
  const double* free;             // [robot][n]
  const double* own_W;            // [robot][n][n]
  const double* target;           // [robot][n]
  const double *lower, *upper;    // [robot][n]
  const unsigned char* open;      // [robot]
  double* forces;                 // [robot][points][obstacles][3]: of the last step, in the world
  unsigned char* rows_of_pair;    // [robot][points obstacles]
  int* pair;                      // [robot][capacity]
  double* frame;                  // [robot][capacity][9]
  double *contact_H, *contact_X;  // [robot][3 capacity][r]: H, A^-1 H^T
  double* W;                      // [robot][N][N], rows of N numbers
  double* d;                      // [robot][N]: free - target
  double* lambda;                 // [robot][N]
  const double* multipliers;      // [robot][n]: where the search begins
  double* mu;                     // [robot][capacity]
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
  const GapAndNormal near = gap_at(a.solids[pair % a.obstacles], here + moved);
  const Mat3d frame = frame_on(near.normal);
  double* kept = a.frame + ContactArrays::at(robot, a.capacity, 9) + 9 * static_cast<std::size_t>(k);
  for (int i = 0; i < 9; ++i) kept[i] = frame[i];
  phi[0] = near.gap - dot(near.normal, moved) - a.distance;
  phi[1] = phi[2] = 0;  // the step begins here
}

// Rows for pairs that carried a force at the end of the last step (first), or that the motion of the present forces
// would leave below the distance, and their part of constraint space. scratch [slot]: r + 4 points + pairs.
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
    const int n = a.n, r = a.r, N = a.all(), pairs = a.pairs();
    double* du = scratch + static_cast<std::size_t>(slot) * scratch_length(r, a.points, pairs);
    double *moved = du + r, *decision = moved + 3 * a.points;
    unsigned char* rows_of_pair = a.rows_of_pair + ContactArrays::at(robot, pairs);
    double *lambda = a.lambda + ContactArrays::at(robot, N), *d = a.d + ContactArrays::at(robot, N);
    double *frame = a.frame + ContactArrays::at(robot, a.capacity, 9),
           *h = a.contact_H + ContactArrays::at(robot, 3 * a.capacity, r),
           *x = a.contact_X + ContactArrays::at(robot, 3 * a.capacity, r), *W = a.W + ContactArrays::at(robot, N, N);
    const double* X = a.X + ContactArrays::at(robot, 1 + n, r);
    ContactFinding& found = a.findings[robot];
    team.sync();  // the robot before is done with the scratch
    if (first) {
      const double* forces = a.forces + ContactArrays::at(robot, pairs, 3);
      for (int k = team.rank(); k < pairs; k += team.size()) {
        rows_of_pair[k] = 0;
        decision[k] = forces[3 * k] != 0 || forces[3 * k + 1] != 0 || forces[3 * k + 2] != 0 ? 1 : 0;
      }
      if (team.rank() == 0) found = {0, 0, 0, 0, 0, 0, 0, 0};
      for (int i = team.rank(); i < n; i += team.size()) {
        lambda[i] = a.multipliers[ContactArrays::at(robot, n) + static_cast<std::size_t>(i)];
        d[i] = a.free[ContactArrays::at(robot, n) + static_cast<std::size_t>(i)] -
               a.target[ContactArrays::at(robot, n) + static_cast<std::size_t>(i)];
      }
      for (int e = team.rank(); e < n * n; e += team.size())
        W[e / n * N + e % n] = a.own_W[ContactArrays::at(robot, n, n) + static_cast<std::size_t>(e)];
      team.sync();
      add(team, robot, decision, moved, forces);
    }
    team.sync();
    if (!first || found.contacts == 0) {
      const int contacts = found.contacts;
      for (int k = team.rank(); k < r; k += team.size()) {
        double u = X[k];
        for (int i = 0; i < n; ++i) u += X[(1 + i) * r + k] * lambda[i];
        for (int i = 0; i < 3 * contacts; ++i) u += x[i * r + k] * lambda[n + i];
        du[k] = u;
      }
      team.sync();
      for (int i = team.rank(); i < 3 * a.points; i += team.size())
        moved[i] =
            inner_product(a.L + static_cast<std::size_t>(3 * a.first_point + i) * static_cast<std::size_t>(r), du, r);
      team.sync();
      for (int k = team.rank(); k < pairs; k += team.size()) decision[k] = decide(robot, k, rows_of_pair[k], moved);
      team.sync();
      add(team, robot, decision, moved, nullptr);
      team.sync();
    }
    const int known = found.known, contacts = found.contacts;
    if (known == contacts) return;
    // H = frame L, X = A^-1 H^T
    for (int e = team.rank(); e < 3 * (contacts - known) * r; e += team.size()) {
      const int i = 3 * known + e / r, k = e % r;
      const int point = a.pair[ContactArrays::at(robot, a.capacity) + static_cast<std::size_t>(i / 3)] / a.obstacles;
      const double* L = a.L + static_cast<std::size_t>(3 * (a.first_point + point)) * static_cast<std::size_t>(r) + k;
      const double* row = frame + 9 * (i / 3) + 3 * (i % 3);
      h[i * r + k] = x[i * r + k] = row[0] * L[0] + row[1] * L[r] + row[2] * L[2 * r];
    }
    cholesky_solve(team, a.factor + ContactArrays::at(robot, r, r), r, r, x + 3 * known * r, 3 * (contacts - known), r);
    for (int i = 3 * known + team.rank(); i < 3 * contacts; i += team.size())
      d[n + i] += inner_product(h + i * r, X, r);
    const int begin = n + 3 * known, end = n + 3 * contacts;
    for (int e = team.rank(); e < (end - begin) * end; e += team.size()) {
      const int i = begin + e / end, j = e % end;
      if (j > i) continue;
      const double value = inner_product(h + (i - n) * r, j < n ? X + (1 + j) * r : x + (j - n) * r, r);
      W[static_cast<std::size_t>(i) * static_cast<std::size_t>(N) + static_cast<std::size_t>(j)] = value;
      W[static_cast<std::size_t>(j) * static_cast<std::size_t>(N) + static_cast<std::size_t>(i)] = value;
    }
    team.sync();
    if (team.rank() == 0) found.known = contacts;
  }

 private:
  // 0: no rows, 1: rows linearised where the point is, 2: where it would be, -depth: none left.
  SUPPLE_HD double decide(int robot, int pair, int rows, const double* moved) const {
    const int point = pair / a.obstacles;
    const PlacedSolid& solid = a.solids[pair % a.obstacles];
    const Vec3d from = point_at(a.y + ContactArrays::at(robot, a.outputs), a.first_point + point),
                move = point_at(moved, point);
    if (rows == 0) {
      const GapAndNormal near = gap_at(solid, from);
      if (near.gap + dot(near.normal, move) - a.distance < -deepest_idle) return 1;
    }
    if (solid.solid.shape == Solid::Shape::plane) return 0;
    const double depth = a.distance - gap_at(solid, from + move).gap;
    return depth > deepest_cut && rows < most_rows ? 2 : depth > 0 ? -depth : 0;
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

// Forces of the robots with contacts that are open and have got rows: block Gauss-Seidel as solvers/contact/contact.hpp
// has it (Jourdan, Alart & Jean 1998), each block solved exactly, with its scales and its residual. scratch [slot]:
// scratch_length(N).
struct ContactSolveTeamOp {
  ContactArrays a;
  double tolerance;
  int limit;  // sweeps
  double* scratch;
  static constexpr int refresh = 50;  // sweeps after which w is summed afresh, against rounding
  static SUPPLE_INLINE std::size_t scratch_length(int N) {
    const std::size_t all = static_cast<std::size_t>(N);
    return all * all + 4 * all + all * (sizeof(CoulombBlock) / sizeof(double)) + 8;
  }
  template <class Team>
  SUPPLE_HD void operator()(Team team, int slot, int robot) const {
    ContactFinding& found = a.findings[robot];
    if (a.open[robot] == 0 || found.added == 0 || found.full != 0) return;
    const int n = a.n, ld = a.all(), contacts = found.contacts, N = n + 3 * contacts;
    double* W = scratch + static_cast<std::size_t>(slot) * scratch_length(ld);
    double *scale = W + ld * ld, *d = scale + ld, *lambda = d + ld, *w = lambda + ld, *shared = w + ld;
    CoulombBlock* blocks = reinterpret_cast<CoulombBlock*>(shared + 8);
    const double *given = a.W + ContactArrays::at(robot, ld, ld), *lower = a.lower + ContactArrays::at(robot, n),
                 *upper = a.upper + ContactArrays::at(robot, n), *mu = a.mu + ContactArrays::at(robot, a.capacity);
    double* forces = a.lambda + ContactArrays::at(robot, ld);
    team.sync();  // the robot before is done with the scratch
    for (int i = team.rank(); i < N; i += team.size()) {
      const int block = i < n ? i : n + (i - n) / 3 * 3;
      double diagonal = given[block * ld + block];
      if (i >= n) diagonal = (diagonal + given[(block + 1) * ld + block + 1] + given[(block + 2) * ld + block + 2]) / 3;
      scale[i] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
      d[i] = a.d[ContactArrays::at(robot, ld) + static_cast<std::size_t>(i)] * scale[i];
      lambda[i] = std::abs(forces[i]) < HUGE_VAL ? forces[i] / scale[i] : 0;
    }
    team.sync();
    for (int e = team.rank(); e < N * N; e += team.size()) {
      const int i = e / N, j = e % N;
      W[i * ld + j] = given[i * ld + j] * scale[i] * scale[j];
    }
    team.sync();
    for (int c = team.rank(); c < contacts; c += team.size()) {
      const int i = n + 3 * c;
      double block[9];
      for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) block[3 * p + q] = W[(i + p) * ld + i + q];
      blocks[c] = CoulombBlock::of(block);
      project_friction(mu[c], lambda + i);
    }
    for (int i = team.rank(); i < n; i += team.size())
      lambda[i] = clamped(lambda[i], lower[i] / scale[i], upper[i] / scale[i]);
    int sweeps = 0;
    for (;;) {
      team.sync();
      for (int i = team.rank(); i < N; i += team.size()) w[i] = inner_product(W + i * ld, lambda, N) + d[i];
      team.sync();
      if (team.rank() == 0) evaluate(contacts, scale, d, lambda, w, lower, upper, mu, shared);
      team.sync();
      if (!(shared[0] > tolerance) || sweeps >= limit) break;
      double change = 0, force = 0;
      int in_a_row = 0;
      do {
        change = force = 0;
        for (int i = 0; i < n; ++i) {
          const double next = clamped(lambda[i] - w[i] / (W[i * ld + i] > 0 ? W[i * ld + i] : 1), lower[i] / scale[i],
                                      upper[i] / scale[i]);
          const double by[1] = {next - lambda[i]};
          move<1>(team, N, ld, W, i, by, lambda, w, change, force);
        }
        for (int c = 0; c < contacts; ++c) {
          const int i = n + 3 * c;
          const CoulombBlock& k = blocks[c];
          const double before[3] = {lambda[i], lambda[i + 1], lambda[i + 2]};
          if (w[i] >= 0 && before[0] == 0 && before[1] == 0 && before[2] == 0) continue;
          const double b[3] = {w[i] - (k.nn * before[0] + k.n1 * before[1] + k.n2 * before[2]),
                               w[i + 1] - (k.n1 * before[0] + k.t11 * before[1] + k.t12 * before[2]),
                               w[i + 2] - (k.n2 * before[0] + k.t12 * before[1] + k.t22 * before[2])};
          double next[3] = {before[0], before[1], before[2]};
          solve_coulomb(k, mu[c], b, next);
          const double by[3] = {next[0] - before[0], next[1] - before[1], next[2] - before[2]};
          move<3>(team, N, ld, W, i, by, lambda, w, change, force);
        }
        ++sweeps, ++in_a_row;
      } while (sweeps < limit && in_a_row < refresh && change > tolerance * force);
    }
    for (int i = team.rank(); i < N; i += team.size()) forces[i] = lambda[i] * scale[i];
    if (team.rank() == 0) {
      found.sweeps += sweeps;
      found.residual = shared[0];
      found.displacement = shared[1];
    }
  }

 private:
  static SUPPLE_INLINE double clamped(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
  }
  // The same numbers for all members; w follows.
  template <int rows, class Team>
  SUPPLE_HD static void move(Team team, int N, int ld, const double* W, int i, const double* by, double* lambda,
                             double* w, double& change, double& force) {
    bool moves = false;
    for (int k = 0; k < rows; ++k) {
      force = coulomb::larger(force, std::abs(lambda[i + k]));
      change = coulomb::larger(change, std::abs(by[k]));
      moves = moves || by[k] != 0;
    }
    if (!moves) return;
    team.sync();  // everyone has read lambda and w
    for (int j = team.rank(); j < N; j += team.size())
      for (int k = 0; k < rows; ++k) w[j] += by[k] * W[(i + k) * ld + j];
    if (team.rank() == 0)
      for (int k = 0; k < rows; ++k) lambda[i + k] += by[k];
    team.sync();
  }
  // Residual and displacement of ContactReport.
  SUPPLE_HD void evaluate(int contacts, const double* scale, const double* d, const double* lambda, const double* w,
                          const double* lower, const double* upper, const double* mu, double* out) const {
    const int n = a.n, N = n + 3 * contacts;
    double force = 0, load = 0, worst = 0, displacement = 0;
    bool finite = true;
    for (int i = 0; i < N; ++i) {
      force = coulomb::larger(force, std::abs(lambda[i]));
      load = coulomb::larger(load, std::abs(d[i]));
      finite = finite && std::abs(w[i]) < HUGE_VAL && std::abs(lambda[i]) < HUGE_VAL;
    }
    for (int i = 0; i < n; ++i) {
      const double low = lower[i] / scale[i], high = upper[i] / scale[i];
      if (lambda[i] == low || lambda[i] == high) load = coulomb::larger(load, std::abs(lambda[i]));
      worst = coulomb::larger(worst, std::abs(lambda[i] - clamped(lambda[i] - w[i], low, high)));
    }
    for (int c = 0; c < contacts; ++c) {
      const double here = coulomb_residual(lambda + n + 3 * c, w + n + 3 * c, mu[c]);
      worst = coulomb::larger(worst, here);
      displacement = coulomb::larger(displacement, here / scale[n + 3 * c]);
    }
    const double reference = coulomb::smaller(force, contact_reference * load);
    out[0] = !finite ? HUGE_VAL : reference > 0 ? worst / reference : worst > 0 ? HUGE_VAL : 0;
    out[1] = displacement;
  }
};

// u = X_0 + sum_i X_i lambda_i with contacts, q += u, v = u/h of the robots that may go on. Index: robot * r + k.
struct ContactMoveOp {
  ContactArrays a;
  double time_step;
  const unsigned char* goes;  // [robot]
  double* q;                  // [robot][r]
  double* v;
  SUPPLE_HD void operator()(int at) const {
    const int robot = at / a.r, k = at % a.r;
    if (goes[robot] == 0) return;
    const double *X = a.X + ContactArrays::at(robot, 1 + a.n, a.r) + k,
                 *x = a.contact_X + ContactArrays::at(robot, 3 * a.capacity, a.r) + k,
                 *lambda = a.lambda + ContactArrays::at(robot, a.all());
    double u = X[0];
    for (int i = 0; i < a.n; ++i) u += X[(1 + i) * a.r] * lambda[i];
    double moved = 0;
    for (int i = 0; i < 3 * a.findings[robot].contacts; ++i) moved += x[i * a.r] * lambda[a.n + i];
    u += moved;
    q[at] += u;
    v[at] = u / time_step;
  }
};

// Forces in the world, summed over the rows of a pair, of the robots that may go on. Index: robot.
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

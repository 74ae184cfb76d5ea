#pragma once
// Block Gauss-Seidel on a contact problem (Jourdan, Alart & Jean, Computer Methods in Applied Mechanics and Engineering
// 155, 1998), each block solved exactly. With V the motion u = V^T lambda is kept up to date, with W all w. `Rows`:
// scaled_contact.hpp.

#include "kernels/contact/scaled_contact.hpp"

namespace supple::contact {

inline constexpr int sweeps_between_looks = 3;  // at the rate
inline constexpr int usual_newton_steps = 12;
inline constexpr int sweeps_before_refresh = 50;  // w is summed afresh then, against rounding

struct Sweep {
  double change = 0, force = 0;  // largest of a row
};

// Takes the forces of `count` rows from i on by `by`.
template <int count, class Rows>
SUPPLE_HD void move_rows(Rows& rows, const ScaledContact& p, int i, const double* by, Sweep& done) {
  bool moves = false;
  for (int k = 0; k < count; ++k) {
    done.force = coulomb::larger(done.force, std::abs(p.lambda[i + k]));
    done.change = coulomb::larger(done.change, std::abs(by[k]));
    moves = moves || by[k] != 0;
  }
  if (moves) rows.template move<count>(p, i, by);
}

template <class Rows>
SUPPLE_HD Sweep sweep(Rows& rows, const ScaledContact& p, double relaxation) {
  Sweep done;
  for (int i = 0; i < p.boxes; ++i) {
    double w[1];
    rows.template present<1>(p, i, w);
    const double next = p.lambda[i] - relaxation * w[0] / (p.diagonal[i] > 0 ? p.diagonal[i] : 1);
    const double by[1] = {clamped(next, p.lower[i], p.upper[i]) - p.lambda[i]};
    move_rows<1>(rows, p, i, by, done);
  }
  for (int c = 0; c < p.contacts; ++c) {
    const int first = p.normal(c);
    const CoulombBlock& k = p.blocks[c];
    const double before[3] = {p.lambda[first], p.lambda[first + 1], p.lambda[first + 2]};
    double b[3], next[3] = {before[0], before[1], before[2]};
    rows.template present<3>(p, first, b);
    if (b[0] >= 0 && before[0] == 0 && before[1] == 0 && before[2] == 0) continue;
    b[0] -= k.nn * before[0] + k.n1 * before[1] + k.n2 * before[2];
    b[1] -= k.n1 * before[0] + k.t11 * before[1] + k.t12 * before[2];
    b[2] -= k.n2 * before[0] + k.t12 * before[1] + k.t22 * before[2];
    solve_coulomb(k, p.friction[c], b, next);
    if (relaxation != 1) {
      for (int i = 0; i < 3; ++i) next[i] = before[i] + relaxation * (next[i] - before[i]);
      project_friction(p.friction[c], next);
    }
    const double by[3] = {next[0] - before[0], next[1] - before[1], next[2] - before[2]};
    move_rows<3>(rows, p, first, by, done);
  }
  return done;
}

// Multiplications of a sweep, and of the usual number of Newton steps, whose loops run faster: at most, as systems in
// slots are smaller.
SUPPLE_HD inline double sweep_cost(const ScaledContact& p) {
  return static_cast<double>(p.n) * (p.factored ? 2 * p.ld : p.ld) + 500.0 * p.contacts;
}
SUPPLE_HD inline double newton_cost(const ScaledContact& p) {
  const double size = p.width, step = size * size * size / 3 + (p.factored ? p.n * size * size : 3.0 * p.n * p.n);
  return usual_newton_steps * (step / 3 + 1e3);
}

// Up to `limit` sweeps. With `give_up` it ends as soon as, by the rate of the last sweeps, Newton's method would be
// done earlier. Returns the number of sweeps; `last` belongs to lambda.
template <class Rows>
SUPPLE_HD int gauss_seidel(Rows& rows, const ScaledContact& p, double tolerance, double relaxation, int limit,
                           bool give_up, Residuals& last) {
  last = evaluate(rows, p);
  int sweeps = 0;
  bool slow = false;
  while (sweeps < limit && last.relative() > tolerance && !slow) {
    Sweep done;
    double before = 0;
    int in_a_row = 0;
    do {
      if (in_a_row % sweeps_between_looks == 0) before = done.change;
      done = sweep(rows, p, relaxation);
      ++sweeps, ++in_a_row;
      if (give_up && in_a_row % sweeps_between_looks == 0 && done.change > 0) {
        // change ~ rate^sweeps
        const double rate = before > 0 ? std::log(before / done.change) / sweeps_between_looks : 0;
        const double left = std::log(done.change / (tolerance * done.force));
        slow = (before > 0 || in_a_row > sweeps_between_looks) && left * sweep_cost(p) > rate * newton_cost(p);
      }
    } while (sweeps < limit && in_a_row < sweeps_before_refresh && !slow && done.change > tolerance * done.force);
    last = evaluate(rows, p);
  }
  return sweeps;
}

}  // namespace supple::contact

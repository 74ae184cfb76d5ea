#include <algorithm>
#include <cmath>

#include "kernels/base/extent.hpp"
#include "solvers/contact/scaled_contact.hpp"
#include "solvers/dense/pack.hpp"

namespace supple::contact {
namespace {

constexpr int trial = 5;  // sweeps between two looks at the rate
constexpr int usual_newton_steps = 12;
constexpr int refresh = 50;  // sweeps after which w is summed afresh, against rounding

struct Sweep {
  double change = 0, force = 0;  // largest of a row
};

// With V the motion u = V^T lambda is kept up to date, with W all w.
Sweep sweep(const ScaledContact& p, double relaxation) {
  Sweep done;
  const auto value = [&](int i) {
    return p.factored ? dot(p.row(i), p.u, p.ld) + p.d[i] + p.compliance[i] * p.lambda[i] : p.w[i];
  };
  const auto change = [&](int i, double by) {
    done.force = std::max(done.force, std::abs(p.lambda[i]));
    if (by == 0) return;
    done.change = std::max(done.change, std::abs(by));
    p.lambda[i] += by;
    add_scaled(p.factored ? p.u : p.w, by, p.row(i), p.factored ? p.ld : p.n);
    if (!p.factored) p.w[i] += p.compliance[i] * by;
  };
  for (int i = 0; i < p.boxes; ++i) {
    const double next = p.lambda[i] - relaxation * value(i) / (p.diagonal[i] > 0 ? p.diagonal[i] : 1);
    change(i, std::min(std::max(next, p.lower[i]), p.upper[i]) - p.lambda[i]);
  }
  for (int c = 0; c < p.contacts; ++c) {
    const int first = p.normal(c);
    const CoulombBlock& k = p.blocks[c];
    const double* before = p.lambda + first;
    double b[3], next[3];
    for (int i = 0; i < 3; ++i) b[i] = value(first + i), next[i] = before[i];
    if (b[0] >= 0 && before[0] == 0 && before[1] == 0 && before[2] == 0) continue;
    b[0] -= k.nn * before[0] + k.n1 * before[1] + k.n2 * before[2];
    b[1] -= k.n1 * before[0] + k.t11 * before[1] + k.t12 * before[2];
    b[2] -= k.n2 * before[0] + k.t12 * before[1] + k.t22 * before[2];
    solve_coulomb(k, p.friction[c], b, next);
    if (relaxation != 1) {
      for (int i = 0; i < 3; ++i) next[i] = before[i] + relaxation * (next[i] - before[i]);
      project_friction(p.friction[c], next);
    }
    for (int i = 0; i < 3; ++i) change(first + i, next[i] - before[i]);
  }
  return done;
}

// Multiplications of a sweep, and of the usual number of Newton steps, whose loops run faster.
double sweep_cost(const ScaledContact& p) {
  return extent(p.n) * extent(p.factored ? 2 * p.ld : p.ld) + extent(500, p.contacts);
}
double newton_cost(const ScaledContact& p) {
  const double size = p.width, step = size * size * size / 3 + (p.factored ? p.n * size * size : 3.0 * p.n * p.n);
  return usual_newton_steps * (step / 3 + 1e3);
}

}  // namespace

int gauss_seidel(const ScaledContact& p, double tolerance, double relaxation, int limit, bool give_up,
                 Residuals& last) {
  last = p.evaluate();
  int sweeps = 0;
  bool slow = false;
  while (sweeps < limit && last.relative() > tolerance && !slow) {
    Sweep done;
    double before = 0;
    int in_a_row = 0;
    do {
      if (in_a_row % trial == 0) before = done.change;
      done = sweep(p, relaxation);
      ++sweeps, ++in_a_row;
      if (give_up && in_a_row % trial == 0 && done.change > 0) {
        // change ~ rate^sweeps
        const double rate = before > 0 ? std::log(before / done.change) / trial : 0;
        const double left = std::log(done.change / (tolerance * done.force));
        slow = (before > 0 || in_a_row > trial) && left * sweep_cost(p) > rate * newton_cost(p);
      }
    } while (sweeps < limit && in_a_row < refresh && !slow && done.change > tolerance * done.force);
    last = p.evaluate();
  }
  return sweeps;
}

}  // namespace supple::contact

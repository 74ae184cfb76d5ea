#pragma once
// Semi-smooth Newton method on a proximal point form of the contact problem, which needs no rank of W. With sigma > 0
// and the forces lambda_k before, lambda_{k+1} solves
//   w = (W + C) lambda + d + sigma (lambda - lambda_k)   with the laws of solvers/contact/contact.hpp;
// its fixed points solve the problem itself, for any sigma (Rockafellar 1976). Row by row, the part that couples rows
// being b = W y + d, the laws are now a function in closed form,
//   lambda = Lambda(b'),   b' = b - sigma lambda_k,   s = sigma + c:   clamp(-b' / s) for a box row,
//   lambda_n = max(0, -b'_n / s),   lambda_t = projection of -b'_t / s on the disc of radius mu lambda_n,
// so that y = Lambda(W y + d - sigma lambda_k) remains, or with W = V V^T in the motion u = V^T y:
//   F(u) = u - V^T Lambda(V u + d - sigma lambda_k) = 0.
// A contact's D = -dLambda/db is a sum of p q^T over its slots: three where it sticks, two where it slips, one without
// friction, none where it is open. With P and Q of all slots as columns, Newton's step solves
//   (I + Q^T W P) z = -Q^T W error,   error = y - Lambda,   y <- y - error - P z,
// as many unknowns as slots, or with (I + V^T P Q^T V) in the modes where that takes fewer operations. `Rows`
// (scaled_contact.hpp) chooses.

#include "kernels/contact/scaled_contact.hpp"

namespace supple::contact {

struct NewtonWork {
  double *y, *b, *error, *right, *step_y, *step_b, *prior, *trial;  // n each
  double *P, *Q;  // 3 n each: p and q of slot i, a slot a row, of the rows of its contact; 1 number for a box row. An
                  // unused slot has q = 0
  double* spare;  // 2 n, not touched by the functions below
  int* active;    // n + 1: the slots in use, at the end how many
};

// Rows from first on.
struct Block {
  int first, rows;
};
SUPPLE_INLINE Block block_of(const ScaledContact& p, int slot) {
  return slot < p.boxes ? Block{slot, 1} : Block{slot - (slot - p.boxes) % 3, 3};
}

// sigma, where the diagonal of W + C is 1. A first one of 1e-2 needs one step more, 1e-4 some more steps. Motions that
// W resists less than sigma come to rest slowly, so it falls far; where rounding of b / sigma shows, it rises again.
inline constexpr double first_shift = 1e-3, least_shift = 1e-8, largest_shift = 1e3;
inline constexpr double shift_decrease = 0.1, shift_increase = 30;
inline constexpr double rounding = 1e-5;        // an error below this that Newton's method does not halve is rounding
inline constexpr double inner_accuracy = 3e-2;  // enough where only the answer counts
inline constexpr int steps_per_shift = 20;

enum class StepEnd { converged, rounded, failed };

template <class Rows>
class ProximalNewton {
 public:
  SUPPLE_HD ProximalNewton(Rows& rows, const ScaledContact& problem, const NewtonWork& work)
      : rows_(rows), p_(problem), k_(work) {}

  // One proximal point step from `prior` (also the start) to p.lambda. A guess counts as a step of Newton's method.
  SUPPLE_HD StepEnd step(double shift, double accuracy, int limit, int& steps) {
    shift_ = shift;
    start();
    double here = look(), before = HUGE_VAL;
    int taken = 0;
    if (here > accuracy * force_ && limit > 0) {
      here = guess(here);
      ++taken, ++steps;
    }
    for (;; ++taken) {
      if (here <= accuracy * force_) return StepEnd::converged;
      if (here > 0.5 * before && here <= rounding * force_) return StepEnd::rounded;
      if (taken == limit || !solve_step()) return StepEnd::failed;
      before = here;
      ++steps;
      go(line_search());
      here = look();
    }
  }

 private:
  // Which laws hold is read from the shifted forces t = (sigma lambda_k - b) / s, or for a guess from t = lambda_k - w,
  // which small sigma do not blow up.
  enum class State { shifted, guessed };

  Rows& rows_;
  const ScaledContact& p_;
  const NewtonWork& k_;
  double shift_ = 0, force_ = 0;  // the largest force
  int active_ = 0;

  // y = prior, and its b.
  SUPPLE_HD void start() {
    rows_.each(p_.n, [&](int i) { k_.y[i] = k_.prior[i]; });
    rows_.apply(p_, k_.y, k_.b);
    rows_.each(p_.n, [&](int i) { k_.b[i] += p_.d[i]; });
    forces(k_.b, State::shifted);
  }

  // The first step, with the laws guessed: taken if less than the error `here` is left. Returns what is left.
  SUPPLE_HD double guess(double here) {
    forces(k_.b, State::guessed);
    look();
    if (solve_step()) {
      slope_at(1);
      go(1);
      const double there = look();
      if (there < here) return there;
    }
    start();
    return look();
  }

  // lambda = Lambda(b - sigma prior), or that law linearised, and P, Q. Either way lambda = P Q^T (sigma prior - b),
  // but for box rows at a limit.
  SUPPLE_HD void forces(const double* b, State state) {
    rows_.each(p_.boxes + p_.contacts, [&](int k) {
      if (k < p_.boxes) {
        box_force(k, b, state);
      } else {
        contact_force(k - p_.boxes, b, state);
      }
    });
  }
  SUPPLE_HD void box_force(int i, const double* b, State state) const {
    const double s = shift_ + p_.compliance[i], value = (shift_ * k_.prior[i] - b[i]) / s;
    const double sign = state == State::shifted ? value : k_.prior[i] - (b[i] + p_.compliance[i] * k_.prior[i]);
    const bool free = sign > p_.lower[i] && sign < p_.upper[i];
    p_.lambda[i] = free ? value : clamped(sign, p_.lower[i], p_.upper[i]);
    k_.P[3 * i] = 1 / s;
    k_.Q[3 * i] = free ? 1 : 0;
  }
  SUPPLE_HD void contact_force(int c, const double* b, State state) const {
    const int i = p_.normal(c);
    double *lambda = p_.lambda + i, *P = k_.P + 3 * i, *Q = k_.Q + 3 * i;
    const double sn = shift_ + p_.compliance[i], st = shift_ + p_.compliance[i + 1], mu = p_.friction[c];
    const double* prior = k_.prior + i;
    const double n = (shift_ * prior[0] - b[i]) / sn, t1 = (shift_ * prior[1] - b[i + 1]) / st,
                 t2 = (shift_ * prior[2] - b[i + 2]) / st;
    double sign[3] = {n, t1, t2};
    if (state == State::guessed)
      for (int a = 0; a < 3; ++a) sign[a] = prior[a] - (b[i + a] + p_.compliance[i + a] * prior[a]);
    for (int e = 0; e < 9; ++e) P[e] = Q[e] = 0;
    if (!(sign[0] > 0)) {
      lambda[0] = lambda[1] = lambda[2] = 0;
      return;
    }
    const double size = std::sqrt(sign[1] * sign[1] + sign[2] * sign[2]), radius = mu * sign[0];
    lambda[0] = n;
    P[0] = 1 / sn;
    Q[0] = 1;
    if (size > radius) {  // lambda_t = mu lambda_n tau, tau = t / |t|
      const double c1 = sign[1] / size, c2 = sign[2] / size, ratio = radius / size;
      lambda[1] = mu * n * c1;
      lambda[2] = mu * n * c2;
      P[1] = mu * c1 / sn;
      P[2] = mu * c2 / sn;
      if (ratio == 0) return;
      double turn = ratio / st;
      if (state == State::guessed) {
        // lambda_t turns by ratio times how lambda_t - w_t does, where w_t = s lambda_t + ... itself
        turn = ratio / (1 - ratio + st * ratio);
        const double across = turn * st * (c1 * t2 - c2 * t1);
        lambda[1] -= across * c2;
        lambda[2] += across * c1;
      }
      P[4] = -turn * c2;
      P[5] = turn * c1;
      Q[4] = -c2;
      Q[5] = c1;
    } else if (mu > 0) {
      lambda[1] = t1;
      lambda[2] = t2;
      P[4] = P[8] = 1 / st;
      Q[4] = Q[8] = 1;
    } else {
      lambda[1] = lambda[2] = 0;
    }
  }

  // Slots, and right = -V^T error or -W error for the present y, forces, P and Q; its largest entry.
  SUPPLE_HD double look() {
    rows_.once([&] {
      int count = 0;
      for (int i = 0; i < p_.n; ++i) {
        const double* q = k_.Q + 3 * i;
        if (q[0] != 0 || (i >= p_.boxes && (q[1] != 0 || q[2] != 0))) k_.active[count++] = i;
      }
      k_.active[p_.n] = count;
    });
    active_ = k_.active[p_.n];
    double force[1] = {0}, most[1] = {0};
    rows_.template largest<1>(
        p_.n, force, [&](int i, double* so_far) { so_far[0] = coulomb::larger(so_far[0], std::abs(p_.lambda[i])); });
    force_ = force[0];
    rows_.each(p_.n, [&](int i) { k_.error[i] = k_.y[i] - p_.lambda[i]; });
    if (p_.factored) {
      rows_.gather(p_, -1, k_.error, k_.right);
    } else {
      rows_.apply(p_, k_.error, k_.right);
      rows_.each(p_.n, [&](int i) { k_.right[i] = -k_.right[i]; });
    }
    rows_.template largest<1>(p_.factored ? p_.width : p_.n, most, [&](int i, double* so_far) {
      so_far[0] = coulomb::larger(so_far[0], std::abs(k_.right[i]));
    });
    return most[0];
  }

  // step_y = -error - P z, step_b = W step_y.
  SUPPLE_HD bool solve_step() {
    if (!rows_.solve_newton(p_, k_, active_)) return false;
    rows_.each(p_.n, [&](int i) { k_.step_y[i] = -k_.error[i]; });
    // Slots of one contact are neighbours; the first of them adds all.
    rows_.each(active_, [&](int a) {
      const Block block = block_of(p_, k_.active[a]);
      if (a > 0 && k_.active[a - 1] >= block.first) return;
      for (int e = a; e < active_ && k_.active[e] < block.first + block.rows; ++e)
        for (int r = 0; r < block.rows; ++r) k_.step_y[block.first + r] -= k_.P[3 * k_.active[e] + r] * k_.right[e];
    });
    rows_.apply(p_, k_.step_y, k_.step_b);
    // NaN and infinity survive times zero.
    return rows_.sum(p_.n, [&](int i) { return 0 * k_.step_b[i]; }) == 0;
  }

  // du . F(u + t du): zero along the direction where without friction the energy is least. Leaves the forces there.
  SUPPLE_HD double slope_at(double t) {
    rows_.each(p_.n, [&](int i) { k_.trial[i] = k_.b[i] + t * k_.step_b[i]; });
    forces(k_.trial, State::shifted);
    return rows_.sum(p_.n, [&](int i) { return k_.step_b[i] * (k_.y[i] + t * k_.step_y[i] - p_.lambda[i]); });
  }
  // To where slope_at() was called last.
  SUPPLE_HD void go(double t) {
    rows_.each(p_.n, [&](int i) {
      k_.y[i] += t * k_.step_y[i];
      k_.b[i] = k_.trial[i];
    });
  }

  SUPPLE_HD double line_search() {
    const double start = rows_.sum(p_.n, [&](int i) { return k_.step_b[i] * k_.error[i]; });
    double low = 0, high = 1, at_low = start, at_high = slope_at(1);
    if (start >= 0 || at_high <= 0.5 * std::abs(start)) return 1;
    for (int trial = 0; trial < 40; ++trial) {
      double t = low - at_low * (high - low) / (at_high - at_low);
      if (trial % 3 == 2 || !(t > low && t < high)) t = (low + high) / 2;
      const double here = slope_at(t);
      if (std::abs(here) <= 0.1 * std::abs(start)) return t;
      if (here < 0) {
        low = t, at_low = here;
      } else {
        high = t, at_high = here;
      }
    }
    slope_at(high);
    return high;
  }
};

struct NewtonLimits {
  double tolerance, enough = 0;  // as ContactSettings
  int steps;
  double inner = inner_accuracy;  // of proximal point steps, against the residual before them
  double smallest_shift = least_shift;
};

// From and to p.lambda; `last` belongs to it. Ends at the tolerance, after that many steps, where stop() returns true
// after a proximal point step (before which forces were work.prior), and below `enough` once rounding shows. Returns
// the number of steps.
template <class Rows, class Stop>
SUPPLE_HD int newton(Rows& rows, const ScaledContact& p, const NewtonWork& work, const NewtonLimits& limits,
                     Residuals& last, Stop stop) {
  ProximalNewton<Rows> method(rows, p, work);
  int steps = 0;
  double shift = first_shift, floor = limits.smallest_shift;
  last = evaluate(rows, p);
  rows.each(p.n, [&](int i) { work.prior[i] = p.lambda[i]; });
  while (last.relative() > limits.tolerance && steps < limits.steps) {
    const double accuracy =
        coulomb::larger(0.1 * limits.tolerance, limits.inner * coulomb::smaller(1.0, last.relative()));
    const int before = steps, left = limits.steps - steps;
    const StepEnd end = method.step(shift, accuracy, left < steps_per_shift ? left : steps_per_shift, steps);
    if (end == StepEnd::failed) {
      rows.each(p.n, [&](int i) { p.lambda[i] = work.prior[i]; });
      shift *= shift_increase;
      if (shift > largest_shift) break;
      continue;
    }
    if (steps == before) ++steps;  // forces that grow for ever may need no step to be good enough
    last = evaluate(rows, p);
    if (stop()) break;
    rows.each(p.n, [&](int i) { work.prior[i] = p.lambda[i]; });
    if (end == StepEnd::rounded) {
      if (last.relative() <= limits.enough) break;
      floor = coulomb::smaller(1.0, shift / shift_decrease);
    }
    shift = coulomb::larger(floor, shift * shift_decrease);
  }
  return steps;
}

struct NeverStop {
  SUPPLE_HD bool operator()() const { return false; }
};

}  // namespace supple::contact

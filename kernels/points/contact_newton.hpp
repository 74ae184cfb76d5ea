#pragma once
// Semi-smooth Newton method on a proximal point form of the contact problem, which needs no rank of W. With sigma > 0
// and the forces lambda_k before, lambda_{k+1} solves
//   w = (W + C) lambda + d + sigma (lambda - lambda_k)   with the laws of solvers/contact/contact.hpp;
// its fixed points solve the problem itself, for any sigma (Rockafellar 1976). Row by row, the part that couples rows
// being b = W y + d, the laws are now a function in closed form,
//   lambda = Lambda(b - sigma lambda_k):   clamp(-b' / s) for a box row,   lambda_n = max(0, -b'_n / s),   lambda_t =
//   projection of -b'_t / s on the disc of radius mu lambda_n,   s = sigma + c,
// so that y = Lambda(W y + d - sigma lambda_k) remains, or with W = V V^T in the motion u = V^T y:
//   F(u) = u - V^T Lambda(V u + d - sigma lambda_k) = 0.
// Newton's matrix is I + V^T D V (width x width) or I + W D on the rows in contact, D = -dLambda/db: the smaller of the
// two is what ScaledContact chose to keep. `Rows`: scaled_contact.hpp.

#include "kernels/points/scaled_contact.hpp"

namespace supple::contact {

struct NewtonWork {
  double *y, *b, *error, *right, *step_y, *step_b, *prior, *trial;  // n each
  double* D;      // 9 n: 3 x 3 per contact, 1 per box row; 0 where a row's force does not answer to b
  double* spare;  // 2 n, not touched by the functions below
  int* active;    // n + 1: the rows whose D is not 0, at the end how many
};

// sigma, where the diagonal of W + C is 1. From small ones on rounding of b / sigma would show.
inline constexpr double first_shift = 1e-2, smallest_shift = 1e-5, largest_shift = 1e3;
inline constexpr double shift_decrease = 0.1, shift_increase = 30;
inline constexpr double rounding = 1e-5;        // an error below this that Newton's method does not halve is rounding
inline constexpr double inner_accuracy = 1e-2;  // of a proximal point step, against the residual before it
inline constexpr int steps_per_shift = 20;

enum class StepEnd { converged, rounded, failed };

template <class Rows>
class ProximalNewton {
 public:
  SUPPLE_HD ProximalNewton(Rows& rows, const ScaledContact& problem, const NewtonWork& work)
      : rows_(rows), p_(problem), k_(work) {}

  // One proximal point step from `prior` (also the start) to p.lambda.
  SUPPLE_HD StepEnd step(double shift, double accuracy, int limit, int& steps) {
    shift_ = shift;
    rows_.each(p_.n, [&](int i) { k_.y[i] = k_.prior[i]; });
    double before = HUGE_VAL;
    for (int taken = 0;; ++taken) {
      rows_.apply(p_, k_.y, k_.b);
      rows_.each(p_.n, [&](int i) { k_.b[i] += p_.d[i]; });
      forces(k_.b, true);
      collect();
      double largest[1] = {0};
      rows_.template largest<1>(
          p_.n, largest, [&](int i, double* most) { most[0] = coulomb::larger(most[0], std::abs(p_.lambda[i])); });
      const double here = error();
      if (here <= accuracy * largest[0]) return StepEnd::converged;
      if (here > 0.5 * before && here <= rounding * largest[0]) return StepEnd::rounded;
      if (taken == limit || !solve_step()) return StepEnd::failed;
      before = here;
      ++steps;
      const double t = line_search();
      rows_.each(p_.n, [&](int i) { k_.y[i] += t * k_.step_y[i]; });
    }
  }

 private:
  Rows& rows_;
  const ScaledContact& p_;
  const NewtonWork& k_;
  double shift_ = 0;
  int active_ = 0;

  // lambda = Lambda(b - sigma prior), and D.
  SUPPLE_HD void forces(const double* b, bool derivative) {
    rows_.each(p_.boxes + p_.contacts, [&](int k) {
      if (k < p_.boxes) {
        box_force(k, b, derivative);
      } else {
        contact_force(k - p_.boxes, b, derivative);
      }
    });
  }
  SUPPLE_HD void box_force(int i, const double* b, bool derivative) const {
    const double s = shift_ + p_.compliance[i], value = (shift_ * k_.prior[i] - b[i]) / s;
    p_.lambda[i] = clamped(value, p_.lower[i], p_.upper[i]);
    if (derivative) k_.D[9 * i] = value > p_.lower[i] && value < p_.upper[i] ? 1 / s : 0;
  }
  SUPPLE_HD void contact_force(int c, const double* b, bool derivative) const {
    const int i = p_.normal(c);
    double *lambda = p_.lambda + i, *D = k_.D + 9 * i;
    const double sn = shift_ + p_.compliance[i], st = shift_ + p_.compliance[i + 1], mu = p_.friction[c];
    const double normal = (shift_ * k_.prior[i] - b[i]) / sn;
    if (derivative)
      for (int e = 0; e < 9; ++e) D[e] = 0;
    if (!(normal > 0)) {
      lambda[0] = lambda[1] = lambda[2] = 0;
      return;
    }
    const double t1 = (shift_ * k_.prior[i + 1] - b[i + 1]) / st, t2 = (shift_ * k_.prior[i + 2] - b[i + 2]) / st;
    const double size = std::sqrt(t1 * t1 + t2 * t2), radius = mu * normal;
    const bool slips = size > radius;
    const double ratio = slips ? radius / size : 1;
    lambda[0] = normal;
    lambda[1] = ratio * t1;
    lambda[2] = ratio * t2;
    if (!derivative) return;
    D[0] = 1 / sn;
    if (slips) {  // lambda_t = mu lambda_n tau, tau = t / |t|
      const double c1 = t1 / size, c2 = t2 / size;
      D[3] = mu * c1 / sn;
      D[6] = mu * c2 / sn;
      D[4] = ratio / st * c2 * c2;
      D[5] = D[7] = -ratio / st * c1 * c2;
      D[8] = ratio / st * c1 * c1;
    } else {
      D[4] = D[8] = 1 / st;
    }
  }

  SUPPLE_HD void collect() {
    rows_.once([&] {
      int count = 0;
      for (int i = 0; i < p_.boxes; ++i)
        if (k_.D[9 * i] != 0) k_.active[count++] = i;
      for (int c = 0; c < p_.contacts; ++c) {
        const int i = p_.normal(c);
        if (k_.D[9 * i] == 0) continue;
        for (int a = 0; a < 3; ++a) k_.active[count++] = i + a;
      }
      k_.active[p_.n] = count;
    });
    active_ = k_.active[p_.n];
  }

  // right = -F or -W (y - lambda) on the active rows; its largest entry over all rows or coordinates.
  SUPPLE_HD double error() {
    rows_.each(p_.n, [&](int i) { k_.error[i] = k_.y[i] - p_.lambda[i]; });
    double most[1] = {0};
    if (p_.factored) {
      rows_.gather(p_, -1, k_.error, k_.right);
      rows_.template largest<1>(p_.width, most, [&](int k, double* so_far) {
        so_far[0] = coulomb::larger(so_far[0], std::abs(k_.right[k]));
      });
    } else {
      rows_.apply(p_, k_.error, k_.trial);
      rows_.template largest<1>(
          p_.n, most, [&](int i, double* so_far) { so_far[0] = coulomb::larger(so_far[0], std::abs(k_.trial[i])); });
      rows_.each(active_, [&](int a) { k_.right[a] = -k_.trial[k_.active[a]]; });
    }
    return most[0];
  }

  // step_b and step_y: (I + W D) step_b = -W (y - lambda), step_y = -(y - lambda) - D step_b.
  SUPPLE_HD bool solve_step() {
    if (!rows_.solve_newton(p_, k_, active_)) return false;
    if (p_.factored) rows_.spread(p_, k_.right, k_.step_b);
    rows_.each(p_.n, [&](int i) { k_.step_y[i] = -k_.error[i]; });
    rows_.each(active_, [&](int a) {
      const int i = k_.active[a], of = i < p_.boxes ? 0 : (i - p_.boxes) % 3, count = i < p_.boxes ? 1 : 3;
      const double *D = k_.D + 9 * (i - of) + 3 * of,
                   *change = p_.factored ? k_.step_b + (i - of) : k_.right + (a - of);
      for (int c = 0; c < count; ++c) k_.step_y[i] -= D[c] * change[c];
    });
    if (!p_.factored) rows_.apply(p_, k_.step_y, k_.step_b);
    // NaN and infinity survive times zero.
    return rows_.sum(p_.n, [&](int i) { return 0 * k_.step_b[i]; }) == 0;
  }

  // du . F(u + t du): zero along the direction where without friction the energy is least.
  SUPPLE_HD double slope_at(double t) {
    rows_.each(p_.n, [&](int i) { k_.trial[i] = k_.b[i] + t * k_.step_b[i]; });
    forces(k_.trial, false);
    return rows_.sum(p_.n, [&](int i) { return k_.step_b[i] * (k_.y[i] + t * k_.step_y[i] - p_.lambda[i]); });
  }

  SUPPLE_HD double line_search() {
    const double start = slope_at(0);
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
    return high;
  }
};

// From and to p.lambda; `last` belongs to it. Ends at the tolerance, after `limit` steps, where stop() says so after a
// proximal point step (before which forces were work.prior), and below `enough` once rounding shows. Returns the number
// of steps.
template <class Rows, class Stop>
SUPPLE_HD int newton(Rows& rows, const ScaledContact& p, const NewtonWork& work, double tolerance, double enough,
                     int limit, Residuals& last, Stop stop) {
  ProximalNewton<Rows> method(rows, p, work);
  int steps = 0;
  double shift = first_shift, floor = smallest_shift;
  last = evaluate(rows, p);
  rows.each(p.n, [&](int i) { work.prior[i] = p.lambda[i]; });
  while (last.relative() > tolerance && steps < limit) {
    const double accuracy = coulomb::larger(0.1 * tolerance, inner_accuracy * coulomb::smaller(1.0, last.relative()));
    const int before = steps, left = limit - steps;
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
      if (last.relative() <= enough) break;
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

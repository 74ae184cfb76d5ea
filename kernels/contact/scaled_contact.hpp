#pragma once
// A contact problem (solvers/contact/contact.hpp) without units: rows and forces scaled so that W + C has a unit
// diagonal, on the mean over the three rows of a contact (its cone must stay round). W is kept either as itself or as V
// (W = V V^T), whichever is narrower.
//
// The solvers of this folder are written once for a core and for a team of threads. `Rows` is who does their loops:
// HostRows (solvers/contact/host_rows.hpp), one core, or TeamRows (team_rows.hpp). All members of a team call the same
// functions with the same arguments, and get the same numbers:
//   each(n, f)                 f(0) .. f(n - 1), in any order, each writing what is its own; then a barrier
//   once(f)                    f() by one member; then a barrier
//   largest<K>(n, most, f)     f(i, most) raises the K largest numbers so far, from 0
//   sum(n, f)                  of f(i)
//   gather(p, factor, x, u)    u = factor V^T x
//   spread(p, u, y)            y = V u
//   apply(p, x, y)             y = W x, without C; x and y differ
//   present<K>(p, i, w)        w of K rows from i on, in a sweep of Gauss-Seidel, and what changes of their forces do
//   move<K>(p, i, by)          to it and to lambda
//   solve_newton(p, k, active) k.right from -V^T error, or -W error where p has W, to z (contact_newton.hpp); false if
//                              there is none. k.trial is scratch

#include <cmath>
#include <cstddef>

#include "kernels/contact/coulomb.hpp"

namespace supple::contact {

struct Residuals {
  double all = 0, displacement = 0, box = 0;  // largest |r|; the middle one in metres
  double force = 0, load = 0;                 // max |lambda|; of |d| and of forces at their bounds
  SUPPLE_HD double relative(double r) const {
    const double reference = coulomb::smaller(force, contact_reference * load);
    return reference > 0 ? r / reference : r > 0 ? HUGE_VAL : 0;
  }
  SUPPLE_HD double relative() const { return relative(all); }
};

struct ScaledContact {
  int boxes = 0, contacts = 0, n = 0;
  bool factored = false;  // matrix = V, else W
  int width = 0, ld = 0;  // columns of the matrix; padded with zeros to ld
  double* matrix;         // n x ld, without C
  double *scale, *d, *compliance, *lambda, *w, *lower, *upper, *friction, *diagonal, *u;
  CoulombBlock* blocks;  // contacts, with C

  SUPPLE_INLINE double* row(int i) const { return matrix + i * ld; }
  SUPPLE_INLINE int normal(int contact) const { return boxes + 3 * contact; }
};

SUPPLE_INLINE double clamped(double value, double low, double high) {
  return coulomb::smaller(coulomb::larger(value, low), high);
}

// w = (W + C) lambda + d from the present lambda, and the residuals.
template <class Rows>
SUPPLE_HD Residuals evaluate(Rows& rows, const ScaledContact& p) {
  using coulomb::larger;
  rows.apply(p, p.lambda, p.w);
  double most[2] = {0, 0};
  rows.template largest<2>(p.n, most, [&](int i, double* largest) {
    p.w[i] += p.compliance[i] * p.lambda[i] + p.d[i];
    largest[0] = larger(largest[0], std::abs(p.lambda[i]));
    largest[1] = larger(largest[1], std::abs(p.d[i]));
  });
  double boxes[2] = {0, 0};
  rows.template largest<2>(p.boxes, boxes, [&](int i, double* largest) {
    const double lambda = p.lambda[i];
    if (lambda == p.lower[i] || lambda == p.upper[i]) largest[0] = larger(largest[0], std::abs(lambda));
    largest[1] = larger(largest[1], std::abs(lambda - clamped(lambda - p.w[i], p.lower[i], p.upper[i])));
  });
  double contacts[2] = {0, 0};
  rows.template largest<2>(p.contacts, contacts, [&](int c, double* largest) {
    const int i = p.normal(c);
    const double here = coulomb_residual(p.lambda + i, p.w + i, p.friction[c]);
    largest[0] = larger(largest[0], here);
    largest[1] = larger(largest[1], here / p.scale[i]);
  });
  Residuals r;
  r.force = most[0];
  r.load = larger(most[1], boxes[0]);
  r.box = boxes[1];
  r.all = larger(boxes[1], contacts[0]);
  r.displacement = contacts[1];
  return r;
}

// lambda into its bounds and cones.
template <class Rows>
SUPPLE_HD void project(Rows& rows, const ScaledContact& p) {
  rows.each(p.boxes + p.contacts, [&](int k) {
    if (k < p.boxes) {
      p.lambda[k] = clamped(p.lambda[k], p.lower[k], p.upper[k]);
    } else {
      project_friction(p.friction[k - p.boxes], p.lambda + p.normal(k - p.boxes));
    }
  });
}

}  // namespace supple::contact

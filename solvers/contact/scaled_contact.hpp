#pragma once
// The contact problem without units: rows and forces scaled so that W + C has a unit diagonal, on the mean over the
// three rows of a contact (its cone must stay round). W is kept either as itself or as V, whichever is narrower.

#include <algorithm>
#include <limits>

#include "kernels/points/coulomb.hpp"
#include "solvers/contact/contact.hpp"

namespace supple::contact {

struct Residuals {
  double all = 0, displacement = 0, box = 0;  // largest |r|; the middle one in metres
  double force = 0, load = 0;                 // max |lambda|; of |d| and of forces at their bounds
  double relative(double r) const {
    const double reference = std::min(force, contact_reference * load);
    return reference > 0 ? r / reference : r > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  double relative() const { return relative(all); }
};

struct ScaledContact {
  int boxes = 0, contacts = 0, n = 0;
  bool factored = false;  // matrix = V, else W
  int width = 0, ld = 0;  // columns of the matrix; padded with zeros to ld
  double* matrix;         // n x ld, without C
  double *scale, *d, *compliance, *lambda, *w, *lower, *upper, *friction, *diagonal, *u;
  CoulombBlock* blocks;  // contacts, with C

  double* row(int i) const { return matrix + i * ld; }
  int normal(int contact) const { return boxes + 3 * contact; }

  // Views into memory; then filled. False: not finite, or limits that exclude each other.
  bool load(const ContactProblem& problem, double*& memory);
  static std::size_t memory(int boxes, int contacts);

  // y = W x, without C. x and y differ.
  void apply(const double* x, double* y) const;
  // w = (W + C) lambda + d from the present lambda, and the residuals.
  Residuals evaluate() const;
  // lambda into its bounds and cones.
  void project() const;
};

// Up to `limit` sweeps of block Gauss-Seidel (Jourdan, Alart & Jean, Computer Methods in Applied Mechanics and
// Engineering 155, 1998), each block solved exactly. With `give_up` it ends as soon as, by the rate of the last sweeps,
// Newton's method would be done earlier. Returns the number of sweeps; `last` belongs to lambda.
int gauss_seidel(const ScaledContact& problem, double tolerance, double relaxation, int limit, bool give_up,
                 Residuals& last);

}  // namespace supple::contact

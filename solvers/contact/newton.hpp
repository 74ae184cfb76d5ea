#pragma once
// Semi-smooth Newton method on a proximal point form of the contact problem, which needs no rank of W. With sigma > 0
// and the forces lambda_k before, lambda_{k+1} solves
//   w = (W + C) lambda + d + sigma (lambda - lambda_k)   with the laws of contact.hpp;
// its fixed points solve the problem itself, for any sigma (Rockafellar 1976). Row by row, the part that couples rows
// being b = W y + d, the laws are now a function in closed form,
//   lambda = Lambda(b - sigma lambda_k):   clamp(-b' / s) for a box row,   lambda_n = max(0, -b'_n / s),   lambda_t =
//   projection of -b'_t / s on the disc of radius mu lambda_n,   s = sigma + c,
// so that y = Lambda(W y + d - sigma lambda_k) remains, or with W = V V^T in the motion u = V^T y:
//   F(u) = u - V^T Lambda(V u + d - sigma lambda_k) = 0.
// Newton's matrix is I + V^T D V (rank x rank) or I + W D on the rows in contact, D = -dLambda/db: the smaller of the
// two is what ScaledContact chose to keep.

#include "solvers/contact/scaled_contact.hpp"

namespace supple::contact {

struct NewtonWork {
  double *y, *b, *error, *right, *step_y, *step_b, *prior, *trial;  // n each
  double* D;                                                        // 9 n: 3 x 3 per contact, 1 per box row
  double *matrix, *left, *products, *panel;
  double* spare;  // 2 n, not touched by the functions below
  int *active, *pivots;

  NewtonWork(int n, double* numbers, int* indices);
  static std::size_t numbers(int n);
  static std::size_t indices(int n);
};

enum class NewtonEnd { solved, limit, conflict };

struct NewtonResult {
  NewtonEnd end = NewtonEnd::limit;
  int steps = 0;
};

// From and to problem.lambda; `last` belongs to it. With `prove` ends with `conflict` where the change of the forces,
// in work.trial, proves that there is no solution (ContactWorkspace::conflict(); never with friction to blame).
NewtonResult newton(const ScaledContact& problem, NewtonWork& work, double tolerance, int limit, bool prove,
                    Residuals& last);

// One proximal point step from no forces with sigma = 1 % of the diagonal, to problem.lambda: what soft contacts would
// do where hard ones have no answer. False if it did not converge.
bool soft_forces(const ScaledContact& problem, NewtonWork& work);

}  // namespace supple::contact

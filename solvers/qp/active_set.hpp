#pragma once
// The two active-set methods for a scaled problem. Both hold a working set of independent constraints, kept as
// equalities at one of their sides, with multipliers u of P x + g = sum u_k a_k: u_k >= 0 at lower ends, <= 0 at upper
// ends, of any sign for equalities.

#include "solvers/qp/active_factor.hpp"

namespace supple::qp {

struct ActiveSet {
  const ScaledQp& qp;
  ActiveFactor& factor;
  QpSide* side = nullptr;                           // n + m; none outside the working set
  int* ignored = nullptr;                           // n + m; limits that could neither be met nor be proved infeasible
  double *x = nullptr, *u = nullptr;                // ld; u in the order of factor.constraint
  double* g = nullptr;                              // ld; the gradient at 0 of the dual method
  double *d = nullptr, *t = nullptr, *z = nullptr;  // scratch, ld
  int iterations = 0, max_iterations = 0;

  /// Of a proof of infeasibility: weights of the working set in `t`, 1 for this constraint at this side.
  int conflict = -1;
  QpSide conflict_side = QpSide::none;

  double limit(int position) const { return qp.limit(factor.constraint[position], side[factor.constraint[position]]); }
  /// How wrong the sign of a multiplier is: > 0 is wrong.
  double wrong_sign(int position, double multiplier) const {
    const int k = factor.constraint[position];
    return qp.equality(k) ? 0 : side[k] == QpSide::lower ? -multiplier : multiplier;
  }
  void leave(int position) {
    side[factor.constraint[position]] = QpSide::none;
    factor.drop(position);
  }
};

double largest(const double* v, int n);

enum class ActiveSetEnd { found, infeasible, unsure, limit, unbounded };

/// min 1/2 x^T H x + g^T x for the H that `factor` was started with and the g in set.g, over the limits of set.qp:
/// Goldfarb & Idnani's dual method, from the working set in set.side. `unsure`: no feasible point was found, but the
/// proof is not accurate (with `insist`, the limit is ignored instead).
ActiveSetEnd dual_active_set(ActiveSet& set, bool insist);

/// min 1/2 x^T P x + g^T x for positive semidefinite P from a feasible set.x and the working set in set.side: primal
/// null-space method. hessian, products: n x ld each, pivots n. `unbounded`: set.z is the direction.
ActiveSetEnd primal_active_set(ActiveSet& set, double* hessian, double* products, int* pivots);

}  // namespace supple::qp

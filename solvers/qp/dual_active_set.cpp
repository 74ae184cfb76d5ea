// Every iterate minimises the objective over the working set, with multipliers of the right sign; one violated
// constraint after the other is brought in, and those whose multiplier reaches zero on the way leave. The dual
// objective rises with every constraint, so no working set comes twice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solvers/qp/active_set.hpp"

namespace supple::qp {
namespace {

constexpr double warm_dependence = 1e-7;  // |J2^T a| / |J^T a| below which a constraint is not taken over
constexpr double dependence = 1e-11;      // and below which it depends on the working set
constexpr double feasibility = 1e-13;     // of |x| + |limit|, first; grows tenfold while the method does not end
constexpr double loosest = 1e-9;
constexpr double proof = 1e-9;        // residual of a proof of infeasibility, relative
constexpr double negligible = 1e-11;  // a weight in it, of the largest
constexpr double infinity = std::numeric_limits<double>::infinity();

// x = J1 R^-T b - J2 J2^T g, u = R^-1 (R^-T b + J1^T g): the minimiser over the working set, free of the steps' errors.
void minimise_on_working_set(ActiveSet& set) {
  const ActiveFactor& f = set.factor;
  double *y = set.d, *x = set.x;
  for (int j = 0; j < f.size; ++j) y[j] = set.limit(j);
  f.solve_transposed(y);
  for (int j = 0; j < f.n; ++j) set.t[j] = dot(f.column(j), set.g, f.ld);
  for (int j = f.size; j < f.n; ++j) y[j] = -set.t[j];
  std::fill(x, x + f.ld, 0.0);
  for (int j = 0; j < f.n; ++j) add_scaled(x, y[j], f.column(j), f.ld);
  for (int j = 0; j < f.size; ++j) set.u[j] = y[j] + set.t[j];
  f.solve(set.u);
}

// Equalities first, then what set.side asks for; afterwards set.side is the working set.
void take_over(ActiveSet& set) {
  const ScaledQp& qp = set.qp;
  const int count = qp.constraints();
  for (const bool equalities : {true, false})
    for (int k = 0; k < count; ++k) {
      if (qp.equality(k) != equalities || (set.side[k] == QpSide::none && !equalities)) continue;
      const QpSide side = equalities ? QpSide::lower : set.side[k];
      const bool taken = std::isfinite(qp.limit(k, side)) && set.factor.add_independent(qp, k, set.d, warm_dependence);
      set.side[k] = taken ? side : QpSide::none;
    }
}

void drop_wrong_signs(ActiveSet& set) {
  while (set.factor.size > 0) {
    const int size = set.factor.size;
    const double tolerance = 1e-14 * largest(set.u, size);
    int worst = -1;
    double wrong = tolerance;
    for (int j = 0; j < size; ++j) {
      const double here = set.wrong_sign(j, set.u[j]);
      if (here > wrong) wrong = here, worst = j;
    }
    if (worst < 0) return;
    set.leave(worst);
    minimise_on_working_set(set);
    ++set.iterations;
  }
}

struct Violation {
  int constraint = -1;
  QpSide side = QpSide::none;
  double amount = 0;
};

// reach: the largest |x| since x was computed afresh, whose rounding x carries.
Violation most_violated(const ActiveSet& set, double tolerance, double reach) {
  const ScaledQp& qp = set.qp;
  const double floor = tolerance * reach;
  Violation worst;
  const auto look = [&](int k, double value) {
    const double below = qp.lower[k] - value, above = value - qp.upper[k], amount = std::max(below, above);
    if (amount <= worst.amount || amount <= floor || set.side[k] != QpSide::none || set.ignored[k]) return;
    const QpSide side = below > above ? QpSide::lower : QpSide::upper;
    if (amount > floor + tolerance * std::abs(qp.limit(k, side))) worst = {k, side, amount};
  };
  for (int i = 0; i < qp.n; ++i) look(i, set.x[i]);
  for (int k = qp.n; k < qp.constraints(); ++k) look(k, qp.value(k, set.x));
  return worst;
}

enum class Proof { none, unsure, proved };

// The constraint's normal is a combination of the working set's, sign a = sum r_j a_j, in which no multiplier can be
// reduced. That proves infeasibility if it holds within rounding and the limits differ by more than rounding.
Proof contradicts(ActiveSet& set) {
  const ScaledQp& qp = set.qp;
  const double sign = set.conflict_side == QpSide::lower ? 1 : -1, limit = qp.limit(set.conflict, set.conflict_side);
  double *r = set.t, *sum = set.z;
  const int size = set.factor.size;
  const double weight = std::max(1.0, largest(r, size));
  double limits = std::abs(limit), gap = sign * limit;
  std::fill(sum, sum + qp.ld, 0.0);
  qp.add_normal(set.conflict, -sign, sum);
  for (int j = 0; j < size; ++j) {
    if (std::abs(r[j]) <= negligible * weight) r[j] = 0;
    qp.add_normal(set.factor.constraint[j], r[j], sum);
    limits = std::max(limits, std::abs(r[j] * set.limit(j)));
    gap -= r[j] * set.limit(j);
  }
  if (gap <= proof * limits) return Proof::none;
  // |sum| |x| is what the gap could be made of.
  double left = 0;
  for (int i = 0; i < qp.n; ++i) left += std::abs(sum[i]);
  return left <= proof * weight && gap > 100 * left * largest(set.x, qp.n) ? Proof::proved : Proof::unsure;
}

enum class Entry { entered, contradiction, limit };

// Brings the violated constraint in: along the direction in which its multiplier grows, steps until it is met.
Entry bring_in(ActiveSet& set, const Violation& violation) {
  ActiveFactor& f = set.factor;
  const int p = violation.constraint;
  const double sign = violation.side == QpSide::lower ? 1 : -1;
  double *d = set.d, *r = set.t, *z = set.z;
  double amount = violation.amount, entering = 0;
  while (true) {
    if (++set.iterations > set.max_iterations) return Entry::limit;
    f.project(set.qp, p, d);
    const double rest = f.square(d, f.size, f.n), all = rest + f.square(d, 0, f.size);
    for (int j = 0; j < f.size; ++j) r[j] = sign * d[j];
    f.solve(r);
    double dual_step = infinity;  // until the multiplier of `blocking` is zero
    int blocking = -1;
    for (int j = 0; j < f.size; ++j) {
      const double towards_zero = -set.wrong_sign(j, r[j]);
      if (!(towards_zero > 0)) continue;
      const double step = std::max(-set.wrong_sign(j, set.u[j]), 0.0) / towards_zero;
      if (step < dual_step) dual_step = step, blocking = j;
    }
    const bool dependent = !(rest > dependence * dependence * all);
    if (dependent && blocking >= 0) {
      // A constraint that blocks only by rounding does not block: then infeasibility is proved below.
      double weight = 1, block = 0;
      for (int j = 0; j < f.size; ++j) {
        weight = std::max(weight, std::abs(r[j]));
        block = std::max(block, -set.wrong_sign(j, r[j]));
      }
      if (block <= 1e-12 * weight) blocking = -1;
    }
    if (dependent && blocking < 0) {
      set.conflict = p;
      set.conflict_side = violation.side;
      return Entry::contradiction;
    }
    const double full_step = dependent ? infinity : amount / rest;
    const double step = std::min(full_step, dual_step);
    if (!dependent) {
      std::fill(z, z + f.ld, 0.0);
      for (int j = f.size; j < f.n; ++j) add_scaled(z, sign * d[j], f.column(j), f.ld);
      add_scaled(set.x, step, z, f.ld);
      amount -= step * rest;
    }
    for (int j = 0; j < f.size; ++j) set.u[j] -= step * r[j];
    entering += sign * step;
    if (full_step <= dual_step) {
      set.u[f.size] = entering;
      f.add(p, d);
      set.side[p] = violation.side;
      return Entry::entered;
    }
    std::copy(set.u + blocking + 1, set.u + f.size, set.u + blocking);
    set.leave(blocking);
  }
}

}  // namespace

double largest(const double* v, int n) {
  double result = 0;
  for (int i = 0; i < n; ++i) result = std::max(result, std::abs(v[i]));
  return result;
}

ActiveSetEnd dual_active_set(ActiveSet& set, bool insist) {
  set.conflict = -1;
  take_over(set);
  minimise_on_working_set(set);
  drop_wrong_signs(set);
  double tolerance = feasibility;
  const int patience = 3 * set.qp.constraints() + 20;
  int looser_at = set.iterations + patience;
  double reach = 0;
  bool exact = true;  // x and u come from minimise_on_working_set
  while (true) {
    if (set.iterations > looser_at) {
      tolerance = std::min(10 * tolerance, loosest);
      looser_at = set.iterations + patience;
    }
    reach = std::max(exact ? 0 : reach, largest(set.x, set.qp.n));
    const Violation violation = most_violated(set, tolerance, reach);
    if (violation.constraint < 0) {
      if (exact) return ActiveSetEnd::found;
      minimise_on_working_set(set);
      drop_wrong_signs(set);
      exact = true;
      continue;
    }
    const bool was_exact = std::exchange(exact, false);
    switch (bring_in(set, violation)) {
      case Entry::limit:
        return ActiveSetEnd::limit;
      case Entry::contradiction: {
        const Proof contradiction = contradicts(set);
        if (contradiction == Proof::proved) return ActiveSetEnd::infeasible;
        if (contradiction == Proof::unsure && !insist) return ActiveSetEnd::unsure;
        if (was_exact) set.ignored[violation.constraint] = 1;
        minimise_on_working_set(set);
        drop_wrong_signs(set);
        exact = true;
        break;
      }
      case Entry::entered:
        break;
    }
  }
}

}  // namespace supple::qp

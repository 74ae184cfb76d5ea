// From a feasible point to a minimiser for positive semidefinite P. With Z = J2 the null space of the working set
// (H = I: J is orthogonal), every step is either a Newton step with Z^T P Z, or goes down along a direction without
// curvature until a constraint stops it; where neither goes down, a constraint with a multiplier of the wrong sign
// leaves.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solvers/qp/active_set.hpp"

namespace supple::qp {
namespace {

constexpr double dependence = 1e-9;     // of a normal on the working set, relative
constexpr double no_curvature = 1e-12;  // of a direction of length 1, where P_ii = 1
constexpr double slope = 1e-12;         // of a gradient that counts as zero, of the terms it is summed from
constexpr double blur = 1e-9;
constexpr double feasibility = 1e-12;  // a limit that far away is met, relative
constexpr double parallel = 1e-11;     // a direction that does not approach a limit
constexpr double parallel_ray = 1e-10;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int patience = 8;  // steps of length zero before Bland's rule

// A = L L^T by pivoted elimination in place (lower triangle of the permuted matrix); the rank.
int pivoted_cholesky(double* A, int n, int ld, int* pivots) {
  for (int i = 0; i < n; ++i) pivots[i] = i;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (A[i * ld + i] > A[best * ld + best]) best = i;
    if (!(A[best * ld + best] > no_curvature)) return k;
    if (best != k) {  // the full symmetric trailing matrix, and the finished rows
      for (int c = 0; c < n; ++c) std::swap(A[best * ld + c], A[k * ld + c]);
      for (int r = k; r < n; ++r) std::swap(A[r * ld + best], A[r * ld + k]);
      std::swap(pivots[best], pivots[k]);
    }
    const double root = std::sqrt(A[k * ld + k]);
    A[k * ld + k] = root;
    for (int i = k + 1; i < n; ++i) A[i * ld + k] /= root;
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j) A[i * ld + j] -= A[i * ld + k] * A[j * ld + k];
  }
  return n;
}

struct PrimalMethod {
  ActiveSet& set;
  double *hessian, *products;
  int* pivots;
  double gradient_size = 0;  // max (|P| |x| + |g|)
  int stalled = 0;

  int n() const { return set.qp.n; }
  int ld() const { return set.qp.ld; }

  // set.g = P x + g, set.t = J^T of it
  void evaluate() {
    const ScaledQp& qp = set.qp;
    std::copy(qp.g, qp.g + ld(), set.g);
    std::fill(set.z, set.z + ld(), 0.0);
    for (int j = 0; j < n(); ++j) {
      add_scaled(set.g, set.x[j], qp.P + j * ld(), ld());
      for (int i = 0; i < n(); ++i) set.z[i] += std::abs(set.x[j] * qp.P[j * ld() + i]);
    }
    gradient_size = 0;
    for (int i = 0; i < n(); ++i) gradient_size = std::max(gradient_size, set.z[i] + std::abs(qp.g[i]));
    for (int j = 0; j < n(); ++j) set.t[j] = dot(set.factor.column(j), set.g, ld());
  }

  // x onto the limits of the working set
  void project() {
    ActiveFactor& f = set.factor;
    double* y = set.d;
    for (int j = 0; j < f.size; ++j) y[j] = set.limit(j) - set.qp.value(f.constraint[j], set.x);
    f.solve_transposed(y);
    for (int j = 0; j < f.size; ++j) add_scaled(set.x, y[j], f.column(j), ld());
  }

  void reduced_hessian() {
    const ActiveFactor& f = set.factor;
    const int k = f.size, free = n() - k;
    for (int j = 0; j < free; ++j) {
      double* product = products + j * ld();
      std::fill(product, product + ld(), 0.0);
      const double* z = f.column(k + j);
      for (int i = 0; i < n(); ++i) add_scaled(product, z[i], set.qp.P + i * ld(), ld());
      for (int i = 0; i <= j; ++i) hessian[j * ld() + i] = hessian[i * ld() + j] = dot(f.column(k + i), product, ld());
    }
  }

  // L11 v = b and L11^T v = b in place
  void solve_lower(double* v, int rank) const {
    for (int i = 0; i < rank; ++i) {
      for (int j = 0; j < i; ++j) v[i] -= hessian[i * ld() + j] * v[j];
      v[i] /= hessian[i * ld() + i];
    }
  }
  void solve_upper(double* v, int rank) const {
    for (int i = rank - 1; i >= 0; --i) {
      for (int j = i + 1; j < rank; ++j) v[i] -= hessian[j * ld() + i] * v[j];
      v[i] /= hessian[i * ld() + i];
    }
  }

  enum class Kind { none, newton, ray };

  // set.z = the direction, from the reduced gradient t2.
  Kind direction() {
    const ActiveFactor& f = set.factor;
    const int k = f.size, free = n() - k;
    if (free == 0) return Kind::none;
    reduced_hessian();
    const int rank = pivoted_cholesky(hessian, free, ld(), pivots);
    const double* h = hessian;
    double *p = set.d, *basis = products;  // products are used up
    const double zero = slope * gradient_size;
    // So far out that P x + g blurs g: along a direction without curvature g alone is the slope.
    const bool blurred = zero > blur * set.qp.largest_g;
    const double flat = blurred ? blur * set.qp.largest_g : zero;
    const auto slope_along = [&](int i) {
      return blurred ? dot(f.column(k + pivots[i]), set.qp.g, ld()) : set.t[k + pivots[i]];
    };
    const auto take = [&] {  // set.z = Z p
      std::fill(set.z, set.z + ld(), 0.0);
      for (int i = 0; i < free; ++i) add_scaled(set.z, p[i], f.column(k + pivots[i]), ld());
    };
    // Null vectors of Z^T P Z in the pivoted order: [-L11^-T L21^T; e]; p -= (slope along it) vector
    std::fill(p, p + free, 0.0);
    bool ray = false;
    for (int q = rank; q < free; ++q) {
      std::fill(basis, basis + free, 0.0);
      basis[q] = 1;
      double slope_here = slope_along(q), size = 1;
      for (int i = 0; i < rank; ++i) basis[i] = -h[q * ld() + i];
      solve_upper(basis, rank);
      for (int i = 0; i < rank; ++i) {
        slope_here += basis[i] * slope_along(i);
        size += std::abs(basis[i]);
      }
      if (std::abs(slope_here) <= flat * size) continue;
      ray = true;
      for (int i = 0; i < free; ++i) p[i] -= slope_here * basis[i];
    }
    if (ray) {  // p -= (what curvature is left in it): P Z p = 0 to rounding
      take();
      double* left = products;
      for (int i = 0; i < rank; ++i) {
        const double* z = f.column(k + pivots[i]);
        double sum = 0;
        for (int j = 0; j < n(); ++j) sum += set.z[j] * dot(set.qp.P + j * ld(), z, ld());
        left[i] = sum;
      }
      solve_lower(left, rank);
      solve_upper(left, rank);
      for (int i = 0; i < rank; ++i) p[i] -= left[i];
      take();
      return Kind::ray;
    }
    double largest_slope = 0;
    for (int i = 0; i < rank; ++i) {
      p[i] = -set.t[k + pivots[i]];
      largest_slope = std::max(largest_slope, std::abs(p[i]));
    }
    if (largest_slope <= 1e-3 * zero) return Kind::none;
    solve_lower(p, rank);
    solve_upper(p, rank);
    take();
    return Kind::newton;
  }

  // The largest step along set.z to a limit, at most `step`; which one, or -1.
  int blocking_limit(Kind kind, double& step, QpSide& side) const {
    const ScaledQp& qp = set.qp;
    const double still = (kind == Kind::ray ? parallel_ray : parallel) * largest(set.z, n()),
                 size = largest(set.x, n());
    const bool bland = stalled > patience;
    const auto gap_and_rate = [&](int k, double& gap, double& rate, QpSide& towards) {
      if (set.side[k] != QpSide::none || set.ignored[k]) return false;
      rate = qp.value(k, set.z);
      towards = rate < 0 ? QpSide::lower : QpSide::upper;
      rate = std::abs(rate);
      if (rate <= still) return false;
      gap = std::max(std::abs(qp.limit(k, towards)) == infinity ? infinity
                     : towards == QpSide::upper                 ? qp.upper[k] - qp.value(k, set.x)
                                                                : qp.value(k, set.x) - qp.lower[k],
                     0.0);
      return gap < infinity;
    };
    // Harris: among limits that are met within the tolerance before the first one, the one met most squarely.
    double gap = 0, rate = 0, relaxed = infinity;
    QpSide towards = QpSide::none;
    for (int k = 0; k < qp.constraints(); ++k)
      if (gap_and_rate(k, gap, rate, towards)) relaxed = std::min(relaxed, (gap + feasibility * size) / rate);
    int blocking = -1;
    double squarest = 0, best = step;
    for (int k = 0; k < qp.constraints(); ++k) {
      if (!gap_and_rate(k, gap, rate, towards) || gap / rate > std::min(relaxed, step)) continue;
      if (bland ? blocking >= 0 : rate <= squarest) continue;
      squarest = rate;
      best = gap / rate;
      blocking = k;
      side = towards;
    }
    step = best;
    return blocking;
  }

  // The constraint to leave, or -1: all multipliers have the right sign.
  int wrong_multiplier() {
    const ActiveFactor& f = set.factor;
    std::copy(set.t, set.t + f.size, set.u);
    f.solve(set.u);
    double worst = slope * std::max(gradient_size, largest(set.u, f.size));
    int leaving = -1;
    for (int j = 0; j < f.size; ++j) {
      const double wrong = set.wrong_sign(j, set.u[j]);
      if (!(wrong > worst)) continue;
      if (stalled > patience) {
        if (leaving < 0 || f.constraint[j] < f.constraint[leaving]) leaving = j;
      } else {
        worst = wrong;
        leaving = j;
      }
    }
    return leaving;
  }

  ActiveSetEnd run() {
    project();
    int newton_steps = 0;  // on this working set
    while (++set.iterations <= set.max_iterations) {
      evaluate();
      const Kind kind = newton_steps < 3 ? direction() : Kind::none;
      if (kind == Kind::none) {
        const int leaving = wrong_multiplier();
        if (leaving < 0) return ActiveSetEnd::found;
        set.leave(leaving);
        newton_steps = 0;
        continue;
      }
      double step = kind == Kind::newton ? 1 : infinity;
      QpSide side = QpSide::none;
      const int blocking = blocking_limit(kind, step, side);
      if (blocking < 0 && kind == Kind::ray) return ActiveSetEnd::unbounded;
      add_scaled(set.x, step, set.z, ld());
      stalled = step * largest(set.z, n()) > 1e-13 * largest(set.x, n()) ? 0 : stalled + 1;
      if (blocking < 0) {
        ++newton_steps;
        continue;
      }
      newton_steps = 0;
      if (set.factor.add_independent(set.qp, blocking, set.d, dependence * 1e-3)) {
        set.side[blocking] = side;
      } else {
        set.ignored[blocking] = 1;
      }
      project();
    }
    return ActiveSetEnd::limit;
  }
};

}  // namespace

ActiveSetEnd primal_active_set(ActiveSet& set, double* hessian, double* products, int* pivots) {
  const ScaledQp& qp = set.qp;
  set.factor.start_identity();
  for (const bool equalities : {true, false})
    for (int k = 0; k < qp.constraints(); ++k) {
      if (qp.equality(k) != equalities) continue;
      const QpSide side = equalities && set.side[k] == QpSide::none ? QpSide::lower : set.side[k];
      if (side == QpSide::none) continue;
      const bool taken = set.factor.add_independent(qp, k, set.d, dependence);
      set.side[k] = taken ? side : QpSide::none;
    }
  PrimalMethod method{set, hessian, products, pivots};
  return method.run();
}

}  // namespace supple::qp

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
constexpr double no_force = 1e-10;      // |P z| of such a direction, which may be 1e-6 by its curvature
constexpr double slope = 1e-12;         // of a gradient that counts as zero, of the terms it is summed from
constexpr double rounding = 1e-15;      // of these terms
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

  // result = P v
  void multiply(const double* v, double* result) const {
    std::fill(result, result + ld(), 0.0);
    for (int i = 0; i < n(); ++i) add_scaled(result, v[i], set.qp.P + i * ld(), ld());
  }

  // result = Z p, p in the order of the pivots
  void expand(const double* p, double* result) const {
    const int k = set.factor.size, free = n() - k;
    std::fill(result, result + ld(), 0.0);
    for (int i = 0; i < free; ++i) add_scaled(result, p[i], set.factor.column(k + pivots[i]), ld());
  }

  // The null vectors z_q of Z^T P Z as rows of `products`, then P z_q as rows of `hessian`, which is lost.
  void null_vectors(int rank) {
    const int k = set.factor.size, free = n() - k;
    double *p = set.d, *product = set.z, *left = set.factor.v;
    for (int q = rank; q < free; ++q) {
      double* z = products + (q - rank) * ld();
      // p = [-L11^-T L21^T; e] in the pivoted order
      std::fill(p, p + free, 0.0);
      for (int i = 0; i < rank; ++i) p[i] = -hessian[q * ld() + i];
      p[q] = 1;
      solve_upper(p, rank);
      expand(p, z);
      // p -= (what curvature is left in it): Z^T P Z p = 0 to rounding
      multiply(z, product);
      for (int i = 0; i < rank; ++i) left[i] = dot(set.factor.column(k + pivots[i]), product, ld());
      solve_lower(left, rank);
      solve_upper(left, rank);
      for (int i = 0; i < rank; ++i) p[i] -= left[i];
      expand(p, z);
    }
    for (int q = 0; q < free - rank; ++q) multiply(products + q * ld(), hessian + q * ld());
  }

  // Z^T P Z does not tell a null vector of P from one that is only close to it: e off, its curvature is e^2 and
  // is lost in rounding while P z is of size e. Gram-Schmidt on w = P z with the largest first, each z taken along,
  // leaves null vectors of P in the last rows; returns where they begin.
  int separate(int count) {
    for (int q = 0; q < count; ++q) {
      int best = q;
      double most = 0;
      for (int r = q; r < count; ++r) {
        const double *z = products + r * ld(), *w = hessian + r * ld();
        const double force = dot(w, w, ld());
        if (force > no_force * no_force * dot(z, z, ld()) && force > most) most = force, best = r;
      }
      if (!(most > 0)) return q;
      double *z = products + q * ld(), *w = hessian + q * ld();
      std::swap_ranges(z, z + ld(), products + best * ld());
      std::swap_ranges(w, w + ld(), hessian + best * ld());
      for (int r = q + 1; r < count; ++r) {
        const double share = dot(hessian + r * ld(), w, ld()) / most;
        add_scaled(hessian + r * ld(), -share, w, ld());
        add_scaled(products + r * ld(), -share, z, ld());
      }
    }
    return count;
  }

  // Slope along z, 0 where it is rounding: `zero` for a gradient of size 1.
  double slope_along(const double* z, const double* gradient, double zero) const {
    double size = 0;
    for (int i = 0; i < n(); ++i) size += std::abs(z[i]);
    const double here = dot(z, gradient, ld());
    return std::abs(here) <= zero * size ? 0 : here;
  }

  // set.z = the direction of the `count` vectors of null_vectors().
  Kind flat_direction(int count) {
    const int curved = separate(count);
    const double zero = slope * gradient_size;
    double* d = set.z;
    std::fill(d, d + ld(), 0.0);
    // So far out that P x + g blurs g: along a direction without curvature g alone is the slope.
    const bool blurred = zero > blur * set.qp.largest_g;
    const double flat = blurred ? blur * set.qp.largest_g : zero;
    bool found = false;
    for (int q = curved; q < count; ++q) {
      const double here = slope_along(products + q * ld(), blurred ? set.qp.g : set.g, flat);
      if (here == 0) continue;
      found = true;
      add_scaled(d, -here, products + q * ld(), ld());
    }
    if (found) return Kind::ray;
    // The others: w_q^T w_r = 0, down by slope / |w|^2 each, then to the minimum along d. P <= n, so
    //   d^T P d >= |P d|^2 / n,   for any rounding error.
    double *product = set.d, descent = 0;
    std::fill(product, product + ld(), 0.0);
    for (int q = 0; q < curved; ++q) {
      const double *z = products + q * ld(), *w = hessian + q * ld();
      const double here = slope_along(z, set.g, rounding * gradient_size);
      if (here == 0) continue;
      found = true;
      const double share = here / dot(w, w, ld());
      descent += share * here;
      add_scaled(d, -share, z, ld());
      add_scaled(product, -share, w, ld());
    }
    if (!found) return Kind::none;
    const double step = descent / std::max(dot(d, product, ld()), dot(product, product, ld()) / n());
    for (int i = 0; i < n(); ++i) d[i] *= step;
    return Kind::newton;
  }

  // set.z = the direction, from the reduced gradient t2.
  Kind direction() {
    const int k = set.factor.size, free = n() - k;
    if (free == 0) return Kind::none;
    reduced_hessian();
    const int rank = pivoted_cholesky(hessian, free, ld(), pivots);
    // Newton's step where there is curvature, unless one of the other directions leads down.
    double *p = set.d, *newton = set.factor.w, largest_slope = 0;
    std::fill(p, p + free, 0.0);
    for (int i = 0; i < rank; ++i) {
      p[i] = -set.t[k + pivots[i]];
      largest_slope = std::max(largest_slope, std::abs(p[i]));
    }
    solve_lower(p, rank);
    solve_upper(p, rank);
    expand(p, newton);
    if (rank < free) {
      null_vectors(rank);
      if (const Kind kind = flat_direction(free - rank); kind != Kind::none) return kind;
    }
    if (largest_slope <= 1e-3 * slope * gradient_size) return Kind::none;
    std::copy(newton, newton + ld(), set.z);
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

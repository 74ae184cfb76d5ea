#pragma once
// One contact with Coulomb friction, alone: rows normal, tangent 1, tangent 2, w = W lambda + b with a symmetric 3 x 3
// matrix W. Exact cone and exact law of slip:
//   0 <= lambda_n, w_n >= 0, lambda_n w_n = 0,   |lambda_t| <= mu lambda_n,
//   w_t = 0   or   lambda_t = -mu lambda_n w_t / |w_t|.
// The slip angle is a root of a quartic (Bonnefon & Daviet, "Quartic formulation of Coulomb 3D frictional contact",
// INRIA technical report 0400, 2011).

#include <cmath>

#include "kernels/base/macros.hpp"

namespace supple {

// Larger coefficients, infinity too, count as this one: a contact that sticks. An error of a gap counts mu times in the
// natural map below, so much larger ones would only measure rounding.
inline constexpr double sticking_friction = 1e2;
// Forces beyond this multiple of |d| count as this one in relative residuals: without it forces that grow for ever
// would pass as a solution.
inline constexpr double contact_reference = 1e4;

struct CoulombBlock {
  double nn, n1, n2, t11, t12, t22;  // W
  double l10, l20, l21;              // W + shift I = L D L^T, L with a unit diagonal
  double inverse0, inverse1, inverse2;
  double shift;  // > 0 where W has no factor

  // w: rows of the 3 x 3 matrix, row-major.
  SUPPLE_HD static inline CoulombBlock of(const double* w);
};

// Natural map of Alart & Curnier (Computer Methods in Applied Mechanics and Engineering 92, 1991), zero at a solution:
//   r_n = lambda_n - max(0, lambda_n - w_n),   r_t = lambda_t - projection of lambda_t - w_t on the disc of radius
//   mu max(0, lambda_n - w_n).
// lambda and w in one unit. Returns the largest |r|.
SUPPLE_HD inline double coulomb_residual(const double* lambda, const double* w, double friction);

// lambda_t scaled down to |lambda_t| <= mu lambda_n, lambda_n >= 0.
SUPPLE_HD inline void project_friction(double friction, double* lambda);

namespace coulomb {

SUPPLE_INLINE double larger(double a, double b) {
  return a < b ? b : a;
}
SUPPLE_INLINE double smaller(double a, double b) {
  return b < a ? b : a;
}
SUPPLE_INLINE void copy(const double* from, int count, double* to) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

inline constexpr double epsilon = 2.220446049250313e-16;
inline constexpr double singular_pivot = 1e-11;  // of the largest diagonal entry
inline constexpr int newton_steps = 16;

// The slip condition as a function of the direction tau = (c, s) of lambda_t:
//   f = p s + q c + R c^2 + S s^2 + T s c,
// tau_perp . w_t times the positive W_nn + mu W_nt . tau, with lambda_n = -b_n / (W_nn + mu W_nt . tau) from w_n = 0.
struct SlipCurve {
  double p, q, R, S, T;
  SUPPLE_HD double value(double c, double s) const { return p * s + q * c + R * c * c + S * s * s + T * s * c; }
  SUPPLE_HD double slope(double c, double s) const { return p * c - q * s + 2 * (S - R) * s * c + T * (c * c - s * s); }
};

SUPPLE_HD inline SlipCurve slip_curve(const CoulombBlock& w, double mu, const double* b) {
  return {b[0] * w.n1 - w.nn * b[1], w.nn * b[2] - b[0] * w.n2, mu * (w.n1 * b[2] - b[0] * w.t12),
          mu * (b[0] * w.t12 - w.n2 * b[1]), mu * (w.n2 * b[2] - w.n1 * b[1] - b[0] * (w.t22 - w.t11))};
}

struct Direction {
  double c, s;
};

// Turns by atan(angle).
SUPPLE_HD inline void turn(Direction& tau, double angle) {
  const double c = tau.c - angle * tau.s, s = tau.s + angle * tau.c, scale = 1 / std::sqrt(c * c + s * s);
  tau = {c * scale, s * scale};
}

// Newton's method on the angle from tau. False where it does not settle.
SUPPLE_HD inline bool settle(const SlipCurve& f, Direction& tau) {
  for (int step = 0; step < newton_steps; ++step) {
    const double value = f.value(tau.c, tau.s), slope = f.slope(tau.c, tau.s);
    if (!(std::abs(value) <= std::abs(slope))) return false;
    const double angle = -value / slope;
    turn(tau, angle);
    if (std::abs(angle) <= 1e-9) {  // quadratic: the next one is below rounding; take it all the same
      const double again = f.slope(tau.c, tau.s);
      if (again != 0) turn(tau, larger(-1e-9, smaller(1e-9, -f.value(tau.c, tau.s) / again)));
      return true;
    }
  }
  return false;
}

SUPPLE_HD inline void multiply(const CoulombBlock& w, const double* x, double* y) {
  y[0] = w.nn * x[0] + w.n1 * x[1] + w.n2 * x[2];
  y[1] = w.n1 * x[0] + w.t11 * x[1] + w.t12 * x[2];
  y[2] = w.n2 * x[0] + w.t12 * x[1] + w.t22 * x[2];
}

SUPPLE_HD inline double radius_of(double mu, double normal) {
  return normal > 0 ? mu * normal : 0;
}

// lambda of a slip along tau; false if it opens or would be pulled.
SUPPLE_HD inline bool slip_force(const CoulombBlock& w, double mu, const double* b, const Direction& tau,
                                 double* lambda) {
  const double stiffness = w.nn + mu * (w.n1 * tau.c + w.n2 * tau.s);
  if (!(stiffness > 0)) return false;
  lambda[0] = -b[0] / stiffness;
  const double radius = radius_of(mu, lambda[0]);
  lambda[1] = radius * tau.c;
  lambda[2] = radius * tau.s;
  return true;
}

// The force at tau opposes the slip there.
SUPPLE_HD inline bool opposes(const CoulombBlock& w, const double* b, const Direction& tau, const double* lambda) {
  double move[3];
  multiply(w, lambda, move);
  return tau.c * (move[1] + b[1]) + tau.s * (move[2] + b[2]) <= 0;
}

SUPPLE_HD inline double polynomial(const double* a, int degree, double t) {
  double sum = a[degree];
  for (int k = degree - 1; k >= 0; --k) sum = sum * t + a[k];
  return sum;
}

// A root between two points of opposite signs, by bisection and the secant in turns.
SUPPLE_HD inline double bracketed_root(const double* a, int degree, double low, double high) {
  double at_low = polynomial(a, degree, low), at_high = polynomial(a, degree, high);
  for (int step = 0; step < 80 && high - low > 4 * epsilon; ++step) {
    double t = (low + high) / 2;
    if (step % 2 == 1) {
      const double secant = low - at_low * (high - low) / (at_high - at_low);
      if (secant > low && secant < high) t = secant;
    }
    const double value = polynomial(a, degree, t);
    if (value == 0) return t;
    if ((value < 0) == (at_low < 0)) {
      low = t, at_low = value;
    } else {
      high = t, at_high = value;
    }
  }
  return std::abs(at_low) < std::abs(at_high) ? low : high;
}

// Roots in [-1, 1] of sum a_k t^k, in order: between two extrema there is at most one. Extrema are given too, for roots
// that merely touch. At most 4 + 3 + 2 + 1.
SUPPLE_HD inline int roots_and_extrema(const double* a, double* found) {
  double derivative[5][5];  // [order] coefficients
  copy(a, 5, derivative[0]);
  for (int order = 1; order <= 3; ++order)
    for (int k = 0; k <= 4 - order; ++k) derivative[order][k] = (k + 1) * derivative[order - 1][k + 1];
  int count = 0;
  for (int order = 3; order >= 0; --order) {
    double ends[12], fresh[12];
    int size = 0, fresh_size = 0;
    ends[size++] = -1;
    for (int i = 0; i < count; ++i) ends[size++] = found[i];
    ends[size++] = 1;
    for (int i = 0; i + 1 < size; ++i) {
      if (i > 0) fresh[fresh_size++] = ends[i];
      const double low = polynomial(derivative[order], 4 - order, ends[i]);
      const double high = polynomial(derivative[order], 4 - order, ends[i + 1]);
      if ((low < 0) != (high < 0))
        fresh[fresh_size++] = bracketed_root(derivative[order], 4 - order, ends[i], ends[i + 1]);
    }
    count = fresh_size < 10 ? fresh_size : 10;
    copy(fresh, count, found);
  }
  return count;
}

// The best force among all slips, and among the candidates that rounding may have spoilt.
SUPPLE_HD inline void enumerate_slips(const CoulombBlock& w, double mu, const double* b, const SlipCurve& f,
                                      const Direction& present, double* best) {
  double least = HUGE_VAL, nearest = -2;
  const auto consider = [&](Direction tau, bool root) {
    double lambda[3], move[3];
    if (!slip_force(w, mu, b, tau, lambda)) return;
    const double closeness = tau.c * present.c + tau.s * present.s;
    if (root && opposes(w, b, tau, lambda)) {
      if (closeness > nearest) nearest = closeness, copy(lambda, 3, best);
    } else if (nearest < -1) {
      multiply(w, lambda, move);
      for (int i = 0; i < 3; ++i) move[i] = (move[i] + b[i]) / w.nn;
      const double residual = coulomb_residual(lambda, move, mu);
      if (residual < least) least = residual, copy(lambda, 3, best);
    }
  };
  for (double side = 1; side >= -1; side -= 2) {  // t = tan(angle / 2) in [-1, 1], from tau = (side, 0)
    const double p = side * f.p, q = side * f.q;
    const double a[5] = {q + f.R, 2 * (p + f.T), 4 * f.S - 2 * f.R, 2 * (p - f.T), f.R - q};
    double t[12];
    const int count = roots_and_extrema(a, t);
    for (int i = 0; i < count; ++i) {
      const double scale = side / (1 + t[i] * t[i]);
      const Direction start{(1 - t[i] * t[i]) * scale, 2 * t[i] * scale};
      Direction tau = start;
      if (settle(f, tau) && tau.c * start.c + tau.s * start.s > 1 - 1e-6) {
        consider(tau, true);
      } else {
        consider(start, false);
      }
    }
  }
}

}  // namespace coulomb

SUPPLE_HD inline CoulombBlock CoulombBlock::of(const double* w) {
  using namespace coulomb;
  CoulombBlock k{w[0], w[3], w[6], w[4], w[7], w[8], 0, 0, 0, 0, 0, 0, 0};
  const double smallest = singular_pivot * larger(larger(k.nn, k.t11), k.t22);
  for (;;) {
    const double d0 = k.nn + k.shift;
    k.l10 = k.n1 / d0;
    k.l20 = k.n2 / d0;
    const double d1 = k.t11 + k.shift - k.l10 * k.n1;
    k.l21 = (k.t12 - k.l20 * k.n1) / d1;
    const double d2 = k.t22 + k.shift - k.l20 * k.n2 - k.l21 * k.l21 * d1;
    k.inverse0 = 1 / d0;
    k.inverse1 = 1 / d1;
    k.inverse2 = 1 / d2;
    if (k.shift > 0 || (d0 > smallest && d1 > smallest && d2 > smallest)) return k;
    k.shift = smallest > 0 ? 1e5 * smallest : 1;
  }
}

// lambda: in = the present force, out = a solution for b. Where W is singular, or for large friction nearly so, one
// proximal point step W + shift I from the present force, whose fixed points are the solutions for W. Where there are
// several, the slip nearest to the present one. Always ends, with the candidate of the smallest residual.
SUPPLE_HD inline void solve_coulomb(const CoulombBlock& given, double friction, const double* free, double* lambda) {
  using namespace coulomb;
  const double mu = smaller(friction, sticking_friction);
  CoulombBlock w = given;
  double b[3] = {free[0], free[1], free[2]};
  if (w.shift > 0) {
    w.nn += w.shift, w.t11 += w.shift, w.t22 += w.shift;
    for (int i = 0; i < 3; ++i) b[i] -= w.shift * lambda[i];
  }
  if (b[0] >= 0) {
    lambda[0] = lambda[1] = lambda[2] = 0;
    return;
  }
  if (mu <= 0) {
    lambda[0] = -b[0] * 1 / w.nn;
    lambda[1] = lambda[2] = 0;
    return;
  }
  // Stick: lambda = -W^-1 b.
  const double y1 = -b[1] + w.l10 * b[0], y2 = -b[2] + w.l20 * b[0] - w.l21 * y1;
  double stick[3];
  stick[2] = y2 * w.inverse2;
  stick[1] = y1 * w.inverse1 - w.l21 * stick[2];
  stick[0] = -b[0] * w.inverse0 - w.l10 * stick[1] - w.l20 * stick[2];
  const double radius = radius_of(mu, stick[0]), pull = stick[1] * stick[1] + stick[2] * stick[2];
  if (stick[0] > 0 && pull <= radius * radius) {
    copy(stick, 3, lambda);
    return;
  }
  const SlipCurve f = slip_curve(w, mu, b);
  const double before = std::sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]), size = std::sqrt(pull);
  Direction present{1, 0};
  if (before > 0) {
    present = {lambda[1] / before, lambda[2] / before};
  } else if (size > 0) {
    present = {stick[1] / size, stick[2] / size};
  }
  Direction tau = present;
  double slip[3];
  if (settle(f, tau) && slip_force(w, mu, b, tau, slip) && opposes(w, b, tau, slip)) {
    copy(slip, 3, lambda);
    return;
  }
  copy(stick, 3, lambda);  // if nothing else is a candidate
  project_friction(mu, lambda);
  enumerate_slips(w, mu, b, f, present, lambda);
}

SUPPLE_HD inline double coulomb_residual(const double* lambda, const double* w, double friction) {
  using namespace coulomb;
  const double mu = smaller(friction, sticking_friction);
  const double normal = larger(0.0, lambda[0] - w[0]), radius = radius_of(mu, normal);
  const double t1 = lambda[1] - w[1], t2 = lambda[2] - w[2], size = std::sqrt(t1 * t1 + t2 * t2);
  const double scale = size > radius ? radius / size : 1;
  return larger(larger(std::abs(lambda[0] - normal), std::abs(lambda[1] - scale * t1)),
                std::abs(lambda[2] - scale * t2));
}

SUPPLE_HD inline void project_friction(double friction, double* lambda) {
  using namespace coulomb;
  lambda[0] = larger(lambda[0], 0.0);
  const double radius = radius_of(smaller(friction, sticking_friction), lambda[0]);
  const double size = std::sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]);
  if (size > radius) lambda[1] *= radius / size, lambda[2] *= radius / size;
}

}  // namespace supple

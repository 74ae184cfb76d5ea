#include "solvers/contact/coulomb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double singular_pivot = 1e-11;  // of the largest diagonal entry
constexpr int newton_steps = 16;

// The slip condition as a function of the direction tau = (c, s) of lambda_t:
//   f = p s + q c + R c^2 + S s^2 + T s c,
// tau_perp . w_t times the positive W_nn + mu W_nt . tau, with lambda_n = -b_n / (W_nn + mu W_nt . tau) from w_n = 0.
struct SlipCurve {
  double p, q, R, S, T;
  double value(double c, double s) const { return p * s + q * c + R * c * c + S * s * s + T * s * c; }
  double slope(double c, double s) const { return p * c - q * s + 2 * (S - R) * s * c + T * (c * c - s * s); }
};

SlipCurve slip_curve(const CoulombBlock& w, double mu, const double* b) {
  return {b[0] * w.n1 - w.nn * b[1], w.nn * b[2] - b[0] * w.n2, mu * (w.n1 * b[2] - b[0] * w.t12),
          mu * (b[0] * w.t12 - w.n2 * b[1]), mu * (w.n2 * b[2] - w.n1 * b[1] - b[0] * (w.t22 - w.t11))};
}

struct Direction {
  double c, s;
};

// Turns by atan(angle).
void turn(Direction& tau, double angle) {
  const double c = tau.c - angle * tau.s, s = tau.s + angle * tau.c, scale = 1 / std::sqrt(c * c + s * s);
  tau = {c * scale, s * scale};
}

// Newton's method on the angle from tau. False where it does not settle.
bool settle(const SlipCurve& f, Direction& tau) {
  for (int step = 0; step < newton_steps; ++step) {
    const double value = f.value(tau.c, tau.s), slope = f.slope(tau.c, tau.s);
    if (!(std::abs(value) <= std::abs(slope))) return false;
    const double angle = -value / slope;
    turn(tau, angle);
    if (std::abs(angle) <= 1e-9) {  // quadratic: the next one is below rounding; take it all the same
      const double again = f.slope(tau.c, tau.s);
      if (again != 0) turn(tau, std::clamp(-f.value(tau.c, tau.s) / again, -1e-9, 1e-9));
      return true;
    }
  }
  return false;
}

void multiply(const CoulombBlock& w, const double* x, double* y) {
  y[0] = w.nn * x[0] + w.n1 * x[1] + w.n2 * x[2];
  y[1] = w.n1 * x[0] + w.t11 * x[1] + w.t12 * x[2];
  y[2] = w.n2 * x[0] + w.t12 * x[1] + w.t22 * x[2];
}

double radius_of(double mu, double normal) {
  return normal > 0 ? mu * normal : 0;
}

// lambda of a slip along tau; false if it opens or would be pulled.
bool slip_force(const CoulombBlock& w, double mu, const double* b, const Direction& tau, double* lambda) {
  const double stiffness = w.nn + mu * (w.n1 * tau.c + w.n2 * tau.s);
  if (!(stiffness > 0)) return false;
  lambda[0] = -b[0] / stiffness;
  const double radius = radius_of(mu, lambda[0]);
  lambda[1] = radius * tau.c;
  lambda[2] = radius * tau.s;
  return true;
}

// The force at tau opposes the slip there.
bool opposes(const CoulombBlock& w, const double* b, const Direction& tau, const double* lambda) {
  double move[3];
  multiply(w, lambda, move);
  return tau.c * (move[1] + b[1]) + tau.s * (move[2] + b[2]) <= 0;
}

double polynomial(const double* a, int degree, double t) {
  double sum = a[degree];
  for (int k = degree - 1; k >= 0; --k) sum = sum * t + a[k];
  return sum;
}

// A root between two points of opposite signs, by bisection and the secant in turns.
double bracketed_root(const double* a, int degree, double low, double high) {
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
int roots_and_extrema(const double* a, double* found) {
  double derivative[5][5];  // [order] coefficients
  std::copy_n(a, 5, derivative[0]);
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
    count = std::min(fresh_size, 10);
    std::copy_n(fresh, count, found);
  }
  return count;
}

// The best force among all slips, and among the candidates that rounding may have spoilt.
void enumerate_slips(const CoulombBlock& w, double mu, const double* b, const SlipCurve& f, const Direction& present,
                     double* best) {
  double least = std::numeric_limits<double>::infinity(), nearest = -2;
  const auto consider = [&](Direction tau, bool root) {
    double lambda[3], move[3];
    if (!slip_force(w, mu, b, tau, lambda)) return;
    const double closeness = tau.c * present.c + tau.s * present.s;
    if (root && opposes(w, b, tau, lambda)) {
      if (closeness > nearest) nearest = closeness, std::copy_n(lambda, 3, best);
    } else if (nearest < -1) {
      multiply(w, lambda, move);
      for (int i = 0; i < 3; ++i) move[i] = (move[i] + b[i]) / w.nn;
      const double residual = coulomb_residual(lambda, move, mu);
      if (residual < least) least = residual, std::copy_n(lambda, 3, best);
    }
  };
  for (const double side : {1.0, -1.0}) {  // t = tan(angle / 2) in [-1, 1], from tau = (side, 0)
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

}  // namespace

CoulombBlock CoulombBlock::of(const double* w) {
  CoulombBlock k{w[0], w[3], w[6], w[4], w[7], w[8], 0, 0, 0, 0, 0, 0, 0};
  const double smallest = singular_pivot * std::max({k.nn, k.t11, k.t22});
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

void solve_coulomb(const CoulombBlock& given, double friction, const double* free, double* lambda) {
  const double mu = std::min(friction, sticking_friction);
  CoulombBlock w = given;
  double b[3] = {free[0], free[1], free[2]};
  if (w.shift > 0) {
    w.nn += w.shift, w.t11 += w.shift, w.t22 += w.shift;
    for (int i = 0; i < 3; ++i) b[i] -= w.shift * lambda[i];
  }
  if (b[0] >= 0) {
    std::fill_n(lambda, 3, 0.0);
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
    std::copy_n(stick, 3, lambda);
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
    std::copy_n(slip, 3, lambda);
    return;
  }
  std::copy_n(stick, 3, lambda);  // if nothing else is a candidate
  project_friction(mu, lambda);
  enumerate_slips(w, mu, b, f, present, lambda);
}

double coulomb_residual(const double* lambda, const double* w, double friction) {
  const double mu = std::min(friction, sticking_friction);
  const double normal = std::max(0.0, lambda[0] - w[0]), radius = radius_of(mu, normal);
  const double t1 = lambda[1] - w[1], t2 = lambda[2] - w[2], size = std::sqrt(t1 * t1 + t2 * t2);
  const double scale = size > radius ? radius / size : 1;
  return std::max({std::abs(lambda[0] - normal), std::abs(lambda[1] - scale * t1), std::abs(lambda[2] - scale * t2)});
}

void project_friction(double friction, double* lambda) {
  lambda[0] = std::max(lambda[0], 0.0);
  const double radius = radius_of(std::min(friction, sticking_friction), lambda[0]);
  const double size = std::sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]);
  if (size > radius) lambda[1] *= radius / size, lambda[2] *= radius / size;
}

}  // namespace supple

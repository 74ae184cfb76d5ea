#include "solvers/contact/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/extent.hpp"
#include "solvers/dense/general_factor.hpp"
#include "solvers/dense/pack.hpp"

namespace supple::contact {
namespace {

constexpr double largest_useful_force = 1e9;  // of |d|: a problem that needs more counts as infeasible

// sigma, where the diagonal of W + C is 1. From small ones on rounding of b / sigma would show.
constexpr double first_shift = 1e-2, smallest_shift = 1e-5, largest_shift = 1e3;
constexpr double shift_decrease = 0.1, shift_increase = 30;
constexpr double rounding = 1e-5;        // an error below this that Newton's method does not halve is rounding
constexpr double inner_accuracy = 1e-2;  // of a proximal point step, against the residual before it
constexpr int steps_per_shift = 20;

constexpr int padded(int n) {
  return (n + pack_width - 1) / pack_width * pack_width;
}

// Whether the change of the forces from `before`, cut to what the laws allow for ever, proves that there is no
// solution: delta . d < 0 and (W + C) delta = 0. In `delta`, largest entry 1; `move` is scratch.
bool find_conflict(const ScaledContact& p, const double* before, double* delta, double* move) {
  double largest = 0;
  for (int i = 0; i < p.n; ++i) {
    const double change = p.lambda[i] - before[i];
    const bool normal = i >= p.boxes && (i - p.boxes) % 3 == 0;
    const bool up = i < p.boxes ? std::isinf(p.upper[i]) : normal, down = i < p.boxes && std::isinf(p.lower[i]);
    delta[i] = (change > 0 && up) || (change < 0 && down) ? change : 0;
    largest = std::max(largest, std::abs(delta[i]));
  }
  if (largest == 0) return false;
  double gain = 0, size = 0, moved = 0;
  for (int i = 0; i < p.n; ++i) {
    delta[i] /= largest;
    gain -= delta[i] * p.d[i];
    size = std::max(size, std::abs(delta[i] * p.d[i]));
  }
  if (!(gain > 1e-6 * size)) return false;
  p.apply(delta, move);
  for (int i = 0; i < p.n; ++i) moved = std::max(moved, std::abs(move[i] + p.compliance[i] * delta[i]));
  // delta . w >= 0 needs lambda . (W + C) delta >= gain.
  return gain >= largest_useful_force * size * moved;
}

enum class StepEnd { converged, rounded, failed };

class ProximalNewton {
 public:
  ProximalNewton(const ScaledContact& problem, NewtonWork& work) : p_(problem), k_(work) {}

  // One proximal point step from `prior` (also the start) to p_.lambda.
  StepEnd step(double shift, double accuracy, int limit, int& steps);

 private:
  const ScaledContact& p_;
  NewtonWork& k_;
  double shift_ = 0;
  int active_ = 0;

  void forces(const double* b, double* lambda, bool derivative);
  double error();
  bool solve_step();
  double slope_at(double t);
  double line_search();
};

// Lambda(b - sigma prior), and D.
void ProximalNewton::forces(const double* b, double* lambda, bool derivative) {
  if (derivative) active_ = 0;
  for (int i = 0; i < p_.boxes; ++i) {
    const double s = shift_ + p_.compliance[i], value = (shift_ * k_.prior[i] - b[i]) / s;
    lambda[i] = std::min(std::max(value, p_.lower[i]), p_.upper[i]);
    if (derivative && value > p_.lower[i] && value < p_.upper[i]) {
      k_.D[9 * i] = 1 / s;
      k_.active[active_++] = i;
    }
  }
  for (int c = 0; c < p_.contacts; ++c) {
    const int i = p_.normal(c);
    const double sn = shift_ + p_.compliance[i], st = shift_ + p_.compliance[i + 1], mu = p_.friction[c];
    const double normal = (shift_ * k_.prior[i] - b[i]) / sn;
    if (!(normal > 0)) {
      lambda[i] = lambda[i + 1] = lambda[i + 2] = 0;
      continue;
    }
    const double t1 = (shift_ * k_.prior[i + 1] - b[i + 1]) / st, t2 = (shift_ * k_.prior[i + 2] - b[i + 2]) / st;
    const double size = std::sqrt(t1 * t1 + t2 * t2), radius = mu * normal;
    const bool slips = size > radius;
    const double ratio = slips ? radius / size : 1;
    lambda[i] = normal;
    lambda[i + 1] = ratio * t1;
    lambda[i + 2] = ratio * t2;
    if (!derivative) continue;
    double* D = k_.D + 9 * i;
    std::fill_n(D, 9, 0.0);
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
    for (int a = 0; a < 3; ++a) k_.active[active_++] = i + a;
  }
}

// right = -F or -W (y - lambda) on the active rows; its largest entry over all rows or coordinates.
double ProximalNewton::error() {
  for (int i = 0; i < p_.n; ++i) k_.error[i] = k_.y[i] - p_.lambda[i];
  double largest = 0;
  if (p_.factored) {
    std::fill_n(k_.right, p_.ld, 0.0);
    for (int i = 0; i < p_.n; ++i)
      if (k_.error[i] != 0) add_scaled(k_.right, -k_.error[i], p_.row(i), p_.ld);
    for (int k = 0; k < p_.width; ++k) largest = std::max(largest, std::abs(k_.right[k]));
  } else {
    p_.apply(k_.error, k_.trial);
    for (int i = 0; i < p_.n; ++i) largest = std::max(largest, std::abs(k_.trial[i]));
    for (int a = 0; a < active_; ++a) k_.right[a] = -k_.trial[k_.active[a]];
  }
  return largest;
}

// step_b and step_y: (I + W D) step_b = -W (y - lambda), step_y = -(y - lambda) - D step_b.
bool ProximalNewton::solve_step() {
  const int size = p_.factored ? p_.width : active_, ld = padded(size);
  double* M = k_.matrix;
  std::fill_n(M, extent(size, ld), 0.0);
  if (p_.factored) {
    // I + V_a^T (D V_a)
    for (int a = 0; a < active_;) {
      const int i = k_.active[a], rows = i < p_.boxes ? 1 : 3;
      const double* D = k_.D + 9 * i;
      for (int r = 0; r < rows; ++r) {
        double* q = k_.products + (a + r) * ld;
        std::copy_n(p_.row(i + r), ld, k_.left + (a + r) * ld);
        std::fill_n(q, ld, 0.0);
        for (int c = 0; c < rows; ++c)
          if (D[3 * r + c] != 0) add_scaled(q, D[3 * r + c], p_.row(i + c), ld);
      }
      a += rows;
    }
    add_products(M, size, size, ld, 1, k_.left, ld, k_.products, ld, active_);
  } else {
    for (int r = 0; r < active_; ++r) {
      const double* W = p_.row(k_.active[r]);
      double* to = M + r * ld;
      for (int a = 0; a < active_;) {
        const int i = k_.active[a];
        const double* D = k_.D + 9 * i;
        if (i < p_.boxes) {
          to[a++] = W[i] * D[0];
        } else {
          for (int c = 0; c < 3; ++c) to[a++] = W[i] * D[c] + W[i + 1] * D[3 + c] + W[i + 2] * D[6 + c];
        }
      }
    }
  }
  for (int i = 0; i < size; ++i) M[i * ld + i] += 1;
  if (!lu_factor(M, size, ld, k_.pivots, k_.panel)) return false;
  lu_solve(M, size, ld, k_.pivots, k_.right);
  for (int i = 0; i < p_.n; ++i) k_.step_y[i] = -k_.error[i];
  for (int a = 0; a < active_;) {
    const int i = k_.active[a], rows = i < p_.boxes ? 1 : 3;
    double change[3] = {};
    for (int r = 0; r < rows; ++r) change[r] = p_.factored ? dot(p_.row(i + r), k_.right, p_.ld) : k_.right[a + r];
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < rows; ++c) k_.step_y[i + r] -= k_.D[9 * i + 3 * r + c] * change[c];
    a += rows;
  }
  if (p_.factored) {
    for (int i = 0; i < p_.n; ++i) k_.step_b[i] = dot(p_.row(i), k_.right, p_.ld);
  } else {
    p_.apply(k_.step_y, k_.step_b);
  }
  return std::isfinite(dot(k_.step_b, k_.step_b, p_.n));
}

// du . F(u + t du): zero along the direction where without friction the energy is least.
double ProximalNewton::slope_at(double t) {
  for (int i = 0; i < p_.n; ++i) k_.trial[i] = k_.b[i] + t * k_.step_b[i];
  forces(k_.trial, p_.lambda, false);
  double sum = 0;
  for (int i = 0; i < p_.n; ++i) sum += k_.step_b[i] * (k_.y[i] + t * k_.step_y[i] - p_.lambda[i]);
  return sum;
}

double ProximalNewton::line_search() {
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

StepEnd ProximalNewton::step(double shift, double accuracy, int limit, int& steps) {
  shift_ = shift;
  std::copy_n(k_.prior, p_.n, k_.y);
  double before = std::numeric_limits<double>::infinity();
  for (int taken = 0;; ++taken) {
    p_.apply(k_.y, k_.b);
    double largest = 0;
    for (int i = 0; i < p_.n; ++i) k_.b[i] += p_.d[i];
    forces(k_.b, p_.lambda, true);
    for (int i = 0; i < p_.n; ++i) largest = std::max(largest, std::abs(p_.lambda[i]));
    const double here = error();
    if (here <= accuracy * largest) return StepEnd::converged;
    if (here > 0.5 * before && here <= rounding * largest) return StepEnd::rounded;
    if (taken == limit || !solve_step()) return StepEnd::failed;
    before = here;
    ++steps;
    const double t = line_search();
    for (int i = 0; i < p_.n; ++i) k_.y[i] += t * k_.step_y[i];
  }
}

}  // namespace

NewtonWork::NewtonWork(int n, double* numbers, int* indices) {
  const int ld = padded(n);
  for (double** array : {&y, &b, &error, &right, &step_y, &step_b, &prior, &trial}) *array = numbers, numbers += ld;
  D = numbers, numbers += 9 * ld;
  matrix = numbers, numbers += extent(n, ld);
  left = numbers, numbers += extent(n, ld) + pack_width;
  products = numbers, numbers += extent(n, ld);
  panel = numbers, numbers += extent(pack_width, ld + pack_width);
  spare = numbers;
  active = indices;
  pivots = indices + n;
}

std::size_t NewtonWork::numbers(int n) {
  const int ld = padded(n);
  return extent(19, ld) + 3 * extent(n, ld) + extent(pack_width) + extent(pack_width, ld + pack_width);
}

std::size_t NewtonWork::indices(int n) {
  return extent(2, n);
}

NewtonResult newton(const ScaledContact& p, NewtonWork& work, double tolerance, int limit, bool prove,
                    Residuals& last) {
  ProximalNewton method(p, work);
  NewtonResult result;
  double shift = first_shift, floor = smallest_shift;
  last = p.evaluate();
  std::copy_n(p.lambda, p.n, work.prior);
  while (last.relative() > tolerance && result.steps < limit) {
    const double accuracy = std::max(0.1 * tolerance, inner_accuracy * std::min(1.0, last.relative()));
    const int before = result.steps;
    const StepEnd end = method.step(shift, accuracy, std::min(steps_per_shift, limit - result.steps), result.steps);
    if (end == StepEnd::failed) {
      std::copy_n(work.prior, p.n, p.lambda);
      shift *= shift_increase;
      if (shift > largest_shift) break;
      continue;
    }
    if (result.steps == before) ++result.steps;  // forces that grow for ever may need no step to be good enough
    last = p.evaluate();
    if (prove && find_conflict(p, work.prior, work.trial, work.error)) {
      result.end = NewtonEnd::conflict;
      return result;
    }
    std::copy_n(p.lambda, p.n, work.prior);
    if (end == StepEnd::rounded) floor = std::min(1.0, shift / shift_decrease);
    shift = std::max(floor, shift * shift_decrease);
  }
  result.end = last.relative() <= tolerance ? NewtonEnd::solved : NewtonEnd::limit;
  return result;
}

bool soft_forces(const ScaledContact& p, NewtonWork& work) {
  int steps = 0;
  std::fill_n(work.prior, p.n, 0.0);
  return ProximalNewton(p, work).step(first_shift, 1e-6, steps_per_shift, steps) != StepEnd::failed;
}

}  // namespace supple::contact

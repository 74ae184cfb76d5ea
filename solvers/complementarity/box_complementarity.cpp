// Block principal pivoting with bounds (Judice & Pires, Computers & Operations Research 21, 1994): every unknown is at
// its lower bound, at its upper bound or free; all violating ones change state at once while that lowers their number,
// else only the one with the largest index does (Murty's rule, finite for positive definite W).
#include "solvers/complementarity/box_complementarity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/contract.hpp"
#include "solvers/dense/pack.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {
namespace {

constexpr double at_lower = -1, free_state = 0, at_upper = 1;
constexpr double feasibility = 1e-12;     // relative, in the scaled problem
constexpr double singular_pivot = 1e-13;  // of the largest entry of the free block
constexpr double regularisation = 1e-12;  // added to the scaled (unit) diagonal of a singular free block
constexpr double consistency = 1e-9;      // relative residual a regularised block may leave
constexpr int patience = 5;               // block steps without progress before single ones

// The problem scaled to a unit diagonal: W_ij s_i s_j, d_i s_i, lambda_i / s_i with s_i = |W_ii|^-1/2, so that rows in
// different units count alike. All arrays lie in the caller's workspace.
struct ScaledProblem {
  int n;
  double *W, *block, *scale, *d, *lower, *upper, *lambda, *w, *state, *right, *step;
  double tolerance_w = 0;
  bool consistent = true;  // the last free block has a solution

  ScaledProblem(int size, double* work) : n(size) {
    W = work;
    block = W + n * n;
    double** vectors[] = {&scale, &d, &lower, &upper, &lambda, &w, &state, &right, &step};
    double* next = block + n * n;
    for (double** vector : vectors) *vector = next, next += n;
  }

  void evaluate() {
    double largest = 0;
    for (int i = 0; i < n; ++i) {
      double sum = d[i], magnitude = std::abs(d[i]);
      for (int j = 0; j < n; ++j) {
        const double term = W[i * n + j] * lambda[j];
        sum += term;
        magnitude += std::abs(term);
      }
      w[i] = sum;
      largest = std::max(largest, magnitude);
    }
    tolerance_w = feasibility * largest;
  }

  // Bounds into lambda, then W_FF lambda_F = -(d_F + W_FB lambda_B). False if W_FF is singular and the system has no
  // solution.
  bool solve_free() {
    int free_index[max_box_complementarity], pivots[max_box_complementarity];
    int size = 0;
    for (int i = 0; i < n; ++i) {
      if (state[i] == free_state) free_index[size++] = i;
      lambda[i] = state[i] == at_lower ? lower[i] : state[i] == at_upper ? upper[i] : 0;
    }
    for (int r = 0; r < size; ++r) {
      const double* row = W + free_index[r] * n;
      double sum = d[free_index[r]];
      for (int j = 0; j < n; ++j) sum += row[j] * lambda[j];
      right[r] = step[r] = -sum;
    }
    const auto factor = [&](double shift) {
      for (int r = 0; r < size; ++r)
        for (int c = 0; c <= r; ++c) block[r * size + c] = W[free_index[r] * n + free_index[c]] + (r == c ? shift : 0);
      return ldlt_factor(block, size, size, pivots, shift > 0 ? 0 : singular_pivot).status == DenseFactorStatus::ok;
    };
    const bool regular = factor(0);
    consistent = true;
    if (!regular && !factor(regularisation)) return false;
    // A regularised block: lambda += (W_FF + eps I)^-1 (right - W_FF lambda) converges to a solution if there is one.
    for (int pass = 0; pass < (regular ? 1 : 4); ++pass) {
      ldlt_solve(block, size, size, pivots, step, 1, size);
      for (int r = 0; r < size; ++r) lambda[free_index[r]] += step[r];
      if (regular) break;
      for (int r = 0; r < size; ++r) {
        step[r] = right[r];
        for (int c = 0; c < size; ++c) step[r] -= W[free_index[r] * n + free_index[c]] * lambda[free_index[c]];
      }
    }
    if (!regular) {
      double largest = 0, left = 0;
      for (int r = 0; r < size; ++r) {
        largest = std::max(largest, std::abs(right[r]));
        left = std::max(left, std::abs(step[r]));
      }
      consistent = left <= consistency * largest;
    }
    return std::all_of(free_index, free_index + size, [&](int i) { return std::isfinite(lambda[i]); });
  }

  // The state unknown i should change to, or its present one.
  double wanted(int i, double tolerance_lambda) const {
    if (lower[i] == upper[i]) return state[i];
    if (state[i] == free_state) {
      if (lambda[i] < lower[i] - tolerance_lambda) return at_lower;
      if (lambda[i] > upper[i] + tolerance_lambda) return at_upper;
      return free_state;
    }
    const double inward = state[i] == at_lower ? w[i] : -w[i];
    return inward < -tolerance_w ? free_state : state[i];
  }
};

void scale_problem(ScaledProblem& p, const double* W, const double* d, const double* lower, const double* upper,
                   const double* lambda) {
  const int n = p.n;
  for (int i = 0; i < n; ++i) {
    double size = std::abs(W[i * n + i]);
    if (size == 0)
      for (int j = 0; j < n; ++j) size = std::max(size, std::abs(W[i * n + j]));
    p.scale[i] = size > 0 ? 1 / std::sqrt(size) : 1;
  }
  for (int i = 0; i < n; ++i) {
    const double s = p.scale[i];
    for (int j = 0; j < n; ++j) p.W[i * n + j] = W[i * n + j] * s * p.scale[j];
    p.d[i] = d[i] * s;
    p.lower[i] = lower[i] / s;
    p.upper[i] = upper[i] / s;
    const bool low = lower[i] == upper[i] || (lambda[i] <= lower[i] && std::isfinite(lower[i]));
    p.state[i] = low ? at_lower : lambda[i] >= upper[i] && std::isfinite(upper[i]) ? at_upper : free_state;
  }
}

// Largest violation of the conditions in the caller's units.
double violation(const ScaledProblem& p, const double* W, const double* d, const double* lower, const double* upper,
                 const double* lambda) {
  double worst = 0;
  for (int i = 0; i < p.n; ++i) {
    if (lower[i] == upper[i]) continue;
    const double w = d[i] + dot(W + i * p.n, lambda, p.n);
    double here = std::abs(w);
    if (lambda[i] <= lower[i]) here = std::max(0.0, -w);
    if (lambda[i] >= upper[i]) here = std::max(0.0, w);
    worst = std::max(worst, here);
  }
  return worst;
}

}  // namespace

int box_complementarity_work(int n) {
  return 2 * n * n + 9 * n;
}

ComplementarityReport solve_box_complementarity(int n, std::span<const double> W, std::span<const double> d,
                                                std::span<const double> lower, std::span<const double> upper,
                                                std::span<double> lambda, std::span<double> work,
                                                const ComplementaritySettings& settings) {
  SUPPLE_EXPECT(n >= 0 && n <= max_box_complementarity);
  SUPPLE_EXPECT(static_cast<int>(work.size()) >= box_complementarity_work(n));
  ScaledProblem p(n, work.data());
  scale_problem(p, W.data(), d.data(), lower.data(), upper.data(), lambda.data());
  ComplementarityReport report{ComplementarityStatus::iteration_limit, 0, 0};
  int fewest = std::numeric_limits<int>::max(), patience_left = patience;
  while (report.iterations < settings.max_iterations) {
    ++report.iterations;
    const bool solvable = p.solve_free();
    double tolerance_lambda = 0;
    for (int i = 0; i < n; ++i) tolerance_lambda = std::max(tolerance_lambda, feasibility * std::abs(p.lambda[i]));
    if (!solvable) {
      report.status = ComplementarityStatus::singular;
      break;
    }
    p.evaluate();
    int violated = 0, last = -1;
    for (int i = 0; i < n; ++i)
      if (p.wanted(i, tolerance_lambda) != p.state[i]) ++violated, last = i;
    if (violated == 0) {
      report.status = p.consistent ? ComplementarityStatus::solved : ComplementarityStatus::singular;
      break;
    }
    const bool block_step = violated < fewest || patience_left > 0;
    if (violated < fewest) {
      fewest = violated;
      patience_left = patience;
    } else {
      --patience_left;
    }
    if (block_step) {
      for (int i = 0; i < n; ++i) p.state[i] = p.wanted(i, tolerance_lambda);
    } else {
      p.state[last] = p.wanted(last, tolerance_lambda);
    }
  }
  for (int i = 0; i < n; ++i) {
    const double value = p.lambda[i] * p.scale[i];
    lambda[i] = p.state[i] == at_lower   ? lower[i]
                : p.state[i] == at_upper ? upper[i]
                                         : std::clamp(value, lower[i], upper[i]);
    if (!std::isfinite(lambda[i])) lambda[i] = std::clamp(0.0, lower[i], upper[i]);
    // Comparisons with NaN are false, so that it looks obeyed.
    if (std::isnan(d[i])) report.status = ComplementarityStatus::singular;
  }
  report.residual = violation(p, W.data(), d.data(), lower.data(), upper.data(), lambda.data());
  return report;
}

}  // namespace supple

#pragma once
// Small dense boxed linear complementarity problem: find lambda in [lower, upper] with w = W lambda + d and
//   lambda_i = lower_i  =>  w_i >= 0,   lambda_i = upper_i  =>  w_i <= 0,   lower_i < lambda_i < upper_i  =>  w_i = 0.
// For symmetric positive definite W these are the optimality conditions of min 1/2 lambda^T W lambda + lambda^T d on
// the box; the answer is unique. Constraint rows of a time step: W is the compliance in constraint space [m/N], d the
// free violation minus the command [m], lambda tensions [N].

#include <span>

namespace supple {

enum class ComplementarityStatus { solved, iteration_limit, singular };

struct [[nodiscard]] ComplementarityReport {
  ComplementarityStatus status = ComplementarityStatus::solved;
  int iterations = 0;
  double residual = 0;  // largest violation of the conditions above, in the unit of d
};

struct ComplementaritySettings {
  int max_iterations = 200;
};

/// W: n x n row-major symmetric; lower/upper may be infinite. lambda: in = warm start, out = solution. `work` needs
/// box_complementarity_work(n) doubles. Works for indefinite W too where the pivoting finds an answer (converged
/// equilibria near limit points), without a guarantee. Dependent rows (singular W) are solved where they are
/// consistent, one of the answers is returned; otherwise the status is `singular`. Rows are scaled to a unit diagonal
/// inside, so units may be mixed. n <= max_box_complementarity. With any status lambda lies in the box and `residual`
/// belongs to it. No allocation; deterministic.
constexpr int max_box_complementarity = 256;
int box_complementarity_work(int n);
ComplementarityReport solve_box_complementarity(int n, std::span<const double> W, std::span<const double> d,
                                                std::span<const double> lower, std::span<const double> upper,
                                                std::span<double> lambda, std::span<double> work,
                                                const ComplementaritySettings& settings = {});

}  // namespace supple

#pragma once
// The Gauss-Seidel method of the inverse model of a soft robot: actuator contributions lambda that bring effectors to
// their goals. Coordinate descent on
//   min 1/2 |W_ea lambda + delta_free|^2   over   lower <= lambda <= upper,
//   displacement_lower <= delta_a <= displacement_upper,   delta_a = W_aa lambda + displacement_free,
// one actuator j after the other with the others held, for the present shift Delta:
//   lambda_j -= w_*j . Delta / |w_*j|^2,   Delta = W_ea lambda + delta_free,
// then lambda_j is clamped to its limits and so that delta_j stays within its own. Without limits on delta_a it
// converges to a minimiser (the set is a box). With them the set is a polytope whose corners coordinate descent cannot
// go round: it can stall away from the minimum; solve_qp() does not. Where the minimiser is not unique the answer
// depends on the start.
//
// Source: "Real Time Inverse Simulation Method", project.inria.fr/softrobot, eqs. 4 and 6 to 10; the first sum of eq. 6
// is to run to k <= j - 1. Several effectors are rows of W_ea, of one length scale.

#include <span>

namespace supple {

/// effectors x actuators, row-major: W_ea [m/N]; actuators x actuators: W_aa [m/N]. Empty W_aa: no limits on the
/// actuators' displacements. Empty limits: none. Units are the caller's, tolerances are relative.
struct GaussSeidelProblem {
  int actuators = 0, effectors = 0;
  std::span<const double> W_ea, delta_free, lower, upper;
  std::span<const double> W_aa, displacement_free, displacement_lower, displacement_upper;
};

enum class GaussSeidelStatus {
  solved,
  iteration_limit,
  limits_conflict,  // an actuator's displacement cannot be brought into its limits by its own lambda, which wins
  not_finite        // NaN or infinity in the data, or lower > upper
};

struct GaussSeidelSettings {
  int max_iterations = 1000;  // sweeps over all actuators
  double tolerance = 1e-12;   // on the residual
};

struct [[nodiscard]] GaussSeidelReport {
  GaussSeidelStatus status = GaussSeidelStatus::solved;
  int iterations = 0;
  /// Largest change of a lambda in the last sweep by what it does to the effectors, |w_*j| |change|, relative to
  /// |delta_free| + sum |w_*j| |lambda_j|. Zero at a minimiser over a box.
  double residual = 0;
  double shift = 0;  // |W_ea lambda + delta_free|
};

/// lambda: in = start (clamped), out = answer. work: gauss_seidel_work(actuators, effectors) numbers. An actuator whose
/// column of W_ea is zero keeps its clamped start. Deterministic, no allocation.
int gauss_seidel_work(int actuators, int effectors);
GaussSeidelReport solve_gauss_seidel(const GaussSeidelProblem& problem, std::span<double> lambda,
                                     std::span<double> work, const GaussSeidelSettings& settings = {});

}  // namespace supple

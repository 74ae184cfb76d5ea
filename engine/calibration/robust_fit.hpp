#pragma once
// Nonlinear least squares with bounds and with outliers: Levenberg's and Marquardt's method (D. W. Marquardt, 1963) on
// the coordinates that no bound holds, and for Huber's loss weights that are found again in every iteration (P. J. Huber,
// Robust Statistics, 1981).

#include <Eigen/Dense>
#include <functional>
#include <string>
#include <vector>

namespace supple {

enum class Loss { squares, huber };

// Minimised is the sum over groups g of rho(|r_g| / s), with rho(x) = x^2 or Huber's and s the spread of the residuals
// (their median, so that it does not depend on outliers).
struct FitProblem {
  Eigen::VectorXd start, lower, upper;  // [p]
  Eigen::VectorXd size;                 // [p] what a change of each coordinate is small to
  std::vector<int> group;               // [m] of each residual, ascending from 0: components of one measured place
  // r [m] at z; false: there is none, a shorter step is tried.
  std::function<bool(const Eigen::VectorXd& z, Eigen::VectorXd& r)> residuals;
  // J [m x p] at the last accepted z, which `residuals` has seen.
  std::function<void(const Eigen::VectorXd& z, const Eigen::VectorXd& r, Eigen::MatrixXd& J)> jacobian;
  // z was accepted with the residuals r.
  std::function<void(const Eigen::VectorXd& z, const Eigen::VectorXd& r, int iteration)> accepted;
};

struct FitSettings {
  Loss loss = Loss::huber;
  int max_iterations = 30;
  double tolerance = 0.01;  // ends when the next step would gain less than this squared, in variances of a residual
};

struct [[nodiscard]] FitResult {
  Eigen::VectorXd z, residuals;
  // [p x p] of z; 0 for coordinates at a bound, infinite for those that the residuals do not depend on
  Eigen::MatrixXd covariance;
  std::vector<double> weight;  // [groups] Huber's, 1 for squares
  std::vector<double> size;    // [groups] |r_g| / s: above outlying() an outlier
  std::vector<bool> at_bound;  // [p]
  Eigen::VectorXd singular;    // of J in units of the spread and with columns of length one, descending
  double spread = 0;           // s
  int iterations = 0;
  bool converged = false;
  std::string stopped;  // why, where it did not converge
};

// Norm of `count` independent standard normal numbers that three in a thousand exceed.
double outlying(int count);

// Where the start has no residuals nothing but z and `stopped` is found.
FitResult fit(const FitProblem& problem, const FitSettings& settings);

}  // namespace supple

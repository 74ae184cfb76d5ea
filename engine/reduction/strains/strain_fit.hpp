#pragma once
// Least squares on forces for strain modes. theta [modes][features] over phi(x) = (x_i, x_i x_j with j <= i), x in units
// of its spread, is L and Q:
//   s = theta phi,   force = (d phi/d x)^T theta^T s.
// Minimised is, over states k with metrics T_k (metric.hpp) and motions about each of them,
//   sum_k ( o_k^2 |T_k (f(x_k) - f_k)|^2 + sum_m w_m^2 |T_k (f(x_km) - f(x_k) - df_km)|^2 ) + ridge |theta - theta_0|^2
// by Gauss and Newton with conjugate gradients. The ridge keeps unseen states from what only seen ones ask for: how much
// of it serves is seen on states that are not among these (SolidStrainFit).

#include <Eigen/Dense>
#include <functional>
#include <span>
#include <vector>

namespace supple {

struct ForceSamples {
  int columns = 0, rows = 0;  // coordinates x, of which the first `rows` have forces
  int states = 0;
  std::vector<double> weights;  // w of each motion about a state
  std::vector<double> own;      // [states] o; 0 where a state's own force is not known
  Eigen::MatrixXd x;            // [columns][states group]: each state, then its motions, in units of the spread
  Eigen::MatrixXd force;        // [rows][the same]: f_k, then df_km [N]
  std::vector<double> metric;   // [states][rows][rows], row-major [1/N]
  Eigen::VectorXd spread;       // [columns] units of x

  int group() const { return 1 + static_cast<int>(weights.size()); }  // a state and its motions
  int samples() const { return states * group(); }
};

// phi of one x [features].
void strain_features(const double* x, int columns, double* phi);
// (d phi/d x) direction [features].
void feature_rates(const double* x, const double* direction, int columns, double* psi);
inline int feature_count(int columns) {
  return columns + columns * (columns + 1) / 2;
}

// Root mean square of |T_k (f(x_k) - f_k)| over the states whose own force is known.
double force_misfit(const ForceSamples& samples, const Eigen::MatrixXd& theta);

// From a theta to a better one; start: theta_0. ridge: a change of theta by its own size in all costs as much as a
// displacement that is off by the root of it in every state. progress(iteration, cost) after each step of Newton's
// method; check_stop throws.
Eigen::MatrixXd fit_forces(const ForceSamples& samples, const Eigen::MatrixXd& start, const Eigen::MatrixXd& from,
                           double ridge, const std::function<void(int, double)>& progress,
                           const std::function<void()>& check_stop);

}  // namespace supple

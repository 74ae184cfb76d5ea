#include "engine/calibration/robust_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Steps that are tried in an iteration, each with ten times the damping of the one before.
constexpr int most_tries = 10;

// Quantiles of the norm of 1, 2, 3 independent standard normal numbers: of a half; of 82.1 %, where Huber's loss turns
// (for one number his 1.345, which is 95 % efficient); of 99.73 %.
constexpr std::array<std::array<double, 3>, 3> quantile = {
    {{{0.6745, 1.345, 3.000}}, {{1.1774, 1.855, 3.440}}, {{1.5382, 2.214, 3.762}}}};

const std::array<double, 3>& quantiles(int count) {
  return quantile[static_cast<std::size_t>(std::clamp(count, 1, 3) - 1)];
}

// Norms and numbers of components of groups.
struct Groups {
  std::vector<double> norm;
  std::vector<int> count;
};

Groups groups_of(const std::vector<int>& group, const Eigen::VectorXd& r) {
  Groups groups;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto g = static_cast<std::size_t>(group[i]);
    if (g >= groups.norm.size()) groups.norm.resize(g + 1, 0.0), groups.count.resize(g + 1, 0);
    const double value = r[static_cast<Eigen::Index>(i)];
    groups.norm[g] += value * value;
    ++groups.count[g];
  }
  for (double& value : groups.norm) value = std::sqrt(value);
  return groups;
}

// The standard deviation of one residual, such that the median of the groups is that of normal numbers; where more than
// half of them vanish, the root of the mean square.
double spread_of(const Groups& groups) {
  std::vector<double> sizes;
  double sum = 0, count = 0;
  for (std::size_t g = 0; g < groups.norm.size(); ++g) {
    sizes.push_back(groups.norm[g] / quantiles(groups.count[g])[0]);
    sum += groups.norm[g] * groups.norm[g], count += groups.count[g];
  }
  std::ranges::nth_element(sizes, sizes.begin() + static_cast<long>(sizes.size() / 2));
  const double median = sizes[sizes.size() / 2];
  return median > 0 ? median : std::sqrt(sum / count);
}

class Weighing {
 public:
  Weighing(const FitProblem& problem, Loss loss) : group_(problem.group), loss_(loss) {}

  void look(const Eigen::VectorXd& r) { spread_ = spread_of(groups_of(group_, r)); }
  double spread() const { return spread_; }
  double cost(const Eigen::VectorXd& r) const {
    const Groups groups = groups_of(group_, r);
    double sum = 0;
    for (std::size_t g = 0; g < groups.norm.size(); ++g) {
      const double x = spread_ > 0 ? groups.norm[g] / spread_ : 0, k = quantiles(groups.count[g])[1];
      sum += loss_ == Loss::squares || x <= k ? x * x : k * (2 * x - k);
    }
    return sum;
  }
  std::vector<double> weights(const Groups& groups) const {
    std::vector<double> weight;
    for (std::size_t g = 0; g < groups.norm.size(); ++g) {
      const double k = quantiles(groups.count[g])[1] * spread_;
      weight.push_back(loss_ == Loss::squares || groups.norm[g] <= k ? 1 : k / groups.norm[g]);
    }
    return weight;
  }

 private:
  const std::vector<int>& group_;
  Loss loss_;
  double spread_ = 0;
};

}  // namespace

double outlying(int count) {
  return quantiles(count)[2];
}

FitResult fit(const FitProblem& problem, const FitSettings& settings) {
  const Eigen::Index p = problem.start.size(), m = static_cast<Eigen::Index>(problem.group.size());
  FitResult result;
  result.z = problem.start;
  result.at_bound.assign(static_cast<std::size_t>(p), false);
  Eigen::VectorXd r(m), trial(m);
  if (!problem.residuals(result.z, r)) {
    result.residuals = Eigen::VectorXd::Constant(m, std::numeric_limits<double>::infinity());
    result.stopped = "there are no residuals at the start";
    return result;
  }
  Weighing weighing(problem, settings.loss);
  Eigen::MatrixXd J(m, p), H;
  double damping = 1e-3;
  const auto weighted = [&](const Eigen::VectorXd& of) {
    const std::vector<double> weight = weighing.weights(groups_of(problem.group, of));
    Eigen::VectorXd w(m);
    for (Eigen::Index i = 0; i < m; ++i)
      w[i] = weight[static_cast<std::size_t>(problem.group[static_cast<std::size_t>(i)])];
    return w;
  };
  // Whether a bound keeps a coordinate from where the gradient sends it.
  const auto held = [&](Eigen::Index k, const Eigen::VectorXd& gradient) {
    return (result.z[k] <= problem.lower[k] && gradient[k] > 0) || (result.z[k] >= problem.upper[k] && gradient[k] < 0);
  };
  for (result.iterations = 0; result.iterations < settings.max_iterations && !result.converged; ++result.iterations) {
    problem.accepted(result.z, r, result.iterations);
    problem.jacobian(result.z, r, J);
    weighing.look(r);
    if (weighing.spread() == 0) {
      result.converged = true;
      break;
    }
    const Eigen::VectorXd w = weighted(r);
    H = J.transpose() * w.asDiagonal() * J;
    const Eigen::VectorXd gradient = J.transpose() * w.asDiagonal() * r;
    std::vector<Eigen::Index> free;
    for (Eigen::Index k = 0; k < p; ++k)
      if (H(k, k) > 0 && !held(k, gradient)) free.push_back(k);
    if (free.empty()) {
      result.converged = true;
      break;
    }
    // The step of Gauss and Newton (the damping only keeps a singular H regular): how much it would lower the sum of
    // squares, in variances, and how far it goes.
    const auto step_of = [&](double damped) {
      Eigen::MatrixXd A = H(free, free);
      A.diagonal() *= 1 + damped;
      const Eigen::VectorXd step = -A.ldlt().solve(Eigen::VectorXd(gradient(free)));
      Eigen::VectorXd next = result.z;
      for (std::size_t i = 0; i < free.size(); ++i)
        next[free[i]] = std::clamp(result.z[free[i]] + step[static_cast<Eigen::Index>(i)], problem.lower[free[i]],
                                   problem.upper[free[i]]);
      return next;
    };
    const Eigen::VectorXd whole = step_of(1e-12) - result.z;
    const double gain = -gradient.dot(whole) / (weighing.spread() * weighing.spread());
    const double share = (whole.array().abs() / problem.size.array()).maxCoeff();
    if (std::abs(gain) < settings.tolerance * settings.tolerance || share < 1e-9) {
      result.converged = true;
      break;
    }
    const double cost = weighing.cost(r);
    bool better = false;
    for (int tries = 0; !better && tries < most_tries; ++tries) {
      const Eigen::VectorXd next = step_of(damping);
      better = problem.residuals(next, trial) && weighing.cost(trial) < cost;
      if (better) {
        result.z = next;
        r = trial;
        damping = std::max(damping / 10, 1e-9);
      } else {
        damping *= 10;
      }
    }
    if (!better) {
      // Data without noise have no spread to measure by: what is left is the rounding of the residuals.
      result.converged = share < 1e-5;
      if (!result.converged) result.stopped = "no step makes the residuals smaller";
      break;
    }
  }
  if (!result.converged && result.stopped.empty()) result.stopped = "the iterations were used up";
  if (result.iterations == settings.max_iterations) {
    problem.accepted(result.z, r, result.iterations);
    problem.jacobian(result.z, r, J);
  }
  weighing.look(r);
  const Groups groups = groups_of(problem.group, r);
  result.spread = weighing.spread();
  result.residuals = r;
  result.weight = weighing.weights(groups);
  for (std::size_t g = 0; g < groups.norm.size(); ++g)
    result.size.push_back(result.spread > 0 ? groups.norm[g] / result.spread : 0);
  // As the last Jacobian has it.
  const Eigen::VectorXd w = weighted(r);
  const Eigen::VectorXd gradient = J.transpose() * w.asDiagonal() * r;
  std::vector<Eigen::Index> free;
  result.covariance = Eigen::MatrixXd::Zero(p, p);
  for (Eigen::Index k = 0; k < p; ++k) {
    const bool without = !(J.col(k).squaredNorm() > 0);
    const bool at_bound = !without && held(k, gradient);
    result.at_bound[static_cast<std::size_t>(k)] = at_bound;
    if (without) result.covariance(k, k) = std::numeric_limits<double>::infinity();
    if (!at_bound && !without) free.push_back(k);
  }
  if (free.empty()) return result;
  // Huber's covariance of an estimate with weights (Robust Statistics, section 7.6): sigma^2 (J^T J)^-1, sigma^2 the mean
  // square of what counts of the residuals over the square of kappa, the mean derivative of what counts: 1 where all
  // counts, of a group of d components with weight w < 1 w (d - 1)/d. J by singular values, with columns of length one.
  double counted = 0, kappa = 0;
  for (std::size_t g = 0; g < groups.norm.size(); ++g) {
    const double weight = result.weight[g], d = groups.count[g];
    counted += weight * weight * groups.norm[g] * groups.norm[g];
    kappa += weight == 1 ? d : weight * (d - 1);
  }
  kappa /= static_cast<double>(m);
  const double freedom = std::max<double>(1, static_cast<double>(m) - static_cast<double>(free.size()));
  const double variance = counted / freedom / std::max(kappa * kappa, 1e-6);
  Eigen::MatrixXd A = J(Eigen::all, free);
  const Eigen::VectorXd length = A.colwise().norm();
  A = A * length.cwiseInverse().asDiagonal();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  result.singular = svd.singularValues();
  const Eigen::VectorXd inverse = result.singular.cwiseMax(1e-12).cwiseInverse();
  const Eigen::MatrixXd half = length.cwiseInverse().asDiagonal() * svd.matrixV() * inverse.asDiagonal();
  result.covariance(free, free) = variance * half * half.transpose();
  return result;
}

}  // namespace supple

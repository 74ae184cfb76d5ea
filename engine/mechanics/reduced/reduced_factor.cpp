// ReducedMechanics: A assembled, factored and solved with.

#include <algorithm>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"
#include "kernels/elements/geometric_share.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

void ReducedMechanics::assemble_robot(int b, const SystemCoefficients& coefficients, std::span<const double> y,
                                      std::span<const double> multipliers) {
  const int ny = model_.robot.outputs(), n = rows_.rows();
  double* A = system_.data() + extent(b, r_, r_);
  const double* K = stiffness_.data() + extent(b, n_, n_);
  double* A_c = geometric_.data() + extent(b, m_, r_);
  std::fill(A_c, A_c + extent(m_, r_), 0.0);
  for (int i = 0; i < r_; ++i) {
    double* to = A + extent(i, r_);
    const double *stiffness = K + extent(i, n_), *mass = model_.mass.data() + extent(i, r_);
#pragma omp simd
    for (int j = 0; j <= i; ++j) to[j] = coefficients.stiffness * stiffness[j] + coefficients.mass * mass[j];
  }
  if (!strain_share_.empty() && strain_share_[extent(b)] < 1) {
    const double* geometric = strain_geometric_.data() + extent(b, n_ * (n_ + 1) / 2);
    const double lacking = coefficients.stiffness * (1 - strain_share_[extent(b)]);
    for (int i = 0; i < r_; geometric += ++i)
      for (int j = 0; j <= i; ++j) A[i * r_ + j] -= lacking * geometric[j];
  }
  if (coefficients.geometric) {
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0)];
    for (int row = 0; row < n; ++row)
      add_row_curvature(model_, row, y.subspan(extent(b, ny), extent(ny)),
                        multipliers[extent(b, n) + static_cast<std::size_t>(row)], A, A_c, s.hessian);
  }
  for (const PointStiffness& at : coefficients.points) add_point_stiffness(model_, at, A, A_c);
}

SystemReport ReducedMechanics::factor_robot(int b, const SystemCoefficients& coefficients, std::span<const double> y,
                                            std::span<const double> multipliers) {
  double* A = system_.data() + extent(b, r_, r_);
  SystemReport found;
  if (!strain_share_.empty()) {
    double& share = strain_share_[extent(b)];
    SystemCoefficients trial = coefficients;
    trial.mass *= trial_mass;
    share = 1;
    for (int at = 1; tangent_ == TangentKind::safe && at < geometric_shares; ++at) {
      assemble_robot(b, trial, y, multipliers);
      if (cholesky_factor(A, r_, r_).status == DenseFactorStatus::ok) break;
      if (at == 1) find_geometric(b);
      share = geometric_share(at);
    }
    found.weakened = share < 1 ? 1 : 0;
  }
  assemble_robot(b, coefficients, y, multipliers);
  const DenseFactorReport report = tangent_ == TangentKind::safe
                                       ? cholesky_factor(A, r_, r_)
                                       : ldlt_factor(A, r_, r_, pivots_.data() + extent(b, r_));
  found.negative_pivots = report.negative_pivots;
  found.status = report.status == DenseFactorStatus::ok         ? SystemStatus::ok
                 : report.status == DenseFactorStatus::singular ? SystemStatus::singular
                                                                : SystemStatus::not_positive;
  return found;
}

void ReducedMechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                              std::span<const double> multipliers, std::span<SystemReport> found) {
  SUPPLE_EXPECT(tangent_ != TangentKind::none);
  SUPPLE_EXPECT(std::ranges::is_sorted(coefficients.points, {}, &PointStiffness::robot));
  ++factorisations_;
  const SystemFactors factors = system_factors(coefficients, own_systems());
  [[maybe_unused]] const auto threads = static_cast<int>(scratch_.size());  // without OpenMP
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    SystemCoefficients own = coefficients;
    own.points = points_of(own.points, b);
    own.mass = factors.mass_of(b);
    own.stiffness = factors.stiffness_of(b);
    found[extent(b)] = factor_robot(b, own, y, multipliers);
  }
}

std::size_t ReducedMechanics::factor_size() const {
  return extent(robots_) * (extent(r_, r_) + 1);
}

void ReducedMechanics::keep_factor(std::span<double> kept) const {
  SUPPLE_EXPECT(tangent_ == TangentKind::safe && kept.size() == factor_size());
  std::ranges::copy(system_, kept.begin());
  const auto shares = kept.subspan(system_.size());
  for (std::size_t b = 0; b < shares.size(); ++b) shares[b] = strain_share_.empty() ? 1 : strain_share_[b];
}

void ReducedMechanics::restore_factor(std::span<const double> kept) {
  SUPPLE_EXPECT(tangent_ == TangentKind::safe && kept.size() == factor_size());
  std::copy_n(kept.begin(), system_.size(), system_.begin());
  if (!strain_share_.empty()) std::ranges::copy(kept.subspan(system_.size()), strain_share_.begin());
  ++factorisations_;  // what was made with another one is not of this one
}

void ReducedMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(A_c.size() == extent(robots_, m_, r_) && tangent_ != TangentKind::none);
  const SystemFactors factors = system_factors(coefficients, own_systems());
  for (int b = 0; b < robots_; ++b) {
    const double mass = factors.mass_of(b), stiffness = factors.stiffness_of(b);
    // K_c lies below the modes' block of K; a rigid motion has none.
    const double* K_c = stiffness_.data() + extent(b, n_, n_) + extent(r_, n_);
    const double lacking = strain_share_.empty() ? 0 : 1 - strain_share_[extent(b)];
    const double* geometric = lacking > 0 ? strain_geometric_.data() + extent(b, n_ * (n_ + 1) / 2) : nullptr;
    for (int k = 0; k < m_; ++k)
      for (int i = 0; i < r_; ++i) {
        double& value = A_c[extent(b, m_, r_) + extent(k, r_) + extent(i)];
        value = mass * model_.input_mass[extent(k, r_) + extent(i)];
        if (n_ > r_) value += stiffness * K_c[k * n_ + i];
        if (n_ > r_ && lacking > 0) value -= stiffness * lacking * geometric[(r_ + k) * (r_ + k + 1) / 2 + i];
        if (coefficients.geometric || !coefficients.points.empty())
          value += geometric_[extent(b, m_, r_) + extent(k, r_) + extent(i)];
      }
  }
}

void ReducedMechanics::solve(std::span<double> X, int count) {
  for_each_robot(robots_, [&](int b) { solve_robot(b, X.subspan(extent(b, count, r_), extent(count, r_)), count); });
}

void ReducedMechanics::solve_robot(int robot, std::span<double> X, int count) {
  const double* A = system_.data() + extent(robot, r_, r_);
  if (tangent_ == TangentKind::safe)
    cholesky_solve(A, r_, r_, X.data(), count, r_);
  else
    ldlt_solve(A, r_, r_, pivots_.data() + extent(robot, r_), X.data(), count, r_);
}

bool ReducedMechanics::root_solve(int robot, std::span<double> X, int count) {
  if (tangent_ != TangentKind::safe) return false;
  forward_solve(system_.data() + extent(robot, r_, r_), r_, r_, X.data(), count, r_);
  return true;
}

}  // namespace supple

// ReducedMechanics: A assembled, factored and solved with.

#include <omp.h>

#include <algorithm>

#include "engine/dynamics/reduced_mechanics.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

void ReducedMechanics::assemble_robot(int b, const SystemCoefficients& coefficients, std::span<const double> y,
                                      std::span<const double> multipliers, bool without_strains) {
  const int ny = model_.robot.outputs(), n = rows_.rows();
  double* A = system_.data() + extent(b, r_, r_);
  const double* K = stiffness_.data() + extent(b, n_, n_);
  double* A_c = geometric_.data() + extent(b, m_, r_);
  std::fill(A_c, A_c + extent(m_, r_), 0.0);
  for (int i = 0; i < r_; ++i)
    for (int j = 0; j <= i; ++j)
      A[i * r_ + j] = coefficients.stiffness * K[i * n_ + j] +
                      coefficients.mass * model_.mass[extent(i, r_) + static_cast<std::size_t>(j)];
  if (without_strains) {
    const double* geometric = strain_geometric_.data() + extent(b, n_ * (n_ + 1) / 2);
    for (int i = 0; i < r_; geometric += ++i)
      for (int j = 0; j <= i; ++j) A[i * r_ + j] -= coefficients.stiffness * geometric[j];
  }
  if (coefficients.geometric) {
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? omp_get_thread_num() : 0)];
    for (int row = 0; row < n; ++row)
      add_row_curvature(model_, row, y.subspan(extent(b, ny), extent(ny)),
                        multipliers[extent(b, n) + static_cast<std::size_t>(row)], A, A_c, s.hessian);
  }
  for (const PointStiffness& at : coefficients.points)
    if (at.robot == b) add_point_stiffness(model_, at, A, A_c);
}

SystemStatus ReducedMechanics::factor_robot(int b, const SystemCoefficients& coefficients, std::span<const double> y,
                                            std::span<const double> multipliers, int& negative_pivots) {
  double* A = system_.data() + extent(b, r_, r_);
  const auto attempt = [&](bool without_strains) {
    assemble_robot(b, coefficients, y, multipliers, without_strains);
    return tangent_ == TangentKind::safe ? cholesky_factor(A, r_, r_)
                                         : ldlt_factor(A, r_, r_, pivots_.data() + extent(b, r_));
  };
  DenseFactorReport report = attempt(false);
  // The safe tangent: where the geometric stiffness of strain modes spoils it, the rest is positive as W^T W is.
  if (report.status != DenseFactorStatus::ok && tangent_ == TangentKind::safe && !strain_geometric_.empty())
    report = attempt(true);
  negative_pivots = report.negative_pivots;
  return report.status == DenseFactorStatus::ok         ? SystemStatus::ok
         : report.status == DenseFactorStatus::singular ? SystemStatus::singular
                                                        : SystemStatus::not_positive;
}

SystemReport ReducedMechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                                      std::span<const double> multipliers) {
  SUPPLE_EXPECT(tangent_ != TangentKind::none);
  ++factorisations_;
  const int threads = static_cast<int>(scratch_.size());
  const bool ascending = std::ranges::is_sorted(coefficients.points, {}, &PointStiffness::robot);
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    SystemCoefficients own = coefficients;
    if (ascending) {
      const auto first = std::ranges::lower_bound(own.points, b, {}, &PointStiffness::robot),
                 last = std::ranges::upper_bound(own.points, b, {}, &PointStiffness::robot);
      own.points = own.points.subspan(static_cast<std::size_t>(first - own.points.begin()),
                                      static_cast<std::size_t>(last - first));
    }
    SystemReport& report = system_reports_[static_cast<std::size_t>(b)];
    report.status = factor_robot(b, own, y, multipliers, report.negative_pivots);
  }
  SystemReport worst;
  for (const SystemReport& report : system_reports_) {
    if (worst.status == SystemStatus::ok) worst.status = report.status;
    worst.negative_pivots = std::max(worst.negative_pivots, report.negative_pivots);
  }
  return worst;
}

void ReducedMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(A_c.size() == extent(robots_, m_, r_) && tangent_ != TangentKind::none);
  for (int b = 0; b < robots_; ++b) {
    // K_c lies below the modes' block of K; a rigid motion has none.
    const double* K_c = stiffness_.data() + extent(b, n_, n_) + extent(r_, n_);
    for (int k = 0; k < m_; ++k)
      for (int i = 0; i < r_; ++i) {
        double& value = A_c[extent(b, m_, r_) + extent(k, r_) + extent(i)];
        value = coefficients.mass * model_.input_mass[extent(k, r_) + extent(i)];
        if (n_ > r_) value += coefficients.stiffness * K_c[k * n_ + i];
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

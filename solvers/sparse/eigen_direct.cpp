// Eigen's simplicial LDLt, METIS ordering, no numerical pivoting: the signs of D are the inertia.

// MetisSupport uses std::cerr without including it, so the order matters.
// clang-format off
#include <iostream>
#include <Eigen/MetisSupport>
// clang-format on
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <new>

#include "kernels/base/contract.hpp"
#include "solvers/sparse/backends.hpp"

namespace supple {
namespace {

class EigenDirect final : public SparseDirect {
 public:
  void analyse(const SymmetricPattern& pattern, Definiteness kind) override {
    kind_ = kind;
    pattern_ = pattern;
    const std::vector<double> ones(pattern.row.size(), 1.0);
    factor_.analyzePattern(matrix(ones.data()));
  }

  FactorReport factor(const double* values) override {
    FactorReport report;
    try {
      factor_.factorize(matrix(values));
    } catch (const std::bad_alloc&) {
      report.status = FactorStatus::out_of_memory;
      return report;
    }
    // Eigen stops at a pivot that is exactly zero; the entries of D after it are not valid.
    const bool complete = factor_.info() == Eigen::Success;
    report.factor_nonzeros = static_cast<double>(factor_.matrixL().nestedExpression().nonZeros()) + pattern_.n;
    if (!complete) {
      report.status = FactorStatus::singular;
      return report;
    }
    const Eigen::VectorXd pivots = factor_.vectorD();
    report.negative_pivots = static_cast<int>((pivots.array() < 0).count());
    if (!pivots.allFinite() || vanished(pivots, values)) {
      report.status = FactorStatus::singular;
    } else if (kind_ == Definiteness::positive && report.negative_pivots > 0) {
      report.status = FactorStatus::not_positive;
    }
    return report;
  }

  void solve(double* x, int count) override {
    Eigen::Map<Eigen::MatrixXd> map(x, pattern_.n, count);
    map = factor_.solve(map).eval();
  }

  bool multiply_inverse(const SparseColumns&, bool, double*) override { return false; }
  std::string name() const override { return "eigen"; }

 private:
  using Sparse = Eigen::SparseMatrix<double>;

  Eigen::Map<const Sparse> matrix(const double* values) const {
    return {pattern_.n, pattern_.n, pattern_.nonzeros(), pattern_.column_start.data(), pattern_.row.data(), values};
  }

  // Is a pivot nothing against the largest entry of its row in A?
  bool vanished(const Eigen::VectorXd& pivots, const double* values) const {
    Eigen::VectorXd size = Eigen::VectorXd::Zero(pattern_.n);
    for (int j = 0; j < pattern_.n; ++j)
      for (int k = pattern_.column_start[j]; k < pattern_.column_start[j + 1]; ++k) {
        size(j) = std::max(size(j), std::abs(values[k]));
        size(pattern_.row[k]) = std::max(size(pattern_.row[k]), std::abs(values[k]));
      }
    const Eigen::VectorXd permuted = factor_.permutationP() * size;
    return (pivots.array().abs() <= sparse_singular_pivot * permuted.array()).any();
  }

  Definiteness kind_ = Definiteness::positive;
  SymmetricPattern pattern_;
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower, Eigen::MetisOrdering<int>> factor_;
};

}  // namespace

std::unique_ptr<SparseDirect> make_sparse_eigen() {
  return std::make_unique<EigenDirect>();
}

}  // namespace supple

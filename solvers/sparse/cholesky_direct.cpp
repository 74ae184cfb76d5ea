// Our multifrontal factorisation, and one with pivoting for matrices that it does not factor: singular ones, and indefinite ones
// that lose digits without pivoting. Which of the two solves depends on the matrix alone, never on matrices before it.

#include <new>

#include "kernels/base/contract.hpp"
#include "solvers/sparse/backends.hpp"
#include "solvers/sparse/multifrontal.hpp"

namespace supple {
namespace {

class CholeskyDirect final : public SparseDirect {
 public:
  void analyse(const SymmetricPattern& pattern, Definiteness kind) override {
    kind_ = kind;
    pattern_ = pattern;
    cholesky_.analyse(pattern);
    pivoting_.reset();
    solver_ = Solver::none;
  }

  FactorReport factor(const double* values) override {
    solver_ = Solver::none;
    PivotStatus pivots;
    try {
      pivots = cholesky_.factor(values, sparse_singular_pivot, kind_);
    } catch (const std::bad_alloc&) {
      return {FactorStatus::out_of_memory, 0, 0};
    }
    if (pivots == PivotStatus::ok) {
      solver_ = Solver::cholesky;
      return {FactorStatus::ok, cholesky_.negative_pivots(), cholesky_.factor_nonzeros()};
    }
    if (kind_ == Definiteness::positive)
      return {pivots == PivotStatus::vanished ? FactorStatus::singular : FactorStatus::not_positive, 0, 0};
    if (!pivoting_) {
      pivoting_ = make_sparse_pivoting();
      pivoting_->analyse(pattern_, kind_);
    }
    solver_ = Solver::pivoting;
    return pivoting_->factor(values);
  }

  void solve(double* x, int count) override {
    SUPPLE_EXPECT(solver_ != Solver::none);
    if (solver_ == Solver::cholesky)
      cholesky_.solve(x, count);
    else
      pivoting_->solve(x, count);
  }

  bool multiply_inverse(const SparseColumns& columns, bool begin, double* products) override {
    SUPPLE_EXPECT(solver_ != Solver::none);
    if (solver_ != Solver::cholesky) return false;
    cholesky_.multiply_inverse(columns, begin, products);
    return true;
  }

  std::string name() const override { return "cholesky"; }

 private:
  enum class Solver { none, cholesky, pivoting };
  Definiteness kind_ = Definiteness::positive;
  SymmetricPattern pattern_;
  MultifrontalCholesky cholesky_;
  std::unique_ptr<SparseDirect> pivoting_;  // made when first needed
  Solver solver_ = Solver::none;
};

}  // namespace

std::unique_ptr<SparseDirect> make_sparse_cholesky() {
  return std::make_unique<CholeskyDirect>();
}

}  // namespace supple

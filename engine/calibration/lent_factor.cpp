#include "engine/calibration/lent_factor.hpp"

#include "kernels/base/contract.hpp"

namespace supple {

bool same_pattern(const SymmetricPattern& a, const SymmetricPattern& b) {
  return a.n == b.n && a.block == b.block && a.column_start == b.column_start && a.row == b.row;
}

class LentFactor::Borrowed : public SparseDirect {
 public:
  explicit Borrowed(LentFactor& lent) : lent_(lent) {}
  void analyse([[maybe_unused]] const SymmetricPattern& pattern, Definiteness) override {
    SUPPLE_EXPECT(same_pattern(pattern, lent_.pattern_));
  }
  FactorReport factor(const double*) override { return lent_.report_; }
  void solve(double* x, int count) override { lent_.solver_->solve(x, count); }
  bool multiply_inverse(const SparseColumns& columns, bool begin, double* products) override {
    return lent_.solver_->multiply_inverse(columns, begin, products);
  }
  std::string name() const override { return lent_.solver_->name(); }

 protected:
  LentFactor& lent_;
};

class LentFactor::Own final : public Borrowed {
 public:
  using Borrowed::Borrowed;
  void analyse(const SymmetricPattern& pattern, Definiteness kind) override {
    if (lent_.solver_ && kind == lent_.kind_ && same_pattern(pattern, lent_.pattern_)) return;
    lent_.solver_ = make_sparse_direct();
    lent_.solver_->analyse(pattern, kind);
    lent_.pattern_ = pattern;
    lent_.kind_ = kind;
    lent_.factored_ = false;
  }
  FactorReport factor(const double* values) override {
    lent_.report_ = lent_.solver_->factor(values);
    lent_.factored_ = lent_.report_.status == FactorStatus::ok;
    return lent_.report_;
  }
};

std::unique_ptr<SparseDirect> LentFactor::solver() {
  return std::make_unique<Own>(*this);
}

std::unique_ptr<SparseDirect> LentFactor::borrowed() {
  SUPPLE_EXPECT(factored_);
  return std::make_unique<Borrowed>(*this);
}

}  // namespace supple

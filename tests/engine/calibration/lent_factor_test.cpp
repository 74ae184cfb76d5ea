// A factor that another model's solver borrows, and an analysis that is kept from model to model.

#include "engine/calibration/lent_factor.hpp"

#include <gtest/gtest.h>

namespace supple {
namespace {

// [2 a, -1; -1, 2 a] on two unknowns, or three of them in a chain.
SymmetricPattern chain(int n) {
  SymmetricPattern pattern{.n = n, .block = 1, .column_start = {0}, .row = {}};
  for (int i = 0; i < n; ++i) {
    pattern.row.push_back(i);
    if (i + 1 < n) pattern.row.push_back(i + 1);
    pattern.column_start.push_back(static_cast<int>(pattern.row.size()));
  }
  return pattern;
}

std::vector<double> values(int n, double diagonal) {
  std::vector<double> A;
  for (int i = 0; i < n; ++i) {
    A.push_back(diagonal);
    if (i + 1 < n) A.push_back(-1);
  }
  return A;
}

// What is left of A x = (1, 0, ...), the largest entry.
double residual(int n, double diagonal, const std::vector<double>& x) {
  std::vector<double> product(x.size());
  multiply(chain(n), values(n, diagonal).data(), x.data(), product.data());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(product[i] - (i == 0 ? 1 : 0)));
  return largest;
}

TEST(LentFactor, IsThatOfTheModelWhateverTheNeighbourAsksFor) {
  LentFactor lent;
  const std::unique_ptr<SparseDirect> own = lent.solver();
  own->analyse(chain(3), Definiteness::indefinite);
  EXPECT_FALSE(lent.factored());
  ASSERT_EQ(own->factor(values(3, -3).data()).status, FactorStatus::ok);
  ASSERT_TRUE(lent.factored());
  const std::unique_ptr<SparseDirect> neighbour = lent.borrowed();
  neighbour->analyse(chain(3), Definiteness::indefinite);
  // The inertia is that of the factor, too.
  const FactorReport report = neighbour->factor(values(3, 4).data());
  EXPECT_EQ(report.status, FactorStatus::ok);
  EXPECT_EQ(report.negative_pivots, 3);
  std::vector<double> x{1, 0, 0};
  neighbour->solve(x.data());
  EXPECT_LT(residual(3, -3, x), 1e-15);
  lent.forget();
  EXPECT_FALSE(lent.factored());
}

TEST(LentFactor, ServesModelsOfOneMeshAndOfAnother) {
  LentFactor lent;
  for (int last = 0; const int n : {3, 3, 4, 3}) {
    const std::unique_ptr<SparseDirect> own = lent.solver();
    own->analyse(chain(n), Definiteness::indefinite);
    // What is analysed again has no factor.
    EXPECT_EQ(lent.factored(), n == last);
    last = n;
    const double diagonal = 3 + n;
    ASSERT_EQ(own->factor(values(n, diagonal).data()).status, FactorStatus::ok);
    std::vector<double> x(static_cast<std::size_t>(n), 0.0);
    x[0] = 1;
    own->solve(x.data());
    EXPECT_LT(residual(n, diagonal, x), 1e-15) << n;
  }
}

TEST(LentFactor, OfASingularMatrixIsNone) {
  LentFactor lent;
  const std::unique_ptr<SparseDirect> own = lent.solver();
  own->analyse(chain(2), Definiteness::indefinite);
  ASSERT_EQ(own->factor(values(2, 3).data()).status, FactorStatus::ok);
  EXPECT_NE(own->factor(values(2, 1).data()).status, FactorStatus::ok);
  EXPECT_FALSE(lent.factored());
}

}  // namespace
}  // namespace supple

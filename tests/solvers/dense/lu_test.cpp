#include <gtest/gtest.h>

#include "solvers/dense/general_factor.hpp"
#include "solvers/dense/pack.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

TEST(Lu, SolvesWithTheMatrixAndItsTranspose) {
  test::Random random(1);
  for (const int n : {0, 1, 2, 7, 8, 9, 24, 61}) {
    const int ld = (n + pack_width - 1) / pack_width * pack_width;
    const Eigen::MatrixXd A = random.matrix(n, n);
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> factor = Eigen::MatrixXd::Zero(n, ld);
    factor.leftCols(n) = A;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    std::vector<double> panel(static_cast<std::size_t>(pack_width * (n + pack_width)));
    ASSERT_TRUE(lu_factor(factor.data(), n, ld, pivots.data(), panel.data()));
    const Eigen::VectorXd x = random.vector(n);
    Eigen::VectorXd y = A * x, z = A.transpose() * x;
    lu_solve(factor.data(), n, ld, pivots.data(), y.data());
    lu_solve_transposed(factor.data(), n, ld, pivots.data(), z.data());
    // Rounding times the condition of a random matrix.
    EXPECT_LT((y - x).norm(), 1e-10 * (1 + x.norm())) << n;
    EXPECT_LT((z - x).norm(), 1e-10 * (1 + x.norm())) << n;
  }
}

}  // namespace
}  // namespace supple

#include <gtest/gtest.h>

#include <vector>

#include "solvers/dense/symmetric_factor.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

int negative_eigenvalues(const Matrix& A) {
  return static_cast<int>((Eigen::SelfAdjointEigenSolver<Matrix>(A).eigenvalues().array() < 0).count());
}

void check(const Matrix& A, test::Random& random) {
  const int n = static_cast<int>(A.rows());
  RowMatrix a = A;
  std::vector<int> pivots(n);
  const DenseFactorReport report = ldlt_factor(a.data(), n, n, pivots.data());
  ASSERT_EQ(report.status, DenseFactorStatus::ok) << n;
  EXPECT_EQ(report.negative_pivots, negative_eigenvalues(A)) << n;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) ASSERT_EQ(a(i, j), A(i, j));
  const Matrix X = random.matrix(n, 3);
  Matrix B = A * X;
  const Matrix right = B;
  ldlt_solve(a.data(), n, n, pivots.data(), B.data(), 3, n);
  EXPECT_LT((A * B - right).norm(), 1e-12 * A.norm() * B.norm()) << n;
}

TEST(Ldlt, IndefiniteOfEverySize) {
  test::Random random(1);
  for (int n : {1, 2, 3, 4, 5, 8, 13, 34, 63, 100, 300})
    for (int trial = 0; trial < (n < 20 ? 100 : 2); ++trial) {
      const Matrix M = random.matrix(n, n);
      check(M + M.transpose(), random);
    }
}

TEST(Ldlt, PositiveHasNoNegativePivot) {
  test::Random random(2);
  for (int n : {1, 6, 34}) check(random.positive(n), random);
}

TEST(Ldlt, ZeroDiagonalNeedsBlockPivots) {
  test::Random random(3);
  for (int n : {2, 4, 10, 34}) {
    Matrix M = random.matrix(n, n);
    M = (M + M.transpose()).eval();
    M.diagonal().setZero();
    check(M, random);
  }
  // saddle point {{K, J^T}, {J, 0}}: as many negative eigenvalues as rows of J
  Matrix S = Matrix::Zero(12, 12);
  S.topLeftCorner(9, 9) = random.positive(9);
  S.bottomLeftCorner(3, 9) = random.matrix(3, 9);
  S.topRightCorner(9, 3) = S.bottomLeftCorner(3, 9).transpose();
  EXPECT_EQ(negative_eigenvalues(S), 3);
  check(S, random);
}

TEST(Ldlt, ReportsSingular) {
  test::Random random(4);
  for (int n : {2, 5, 34}) {
    const Matrix B = random.matrix(n, n - 1);
    Matrix A = B * B.transpose();
    std::vector<int> pivots(n);
    EXPECT_EQ(ldlt_factor(A.data(), n, n, pivots.data()).status, DenseFactorStatus::singular) << n;
    A.setZero();
    EXPECT_EQ(ldlt_factor(A.data(), n, n, pivots.data()).status, DenseFactorStatus::singular);
  }
}

}  // namespace
}  // namespace supple

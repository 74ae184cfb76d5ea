#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/dense/ldlt.hpp"
#include "solvers/dense/symmetric_factor.hpp"
#include "tests/solvers/random_matrix.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

int negative_eigenvalues(const Matrix& A) {
  return static_cast<int>((Eigen::SelfAdjointEigenSolver<Matrix>(A).eigenvalues().array() < 0).count());
}

// That of one core, and that of a team of so many members (0: none).
struct Ldlt {
  int members;
  DenseFactorReport factor(double* a, int n, int* pivots) const {
    if (members == 0) return ldlt_factor(a, n, n, pivots);
    LdltReport report;
    test::by_team(members, [&](auto team) {
      const LdltReport own = ldlt_factor(team, a, n, n, pivots);
      if (team.rank() == 0) report = own;
    });
    return {report.singular == 0 ? DenseFactorStatus::ok : DenseFactorStatus::singular, report.negative_pivots};
  }
  void solve(const double* a, int n, const int* pivots, double* x, int count) const {
    if (members == 0) return ldlt_solve(a, n, n, pivots, x, count, n);
    test::by_team(members, [&](auto team) { ldlt_solve(team, a, n, n, pivots, x, count, n); });
  }
};

void check(const Matrix& A, test::Random& random, int members = 0) {
  const int n = static_cast<int>(A.rows());
  RowMatrix a = A;
  std::vector<int> pivots(n);
  const Ldlt ldlt{members};
  const DenseFactorReport report = ldlt.factor(a.data(), n, pivots.data());
  ASSERT_EQ(report.status, DenseFactorStatus::ok) << n;
  EXPECT_EQ(report.negative_pivots, negative_eigenvalues(A)) << n;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) ASSERT_EQ(a(i, j), A(i, j));
  const Matrix X = random.matrix(n, 3);
  Matrix B = A * X;
  const Matrix right = B;
  ldlt.solve(a.data(), n, pivots.data(), B.data(), 3);
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

// The threads of a team wait for each other hundreds of times.
TEST(Ldlt, ByTeams) {
  test::Random random(5);
  for (const int members : {1, 2, 5})
    for (int n : {1, 2, 3, 5, 13, 34}) {
      if (members == 5 && n == 34) continue;
      for (int trial = 0; trial < (members == 1 ? 50 : 2); ++trial) {
        Matrix M = random.matrix(n, n);
        M = (M + M.transpose()).eval();
        check(M, random, members);
        if (n < 2) continue;
        M.diagonal().setZero();
        check(M, random, members);
      }
      check(random.positive(n), random, members);
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
    std::vector<int> pivots(n);
    for (const int members : {0, 1, 2}) {
      Matrix A = B * B.transpose();
      EXPECT_EQ((Ldlt{members}.factor(A.data(), n, pivots.data()).status), DenseFactorStatus::singular) << n;
      A.setZero();
      EXPECT_EQ((Ldlt{members}.factor(A.data(), n, pivots.data()).status), DenseFactorStatus::singular);
      A(n - 1, 0) = std::nan("");  // the lower triangle is that of rows
      A(0, n - 1) = std::nan("");
      EXPECT_EQ((Ldlt{members}.factor(A.data(), n, pivots.data()).status), DenseFactorStatus::singular);
    }
  }
}

}  // namespace
}  // namespace supple

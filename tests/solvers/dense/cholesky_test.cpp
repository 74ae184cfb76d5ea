#include <gtest/gtest.h>

#include <barrier>
#include <limits>
#include <thread>
#include <vector>

#include "kernels/dense/cholesky.hpp"
#include "solvers/dense/symmetric_factor.hpp"
#include "tests/solvers/random_matrix.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
constexpr double untouched = 1e300;

// Row-major copy with stride ld; the strict upper triangle holds a value that must survive.
std::vector<double> lower_of(const Matrix& A, int ld) {
  const int n = static_cast<int>(A.rows());
  std::vector<double> a(static_cast<std::size_t>(n) * ld, untouched);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) a[i * ld + j] = A(i, j);
  return a;
}

Matrix factor_of(const std::vector<double>& a, int n, int ld) {
  Matrix L = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) L(i, j) = a[i * ld + j];
  return L;
}

TEST(Cholesky, FactorsAndSolvesEverySize) {
  test::Random random(1);
  for (int n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 34, 63, 64, 65, 66, 67, 68, 96, 100, 128, 129, 201}) {
    const int ld = n + n % 3;
    const Matrix A = random.positive(n);
    std::vector<double> a = lower_of(A, ld);
    ASSERT_EQ(cholesky_factor(a.data(), n, ld).status, DenseFactorStatus::ok) << n;
    const Matrix L = factor_of(a, n, ld);
    EXPECT_LT((L * L.transpose() - A).norm(), 1e-13 * A.norm()) << n;
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < ld; ++j) ASSERT_EQ(a[i * ld + j], untouched);
    for (int count : {1, 2, 3, 7, 8, 9, 17}) {
      const int ldx = n + 2;
      const Matrix X = random.matrix(n, count);
      Matrix B = Matrix::Constant(ldx, count, untouched);
      B.topRows(n) = A * X;
      cholesky_solve(a.data(), n, ld, B.data(), count, ldx);
      EXPECT_LT((A * (B.topRows(n) - X)).norm(), 1e-12 * A.norm() * X.norm()) << n << " " << count;
      EXPECT_EQ(B(n, count - 1), untouched);
    }
  }
}

// Right-hand sides too long to be interleaved on the stack.
TEST(Cholesky, HundredsOfRows) {
  test::Random random(2);
  const int n = 600;
  const Matrix A = random.positive(n) + Matrix::Identity(n, n);
  std::vector<double> a = lower_of(A, n);
  ASSERT_EQ(cholesky_factor(a.data(), n, n).status, DenseFactorStatus::ok);
  const Matrix X = random.matrix(n, 4);
  Matrix B = A * X;
  cholesky_solve(a.data(), n, n, B.data(), 4, n);
  EXPECT_LT((B - X).norm(), 1e-9 * X.norm());
}

TEST(Cholesky, RefusesWhatIsNotPositive) {
  test::Random random(3);
  for (int n : {1, 5, 20, 34, 70}) {
    for (int bad = 0; bad < n; bad += 3) {
      Matrix A = random.positive(n);
      A(bad, bad) = -1e-3;
      std::vector<double> a = lower_of(A, n);
      EXPECT_EQ(cholesky_factor(a.data(), n, n).status, DenseFactorStatus::not_positive);
      a = lower_of(A, n);
      EXPECT_LE(cholesky_factor(SingleTeam{}, a.data(), n, n), bad);
    }
  }
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(cholesky_factor(&nan, 1, 1).status, DenseFactorStatus::not_positive);
}

template <class S>
void compare_with_team(int n, int members, double tolerance) {
  test::Random random(4);
  const Matrix A = random.positive(n);
  const Matrix X = random.matrix(n, 3);
  const Matrix B = A * X;
  const std::vector<double> lower = lower_of(A, n);
  std::vector<S> single(lower.begin(), lower.end()), team = single;
  std::vector<S> x(B.data(), B.data() + B.size()), y = x;
  ASSERT_EQ(cholesky_factor(SingleTeam{}, single.data(), n, n), n);
  cholesky_solve(SingleTeam{}, single.data(), n, n, x.data(), 3, n);
  std::barrier<> barrier(members);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < members; ++rank)
    threads.emplace_back([&, rank] {
      const test::ThreadTeam member{rank, members, &barrier};
      EXPECT_EQ(cholesky_factor(member, team.data(), n, n), n);
      cholesky_solve(member, team.data(), n, n, y.data(), 3, n);
    });
  threads.clear();
  for (int i = 0; i < 3 * n; ++i) {
    EXPECT_NEAR(x[i], X.data()[i], tolerance);
    EXPECT_NEAR(y[i], X.data()[i], tolerance);
  }
}

TEST(CholeskyTeam, ManyThreadsAgreeWithOne) {
  compare_with_team<double>(17, 3, 1e-10);
  compare_with_team<float>(12, 4, 2e-2);
}

}  // namespace
}  // namespace supple

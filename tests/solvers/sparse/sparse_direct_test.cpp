#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <map>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "solvers/sparse/backends.hpp"
#include "solvers/sparse/direct.hpp"
#include "solvers/sparse/multifrontal.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

struct Matrix {
  SymmetricPattern pattern;
  std::vector<double> values;
};

using Entries = std::map<std::pair<int, int>, double>;  // (column, row), row >= column

Matrix assemble(int n, const Entries& entries, int block) {
  Matrix A;
  A.pattern.n = n;
  A.pattern.block = block;
  A.pattern.column_start.assign(n + 1, 0);
  for (const auto& [place, value] : entries) {
    ++A.pattern.column_start[place.first + 1];
    A.pattern.row.push_back(place.second);
    A.values.push_back(value);
  }
  for (int j = 0; j < n; ++j) A.pattern.column_start[j + 1] += A.pattern.column_start[j];
  return A;
}

// Springs between neighbours (also diagonal ones) of an m^3 grid with `components` unknowns per node: n n^T along the
// spring plus a part of the identity, as in an elastic solid; `ground` on the diagonal. ground 0: singular, constant
// vectors are in the kernel.
Matrix lattice(int m, int components, double ground) {
  Entries entries;
  const auto node = [m](int x, int y, int z) { return (x * m + y) * m + z; };
  const auto add = [&](int i, int j, double value) {
    if (i >= j) entries[{j, i}] += value;
  };
  for (int x = 0; x < m; ++x)
    for (int y = 0; y < m; ++y)
      for (int z = 0; z < m; ++z) {
        for (int c = 0; c < components; ++c)
          add(node(x, y, z) * components + c, node(x, y, z) * components + c, ground);
        for (auto [dx, dy, dz] : {std::array{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}}) {
          if (x + dx >= m || y + dy >= m || z + dz >= m) continue;
          const int a = node(x, y, z), b = node(x + dx, y + dy, z + dz);
          const double direction[] = {1.0 * dx, 1.0 * dy, 1.0 * dz};
          for (int c = 0; c < components; ++c)
            for (int d = 0; d < components; ++d) {
              const double k = components == 1 ? 1 : direction[c] * direction[d] + (c == d ? 0.2 : 0);
              add(a * components + c, a * components + d, k);
              add(b * components + c, b * components + d, k);
              add(a * components + c, b * components + d, -k);
              add(b * components + c, a * components + d, -k);
            }
        }
      }
  return assemble(m * m * m * components, entries, components);
}

double relative_residual(const Matrix& A, const double* x, const double* b) {
  const int n = A.pattern.n;
  Eigen::VectorXd y(n);
  multiply(A.pattern, A.values.data(), x, y.data());
  const Eigen::Map<const Eigen::VectorXd> right(b, n);
  return (y - right).norm() / right.norm();
}

class SparseDirectTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      solver_ = make_sparse_direct(GetParam());
    } catch (const CapabilityError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<SparseDirect> solver_;
};

TEST(SymmetricMatrix, MultiplyAgreesWithEigen) {
  const Matrix A = lattice(5, 3, 0.3);
  const Eigen::Map<const Eigen::SparseMatrix<double>> lower(A.pattern.n, A.pattern.n, A.pattern.nonzeros(),
                                                            A.pattern.column_start.data(), A.pattern.row.data(),
                                                            A.values.data());
  const Eigen::VectorXd x = test::Random(1).vector(A.pattern.n);
  Eigen::VectorXd y(A.pattern.n);
  multiply(A.pattern, A.values.data(), x.data(), y.data());
  const Eigen::VectorXd reference = lower.selfadjointView<Eigen::Lower>() * x;
  EXPECT_LT((y - reference).norm(), 1e-14 * reference.norm());
}

TEST_P(SparseDirectTest, SolvesPositiveWithOneAndManyRightHandSides) {
  for (int components : {1, 3}) {
    const Matrix A = lattice(components == 1 ? 14 : 9, components, 0.01);
    const int n = A.pattern.n;
    for (Definiteness kind : {Definiteness::positive, Definiteness::indefinite}) {
      solver_->analyse(A.pattern, kind);
      const FactorReport report = solver_->factor(A.values.data());
      ASSERT_EQ(report.status, FactorStatus::ok);
      EXPECT_EQ(report.negative_pivots, 0);
      EXPECT_GT(report.factor_nonzeros, A.pattern.nonzeros());
      for (int count : {1, 16, 70}) {
        const Eigen::MatrixXd B = test::Random(2).matrix(n, count);
        Eigen::MatrixXd X = B;
        solver_->solve(X.data(), count);
        for (int c = 0; c < count; ++c) EXPECT_LT(relative_residual(A, X.col(c).data(), B.col(c).data()), 1e-12);
      }
    }
  }
}

// Deflection and slope at each node of a cantilever in bending (Euler and Bernoulli), elements of length one: a
// condition number of n^4, with which residuals grow but backward errors do not.
Matrix cantilever(int elements) {
  Entries entries;
  const double k[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
  for (int e = 0; e < elements; ++e)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b <= a; ++b)
        if (const int i = 2 * (e - 1) + a, j = 2 * (e - 1) + b; j >= 0) entries[{j, i}] += k[a][b];
  return assemble(2 * elements, entries, 2);
}

TEST_P(SparseDirectTest, BendingOfASlenderBeam) {
  constexpr int elements = 2000;
  const Matrix A = cantilever(elements);
  for (Definiteness kind : {Definiteness::positive, Definiteness::indefinite}) {
    solver_->analyse(A.pattern, kind);
    const FactorReport report = solver_->factor(A.values.data());
    ASSERT_EQ(report.status, FactorStatus::ok);
    EXPECT_EQ(report.negative_pivots, 0);
    std::vector<double> b(static_cast<std::size_t>(A.pattern.n), 0.0);
    b[b.size() - 2] = 1;  // a force at the tip
    std::vector<double> x = b;
    solver_->solve(x.data(), 1);
    EXPECT_LT(backward_error(A.pattern, A.values.data(), x.data(), b.data()), 1e-14);
    // L^3/3, to rounding times the condition number.
    EXPECT_NEAR(x[x.size() - 2] / (std::pow(elements, 3) / 3), 1, 1e-2);
  }
}

// Wherever it stands, whatever the other entries are.
TEST(BackwardError, OfWhatIsNotANumberIsNone) {
  const Matrix A = assemble(3, {{{0, 0}, 1}, {{1, 1}, 1}, {{2, 2}, 1}}, 1);
  const std::vector<double> b = {1, 1, 1};
  EXPECT_EQ(backward_error(A.pattern, A.values.data(), b.data(), b.data()), 0);
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<double> x = b;
    x[at] = std::nan("");
    EXPECT_TRUE(std::isnan(backward_error(A.pattern, A.values.data(), x.data(), b.data()))) << at;
  }
}

TEST_P(SparseDirectTest, PatternIsReused) {
  Matrix A = lattice(8, 3, 0.1);
  solver_->analyse(A.pattern, Definiteness::positive);
  const Eigen::VectorXd b = test::Random(3).vector(A.pattern.n);
  for (int pass = 1; pass < 4; ++pass) {
    for (double& value : A.values) value *= pass;
    ASSERT_EQ(solver_->factor(A.values.data()).status, FactorStatus::ok);
    Eigen::VectorXd x = b;
    solver_->solve(x.data());
    EXPECT_LT(relative_residual(A, x.data(), b.data()), 1e-12);
  }
  // and another pattern in the same object
  A = lattice(6, 1, 0.1);
  solver_->analyse(A.pattern, Definiteness::positive);
  ASSERT_EQ(solver_->factor(A.values.data()).status, FactorStatus::ok);
  Eigen::VectorXd x = b.head(A.pattern.n);
  solver_->solve(x.data());
  EXPECT_LT(relative_residual(A, x.data(), b.data()), 1e-12);
}

TEST_P(SparseDirectTest, CountsNegativeEigenvalues) {
  for (double shift : {0.7, 2.0, 5.0}) {
    Matrix A = lattice(5, 3, -shift);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.pattern.n, A.pattern.n);
    for (int j = 0; j < A.pattern.n; ++j)
      for (int k = A.pattern.column_start[j]; k < A.pattern.column_start[j + 1]; ++k)
        dense(A.pattern.row[k], j) = A.values[k];
    const auto eigenvalues =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues();
    solver_->analyse(A.pattern, Definiteness::indefinite);
    const FactorReport report = solver_->factor(A.values.data());
    ASSERT_EQ(report.status, FactorStatus::ok);
    EXPECT_EQ(report.negative_pivots, (eigenvalues.array() < 0).count()) << shift;
    const Eigen::VectorXd b = test::Random(4).vector(A.pattern.n);
    Eigen::VectorXd x = b;
    solver_->solve(x.data());
    EXPECT_LT(relative_residual(A, x.data(), b.data()), 1e-9);
  }
}

TEST_P(SparseDirectTest, RefusesIndefiniteAsPositive) {
  Matrix A = lattice(7, 3, 0.1);
  solver_->analyse(A.pattern, Definiteness::positive);
  A.values[A.pattern.column_start[500]] = -3;
  EXPECT_EQ(solver_->factor(A.values.data()).status, FactorStatus::not_positive);
  A = lattice(7, 3, -0.01);
  EXPECT_EQ(solver_->factor(A.values.data()).status, FactorStatus::not_positive);
  A = lattice(7, 3, 0.01);
  EXPECT_EQ(solver_->factor(A.values.data()).status, FactorStatus::ok);
}

TEST_P(SparseDirectTest, ReportsSingular) {
  for (int components : {1, 3})
    for (int m : {4, 9}) {
      const Matrix free = lattice(m, components, 0);
      for (Definiteness kind : {Definiteness::indefinite, Definiteness::positive}) {
        solver_->analyse(free.pattern, kind);
        const FactorStatus status = solver_->factor(free.values.data()).status;
        EXPECT_TRUE(status == FactorStatus::singular ||
                    (kind == Definiteness::positive && status == FactorStatus::not_positive));
      }
    }
  Matrix zero_row = lattice(4, 1, 1);
  for (int j = 0; j < zero_row.pattern.n; ++j)
    for (int k = zero_row.pattern.column_start[j]; k < zero_row.pattern.column_start[j + 1]; ++k)
      if (j == 20 || zero_row.pattern.row[k] == 20) zero_row.values[k] = 0;
  solver_->analyse(zero_row.pattern, Definiteness::indefinite);
  EXPECT_EQ(solver_->factor(zero_row.values.data()).status, FactorStatus::singular);
}

INSTANTIATE_TEST_SUITE_P(Backends, SparseDirectTest, ::testing::Values("cholesky", "mumps", "eigen", "cudss"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MakeSparseDirect, RefusesUnknownBackend) {
  EXPECT_THROW((void)make_sparse_direct("pardiso"), InputError);
}

// Portions of 1, 20 and 3 columns with up to four entries, twice over: begun again they forget what was there.
void expect_products_agree_with_solving(double ground, int negative) {
  const Matrix A = lattice(6, 3, ground);
  const int n = A.pattern.n;
  const auto solver = make_sparse_direct("cholesky");
  solver->analyse(A.pattern, Definiteness::indefinite);
  const FactorReport report = solver->factor(A.values.data());
  ASSERT_EQ(report.status, FactorStatus::ok);
  ASSERT_EQ(report.negative_pivots, negative);
  test::Random random(7);
  for (int round = 0; round < 2; ++round) {
    Eigen::MatrixXd B(n, 0);
    for (const int count : {1, 20, 3}) {
      SparseColumns columns;
      const int first = static_cast<int>(B.cols());
      B.conservativeResize(n, first + count);
      B.rightCols(count).setZero();
      for (int c = 0; c < count; ++c) {
        const Eigen::VectorXd entries = random.vector(8);
        for (int k = 0; k < 4 - c % 4; ++k) {
          const int row = std::min(n - 1, static_cast<int>(n * std::abs(entries[2 * k]) / 4));
          columns.row.push_back(row);
          columns.value.push_back(entries[2 * k + 1]);
          B(row, first + c) += entries[2 * k + 1];
        }
        columns.start.push_back(static_cast<int>(columns.row.size()));
      }
      Eigen::MatrixXd X = B;
      solver->solve(X.data(), static_cast<int>(X.cols()));
      const Eigen::MatrixXd expected = B.rightCols(count).transpose() * X;
      std::vector<double> products(static_cast<std::size_t>(count) * B.cols());
      ASSERT_TRUE(solver->multiply_inverse(columns, first == 0, products.data()));
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < B.cols(); ++j)
          EXPECT_NEAR(products[static_cast<std::size_t>(i * B.cols() + j)], expected(i, j), 1e-13 * expected.norm());
    }
  }
}

TEST(SparseInverse, OfFewColumnsInPortionsAgreesWithSolving) {
  expect_products_agree_with_solving(0.3, 0);
}

// The lattice pulled away from where it would be at rest: its rigid translations are unstable.
TEST(SparseInverse, OfAnIndefiniteMatrixAgreesWithSolving) {
  expect_products_agree_with_solving(-1e-3, 3);
}

// Without pivoting, for inertia that is proved and digits that are not lost.
TEST(Multifrontal, FactorsIndefiniteMatricesOfFewNegativeEigenvalues) {
  for (const double ground : {-1e-3, -0.03, -0.1}) {
    const Matrix A = lattice(7, 3, ground);
    MultifrontalCholesky factors;
    factors.analyse(A.pattern);
    ASSERT_EQ(factors.factor(A.values.data(), sparse_singular_pivot, Definiteness::indefinite), PivotStatus::ok);
    EXPECT_GE(factors.negative_pivots(), 3);
    const auto pivoting = make_sparse_pivoting();
    pivoting->analyse(A.pattern, Definiteness::indefinite);
    EXPECT_EQ(factors.negative_pivots(), pivoting->factor(A.values.data()).negative_pivots) << ground;
    const Eigen::VectorXd b = test::Random(4).vector(A.pattern.n);
    Eigen::VectorXd x = b;
    factors.solve(x.data(), 1);
    EXPECT_LT(backward_error(A.pattern, A.values.data(), x.data(), b.data()), 1e-14) << ground;
    EXPECT_EQ(factors.factor(A.values.data(), sparse_singular_pivot), PivotStatus::negative);
  }
}

// [tiny, 1; 1, 1] has a factorisation without pivoting, which loses as many digits as `tiny` has.
TEST(Multifrontal, LeavesFactorsThatGrowToPivoting) {
  for (const double tiny : {1e-8, -1e-8}) {
    const Matrix A = assemble(2, {{{0, 0}, tiny}, {{0, 1}, 1}, {{1, 1}, 1}}, 1);
    MultifrontalCholesky factors;
    factors.analyse(A.pattern);
    EXPECT_EQ(factors.factor(A.values.data(), sparse_singular_pivot, Definiteness::indefinite), PivotStatus::negative);
    const auto solver = make_sparse_direct("cholesky");
    solver->analyse(A.pattern, Definiteness::indefinite);
    EXPECT_EQ(solver->factor(A.values.data()).negative_pivots, 1);
    const double b[] = {1, 2};
    double x[] = {1, 2};
    solver->solve(x, 1);
    EXPECT_LT(backward_error(A.pattern, A.values.data(), x, b), 1e-15);
  }
}

// A pivot of 1e-8 is no matter alone; beside a negative one it is left to the solver with pivoting.
TEST(Multifrontal, LeavesWhatIsNearlySingularAndIndefiniteToPivoting) {
  for (const double third : {1.0, -1.0}) {
    const Matrix A = assemble(3, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 1}, 1 + 1e-8}, {{2, 2}, third}}, 1);
    MultifrontalCholesky factors;
    factors.analyse(A.pattern);
    EXPECT_EQ(factors.factor(A.values.data(), sparse_singular_pivot, Definiteness::indefinite),
              third > 0 ? PivotStatus::ok : PivotStatus::negative);
    const auto solver = make_sparse_direct("cholesky");
    solver->analyse(A.pattern, Definiteness::indefinite);
    EXPECT_EQ(solver->factor(A.values.data()).negative_pivots, third > 0 ? 0 : 1);
  }
}

}  // namespace
}  // namespace supple

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "solvers/complementarity/box_complementarity.hpp"
#include "tests/solvers/allocations.hpp"
#include "tests/solvers/random_matrix.hpp"

#ifdef SUPPLE_COUNT_ALLOCATIONS
namespace supple::test {
std::atomic<long> allocations{0};
}
// Not inlined: the compiler would see free() on what it knows as new.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++supple::test::allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++supple::test::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Problem {
  Matrix W;
  Vector d, lower, upper;
  int n() const { return static_cast<int>(d.size()); }
};

// All 3^n states; the feasible one that violates the conditions least, measured in the scaled problem.
Vector enumerate(const Problem& p) {
  const int n = p.n();
  int states = 1;
  for (int i = 0; i < n; ++i) states *= 3;
  Vector best = Vector::Zero(n);
  double least = infinity;
  for (int code = 0; code < states; ++code) {
    std::vector<int> state(n), free_rows;
    Vector lambda = Vector::Zero(n);
    bool possible = true;
    for (int i = 0, c = code; i < n; ++i, c /= 3) {
      state[i] = c % 3;
      if (state[i] == 0) lambda[i] = p.lower[i];
      if (state[i] == 1) lambda[i] = p.upper[i];
      if (state[i] == 2) free_rows.push_back(i);
      possible &= std::isfinite(lambda[i]);
    }
    if (!possible) continue;
    const int size = static_cast<int>(free_rows.size());
    if (size > 0) {
      const Vector right = -(p.d + p.W * lambda);
      // Scaled to a unit diagonal, so that the reference is accurate with mixed units too.
      Vector scale(size), b(size);
      Matrix A(size, size);
      for (int r = 0; r < size; ++r) scale[r] = 1 / std::sqrt(p.W(free_rows[r], free_rows[r]));
      for (int r = 0; r < size; ++r) {
        b[r] = right[free_rows[r]] * scale[r];
        for (int c = 0; c < size; ++c) A(r, c) = p.W(free_rows[r], free_rows[c]) * scale[r] * scale[c];
      }
      const Vector x = A.ldlt().solve(b);
      for (int r = 0; r < size; ++r) lambda[free_rows[r]] = x[r] * scale[r];
    }
    const Vector w = p.d + p.W * lambda;
    double worst = 0;
    for (int i = 0; i < n; ++i) {
      const double unit = std::sqrt(p.W(i, i));
      if (state[i] == 0) worst = std::max(worst, -w[i] / unit);
      if (state[i] == 1) worst = std::max(worst, w[i] / unit);
      if (state[i] == 2) worst = std::max({worst, (p.lower[i] - lambda[i]) * unit, (lambda[i] - p.upper[i]) * unit});
    }
    if (worst < least) least = worst, best = lambda;
  }
  return best;
}

ComplementarityReport solve(const Problem& p, Vector& lambda) {
  const int n = p.n();
  std::vector<double> work(box_complementarity_work(n));
  const auto view = [&](const Vector& v) { return std::span(v.data(), n); };
  return solve_box_complementarity(n, std::span(p.W.data(), n * n), view(p.d), view(p.lower), view(p.upper),
                                   std::span(lambda.data(), n), work);
}

Problem random_problem(test::Random& random, int n, bool mixed_units) {
  Problem p{random.positive(n), random.vector(n), Vector(n), Vector(n)};
  for (int i = 0; i < n; ++i) {
    p.lower[i] = random.below(4) == 0 ? -infinity : random.uniform(-1, 0);
    p.upper[i] = random.below(3) == 0 ? infinity : random.uniform(0, 1);
    if (random.below(12) == 0) p.lower[i] = p.upper[i] = 0.3;
    if (random.below(3) == 0 && p.upper[i] > 0) p.lower[i] = 0;
  }
  if (!mixed_units) return p;
  // lambda_i in units of u_i: W_ij u_i u_j, d_i u_i, bounds / u_i
  for (int i = 0; i < n; ++i) {
    const double u = std::pow(10, random.uniform(-6, 3));
    p.W.row(i) *= u;
    p.W.col(i) *= u;
    p.d[i] *= u;
    p.lower[i] /= u;
    p.upper[i] /= u;
  }
  return p;
}

// Largest difference in scaled unknowns.
double difference(const Problem& p, const Vector& a, const Vector& b) {
  return ((a - b).array() * p.W.diagonal().array().sqrt()).abs().maxCoeff();
}

TEST(BoxComplementarity, AgreesWithEnumeration) {
  test::Random random(1);
  for (int trial = 0; trial < 6000; ++trial) {
    const int n = 1 + trial % 4;
    const Problem p = random_problem(random, n, trial % 2 == 1);
    Vector lambda = trial % 3 == 0 ? random.vector(n) : Vector::Zero(n);
    const ComplementarityReport report = solve(p, lambda);
    ASSERT_EQ(report.status, ComplementarityStatus::solved) << trial;
    ASSERT_LT(difference(p, lambda, enumerate(p)), 1e-9) << trial;
  }
}

TEST(BoxComplementarity, DegenerateProblems) {
  // Small integers: many solutions lie on a bound with w = 0 as well.
  test::Random random(2);
  for (int trial = 0; trial < 3000; ++trial) {
    const int n = 2 + trial % 3;
    Matrix A = Matrix::NullaryExpr(n, n, [&] { return random.below(3) - 1.0; });
    Problem p{A * A.transpose() + Matrix::Identity(n, n), Vector(n), Vector::Zero(n), Vector::Constant(n, 1)};
    for (int i = 0; i < n; ++i) p.d[i] = random.below(5) - 2;
    Vector lambda = Vector::Zero(n);
    const ComplementarityReport report = solve(p, lambda);
    ASSERT_EQ(report.status, ComplementarityStatus::solved) << trial;
    ASSERT_LT(report.residual, 1e-10) << trial;
    ASSERT_LT(difference(p, lambda, enumerate(p)), 1e-9) << trial;
  }
}

TEST(BoxComplementarity, ManyUnknowns) {
  test::Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem p = random_problem(random, 5 + trial % 56, false);
    Vector lambda = Vector::Zero(p.n());
    const ComplementarityReport report = solve(p, lambda);
    ASSERT_EQ(report.status, ComplementarityStatus::solved) << trial;
    ASSERT_LT(report.residual, 1e-10) << trial;
    EXPECT_LT(report.iterations, 40);
    // A warm start at the answer is recognised at once.
    EXPECT_EQ(solve(p, lambda).iterations, 1);
  }
}

TEST(BoxComplementarity, DependentRows) {
  // Two equal cables and one of their sum: which one pulls is not determined, the motion is.
  test::Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 5;
    Matrix J = random.matrix(n, 3);
    const Vector target = random.vector(3);
    Problem p{J * J.transpose(), -(J * target), Vector::Zero(n), Vector::Constant(n, infinity)};
    Vector lambda = Vector::Zero(n);
    const ComplementarityReport report = solve(p, lambda);
    ASSERT_EQ(report.status, ComplementarityStatus::solved) << trial;
    ASSERT_LT(report.residual, 1e-8) << trial;
  }
  Problem equal{Matrix::Constant(2, 2, 2.0), Vector(2), Vector::Zero(2), Vector::Constant(2, infinity)};
  equal.d << -1, -3;  // the second asks for more: it alone pulls
  Vector lambda = Vector::Zero(2);
  EXPECT_EQ(solve(equal, lambda).status, ComplementarityStatus::solved);
  EXPECT_DOUBLE_EQ(lambda[0], 0);
  EXPECT_NEAR(lambda[1], 1.5, 1e-12);
  equal.lower.setConstant(-infinity);  // bilateral and contradictory: no answer
  EXPECT_EQ(solve(equal, lambda).status, ComplementarityStatus::singular);
  EXPECT_TRUE(lambda.allFinite());
}

TEST(BoxComplementarity, IndefiniteEndsAndReportsHonestly) {
  test::Random random(5);
  int solved = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 1 + trial % 6;
    const Matrix A = random.matrix(n, n);
    Problem p{A + A.transpose(), random.vector(n), Vector::Constant(n, -1), Vector::Constant(n, 1)};
    Vector lambda = Vector::Zero(n);
    const ComplementarityReport report = solve(p, lambda);
    EXPECT_TRUE((lambda.array() >= -1).all() && (lambda.array() <= 1).all());
    if (report.status != ComplementarityStatus::solved) continue;
    ++solved;
    EXPECT_LT(report.residual, 1e-9);
  }
  EXPECT_GT(solved, 350);
}

#ifdef SUPPLE_COUNT_ALLOCATIONS
TEST(BoxComplementarity, DoesNotAllocate) {
  test::Random random(6);
  const Problem p = random_problem(random, 20, false);
  Vector lambda = Vector::Zero(20);
  std::vector<double> work(box_complementarity_work(20));
  const auto view = [&](const Vector& v) { return std::span(v.data(), 20); };
  const long before = test::allocations;
  const auto report = solve_box_complementarity(20, std::span(p.W.data(), 400), view(p.d), view(p.lower), view(p.upper),
                                                std::span(lambda.data(), 20), work);
  EXPECT_EQ(test::allocations, before);
  EXPECT_EQ(report.status, ComplementarityStatus::solved);
}
#endif

}  // namespace
}  // namespace supple

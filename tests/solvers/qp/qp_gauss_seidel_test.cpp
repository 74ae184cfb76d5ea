#include <gtest/gtest.h>

#include "solvers/qp/gauss_seidel.hpp"
#include "tests/solvers/allocations.hpp"
#include "tests/solvers/qp/qp_cases.hpp"

namespace supple {
namespace {

using namespace test;

struct Inverse {
  RowMatrix W_ea;
  VectorXd delta_free, lower, upper;
  RowMatrix W_aa;
  VectorXd displacement_free, displacement_lower, displacement_upper;

  Inverse(Random& random, int actuators, int effectors)
      : W_ea(random.matrix(effectors, actuators)),
        delta_free(random.vector(effectors)),
        lower(actuators),
        upper(actuators) {
    for (int j = 0; j < actuators; ++j) {
      lower[j] = random.below(4) == 0 ? -infinity : random.uniform(-1, 0);
      upper[j] = random.below(4) == 0 ? infinity : random.uniform(0, 1);
    }
  }
  void limit_displacements(Random& random) {
    const int n = static_cast<int>(lower.size());
    W_aa = random.positive(n);
    displacement_free = 0.1 * random.vector(n);
    displacement_lower = VectorXd::Constant(n, -0.5);
    displacement_upper = VectorXd::Constant(n, 0.5);
  }
  GaussSeidelProblem view() const {
    const auto span = [](const auto& v) { return std::span(v.data(), static_cast<std::size_t>(v.size())); };
    return {static_cast<int>(lower.size()),
            static_cast<int>(delta_free.size()),
            span(W_ea),
            span(delta_free),
            span(lower),
            span(upper),
            span(W_aa),
            span(displacement_free),
            span(displacement_lower),
            span(displacement_upper)};
  }
  // Eq. 4 as a quadratic program, with rows for the displacements.
  Qp qp() const {
    const int n = static_cast<int>(lower.size()), m = static_cast<int>(displacement_free.size());
    Qp qp(n, m);
    qp.P = W_ea.transpose() * W_ea;
    qp.g = W_ea.transpose() * delta_free;
    qp.lower = lower;
    qp.upper = upper;
    if (m == 0) return qp;
    qp.C = W_aa;
    qp.row_lower = displacement_lower - displacement_free;
    qp.row_upper = displacement_upper - displacement_free;
    return qp;
  }
};

GaussSeidelReport solve(const Inverse& inverse, VectorXd& lambda, const GaussSeidelSettings& settings = {}) {
  const GaussSeidelProblem view = inverse.view();
  std::vector<double> work(static_cast<std::size_t>(gauss_seidel_work(view.actuators, view.effectors)));
  return solve_gauss_seidel(view, std::span(lambda.data(), static_cast<std::size_t>(lambda.size())), work, settings);
}

TEST(GaussSeidel, AgreesWithTheQuadraticProgramOnBoxes) {
  Random random(1);
  QpWorkspace workspace(8, 0);
  int solved = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    const int n = 1 + random.below(6), e = 1 + random.below(9);
    Inverse inverse(random, n, e);
    if (trial % 10 == 0) inverse.W_ea.col(random.below(n)).setZero();
    VectorXd lambda = random.vector(n);
    const GaussSeidelReport report = solve(inverse, lambda, {.max_iterations = 100000, .tolerance = 1e-14});
    ASSERT_NE(report.status, GaussSeidelStatus::not_finite);
    if (report.status == GaussSeidelStatus::iteration_limit) continue;
    ++solved;
    const Qp qp = inverse.qp();
    const QpAnswer answer = test::solve(qp, workspace);
    ASSERT_EQ(answer.report.status, QpStatus::solved);
    const double size = 1 + inverse.delta_free.squaredNorm();
    ASSERT_NEAR(qp.objective(lambda), answer.report.objective, 1e-8 * size) << trial;
    ASSERT_NEAR(report.shift, (inverse.W_ea * lambda + inverse.delta_free).norm(), 1e-12 * size);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(inverse.W_ea);
    if (e >= n && svd.singularValues()[n - 1] > 1e-2 * svd.singularValues()[0]) {
      ASSERT_LT((lambda - answer.x).cwiseAbs().maxCoeff(), 1e-7) << trial;
    }
  }
  EXPECT_GT(solved, 9900);
}

TEST(GaussSeidel, OneUpdateIsEquationTen) {
  Random random(2);
  Inverse inverse(random, 1, 3);
  inverse.lower.setConstant(-infinity);
  inverse.upper.setConstant(infinity);
  VectorXd lambda = VectorXd::Constant(1, 0.3);
  const VectorXd w = inverse.W_ea.col(0), shift = inverse.delta_free + 0.3 * w;
  EXPECT_EQ(solve(inverse, lambda, {.max_iterations = 1}).status, GaussSeidelStatus::iteration_limit);
  EXPECT_NEAR(lambda[0], 0.3 - w.dot(shift) / w.squaredNorm(), 1e-15);
}

TEST(GaussSeidel, WithLimitsOnDisplacementsItStallsAboveTheQuadraticProgram) {
  Random random(3);
  QpWorkspace workspace(6, 6);
  int solved = 0, stalled = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int n = 2 + random.below(5);
    Inverse inverse(random, n, 3);
    inverse.limit_displacements(random);
    VectorXd lambda = VectorXd::Zero(n);
    const GaussSeidelReport report = solve(inverse, lambda, {.max_iterations = 10000});
    if (report.status != GaussSeidelStatus::solved) continue;
    ++solved;
    const VectorXd displacement = inverse.W_aa * lambda + inverse.displacement_free;
    ASSERT_LE((displacement - inverse.displacement_upper).maxCoeff(), 1e-8);
    ASSERT_LE((inverse.displacement_lower - displacement).maxCoeff(), 1e-8);
    const Qp qp = inverse.qp();
    const QpAnswer answer = test::solve(qp, workspace);
    ASSERT_EQ(answer.report.status, QpStatus::solved);
    ASSERT_GE(qp.objective(lambda), answer.report.objective - 1e-8);
    stalled += qp.objective(lambda) > answer.report.objective + 1e-6;
  }
  EXPECT_GT(solved, 900);
  EXPECT_GT(stalled, 100);  // what the header warns of
}

TEST(GaussSeidel, ReportsLimitsThatContradictAndDataThatAreNotFinite) {
  Random random(4);
  Inverse inverse(random, 2, 3);
  inverse.limit_displacements(random);
  inverse.lower.setConstant(-0.01);
  inverse.upper.setConstant(0.01);
  inverse.displacement_lower.setConstant(5);
  inverse.displacement_upper.setConstant(6);
  VectorXd lambda = VectorXd::Zero(2);
  EXPECT_EQ(solve(inverse, lambda).status, GaussSeidelStatus::limits_conflict);
  EXPECT_LE(lambda.cwiseAbs().maxCoeff(), 0.01);
  inverse.lower[0] = 1;
  EXPECT_EQ(solve(inverse, lambda).status, GaussSeidelStatus::not_finite);
  inverse.lower[0] = 0;
  inverse.W_ea(0, 0) = std::nan("");
  EXPECT_EQ(solve(inverse, lambda).status, GaussSeidelStatus::not_finite);
}

#ifdef SUPPLE_COUNT_ALLOCATIONS
TEST(GaussSeidel, DoesNotAllocate) {
  Random random(5);
  Inverse inverse(random, 4, 3);
  inverse.limit_displacements(random);
  const GaussSeidelProblem view = inverse.view();
  std::vector<double> work(static_cast<std::size_t>(gauss_seidel_work(4, 3))), lambda(4);
  const long before = allocations;
  const GaussSeidelReport report = solve_gauss_seidel(view, lambda, work);
  EXPECT_EQ(allocations, before);
  EXPECT_NE(report.status, GaussSeidelStatus::not_finite);
}
#endif

}  // namespace
}  // namespace supple

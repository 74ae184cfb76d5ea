#include "solvers/qp/qp.hpp"

#include <gtest/gtest.h>

#include "tests/solvers/allocations.hpp"
#include "tests/solvers/qp/qp_cases.hpp"
#include "tests/solvers/qp/qp_oracle_table.hpp"
#include "tests/solvers/qp/qp_published.hpp"

namespace supple {
namespace {

using namespace test;

constexpr double tolerance = 1e-9;

struct Units {
  VectorXd unknowns, rows;
  Units(Random& random, int n, int m, double decades) : unknowns(n), rows(m) {
    for (int i = 0; i < n; ++i) unknowns[i] = std::pow(10, random.uniform(-decades, decades));
    for (int k = 0; k < m; ++k) rows[k] = std::pow(10, random.uniform(-decades, decades));
  }
};

// How far from a ray: the curvature and the rates towards limits, per length of the direction in unknowns scaled to a
// unit diagonal of P; infinite where the objective does not fall.
double ray_violation(const Qp& qp, const VectorXd& d) {
  VectorXd scale = qp.P.diagonal().cwiseSqrt();
  if (!(qp.g.dot(d) < 0)) return infinity;
  for (double& s : scale) s = s > 0 ? s : 1;
  const double size = d.cwiseProduct(scale).cwiseAbs().maxCoeff();
  double worst = (qp.P * d).cwiseQuotient(scale).cwiseAbs().maxCoeff() / size;
  const auto look = [&](double rate, double low, double high) {
    if (std::isfinite(high)) worst = std::max(worst, rate);
    if (std::isfinite(low)) worst = std::max(worst, -rate);
  };
  for (int i = 0; i < qp.n(); ++i) look(d[i] * scale[i] / size, qp.lower[i], qp.upper[i]);
  for (int k = 0; k < qp.m(); ++k) {
    const double norm = qp.C.row(k).transpose().cwiseQuotient(scale).norm();
    if (norm > 0) look(qp.C.row(k).dot(d) / (norm * size), qp.row_lower[k], qp.row_upper[k]);
  }
  return worst;
}

class QpKinds : public ::testing::TestWithParam<QpKind> {};

// 15,000 problems each (1,000 grazing ones, of which some 60 failed while z^T P z alone decided) of 1 to 32 unknowns,
// every second one in units that are up to twelve decades apart.
TEST_P(QpKinds, EndsWithAProof) {
  const QpKind kind = GetParam();
  QpCases cases{Random(100 + static_cast<std::uint64_t>(kind))};
  QpWorkspace workspace(32, 64);
  const int trials = kind == QpKind::grazing ? 1000 : 15000;
  for (int trial = 0; trial < trials; ++trial) {
    const int n = 1 + cases.random.below(1 + cases.random.below(32)), m = cases.random.below(2 * n + 1);
    const Qp plain = cases.make(kind, n, m);
    const Units units(cases.random, n, m, trial % 2 == 0 ? 0 : 6);
    const Qp qp = in_units(plain, units.unknowns, units.rows);
    const QpAnswer answer = solve(qp, workspace);
    if (kind == QpKind::infeasible) {
      ASSERT_EQ(answer.report.status, QpStatus::infeasible) << trial;
      ASSERT_LT(conflict_violation(plain, conflicts_back(workspace.conflicts(), units.unknowns, units.rows)),
                tolerance);
    } else if (kind == QpKind::unbounded || kind == QpKind::grazing) {
      ASSERT_EQ(answer.report.status, QpStatus::unbounded) << trial;
      const VectorXd ray = Eigen::Map<const VectorXd>(workspace.direction().data(), n);
      ASSERT_LT(ray_violation(plain, ray.cwiseProduct(units.unknowns)), tolerance) << trial;
    } else {
      ASSERT_EQ(answer.report.status, QpStatus::solved) << trial << " n " << n << " m " << m;
      ASSERT_LT(kkt_violation(plain, back_from_units(answer, units.unknowns, units.rows)), tolerance) << trial;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<QpKind>& info) {
  constexpr const char* names[] = {"Strict",     "Degenerate", "Semidefinite", "IllConditioned",
                                   "Equalities", "Infeasible", "Unbounded",    "Grazing"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Random, QpKinds,
                         ::testing::Values(QpKind::strict, QpKind::degenerate, QpKind::semidefinite,
                                           QpKind::ill_conditioned, QpKind::equalities, QpKind::infeasible,
                                           QpKind::unbounded, QpKind::grazing),
                         name_of);

TEST(Qp, PublishedProblems) {
  QpWorkspace workspace(15, 17);
  for (const PublishedQp& p : published_problems()) {
    const QpAnswer answer = solve(p.qp, workspace);
    ASSERT_EQ(answer.report.status, QpStatus::solved) << p.name;
    EXPECT_LT(kkt_violation(p.qp, answer), 1e-12) << p.name;
    EXPECT_NEAR(answer.report.objective + p.constant, p.optimum, 1e-8 * (1 + std::abs(p.constant))) << p.name;
  }
}

TEST(Qp, AgreesWithOtherSolvers) {
  QpWorkspace workspace(32, 64);
  for (const OracleEntry& entry : oracle_table) {
    const Qp qp = oracle_problem(entry.seed);
    const QpAnswer answer = solve(qp, workspace);
    ASSERT_EQ(answer.report.status, QpStatus::solved);
    EXPECT_NEAR(answer.report.objective, entry.objective, 1e-8 * (1 + std::abs(entry.objective)));
  }
}

TEST(Qp, WarmStartGivesTheSameAnswerInFewerIterations) {
  QpCases cases{Random(7)};
  QpWorkspace workspace(32, 64);
  long cold_iterations = 0, warm_iterations = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 1 + cases.random.below(32);
    Qp qp = cases.make(QpKind::strict, n, cases.random.below(2 * n + 1));
    const QpAnswer first = solve(qp, workspace);
    EXPECT_LE(solve(qp, workspace, first.active).report.iterations, 1);
    qp.g += 0.01 * cases.random.vector(n);
    const QpAnswer cold = solve(qp, workspace), warm = solve(qp, workspace, first.active);
    ASSERT_EQ(warm.report.status, QpStatus::solved);
    ASSERT_LT((warm.x - cold.x).cwiseAbs().maxCoeff(), 1e-9 * (1 + cold.x.cwiseAbs().maxCoeff())) << trial;
    cold_iterations += cold.report.iterations;
    warm_iterations += warm.report.iterations;
    // Any content of `active` leads to the same answer.
    std::vector<QpSide> nonsense(first.active.size());
    for (QpSide& side : nonsense) side = static_cast<QpSide>(cases.random.below(5) - 2);
    const QpAnswer other = solve(qp, workspace, nonsense);
    ASSERT_EQ(other.report.status, QpStatus::solved);
    ASSERT_LT((other.x - cold.x).cwiseAbs().maxCoeff(), 1e-9 * (1 + cold.x.cwiseAbs().maxCoeff())) << trial;
  }
  EXPECT_LT(10 * warm_iterations, cold_iterations);
}

TEST(Qp, UnitsDoNotMatter) {
  QpCases cases{Random(8)};
  QpWorkspace workspace(32, 64);
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 1 + cases.random.below(32), m = cases.random.below(2 * n + 1);
    const Qp qp = cases.make(QpKind::strict, n, m);
    const Units units(cases.random, n, m, trial % 2 == 0 ? 0 : 6);
    Qp scaled = in_units(qp, trial % 2 == 0 ? VectorXd::Constant(n, 1e-3) : units.unknowns, 1e3 * units.rows);
    const double cost = std::pow(10, cases.random.uniform(-9, 9));
    scaled.P *= cost;
    scaled.g *= cost;
    const QpAnswer a = solve(qp, workspace), b = solve(scaled, workspace);
    const VectorXd x = trial % 2 == 0 ? VectorXd(1e-3 * b.x) : VectorXd(b.x.cwiseProduct(units.unknowns));
    ASSERT_EQ(b.report.status, QpStatus::solved);
    ASSERT_LT((a.x - x).cwiseAbs().maxCoeff(), 1e-11 * (1 + a.x.cwiseAbs().maxCoeff())) << trial;
  }
}

TEST(Qp, GivesTheMinimiserNearestToTheCentre) {
  // |A x - b|^2 with fewer rows than unknowns: the minimisers are an affine set.
  Random random(9);
  QpWorkspace workspace(12, 0);
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 2 + random.below(10), rank = random.below(n);
    RowMatrix A = random.matrix(rank, n);
    for (int i = 0; i < n && rank > 0; ++i) A.col(i).normalize();
    Qp qp(n, 0);
    qp.P = A.transpose() * A;
    const VectorXd b = random.vector(rank), centre = random.vector(n);
    qp.g = -A.transpose() * b;
    const QpAnswer answer = solve(qp, workspace, {}, centre);
    ASSERT_EQ(answer.report.status, QpStatus::solved);
    const VectorXd nearest =
        rank == 0 ? centre
                  : VectorXd(centre + Eigen::MatrixXd(A).completeOrthogonalDecomposition().solve(b - A * centre));
    ASSERT_LT((answer.x - nearest).cwiseAbs().maxCoeff(), 1e-5) << trial << " " << n << " " << rank;
  }
}

TEST(Qp, NamesTheLimitsInConflict) {
  QpCases cases{Random(10)};
  QpWorkspace workspace(16, 32);
  for (int trial = 0; trial < 1000; ++trial) {
    const int n = 1 + cases.random.below(16);
    const Qp qp = cases.make(QpKind::infeasible, n, cases.random.below(2 * n + 1));
    ASSERT_EQ(solve(qp, workspace).report.status, QpStatus::infeasible);
    const std::vector<QpConflict> conflicts(workspace.conflicts().begin(), workspace.conflicts().end());
    ASSERT_LE(conflicts.size(), static_cast<std::size_t>(n + 1));
    // Only these limits, without any one of them: feasible.
    for (std::size_t left_out = 0; left_out < conflicts.size(); ++left_out) {
      Qp part(n, qp.m());
      part.C = qp.C;
      for (std::size_t c = 0; c < conflicts.size(); ++c) {
        const auto [k, side, weight] = conflicts[c];
        if (c == left_out) continue;
        if (k < n)
          (side == QpSide::lower ? part.lower : part.upper)[k] = (side == QpSide::lower ? qp.lower : qp.upper)[k];
        else
          (side == QpSide::lower ? part.row_lower : part.row_upper)[k - n] =
              (side == QpSide::lower ? qp.row_lower : qp.row_upper)[k - n];
      }
      ASSERT_EQ(solve(part, workspace).report.status, QpStatus::solved) << trial;
    }
  }
}

TEST(Qp, ContradictoryPair) {
  Qp qp(2, 1);
  qp.P.setIdentity();
  qp.C << 1, 2;
  qp.row_lower[0] = 3;
  qp.row_upper[0] = 1;
  QpWorkspace workspace(2, 1);
  EXPECT_EQ(solve(qp, workspace).report.status, QpStatus::infeasible);
  ASSERT_EQ(workspace.conflicts().size(), 2u);
  EXPECT_EQ(workspace.conflicts()[0].constraint, 2);
  EXPECT_DOUBLE_EQ(workspace.conflicts()[0].weight, 0.5);
  EXPECT_EQ(conflict_violation(qp, workspace.conflicts()), 0);
  qp.row_lower[0] = qp.row_upper[0];
  EXPECT_EQ(solve(qp, workspace).report.status, QpStatus::solved);
  EXPECT_TRUE(workspace.conflicts().empty());
  qp.C.setZero();  // 0 = 1
  EXPECT_EQ(solve(qp, workspace).report.status, QpStatus::infeasible);
  EXPECT_EQ(conflict_violation(qp, workspace.conflicts()), 0);
}

TEST(Qp, RefusesWhatIsNotFiniteOrNotConvex) {
  QpCases cases{Random(11)};
  QpWorkspace workspace(8, 8);
  const double nan = std::nan("");
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 1 + cases.random.below(8), m = 1 + cases.random.below(8);
    const Qp good = cases.make(QpKind::strict, n, m);
    const int i = cases.random.below(n), k = cases.random.below(m);
    const double bad = trial % 2 == 0 ? nan : infinity;
    const auto status_with = [&](auto&& change) {
      Qp qp = good;
      change(qp);
      const QpAnswer answer = solve(qp, workspace);
      EXPECT_TRUE(answer.x.allFinite() && answer.z.allFinite() && answer.y.allFinite());
      return answer.report.status;
    };
    EXPECT_EQ(status_with([&](Qp& qp) { qp.P(i, 0) = bad; }), QpStatus::not_finite);
    EXPECT_EQ(status_with([&](Qp& qp) { qp.g[i] = bad; }), QpStatus::not_finite);
    EXPECT_EQ(status_with([&](Qp& qp) { qp.C(k, i) = bad; }), QpStatus::not_finite);
    EXPECT_EQ(status_with([&](Qp& qp) { qp.lower[i] = bad; }), QpStatus::not_finite);
    EXPECT_EQ(status_with([&](Qp& qp) { qp.row_upper[k] = -bad; }), QpStatus::not_finite);
    EXPECT_EQ(status_with([&](Qp& qp) { qp.P(i, i) = -1; }), QpStatus::not_convex);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(good.P);
    const VectorXd v = eigen.eigenvectors().col(0);
    const double lowered = eigen.eigenvalues()[0] + 1e-4;
    EXPECT_EQ(status_with([&](Qp& qp) { qp.P -= lowered * v * v.transpose(); }), QpStatus::not_convex);
  }
}

TEST(Qp, EmptyProblems) {
  QpWorkspace workspace(3, 2);
  EXPECT_EQ(solve(Qp(0, 0), workspace).report.status, QpStatus::solved);
  Qp rows(0, 2);
  rows.row_upper.setOnes();
  EXPECT_EQ(solve(rows, workspace).report.status, QpStatus::solved);
  rows.row_lower[1] = 0.5;  // 0.5 <= 0
  EXPECT_EQ(solve(rows, workspace).report.status, QpStatus::infeasible);
  const Qp flat(3, 0);  // no objective: the centre
  const VectorXd centre = VectorXd::LinSpaced(3, 1, 3);
  const QpAnswer answer = solve(flat, workspace, {}, centre);
  EXPECT_EQ(answer.report.status, QpStatus::solved);
  EXPECT_LT((answer.x - centre).norm(), 1e-14);
}

TEST(Qp, ReportsTheIterationLimit) {
  QpCases cases{Random(12)};
  QpWorkspace workspace(32, 64);
  int limited = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Qp qp = cases.make(trial % 2 ? QpKind::strict : QpKind::semidefinite, 20, 30);
    const QpAnswer answer = solve(qp, workspace, {}, {}, {.max_iterations = 5});
    EXPECT_TRUE(answer.x.allFinite());
    if (answer.report.status == QpStatus::solved) {
      EXPECT_LT(kkt_violation(qp, answer), tolerance);
    } else {
      EXPECT_EQ(answer.report.status, QpStatus::iteration_limit);
      ++limited;
    }
    EXPECT_LE(answer.report.iterations, 6);
  }
  EXPECT_GT(limited, 100);
}

#ifdef SUPPLE_COUNT_ALLOCATIONS
TEST(Qp, DoesNotAllocate) {
  QpCases cases{Random(13)};
  QpWorkspace workspace(16, 32);
  for (const QpKind kind : {QpKind::strict, QpKind::semidefinite, QpKind::infeasible, QpKind::unbounded}) {
    const Qp qp = cases.make(kind, 16, 32);
    VectorXd x(16);
    std::vector<QpSide> active(48);
    const QpProblem view = qp.view();
    const long before = allocations;
    const QpReport report = solve_qp(view, {std::span(x.data(), 16), {}, {}, active}, workspace);
    EXPECT_EQ(allocations, before);
    EXPECT_NE(report.status, QpStatus::iteration_limit);
  }
}
#endif

}  // namespace
}  // namespace supple

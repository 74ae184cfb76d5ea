#include "solvers/qp/qp_batch.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/solvers/allocations.hpp"
#include "tests/solvers/qp/qp_cases.hpp"

namespace supple {
namespace {

using namespace test;

struct Batch {
  int n, m, count;
  std::vector<Qp> problems;
  std::vector<double> P, g, lower, upper, C, row_lower, row_upper;

  Batch(int unknowns, int rows, int size, std::uint64_t seed) : n(unknowns), m(rows), count(size) {
    QpCases cases{Random(seed)};
    for (int b = 0; b < count; ++b)
      problems.push_back(cases.make(static_cast<QpKind>(b % 7), n, m));  // infeasible and unbounded ones too
    gather();
  }
  void gather() {
    for (auto* all : {&P, &g, &lower, &upper, &C, &row_lower, &row_upper}) all->clear();
    const auto append = [](std::vector<double>& all, const auto& one) {
      all.insert(all.end(), one.data(), one.data() + one.size());
    };
    for (const Qp& qp : problems) {
      append(P, qp.P);
      append(g, qp.g);
      append(lower, qp.lower);
      append(upper, qp.upper);
      append(C, qp.C);
      append(row_lower, qp.row_lower);
      append(row_upper, qp.row_upper);
    }
  }
  QpBatchProblem view() const { return {P, g, lower, upper, C, row_lower, row_upper, {}}; }
};

struct Answers {
  std::vector<double> x, z, y;
  explicit Answers(const Batch& batch)
      : x(static_cast<std::size_t>(batch.count * batch.n)),
        z(x.size()),
        y(static_cast<std::size_t>(batch.count * batch.m)) {}
  QpBatchSolution view() { return {x, z, y}; }
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(QpBatch, EqualsOneByOneForAnyNumberOfThreads) {
  Batch batch(4, 4, 2000, 1);
  Answers reference(batch);
  QpWorkspace workspace(4, 4);
  std::vector<std::vector<QpSide>> active(2000);
  std::vector<QpBatch> batches;
  for (const int threads : {1, 2, 8}) batches.emplace_back(4, 4, 2000, threads);
  Random random(2);
  for (int step = 0; step < 3; ++step) {  // the first cold, the others warm
    int solved = 0;
    std::vector<QpReport> reports;
    for (int b = 0; b < batch.count; ++b) {
      const QpAnswer one = solve(batch.problems[b], workspace, active[b]);
      active[b] = one.active;
      solved += one.report.status == QpStatus::solved;
      reports.push_back(one.report);
      std::copy_n(one.x.data(), 4, reference.x.begin() + 4 * b);
      std::copy_n(one.z.data(), 4, reference.z.begin() + 4 * b);
      std::copy_n(one.y.data(), 4, reference.y.begin() + 4 * b);
    }
    EXPECT_GT(solved, 1000);
    for (QpBatch& solver : batches) {
      Answers answers(batch);
      EXPECT_EQ(solver.solve(batch.view(), answers.view()), solved);
      EXPECT_TRUE(same_bits(answers.x, reference.x) && same_bits(answers.z, reference.z) &&
                  same_bits(answers.y, reference.y));
      for (int b = 0; b < batch.count; ++b) {
        ASSERT_EQ(solver.reports()[b].status, reports[b].status);
        ASSERT_EQ(solver.reports()[b].iterations, reports[b].iterations);
        ASSERT_TRUE(std::equal(active[b].begin(), active[b].end(), solver.active(b).begin()));
      }
    }
    for (Qp& qp : batch.problems) qp.g += 0.01 * random.vector(4);
    batch.gather();
  }
}

TEST(QpBatch, StartsWarmUntilToldToForget) {
  Batch batch(9, 9, 500, 3);
  Answers answers(batch);
  QpBatch solver(9, 9, 500);
  const auto iterations = [&] {
    long sum = 0;
    for (int b = 0; b < 500; ++b)
      if (b % 7 == 0) sum += solver.reports()[b].iterations;  // strictly convex ones
    return sum;
  };
  solver.solve(batch.view(), answers.view());
  const long cold = iterations();
  solver.solve(batch.view(), answers.view());
  EXPECT_LT(iterations(), cold / 10);
  solver.forget();
  solver.solve(batch.view(), answers.view());
  EXPECT_EQ(iterations(), cold);
}

TEST(QpBatch, SharesArraysOfOneProblem) {
  Batch batch(3, 2, 200, 4);
  for (Qp& qp : batch.problems) {
    const VectorXd g = qp.g;
    qp = batch.problems[0];
    qp.g = g;
  }
  batch.gather();
  Answers all(batch), shared(batch);
  QpBatch a(3, 2, 200), b(3, 2, 200);
  a.solve(batch.view(), all.view());
  QpBatchProblem view = batch.view();
  view.P = view.P.first(9);
  view.C = view.C.first(6);
  view.lower = view.lower.first(3);
  view.upper = view.upper.first(3);
  view.row_lower = view.row_lower.first(2);
  view.row_upper = view.row_upper.first(2);
  b.solve(view, shared.view());
  EXPECT_TRUE(same_bits(all.x, shared.x) && same_bits(all.y, shared.y));
}

TEST(QpBatch, NoProblemsNoRows) {
  QpBatch none(3, 2, 0);
  EXPECT_EQ(none.solve({}, {}), 0);
  Batch batch(5, 0, 70, 5);
  Answers answers(batch);
  QpBatch solver(5, 0, 70);
  EXPECT_GE(solver.solve(batch.view(), {answers.x, {}, {}}), 50);
}

#ifdef SUPPLE_COUNT_ALLOCATIONS
TEST(QpBatch, DoesNotAllocate) {
  Batch batch(4, 4, 500, 6);
  Answers answers(batch);
  QpBatch solver(4, 4, 500, 2);
  const QpBatchProblem view = batch.view();
  const QpBatchSolution solution = answers.view();
  const long before = allocations;
  const int solved = solver.solve(view, solution);
  EXPECT_EQ(allocations, before);
  EXPECT_GT(solved, 300);
}
#endif

}  // namespace
}  // namespace supple

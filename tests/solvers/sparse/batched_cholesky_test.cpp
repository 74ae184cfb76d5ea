// Batches of matrices with one pattern against Eigen and the solver of one matrix.

#include "solvers/sparse/batched_cholesky.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include "solvers/sparse/backends.hpp"
#include "solvers/sparse/multifrontal.hpp"
#include "tests/devices.hpp"
#include "tests/solvers/sparse/grid_matrices.hpp"

namespace supple {
namespace {

using test::analysed, test::as_on_a_gpu, test::grid_pattern, test::positive_values;

struct Solution {
  std::vector<PivotStatus> status;
  std::vector<double> X;
  int factored;
  std::vector<int> negative = {};
};

Solution solved(const Device& device, const BatchForm& form, std::shared_ptr<const AssemblyTree> tree,
                const std::vector<double>& values, int robots, const std::vector<double>& right, int count) {
  const int nonzeros = tree->pattern.nonzeros();
  BatchedCholesky cholesky(device, std::make_shared<const BatchPlan>(std::move(tree), form), robots);
  Solution solution{std::vector<PivotStatus>(static_cast<std::size_t>(robots)), right, 0};
  const Array<double> A(device, std::span<const double>(values));
  Array<double> X(device, std::span<const double>(right));
  solution.factored = cholesky.factor(A.data(), nonzeros, sparse_singular_pivot, solution.status);
  solution.negative.assign(cholesky.negative_pivots().begin(), cholesky.negative_pivots().end());
  cholesky.solve(X.data(), count);
  X.download(solution.X);
  return solution;
}

std::vector<double> right_sides(std::size_t size) {
  test::Random random(11);
  std::vector<double> x(size);
  for (double& value : x) value = random.uniform();
  return x;
}

// |A x - b| / |b| of one robot and right-hand side.
double residual(const SymmetricPattern& pattern, const double* values, const double* x, const double* b) {
  Eigen::VectorXd product(pattern.n);
  multiply(pattern, values, x, product.data());
  const Eigen::Map<const Eigen::VectorXd> right(b, pattern.n);
  return (product - right).norm() / right.norm();
}

class BatchedFactors : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchedFactors, test::every_device(), test::device_name);

TEST_P(BatchedFactors, SolveManyRightHandSidesOfEveryRobot) {
  for (const auto& [nx, ny, nz] : {std::array{1, 1, 1}, {2, 1, 1}, {5, 4, 3}, {9, 8, 7}}) {
    const SymmetricPattern pattern = grid_pattern(nx, ny, nz);
    const auto tree = analysed(pattern);
    for (const int robots : {1, 3, 11})
      for (const int count : {1, 2, 6, 13}) {
        const std::vector<double> values = positive_values(pattern, robots);
        const std::vector<double> right = right_sides(static_cast<std::size_t>(robots * count * pattern.n));
        const Solution solution = solved(GetParam(), batch_form(GetParam()), tree, values, robots, right, count);
        EXPECT_EQ(solution.factored, robots);
        for (int k = 0; k < robots * count; ++k)
          // Well conditioned: rounding of some hundred additions.
          EXPECT_LT(residual(pattern, values.data() + k / count * pattern.nonzeros(), solution.X.data() + k * pattern.n,
                             right.data() + k * pattern.n),
                    1e-14);
      }
  }
}

TEST_P(BatchedFactors, AreTheSameBitsAloneAndInABatch) {
  const SymmetricPattern pattern = grid_pattern(6, 5, 4);
  const auto tree = analysed(pattern);
  const int robots = 37, count = 4;
  std::vector<double> values = positive_values(pattern, robots);
  for (const int b : {1, 20})  // indefinite: signs are taken along for neighbours too
    for (const int j : {0, 100, 359})
      values[static_cast<std::size_t>(b * pattern.nonzeros() + pattern.column_start[static_cast<std::size_t>(j)])] =
          -15;
  const std::vector<double> right = right_sides(static_cast<std::size_t>(robots * count * pattern.n));
  const Solution all = solved(GetParam(), batch_form(GetParam()), tree, values, robots, right, count);
  for (const int b : {0, 7, 20, 36}) {
    const auto part = [&](const std::vector<double>& list, int size) {
      return std::vector<double>(list.begin() + b * size, list.begin() + (b + 1) * size);
    };
    const Solution one = solved(GetParam(), batch_form(GetParam()), tree, part(values, pattern.nonzeros()), 1,
                                part(right, count * pattern.n), count);
    EXPECT_EQ(one.X, part(all.X, count * pattern.n)) << "robot " << b;
    EXPECT_EQ(all.negative[static_cast<std::size_t>(b)], b == 20 ? 3 : 0);
  }
}

TEST_P(BatchedFactors, NameRobotsWithoutAFactorAndLeaveTheOthersAlone) {
  const SymmetricPattern pattern = grid_pattern(6, 5, 4);
  const auto tree = analysed(pattern);
  const int robots = 19, count = 2;
  const std::vector<double> good = positive_values(pattern, robots);
  std::vector<double> values = good;
  const auto diagonal = [&](int b, int j) -> double& {
    return values[static_cast<std::size_t>(b * pattern.nonzeros() + pattern.column_start[j])];
  };
  diagonal(3, 100) = -15;                     // indefinite
  diagonal(9, 0) = diagonal(9, 359) = -1e30;  // in the first and the last column of A
  const auto first = std::ranges::find(tree->place, 0) - tree->place.begin();
  for (const int b : {5, 6}) diagonal(b, 3 * static_cast<int>(first)) = b == 5 ? 1e-9 : -1e-9;  // factors grow
  for (int j = 0; j < pattern.n; ++j)  // nothing holds one node
    for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k)
      if (j / 3 == 50 || pattern.row[k] / 3 == 50)
        values[static_cast<std::size_t>(12 * pattern.nonzeros() + k)] = j == pattern.row[k] && j % 3 < 2 ? 1.0 : 0.0;
  for (int k = 0; k < pattern.nonzeros(); ++k) values[18 * pattern.nonzeros() + k] = std::nan("");
  const std::vector<double> right = right_sides(static_cast<std::size_t>(robots * count * pattern.n));
  const Solution expected = solved(GetParam(), batch_form(GetParam()), tree, good, robots, right, count);
  const Solution solution = solved(GetParam(), batch_form(GetParam()), tree, values, robots, right, count);
  EXPECT_EQ(solution.factored, robots - 4);
  MultifrontalCholesky single;
  single.analyse(tree);
  for (int b = 0; b < robots; ++b) {
    const double* A = values.data() + b * pattern.nonzeros();
    EXPECT_EQ(solution.status[b], single.factor(A, sparse_singular_pivot, Definiteness::indefinite)) << b;
    const bool bad = b == 5 || b == 6 || b == 12 || b == 18, indefinite = b == 3 || b == 9;
    EXPECT_EQ(solution.status[b] != PivotStatus::ok, bad);
    if (!bad) {
      EXPECT_EQ(solution.negative[b], b == 3 ? 1 : b == 9 ? 2 : 0);
    }
    for (int k = b * count; k < (b + 1) * count; ++k) {
      const double *x = solution.X.data() + k * pattern.n, *rhs = right.data() + k * pattern.n;
      // Some roundings: no factor here grows.
      if (indefinite) {
        EXPECT_LT(backward_error(pattern, A, x, rhs), 1e-15) << b;
      }
      for (int i = 0; i < pattern.n && !indefinite; ++i)
        ASSERT_EQ(x[i], bad ? rhs[i] : expected.X[k * pattern.n + i]) << "robot " << b;
    }
  }
  EXPECT_EQ(solution.status[5], PivotStatus::negative);
  EXPECT_EQ(solution.status[12], PivotStatus::vanished);
}

TEST_P(BatchedFactors, FactorAgainAfterAFailure) {
  const SymmetricPattern pattern = grid_pattern(4, 3, 3);
  const auto plan = std::make_shared<const BatchPlan>(analysed(pattern), batch_form(GetParam()));
  const std::vector<double> good = positive_values(pattern, 2);
  std::vector<double> bad = good;
  bad[0] = std::nan("");
  BatchedCholesky cholesky(GetParam(), plan, 2);
  std::vector<PivotStatus> status(2);
  const Array<double> A(GetParam(), std::span<const double>(bad)), B(GetParam(), std::span<const double>(good));
  EXPECT_EQ(cholesky.factor(A.data(), pattern.nonzeros(), 0, status), 1);
  EXPECT_EQ(status[0], PivotStatus::negative);
  EXPECT_EQ(cholesky.factor(B.data(), pattern.nonzeros(), 0, status), 2);
  EXPECT_EQ(status[0], PivotStatus::ok);
}

TEST_P(BatchedFactors, AnEmptyBatchIsNoWork) {
  const auto plan = std::make_shared<const BatchPlan>(analysed(grid_pattern(3, 2, 2)), batch_form(GetParam()));
  BatchedCholesky cholesky(GetParam(), plan, 0);
  EXPECT_EQ(cholesky.factor(nullptr, 0, 0, {}), 0);
  cholesky.solve(nullptr, 5);
  EXPECT_EQ(cholesky.bytes(), plan->bytes(0));
}

TEST_P(BatchedFactors, TakeTheMemoryThatWasPlanned) {
  const auto plan = std::make_shared<const BatchPlan>(analysed(grid_pattern(6, 5, 4)), batch_form(GetParam()));
  const int lanes = plan->form().lanes;
  for (const int robots : {1, lanes, lanes + 1})
    EXPECT_EQ(BatchedCholesky(GetParam(), plan, robots).bytes(), plan->bytes(robots));
  EXPECT_EQ(plan->bytes(1), plan->bytes(lanes));  // whole groups
  EXPECT_EQ(plan->robots_within(plan->bytes(1) - 1), 0);
  EXPECT_EQ(plan->robots_within(plan->bytes(1)), lanes);
  EXPECT_EQ(plan->robots_within(plan->bytes(3 * lanes)), 3 * lanes);
  EXPECT_EQ(plan->robots_within(plan->bytes(3 * lanes) - 1), 2 * lanes);
}

// What a GPU runs, level by level and robot by robot, on this CPU.
TEST(BatchedFactorsAsOnAGpu, AreThoseOfRegisters) {
  const SymmetricPattern pattern = grid_pattern(7, 6, 5);
  const auto tree = analysed(pattern);
  const int robots = 35, count = 7;
  std::vector<double> values = positive_values(pattern, robots);
  values[static_cast<std::size_t>(33 * pattern.nonzeros())] = -1;
  // Singular in one front and negative in others: the first in the order of elimination counts, whoever is looked at
  // first.
  for (int j = 0; j < pattern.n; j += 3)
    values[static_cast<std::size_t>(5 * pattern.nonzeros() + pattern.column_start[j])] = j % 2 == 0 ? -15 : 0;
  const std::vector<double> right = right_sides(static_cast<std::size_t>(robots * count * pattern.n));
  const auto by = [&](const BatchForm& form) { return solved(cpu(), form, tree, values, robots, right, count); };
  const int width = Pack<double>::width;
  const Solution registers = by({FrontOrder::by_fronts, width, true}), scalar = by(as_on_a_gpu);
  EXPECT_EQ(registers.factored, robots - 1);
  EXPECT_EQ(registers.negative[33], 1);
  EXPECT_EQ(registers.negative, scalar.negative);
  EXPECT_EQ(registers.status, scalar.status);
  MultifrontalCholesky single;
  single.analyse(tree);
  EXPECT_EQ(scalar.status[5],
            single.factor(values.data() + 5 * pattern.nonzeros(), sparse_singular_pivot, Definiteness::indefinite));
  // The order of the fronts changes no bit, nor does the number of lanes.
  EXPECT_EQ(registers.X, by({FrontOrder::by_levels, width, true}).X);
  EXPECT_EQ(scalar.X, by({FrontOrder::by_fronts, 5, false}).X);
  // Which products and sums become one operation is the compiler's choice, for registers another than for scalars.
  // Solutions are of the size of one tenth.
  for (std::size_t i = 0; i < right.size(); ++i) ASSERT_NEAR(registers.X[i], scalar.X[i], 1e-15) << i;
}

TEST(BatchedFactorsAsOnAGpu, PlanOfTheGpuHoldsItsMemory) {
  const BatchPlan plan(analysed(grid_pattern(6, 5, 4)), batch_form(cuda(0)));
  EXPECT_EQ(plan.form().lanes, 32);
  EXPECT_EQ(plan.robots_within(plan.bytes(64)), 64);
}

TEST(BatchedFactorsOnThreads, AreTheSameBits) {
  const SymmetricPattern pattern = grid_pattern(6, 5, 4);
  const auto tree = analysed(pattern);
  const int robots = 41, count = 3, before = omp_get_max_threads();
  const std::vector<double> values = positive_values(pattern, robots);
  const std::vector<double> right = right_sides(static_cast<std::size_t>(robots * count * pattern.n));
  for (const BatchForm& form : {batch_form(cpu()), as_on_a_gpu}) {
    std::vector<std::vector<double>> answers;
    for (const int threads : {1, 2, 8}) {
      omp_set_num_threads(threads);
      answers.push_back(solved(cpu(), form, tree, values, robots, right, count).X);
    }
    omp_set_num_threads(before);
    for (const auto& answer : answers) EXPECT_TRUE(answer == answers.front());
  }
}

}  // namespace
}  // namespace supple

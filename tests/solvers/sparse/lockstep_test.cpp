// Robots with algorithms of their own that share a batched factorisation.

#include "solvers/sparse/lockstep.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <stdexcept>

#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/solvers/sparse/grid_matrices.hpp"

namespace supple {
namespace {

using test::analysed, test::as_on_a_gpu, test::grid_pattern, test::positive_values;

const SymmetricPattern pattern = grid_pattern(5, 4, 3);

std::vector<double> right_sides(int robot, int round, int count) {
  test::Random random(static_cast<std::uint64_t>(100 * robot + round));
  std::vector<double> x(extent(count, pattern.n));
  for (double& value : x) value = random.uniform();
  return x;
}

// Robot b: b + 1 rounds of a factorisation and solutions of 1 + b % 8 and of one right-hand side. Its solutions.
std::vector<double> rounds(SparseDirect& solver, int b, const double* values) {
  solver.analyse(pattern, Definiteness::indefinite);
  std::vector<double> matrix(values, values + pattern.nonzeros()), all;
  for (int round = 0; round <= b; ++round) {
    for (int j = 0; j < pattern.n; ++j) matrix[extent(pattern.column_start[extent(j)])] += 0.5;
    const FactorReport report = solver.factor(matrix.data());
    EXPECT_EQ(report.status, FactorStatus::ok);
    for (const int count : {1 + b % 8, 1}) {
      std::vector<double> x = right_sides(b, round, count);
      solver.solve(x.data(), count);
      for (int k = 0; k < count; ++k) {
        Eigen::VectorXd product(pattern.n);
        multiply(pattern, matrix.data(), x.data() + extent(k, pattern.n), product.data());
        const std::vector<double> b_all = right_sides(b, round, count);
        const Eigen::Map<const Eigen::VectorXd> right(b_all.data() + extent(k, pattern.n), pattern.n);
        // Well conditioned: rounding of some hundred additions.
        EXPECT_LT((product - right).norm(), 1e-13 * right.norm());
      }
      all.insert(all.end(), x.begin(), x.end());
    }
  }
  return all;
}

class LockstepOnDevice : public test::OnDevice {
 protected:
  std::shared_ptr<const BatchPlan> plan(const BatchForm& form) const {
    return std::make_shared<const BatchPlan>(analysed(pattern), form);
  }
  // Solutions of `robots` robots, from number `first` on.
  std::vector<std::vector<double>> solutions(const BatchForm& form, const std::vector<double>& values, int first,
                                             int robots) const {
    Lockstep lockstep(GetParam(), plan(form), robots);
    std::vector<std::vector<double>> all(extent(robots));
    lockstep.run([&](int slot) {
      const int b = first + slot;
      all[extent(slot)] = rounds(*lockstep.solver(slot), b, values.data() + extent(b, pattern.nonzeros()));
    });
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, LockstepOnDevice, test::every_device(), test::device_name);

TEST_P(LockstepOnDevice, RobotsGetTheSameBitsAloneAndTogether) {
  const int robots = 11, most = omp_get_max_threads();
  const std::vector<double> values = positive_values(pattern, robots);
  const BatchForm form = batch_form(GetParam());
  const auto together = solutions(form, values, 0, robots);
  omp_set_num_threads(5);
  const auto threads = solutions(form, values, 0, robots);
  omp_set_num_threads(most);
  EXPECT_EQ(threads, together);
  for (const int b : {0, 4, 10}) EXPECT_EQ(solutions(form, values, b, 1).front(), together[extent(b)]) << b;
  if (GetParam().kind != Device::Kind::cpu) return;
  // Which products and sums become one operation differs between registers and scalars.
  const auto gpu = solutions(as_on_a_gpu, values, 0, robots);
  for (int b = 0; b < robots; ++b)
    for (std::size_t i = 0; i < gpu[extent(b)].size(); ++i)
      ASSERT_NEAR(gpu[extent(b)][i], together[extent(b)][i], 1e-15) << b;
  EXPECT_EQ(solutions(as_on_a_gpu, values, 10, 1).front(), gpu.back());
}

// The last two unknowns are coupled to each other alone.
struct LastPair {
  double a, coupling, b;  // [a, coupling; coupling, b]
  FactorStatus of_positive, of_indefinite;
};

TEST_P(LockstepOnDevice, OthersGoOnBesideAMatrixThatIsNotPositive) {
  const int robots = 5, bad = 2;
  std::vector<double> values = positive_values(pattern, robots);
  const auto before = solutions(batch_form(GetParam()), values, 0, robots);
  double* own = values.data() + extent(bad, pattern.nonzeros());
  const LastPair pairs[] = {{1, 0, -2, FactorStatus::not_positive, FactorStatus::ok},
                            {1, 0, 0, FactorStatus::singular, FactorStatus::singular},
                            // Factors without pivoting grow: another solver has this one.
                            {1e-9, 1, 1, FactorStatus::not_positive, FactorStatus::ok}};
  for (const LastPair& pair : pairs) {
    const int last = pattern.n - 1;
    for (int j = 0; j < pattern.n; ++j)
      for (int k = pattern.column_start[extent(j)]; k < pattern.column_start[extent(j) + 1]; ++k)
        if (const int row = pattern.row[extent(k)]; row >= last - 1)
          own[k] = j == last ? pair.b : j < last - 1 ? 0 : row == last ? pair.coupling : pair.a;
    Lockstep lockstep(GetParam(), plan(batch_form(GetParam())), robots);
    lockstep.run([&](int b) {
      const auto solver = lockstep.solver(b);
      if (b != bad) {
        EXPECT_EQ(rounds(*solver, b, values.data() + extent(b, pattern.nonzeros())), before[extent(b)]);
        return;
      }
      solver->analyse(pattern, Definiteness::positive);
      EXPECT_EQ(solver->factor(own).status, pair.of_positive);
      solver->analyse(pattern, Definiteness::indefinite);
      const FactorReport report = solver->factor(own);
      EXPECT_EQ(report.status, pair.of_indefinite);
      if (report.status != FactorStatus::ok) return;
      EXPECT_EQ(report.negative_pivots, 1);
      std::vector<double> x(extent(pattern.n));
      x.back() = 1;
      solver->solve(x.data());
      const double determinant = pair.a * pair.b - pair.coupling * pair.coupling;
      EXPECT_NEAR(x.back(), pair.a / determinant, 1e-14);
      EXPECT_NEAR(x[extent(last - 1)], -pair.coupling / determinant, 1e-14);
    });
  }
}

// Robot b meets b + 1 times and factors once: all that wait are served at a time, before anything is factored.
TEST_P(LockstepOnDevice, SharedWorkIsDoneForAllThatWaitForIt) {
  const int robots = 4;
  const std::vector<double> values = positive_values(pattern, robots);
  Lockstep lockstep(GetParam(), plan(batch_form(GetParam())), robots);
  std::vector<int> served(extent(robots), 0), factored(extent(robots), 0);
  std::vector<std::vector<int>> calls;
  lockstep.share([&](std::span<const int> slots) {
    calls.emplace_back(slots.begin(), slots.end());
    for (const int slot : slots) ++served[extent(slot)];
    EXPECT_EQ(factored, std::vector<int>(extent(robots), 0));
  });
  lockstep.run([&](int b) {
    for (int k = 0; k <= b; ++k) {
      lockstep.meet(b);
      EXPECT_EQ(served[extent(b)], k + 1);
    }
    const auto solver = lockstep.solver(b);
    solver->analyse(pattern, Definiteness::positive);
    EXPECT_EQ(solver->factor(values.data() + extent(b, pattern.nonzeros())).status, FactorStatus::ok);
    factored[extent(b)] = 1;
  });
  EXPECT_EQ(calls, (std::vector<std::vector<int>>{{0, 1, 2, 3}, {1, 2, 3}, {2, 3}, {3}}));
  EXPECT_EQ(factored, std::vector<int>(extent(robots), 1));
  lockstep.share([](std::span<const int>) { throw std::runtime_error("no memory"); });
  EXPECT_THROW(lockstep.run([&](int b) {
    lockstep.meet(b);
    factored[extent(b)] = 2;
  }),
               std::runtime_error);
  EXPECT_EQ(factored, std::vector<int>(extent(robots), 1));
}

TEST_P(LockstepOnDevice, TheFirstExceptionEndsAll) {
  const int robots = 4;
  const std::vector<double> values = positive_values(pattern, robots);
  Lockstep lockstep(GetParam(), plan(batch_form(GetParam())), robots);
  std::vector<int> finished(extent(robots), 0);
  const auto work = [&](int last) {
    lockstep.run([&](int b) {
      const auto solver = lockstep.solver(b);
      solver->analyse(pattern, Definiteness::positive);
      for (int k = 0; k < 10; ++k) {
        (void)solver->factor(values.data() + extent(b, pattern.nonzeros()));
        if (b == 1 && k == last) throw std::runtime_error("the disk is full");
      }
      finished[extent(b)] = 1;
    });
  };
  EXPECT_THROW(work(3), std::runtime_error);
  EXPECT_EQ(finished, std::vector<int>(extent(robots), 0));
  work(10);  // and can be used again
  EXPECT_EQ(finished, std::vector<int>(extent(robots), 1));
}

TEST_P(LockstepOnDevice, NoRobotsAreNoWork) {
  Lockstep lockstep(GetParam(), plan(batch_form(GetParam())), 0);
  lockstep.run([](int) { FAIL(); });
}

}  // namespace
}  // namespace supple

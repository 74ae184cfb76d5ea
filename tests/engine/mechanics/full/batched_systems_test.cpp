// Batches of the matrices that full models give (solvers/sparse/batched_cholesky.hpp), against the solver of one matrix
// and MUMPS: meshes in assets/, solids, membranes, rows whose curvature couples nodes.

#include "solvers/sparse/batched_cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/sparse/backends.hpp"
#include "solvers/sparse/multifrontal.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/full_systems.hpp"

namespace supple {
namespace {

constexpr int robots = 3, right_sides = 7;

struct Robotic {
  const char* name;
  const char* scene;
  double strain = 0.2;
};
void PrintTo(const Robotic& robot, std::ostream* out) {
  *out << robot.name;
}

const Robotic coarse[] = {{"diamond", "diamond/scene.toml"},      {"mooney_rivlin", "diamond/mooney_rivlin.toml", 0.05},
                          {"bricks", "cantilever/scene.toml"},    {"tetrahedra", "cantilever/tetrahedra.toml"},
                          {"propped", "cantilever/propped.toml"}, {"finger", "finger/scene.toml"},
                          {"multigait", "multigait/scene.toml"},  {"pneumatic_finger", "pneumatic_finger/scene.toml"},
                          {"tentacle", "tentacle/scene.toml"},    {"sliding_tentacle", "tentacle/sliding.toml"}};
const Robotic fine[] = {{"diamond", "diamond/fine.toml"},
                        {"bricks", "cantilever/fine.toml"},
                        {"multigait", "multigait/fine.toml"},
                        {"pneumatic_finger", "pneumatic_finger/fine.toml"},
                        {"tentacle", "tentacle/fine.toml"}};

test::FullSystems systems_of(const Robotic& robot, TangentKind tangent, double strain) {
  return test::full_systems(std::string(SUPPLE_SOURCE_DIR "/assets/") + robot.scene, robots, right_sides, tangent,
                            strain);
}

double norm(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

// |A x - b| / |b|, the largest of the right-hand sides of a robot.
double residual(const test::FullSystems& systems, int robot, const double* X) {
  const int n = systems.pattern.n;
  std::vector<double> product(static_cast<std::size_t>(n));
  double largest = 0;
  for (int c = 0; c < right_sides; ++c) {
    const double* b = systems.right.data() + (static_cast<std::ptrdiff_t>(robot) * right_sides + c) * n;
    multiply(systems.pattern, systems.values.data() + static_cast<std::ptrdiff_t>(robot) * systems.pattern.nonzeros(),
             X + static_cast<std::ptrdiff_t>(c) * n, product.data());
    for (int i = 0; i < n; ++i) product[static_cast<std::size_t>(i)] -= b[i];
    largest = std::max(largest, norm(product.data(), n) / norm(b, n));
  }
  return largest;
}

struct Answer {
  std::vector<PivotStatus> status = std::vector<PivotStatus>(robots);
  std::vector<double> X;
};

Answer in_a_batch(const Device& device, std::shared_ptr<const AssemblyTree> tree, const test::FullSystems& systems) {
  Answer answer;
  BatchedCholesky cholesky(device, std::make_shared<const BatchPlan>(std::move(tree), batch_form(device)), robots);
  const Array<double> values(device, std::span<const double>(systems.values));
  Array<double> X(device, std::span<const double>(systems.right));
  cholesky.factor(values.data(), systems.pattern.nonzeros(), sparse_singular_pivot, answer.status);
  cholesky.solve(X.data(), right_sides);
  answer.X.resize(systems.right.size());
  X.download(answer.X);
  return answer;
}

void expect_solved(const Device& device, const Robotic& robot) {
  const test::FullSystems systems = systems_of(robot, TangentKind::safe, robot.strain);
  const auto tree = std::make_shared<const AssemblyTree>(assembly_tree(systems.pattern));
  const Answer answer = in_a_batch(device, tree, systems);
  const auto reference = have_mumps() ? make_sparse_mumps() : make_sparse_cholesky();
  reference->analyse(systems.pattern, Definiteness::positive);
  const std::ptrdiff_t numbers = static_cast<std::ptrdiff_t>(right_sides) * systems.pattern.n;
  for (int b = 0; b < robots; ++b) {
    ASSERT_EQ(answer.status[static_cast<std::size_t>(b)], PivotStatus::ok) << "robot " << b;
    std::vector<double> x(systems.right.begin() + b * numbers, systems.right.begin() + (b + 1) * numbers);
    const auto report =
        reference->factor(systems.values.data() + static_cast<std::ptrdiff_t>(b) * systems.pattern.nonzeros());
    ASSERT_EQ(report.status, FactorStatus::ok);
    reference->solve(x.data(), right_sides);
    const double mine = residual(systems, b, answer.X.data() + b * numbers), theirs = residual(systems, b, x.data());
    double difference = 0;
    for (std::ptrdiff_t i = 0; i < numbers; ++i)
      difference += (x[static_cast<std::size_t>(i)] - answer.X[static_cast<std::size_t>(b * numbers + i)]) *
                    (x[static_cast<std::size_t>(i)] - answer.X[static_cast<std::size_t>(b * numbers + i)]);
    difference = std::sqrt(difference) / norm(x.data(), static_cast<int>(numbers));
    // The matrices' condition decides (slender bodies of nearly incompressible material): 3e-13 to 9e-12 on the coarse
    // meshes, up to 2e-11 on the fine ones, 1 to 1.6 times MUMPS's.
    EXPECT_LT(mine, 1e-10) << "robot " << b;
    EXPECT_LT(mine, 3 * theirs) << "robot " << b << ", by " << reference->name();
    EXPECT_LT(difference, 1e-10) << "robot " << b;
  }
}

class BatchedSystems : public testing::TestWithParam<std::tuple<Device, Robotic>> {
 protected:
  void SetUp() override { test::need_device(std::get<0>(GetParam())); }
};
class LongBatchedSystems : public BatchedSystems {};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, Robotic>>& info) {
  return std::string(std::get<1>(info.param).name) + (std::get<0>(info.param) == cpu() ? "_cpu" : "_cuda");
}
INSTANTIATE_TEST_SUITE_P(Assets, BatchedSystems, testing::Combine(test::every_device(), testing::ValuesIn(coarse)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Assets, LongBatchedSystems, testing::Combine(test::every_device(), testing::ValuesIn(fine)),
                         name_of);

TEST_P(BatchedSystems, AreSolvedAsByMumps) {
  expect_solved(std::get<0>(GetParam()), std::get<1>(GetParam()));
}
TEST_P(LongBatchedSystems, AreSolvedAsByMumps) {
  expect_solved(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

class BatchedTangents : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchedTangents, test::every_device(), test::device_name);

// The exact tangent of a strained robot is not positive: its neighbours do not see it.
TEST_P(BatchedTangents, OneThatIsIndefiniteLeavesTheOthersAlone) {
  const test::FullSystems good = systems_of(coarse[0], TangentKind::safe, 0.2);
  const test::FullSystems exact = systems_of(coarse[0], TangentKind::exact, 0.6);
  const auto tree = std::make_shared<const AssemblyTree>(assembly_tree(good.pattern));
  test::FullSystems mixed = good;
  const std::ptrdiff_t nonzeros = good.pattern.nonzeros();
  std::copy(exact.values.begin() + nonzeros, exact.values.begin() + 2 * nonzeros, mixed.values.begin() + nonzeros);
  const Answer answer = in_a_batch(GetParam(), tree, mixed), expected = in_a_batch(GetParam(), tree, good);
  MultifrontalCholesky single;
  single.analyse(tree);
  EXPECT_EQ(single.factor(mixed.values.data() + nonzeros, sparse_singular_pivot), PivotStatus::negative);
  EXPECT_EQ(answer.status, (std::vector{PivotStatus::ok, PivotStatus::ok, PivotStatus::ok}));
  const std::ptrdiff_t numbers = static_cast<std::ptrdiff_t>(right_sides) * good.pattern.n;
  for (std::ptrdiff_t i = 0; i < robots * numbers; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (i / numbers == 1) continue;
    ASSERT_EQ(answer.X[k], expected.X[k]) << "robot " << i / numbers;
  }
  for (int c = 0; c < right_sides; ++c) {
    const std::ptrdiff_t at = numbers + static_cast<std::ptrdiff_t>(c) * good.pattern.n;
    EXPECT_LT(
        backward_error(good.pattern, mixed.values.data() + nonzeros, answer.X.data() + at, mixed.right.data() + at),
        1e-14);
  }
}

}  // namespace
}  // namespace supple

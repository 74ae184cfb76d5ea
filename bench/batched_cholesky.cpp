// Factor and solve the systems of B deformed robots of one scene: in a batch (solvers/sparse/batched_cholesky.hpp), and
// one after another by the solver of one matrix and by MUMPS, in turn. One thread, unless OMP_NUM_THREADS says more.
//   batched_cholesky SCENE.toml [ROUNDS] [RIGHT_SIDES] [DEVICE]      5 rounds, 5 right-hand sides, cpu
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "kernels/array/array.hpp"
#include "kernels/base/error.hpp"
#include "solvers/sparse/backends.hpp"
#include "solvers/sparse/batched_cholesky.hpp"
#include "solvers/sparse/multifrontal.hpp"
#include "tests/engine/bodies/full_systems.hpp"

namespace supple {
namespace {

constexpr int batches[] = {1, 4, 8, 16};

// Processor time on a CPU, so that other programs matter less; time on the wall on a GPU.
double now(const Device& device) {
  timespec time{};
  clock_gettime(device.kind == Device::Kind::cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_of(const Device& device, const auto& work) {
  const double begin = now(device);
  work();
  return now(device) - begin;
}

struct Times {
  std::vector<double> factor, solve;
  // ms a robot
  void print(const char* name, int robots) {
    const auto median = [&](std::vector<double>& list) {
      std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
      return 1e3 * list[list.size() / 2] / robots;
    };
    fmt::print("  {:<12} {:9.2f} {:9.2f}", name, median(factor), median(solve));
  }
};

void print_plan(const BatchPlan& plan, const char* where) {
  double flop = 0;  // two for a multiply-add: sum of the squares of the factor's column lengths
  for (const BatchFront& front : plan.fronts)
    for (int k = 0; k < 3 * front.own; ++k) flop += 1.0 * (3 * front.rows - k) * (3 * front.rows - k);
  const FrontSchedule& schedule = plan.schedule;
  const int lanes = plan.form().lanes;
  fmt::print(
      "{}: {:.2f} Gflop a factor; factor {:.2f}, updates {:.2f} million entries a robot; steps: {} factor, {} + {} "
      "solve; "
      "{:.1f} MB shared, {:.1f} MB a robot, {} robots in 80 GB\n",
      where, 1e-9 * flop, 9e-6 * static_cast<double>(plan.factor_tiles), 9e-6 * static_cast<double>(plan.update_tiles),
      schedule.factor.size(), schedule.forward.size(), schedule.backward.size(),
      1e-6 * static_cast<double>(plan.bytes(0)), 1e-6 * static_cast<double>(plan.bytes(lanes) - plan.bytes(0)) / lanes,
      plan.robots_within(80'000'000'000));
}

int run(const std::string& scene, int rounds, int count, const Device& device) {
  const int most = *std::max_element(std::begin(batches), std::end(batches));
  const test::FullSystems systems = test::full_systems(scene, most, count, TangentKind::safe, 0.2);
  const auto tree = std::make_shared<const AssemblyTree>(assembly_tree(systems.pattern));
  const auto plan = std::make_shared<const BatchPlan>(tree, batch_form(device));
  const std::ptrdiff_t nonzeros = systems.pattern.nonzeros(),
                       numbers = static_cast<std::ptrdiff_t>(count) * systems.pattern.n;
  MultifrontalCholesky single;
  single.analyse(tree);
  const auto mumps = make_sparse_pivoting();
  mumps->analyse(systems.pattern, Definiteness::positive);
  fmt::print("{}: {} unknowns, {} right-hand sides, {} rounds; ms a robot\n", scene, systems.pattern.n, count, rounds);
  print_plan(*plan, "here");
  if (device.kind == Device::Kind::cpu) print_plan({tree, batch_form(cuda(0))}, "on a GPU");
  const Array<double> values(device, std::span<const double>(systems.values));
  Array<double> X(device, std::span<const double>(systems.right));
  for (const int robots : batches) {
    BatchedCholesky batch(device, plan, robots);
    std::vector<PivotStatus> status(static_cast<std::size_t>(robots));
    Times of_batch, of_single, of_mumps;
    std::vector<double> x(static_cast<std::size_t>(numbers));
    const auto one_by_one = [&](Times& times, const auto& factor, const auto& solve) {
      double factored = 0, solved = 0;
      for (int b = 0; b < robots; ++b) {
        std::copy_n(systems.right.begin() + b * numbers, numbers, x.begin());
        factored += seconds_of(device, [&] { factor(systems.values.data() + b * nonzeros); });
        solved += seconds_of(device, [&] { solve(x.data()); });
      }
      times.factor.push_back(factored);
      times.solve.push_back(solved);
    };
    for (int round = -1; round < rounds; ++round) {
      X.upload(systems.right);
      of_batch.factor.push_back(seconds_of(device, [&] {
        if (batch.factor(values.data(), nonzeros, sparse_singular_pivot, status) != robots)
          throw RunError("a matrix is not positive definite", "less strain");
        synchronize(device);
      }));
      of_batch.solve.push_back(seconds_of(device, [&] {
        batch.solve(X.data(), count);
        synchronize(device);
      }));
      one_by_one(
          of_single, [&](const double* A) { static_cast<void>(single.factor(A, sparse_singular_pivot)); },
          [&](double* b) { single.solve(b, count); });
      one_by_one(
          of_mumps, [&](const double* A) { static_cast<void>(mumps->factor(A)); },
          [&](double* b) { mumps->solve(b, count); });
      if (round < 0) of_batch = of_single = of_mumps = {};  // memory touched for the first time
    }
    fmt::print("B = {:<3}", robots);
    of_batch.print("batch", robots);
    of_single.print("one by one", robots);
    of_mumps.print(mumps->name().c_str(), robots);
    fmt::print("   batch: {:.0f} MB\n", 1e-6 * static_cast<double>(batch.bytes()));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace supple

int main(int count, char** arguments) {
  using namespace supple;
  const auto number = [&](int k, int otherwise) {
    if (k >= count) return otherwise;
    const std::string_view text = arguments[k];
    int value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() ? value : 0;
  };
  const int rounds = number(2, 5), right_sides = number(3, 5);
  if (count < 2 || count > 5 || rounds < 1 || right_sides < 1) {
    fmt::print(stderr, "usage: batched_cholesky SCENE.toml [ROUNDS] [RIGHT_SIDES] [DEVICE]\n");
    return 2;
  }
  try {
    return run(arguments[1], rounds, right_sides, parse_device(count > 4 ? arguments[4] : "cpu"));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "batched_cholesky: {}\n", failure.what());
    return 1;
  }
}

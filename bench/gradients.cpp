// What does the gradient of a run cost, and how exact is it? A reduced robot along a smooth random path; the scalar is the
// mean square of the way of its mapped points at the end, by all commands, the start, gravity and moduli. Runs and
// gradients in turn; beside them central differences along one random direction of the commands.
//   gradients MODEL.supple... [STEPS]     1000 steps
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <random>
#include <string_view>

#include "engine/derivative/rollout.hpp"
#include "engine/io/model_file.hpp"
#include "engine/reduction/validate.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

constexpr std::uint64_t path_seed = 30;
constexpr int rounds = 5;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(const std::string& file, int steps) {
  const auto model = std::make_shared<const ReducedModel>(read_model(file));
  Rollout rollout(model, 1);
  ReducedMechanics mechanics(*model);
  PathCommands path(mechanics, path_seed);
  std::vector<double> commands;
  for (int step = 0; step < steps; ++step) {
    const std::vector<double>& now = path.at(step).commands;
    commands.insert(commands.end(), now.begin(), now.end());
  }
  const int n = model->modes, outputs = model->robot.outputs();
  // L^T L q of the last state, and half of q^T L^T L q.
  const auto way = [&](const RolloutRecord& record, std::vector<double>& gradient) {
    const double* q = record.q.data() + extent(record.steps, n);
    gradient.assign(record.q.size(), 0.0);
    double sum = 0;
    for (int i = 0; i < outputs; ++i) {
      const double* row = model->outputs.data() + extent(i, n);
      double y = 0;
      for (int j = 0; j < n; ++j) y += row[j] * q[j];
      sum += 0.5 * y * y;
      for (int j = 0; j < n; ++j) gradient[extent(record.steps, n) + extent(j)] += y * row[j];
    }
    return sum;
  };
  std::vector<double> forward, both, dq;
  RolloutGradient gradient;
  const auto seconds = [](const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (int round = 0; round < rounds; ++round) {
    forward.push_back(seconds([&] { (void)rollout.run(commands, {}, {}); }));
    both.push_back(seconds([&] {
      (void)way(rollout.run(commands, {}, {}), dq);
      gradient = rollout.pull_back({.q = dq});
    }));
  }
  std::mt19937_64 random(1);
  std::vector<double> direction(commands.size());
  for (std::size_t k = 0; k < direction.size(); ++k) {
    const Interval range = model->robot.actuators[k % model->robot.actuators.size()].range;
    direction[k] = (range.upper - range.lower) * (static_cast<double>(random() >> 11) / 4503599627370496.0 - 1);
  }
  const auto value = [&](double s) {
    std::vector<double> moved = commands;
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += s * direction[k];
    std::vector<double> unused;
    return way(rollout.run(moved, {}, {}), unused);
  };
  double product = 0;
  for (std::size_t k = 0; k < direction.size(); ++k) product += gradient.commands[k] * direction[k];
  fmt::print("{}: {} modes, {} steps: run {:.1f} ms ({:.1f} us a step), run and gradient {:.1f} ms, {:.2f} times\n",
             file, n, steps, 1e3 * median(forward), 1e6 * median(forward) / steps, 1e3 * median(both),
             median(both) / median(forward));
  for (const double s : {1e-4, 1e-5, 1e-6}) {
    const double slope = (value(s) - value(-s)) / (2 * s);
    fmt::print("  along commands: {:.10e}, by differences of {:.0e} of the ranges {:.10e}: {:.1e} apart\n", product, s,
               slope, std::abs(product - slope) / std::abs(slope));
  }
}

}  // namespace
}  // namespace supple

int main(int argc, char** argv) {
  try {
    int steps = 1000;
    for (int k = 1; k < argc; ++k) {
      const std::string_view word = argv[k];
      std::from_chars(word.data(), word.data() + word.size(), steps);
    }
    for (int k = 1; k < argc; ++k)
      if (std::string_view(argv[k]).find_first_not_of("0123456789") != std::string_view::npos)
        supple::measure(argv[k], steps);
  } catch (const supple::Error& error) {
    fmt::print(stderr, "{}\n", error.report());
    return error.exit_code();
  }
  return 0;
}

#include "engine/reduction/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace supple {

namespace {

// Uniform in [0, 1): the top 53 bits.
double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

// The last of `steps` increments is `to` to the last bit.
void ramp(const Sample& from, const Sample& to, int steps, SamplePath& path) {
  for (int step = 1; step <= steps; ++step) {
    Sample sample = to;
    if (step < steps)
      for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = from[i] + step * (to[i] - from[i]) / steps;
    path.samples.push_back(std::move(sample));
  }
}

double at(const Interval& range, double fraction) {
  return range.lower + fraction * (range.upper - range.lower);
}

// Samples of a path of this length: short enough to lose little when killed, long enough for continuation to pay.
constexpr int path_length = 8;
// 64 corners. A hypercube alone leaves them to extrapolation, released actuators (the state at rest) among them. Where
// an input goes both ways, that state is no corner and comes on its own.
constexpr std::size_t most_corner_inputs = 6;

// Whether equilibria are the same, carried along, for every value of a rigid motion.
bool moves_all_of_its_world(const Robot& robot, const MotionInput& motion) {
  return motion.rigid && std::none_of(robot.actuators.begin(), robot.actuators.end(), [&](const ActuatorRow& row) {
           return row.pull_point || (row.kind == ActuatorKind::force && row.control == ActuatorControl::displacement);
         });
}

}  // namespace

std::vector<InputRange> input_ranges(const Robot& robot) {
  std::vector<InputRange> inputs;
  for (const ActuatorRow& actuator : robot.actuators) inputs.push_back({actuator.range, actuator.samples});
  for (const MotionInput& motion : robot.motions) inputs.push_back({motion.range});
  return inputs;
}

std::vector<InputRange> training_ranges(const Robot& robot) {
  std::vector<InputRange> inputs = input_ranges(robot);
  for (std::size_t m = 0; m < robot.motions.size(); ++m) {
    const MotionInput& motion = robot.motions[m];
    if (moves_all_of_its_world(robot, motion)) inputs[robot.actuators.size() + m] = {{motion.rest(), motion.rest()}, 1};
  }
  return inputs;
}

Control control_of(const Robot& robot, const Sample& sample) {
  const auto motions = sample.begin() + static_cast<std::ptrdiff_t>(robot.actuators.size());
  return {{sample.begin(), motions}, {motions, sample.end()}};
}

double grid_size(const Robot& robot) {
  double size = 1;
  for (const InputRange& input : training_ranges(robot)) size *= input.samples;
  return size;
}

Sample released_sample(const Robot& robot) {
  Sample sample;
  for (const ActuatorRow& actuator : robot.actuators)
    sample.push_back(std::clamp(0.0, actuator.range.lower, actuator.range.upper));
  for (const MotionInput& motion : robot.motions) sample.push_back(motion.rest());
  return sample;
}

std::vector<Sample> gray_grid(const Robot& robot) {
  // Reflected mixed-radix Gray code: each digit runs up and down in turn.
  const std::vector<InputRange> inputs = training_ranges(robot);
  const std::size_t n = inputs.size();
  std::vector<int> digit(n, 0), direction(n, 1);
  std::vector<Sample> grid;
  for (;;) {
    Sample sample(n);
    for (std::size_t i = 0; i < n; ++i)
      sample[i] = at(inputs[i].range, static_cast<double>(digit[i]) / std::max(1, inputs[i].samples - 1));
    grid.push_back(std::move(sample));
    std::size_t i = 0;
    while (i < n && (digit[i] + direction[i] < 0 || digit[i] + direction[i] >= inputs[i].samples)) {
      direction[i] = -direction[i];
      ++i;
    }
    if (i == n) return grid;
    digit[i] += direction[i];
  }
}

std::vector<Sample> latin_hypercube(const Robot& robot, int count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const std::vector<InputRange> inputs = training_ranges(robot);
  std::vector<Sample> samples(static_cast<std::size_t>(count), Sample(inputs.size()));
  std::vector<int> stratum(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (int k = 0; k < count; ++k) stratum[static_cast<std::size_t>(k)] = k;
    for (int k = count - 1; k > 0; --k)
      std::swap(stratum[static_cast<std::size_t>(k)], stratum[static_cast<std::size_t>(uniform(generator) * (k + 1))]);
    for (std::size_t k = 0; k < samples.size(); ++k)
      samples[k][i] = at(inputs[i].range, (stratum[k] + uniform(generator)) / count);
  }
  return samples;
}

std::vector<Sample> uniform_draws(const Robot& robot, int count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const std::vector<InputRange> inputs = input_ranges(robot);
  std::vector<Sample> samples(static_cast<std::size_t>(count), Sample(inputs.size()));
  for (Sample& sample : samples)
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = at(inputs[i].range, uniform(generator));
  return samples;
}

int SamplingPlan::states() const {
  std::size_t count = 0;
  for (const SamplePath& path : paths) count += path.samples.size();
  return static_cast<int>(count);
}

bool shaken_in_time(const Robot& robot) {
  return robot.floating && robot.pairs() > 0;
}

std::vector<SamplePath> paths_through(const Robot& robot, const std::vector<Sample>& samples, int sweep_steps) {
  const int steps = shaken_in_time(robot) ? sweep_steps : 1;
  std::vector<SamplePath> paths;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const bool first = k % path_length == 0;
    if (first) paths.emplace_back();
    ramp(first ? released_sample(robot) : samples[k - 1], samples[k], steps, paths.back());
  }
  return paths;
}

SamplingPlan make_plan(const Robot& robot, const ReductionScene& recipe) {
  SamplingPlan plan;
  plan.converged = recipe.converged && !shaken_in_time(robot);
  const bool too_large = grid_size(robot) > recipe.budget;
  if (recipe.sampling == SamplingKind::grid && !too_large) {
    plan.kind = "grid";
    SamplePath path;
    const std::vector<Sample> grid = gray_grid(robot);
    path.samples.push_back(grid.front());
    for (std::size_t k = 1; k < grid.size(); ++k) ramp(grid[k - 1], grid[k], recipe.sweep_steps, path);
    plan.paths.push_back(std::move(path));
    return plan;
  }
  plan.kind = "latin-hypercube";
  if (!recipe.converged && !shaken_in_time(robot))
    throw InputError(
        "one linearised step per sample follows the increments of a grid; samples of a hypercube lie far apart",
        "[reduce] sampling = \"grid\" (within its budget), or converged = true");
  if (recipe.sampling == SamplingKind::grid)
    plan.note =
        fmt::format("the grid has {:.3g} points, more than the budget of {}: a Latin hypercube of {} states instead",
                    grid_size(robot), recipe.budget, recipe.states);
  std::vector<Sample> samples = latin_hypercube(robot, recipe.states, recipe.seed);
  const std::vector<InputRange> inputs = training_ranges(robot);
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].samples > 1) moved.push_back(i);
  Sample here = released_sample(robot);
  if (recipe.corners && moved.size() <= most_corner_inputs) {
    for (std::size_t corner = 0; corner < std::size_t{1} << moved.size(); ++corner) {
      Sample sample = here;
      for (std::size_t k = 0; k < moved.size(); ++k)
        sample[moved[k]] = at(inputs[moved[k]].range, (corner >> k) & 1 ? 1.0 : 0.0);
      samples.push_back(std::move(sample));
    }
    if (std::ranges::find(samples, here) == samples.end()) samples.push_back(here);
  }
  const auto distance = [&](const Sample& a, const Sample& b) {
    double sum = 0;
    for (const std::size_t i : moved) {
      const Interval& range = inputs[i].range;
      const double d = (a[i] - b[i]) / (range.upper - range.lower);
      sum += d * d;
    }
    return sum;
  };
  for (std::size_t k = 0; k < samples.size(); ++k) {
    std::size_t nearest = k;
    for (std::size_t m = k + 1; m < samples.size(); ++m)
      if (distance(samples[m], here) < distance(samples[nearest], here)) nearest = m;
    std::swap(samples[k], samples[nearest]);
    here = samples[k];
  }
  plan.paths = paths_through(robot, samples, recipe.sweep_steps);
  return plan;
}

}  // namespace supple

#include "engine/reduction/snapshots/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>

#include "engine/reduction/snapshots/smooth_path.hpp"

namespace supple {

namespace {

// The last of `steps` increments is `to` to the last bit.
void ramp(const Sample& from, const Sample& to, int steps, SamplePath& path) {
  for (int step = 1; step <= steps; ++step) {
    Sample sample = to;
    if (step < steps)
      for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = from[i] + step * (to[i] - from[i]) / steps;
    path.samples.push_back(std::move(sample));
  }
}

// Of a push: which point, and three of its force.
std::size_t push_inputs(const Robot& robot) {
  return robot.pushes > 0 ? 4 : 0;
}

double at(const Interval& range, double fraction) {
  return range.lower + fraction * (range.upper - range.lower);
}

// Hypercube that greedy sampling begins with, per input: the first model is to be of use.
constexpr int first_states_per_input = 8;
// Of training in time: four times as fast as the paths that models are judged by, so that the body vibrates.
constexpr int trajectory_steps = 80;
// 64 corners. A hypercube alone leaves them to extrapolation, released actuators (the state at rest) among them. Where
// an input goes both ways, that state is no corner and comes on its own.
constexpr std::size_t most_corner_inputs = 6;

// Whether equilibria are the same, carried along, for every value of a rigid motion.
bool moves_all_of_its_world(const Robot& robot, const MotionInput& motion) {
  return motion.rigid && std::none_of(robot.actuators.begin(), robot.actuators.end(), [&](const ActuatorRow& row) {
           return row.pull_point || (row.kind == ActuatorKind::force && row.control == ActuatorControl::displacement);
         });
}

// With parameters of more inputs than that a part of the corners: the first inputs have all of theirs, each further one
// is at the end that the parity of some of them tells, so that no two inputs go together (a fractional factorial
// design).
constexpr std::array parities{0b111111u, 0b000111u, 0b111000u, 0b010101u, 0b101010u, 0b110011u};

// The corners of the training box, or a part of them, and the released sample, which is one of them unless an input
// goes both ways; nothing where there are too many.
std::vector<Sample> corner_samples(const Robot& robot) {
  const std::vector<InputRange> inputs = training_ranges(robot);
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < inputs.size() - push_inputs(robot); ++i)
    if (inputs[i].samples > 1) moved.push_back(i);
  std::vector<Sample> samples;
  const std::size_t most = robot.parameters.empty() ? most_corner_inputs : most_corner_inputs + parities.size();
  if (moved.size() > most) return samples;
  const Sample released = released_sample(robot);
  for (unsigned corner = 0; corner < 1u << std::min(moved.size(), most_corner_inputs); ++corner) {
    Sample sample = released;
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const bool upper = k < most_corner_inputs ? ((corner >> k) & 1u) != 0
                                                : std::popcount(corner & parities[k - most_corner_inputs]) % 2 == 1;
      sample[moved[k]] = at(inputs[moved[k]].range, upper ? 1.0 : 0.0);
    }
    samples.push_back(std::move(sample));
  }
  if (std::ranges::find(samples, released) == samples.end()) samples.push_back(released);
  return samples;
}

// Within the ranges to the last bit.
Sample clamped(const std::vector<InputRange>& inputs, Sample sample) {
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = std::clamp(sample[i], inputs[i].range.lower, inputs[i].range.upper);
  return sample;
}

// Of positions in ranges of length one.
double squared_distance(const std::vector<InputRange>& inputs, const Sample& a, const Sample& b) {
  double sum = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].samples == 1) continue;
    const double d = (a[i] - b[i]) / (inputs[i].range.upper - inputs[i].range.lower);
    sum += d * d;
  }
  return sum;
}

// Of random paths: states, or as many ramps, on the way from one end of a range to the other. With nine the diamond's
// model was up to a quarter worse.
constexpr double states_per_sweep = 3;

// Equilibria along one path, cut into pieces; in time every piece is a path of its own, from rest.
std::vector<SamplePath> random_paths(const Robot& robot, const ReductionScene& recipe) {
  const std::vector<InputRange> inputs = training_ranges(robot);
  const bool in_time = shaken_in_time(robot);
  const int steps = in_time ? recipe.sweep_steps : 1;
  const auto path_of = [&](std::uint64_t seed) {
    return SmoothPath(inputs, released_sample(robot), 2 * states_per_sweep * steps, seed, Wave::even);
  };
  const SmoothPath whole = path_of(recipe.seed);
  std::vector<SamplePath> paths;
  for (int first = 0; first < recipe.states; first += states_per_path) {
    const SmoothPath own = path_of(recipe.seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(first));
    SamplePath& path = paths.emplace_back();
    for (int k = 0; k < steps * std::min(states_per_path, recipe.states - first); ++k)
      path.samples.push_back(clamped(inputs, in_time ? own.at(k + 1) : whole.underway(first + k)));
  }
  return paths;
}

std::vector<SamplePath> training_trajectories(const Robot& robot, int count, std::uint64_t seed) {
  const std::vector<InputRange> inputs = input_ranges(robot);  // of a rigid motion too: inertia sees it
  std::vector<SamplePath> paths;
  for (int k = 1; k <= count; ++k) {
    const std::uint64_t own = seed + 0xbf58476d1ce4e5b9ULL * static_cast<std::uint64_t>(k);
    const SmoothPath path(inputs, released_with_parameters(robot, own), trajectory_steps, own, Wave::even,
                          still_inputs(robot));
    SamplePath& steps = paths.emplace_back();
    steps.in_time = true;
    for (int step = 1; step <= trajectory_steps; ++step) steps.samples.push_back(clamped(inputs, path.at(step)));
  }
  return paths;
}

}  // namespace

double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

std::vector<InputRange> input_ranges(const Robot& robot) {
  std::vector<InputRange> inputs;
  for (const ActuatorRow& actuator : robot.actuators) inputs.push_back({actuator.range, actuator.samples});
  for (const MotionInput& motion : robot.motions) inputs.push_back({motion.range});
  for (const Parameter& parameter : robot.parameters) inputs.push_back({parameter.range});
  if (robot.pushes > 0) {
    inputs.push_back({{0, 1}});
    for (int k = 0; k < 3; ++k) inputs.push_back({{-robot.pushes, robot.pushes}});
  }
  for (InputRange& input : inputs)
    if (input.range.lower == input.range.upper) input.samples = 1;
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
  const auto motions = sample.begin() + static_cast<std::ptrdiff_t>(robot.actuators.size()),
             parameters = motions + static_cast<std::ptrdiff_t>(robot.motions.size());
  return {{sample.begin(), motions}, {motions, parameters}};
}

std::span<const double> parameters_of(const Robot& robot, const Sample& sample) {
  return std::span(sample).subspan(robot.actuators.size() + robot.motions.size(), robot.parameters.size());
}

std::span<const double> push_numbers(const Robot& robot, const Sample& sample) {
  return std::span(sample).last(push_inputs(robot));
}

Sample without_push(const Robot& robot, Sample sample) {
  sample.resize(sample.size() - push_inputs(robot));
  return sample;
}

std::size_t still_inputs(const Robot& robot) {
  return robot.parameters.size() + push_inputs(robot);
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
  sample.resize(sample.size() + robot.parameters.size(), 1.0);
  sample.resize(sample.size() + push_inputs(robot), 0.0);
  return sample;
}

Sample released_with_parameters(const Robot& robot, std::uint64_t seed) {
  Sample sample = released_sample(robot);
  std::mt19937_64 generator(seed ^ 0x9e3779b97f4a7c15ULL);
  const std::size_t first = sample.size() - still_inputs(robot);
  for (std::size_t k = 0; k < robot.parameters.size(); ++k)
    sample[first + k] = at(robot.parameters[k].range, uniform(generator));
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

std::vector<SamplePath> paths_through(const Robot& robot, const std::vector<Sample>& samples, int sweep_steps,
                                      int length) {
  const int steps = shaken_in_time(robot) ? sweep_steps : 1;
  std::vector<SamplePath> paths;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const bool first = k % static_cast<std::size_t>(length) == 0;
    if (first) paths.emplace_back();
    ramp(first ? released_sample(robot) : samples[k - 1], samples[k], steps, paths.back());
  }
  return paths;
}

bool slides_with_friction(const Robot& robot) {
  return shaken_in_time(robot) && std::ranges::any_of(robot.obstacles, [](const auto& o) { return o.friction > 0; });
}

int nearest_sample(const std::vector<InputRange>& inputs, const std::vector<Sample>& samples, const Sample& to) {
  std::size_t nearest = 0;
  for (std::size_t k = 1; k < samples.size(); ++k)
    if (squared_distance(inputs, samples[k], to) < squared_distance(inputs, samples[nearest], to)) nearest = k;
  return static_cast<int>(nearest);
}

void order_by_walk(const Robot& robot, std::vector<Sample>& samples) {
  const std::vector<InputRange> inputs = training_ranges(robot);
  Sample here = released_sample(robot);
  for (std::size_t k = 0; k < samples.size(); ++k) {
    std::size_t nearest = k;
    for (std::size_t m = k + 1; m < samples.size(); ++m)
      if (squared_distance(inputs, samples[m], here) < squared_distance(inputs, samples[nearest], here)) nearest = m;
    std::swap(samples[k], samples[nearest]);
    here = samples[k];
  }
}

namespace {

constexpr const char *hypercube_kind = "latin-hypercube", *random_paths_kind = "random-paths";

// Paths through a hypercube and `more` samples.
std::vector<SamplePath> hypercube_paths(const Robot& robot, const ReductionScene& recipe, std::vector<Sample> more) {
  std::vector<Sample> samples = latin_hypercube(robot, recipe.states, recipe.seed);
  std::ranges::move(more, std::back_inserter(samples));
  order_by_walk(robot, samples);
  return paths_through(robot, samples, recipe.sweep_steps);
}

// But for friction, trajectories and doublings.
SamplingPlan plan_of(const Robot& robot, const ReductionScene& recipe) {
  SamplingPlan plan;
  const bool in_time = shaken_in_time(robot);
  plan.converged = recipe.converged && !in_time;
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
  if (!recipe.converged && !in_time)
    throw InputError(
        "one linearised step per sample follows the increments of a grid; samples of any other kind lie "
        "far apart",
        "[reduce] sampling = \"grid\" (within its budget), or converged = true", recipe.place);
  if (recipe.sampling == SamplingKind::grid)
    plan.note =
        fmt::format("the grid has {:.3g} points, more than the budget of {}: a Latin hypercube of {} states instead",
                    grid_size(robot), recipe.budget, recipe.states);
  std::vector<Sample> corners;
  if (recipe.corners) corners = corner_samples(robot);
  if (recipe.sampling == SamplingKind::random_paths) {
    plan.kind = random_paths_kind;
    plan.paths = random_paths(robot, recipe);
    order_by_walk(robot, corners);
    std::ranges::move(paths_through(robot, corners, recipe.sweep_steps), std::back_inserter(plan.paths));
  } else if (recipe.sampling == SamplingKind::greedy) {
    if (in_time)
      throw InputError(
          "greedy sampling compares equilibria, and a free-floating robot in contact with obstacles has none",
          "[reduce] sampling = \"latin-hypercube\" or \"random-paths\"", recipe.place);
    plan.kind = "greedy";
    const auto moved =
        std::ranges::count_if(training_ranges(robot), [](const auto& input) { return input.samples > 1; });
    ReductionScene first = recipe;
    first.states = std::min(recipe.states, first_states_per_input * static_cast<int>(moved));
    plan.paths = hypercube_paths(robot, first, corners);
    plan.most_states = recipe.states - first.states + plan.states();
  } else {
    plan.kind = hypercube_kind;
    plan.paths = hypercube_paths(robot, recipe, corners);
  }
  return plan;
}

}  // namespace

bool can_double(const SamplingPlan& plan) {
  return plan.kind == hypercube_kind || plan.kind == random_paths_kind;
}

SamplingPlan make_plan(const Robot& robot, const ReductionScene& recipe) {
  const bool friction = recipe.friction == ShakingFriction::own;
  if (friction && !shaken_in_time(robot))
    throw InputError(
        "[reduce] friction is for free-floating robots in contact with obstacles (equilibria with friction depend on "
        "the "
        "way to them)",
        "without this key", recipe.friction_place);
  if (friction && !slides_with_friction(robot))
    throw InputError("[reduce] friction = \"own\", and no obstacle has friction",
                     "[[obstacle]] friction, or without this key", recipe.friction_place);
  const auto aliases = [&](int every) { return every > 0 && std::gcd(every, recipe.sweep_steps) > 1; };
  if (shaken_in_time(robot) && aliases(recipe.elements_every)) {
    int better = recipe.elements_every;
    while (aliases(better)) --better;
    throw InputError(
        fmt::format("[reduce] elements_every = {} and sweep_steps = {} have a common factor (elements would "
                    "be chosen on the same parts of every ramp)",
                    recipe.elements_every, recipe.sweep_steps),
        fmt::format("elements_every = {}", better), recipe.elements_every_place);
  }
  SamplingPlan plan = plan_of(robot, recipe);
  const auto add_trajectories = [&](const ReductionScene& of) {
    if (plan.converged && plan.most_states == 0 && !robot.floating && recipe.ecsw_training == "projected")
      std::ranges::move(training_trajectories(robot, of.trajectories, of.seed), std::back_inserter(plan.paths));
  };
  add_trajectories(recipe);
  if (recipe.doublings > 0 && !can_double(plan))
    throw InputError(fmt::format("[reduce] doublings is not for {} sampling", plan.kind),
                     "sampling = \"latin-hypercube\" or \"random-paths\"", recipe.place);
  for (int k = 0; k < recipe.doublings; ++k) {
    ReductionScene again = recipe;
    again.states <<= k;
    again.trajectories <<= k;
    again.seed += 0x94d049bb133111ebULL * static_cast<std::uint64_t>(k + 1);
    std::ranges::move(plan.kind == random_paths_kind ? random_paths(robot, again) : hypercube_paths(robot, again, {}),
                      std::back_inserter(plan.paths));
    add_trajectories(again);
  }
  for (SamplePath& path : plan.paths) path.friction = friction;
  return plan;
}

}  // namespace supple

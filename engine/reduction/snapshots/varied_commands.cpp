#include "engine/reduction/snapshots/varied_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace supple {

Actuation training_table(const TrainingCommands& along, const Robot& robot) {
  Actuation table = read_actuation(along.file, robot);
  const double steps = std::round(table.end() / robot.time_step);
  if (!(steps >= 1))
    throw InputError(fmt::format("'{}' ends at its first instant", along.file), "commands over some seconds",
                     along.place);
  if (!(steps <= most_training_steps))
    throw InputError(fmt::format("'{}' has {:.3g} time steps ({} are the most for training)", along.file, steps,
                                 most_training_steps),
                     "some cycles of the commands", along.place);
  std::vector<double> first(table.inputs().size()), now(first.size());
  table.sample(0, first);
  const auto changes = [&](double time) {
    table.sample(time, now);
    return now != first;
  };
  if (std::ranges::none_of(table.times(), changes))
    throw InputError(fmt::format("no input moves in '{}'", along.file), "commands that change over time", along.place);
  return table;
}

VariedCommands::VariedCommands(const Actuation& table, double variation, int run, std::uint64_t seed) : table_(table) {
  first_.resize(table.inputs().size());
  table.sample(0, first_);
  factors_.assign(first_.size(), 1.0);
  if (run == 0) return;
  std::mt19937_64 generator(seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(run));
  for (double& factor : factors_) factor = 1 + variation * (2 * uniform(generator) - 1);
}

Sample VariedCommands::at(double time) const {
  Sample sample(first_.size());
  table_.sample(time, sample);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const Interval& range = table_.inputs()[i].range;
    sample[i] = std::clamp(first_[i] + factors_[i] * (sample[i] - first_[i]), range.lower, range.upper);
  }
  return sample;
}

SamplePath path_along(const VariedCommands& commands, double time_step, bool friction) {
  SamplePath path{.samples = {}, .friction = friction};
  const auto steps = std::llround(commands.end() / time_step);
  for (long long k = 1; k <= steps; ++k) path.samples.push_back(commands.at(time_step * static_cast<double>(k)));
  return path;
}

}  // namespace supple

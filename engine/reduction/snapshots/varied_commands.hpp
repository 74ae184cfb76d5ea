#pragma once
// Commands over time and variations of them: what robots in contact, whose states depend on the way to them, are trained
// and measured along.

#include <cstdint>

#include "engine/commands/actuation.hpp"
#include "engine/reduction/snapshots/sampling.hpp"

namespace supple {

/// Of the runs along one table, numbered on from these.
inline constexpr int training_runs = 3, test_runs = 2, selection_runs = 1,
                     all_runs = training_runs + test_runs + selection_runs;

inline constexpr int most_training_steps = 1'000'000;  // of a run
/// The table of a recipe. Throws InputError where no input moves in it, it has no duration or too many time steps.
Actuation training_table(const TrainingCommands& along, const Robot& robot);

/// Commands of one run: as the table has them, or each input moving by a factor of its own about its first value.
class VariedCommands {
 public:
  /// run 0: the table itself; others draw factors in 1 +- variation. The table must outlive this object.
  VariedCommands(const Actuation& table, double variation, int run, std::uint64_t seed);
  /// Cut to the ranges of the inputs; after the end of the table as at its end.
  Sample at(double time) const;
  double end() const { return table_.end(); }

 private:
  const Actuation& table_;
  std::vector<double> factors_, first_;
};

/// The commands at every step after the beginning, for a plan of time steps (SamplingPlan::converged false).
SamplePath path_along(const VariedCommands& commands, double time_step, bool friction);

}  // namespace supple

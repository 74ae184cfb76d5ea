#include "engine/reduction/cost.hpp"

#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/more_states.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr double share_measured = 0.01;
// Time steps of the full model beside those of the training: validation trajectories, the unseen path, its rate.
constexpr int steps_to_validate = 3 * 120 + 200;
// Of the full model's rate, those of three reduced ones, and of some twenty domains a twentieth each.
constexpr double rates = 2 + 3 + 1;
// Models of one per cent had some 12 m^0.75 modes for m inputs: 5 for one, 16 to 65 for three, 69 for twelve
// (assets/zoo and the paper's robots).
constexpr double modes_of_one = 12, modes_power = 0.75;
// Seconds for each element and pair of modes on one core: choice of elements, for each state; models of all elements
// while modes are added.
constexpr double choice = 4e-9, mode_search = 1.6e-6;
// Element forces in one piece (selection.cpp), and the sketch of them.
constexpr double largest_block = 5e8, sketch = 8 * 2000;

}  // namespace

ReductionCost expected_cost(const FullModel& full, const Scene& scene, const SnapshotJob& job, double rate_seconds) {
  check_states(full, scene);
  const SamplingPlans plans = make_plans(full.robot, scene.reduction);
  const SceneIdentity identity = identify(scene);
  const int workers = std::max(1, job.jobs) * job.ranks.size, threads = omp_get_max_threads();
  if (workers > 1) omp_set_num_threads(1);  // as they will be
  const StateSeconds one = measure_states(full, scene, plans.training, share_measured, job.batch);
  omp_set_num_threads(threads);
  ReductionCost cost;
  double work = 0;
  int all = 0;
  for (const SetPlan& set : sets_of(plans, job.folder)) {
    all += set.plan->states();
    std::vector<int> missing(set.plan->paths.size());
    for (std::size_t k = 0; k < missing.size(); ++k) missing[k] = static_cast<int>(k);
    if (std::error_code error; !job.folder.empty() && std::filesystem::exists(set.folder, error))
      missing = missing_paths(set.folder, identity, *set.plan);
    for (const int k : missing) {
      const SamplePath& path = set.plan->paths[extent(k)];
      const auto states = static_cast<double>(path.samples.size());
      cost.states += static_cast<int>(path.samples.size());
      work += set.plan->converged && !path.in_time ? one.from_rest + (states - 1) * one.followed : states * one.step;
    }
  }
  // A greedy plan grows.
  const int chosen = std::max(0, plans.training.most_states - plans.training.states());
  all += chosen;
  cost.states += chosen;
  work += chosen * one.followed;
  cost.state_seconds = work / workers;
  const auto moved =
      std::ranges::count_if(training_ranges(full.robot), [](const auto& input) { return input.samples > 1; });
  double elements = 0;
  for (const ElementField& field : full.fields) elements += field.points();
  const double trained = plans.training.states() + chosen,
               modes = modes_of_one * std::pow(static_cast<double>(moved), modes_power);
  const double entries = elements * modes * modes, choice_seconds = choice * trained * entries;
  cost.seconds = cost.most_seconds =
      cost.state_seconds + steps_to_validate * one.step + rates * rate_seconds + choice_seconds + mode_search * entries;
  if (asked_error(scene.reduction) && can_double(plans.training)) {
    const int added = (1 << most_added_doublings) - 1;
    cost.most_seconds += added * (plans.training.states() * one.followed / workers + choice_seconds) +
                         most_added_doublings * mode_search * entries;
  }
  // q and multipliers; the displacements once more in memory, as modes that there are to add, and what there is now.
  const double state = 8.0 * (full.coordinates.nv + full.robot.rows());
  cost.disk = all * state;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) cost.memory = 1024.0 * static_cast<double>(usage.ru_maxrss);
  cost.memory += trained * state + std::min(largest_block, 8 * trained * modes * elements) + sketch * elements;
  return cost;
}

}  // namespace supple

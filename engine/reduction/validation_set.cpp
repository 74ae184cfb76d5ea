#include "engine/reduction/validation_set.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "engine/reduction/branches.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr int trained_states = 60;  // few unseen ones miss what is rare
constexpr std::uint64_t trajectories = 3;
constexpr int trajectory_steps = 120;
// Of the error in motion: three trajectories tell less of another than equilibria do. A hand of three fingers had less
// than 0.7 of it along them, and more than all of it along the one that it was judged by.
constexpr double share_in_motion = 0.5;

}  // namespace

double ErrorShares::largest() const {
  return std::max({equilibria, motion, trained});
}

void ValidationSet::take_trained(const TrainingSet& training, const AskedError& asked) {
  trained_ = {};
  if (shaken_in_time(full_.robot)) return;
  const SnapshotSet& all = training.snapshots;
  std::vector<int> states;
  for (int s = 0; s < all.count; ++s)
    if (!all.source[extent(s)].in_time) states.push_back(s);
  const auto count = static_cast<long>(states.size());
  SnapshotSet some;
  some.count = static_cast<int>(std::min<long>(trained_states, count));
  for (int k = 0; k < some.count; ++k) {
    const int s = states[static_cast<std::size_t>(k * count / some.count)];
    some.source.push_back(all.source[extent(s)]);
    some.commands.push_back(all.commands[extent(s)]);
    const std::vector<double> q = read_displacements(training.folder, all, full_.coordinates.nv, s, 1);
    some.q.insert(some.q.end(), q.begin(), q.end());
  }
  trained_ = reference_states(full_, some);
  if (!full_.robot.floating) trained_.branches = std::make_shared<Branches>(full_, asked.largest);
}

int ValidationSet::drive(std::uint64_t seed, const Progress& progress) {
  if (trajectories_.empty() && !full_.robot.floating)
    for (std::uint64_t k = 1; k <= trajectories; ++k)
      trajectories_.emplace_back(full_, trajectory_steps, seed + k, progress);
  return static_cast<int>(std::ranges::count_if(trajectories_, &UnseenPath::failed));
}

void ValidationSet::search_branches(bool on) const {
  for (const ReferenceStates* states : {&equilibria, &trained_})
    if (states->branches) states->branches->search(on);
}

ErrorShares ValidationSet::shares(const ReducedModel& model, std::span<const double> basis, const ErrorSummary& errors,
                                  const AskedError& asked, double aim) const {
  ErrorShares shares;
  shares.equilibria = share_of(errors, asked) / aim;
  for (const UnseenPath& path : trajectories_) {
    if (path.failed()) continue;
    const DynamicError error = path.compare(model);
    shares.motion =
        std::max(shares.motion, error.failed ? std::numeric_limits<double>::infinity()
                                             : error.goal_mean / (share_in_motion * motion_to_equilibria * asked.mean));
  }
  if (trained_.count > 0) shares.trained = share_of(evaluate_errors(model, basis, trained_), asked);
  return shares;
}

}  // namespace supple

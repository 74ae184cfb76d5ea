#include "engine/reduction/branches.hpp"

#include <cmath>
#include <numeric>

#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/snapshots/pushes.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Of the distance that is far: what is next to each other. Of the distance to the reference: how near modes must be
// able to come to it.
constexpr double next = 0.5, shown = 0.25;

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

const ReferenceStates* Branches::next_to(int s, const ReferenceStates& reference, std::span<const double> u,
                                         const State& reduced, std::span<const double> basis) {
  const std::size_t nv = extent(reference.nv);
  const std::span<const double> own = std::span(reference.q).subspan(extent(s) * nv, nv);
  const double mean = std::accumulate(reference.displacement.begin(), reference.displacement.end(), 0.0) /
                      static_cast<double>(reference.displacement.size()),
               far = far_ * mean;
  const double away = distance(own, u);
  if (!(away > far)) return nullptr;
  const auto known = [&]() -> const ReferenceStates* {
    const ReferenceStates* nearest = nullptr;
    double least = next * far;
    for (const ReferenceStates& other : of(s))
      if (const double d = distance(other.q, u); d < least) {
        least = d;
        nearest = &other;
      }
    return nearest;
  };
  if (const ReferenceStates* other = known()) return other;
  const auto modes = basis.size() / nv;
  if (!searching_ || searched_[s] == modes) return nullptr;
  std::vector<double> left(own.begin(), own.end());
  remove_modes(basis, reference.nv, left);
  if (std::sqrt(std::inner_product(left.begin(), left.end(), left.begin(), 0.0)) > shown * away) return nullptr;
  std::optional<ReferenceStates> other = solve_from(u, reduced, reference.commands[static_cast<std::size_t>(s)]);
  if (!other || distance(other->q, u) >= next * far) {
    searched_[s] = modes;
    return nullptr;
  }
  found_[s].push_back(std::move(*other));
  return known();
}

const std::vector<ReferenceStates>& Branches::of(int s) const {
  static const std::vector<ReferenceStates> none;
  const auto there = found_.find(s);
  return there == found_.end() ? none : there->second;
}

std::optional<ReferenceStates> Branches::solve_from(std::span<const double> u, const State& reduced,
                                                    const Sample& sample) {
  if (!mechanics_) {
    lifting_ = lifting_of(full_);
    changing_.emplace(full_);
    mechanics_ = std::make_unique<FullMechanics>(changing_->model());
    mechanics_->set_friction(false);
  }
  if (changing_->set(parameters_of(full_.robot, sample))) mechanics_->model_changed();
  State state = rest_state(*mechanics_);
  state.q.assign(u.begin(), u.end());
  for (std::size_t m = 0; m < reduced.motions.size(); ++m)
    for (std::size_t i = 0; i < u.size(); ++i) state.q[i] += lifting_->free[m * u.size() + i] * reduced.motions[m];
  state.multipliers = reduced.multipliers;
  if (reduced.contact_forces.size() == state.contact_forces.size()) state.contact_forces = reduced.contact_forces;
  state.commands = reduced.commands;
  state.motions = reduced.motions;
  const Control control{state.commands, state.motions};
  Equilibrium equilibrium(*mechanics_, {});
  equilibrium.set_load(load_of(*mechanics_, sample));
  const EquilibriumReport report = equilibrium.solve(control, state);
  if (!report.stable() || report.inverted > 0) return std::nullopt;
  SnapshotSet set;
  set.count = 1;
  set.source.push_back({0, 0});
  set.commands.push_back(state.commands);
  set.commands.back().insert(set.commands.back().end(), state.motions.begin(), state.motions.end());
  for (const std::span<const double> rest : {parameters_of(full_.robot, sample), push_numbers(full_.robot, sample)})
    set.commands.back().insert(set.commands.back().end(), rest.begin(), rest.end());
  set.q = state.q;
  return reference_states(full_, set);
}

}  // namespace supple

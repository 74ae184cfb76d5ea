#include "engine/step/forward_law.hpp"

#include <algorithm>
#include <cmath>

#include "engine/step/contact_stage.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {

ForwardLaw::ForwardLaw(const Robot& robot, int robots) : robot_(robot) {
  for (auto* values : {&asked_, &target_, &lower_, &upper_}) values->assign(extent(robots, robot.rows()), 0.0);
  solved_.assign(extent(robots), 1);
  scratch_.resize(static_cast<std::size_t>(std::min(robots, most_threads())));
  for (Scratch& s : scratch_) {
    s.shifted.assign(extent(robot.rows()), 0.0);
    s.work.assign(static_cast<std::size_t>(box_complementarity_work(robot.rows())), 0.0);
  }
}

int ForwardLaw::begin(const State& state, double step, bool at_rest, std::span<double> multipliers) {
  const std::size_t actuators = robot_.actuators.size(), rows = extent(robot_.rows());
  SUPPLE_EXPECT(commands_.size() == state.commands.size() && state.multipliers.size() == target_.size());
  int limited = 0;
  at_rest_ = at_rest;
  for (std::size_t k = 0; k < target_.size(); ++k) {
    const std::size_t row = k % rows, command = k / rows * actuators + row;
    RowTarget law{.target = 0, .lower = -unlimited, .upper = unlimited};
    if (row < actuators)
      law = row_target(robot_.actuators[row], commands_[command], state.commands[command], step, at_rest);
    else if (robot_.constraints[row - actuators].one_sided)
      law.lower = 0;
    asked_[k] = target_[k] = law.target;
    lower_[k] = law.lower;
    upper_[k] = law.upper;
    multipliers[k] = std::clamp(state.multipliers[k], law.lower, law.upper);
    if (law.limited) ++limited;
  }
  return limited;
}

bool ForwardLaw::solve(const ConstraintSpace& space, std::span<const char> touch, std::span<double> multipliers,
                       std::span<double>) {
  const int n = space.rows;
  [[maybe_unused]] const auto threads = static_cast<int>(scratch_.size());  // without OpenMP
  std::fill(solved_.begin(), solved_.end(), 1);
  for (std::size_t k = 0; k < space.command_scale.size(); ++k) target_[k] = space.command_scale[k] * asked_[k];
#pragma omp parallel for schedule(static) num_threads(threads) if (space.robots > 1)
  for (int b = 0; b < space.robots; ++b) {
    if (!touch.empty() && touch[extent(b)] != 0) continue;
    Scratch& s = scratch_[static_cast<std::size_t>(space.robots > 1 ? this_thread() : 0)];
    const std::size_t first = extent(b, n), count = extent(n);
    for (std::size_t i = 0; i < count; ++i) s.shifted[i] = space.free[first + i] - target_[first + i];
    const auto part = [&](const std::vector<double>& v) { return std::span<const double>(v).subspan(first, count); };
    const auto result =
        solve_box_complementarity(n, space.W.subspan(extent(b, n, n), extent(n, n)), s.shifted, part(lower_),
                                  part(upper_), multipliers.subspan(first, count), s.work);
    solved_[extent(b)] = result.status == ComplementarityStatus::solved;
  }
  return std::all_of(solved_.begin(), solved_.end(), [](char solved) { return solved != 0; });
}

ContactReport ForwardLaw::solve_in_contact(int robot, const ContactSpace& space, std::span<double> multipliers,
                                           std::span<double>) {
  const int n = space.rows;
  const std::size_t first = extent(robot, n);
  if (!workspace_ || workspace_->max_contacts() < space.contacts)
    workspace_ = std::make_unique<ContactWorkspace>(n, space.contacts + space.contacts / 4 + 8);
  const std::span<const double> scale = space.alone.command_scale;
  for (std::size_t i = 0; i < scale.size() && i < extent(n); ++i) target_[first + i] = scale[i] * asked_[first + i];
  contact_shifted_.assign(space.free.begin(), space.free.end());
  for (std::size_t i = 0; i < extent(n); ++i) contact_shifted_[i] -= target_[first + i];
  const auto part = [&](const std::vector<double>& v) { return std::span<const double>(v).subspan(first, extent(n)); };
  return solve_contact({.boxes = n,
                        .contacts = space.contacts,
                        .rank = space.rank,
                        .W = space.W,
                        .V = space.V,
                        .d = contact_shifted_,
                        .compliance = space.compliance,
                        .lower = part(lower_),
                        .upper = part(upper_),
                        .friction = space.friction},
                       multipliers, *workspace_, {.enough = tight_residual});
}

double ForwardLaw::violation(int robot, std::span<const double> delta, std::span<const double> scale,
                             std::span<const double> multipliers) const {
  double worst = 0;
  const std::size_t first = extent(robot, robot_.rows());
  for (std::size_t i = 0; i < robot_.actuators.size(); ++i) {
    const double lower = lower_[first + i], upper = upper_[first + i];
    if (lower == upper) continue;  // the force is the command
    const double w = (delta[i] - command_scale(scale, i) * asked_[first + i]) / robot_.actuators[i].size();
    const double violation = multipliers[i] <= lower   ? std::max(0.0, -w)
                             : multipliers[i] >= upper ? std::max(0.0, w)
                                                       : std::abs(w);
    worst = std::max(worst, violation);
  }
  return worst;
}

void ForwardLaw::commands(std::span<const double>, std::span<const double>, std::span<const double>,
                          std::span<double> commands) const {
  const std::size_t actuators = robot_.actuators.size(), rows = extent(robot_.rows());
  for (std::size_t k = 0; k < commands.size(); ++k) {
    const std::size_t row = k / actuators * rows + k % actuators;
    commands[k] = gives_force(robot_.actuators[k % actuators], at_rest_) ? lower_[row] : asked_[row];
  }
}

}  // namespace supple

#include "engine/run/settle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

void settle(const MechanicsTeam& team, const CommandSource& source, State& state) {
  const int robots = team.robots();
  const std::size_t motions = team.robot().motions.size(), actuators = team.robot().actuators.size();
  Control all{std::vector<double>(extent(robots) * actuators), std::vector<double>(extent(robots) * motions)};
  source.evaluate(0, robots, all);
  std::vector<StepStatus> found(extent(robots), StepStatus::ok);
  std::vector<std::unique_ptr<Equilibrium>> solvers;
  for (int k = 0; k < team.size(); ++k)
    solvers.push_back(std::make_unique<Equilibrium>(team.member(k), EquilibriumSettings{}));
  const auto solve = [&](int b, int k) {
    const auto part = [b](const std::vector<double>& values, std::size_t size) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(extent(b) * size);
      return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(size));
    };
    State own = one_robot(state, b);
    found[extent(b)] =
        solvers[extent(k)]->solve({part(all.commands, actuators), part(all.motions, motions)}, own).status;
    copy_robot(own, 0, state, b);
  };
  if (source.for_each_robot()) {
    team.each_robot(solve);
  } else {
    solve(0, 0);
    for (int b = 1; b < robots; ++b) copy_robot(state, 0, state, b);
  }
  const auto failed = std::ranges::find_if(found, [](StepStatus status) { return status != StepStatus::ok; });
  if (failed == found.end()) return;
  throw RunError(fmt::format("the robot{} does not settle: {}",
                             source.for_each_robot() ? fmt::format(" {} of the batch", failed - found.begin()) : "",
                             describe(*failed)),
                 *failed == StepStatus::loose_among_obstacles
                     ? "without --settle it comes to rest in time"
                     : "`supple check` looks for its equilibrium with all commands at zero");
}

}  // namespace supple

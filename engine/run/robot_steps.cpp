#include "engine/run/robot_steps.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

void RobotSteps::reset(std::span<const int> robots, const State& start) {
  SUPPLE_EXPECT(std::ranges::all_of(robots, [this](int b) { return b >= 0 && b < this->robots(); }));
  SUPPLE_EXPECT(start.robots == 1 || start.robots == this->robots());
  if (robots.empty()) return;
  for (const int b : robots) failed_[extent(b)] = 0;
  std::erase_if(failures_, [this](const FailedRobot& failure) { return !failed(failure.robot); });
  restart(robots, start);
}

void RobotSteps::set_state(const State& state) {
  SUPPLE_EXPECT(state.robots == robots());
  std::vector<int> all(extent(robots()));
  std::iota(all.begin(), all.end(), 0);
  reset(all, state);
  set_time(state.time);
}

}  // namespace supple

#include "engine/inverse/inverse_rate.hpp"

#include <algorithm>
#include <chrono>

#include "engine/dynamics/step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

InverseRate measure_inverse_rate(Mechanics& mechanics, int steps, double seconds, std::uint64_t seed) {
  const Robot& robot = mechanics.robot();
  const int robots = mechanics.robots(), ny = robot.outputs(), effectors = static_cast<int>(robot.effectors.size());
  Stepper forward(mechanics, {.time_step = robot.time_step}), inverse(mechanics, {.time_step = robot.time_step});
  InverseLaw law(robot, robots, {});
  PathCommands path(mechanics, seed);
  State leader = rest_state(mechanics), state = leader;
  std::vector<double> goals(extent(robots, 3, effectors)), errors, programs;
  InverseRate rate;
  static_cast<Rate&>(rate) = measure_steps(robots, robot.time_step, steps, seconds, [&](int k, double& wall) {
    const StepReport led = forward.step(path.at(k), leader);
    if (led.status != StepStatus::ok) return led;
    for (int b = 0; b < robots; ++b)
      for (int e = 0; e < effectors; ++e)
        effector_state(robot, e, std::span<const double>(forward.outputs()).subspan(extent(b, ny), extent(ny)),
                       std::span<double>(goals).subspan(extent(b, 3, effectors) + extent(3, e), 3));
    const auto begin = std::chrono::steady_clock::now();
    law.set_goals(goals);
    const StepReport report = inverse.step(law, state.motions, state);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    programs.push_back(law.qp_seconds());
    for (int b = 0; b < robots; ++b) {
      const InverseReport& found = law.report(b);
      rate.held += found.held ? 1 : 0;
      rate.saturated += found.saturated > 0 ? 1 : 0;
      if (!found.held) errors.push_back(found.predicted_error);
    }
    return report;
  });
  rate.median_error = median(errors);
  rate.qp_seconds = median(programs);
  rate.state_hash = hash(state);
  return rate;
}

}  // namespace supple

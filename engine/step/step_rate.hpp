#pragma once
// How fast steps are, from the wall times of each: the one definition behind every rate that is printed or written.

#include <vector>

namespace supple {

struct StepRate {
  double steps_per_s = 0;      // robots / median step time: robot-steps per second
  double realtime_factor = 0;  // time step / median step time: simulated seconds per second of each robot
  double p50_us = 0, p99_us = 0, p999_us = 0;  // of a step of all robots
};

// seconds: wall times of steps that each advance `robots` robots by `time_step` [s]. Quantiles are times of the list,
// the least that so large a part of it does not exceed. All zero without steps.
StepRate step_rate(std::vector<double> seconds, int robots, double time_step);

}  // namespace supple

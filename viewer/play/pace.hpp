#pragma once
// Keeps simulated time in step with the clock, and measures how well.

#include <chrono>

namespace supple::view {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  // Begins anew: after a pause, a reset, a change of speed.
  void restart() { begun_ = false; }
  // When the step after the one that just ended is due, for `time_step` simulated seconds a step at `speed` simulated
  // seconds per second (infinite: at once). Where the simulation has fallen behind by more than a tenth of a second,
  // it does not run after the time it has lost.
  Clock::time_point after_step(Clock::time_point now, double time_step, double speed);
  // Simulated seconds per second over the last half second or so.
  double speed() const { return speed_; }

 private:
  bool begun_ = false;
  Clock::time_point due_, window_start_;
  double window_time_ = 0, speed_ = 0, wanted_ = 0;
};

}  // namespace supple::view

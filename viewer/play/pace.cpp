#include "viewer/play/pace.hpp"

#include <cmath>

namespace supple::view {

namespace {

constexpr double window = 0.5;         // s, over which the speed is measured
constexpr double longest_delay = 0.1;  // s behind, beyond which lost time is dropped

}  // namespace

Pace::Clock::time_point Pace::after_step(Clock::time_point now, double time_step, double speed) {
  const auto seconds = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  if (!begun_ || speed != wanted_) {
    begun_ = true;
    wanted_ = speed;
    due_ = window_start_ = now;
    window_time_ = 0;
  }
  window_time_ += time_step;
  const double passed = std::chrono::duration<double>(now - window_start_).count();
  if (passed >= window) {
    speed_ = window_time_ / passed;
    window_start_ = now;
    window_time_ = 0;
  }
  if (!std::isfinite(speed)) return now;
  due_ += seconds(time_step / speed);
  if (now - due_ > seconds(longest_delay)) due_ = now;
  return due_;
}

}  // namespace supple::view

#pragma once
// What the sensors of the robots of a run deliver, step after step. At step k, to the time t = k h, a number is
//
//   s(t - delay) + bias + noise n_k,   s linear between steps and, before the start, what it was there,
//
// n_k of mean 0 and standard deviation 1, white: a function of seed, robot, sensor's name, component and k alone
// (kernels/math/counter_random.hpp), so that it does not depend on threads and a run that is resumed continues with the
// same numbers. The memory is what the next steps need of those before; a saved run keeps it.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/sensors.hpp"

namespace supple {

inline constexpr std::uint64_t default_sensor_seed = 1;

class SensorReadings {
 public:
  /// Restarted before it is used. The robot must outlive this object. time_step [s]. Throws InputError for a delay of
  /// more than most_delay_steps, or delays that need too much memory.
  SensorReadings(const Robot& robot, int robots, double time_step, std::uint64_t seed = default_sensor_seed);

  /// Whether the robot has no sensor.
  bool none() const { return numbers_.empty(); }
  /// Of one robot.
  const std::vector<SensorNumber>& numbers() const { return numbers_; }
  /// Whether a number depends on steps before the last one: advance() must see each step.
  bool remembers() const { return remembers_; }
  std::uint64_t seed() const { return seed_; }
  /// [robots x 3], m/s^2; empty: the robot's.
  void set_gravity(std::vector<double> gravity) { gravity_ = std::move(gravity); }

  /// These robots rest where state and y [robots x outputs] have them, and always did.
  void restart(std::span<const int> robots, const State& state, std::span<const double> y);
  void restart(const State& state, std::span<const double> y);
  /// After a step of all robots; where nothing is remembered, after any number of steps.
  void advance(const State& state, std::span<const double> y);
  /// Delivered after step `step` [robots x numbers], SI. Valid until the next call.
  std::span<const double> values(long step);

  /// [robots x memory_size()], SI.
  const std::vector<double>& memory() const { return memory_; }
  int memory_size() const { return memory_size_; }
  /// Contract: as long as memory().
  void recall(std::span<const double> memory);

 private:
  struct Slot {
    int value = 0;    // number of the first component
    int size = 0;     // components
    int line = 0;     // in a robot's memory: components of the last step, of the one before, ...
    int steps = 0;    // in the line
    double late = 0;  // delay in steps
    int motion = 0;   // in a robot's memory: what evaluate_sensor keeps
    int kept = 0;
  };
  void evaluate(int robot, const State& state, std::span<const double> y, double h, bool fill);

  const Robot& robot_;
  int robots_;
  double time_step_;
  std::uint64_t seed_;
  std::vector<SensorNumber> numbers_;
  std::vector<std::uint32_t> name_;  // hash of each number's name
  std::vector<Slot> slots_;
  bool remembers_ = false;
  int memory_size_ = 0;
  std::vector<double> gravity_, memory_, values_;
};

/// Of a delay, in steps.
inline constexpr double most_delay_steps = 100'000;

}  // namespace supple

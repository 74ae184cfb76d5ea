#include "engine/run/sensor_readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/scene/units.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"
#include "kernels/math/counter_random.hpp"

namespace supple {

namespace {

// A delay of so little more than a whole number of steps is that number: 30 ms are three steps of 10 ms.
constexpr double rounding_of_steps = 1e-9;

// Numbers of all robots, of 8 bytes.
constexpr double most_memory = 1e9;

// Robots from which threads pay: the readings of one take about a microsecond.
[[maybe_unused]] constexpr int least_parallel = 256;

}  // namespace

SensorReadings::SensorReadings(const Robot& robot, int robots, double time_step, std::uint64_t seed)
    : robot_(robot), robots_(robots), time_step_(time_step), seed_(seed), numbers_(sensor_numbers(robot)) {
  for (const SensorNumber& number : numbers_) name_.push_back(static_cast<std::uint32_t>(hash_text(number.name)));
  int value = 0;
  for (const Sensor& sensor : robot.sensors) {
    Slot slot;
    slot.value = value;
    slot.size = sensor_size(sensor);
    slot.kept = sensor_memory(sensor);
    slot.late = sensor.delay / time_step;
    if (!(slot.late <= most_delay_steps))
      throw InputError(fmt::format("the delay of sensor '{}' is {}, more than {} steps of {}", sensor.name,
                                   format_quantity(sensor.delay, Dimension::time), most_delay_steps,
                                   format_quantity(time_step, Dimension::time)),
                       "a shorter delay, or longer steps");
    if (std::abs(slot.late - std::round(slot.late)) < rounding_of_steps * std::max(1.0, slot.late))
      slot.late = std::round(slot.late);
    slot.steps = static_cast<int>(std::ceil(slot.late)) + 1;
    if (static_cast<double>(robots) * (memory_size_ + static_cast<double>(slot.size) * slot.steps + slot.kept) >
        most_memory)
      throw InputError(fmt::format("the delay of sensor '{}' needs too much memory: {} steps of {} robots", sensor.name,
                                   slot.steps - 1, robots),
                       "shorter delays, or fewer robots");
    slot.line = memory_size_;
    slot.motion = slot.line + slot.size * slot.steps;
    memory_size_ = slot.motion + slot.kept;
    remembers_ = remembers_ || slot.steps > 1 || slot.kept > 0;
    value += slot.size;
    slots_.push_back(slot);
  }
  memory_.assign(extent(robots, memory_size_), 0.0);
  values_.resize(extent(robots) * numbers_.size());
}

void SensorReadings::evaluate(int robot, const State& state, std::span<const double> y, double h, bool fill) {
  const std::span<double> memory = std::span(memory_).subspan(extent(robot, memory_size_), extent(memory_size_));
  Vec3d gravity = robot_.gravity;
  if (!gravity_.empty())
    for (int k = 0; k < 3; ++k) gravity[k] = gravity_[extent(3 * robot + k)];
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    const std::span<double> line = memory.subspan(extent(slot.line), extent(slot.size, slot.steps));
    std::shift_right(line.begin(), line.end(), slot.size);
    evaluate_sensor(robot_, robot_.sensors[s], state, y, robot, gravity, h,
                    memory.subspan(extent(slot.motion), extent(slot.kept)), line.first(extent(slot.size)));
    if (!fill) continue;
    for (std::size_t i = extent(slot.size); i < line.size(); ++i) line[i] = line[i - extent(slot.size)];
  }
}

void SensorReadings::restart(std::span<const int> robots, const State& state, std::span<const double> y) {
  for (const int robot : robots) evaluate(robot, state, y, 0, true);
}

void SensorReadings::restart(const State& state, std::span<const double> y) {
  for (int b = 0; b < robots_; ++b) evaluate(b, state, y, 0, true);
}

void SensorReadings::advance(const State& state, std::span<const double> y) {
#pragma omp parallel for schedule(static) if (robots_ >= least_parallel)
  for (int b = 0; b < robots_; ++b) evaluate(b, state, y, time_step_, false);
}

std::span<const double> SensorReadings::values(long step) {
  if (none()) return {};
  const auto k = static_cast<std::uint64_t>(step);
#pragma omp parallel for schedule(static) if (robots_ >= least_parallel)
  for (int b = 0; b < robots_; ++b) {
    const double* const memory = memory_.data() + extent(b, memory_size_);
    double* const values = values_.data() + extent(b) * numbers_.size();
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const Slot& slot = slots_[s];
      const Sensor& sensor = robot_.sensors[s];
      const int whole = static_cast<int>(slot.late);
      const double part = slot.late - whole;
      for (int c = 0; c < slot.size; ++c) {
        const std::size_t n = extent(slot.value + c);
        const double* const line = memory + slot.line + c;
        double value = line[extent(whole, slot.size)];
        if (part > 0) value += part * (line[extent(whole + 1, slot.size)] - value);
        if (sensor.bias != 0) value += sensor.bias;
        if (sensor.noise > 0)
          value += sensor.noise * standard_normal({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32),
                                                   static_cast<std::uint32_t>(b), name_[n]},
                                                  seed_);
        values[n] = value;
      }
    }
  }
  return values_;
}

void SensorReadings::recall(std::span<const double> memory) {
  SUPPLE_EXPECT(memory.size() == memory_.size());
  std::copy(memory.begin(), memory.end(), memory_.begin());
}

}  // namespace supple

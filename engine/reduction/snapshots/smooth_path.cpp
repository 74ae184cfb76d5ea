#include "engine/reduction/snapshots/smooth_path.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace supple {

// Of even waves; 1 would be triangles.
constexpr double roundness = 0.95;

SmoothPath::SmoothPath(const Robot& robot, double period, std::uint64_t seed)
    : SmoothPath(input_ranges(robot), released_with_parameters(robot, seed), period, seed, Wave::sine,
                 still_inputs(robot)) {}

SmoothPath::SmoothPath(const std::vector<InputRange>& ranges, Sample start, double period, std::uint64_t seed,
                       Wave wave, std::size_t still)
    : wave_(wave), start_(std::move(start)) {
  std::mt19937_64 generator(seed);
  for (const InputRange& input : ranges) {
    const bool stays = range_.size() + still >= start_.size();
    range_.push_back(stays ? Interval{start_[range_.size()], start_[range_.size()]} : input.range);
    // Factors spread over [0.7, 1.4]: the path does not close. smooth_path_covering_steps counts on them.
    frequency_.push_back(2 * M_PI / period * (0.7 + 0.7 * uniform(generator)));
    phase_.push_back(2 * M_PI * uniform(generator));
  }
}

Sample SmoothPath::blend(double time, bool begins) const {
  Sample sample(range_.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    // Fades in from the released actuator over half a period, so that a path from rest does not jump.
    const double fade = begins ? 0.5 - 0.5 * std::cos(std::min(M_PI, time * frequency_[i])) : 1;
    const double cosine = std::cos(frequency_[i] * time + phase_[i]);
    const double wave =
        0.5 - 0.5 * (wave_ == Wave::sine ? cosine : std::asin(roundness * cosine) / std::asin(roundness));
    sample[i] = start_[i] + fade * (range_[i].lower - start_[i]) + fade * (range_[i].upper - range_[i].lower) * wave;
  }
  return sample;
}

Sample SmoothPath::at(double time) const {
  return blend(time, true);
}

Sample SmoothPath::underway(double time) const {
  return blend(time, false);
}

}  // namespace supple

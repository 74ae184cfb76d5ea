#pragma once
// Smooth paths through the actuation box, for rates, comparisons and samples along the way.

#include <cstdint>
#include <vector>

#include "engine/reduction/snapshots/sampling.hpp"

namespace supple {

// Period of the smooth paths used for rates and comparisons, in time steps: slow enough that the robot follows, fast
// enough that its inertia shows.
inline constexpr double smooth_path_period_steps = 400;
// Steps after which such a path has taken every input through all of its range: half of the longest period to fade
// in, then one whole (SmoothPath: periods up to period / 0.7).
inline constexpr long smooth_path_covering_steps = 858;

// How an input goes to and fro: a sine is mostly near the ends of its range. `even` is nearly as often everywhere, a
// triangle with round corners.
enum class Wave { sine, even };

// From all actuators released and motions at rest, waves of incommensurate periods from period / 1.4 to period / 0.7
// [s], phases from the seed.
class SmoothPath {
 public:
  // Through the whole box, with parameters that are drawn and stay.
  SmoothPath(const Robot& robot, double period, std::uint64_t seed);
  // Through these ranges, one for each entry of the sample that it begins at; the last `still` of them stay.
  SmoothPath(const std::vector<InputRange>& ranges, Sample start, double period, std::uint64_t seed, Wave wave,
             std::size_t still = 0);
  // From the start, which it leaves within half a period of each input.
  Sample at(double time) const;
  // Without beginning: where the waves are.
  Sample underway(double time) const;

 private:
  Sample blend(double time, bool begins) const;

  Wave wave_;
  std::vector<Interval> range_;
  std::vector<double> start_, frequency_, phase_;
};

}  // namespace supple

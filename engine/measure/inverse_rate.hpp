#pragma once
// How fast inverse control is: steps that lead a robot along a path it can follow.

#include "engine/inverse/inverse_law.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {

struct InverseRate : Rate {
  double median_error = 0;       // of a step, distance to the goals by the linearisation [m]
  double qp_seconds = 0;         // median of the quadratic programs of a step
  long held = 0, saturated = 0;  // robot-steps without an answer; at a limit of range or rate
};

// As measure_rate, inversely: the goals of each step are where the effectors of the same robot are that is driven
// forward along the same smooth path (its steps are not timed), so they are within reach and change at every step.
InverseRate measure_inverse_rate(Mechanics& mechanics, int steps, double seconds, std::uint64_t seed);
// As measure_resident_rate, inversely.
InverseRate measure_batch_inverse_rate(const ReducedModel& model, const Device& device, int robots,
                                       const BatchStepSettings& settings, int steps, double seconds,
                                       std::uint64_t seed);

}  // namespace supple

#pragma once
// Inverse control line by line: one JSON object a line on standard input, one on standard output, so that a real
// controller can drive it (docs/howto/control-a-robot.md). SI units.
//   in   {"goal": {"tip": [x, y, z]}, "known": {"north": 0.01}, "limits": {"north": [0, 5]}, "reset": true}; an
//        effector without a goal keeps the one it had, or is not steered if it never had one; limits: of the force [N]
//        or pressure [Pa] of an actuator, within the robot's own, until they are given again (null: the robot's own)
//   out  {"time", "commands": {...}, "forces": {...}, "reached": {...}, "distance", "saturated", "contact", "held",
//        "step_us"}; contact, if there are obstacles: {"pressing", "forces": {...}, "solves", "residual", "loose",
//        "softened"} (contact_facts.hpp); held states why commands were held, or is null; a line that cannot be
//        understood gets {"error": "..."} and no step

#include <iosfwd>

#include "engine/inverse/inverse_step.hpp"
#include "engine/run/run_recorder.hpp"

namespace supple::cli {

// Until the end of `in` or Ctrl-C. `start` is where "reset" returns to. Each step is recorded.
void stream_inverse(InverseStep& step, Mechanics& mechanics, const State& start, std::istream& in, std::ostream& out,
                    RunRecorder& recorder);

}  // namespace supple::cli

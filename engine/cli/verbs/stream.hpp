#pragma once
// One robot line by line: one JSON object a line on standard input, one on standard output, so that a real controller
// can drive it (docs/howto/control-a-robot.md). SI units.
//   in, forward   {"commands": {"north": 0.01}, "reset": true}; inputs that are not named keep their last value
//   in, inverse   {"goal": {"tip": [x, y, z]}, "known": {"north": 0.01}, "limits": {"north": [0, 5]}, "reset": true}; an
//                 effector without a goal keeps the one it had, or is not steered if it never had one; limits: of the
//                 force [N] or pressure [Pa] of an actuator, within the robot's own, until they are given again (null:
//                 the robot's own)
//   out, forward  {"time", "commands": {...}, "forces": {...}, "reached": {...}, "contact", "limited", "step_us"};
//                 limited: commands that were cut to their range or rate
//   out, inverse  the same with "distance" and "saturated" after "reached", and "held" in place of "limited": states why
//                 commands were held, or is null
// sensors, after "reached", if there are any: {"stretch": 0.012, "imu": [x, y, z]}
// contact, if there are obstacles: {"pressing", "forces": {...}, "solves", "residual", "loose", "softened"}
// (contact_facts.hpp). A line that cannot be understood gets {"error": "..."} and no step.

#include <iosfwd>

#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/run/run_recorder.hpp"

namespace supple::cli {

// Throws InputError for the first option that was given and that does not go with --stdin: of those that all verbs
// have, of those that set a length, commands or goals, or several robots, and of those that write results.
void check_stream(const CommonOptions& common, std::initializer_list<Given> runs, std::initializer_list<Given> results);

// Until the end of `in` or Ctrl-C. `first` is what is asked before the first line, and after "reset", which returns the
// robot to its start; its mode is that of all steps. Each step is recorded.
void stream(LiveRobot& robot, const LiveRequest& first, std::istream& in, std::ostream& out, RunRecorder& recorder);

}  // namespace supple::cli

#pragma once
// What the simulation and the picture tell each other: Intent goes in, Frame comes out, each whole; the latest counts
// (triple_buffer.hpp). SI.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/state.hpp"
#include "engine/model/touches.hpp"
#include "engine/reduction/basis/contact_compliance.hpp"
#include "engine/step/step.hpp"

namespace supple::view {

enum class Mode { inverse, forward };

// A hand that pulls at the skin.
struct Pull {
  int triangle = -1;  // of the skin; -1: none
  std::array<double, 3> weights{};
  Vec3d to{{0, 0, 0}};   // m: where the point is pulled to
  double stiffness = 0;  // N per metre that is missing
};

// What is wanted of the simulation.
struct Intent {
  Mode mode = Mode::forward;
  bool running = true;
  double speed = 1;  // simulated seconds per second at most; infinite: as fast as it goes
  // Counters: each increment is one request.
  long step_forward = 0, step_back = 0, reset = 0, seek = 0, go_on = 0, recording = 0;
  long seek_to = 0;              // place on the timeline where the last request of that goes
  std::string record;            // file that steps are recorded in from the last request of that on; "" none
  std::vector<double> goals;     // [3 x effectors], inverse
  std::vector<char> steered;     // [effectors]
  std::vector<double> commands;  // [actuators, then motions], forward
  Pull pull;
};

// Of a recording that is being made.
struct RecordingStatus {
  std::string file;     // in which steps are recorded now; "" none
  long frames = 0;      // in it
  long ended = 0;       // recordings that have ended,
  std::string written;  // the last of them, with its frames: where it is; "" it failed:
  std::string failure;  // why
};

// The state after a step, and how it came about.
struct Frame {
  long step = 0;  // since the reset
  State state;
  std::vector<double> y;  // mapped points of the state (robot.hpp)
  State other;            // of the robot beside it under the same commands; q empty: none
  std::vector<double> other_y;
  std::vector<double> goals, reached;  // [3 x effectors]
  std::vector<char> steered;           // [effectors]: whether it is led to its goal, where commands are found
  Pull pull;                           // that this step felt
  std::vector<double> errors;          // [effectors], distance to the goal; m (orientations: rad times lever)
  Mode mode = Mode::forward;
  bool playing = false;  // out of a recording: nothing is simulated
  // On the timeline: where this frame is, and the ends. Steps, or frames of the recording.
  long position = 0, oldest = 0, newest = 0;
  std::vector<Touch> touches;           // contacts that press at the end of the step
  std::optional<OutsideModes> outside;  // what the modes lack of them, where a reduced model knows
  int saturated = 0;                    // limits that hold the inverse back
  std::string held;                     // why the last commands were held; "" they were not
  int held_steps = 0;                   // so far, of those that were simulated
  std::string failure;                  // why the simulation stands still; "" it does not
  std::string note;                     // what else is to be known about this step
  // Of steps: the last, and quantiles over the last thousand.
  double step_seconds = 0, other_seconds = 0, median_seconds = 0, p99_seconds = 0, qp_seconds = 0;
  StageTimes stages;
  int iterations = 0;
  double speed = 0;  // simulated seconds per second over the last half second
  RecordingStatus recording;
};

// Of a robot in contact with obstacles: active contacts, how many stick and slide, the normal force [N] on each
// obstacle, and the fraction of the contact response outside the modes, where that is worth a warning.
std::string contact_text(const Robot& robot, const Frame& frame);

}  // namespace supple::view

#pragma once
// What the simulation and the picture tell each other: Intent goes in, Frame comes out, each whole; the latest counts
// (triple_buffer.hpp). SI.

#include <array>
#include <string>
#include <vector>

#include "engine/run/live_robot.hpp"

namespace supple::view {

using Mode = LiveMode;

// A hand that pulls at the skin.
struct Pull {
  int triangle = -1;  // of the skin; -1: none
  std::array<double, 3> weights{};
  Vec3d to{{0, 0, 0}};   // m: where the point is pulled to
  double stiffness = 0;  // N per metre that is missing
};

// What is wanted of the simulation.
struct Intent : LiveRequest {
  bool running = true;
  double speed = 1;  // simulated seconds per second at most; infinite: as fast as it goes
  // Counters: each increment is one request.
  long step_forward = 0, step_back = 0, reset = 0, seek = 0, go_on = 0, recording = 0;
  long seek_to = 0;    // place on the timeline where the last request of that goes
  std::string record;  // file that steps are recorded in from the last request of that on; "" none
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
struct Frame : LiveFrame {
  State other;  // of the robot beside it under the same commands; q empty: none
  std::vector<double> other_y;
  Pull pull;             // that this step felt
  bool playing = false;  // out of a recording: nothing is simulated
  // On the timeline: where this frame is, and the ends. Steps, or frames of the recording.
  long position = 0, oldest = 0, newest = 0;
  std::string failure;  // why the simulation stands still; "" it does not
  std::string note;     // what else is to be known about this step
  // Of steps: of the robot beside, and quantiles over the last thousand.
  double other_seconds = 0, median_seconds = 0, p99_seconds = 0;
  double speed = 0;  // simulated seconds per second over the last half second
  RecordingStatus recording;
};

// Of a robot in contact with obstacles: active contacts, how many stick and slide, the normal force [N] on each
// obstacle, and the fraction of the contact response outside the modes, where that is worth a warning.
std::string contact_text(const Robot& robot, const Frame& frame);

}  // namespace supple::view

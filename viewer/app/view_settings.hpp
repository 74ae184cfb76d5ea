#pragma once
// How an open file is looked at: kept when it is read again.

#include "viewer/draw/camera.hpp"
#include "viewer/draw/robot_drawing.hpp"

namespace supple::view {

struct ViewSettings {
  Camera camera;
  DrawingOptions drawing;
  bool side_by_side = false;  // the robot of --compare beside the first, not over it
  bool floor = true;
  bool animate_mode = true;
  double phase = 0;  // of that, s
  bool legend = true;
};

// Lists of what is to be drawn: one picture, or two beside each other with the same camera.
struct Picture {
  DrawList left, right;
  bool two = false;
};

struct Frame;
struct OpenedRobot;
// Whether the robots stand beside each other in two pictures; `beside` may be null.
bool shows_two(const OpenedRobot* beside, const Frame& frame, const ViewSettings& settings);
// The state that is drawn of the first robot: the frame's, or the shape of a mode.
State shown_state(const OpenedRobot& robot, const Frame& frame, const ViewSettings& settings);
// The box around all robots as they are shown. `beside` may be null.
struct Bounds {
  Vec3d low{{unlimited, unlimited, unlimited}}, high{{-unlimited, -unlimited, -unlimited}};
  bool empty() const { return low[0] > high[0]; }
  void add(const Vec3d& point);
};
void add_shown(const OpenedRobot& robot, const OpenedRobot* beside, const Frame& frame, const ViewSettings& settings,
               Bounds& bounds);
// `beside` may be null.
Picture make_picture(const OpenedRobot& robot, const OpenedRobot* beside, const Frame& frame,
                     const ViewSettings& settings);

}  // namespace supple::view

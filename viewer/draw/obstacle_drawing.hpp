#pragma once
// What a robot touches as part of its draw list: solids outside, the walls of tubes and rooms seen from within, planes
// as a patch below the robot; and the forces with which they push it.

#include "viewer/draw/robot_drawing.hpp"

namespace supple::view {

void draw_obstacles(const RobotShape& shape, const Vec3d& offset, DrawList& list);

// An arrow over everything from each point that is pushed, the longest a quarter of the robot.
void draw_contact_forces(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list);

// Collision points by what they do: those that stick, those that slide, and, smaller, those that lie idle within
// idle_reach of an obstacle.
inline constexpr double idle_reach = 0.05;  // of the robot's size
inline constexpr Colour stick_colour{0.10f, 0.10f, 0.14f, 1}, slide_colour{0.95f, 0.50f, 0.08f, 1},
    idle_colour{0.45f, 0.47f, 0.50f, 1};
void draw_contact_points(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list);

// Whether an obstacle is a plane that is about level: no floor need be drawn beside it.
bool stands_on_a_plane(const Robot& robot);

}  // namespace supple::view

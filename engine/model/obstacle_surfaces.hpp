#pragma once
// Obstacles as triangles, for pictures of them in Python and in browsers.

#include <span>
#include <vector>

#include "engine/model/robot.hpp"

namespace supple {

/// The surface of a solid in its own frame [m], outwards; of a plane nothing.
Surface solid_surface(const Obstacle& solid);

/// The surface of each obstacle of a robot in the frame of the scene [m], outwards. A plane is a square below or above
/// `skin`, the nodes of the robot at rest, with twice its size.
std::vector<Surface> obstacle_surfaces(const Robot& robot, std::span<const Vec3d> skin);

}  // namespace supple

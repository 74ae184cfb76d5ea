#pragma once
// Constraints as part of a robot's draw list. Lengths that are kept, and limits of them: a rod from point to point,
// thin while a limit carries no force; a distance with compliance: a zigzag. Points that are kept in a plane: a patch
// of it, for each of their directions. Two points that are kept together: a ball on each, and what ties them.

#include "viewer/draw/robot_drawing.hpp"

namespace supple::view {

void draw_constraints(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list);

}  // namespace supple::view

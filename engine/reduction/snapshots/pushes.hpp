#pragma once
// Pushes ([reduce] pushes): a state of a set may have a force at one collision point, as an obstacle or a hand has it
// that is in no scene. A sample has four numbers for it: which point, a fraction of their number, and a point of a cube
// [N], of which the direction is the force's and the distance from the centre its size, all sizes up to Robot::pushes
// alike.

#include <span>
#include <vector>

#include "engine/mechanics/mechanics.hpp"
#include "engine/reduction/snapshots/sampling.hpp"

namespace supple {

struct Push {
  int point = 0;           // mapped point
  Vec3d force{{0, 0, 0}};  // N, in the world
};
Push push_of(const Robot& robot, const Sample& sample);

/// Its generalised forces [nv, N] for Stepper::set_load; empty where there is none. Of one robot.
std::vector<double> load_of(const Mechanics& mechanics, const Sample& sample);

}  // namespace supple

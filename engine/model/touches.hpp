#pragma once
// Contacts as a state shows them: the collision points that obstacles push, and how.

#include <span>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/model/state.hpp"

namespace supple {

// Below this way along the obstacle in a step a point sticks [m]: converged steps find motions to some 1e-9 m.
inline constexpr double stuck_slip = 1e-8;

struct Touch {
  int point = 0, obstacle = 0;  // collision point, counted from the first; number of the obstacle
  Vec3d at{{0, 0, 0}};          // m
  Vec3d force{{0, 0, 0}};       // on the body, in the world [N]
  double normal_force = 0;      // along the obstacle's normal at the point [N]
  double slip = 0;              // along the obstacle, since `before` [m]
  bool sliding = false;
};

// Of robot b of `state`, in the order of the pairs; `y` [B x outputs] are its mapped points, `before` those at the
// beginning of the step, or empty: then nothing is known of slip and all stick. None where the state has no contacts.
std::vector<Touch> touches(const Robot& robot, const State& state, std::span<const double> y,
                           std::span<const double> before = {}, int b = 0);
// Two bodies of an assembly that touch each other.
struct BodyTouch {
  int first = 0, second = 0;  // surfaces (Robot::surfaces), the lower one first
  Vec3d force{{0, 0, 0}};     // on the first, in the world [N]
  int contacts = 0;           // pairs of features
};
// Adds a force on `first` to the entry of both, or a new one.
void add_touch(std::vector<BodyTouch>& touches, int first, int second, const Vec3d& force);
// Of robot b of `state`, ascending.
std::vector<BodyTouch> body_touches(const Robot& robot, const State& state, int b = 0);
// A place where two bodies press each other.
struct Press {
  Vec3d at{{0, 0, 0}};     // on the second [m]
  Vec3d force{{0, 0, 0}};  // on the first, in the world [N]
};
// Of robot b of `state`; y as above. In the order of the state's forces.
std::vector<Press> presses(const Robot& robot, const State& state, std::span<const double> y, int b = 0);
// Sum of the normal forces on each obstacle [N].
std::vector<double> normal_forces(const Robot& robot, std::span<const Touch> touches);

}  // namespace supple

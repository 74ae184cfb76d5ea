#pragma once
// Bodies that nothing holds: a bar with two cables inside it.

#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::floating_bodies {

// 0.4 x 0.1 x 0.1 m; a cable along its upper side and one along its left side, so that it bends out of any plane.
inline Scene scene(double time_step = 0.01) {
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e5, 0.35);
  scene.name = "floating bar";
  scene.time_step = time_step;
  scene.bodies[0].mass_kind = MassKind::lumped;
  ActuatorScene upper;
  upper.name = "upper";
  upper.points = {{{0.05, 0.05, 0.1}}, {{0.2, 0.05, 0.1}}, {{0.35, 0.05, 0.1}}};
  upper.range = {0, 0.06};
  ActuatorScene left = upper;
  left.name = "left";
  left.points = {{{0.05, 0.1, 0.03}}, {{0.35, 0.1, 0.03}}};
  left.range = {0, 0.02};
  scene.actuators = {upper, left};
  scene.effectors = {position_effector("head", {{0.4, 0.05, 0.05}}), position_effector("tail", {{0, 0.05, 0.05}})};
  return scene;
}

inline Mesh mesh() {
  return box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 8, 2, 2);
}

}  // namespace supple::floating_bodies

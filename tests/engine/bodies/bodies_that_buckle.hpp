#pragma once
// Bodies with several equilibria for one command.

#include "engine/mesh/generate.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple::bodies_that_buckle {

// A column that is pushed along itself, beyond Euler's load pi^2 E I/(4 L^2): straight it is in equilibrium, and not for
// long. It is wider one way, so that it is clear which way it gives.
inline FullModel column(double load) {
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
  scene.gravity = {{0, 0, 0}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene push;
  push.name = "push";
  push.kind = ActuatorKind::force;
  push.points = {{{0.4, 0.02, 0.01}}};
  push.direction = {{-1, 0, 0}};
  push.control = ActuatorControl::force;
  push.range = {0, load};
  scene.actuators = {push};
  return build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.4, 0.04, 0.02}}, 16, 2, 2));
}

}  // namespace supple::bodies_that_buckle

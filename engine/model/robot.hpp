#pragma once
// What a robot is apart from its mesh: actuators as constraint rows over mapped points, effectors, probes, gravity. The
// same object in the full model and in the reduced one; built once, never changed.
//
// Mapped points: y = y_rest + L q + L_c c, three coordinates each [m]; the model that owns the robot knows L.

#include <string>
#include <vector>

#include "engine/scene/scene.hpp"

namespace supple {

// A cable as one constraint row: phi = L0 - L(y) [m], positive when shortened; its multiplier is the tension [N].
struct CableRow {
  std::string name;
  int first_point = 0;  // its via-points are consecutive mapped points
  int point_count = 0;
  std::optional<Vec3d> pull_point;  // fixed end after the last via-point
  double rest_length = 0;           // L0 [m]
  CableControl control = CableControl::displacement;
  bool bilateral = false;
  Interval range;  // of the command [m or N]
  Interval force;  // of the tension [N]
  double rate = unlimited;
  int samples = 2;
};

struct NamedPoint {
  std::string name;
  std::string set;  // probes: reported together
  int point = 0;    // mapped point
};

// A prescribed translation: input value [m] along `direction`, moving the nodes of one fixed region.
struct MotionInput {
  std::string name;
  Vec3d direction{{0, 0, 0}};
  Interval range;
};

struct Robot {
  std::string name;
  Vec3d gravity{{0, 0, 0}};
  double time_step = 0.01;
  Integrator integrator = Integrator::implicit_euler;
  double rayleigh_mass = 0, rayleigh_stiffness = 0;
  std::vector<Vec3d> rest_points;  // y_rest
  std::vector<CableRow> cables;
  std::vector<NamedPoint> effectors, probes;
  std::vector<MotionInput> motions;
  int rows() const { return static_cast<int>(cables.size()); }
  int outputs() const { return 3 * static_cast<int>(rest_points.size()); }
};

}  // namespace supple

#pragma once
// The peer's diamond scene in our terms, from the public files in ../shared/peer when they are there. See tests that
// use it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/read.hpp"

namespace supple::peer {

inline std::string folder() {
  return std::string(SUPPLE_SOURCE_DIR) + "/../shared/peer";
}

#define SUPPLE_NEEDS_PEER() \
  if (!std::filesystem::exists(supple::peer::folder())) GTEST_SKIP() << "../shared/peer is not here"

// Diamond with four cables as in SOFA's ModelOrderReduction example, in SI: E = 450 kPa, nu = 0.45, 0.5 kg spread
// equally over the nodes, rotated by 90 degrees about x and lifted by 35 mm, nodes in the box fixed.
inline Scene diamond(const std::string& mesh, MaterialModel model, RotationKind rotation, bool bilateral) {
  Scene scene;
  scene.name = "diamond";
  scene.gravity = {{0, 0, -9.81}};
  BodyScene body;
  body.mesh_file = folder() + "/diamond/" + mesh;
  body.mesh_unit = 1e-3;
  body.transform.rotation = {{M_PI / 2, 0, 0}};
  body.transform.translation = {{0, 0, 0.035}};
  body.mass = 0.5;
  body.mass_kind = MassKind::per_node;
  MaterialScene material;
  material.model = model;
  material.rotation = rotation;
  material.young = 450e3;
  material.poisson = 0.45;
  body.materials = {material};
  FixScene fix;
  fix.region.kind = Region::Kind::box;
  fix.region.lower = {{-0.015, -0.015, -0.04}};
  fix.region.upper = {{0.015, 0.015, 0.01}};
  body.fixes = {fix};
  scene.bodies = {body};
  const char* names[] = {"north", "west", "south", "east"};
  const double x[] = {0, -1, 0, 1}, y[] = {1, 0, -1, 0};
  for (int i = 0; i < 4; ++i) {
    ActuatorScene cable;
    cable.name = names[i];
    cable.points = {{{0.097 * x[i], 0.097 * y[i], 0.045}}};
    cable.pull_point = {{0.010 * x[i], 0.010 * y[i], 0.030}};
    cable.range = {-1, 1};
    cable.bilateral = bilateral;
    scene.actuators.push_back(cable);
  }
  return scene;
}

}  // namespace supple::peer

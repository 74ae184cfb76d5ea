// What building a model decides before any step: who moves with whom, and what is refused.
#include <gtest/gtest.h>

#include "engine/mesh/generate.hpp"
#include "engine/model/full_model.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {
namespace {

Scene bar() {
  Scene scene;
  BodyScene body;
  body.density = 1000;
  MaterialScene material;
  material.young = 1e5;
  material.poisson = 0.3;
  body.materials = {material};
  FixScene fix;
  fix.region.kind = Region::Kind::group;
  fix.region.group = "x-";
  body.fixes = {fix};
  scene.bodies = {body};
  return scene;
}

Mesh mesh() {
  return box_hexahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1);
}

TEST(BuildModel, RegionsOfOneMotionMoveTogether) {
  Scene scene = bar();
  scene.bodies[0].fixes[0].motion = "slide";
  scene.bodies[0].fixes[0].motion_direction = {{2, 0, 0}};
  scene.bodies[0].fixes.push_back(scene.bodies[0].fixes[0]);
  scene.bodies[0].fixes[1].region.group = "x+";
  const FullModel model = build_full_model(scene, mesh());
  ASSERT_EQ(model.robot.motions.size(), 1u);
  EXPECT_EQ(model.robot.motions[0].direction, (Vec3d{{1, 0, 0}}));
  int driven = 0;
  for (int motion : model.node_motion) driven += motion == 0;
  EXPECT_EQ(driven, 8);
}

TEST(BuildModel, MoreActuatorsThanRowsCanBeSolvedAreRefused) {
  Scene scene = bar();
  ActuatorScene cable;
  cable.points = {{{0.4, 0.05, 0.1}}};
  cable.pull_point = {{0, 0, 0.5}};
  for (int i = 0; i <= max_box_complementarity; ++i) {
    cable.name = std::to_string(i);
    scene.actuators.push_back(cable);
  }
  EXPECT_THROW((void)build_full_model(scene, mesh()), InputError);
  scene.actuators.pop_back();
  EXPECT_EQ(build_full_model(scene, mesh()).robot.rows(), max_box_complementarity);
}

}  // namespace
}  // namespace supple

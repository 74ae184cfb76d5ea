// Points beside the body that the nodes of a region carry.

#include <gtest/gtest.h>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/generate.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

Scene beam(const Vec3d& point, const Region& region) {
  Scene scene = boxes::scene(boxes::all_laws()[0]);
  PointScene probe;
  probe.name = "marker";
  probe.point = point;
  probe.region = region;
  scene.probes = {probe};
  EffectorScene effector = position_effector("tip", point);
  effector.region = region;
  scene.effectors = {effector};
  return scene;
}

TEST(CarriedPoints, FollowEveryLinearField) {
  const Vec3d marker{{0.5, 0.5, 2}};  // a body's length beside it
  Scene scene = beam(marker, boxes::box_region({{0.2, 0, 0}}, {{0.8, 1, 1}}));
  for (const bool hexahedra : {false, true})
    for (const int order : {1, 2}) {
      scene.bodies[0].order = order;
      const Vec3d upper{{1, 1, 1}};
      const FullModel model = build_full_model(
          scene, hexahedra ? box_hexahedra({{0, 0, 0}}, upper, 5, 2, 2) : box_tetrahedra({{0, 0, 0}}, upper, 5, 2, 2));
      const Mat3d A{{0.3, -0.2, 0.1, 0.4, 0.1, 0.2, -0.3, 0.2, -0.1}};  // no small turn
      const Vec3d shift{{0.1, 0.2, -0.3}};
      std::vector<double> q;
      for (const int node : model.free_nodes) {
        const Vec3d u = A * model.mesh.nodes[static_cast<std::size_t>(node)] + shift;
        q.insert(q.end(), u.v, u.v + 3);
      }
      FullMechanics mechanics(model);
      std::vector<double> y(extent(model.robot.outputs()));
      mechanics.evaluate_outputs(q, {}, y);
      const Vec3d expected = marker + A * marker + shift;
      for (const NamedPoint& point : model.robot.reported_points())
        for (int k = 0; k < 3; ++k)
          // Sums over a few dozen nodes with weights of order one.
          EXPECT_NEAR(y[static_cast<std::size_t>(3 * point.point + k)], expected[k], 1e-13) << point.name;
      EXPECT_TRUE(model.notes.empty());  // it is not outside by mistake
    }
}

TEST(CarriedPoints, NeedARegionWithSomeThickness) {
  const Scene scene = beam({{0.5, 0.5, 2}}, boxes::box_region({{-1, -1, 1}}, {{2, 2, 2}}));  // the upper face
  try {
    (void)build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{1, 1, 1}}, 2, 2, 2));
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("all in one plane"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace supple

// The estimate of locking against what a beam knows.

#include "engine/measure/locking.hpp"

#include <gtest/gtest.h>

#include "engine/mesh/write.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

class Locking : public testing::Test {
 protected:
  // 0.4 m x 40 mm x 40 mm, held at one end, a force across the other; so many cells across.
  LockingEstimate of(int across, bool hexahedra) {
    Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
    scene.gravity = {{0, 0, -9.81}};
    scene.bodies[0].mesh_file = folder_ / "beam.msh";
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    scene.actuators = {boxes::pull("along", {{0.4, 0.02, 0.02}}, {{1, 0, 0}}, 10)};
    const Vec3d upper{{0.4, 0.04, 0.04}};
    write_msh(folder_ / "beam.msh", hexahedra ? box_hexahedra({{0, 0, 0}}, upper, 10 * across, across, across)
                                              : box_tetrahedra({{0, 0, 0}}, upper, 10 * across, across, across));
    return estimate_locking(scene, build_full_model(scene));
  }
  TemporaryFolder folder_;
};

TEST_F(Locking, BendingLocksAndFallsWithTheSquareOfTheMeshAndPullingDoesNot) {
  const LockingEstimate coarse = of(1, false), fine = of(2, false);
  ASSERT_EQ(coarse.loads.size(), 2u);
  EXPECT_EQ(coarse.loads[0].name, "gravity");
  EXPECT_EQ(coarse.loads[1].name, "along");
  EXPECT_GT(coarse.loads[0].stiffening, 1);
  EXPECT_GT(coarse.loads[0].stiffening / fine.loads[0].stiffening, 2.5);  // second order: 4 in the limit
  EXPECT_LT(coarse.loads[1].stiffening, 0.1 * coarse.loads[0].stiffening);
  EXPECT_GT(coarse.loads[1].stiffening, 0);
}

TEST_F(Locking, OneHexahedronAcrossIsTooStiffByWhatTheoryKnows) {
  // A trilinear element of edges h, bent: too stiff by (1 + nu')(h / H)^2 / ... : with nu = 0 by h^2 / (2 H^2) of one as
  // long as high (statics_test.cpp); here nu = 0.3, so more than a half.
  const LockingEstimate estimate = of(1, true);
  EXPECT_GT(estimate.loads[0].stiffening, 0.4);
  EXPECT_LT(estimate.loads[0].stiffening, 1.0);
}

TEST_F(Locking, IsNotKnownOfABodyThatNothingHolds) {
  Scene scene = boxes::scene({"", MaterialModel::corotational});
  scene.bodies[0].mesh_file = folder_ / "box.msh";
  write_msh(folder_ / "box.msh", box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 1, 1, 1));
  EXPECT_TRUE(estimate_locking(scene, build_full_model(scene)).loads.empty());
}

}  // namespace
}  // namespace supple

// The estimate of a mesh's error against what a beam knows.

#include "engine/measure/mesh_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/write.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

class Locking : public testing::Test {
 protected:
  // 0.4 m x 40 mm x 40 mm, held at one end, a force across the other; so many cells across.
  MeshError of(int across, bool hexahedra, int order = 1) {
    Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
    scene.gravity = {{0, 0, -9.81}};
    scene.bodies[0].mesh_file = folder_ / "beam.msh";
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    scene.bodies[0].order = order;
    scene.actuators = {boxes::pull("along", {{0.4, 0.02, 0.02}}, {{1, 0, 0}}, 10)};
    const Vec3d upper{{0.4, 0.04, 0.04}};
    write_msh(folder_ / "beam.msh", hexahedra ? box_hexahedra({{0, 0, 0}}, upper, 10 * across, across, across)
                                              : box_tetrahedra({{0, 0, 0}}, upper, 10 * across, across, across));
    return estimate_mesh_error(scene, build_full_model(scene));
  }
  TemporaryFolder folder_;
};

TEST_F(Locking, BendingLocksAndFallsWithTheSquareOfTheMeshAndPullingDoesNot) {
  const MeshError coarse = of(1, false), fine = of(2, false);
  ASSERT_EQ(coarse.loads.size(), 2u);
  EXPECT_EQ(coarse.loads[0].name, "gravity");
  EXPECT_EQ(coarse.loads[1].name, "along");
  EXPECT_GT(coarse.loads[0].further, 1);
  EXPECT_GT(coarse.loads[0].further / fine.loads[0].further, 2.5);  // second order: 4 in the limit
  EXPECT_LT(coarse.loads[1].further, 0.1 * coarse.loads[0].further);
  EXPECT_GT(coarse.loads[1].further, 0);
}

TEST_F(Locking, OneHexahedronAcrossIsTooStiffByWhatTheoryKnows) {
  // A trilinear element with edges h along and H across, bent with nu = 0, is too stiff by h^2 / (2 H^2), a half of one
  // as long as high (statics_test.cpp). Here nu = 0.3: its strain along x is constant across and cannot be answered by one
  // across, which adds up to 1 / (1 - nu^2) - 1 = 0.1 and, of the dilatation at its mean, takes away less.
  const MeshError estimate = of(1, true);
  EXPECT_GT(estimate.loads[0].further, 0.4);
  EXPECT_LT(estimate.loads[0].further, 1.0);
}

TEST_F(Locking, ElementsOfSecondOrderAreComparedWithOnesOfHalfTheSize) {
  const MeshError tetrahedra = of(1, false, 2), hexahedra = of(1, true, 2);
  // One element of second order across: a few per cent at the clamp and in shear; linear ones are off by more than their
  // own size.
  for (const MeshError& error : {tetrahedra, hexahedra}) {
    EXPECT_LT(std::abs(error.loads[0].further), 0.05);
    EXPECT_GT(std::abs(error.loads[0].further), 1e-6);
    EXPECT_STREQ(error.finer, "elements of half the size");
  }
  // Cells 10 x 1 x 1, halved 20 x 2 x 2: corners, edges along three axes, and faces' diagonals and one inside for six
  // tetrahedra a cell; without the held end.
  EXPECT_EQ(hexahedra.unknowns, 3 * ((21 * 9 + 20 * 9 + 2 * 21 * 6) - (9 + 12)));
}

// With a tip and a cable that is pulled by a length: what two equilibria of each mesh show when it is pulled a little.
TEST_F(Locking, OfACommandIsWhatItDoesToTheEffectors) {
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
  scene.bodies[0].mesh_file = folder_ / "beam.msh";
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable = boxes::pull("cable", {{0.4, 0.02, 0.04}}, {{-1, 0, 0.5}}, 0.5);
  cable.control = ActuatorControl::displacement;
  scene.actuators = {cable};
  scene.effectors = {position_effector("tip", {{0.4, 0.02, 0.0}})};
  write_msh(folder_ / "beam.msh", box_hexahedra({{0, 0, 0}}, {{0.4, 0.04, 0.04}}, 10, 1, 1));
  const auto moved = [&](int order) {
    scene.bodies[0].order = order;
    const FullModel model = build_full_model(scene);
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Equilibrium equilibrium(mechanics, {});
    EXPECT_EQ(equilibrium.solve({{1e-6}, {}}, state).status, StepStatus::ok);
    const std::vector<double> y = equilibrium.outputs();
    const auto at = static_cast<std::size_t>(model.robot.effectors[0].point);
    return Vec3d{{y[3 * at], y[3 * at + 1], y[3 * at + 2]}} - model.robot.rest_points[at];
  };
  const Vec3d coarse = moved(1), fine = moved(2);
  scene.bodies[0].order = 1;
  const MeshError error = estimate_mesh_error(scene, build_full_model(scene));
  ASSERT_EQ(error.loads.size(), 1u);  // no gravity
  // Pulled by 1e-6 m the body is linear to 1e-5; equilibria are found to 1e-9.
  EXPECT_NEAR(error.loads[0].error, norm(fine - coarse) / norm(fine), 1e-3);
  EXPECT_NEAR(error.loads[0].further, norm(fine) / norm(coarse) - 1, 1e-3);
  EXPECT_EQ(&error.worst(), &error.loads[0]);
}

// Pulled along itself by its weight a beam moves by microns: what the mesh makes of that counts beside what commands do.
TEST_F(Locking, OfAWeightThatMovesLittleIsBesideTheCommands) {
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
  scene.gravity = {{-9.81, 0, 0.1}};
  scene.bodies[0].mesh_file = folder_ / "beam.msh";
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable = boxes::pull("cable", {{0.4, 0.02, 0.04}}, {{-1, 0, 0.5}}, 0.5);
  cable.control = ActuatorControl::displacement;
  scene.effectors = {position_effector("tip", {{0.4, 0.02, 0.0}})};
  write_msh(folder_ / "beam.msh", box_hexahedra({{0, 0, 0}}, {{0.4, 0.04, 0.04}}, 10, 1, 1));
  const auto of_gravity = [&](double range) {
    cable.range = {0, range};
    scene.actuators = {cable};
    const MeshError error = estimate_mesh_error(scene, build_full_model(scene));
    EXPECT_EQ(error.loads.size(), 2u);
    EXPECT_EQ(error.loads[0].name, "gravity");
    return error.loads[0].counts;
  };
  const double alone = of_gravity(1e-9), beside = of_gravity(0.04);
  EXPECT_GT(alone, 0.2);
  EXPECT_LT(beside, 0.1 * alone);
  EXPECT_NEAR(of_gravity(0.08), beside / 2, 1e-12);
}

TEST_F(Locking, IsNotKnownOfABodyThatNothingHolds) {
  Scene scene = boxes::scene({"", MaterialModel::corotational});
  scene.bodies[0].mesh_file = folder_ / "box.msh";
  write_msh(folder_ / "box.msh", box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 1, 1, 1));
  EXPECT_TRUE(estimate_mesh_error(scene, build_full_model(scene)).loads.empty());
}

}  // namespace
}  // namespace supple

// Scenes of several bodies as they are read from files.

#include "engine/reduction/assembly_robot.hpp"

#include <gtest/gtest.h>

#include "engine/dynamics/forward_step.hpp"
#include "engine/reduction/model_file.hpp"
#include "engine/scene/reader.hpp"
#include "tests/engine/assemblies.hpp"

namespace supple {
namespace {

using namespace assemblies;

std::string gripper(const std::string& file) {
  return std::string(SUPPLE_SOURCE_DIR) + "/assets/gripper/" + file;
}

TEST(AssemblyRobot, FingersOfTheGripperAreTurnedImagesOfEachOther) {
  AssemblyRobot robot(read_assembly(gripper("scene.toml")));
  AssemblyMechanics& mechanics = robot.mechanics();
  ForwardStep step(mechanics, Integrator::implicit_euler, 0.01);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  std::fill(control.commands.begin(), control.commands.end(), 0.005);
  control.motions[0] = 0.01;
  for (int k = 0; k < 3; ++k) ASSERT_EQ(step.step(control, state).status, StepStatus::ok);
  const std::size_t nv = extent(mechanics.coordinates().nv / 3);
  const std::vector<double> first = part(state.q, 0, nv);
  EXPECT_GT(boxes::norm(first), 1e-3);
  // The same in their own axes; the law solves three rows together, weight is turned with rounding.
  for (int k = 1; k < 3; ++k) EXPECT_LT(boxes::difference(part(state.q, k * static_cast<int>(nv), nv), first), 1e-9);
  // Tips in the world: turned by 120 degrees about z.
  std::vector<double> y(extent(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  const Mat3d third = rotation_exp({{0, 0, 2.0943951023931953}});
  const Vec3d tip = point_at(y, effector_point(mechanics.robot(), "finger-1/tip"));
  // Its place in the scene is given to 10 um.
  EXPECT_LT(norm(third * tip - point_at(y, effector_point(mechanics.robot(), "finger-2/tip"))), 2e-5);
  // The palm has its place, and its box is drawn there.
  EXPECT_NEAR(point_at(y, mechanics.robot().probes[0].point)[2], 0.004 + 0.01, 1e-15);
  const Surface shape = robot.surface(state.q, state.motions);
  EXPECT_NEAR(shape.nodes.back()[2], 0.008 + 0.01, 1e-12);
}

// The gripper that hangs on springs; its palm moves and turns freely.
void expect_it_weighs_on_its_springs(const AssemblyScene& scene) {
  AssemblyRobot robot(scene);
  AssemblyMechanics& mechanics = robot.mechanics();
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  ASSERT_EQ(equilibrium.solve(zero_control(mechanics), state).status, StepStatus::ok);
  double lift = 0;
  for (const ConstraintRow& spring : mechanics.robot().springs) {
    double g[6];
    lift += -evaluate_constraint(spring, equilibrium.outputs(), g) / spring.compliance * spring.direction[2];
  }
  double mass = *robot.scene().rigids[0].mass;
  for (const Assembly::Body& body : mechanics.assembly().bodies) mass += body.inertia.rest.mass;
  EXPECT_NEAR(mass, 0.26, 1e-3);  // a palm of 200 g and three fingers of 20 g
  EXPECT_NEAR(lift, 9.81 * mass, 1e-7);
}

TEST(AssemblyRobot, HangingGripperWeighsOnItsSprings) {
  expect_it_weighs_on_its_springs(read_assembly(gripper("hanging.toml")));
}

// Files of reduced models say how their bodies resist turning; an imported model does not.
TEST(AssemblyRobot, ReducedFingersHangOnAFreePalm) {
  const reduced_bodies::TemporaryFolder folder;
  AssemblyScene scene = read_assembly(gripper("hanging.toml"));
  const FullModel full = build_full_model(read_scene(scene.parts[0].scene));
  ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 3), 3, reduced_bodies::some_elements(full));
  const std::string file = folder / "finger.rom.h5";
  write_model(model, file);
  for (PartScene& part : scene.parts) {
    part.scene.clear();
    part.model = file;
  }
  expect_it_weighs_on_its_springs(scene);
  model.turning.clear();
  write_model(model, file);
  EXPECT_THROW(AssemblyRobot{scene}, InputError);
}

}  // namespace
}  // namespace supple

// Scenes of several bodies as they are read from files.

#include "engine/mechanics/assembly/assembly_robot.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/io/model_file.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "engine/sofa/sofa_audit.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/assemblies.hpp"

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
  const auto refused = [&](const char* what, const auto& change) {
    ReducedModel damaged = model;
    change(damaged.rest_inertia);
    write_model(damaged, file);
    try {
      (void)read_model(file);
      ADD_FAILURE() << what;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refused("'/inertia/mass' is not positive", [](RigidInertia& rest) { rest.mass = 0; });
  refused("'/inertia/moments' is not symmetric", [](RigidInertia& rest) { rest.inertia.m[1] += 1e-3; });
  refused("'/inertia/moments' is not that of a body", [](RigidInertia& rest) { rest.inertia = -1.0 * rest.inertia; });
  refused("'/inertia/moments' is not that of a body", [](RigidInertia& rest) { rest.inertia.m[0] += 1; });
  model.first_moments.clear();
  model.second_moments.clear();
  write_model(model, file);
  EXPECT_THROW(AssemblyRobot{scene}, InputError);
}

// A bar read from a file on a base that spins and drifts, against the full bar there: all modes and elements are the
// same model, so that what the file says of mass, of its place and of the axes of frames is all that could differ.
TEST(AssemblyRobot, ABarReadFromAFileMovesItsFreeBase) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string scene_file = folder / "bar.toml", model_file = folder / "bar.rom.h5";
  std::ofstream(scene_file) << write_scene(
      reduced_bodies::saved_bar(folder, {"corotational", MaterialModel::corotational}, false));
  const FullModel full = build_full_model(read_scene(scene_file));
  const int n = full.coordinates.nv;
  write_model(project(full, reduced_bodies::full_basis(n), n, all_elements(full)), model_file);
  AssemblyScene scene;
  scene.name = "bar on a base";
  scene.gravity = {{0, 0, 0}};
  RigidScene base;
  base.name = "base";
  base.mass = 2;
  base.size = Vec3d{{0.2, 0.15, 0.25}};
  base.translation = {{0.01, 0.02, 0.03}};
  base.rotation = {{0.3, -0.2, 0.1}};
  scene.rigids = {base};
  PartScene part;
  part.name = "bar";
  part.on = "base";
  part.translation = {{0.005, 0, 0.01}};
  part.rotation = {{0, 0.5, 0}};
  part.scene = scene_file;
  scene.parts = {part};
  AssemblyRobot whole(scene);
  scene.parts[0].scene.clear();
  scene.parts[0].model = model_file;
  AssemblyRobot read(scene);
  ASSERT_TRUE(read.reduced(0) && !whole.reduced(0));
  const auto run = [&](AssemblyRobot& robot) {
    Stepper stepper(robot.mechanics(), {.time_step = 0.002});
    State state = rest_state(robot.mechanics());
    const std::size_t frame = extent(robot.mechanics().coordinates().nv) - 6;
    const double twist[6] = {0.1, -0.05, 0.02, 1.5, 1, -2};  // m/s, rad/s
    std::copy_n(twist, 6, state.v.begin() + static_cast<long>(frame));
    for (int k = 0; k < 100; ++k) {
      const StepReport report = stepper.step(zero_control(robot.mechanics()), state);
      if (report.status != StepStatus::ok) {
        ADD_FAILURE() << k << ": " << describe(report.status);
        break;
      }
    }
    return state;
  };
  const State expected = run(whole), found = run(read);
  // It has turned by half a radian and bent.
  EXPECT_GT(boxes::norm(assemblies::part(expected.q, 0, extent(n))), 1e-4);
  // Products with the basis and with stored numbers round, over a hundred steps.
  EXPECT_LT(boxes::difference(found.q, expected.q), 1e-8);
  EXPECT_LT(boxes::difference(found.v, expected.v), 1e-6);
}

const double squeeze = 0.01;  // of each cable [m]

void close_fingers(Mechanics& mechanics, int steps, State& state, int* touching = nullptr,
                   Integrator integrator = Integrator::implicit_euler) {
  ForwardStep step(mechanics, integrator, 0.01);
  Control control = zero_control(mechanics);
  for (int k = 1; k <= steps; ++k) {
    std::fill(control.commands.begin(), control.commands.end(), std::min(1.0, (state.time + 0.01) / 0.2) * squeeze);
    const StepReport report = step.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << k << ": " << describe(report.status);
    if (touching) *touching = report.contact.touching;
  }
}

// The scene of one finger among the ball of the grasp, in its own axes.
Scene finger_among(const AssemblyScene& whole) {
  Scene finger = read_scene(whole.parts[0].scene);
  finger.obstacles = whole.obstacles;
  finger.obstacles[0].position = whole.obstacles[0].position - whole.rigids[0].translation - whole.parts[0].translation;
  finger.contact.distance = whole.contact.distance;
  return finger;
}

Vec3d sum_of_forces(const State& state, std::size_t first, std::size_t count) {
  Vec3d sum{{0, 0, 0}};
  for (std::size_t i = 0; i < 3 * count; ++i) sum[static_cast<int>(i % 3)] += state.contact_forces[3 * first + i];
  return sum;
}

// Each finger alone against the ball that is a third of the grasp.
void expect_each_finger_presses_as_alone(AssemblyRobot& robot, Mechanics& alone,
                                         Integrator integrator = Integrator::implicit_euler) {
  State expected = rest_state(alone), state = rest_state(robot.mechanics());
  int touching = 0;
  close_fingers(alone, 30, expected, nullptr, integrator);
  close_fingers(robot.mechanics(), 30, state, &touching, integrator);
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_GE(touching, 3);
  const auto points = extent(robot.mechanics().robot().collision_points / 3);
  const Vec3d one = sum_of_forces(expected, 0, points);
  EXPECT_GT(norm(one), 0.02);
  const std::size_t nv = expected.q.size();
  for (int k = 0; k < 3; ++k) {
    // Places of the others are given to 10 um, and friction sticks where a point first touches.
    const double tolerance = k == 0 ? 1e-6 : 1e-3;
    EXPECT_LT(boxes::difference(part(state.q, k * static_cast<int>(nv), nv), expected.q), tolerance) << k;
    // The forces of many points have few modes to balance: their sum is not determined to more than friction leaves.
    const Mat3d turn = robot.mechanics().body_pose(k, state.q, state.motions).rotation;
    EXPECT_LT(norm(transpose(turn) * sum_of_forces(state, extent(k) * points, points) - one),
              robot.reduced(k) ? 1e-2 : tolerance)
        << k;
  }
}

TEST(AssemblyRobot, FingersGraspABall) {
  const AssemblyScene scene = read_assembly(gripper("grasp.toml"));
  AssemblyRobot robot(scene);
  const FullModel finger = build_full_model(finger_among(scene));
  FullMechanics alone(finger);
  expect_each_finger_presses_as_alone(robot, alone);
}

TEST(AssemblyRobot, ReducedFingersGraspABallByTheirOwnPoints) {
  const reduced_bodies::TemporaryFolder folder;
  AssemblyScene scene = read_assembly(gripper("grasp.toml"));
  const FullModel finger = build_full_model(finger_among(scene));
  FullMechanics mechanics(finger);
  // Modes of the finger as it closes on the ball.
  std::vector<double> basis;
  State state = rest_state(mechanics);
  for (const int steps : {6, 6, 6, 12}) {
    close_fingers(mechanics, steps, state);
    basis.insert(basis.end(), state.q.begin(), state.q.end());
  }
  ReducedModel model = project(finger, orthonormalise(basis, finger.coordinates.nv, 4).basis, 4, all_elements(finger));
  const std::string file = folder / "finger.rom.h5";
  write_model(model, file);
  for (PartScene& part : scene.parts) {
    part.scene.clear();
    part.model = file;
  }
  AssemblyRobot robot(scene);
  ReducedMechanics alone(model, 1);
  for (const Integrator integrator : {Integrator::implicit_euler, Integrator::implicit_euler_newton})
    expect_each_finger_presses_as_alone(robot, alone, integrator);
  // A whole without obstacles, and a part without points, are refused.
  AssemblyScene nothing = scene;
  nothing.obstacles.clear();
  EXPECT_THROW(AssemblyRobot{nothing}, InputError);
  const FullModel blind = build_full_model(read_scene(read_assembly(gripper("grasp.toml")).parts[0].scene));
  write_model(
      project(blind, reduced_bodies::random_basis(blind.coordinates.nv, 2), 2, reduced_bodies::some_elements(blind)),
      file);
  EXPECT_THROW(AssemblyRobot{scene}, InputError);
}

}  // namespace
}  // namespace supple

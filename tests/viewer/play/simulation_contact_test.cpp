// Frames of a robot among obstacles: what presses, sticks and slides, what the modes lack of it, steps that were held.

#include "tests/engine/bodies/reduced_bodies.hpp"
#include "viewer/play/simulation.hpp"

namespace supple::view {
namespace {

// A floor under the bar, to which its goal leads it and along which it is led then.
std::shared_ptr<OpenedRobot> bar_over_floor(bool reduced) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.actuators.resize(1);
  scene.effectors.resize(1);
  for (const auto& [name, direction] : {std::pair{"down", Vec3d{{0, 0, -1}}}, {"aside", Vec3d{{0, 1, 0}}}}) {
    ActuatorScene force;
    force.name = name;
    force.kind = ActuatorKind::force;
    force.points = {{{0.27, 0.05, 0.06}}};
    force.direction = direction;
    force.control = ActuatorControl::force;
    force.bilateral = true;
    force.range = {-40, 40};
    scene.actuators.push_back(force);
  }
  ObstacleScene floor;
  floor.name = "floor";
  floor.position = {{0, 0, -0.03}};
  floor.friction = 0.5;
  scene.obstacles = {floor};
  FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  auto robot = std::make_shared<OpenedRobot>();
  robot->file = "bar";
  if (reduced) {
    const int n = model.coordinates.nv;
    robot->reduced = project(model, reduced_bodies::full_basis(n), n, all_elements(model));
    robot->mechanics = std::make_unique<ReducedMechanics>(*robot->reduced);
    robot->shape = std::make_unique<RobotShape>(*robot->reduced);
  } else {
    robot->full = std::move(model);
    robot->mechanics = std::make_unique<FullMechanics>(*robot->full);
    robot->shape = std::make_unique<RobotShape>(*robot->full);
  }
  return robot;
}

class PlayedInContact : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(FullAndReduced, PlayedInContact, testing::Bool(),
                         [](const auto& info) { return info.param ? "reduced" : "full"; });

TEST_P(PlayedInContact, FramesSayWhatPressesAndWhatSlides) {
  const auto robot = bar_over_floor(GetParam());
  if (GetParam()) {  // as if the modes had a tenth less than the full model
    const ReducedModel& model = *robot->reduced;
    robot->reduced->full_compliance.assign(static_cast<std::size_t>(9 * model.robot.collision_points), 0.0);
    robot->reduced->own_compliance = robot->reduced->full_compliance;
    for (std::size_t k = 0; k < robot->reduced->full_compliance.size(); ++k)
      if (k % 9 % 4 == 0) {
        robot->reduced->full_compliance[k] = 1e-3;
        robot->reduced->own_compliance[k] = 0.7e-3;
      }
  }
  const reduced_bodies::TemporaryFolder folder;
  const std::string file = folder / "a.rec.h5";
  Simulation simulation(robot, nullptr);
  EXPECT_TRUE(simulation.frame().touches.empty());
  EXPECT_EQ(contact_text(robot->robot(), simulation.frame()), "no contact");
  simulation.record(file);
  Intent intent = simulation.rest_intent();
  std::vector<Frame> live{simulation.frame()};
  bool slid = false, stuck = false;
  for (int k = 0; k < 40; ++k) {
    intent.goals[2] -= k < 20 ? 2e-3 : 0;
    intent.goals[1] += k < 25 ? 0 : 1e-3;
    ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
    live.push_back(simulation.frame());
    for (const Touch& touch : simulation.frame().touches) (touch.sliding ? slid : stuck) = true;
  }
  EXPECT_TRUE(slid);
  EXPECT_TRUE(stuck);
  const Frame last = simulation.frame();
  ASSERT_FALSE(last.touches.empty());
  const std::string words = contact_text(robot->robot(), last);
  EXPECT_NE(words.find("contact: " + std::to_string(last.touches.size()) + " point"), std::string::npos) << words;
  EXPECT_NE(words.find("N on floor"), std::string::npos) << words;
  EXPECT_EQ(words.find("30 % of what contact does lies outside the modes") != std::string::npos, GetParam()) << words;
  EXPECT_EQ(last.outside.has_value(), GetParam());
  simulation.record("");

  // A recording shows the same.
  Simulation played(robot, nullptr, std::make_unique<RecordingReader>(file));
  for (std::size_t k = 0; k < live.size(); ++k) {
    played.seek(static_cast<long>(k));
    ASSERT_EQ(played.frame().touches.size(), live[k].touches.size()) << k;
    for (std::size_t i = 0; i < live[k].touches.size(); ++i) {
      EXPECT_EQ(played.frame().touches[i].sliding, live[k].touches[i].sliding) << k;
      EXPECT_EQ(played.frame().touches[i].force, live[k].touches[i].force);
    }
  }
  // Back to where nothing pressed.
  simulation.seek(0);
  EXPECT_TRUE(simulation.frame().touches.empty());
}

// Goals that must be reached exactly and cannot: counted, with the reason of the last.
TEST_P(PlayedInContact, HeldStepsAreCounted) {
  const auto robot = bar_over_floor(GetParam());
  (GetParam() ? robot->reduced->robot : robot->full->robot).effectors[0].exact = true;
  Simulation simulation(robot, nullptr);
  Intent intent = simulation.rest_intent();
  EXPECT_EQ(simulation.frame().held_steps, 0);
  intent.goals[2] -= 1;
  for (int k = 1; k <= 3; ++k) {
    ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
    EXPECT_FALSE(simulation.frame().held.empty());
    EXPECT_EQ(simulation.frame().held_steps, k);
  }
  ASSERT_TRUE(simulation.back());
  EXPECT_EQ(simulation.frame().held_steps, 2);
  simulation.reset();
  EXPECT_EQ(simulation.frame().held_steps, 0);
}

}  // namespace
}  // namespace supple::view

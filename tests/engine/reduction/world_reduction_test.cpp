// Parts of a scene of several bodies reduced in their world.

#include "engine/reduction/world_reduction.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/inverse/inverse_step.hpp"
#include "engine/reduction/world_runs.hpp"
#include "engine/scene/writer.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/assembly_files.hpp"

namespace supple {
namespace {

// Two bars that face each other, each on a disc that turns about y, with a box on springs between their tips.
std::string bridge(const reduced_bodies::TemporaryFolder& folder) {
  Scene bar = reduced_bodies::saved_bar(folder, assemblies::corotational, false);
  bar.bodies[0].fixes.resize(1);
  std::ofstream(folder / "bar.toml") << write_scene(bar);
  std::string text = R"(
name = "bridge"
[reduce]
states = 10
validation_states = 8
error = "2 %"
[[rigid]]
name = "box"
mass = 0.2
size = [0.04, 0.04, 0.04]
translation = [0.35, 0.05, 0.05]
collision = "none"
[[effector]]
name = "place"
at = "box"
)";
  for (const int k : {1, 2})
    text += fmt::format(R"(
[[rigid]]
name = "disc-{0}"
translation = [{1}, {2}, 0]
rotation = [0, 0, "{3} deg"]
motion = [{{name = "turn", type = "rotation", direction = [0, 1, 0], range = ["-15 deg", "15 deg"]}}]
[[part]]
name = "bar-{0}"
scene = "bar.toml"
on = "disc-{0}"
collision = "none"
[[link]]
name = "spring-{0}"
type = "distance"
from = "bar-{0}:tip"
to = "box"
stiffness = 400
)",
                        k, k == 1 ? 0.0 : 0.7, k == 1 ? 0.0 : 0.1, k == 1 ? 0 : 180);
  return text;
}

// A bar that a driven block bends, with a free one lying on its end, by commands in time.
std::string pressed(const reduced_bodies::TemporaryFolder& folder, const std::string& reduce) {
  const Scene bar = reduced_bodies::saved_bar(folder, assemblies::corotational, false);
  std::ofstream(folder / "bar.toml") << write_scene(bar);
  std::ofstream(folder / "press.csv") << "time [s],block/lift [mm]\n0,0\n0.05,0\n0.3,-25\n0.4,-25\n";
  return R"(
name = "pressed"
time_step = 0.01
[reduce]
states = 20
)" + reduce +
         R"(
[[rigid]]
name = "block"
size = [0.04, 0.14, 0.04]
translation = [0.2, 0.05, 0.121]
motion = "lift"
direction = [0, 0, 1]
range = ["-30 mm", "5 mm"]
friction = 0.3
[[rigid]]
name = "load"
size = [0.04, 0.06, 0.03]
mass = 0.3
translation = [0.275, 0.05, 0.1154]
friction = 0.3
[[part]]
name = "bar"
scene = "bar.toml"
friction = 0.3
[contact]
distance = "0.4 mm"
)";
}

class WorldReductionTest : public testing::Test {
 protected:
  AssemblyScene scene(const std::string& text) { return assemblies::scene_of(folder_, text); }
  std::string refusal(const std::string& text) {
    try {
      const AssemblyRobot robot(scene(text));
      check_world(robot, robot.scene().reduction);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  reduced_bodies::TemporaryFolder folder_;
};

TEST_F(WorldReductionTest, MakesOneModelOfEqualPartsAndASceneOfThese) {
  const AssemblyScene full = scene(bridge(folder_));
  EXPECT_EQ(full.reduction.states, 10);
  const std::string out = folder_ / "reduced";
  std::filesystem::create_directories(out);
  const WorldReduction reduction = reduce_world(full, full.reduction, out, {});
  ASSERT_EQ(reduction.kinds.size(), 1U);
  EXPECT_EQ(reduction.kinds[0].file, "bar.rom.h5");
  ASSERT_TRUE(reduction.reached) << reduction.rows[extent(reduction.taken)].errors.goal_mean;
  EXPECT_EQ(reduction.failed_states, 0);
  EXPECT_EQ(reduction.rows[extent(reduction.taken)].errors.failed, 0);
  // Both bars trained it: in every state, and at rest under weight.
  EXPECT_EQ(reduction.kinds[0].model.provenance.snapshots, 2 * reduction.states);
  write_world(full, reduction, out);

  // The scene that was written moves as the full one does, to the error that it tells of; and it is led.
  AssemblyRobot of_full(full), reduced(read_assembly(out));
  ASSERT_EQ(reduced.reduced(0)->modes, reduction.rows[extent(reduction.taken)].modes[0]);
  EXPECT_EQ(reduced.scene().links.size(), 2U);
  Vec3d places[2];
  for (int k = 0; k < 2; ++k) {
    AssemblyMechanics& mechanics = (k == 0 ? of_full : reduced).mechanics();
    Control control = zero_control(mechanics);
    control.motions = {0.2, -0.1};
    State state = rest_state(mechanics);
    ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
    places[k] = (k == 0 ? of_full : reduced).rigid_pose(0, state.q, state.motions).position;
  }
  const Vec3d rest{{0.35, 0.05, 0.05}};
  EXPECT_GT(norm(places[0] - rest), 0.02);
  EXPECT_LT(norm(places[1] - places[0]),
            2 * reduction.rows[extent(reduction.taken)].errors.goal_max * norm(places[0] - rest));

  AssemblyMechanics& mechanics = reduced.mechanics();
  InverseStep inverse(mechanics, {}, Integrator::quasi_static, 0.01);
  State state = settled_state(mechanics);
  for (std::size_t j = 0; j < mechanics.robot().actuators.size(); ++j) inverse.law().know(0, static_cast<int>(j), 0);
  const double goal[3] = {places[1][0], places[1][1], places[1][2]};
  ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
  EXPECT_LT(norm(reduced.rigid_pose(0, state.q, state.motions).position - places[1]), 1e-4);
}

TEST_F(WorldReductionTest, TrainsAlongCommandsInContact) {
  const AssemblyScene full = scene(
      pressed(folder_, "actuation = \"press.csv\"\nvariation = \"20 %\"\nerror = \"3 %\"\nforce_error = \"3 %\""));
  const std::string out = folder_ / "reduced";
  std::filesystem::create_directories(out);
  const WorldReduction reduction = reduce_world(full, full.reduction, out, {});
  ASSERT_TRUE(reduction.reached) << reduction.row().error() << " " << reduction.row().force_mean;
  EXPECT_EQ(reduction.states, 3 * 21);  // three runs, at rest and after every second step
  EXPECT_EQ(reduction.row().errors.states, 2 * 21);
  EXPECT_GT(reduction.row().force_mean, 0);
  EXPECT_EQ(reduction.row().errors.failed, 0);
  write_world(full, reduction, out);

  // The forces that it tells of: the block presses alike on both, and the load stays where it is on both.
  double pressed[2];
  Vec3d load[2];
  for (int k = 0; k < 2; ++k) {
    AssemblyRobot robot(k == 0 ? full : read_assembly(out));
    const Actuation table = read_actuation(full.reduction.along.file, robot.mechanics().robot());
    State end;
    const RanWorld ran =
        run_world(robot, VariedCommands(table, 0, 0, 1), 1, [&](const State& state, bool) { end = state; });
    ASSERT_EQ(ran.status, StepStatus::ok);
    EXPECT_EQ(ran.seconds.size(), 40U);
    pressed[k] = 0;
    for (const BodyTouch& touch : body_touches(robot.mechanics().robot(), end)) pressed[k] += norm(touch.force);
    load[k] = robot.rigid_pose(1, end.q, end.motions).position;
  }
  EXPECT_GT(pressed[0], 10);
  EXPECT_NEAR(pressed[1], pressed[0], 2 * reduction.row().force_max * pressed[0]);
  EXPECT_LT(norm(load[1] - load[0]), 1e-3);
  EXPECT_LT(load[0][2], 0.11);  // it went down with the bar
}

// A floor that the bar is pressed onto: the model has its points and the modes that contact there asks for.
TEST_F(WorldReductionTest, TrainsOnObstaclesOfTheWhole) {
  const AssemblyScene full =
      scene(pressed(folder_, "actuation = \"press.csv\"\nerror = \"5 %\"\nforce_error = \"5 %\"") +
            "spacing = \"20 mm\"\n[[obstacle]]\nname = \"floor\"\ntype = \"plane\"\n"
            "position = [0, 0, \"-4 mm\"]\nfriction = 0.3\n");
  const std::string out = folder_ / "reduced";
  std::filesystem::create_directories(out);
  const WorldReduction reduction = reduce_world(full, full.reduction, out, {});
  ASSERT_TRUE(reduction.reached) << reduction.row().error() << " " << reduction.row().force_mean;
  write_world(full, reduction, out);
  double borne[2];
  for (int k = 0; k < 2; ++k) {
    AssemblyRobot robot(k == 0 ? full : read_assembly(out));
    const Actuation table = training_table(full.reduction.along, robot.mechanics().robot());
    WorldMoment end;
    State last;
    const RanWorld ran = run_world(robot, VariedCommands(table, 0, 0, 1), 1, [&](const State& state, bool) {
      end = moment_of(robot, state);
      last = state;
    });
    ASSERT_EQ(ran.status, StepStatus::ok);
    if (k == 0) {
      // Weights of the points that the floor touches: below, far out, and along z but for friction.
      TouchWeights touched(robot);
      touched.add(last);
      const PointWeights weights = touched.of({0});
      const Robot& own = robot.full(0)->robot;
      int of_floor = 0;
      for (std::size_t p = 0; p < weights.point.size(); ++p) {
        const int point = weights.point[p] - own.first_collision_point;
        if (point < 0 || point >= own.collision_points || !(trace(weights.weight[p]) > 0)) continue;
        ++of_floor;
        const Vec3d x = own.rest_points[extent(weights.point[p])];
        EXPECT_LT(x[2], 1e-6);
        EXPECT_GT(x[0], 0.05);  // not where it is held
        EXPECT_NEAR(weights.weight[p](2, 2), 1, 1e-12);
        EXPECT_NEAR(weights.weight[p](0, 0), 0.09, 1e-12);
      }
      EXPECT_GE(of_floor, 2);
    }
    ASSERT_EQ(end.touches.back().first, -1);  // the floor
    borne[k] = end.touches.back().force[2];
  }
  EXPECT_GT(borne[0], 5);
  EXPECT_NEAR(borne[1], borne[0], 2 * reduction.row().force_max * borne[0]);
}

// Factors are drawn for each input, about its first value, and the table itself is the first run.
TEST_F(WorldReductionTest, VariesCommands) {
  AssemblyRobot robot(scene(pressed(folder_, "actuation = \"press.csv\"")));
  std::ofstream(folder_ / "from.csv") << "time [s],block/lift [mm]\n0,2\n1,-18\n";
  const Actuation table = read_actuation(folder_ / "from.csv", robot.mechanics().robot());
  EXPECT_DOUBLE_EQ(VariedCommands(table, 0.1, 0, 1).at(1).back(), -0.018);
  std::set<double> drawn;
  for (int run = 1; run < 6; ++run) {
    const VariedCommands varied(table, 0.1, run, 1);
    EXPECT_DOUBLE_EQ(varied.at(0).back(), 0.002);
    const double end = varied.at(1).back();
    EXPECT_LE(std::abs(end + 0.018), 0.1 * 0.020 + 1e-15);
    drawn.insert(end);
  }
  EXPECT_EQ(drawn.size(), 5U);
  // Beyond the range it is cut.
  for (int run = 1; run < 6; ++run) {
    const double wide = VariedCommands(table, 30, run, 1).at(1).back();
    EXPECT_TRUE(wide >= -0.03 && wide <= 0.005) << wide;
  }
}

TEST_F(WorldReductionTest, SaysWhatItCannotTrain) {
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  std::string text = bridge(folder_);
  EXPECT_EQ(refusal(text), "");
  std::string endless = text;
  const std::string range = ", range = [\"-15 deg\", \"15 deg\"]";
  endless.erase(endless.find(range), range.size());
  EXPECT_TRUE(contains(refusal(endless), "'disc-1/turn' has no range")) << refusal(endless);
  std::string touching = text;
  for (std::size_t at; (at = touching.find("collision = \"none\"\n")) != std::string::npos;) touching.erase(at, 19);
  EXPECT_TRUE(contains(refusal(touching), "depend on how they came to touch")) << refusal(touching);
  EXPECT_TRUE(contains(refusal(text + "[[obstacle]]\nname = \"floor\"\ntype = \"plane\"\nposition = [0, 0, -1]\n"),
                       "trained on equilibria without them"));
  EXPECT_EQ(refusal(pressed(folder_, "actuation = \"press.csv\"")), "");
  EXPECT_TRUE(contains(refusal(pressed(folder_, "")), "depend on how they came to touch"));
  const auto read_refusal = [&](const std::string& reduce) { return refusal(pressed(folder_, reduce)); };
  EXPECT_EQ(read_refusal("actuation = \"none.csv\""), "");  // found by what trains with it
  EXPECT_THROW(
      (void)reduce_world(scene(pressed(folder_, "actuation = \"none.csv\"")),
                         {.states = 4, .along = {.file = folder_ / "none.csv", .place = {}}}, folder_ / "nowhere", {}),
      InputError);
  EXPECT_TRUE(contains(read_refusal("actuation = \"press.csv\"\nvalidation_states = 3"), "validation_states means"));
  const std::string twice = pressed(folder_, "actuation = \"press.csv\"") +
                            "[[part]]\nname = \"other\"\nscene = \"bar.toml\"\ntranslation = [0, 0.4, 0]\n"
                            "box = [[0.1, -1, -1], [1, 1, 1]]\n";
  EXPECT_TRUE(contains(refusal(twice), "touch others with different faces")) << refusal(twice);
  EXPECT_TRUE(contains(read_refusal("variation = 0.2"), "variation means nothing"));
  EXPECT_TRUE(contains(refusal("[[rigid]]\nname = \"a\"\nheld = true\n"), "no part of the scene is full"));
}

}  // namespace
}  // namespace supple

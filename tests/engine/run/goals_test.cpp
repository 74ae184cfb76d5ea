// Files of goals that limit forces and pressures over time.

#include "engine/run/goals.hpp"

#include <fstream>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/run/inverse_run.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "engine/run/steps_on_device.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

// A bar with the cable "length" by its length and the cable "force" by its force, range 0 to 2 N, force limits 0 to 5 N.
class GoalLimits : public testing::Test {
 protected:
  GoalLimits() {
    FullModel full = build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                                      reduced_bodies::bar(false));
    const int n = full.coordinates.nv;
    model_ = project(full, reduced_bodies::full_basis(n), n, all_elements(full));
  }
  GoalPath read(const std::string& text, int robots = 1) {
    std::ofstream(folder_ / "goals.csv") << text;
    return read_goals(folder_ / "goals.csv", model_.robot, robots);
  }
  void refused(const std::string& columns, const std::string& values, const std::string& words) {
    try {
      (void)read("time [s],tip x,tip y,tip z," + columns + "\n0,0.3,0.05,0.05," + values + "\n");
      ADD_FAILURE() << columns << ' ' << values;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_EQ(error.place().file, folder_ / "goals.csv");
    }
  }

  TemporaryFolder folder_;
  ReducedModel model_;
};

TEST_F(GoalLimits, AreStraightLinesWithinTheRobotsOwn) {
  const GoalPath path =
      read("time [s],tip x,tip y,tip z,force min [N],force max [N],length max [N]\n0,0,0,0,0,1,7\n1,0,0,0,0.5,9,7\n");
  LiveRequest request;
  request.goals.resize(6);
  path.ask(0.5, request);
  const auto expect = [&](std::size_t j, double lower, double upper) {
    EXPECT_DOUBLE_EQ(request.limits[j].lower, lower);
    EXPECT_DOUBLE_EQ(request.limits[j].upper, upper);
  };
  expect(0, 0, 7);
  expect(1, 0.25, 5);
  const Interval strut = own_force_limits(model_.robot.actuators[2]);
  expect(2, strut.lower, strut.upper);
  path.ask(2, request);
  expect(1, 0.5, 5);
  EXPECT_FALSE(path.limits_each_robot());
}

TEST_F(GoalLimits, MustBePossible) {
  refused("force min [N],force max [N]", "1,0.5", "the limits of 'force' at 0 ms are reversed");
  refused("force min [N]", "2.5", "lie outside those of the robot (0 N to 2 N)");
  refused("force max [N]", "-1", "lie outside those of the robot (0 N to 2 N)");
  refused("force max [mm]", "1", "");
  refused("strutt max [N]", "1", "no input 'strutt max'");
}

// Goals out of reach, with a limit of the force of one cable that sinks.
std::string line(double time, const std::string& robot, double most) {
  return std::to_string(time) + robot + ",0.29,0.2,0.15," + std::to_string(most) + "\n";
}

TEST_F(GoalLimits, BindEachRobotOfABatchByItsOwn) {
  const std::string header = "tip x,tip y,tip z,force max [N]\n";
  const MechanicsTeam two(model_, 2), one(model_, 1);
  const GoalPath each = read("time [s],robot," + header + line(0, ",0", 1) + line(0.1, ",0", 0.5) +
                                 line(0, ",1", 0.25) + line(0.1, ",1", 0.75),
                             2);
  EXPECT_TRUE(each.limits_each_robot());
  DriveSettings settings;
  settings.time_step = model_.robot.time_step;
  const State start = settled_state(one.member(0));
  InverseOnCpu both(two, settings, {}, each, repeated(start, 2));
  for (long k = 1; k <= 10; ++k) (void)both.step(k, static_cast<double>(k) * settings.time_step);
  const double most[] = {0.5, 0.75}, first[] = {1, 0.25};
  const auto rows = static_cast<std::size_t>(model_.robot.rows());
  for (const int b : {0, 1}) {
    EXPECT_DOUBLE_EQ(both.state().multipliers[static_cast<std::size_t>(b) * rows + 1], most[b]);
    EXPECT_GT(both.reports()[static_cast<std::size_t>(b)].saturated, 0);
    const GoalPath path = read("time [s]," + header + line(0, "", first[b]) + line(0.1, "", most[b]));
    InverseOnCpu alone(one, settings, {}, path, start);
    for (long k = 1; k <= 10; ++k) (void)alone.step(k, static_cast<double>(k) * settings.time_step);
    EXPECT_EQ(hash(one_robot(both.state(), b)), hash(alone.state())) << b;
  }
}

// All robots of a law have the same limits there.
TEST_F(GoalLimits, OfRobotsOnADeviceAreTheSame) {
  const std::string header = "tip x,tip y,tip z,force max [N]\n";
  const MechanicsTeam one(model_, 1);
  DriveSettings settings;
  settings.time_step = model_.robot.time_step;
  const State start = repeated(settled_state(one.member(0)), 2);
  const GoalPath each = read("time [s],robot," + header + line(0, ",0", 1) + line(0, ",1", 2), 2);
  EXPECT_THROW(InverseOnDevice(model_, cpu(), settings, {}, each, start), InputError);
  const GoalPath all = read("time [s]," + header + line(0, "", 1) + line(0.05, "", 0.5), 2);
  InverseOnDevice robots(model_, cpu(), settings, {}, all, start);
  for (long k = 1; k <= 5; ++k) (void)robots.step(k, static_cast<double>(k) * settings.time_step);
  const auto rows = static_cast<std::size_t>(model_.robot.rows());
  for (const std::size_t b : {0, 1}) EXPECT_DOUBLE_EQ(robots.state().multipliers[b * rows + 1], 0.5);
}

TEST_F(GoalLimits, ARunGoesOnWithTheSameBits) {
  const GoalPath path = read("time [s],tip x,tip y,tip z,force max [N]\n" + line(0, "", 1.5) + line(0.1, "", 0.5));
  const MechanicsTeam team(model_, 1);
  DriveSettings settings;
  settings.time_step = model_.robot.time_step;
  settings.last = 10;
  const auto run_to_end = [&](long stop_after, SavedInverse& saved) {
    InverseOnCpu robots(team, settings, {}, path, saved.state);
    RunRecorder recorder("", model_.robot, {}, {});
    InverseRun run{robots, robots, model_.robot, &model_, path, settings, folder_ / "saved", recorder, {}};
    if (!saved.report.record.times.empty()) take_up(saved, run);
    saved.memory = robots.memory();
    run_inverse(run, {{}, [&] { return saved.report.drive.step >= stop_after; }}, saved);
    save_inverse(run, saved);
    return hash(robots.state());
  };
  SavedInverse whole;
  whole.state = settled_state(team.member(0));
  SavedInverse part = whole;
  const std::uint64_t expected = run_to_end(10, whole);
  (void)run_to_end(4, part);
  SavedInverse rest = read_saved_inverse(folder_ / "saved", part, model_.robot);
  EXPECT_EQ(rest.report.drive.step, 4);
  EXPECT_EQ(run_to_end(10, rest), expected);
  EXPECT_EQ(rest.report.record.multipliers, whole.report.record.multipliers);
  // Other limits are other goals.
  const GoalPath other = read("time [s],tip x,tip y,tip z,force max [N]\n" + line(0, "", 1.5) + line(0.1, "", 0.6));
  EXPECT_NE(other.hash(1), path.hash(1));
}

}  // namespace
}  // namespace supple

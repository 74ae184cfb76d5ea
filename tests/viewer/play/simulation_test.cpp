// What the simulation thread runs, without threads: following goals and commands, back, reset, pulls, failures.

#include "viewer/play/simulation.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kernels/base/error.hpp"
#include "tests/viewer/draw/viewed_bar.hpp"

namespace supple::view {
namespace {

class Played : public testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<OpenedRobot> robot_ = GetParam() ? reduced_bar() : full_bar();
};

TEST_P(Played, FollowsAGoalWithinTheReportedError) {
  Simulation simulation(robot_, nullptr);
  Intent intent = simulation.rest_intent();
  ASSERT_EQ(intent.mode, Mode::inverse);
  ASSERT_EQ(intent.goals.size(), 3u);
  // What the cables can do: along y and z only, so x stays free to be missed.
  intent.goals[1] += 1e-3;
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
  const Frame& frame = simulation.frame();
  double distance = 0;
  for (std::size_t i = 0; i < 3; ++i) distance += std::pow(frame.reached[i] - intent.goals[i], 2);
  // The reported error is that distance: the same subtraction in another order.
  EXPECT_NEAR(frame.errors[0], std::sqrt(distance), 1e-15);
  EXPECT_LT(frame.errors[0], 1e-3);  // nearer than at the start
  EXPECT_EQ(frame.step, 100);
  EXPECT_NEAR(frame.state.time, 100 * simulation.time_step(), 1e-12);
  EXPECT_GT(frame.step_seconds, 0);
  EXPECT_LE(frame.median_seconds, frame.p99_seconds);
}

TEST_P(Played, StandsStillUnderItsRestIntent) {
  Simulation simulation(robot_, nullptr);
  const Intent intent = simulation.rest_intent();
  const std::vector<double> y = simulation.frame().y;
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(simulation.step(intent));
  // Equilibrium is solved to 1e-9 of the forces: about that fraction of the 20 mm that the bar sags.
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(simulation.frame().y[i], y[i], 1e-9);
}

TEST_P(Played, CommandsAreCutToTheirRange) {
  Simulation simulation(robot_, nullptr);
  Intent intent = simulation.rest_intent();
  intent.mode = Mode::forward;
  intent.commands = {0.5, 0};  // the range ends at 30 mm
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(simulation.step(intent));
  EXPECT_EQ(simulation.frame().state.commands[0], 0.03);
  EXPECT_EQ(simulation.frame().errors[0], 0);
  intent.commands = {std::nan(""), 0};
  ASSERT_TRUE(simulation.step(intent));
  EXPECT_EQ(simulation.frame().state.commands[0], 0);
}

TEST_P(Played, GoesBackAndResetsBitByBit) {
  Simulation simulation(robot_, nullptr);
  const std::uint64_t start = hash(simulation.frame().state);
  Intent intent = simulation.rest_intent();
  intent.goals[1] += 2e-3;
  std::vector<std::uint64_t> hashes{start};
  std::vector<double> fifth;
  for (int k = 0; k < 10; ++k) {
    ASSERT_TRUE(simulation.step(intent));
    hashes.push_back(hash(simulation.frame().state));
    if (k == 4) fifth = simulation.frame().state.q;
  }
  for (std::size_t k = 10; k-- > 0;) {
    ASSERT_TRUE(simulation.back());
    EXPECT_EQ(hash(simulation.frame().state), hashes[k]);
    EXPECT_EQ(simulation.frame().step, static_cast<long>(k));
  }
  EXPECT_EQ(simulation.frame().oldest, 0);
  EXPECT_EQ(simulation.frame().newest, 10);
  EXPECT_FALSE(simulation.back());
  // What came after is still there, until a step is made from here.
  simulation.seek(7);
  EXPECT_EQ(hash(simulation.frame().state), hashes[7]);
  simulation.seek(1000);
  EXPECT_EQ(simulation.frame().step, 10);
  simulation.seek(4);
  ASSERT_TRUE(simulation.step(intent));
  EXPECT_EQ(simulation.frame().newest, 5);
  // The same way but for rounding: the quadratic program does not begin from the last one's active limits.
  for (std::size_t i = 0; i < fifth.size(); ++i) EXPECT_NEAR(simulation.frame().state.q[i], fifth[i], 1e-12);
  simulation.reset();
  EXPECT_EQ(hash(simulation.frame().state), start);
  EXPECT_EQ(simulation.frame().step, 0);
  // And from there the same way again.
  for (std::size_t k = 1; k <= 10; ++k) {
    ASSERT_TRUE(simulation.step(intent));
    EXPECT_EQ(hash(simulation.frame().state), hashes[k]);
  }
}

TEST_P(Played, HistoryIsBounded) {
  SimulationSettings settings;
  settings.history_bytes = 1;
  Simulation simulation(robot_, nullptr, settings);
  const Intent intent = simulation.rest_intent();
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(simulation.step(intent));
  EXPECT_TRUE(simulation.back());
  EXPECT_TRUE(simulation.back());
  EXPECT_FALSE(simulation.back());
  EXPECT_EQ(simulation.frame().step, 3);
}

TEST_P(Played, APullMovesTheBodyItsWay) {
  Simulation simulation(robot_, nullptr);
  Intent intent = simulation.rest_intent();
  intent.mode = Mode::forward;
  const RobotShape& shape = *robot_->shape;
  std::vector<Vec3d> before, after;
  shape.positions(simulation.frame().state, before);
  int tip = 0;  // a triangle at the far end
  for (int t = 0; t < static_cast<int>(shape.triangles().size()); ++t)
    if (shape.rest()[static_cast<std::size_t>(shape.triangles()[static_cast<std::size_t>(t)][0])][0] > 0.27) tip = t;
  const std::array<double, 3> weights{0.5, 0.25, 0.25};
  const auto place = [&](const std::vector<Vec3d>& places) {
    Vec3d x{{0, 0, 0}};
    for (std::size_t k = 0; k < 3; ++k)
      x = x + weights[k] * places[static_cast<std::size_t>(shape.triangles()[static_cast<std::size_t>(tip)][k])];
    return x;
  };
  intent.pull = {tip, weights, place(before) + Vec3d{{0, 0, 0.01}}, 200};
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(simulation.step(intent));
  shape.positions(simulation.frame().state, after);
  const auto& corners = shape.triangles()[static_cast<std::size_t>(tip)];
  double way = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto node = static_cast<std::size_t>(corners[k]);
    way += weights[k] * (after[node][2] - before[node][2]);
  }
  EXPECT_GT(way, 1e-4);
  // A reduced model was trained without pushes, and the hand's is told.
  EXPECT_EQ(simulation.frame().note.find("trained without pushes") != std::string::npos, shape.reduced() != nullptr);
  intent.pull = {};
  ASSERT_TRUE(simulation.step(intent));
  EXPECT_EQ(simulation.frame().note, "");
  shape.positions(simulation.frame().state, after);
  // The generalised force does the force's work: load . dq = force . (what the point moves), for any dq. Sums of a few
  // hundred products of the order of one: 1e-12.
  const std::vector<double> load = shape.load(simulation.frame().state, tip, weights, {{0, 0, 2}});
  State moved = simulation.frame().state;
  double work = 0;
  for (std::size_t i = 0; i < load.size(); ++i) {
    const double dq = 1e-3 * std::sin(static_cast<double>(i));
    moved.q[i] += dq;
    work += load[i] * dq;
  }
  std::vector<Vec3d> there;
  shape.positions(moved, there);
  double expected = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto node = static_cast<std::size_t>(corners[k]);
    expected += 2 * weights[k] * (there[node][2] - after[node][2]);
  }
  EXPECT_NEAR(work, expected, 1e-12);
}

TEST_P(Played, AStiffPullHoldsAndDoesNotThrowAbout) {
  // Twenty times stiffer than the coarse bar at its tip: in time, and from equilibrium to equilibrium.
  for (const Integrator integrator : {Integrator::implicit_euler, Integrator::quasi_static}) {
    Simulation simulation(robot_, nullptr, {.integrator = integrator, .time_step = {}});
    Intent intent = simulation.rest_intent();
    intent.mode = Mode::forward;
    const RobotShape& shape = *robot_->shape;
    int tip = 0;
    for (int t = 0; t < static_cast<int>(shape.triangles().size()); ++t)
      if (shape.rest()[static_cast<std::size_t>(shape.triangles()[static_cast<std::size_t>(t)][0])][0] > 0.27) tip = t;
    std::vector<Vec3d> places;
    const auto node = static_cast<std::size_t>(shape.triangles()[static_cast<std::size_t>(tip)][0]);
    shape.positions(simulation.frame().state, places);
    const Vec3d to = places[node] + Vec3d{{0, 0, 0.01}};
    intent.pull = {tip, {1, 0, 0}, to, 1e5};
    double farthest = 0;
    for (int k = 0; k < 300; ++k) {
      ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
      shape.positions(simulation.frame().state, places);
      farthest = std::max(farthest, norm(places[node] - to));
    }
    EXPECT_LT(farthest, 0.02);                  // never further than twice the way it was to go
    EXPECT_LT(norm(places[node] - to), 0.002);  // and there at last, but for what the spring lets it hang
  }
}

TEST_P(Played, WrongGoalsLeaveTheStateAsItWas) {
  Simulation simulation(robot_, nullptr);
  const std::uint64_t start = hash(simulation.frame().state);
  Intent intent = simulation.rest_intent();
  intent.goals[0] = std::nan("");
  EXPECT_FALSE(simulation.step(intent));
  EXPECT_EQ(simulation.frame().failure, "a goal is not a finite number");
  intent.goals.clear();
  EXPECT_FALSE(simulation.step(intent));
  EXPECT_EQ(hash(simulation.frame().state), start);
  EXPECT_TRUE(simulation.step(simulation.rest_intent()));
  EXPECT_EQ(simulation.frame().failure, "");
}

std::string temporary_file(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

TEST_P(Played, ARecordingShowsTheSameFramesAndGoesOnBitByBit) {
  const std::string file = temporary_file(GetParam() ? "-reduced.rec.h5" : "-full.rec.h5");
  Simulation simulation(robot_, nullptr);
  Intent intent = simulation.rest_intent();
  intent.mode = Mode::forward;
  intent.commands = {0.01, 0.5};
  simulation.record(file);
  EXPECT_EQ(simulation.recording().file, file);
  std::vector<Frame> live{simulation.frame()};
  for (int k = 0; k < 6; ++k) {
    if (k == 0) intent.pull = {2, {0.5, 0.2, 0.3}, robot_->shape->high(), 20};
    if (k == 2) intent.pull = {};
    if (k == 3) intent.mode = Mode::inverse;
    if (k == 5) intent.steered = {0};
    ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
    live.push_back(simulation.frame());
  }
  simulation.record("");
  EXPECT_NE(simulation.recording().written.find("(7 frames)"), std::string::npos) << simulation.recording().failure;

  Simulation played(robot_, nullptr, std::make_unique<RecordingReader>(file));
  std::filesystem::remove(file);
  EXPECT_TRUE(played.frame().playing);
  EXPECT_EQ(played.frame().newest, 6);
  for (std::size_t k = 0; k < live.size(); ++k) {
    if (k > 0) {
      ASSERT_TRUE(played.step(intent));
    }
    const Frame& frame = played.frame();
    EXPECT_EQ(hash(frame.state), hash(live[k].state));
    EXPECT_EQ(frame.y, live[k].y);
    EXPECT_EQ(frame.goals, live[k].goals);
    EXPECT_EQ(frame.reached, live[k].reached);
    EXPECT_EQ(frame.errors, live[k].errors);
    EXPECT_EQ(frame.mode, live[k].mode);
    EXPECT_EQ(frame.steered, live[k].steered);
    EXPECT_EQ(frame.pull.triangle, live[k].pull.triangle);
    EXPECT_EQ(frame.pull.weights, live[k].pull.weights);
    EXPECT_EQ(frame.pull.to, live[k].pull.to);
    EXPECT_EQ(frame.pull.stiffness, live[k].pull.stiffness);
    EXPECT_EQ(frame.step, live[k].step);
    EXPECT_EQ(frame.position, static_cast<long>(k));
  }
  EXPECT_EQ(live[1].pull.triangle, 2);
  EXPECT_EQ(live[3].pull.triangle, -1);
  EXPECT_EQ(live[6].steered, std::vector<char>{0});
  EXPECT_FALSE(played.step(intent));  // no frame after the last, and nothing is wrong
  EXPECT_EQ(played.frame().failure, "");
  EXPECT_TRUE(played.back());
  EXPECT_EQ(played.frame().position, 5);
  played.seek(-3);
  EXPECT_EQ(played.frame().position, 0);
  EXPECT_FALSE(played.back());
  played.seek(2);
  played.go_on();
  EXPECT_FALSE(played.frame().playing);
  EXPECT_EQ(hash(played.frame().state), hash(live[2].state));
  intent.mode = Mode::forward;
  ASSERT_TRUE(played.step(intent)) << played.frame().failure;
  EXPECT_EQ(hash(played.frame().state), hash(live[3].state));  // as if it had never stopped
  EXPECT_EQ(played.frame().position, 3);
  played.reset();
  EXPECT_EQ(hash(played.frame().state), hash(live[2].state));
}

// Older recordings do not say who was steered and pulled; a pull at what the skin does not have is none.
TEST_P(Played, ARecordingMayBeSilentOnPullsAndGoals) {
  const std::string file = temporary_file(".rec.h5");
  robot_->file = "robot";
  const Simulation simulation(robot_, nullptr);
  RecordedFrame frame;
  frame.state = simulation.frame().state;
  frame.goals = simulation.frame().goals;
  for (const bool older : {true, false}) {
    if (!older) {
      frame.steered = {0};
      frame.pull = {1e30, 1, 0, 0, 0, 0, 0, 5};
    }
    RecordingWriter writer(file, {{robot_->file, 0}, std::nullopt, Integrator::implicit_euler, 0.01});
    writer.add(frame);
    writer.finish();
    const Simulation played(robot_, nullptr, std::make_unique<RecordingReader>(file));
    EXPECT_EQ(played.frame().steered, std::vector<char>{older ? '\1' : '\0'});
    EXPECT_EQ(played.frame().pull.triangle, -1);
    std::filesystem::remove(file);
  }
}

TEST_P(Played, ARecordingOfAnotherRobotIsRefused) {
  const std::string file = temporary_file(".rec.h5");
  RecordedFrame frame;
  frame.state.q = {1, 2, 3};
  RecordingWriter writer(file, {{robot_->file, 0}, std::nullopt, Integrator::implicit_euler, 0.01});
  writer.add(frame);
  writer.finish();
  EXPECT_THROW(Simulation(robot_, nullptr, std::make_unique<RecordingReader>(file)), InputError);
  std::filesystem::remove(file);
}

TEST_P(Played, ARobotThatCannotBeLedOpensAllTheSame) {
  Robot& robot = GetParam() ? robot_->reduced->robot : robot_->full->robot;
  robot.effectors.clear();
  Simulation simulation(robot_, nullptr);
  EXPECT_FALSE(simulation.can_lead());
  Intent intent = simulation.rest_intent();
  EXPECT_EQ(intent.mode, Mode::forward);
  EXPECT_TRUE(simulation.step(intent));
  intent.mode = Mode::inverse;
  EXPECT_FALSE(simulation.step(intent));
  EXPECT_NE(simulation.frame().failure.find("no effector"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(FullAndReduced, Played, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "reduced" : "full"; });

TEST(PlayedBeside, TheFullModelFollowsTheReducedOne) {
  // With a full basis and all elements both are one model; what differs is rounding, which 50 steps of a damped bar
  // leave below a billionth of its 0.3 m.
  const std::shared_ptr<OpenedRobot> reduced = reduced_bar(), full = full_bar();
  Simulation simulation(reduced, full);
  Intent intent = simulation.rest_intent();
  intent.goals[1] += 2e-3;
  for (int k = 0; k < 50; ++k) ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
  std::vector<Vec3d> a, b;
  reduced->shape->positions(simulation.frame().state, a);
  full->shape->positions(simulation.frame().other, b);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LT(norm(a[i] - b[i]), 3e-10);
  EXPECT_GT(simulation.frame().other_seconds, 0);
}

// A cable a node: more than the quadratic program has unknowns for.
TEST(PlayedWithManyActuators, OpensAndIsNotLed) {
  auto robot = std::make_shared<OpenedRobot>();
  Robot& many = robot->full.emplace(bar_model()).robot;
  EXPECT_FALSE(cannot_lead(many));
  const ActuatorRow one = many.actuators[1];
  while (many.actuators.size() < 65) many.actuators.push_back(one);
  ASSERT_TRUE(cannot_lead(many));
  EXPECT_NE(std::string(cannot_lead(many)->what()).find("at most 64"), std::string::npos);
  robot->mechanics = std::make_unique<FullMechanics>(*robot->full);
  robot->shape = std::make_unique<RobotShape>(*robot->full);
  const Simulation simulation(robot, nullptr);
  EXPECT_FALSE(simulation.can_lead());
}

TEST(PlayedBeside, AnotherSkinIsNotPulledAndSaysSo) {
  const std::shared_ptr<OpenedRobot> one = full_bar(), two = full_bar();
  ReducedModel& other = two->reduced.emplace();
  other.robot = two->full->robot;
  other.modes = two->full->coordinates.nv;
  two->shape = std::make_unique<RobotShape>(other);  // of no triangles
  Simulation simulation(one, two);
  Intent intent = simulation.rest_intent();
  ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
  EXPECT_EQ(simulation.frame().note, "");
  intent.pull = {0, {1, 0, 0}, one->shape->rest()[0], 1};
  ASSERT_TRUE(simulation.step(intent)) << simulation.frame().failure;
  EXPECT_NE(simulation.frame().note.find("not pulled"), std::string::npos);
}

TEST(PlayedBeside, OtherActuatorsAreRefused) {
  const std::shared_ptr<OpenedRobot> a = full_bar(), b = full_bar();
  b->full->robot.actuators[0].name = "another";
  EXPECT_THROW(require_same_controls(*a, *b), InputError);
  EXPECT_NO_THROW(require_same_controls(*a, *a));
}

}  // namespace
}  // namespace supple::view

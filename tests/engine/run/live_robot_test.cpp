// A robot that is stepped at will takes the steps of runs bit for bit, goes back as if nothing had happened, and changes
// nothing where a step fails.

#include "engine/run/live_robot.hpp"

#include <cmath>
#include <fstream>
#include <memory>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/run/goals.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

struct Case {
  bool reduced = false;
  Integrator integrator = Integrator::implicit_euler;
};

// A bar with three cables and two effectors: full, or reduced to a full basis with some elements.
class Live : public testing::TestWithParam<Case> {
 protected:
  Live()
      : full_(build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                               reduced_bodies::bar(false))) {
    settings_.integrator = GetParam().integrator;
    settings_.time_step = full_.robot.time_step;
    if (!GetParam().reduced) {
      mechanics_ = std::make_unique<FullMechanics>(full_);
      return;
    }
    const int n = full_.coordinates.nv;
    model_ = project(full_, reduced_bodies::full_basis(n), n, reduced_bodies::some_elements(full_));
    mechanics_ = std::make_unique<ReducedMechanics>(model_);
  }
  const Robot& robot() const { return mechanics_->robot(); }
  LiveSettings live_settings() const {
    LiveSettings settings{settings_.integrator, settings_.time_step};
    settings.inverse = InverseSettings{};
    return settings;
  }

  FullModel full_;
  ReducedModel model_;
  std::unique_ptr<Mechanics> mechanics_;
  DriveSettings settings_;
};

TEST_P(Live, StepsUnderCommandsAreThoseOfARun) {
  const std::vector<Input> inputs = inputs_of(robot());
  // The second goes beyond its range, the third faster than its rate.
  const Actuation actuation(inputs, names_of(inputs), {0, 0.05, 0.1}, {0, 0, 0, 0.01, 3, 0.003, 0, 1, -0.002});
  const State start = rest_state(*mechanics_);
  const MechanicsTeam team(*mechanics_);
  ForwardOnCpu run(team, settings_, actuation, start);
  LiveSettings settings = live_settings();
  settings.inverse.reset();
  LiveRobot live(*mechanics_, settings, start);
  EXPECT_FALSE(live.leads());
  LiveRequest request;
  request.commands.resize(inputs.size());
  int limited = 0;
  for (long k = 1; k <= 8; ++k) {
    const double time = static_cast<double>(k) * settings_.time_step;
    const TakenStep taken = run.step(k, time);
    actuation.sample(time, request.commands);
    ASSERT_EQ(live.step(request), StepStatus::ok);
    State state = live.frame().state;
    if (settings_.integrator == Integrator::quasi_static) state.time = time;  // of a run: to the bit
    EXPECT_EQ(hash(state), hash(run.state())) << k;
    EXPECT_EQ(live.frame().y, run.outputs());
    EXPECT_EQ(live.frame().limited, taken.limited + taken.report.limited_commands);
    EXPECT_EQ(live.frame().step, k);
    EXPECT_EQ(live.frame().goals, live.frame().reached);
    EXPECT_EQ(live.frame().distance, 0);
    limited += live.frame().limited;
  }
  EXPECT_GT(limited, 0);
}

TEST_P(Live, StepsTowardsGoalsAreThoseOfARun) {
  const TemporaryFolder folder;
  const State start = settled_state(*mechanics_);
  std::vector<double> y(static_cast<std::size_t>(robot().outputs())), tip(3);
  mechanics_->evaluate_outputs(start.q, start.motions, y);
  effector_state(robot(), 0, y, tip);
  // The strut is known, the force is limited more and more.
  std::ofstream(folder / "goals.csv") << "time [s],tip x,tip y,tip z,strut [mm],force max [N]\n"
                                      << "0," << tip[0] << ',' << tip[1] << ',' << tip[2] << ",0,2\n"
                                      << "0.08," << tip[0] << ',' << tip[1] + 0.004 << ',' << tip[2] + 0.003
                                      << ",1,0.1\n";
  const GoalPath path = read_goals(folder / "goals.csv", robot());
  const MechanicsTeam team(*mechanics_);
  InverseOnCpu run(team, settings_, {}, path, start);
  LiveRobot live(*mechanics_, live_settings(), start);
  LiveRequest request;
  request.goals.resize(6);
  for (long k = 1; k <= 8; ++k) {
    const double time = static_cast<double>(k) * settings_.time_step;
    (void)run.step(k, time);
    path.ask(time, request);
    ASSERT_EQ(live.step(request), StepStatus::ok);
    const LiveFrame& frame = live.frame();
    EXPECT_EQ(hash(frame.state), hash(run.state())) << k;
    EXPECT_EQ(frame.saturated, run.reports()[0].saturated);
    EXPECT_EQ(frame.held, run.conflicts()[0]);
    EXPECT_EQ(frame.steered, (std::vector<char>{1, 0}));
    EXPECT_EQ(frame.distance, frame.errors[0]);  // the other is not steered
    EXPECT_NEAR(frame.state.commands[2], 1e-3 * time / 0.08, 1e-9);
  }
  EXPECT_NEAR(live.frame().state.multipliers[1], 0.1, 1e-12);  // 2 N on the way to 0.1 N: less than it takes
  EXPECT_GT(live.frame().saturated, 0);
}

TEST_P(Live, GoesBackWithoutAMemory) {
  LiveRobot live(*mechanics_, live_settings(), settled_state(*mechanics_));
  LiveRequest request;
  request.mode = LiveMode::inverse;
  request.goals = live.frame().goals;
  request.goals[1] += 0.01;  // so far that limits are active
  request.goals[2] += 0.01;
  std::vector<LiveFrame> frames{live.frame()};
  const auto step = [&] {
    ASSERT_EQ(live.step(request), StepStatus::ok);
    frames.push_back(live.frame());
  };
  for (int k = 0; k < 4; ++k) step();
  live.reset();
  EXPECT_EQ(hash(live.frame().state), hash(frames[0].state));
  EXPECT_EQ(live.frame().step, 0);
  for (std::size_t k = 1; k <= 4; ++k) {
    ASSERT_EQ(live.step(request), StepStatus::ok);
    EXPECT_EQ(hash(live.frame().state), hash(frames[k].state)) << k;
  }
  // From a frame twice: the second time after other steps, which leave nothing behind.
  live.set(frames[2]);
  step();
  request.limits = {{0, 1}, {0, 0.01}, {-1, 1}};
  request.known = {std::nan(""), std::nan(""), 1e-3};
  request.steered = {1, 0};
  for (int k = 0; k < 2; ++k) ASSERT_EQ(live.step(request), StepStatus::ok);
  request.limits.clear();
  request.known.clear();
  request.steered.clear();
  live.set(frames[2]);
  ASSERT_EQ(live.step(request), StepStatus::ok);
  EXPECT_EQ(hash(live.frame().state), hash(frames.back().state));
  EXPECT_EQ(live.frame().step, 3);
}

TEST_P(Live, ALoadActsInItsStepAlone) {
  const State start = settled_state(*mechanics_);
  LiveRobot live(*mechanics_, live_settings(), start);
  LiveRequest request;
  State other = start;
  const std::vector<double> load(start.v.size(), 0.1);
  ASSERT_EQ(live.advance(request, load, other).status, StepStatus::ok);
  EXPECT_EQ(hash(live.frame().state), hash(start));  // another state took the step
  ASSERT_EQ(live.step(request, load), StepStatus::ok);
  EXPECT_EQ(hash(live.frame().state), hash(other));
  live.reset();
  ASSERT_EQ(live.step(request), StepStatus::ok);
  EXPECT_NE(hash(live.frame().state), hash(other));
  State same = start;
  ForwardStep step(*mechanics_, settings_.integrator, settings_.time_step);
  ASSERT_EQ(step.step(zero_control(*mechanics_), same).status, StepStatus::ok);
  EXPECT_EQ(hash(live.frame().state), hash(same));
}

TEST_P(Live, GoalsMustFitTheRobot) {
  LiveRobot live(*mechanics_, live_settings(), settled_state(*mechanics_));
  const std::uint64_t before = hash(live.frame().state);
  LiveRequest request;
  request.mode = LiveMode::inverse;
  EXPECT_THROW((void)live.step(request), InputError);
  request.goals.assign(6, std::nan(""));
  EXPECT_THROW((void)live.step(request), InputError);
  EXPECT_EQ(hash(live.frame().state), before);
  EXPECT_EQ(live.frame().step, 0);
}

// A force that turns elements inside out, for which the material has no stress.
TEST(LiveRobot, AStepThatFailsChangesNothing) {
  Scene scene = reduced_bodies::bar_scene({"mooney_rivlin", MaterialModel::mooney_rivlin});
  scene.actuators[1].range = {0, 1e6};
  scene.actuators[1].force = {};
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  FullMechanics mechanics(full);
  LiveRobot live(mechanics, {Integrator::implicit_euler, full.robot.time_step}, settled_state(mechanics));
  LiveRequest request;
  request.commands = {0, 1e6, 0};
  LiveFrame before;
  StepStatus status = StepStatus::ok;
  for (int k = 0; k < 5 && status == StepStatus::ok; ++k) {
    before = live.frame();
    status = live.step(request);
  }
  EXPECT_EQ(status, StepStatus::undefined_points);
  EXPECT_EQ(hash(live.frame().state), hash(before.state));
  EXPECT_EQ(live.frame().step, before.step);
  EXPECT_EQ(live.frame().y, before.y);
  live.reset();
  request.commands.clear();
  EXPECT_EQ(live.step(request), StepStatus::ok);
}

INSTANTIATE_TEST_SUITE_P(Robots, Live,
                         testing::Values(Case{false, Integrator::implicit_euler},
                                         Case{true, Integrator::implicit_euler},
                                         Case{true, Integrator::implicit_euler_newton},
                                         Case{false, Integrator::quasi_static}),
                         [](const auto& info) {
                           const std::string name = info.param.reduced ? "reduced" : "full";
                           return name + (info.param.integrator == Integrator::implicit_euler ? "Euler"
                                          : info.param.integrator == Integrator::quasi_static ? "Statics"
                                                                                              : "Newton");
                         });

}  // namespace
}  // namespace supple

// Friction of cables where they turn: Euler and Eytelwein's formula, sliding to and fro, robots.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/inverse/inverse_step.hpp"
#include "engine/io/model_file.hpp"
#include "engine/model/cable_friction.hpp"
#include "engine/model/rows.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// A cable along an arc, of which the first point can move along the path.
struct Arc {
  Robot robot;
  ActuatorRow cable;
  explicit Arc(double angle, int turns, double friction) {
    cable.kind = ActuatorKind::cable;
    cable.friction = friction;
    cable.slip_length = 1e-4;
    // Corners of a polygon that turns by angle/turns at each.
    for (int k = 0; k < turns + 2; ++k) {
      const double at = angle * (k - 0.5) / turns, radius = 0.05;
      robot.rest_points.push_back({{radius * std::cos(at), radius * std::sin(at), 0.01}});
    }
    cable.point_count = turns + 1;
    cable.pull_point = robot.rest_points.back();
    robot.rest_points.pop_back();
  }
  std::vector<double> points(double pulled) const {
    std::vector<double> y;
    for (const Vec3d& x : robot.rest_points) y.insert(y.end(), {x[0], x[1], x[2]});
    const Vec3d d = robot.rest_points[1] - robot.rest_points[0];
    for (int c = 0; c < 3; ++c) y[static_cast<std::size_t>(c)] += pulled / norm(d) * d[c];
    return y;
  }
  // Tension at the attachment over that at the pull end.
  double far_tension(const CableFriction& friction) const {
    std::vector<double> g(extent(3 * cable.point_count));
    friction.gradient(cable, g);
    return norm(Vec3d{{g[0], g[1], g[2]}});
  }
};

TEST(CableFriction, IsEytelweins) {
  for (const double angle : {0.5, std::numbers::pi, 3.0}) {
    const Arc arc(angle, 8, 0.25);
    CableFriction friction(arc.cable, arc.robot);
    std::vector<double> history(extent(arc.cable.history()), 0.0);
    const std::vector<double> still = arc.points(0), pulled = arc.points(2e-3);
    friction.evaluate(arc.cable, still, history);
    EXPECT_NEAR(arc.far_tension(friction), 1, 1e-14);
    // 20 slip lengths: exp(-20) of the way is left.
    friction.evaluate(arc.cable, pulled, history);
    EXPECT_NEAR(arc.far_tension(friction), std::exp(-0.25 * angle), 1e-8);
    // Let go by as much: the cable holds back what it had pulled.
    history.assign(friction.history().begin(), friction.history().end());
    friction.evaluate(arc.cable, still, history);
    EXPECT_NEAR(arc.far_tension(friction), std::exp(0.25 * angle), 1e-7);
  }
}

// One slide, or the same in many.
TEST(CableFriction, DoesNotKnowTime) {
  const Arc arc(2, 5, 0.3);
  CableFriction once(arc.cable, arc.robot), often = once;
  std::vector<double> start(extent(arc.cable.history()), 0.0), history = start;
  const double end = 1.5e-4;
  once.evaluate(arc.cable, arc.points(end), start);
  for (int k = 1; k <= 30; ++k) {
    often.evaluate(arc.cable, arc.points(end * k / 30), history);
    history.assign(often.history().begin(), often.history().end());
    // Standing still changes nothing.
    often.evaluate(arc.cable, arc.points(end * k / 30), history);
    EXPECT_EQ(often.history()[0], history[0]);
  }
  EXPECT_NEAR(arc.far_tension(often), arc.far_tension(once), 1e-12);
}

// The virtual work of the tensions, against each segment's length by differences.
TEST(CableFriction, GradientIsTheForceOfTheTensions) {
  const Arc arc(2.5, 4, 0.4);
  CableFriction friction(arc.cable, arc.robot);
  std::vector<double> y = arc.points(2e-3);
  boxes::Random random;
  for (double& x : y) x += 1e-4 * random();
  const std::vector<double> history(extent(arc.cable.history()), 0.0);
  friction.evaluate(arc.cable, y, history);
  std::vector<double> g(y.size()), segment(y.size());
  friction.gradient(arc.cable, g);
  std::vector<double> expected(y.size(), 0.0);
  double weight = 1;
  for (int j = arc.cable.point_count - 1; j >= 0; --j) {
    const bool last = j + 1 == arc.cable.point_count;
    (void)path_length(y, j, last ? 1 : 2, last ? arc.cable.pull_point : std::nullopt, segment.data());
    for (std::size_t i = 0; i < (last ? 3u : 6u); ++i) expected[extent(3 * j) + i] -= weight * segment[i];
    if (j > 0) weight *= std::exp(-friction.history()[extent(CableFriction::numbers * (j - 1))]);
  }
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(g[i], expected[i], 1e-14);
}

// Pulling takes work that the body does not get: around a cycle it is lost, never won.
TEST(CableFriction, ACycleTakesWork) {
  const Arc arc(2, 6, 0.2);
  CableFriction friction(arc.cable, arc.robot);
  std::vector<double> history(extent(arc.cable.history()), 0.0), g(arc.points(0).size());
  double work = 0, before = 0, net = 0;
  for (int k = 1; k <= 400; ++k) {
    const double pulled = 1e-3 * std::sin(k * std::numbers::pi / 100);  // two cycles
    const std::vector<double> y = arc.points(pulled);
    friction.evaluate(arc.cable, y, history);
    history.assign(friction.history().begin(), friction.history().end());
    net += pulled - before;                                       // by the one who pulls, with 1 N
    work += (pulled - before) * (1 - arc.far_tension(friction));  // less what reaches the end
    before = pulled;
  }
  EXPECT_NEAR(net, 0, 1e-15);
  // Two cycles of 4 mm: mean of (1 - exp(-mu a)) and (exp(mu a) - 1), less what the slip length rounds off.
  const double full = 2 * 2e-3 * (std::exp(0.4) - std::exp(-0.4));
  EXPECT_GT(work, 0.7 * full);
  EXPECT_LT(work, full);
}

// A bar with a cable that turns at two points.
Scene bar_scene(ActuatorControl control, double friction) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  ActuatorScene cable;
  cable.name = "cable";
  cable.points = {{{0.28, 0.05, 0.09}}, {{0.2, 0.05, 0.02}}, {{0.1, 0.05, 0.09}}};
  cable.pull_point = {{-0.05, 0.05, 0.02}};
  cable.control = control;
  cable.range = control == ActuatorControl::force ? Interval{0, 100} : Interval{0, 0.03};
  cable.force = {0, unlimited};
  cable.friction = friction;
  scene.actuators = {cable};
  scene.effectors = {position_effector("tip", {{0.29, 0.05, 0.05}})};
  return scene;
}

State settled(Mechanics& mechanics, double command, State state, bool keeps = false) {
  Control control = zero_control(mechanics);
  control.commands = {command};
  const EquilibriumReport report = Equilibrium(mechanics, {.keeps_friction = keeps}).solve(control, state);
  EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_LE(report.residual, 1e-9);
  return state;
}

double pulled(Mechanics& mechanics, const State& state) {
  std::vector<double> y(extent(mechanics.robot().outputs())), phi(1), gradients(extent(mechanics.rows().gradients()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  evaluate_rows(mechanics.robot(), mechanics.rows(), y, phi, gradients);
  return phi[0];
}

TEST(CableFriction, TensionAndLengthAreTwoSidesOfOneState) {
  const FullModel by_force = build_full_model(bar_scene(ActuatorControl::force, 0.2), reduced_bodies::bar(false)),
                  by_length =
                      build_full_model(bar_scene(ActuatorControl::displacement, 0.2), reduced_bodies::bar(false)),
                  smooth = build_full_model(bar_scene(ActuatorControl::force, 0), reduced_bodies::bar(false));
  FullMechanics forced(by_force), drawn(by_length), frictionless(smooth);
  const State state = settled(forced, 40, rest_state(forced));
  const double length = pulled(forced, state);
  EXPECT_LT(length, 0.95 * pulled(frictionless, settled(frictionless, 40, rest_state(frictionless))));
  const State same = settled(drawn, length, rest_state(drawn));
  EXPECT_NEAR(pulled(drawn, same), length, 1e-9);
  EXPECT_NEAR(same.multipliers[0], 40, 1e-4);
  EXPECT_LT(boxes::difference(same.q, state.q), 1e-5);
  // Released to where it had been on the way: friction holds it back.
  const State up = settled(forced, 20, rest_state(forced)), down = settled(forced, 20, state, true),
              forgotten = settled(forced, 20, state);
  EXPECT_GT(pulled(forced, down), pulled(forced, up) + 1e-4);
  EXPECT_LT(boxes::difference(forgotten.q, up.q), 1e-6);
}

TEST(CableFriction, StepsSettleAndStay) {
  for (const ActuatorControl control : {ActuatorControl::force, ActuatorControl::displacement}) {
    const FullModel model = build_full_model(bar_scene(control, 0.2), reduced_bodies::bar(false));
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {.time_step = 0.005});
    State state = rest_state(mechanics);
    const double most = control == ActuatorControl::force ? 40 : 0.01;
    Control command = zero_control(mechanics);
    double early = 0;
    for (int k = 1; k <= 1200; ++k) {
      command.commands = {most * std::min(1.0, k / 200.0)};
      ASSERT_EQ(stepper.step(command, state).status, StepStatus::ok);
      if (k == 300) early = boxes::norm(state.v);
    }
    EXPECT_LT(boxes::norm(state.v), 1e-3 * early);  // it comes to rest: sticking does not chatter
    const State at_rest = settled(mechanics, most, rest_state(mechanics));
    // The one has come by steps, the other at once: what the turns have of their friction differs by a little.
    EXPECT_LT(boxes::difference(state.q, at_rest.q), 2e-2);
    if (control == ActuatorControl::displacement) {
      EXPECT_NEAR(pulled(mechanics, state), most, 1e-6);
    }
  }
}

// A state of the robot without friction is one of a cable that has not slid.
TEST(CableFriction, TakesAStateThatRemembersNothing) {
  const FullModel smooth = build_full_model(bar_scene(ActuatorControl::force, 0), reduced_bodies::bar(false)),
                  rough = build_full_model(bar_scene(ActuatorControl::force, 0.2), reduced_bodies::bar(false));
  FullMechanics a(smooth), b(rough);
  const State state = settled(b, 20, settled(a, 20, rest_state(a)));
  EXPECT_EQ(state.history.size(), 6u);
  EXPECT_LT(boxes::difference(state.q, settled(b, 20, rest_state(b)).q), 1e-6);
}

TEST(CableFriction, ReducedWithAFullBasisIsTheFullModel) {
  const FullModel model = build_full_model(bar_scene(ActuatorControl::force, 0.3), reduced_bodies::bar(false));
  const int nv = model.coordinates.nv;
  const reduced_bodies::TemporaryFolder folder;
  write_model(project(model, reduced_bodies::full_basis(nv), nv, all_elements(model)), folder / "cable.rom.h5");
  const ReducedModel reduced = read_model(folder / "cable.rom.h5");
  EXPECT_EQ(reduced.robot.actuators[0].friction, 0.3);
  FullMechanics full(model);
  ReducedMechanics small(reduced, 2);
  Stepper a(full, {}), b(small, {});
  State one = rest_state(full), two = rest_state(small);
  Control command = zero_control(full), both = zero_control(small);
  for (int k = 1; k <= 20; ++k) {
    command.commands = {3.0 * (k <= 12 ? k : 24 - k)};
    both.commands = {command.commands[0], 1.0};
    ASSERT_EQ(a.step(command, one).status, StepStatus::ok);
    ASSERT_EQ(b.step(both, two).status, StepStatus::ok);
  }
  const State first = one_robot(two, 0);
  // Sums in another order over twenty steps.
  EXPECT_LT(boxes::difference(first.q, one.q), 1e-9);
  EXPECT_LT(boxes::difference(first.history, one.history), 1e-6);
}

TEST(CableFriction, InverseBringsTheTipThere) {
  for (const ActuatorControl control : {ActuatorControl::force, ActuatorControl::displacement}) {
    const FullModel model = build_full_model(bar_scene(control, 0.2), reduced_bodies::bar(false));
    FullMechanics mechanics(model);
    const double there = control == ActuatorControl::force ? 40 : 0.01;
    const State wanted = settled(mechanics, there, rest_state(mechanics));
    std::vector<double> y(extent(model.robot.outputs()));
    mechanics.evaluate_outputs(wanted.q, wanted.motions, y);
    const auto goal = std::span<const double>(y).subspan(extent(3 * model.robot.effectors[0].point), 3);
    InverseStep inverse(mechanics, {}, Integrator::implicit_euler, 0.01);
    State state = rest_state(mechanics);
    for (int k = 0; k < 300; ++k) ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
    std::vector<double> reached(y.size());
    mechanics.evaluate_outputs(state.q, state.motions, reached);
    const std::size_t tip = extent(3 * model.robot.effectors[0].point);
    const Vec3d at{{reached[tip], reached[tip + 1], reached[tip + 2]}}, to{{goal[0], goal[1], goal[2]}};
    // The goal was reached by pulling alone. Led there the cable overshoots and is let go by a little: its tensions are
    // others, and with one cable so is the shape.
    EXPECT_LT(norm(at - to), 0.05 * norm(to - Vec3d{{0.29, 0.05, 0.05}}));
    EXPECT_NEAR(state.commands[0], there, 0.15 * there);
  }
}

}  // namespace
}  // namespace supple

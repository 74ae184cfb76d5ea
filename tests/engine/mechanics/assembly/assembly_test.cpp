// Several bodies as one mechanics: against each of them alone, and models with prescribed ends.

#include "engine/mechanics/assembly/assembly.hpp"

#include <gtest/gtest.h>

#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"

namespace supple {
namespace {

using namespace assemblies;
using reduced_bodies::same_bits;

TEST(Assembly, OfOneBodyIsThatBody) {
  const Vec3d gravity{{1, -2, -9.81}};
  Bar bar(gravity);
  const std::vector<double> basis = reduced_bodies::random_basis(bar.model.coordinates.nv, 8);
  ReducedBar reduced(bar.model, basis, 8);
  for (int kind = 0; kind < 2; ++kind) {
    Mechanics& alone = kind == 0 ? static_cast<Mechanics&>(bar.mechanics) : reduced.mechanics;
    Assembly assembly;
    assembly.gravity = gravity;
    assembly.frames = {frame("world", Hold::fixed)};
    assembly.bodies = {body("", alone,
                            {.rest = {},
                             .translation = kind == 0 ? bar.inertia.translation : reduced.model.gravity,
                             .first = {},
                             .second = {}},
                            0)};
    AssemblyMechanics together(assembly);
    for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton, StepScheme::quasi_static}) {
      State states[2];
      for (int k = 0; k < 2; ++k) {
        Mechanics& mechanics = k == 0 ? alone : together;
        Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
        states[k] = rest_state(mechanics);
        run(stepper, commands(mechanics, 0.5), 5, states[k]);
      }
      EXPECT_TRUE(same_bits(states[0].q, states[1].q));
      EXPECT_TRUE(same_bits(states[0].v, states[1].v));
      EXPECT_TRUE(same_bits(states[0].multipliers, states[1].multipliers));
      EXPECT_EQ(hash(states[0]), hash(states[1]));
    }
  }
}

TEST(Assembly, OfTwoUnboundRobotsIsEachAlone) {
  const Vec3d gravity{{0, 0, -9.81}};
  Bar bar(gravity), other(gravity);
  Assembly assembly;
  assembly.gravity = gravity;
  assembly.frames = {frame("world", Hold::fixed), frame("far", Hold::fixed, turned({{0, 1, 0}}, {{0, 0, 0}}))};
  assembly.bodies = {body("one", bar.mechanics, bar.inertia, 0), body("two", other.mechanics, other.inertia, 1)};
  AssemblyMechanics together(assembly);
  const int nv = bar.model.coordinates.nv, outputs = bar.model.robot.outputs();
  ASSERT_EQ(together.coordinates().nv, 2 * nv);
  EXPECT_EQ(together.robot().actuators[3].name, "two/length");
  for (const StepScheme scheme : point_masses::schemes) {
    Stepper one(bar.mechanics, {.scheme = scheme, .time_step = 0.01}),
        both(together, {.scheme = scheme, .time_step = 0.01});
    State alone = rest_state(bar.mechanics), state = rest_state(together);
    const Control control = commands(bar.mechanics, 0.3);
    Control pair = control;
    pair.commands.insert(pair.commands.end(), control.commands.begin(), control.commands.end());
    run(both, pair, 5, state);
    run(one, control, 5, alone);
    for (int b = 0; b < 2; ++b) {
      // The law solves six rows that do not couple where it solved three; Newton's tolerance is of the whole: 1e-9.
      const double tolerance = scheme == StepScheme::newton ? 1e-8 : 1e-12;
      EXPECT_LT(boxes::difference(part(state.q, b * nv, extent(nv)), alone.q), tolerance);
      EXPECT_LT(boxes::difference(part(state.v, b * nv, extent(nv)), alone.v), tolerance);
    }
    // In the world the second stands a metre beside the first.
    const int tip = effector_point(together.robot(), "one/tip"), second = effector_point(together.robot(), "two/tip");
    EXPECT_GE(3 * tip, 2 * outputs);
    const Vec3d apart = point_at(both.outputs(), second) - point_at(both.outputs(), tip);
    EXPECT_LT(norm(apart - Vec3d{{0, 1, 0}}), 1e-8);
  }
}

TEST(Assembly, FreeFrameKeepsMomentum) {
  // A free frame with two bars whose cables are pulled, no gravity, no damping by mass: linear and angular momentum stay
  // zero.
  Bar bar, other;
  for (Bar* each : {&bar, &other}) each->model.robot.rayleigh_mass = 0;
  for (const bool newton : {true, false}) {
    Assembly assembly;
    assembly.frames = {frame("palm", Hold::free, turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}}))};
    assembly.bodies = {body("a", bar.mechanics, bar.inertia, 0, turned({{0, 0.05, 0.02}}, {{0.3, 0, 0.2}})),
                       body("b", other.mechanics, other.inertia, 0, turned({{0, -0.3, 0}}, {{0, 0.7, 0}}))};
    AssemblyMechanics mechanics(assembly);
    const int nv = mechanics.coordinates().nv;
    const int steps = newton ? 20 : 200;
    Stepper stepper(mechanics, {.scheme = newton ? StepScheme::newton : StepScheme::one_linearisation,
                                .time_step = 0.2 / steps,
                                .tolerance = 1e-10});
    State state = rest_state(mechanics);
    for (int step = 1; step <= steps; ++step)
      run(stepper, commands(mechanics, 0.5 * step * step / (steps * steps)), 1, state);
    const auto [linear, angular] = mechanics.momentum(state.q, state.v);
    double carried = 0, turning = 0;  // of the frame alone
    for (std::size_t k = 0; k < 3; ++k) {
      carried = std::max(carried, std::abs(state.v[extent(nv) - 6 + k]));
      turning = std::max(turning, std::abs(state.v[extent(nv) - 3 + k]));
    }
    EXPECT_GT(carried, 1e-3);
    EXPECT_GT(turning, 1e-3);
    // The cables of a bar end in the frame's axes and pull within the whole: Newton's method to its tolerance, one
    // linearisation by the balance of momentum after it. Of some 2 kg at 0.3 m.
    EXPECT_LT(norm(linear), 1e-8 * carried);
    EXPECT_LT(norm(angular), 1e-8 * turning);
  }
}

// What falls while its cables are pulled does as without weight, but for the fall: a uniform field of acceleration
// turns nothing, however a body is bent.
TEST(Assembly, WeightTurnsNothingThatFalls) {
  const Vec3d g{{0, 2, -9.81}};
  for (const bool newton : {true, false}) {
    std::vector<std::vector<double>> ends;
    constexpr int steps = 20;
    constexpr double h = 0.01;
    int at = 0, nq = 0;
    double fall = 0, rate = 0;  // of a unit of gravity, braked by damping
    for (const bool falls : {false, true}) {
      Bar bar, other;
      Assembly assembly;
      if (falls) assembly.gravity = g;
      assembly.frames = {frame("palm", Hold::free, turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}}))};
      assembly.bodies = {body("a", bar.mechanics, bar.inertia, 0, turned({{0, 0.05, 0.02}}, {{0.3, 0, 0.2}})),
                         body("b", other.mechanics, other.inertia, 0, turned({{0, -0.3, 0}}, {{0, 0.7, 0}}))};
      AssemblyMechanics mechanics(assembly);
      fall = rate = 0;
      for (int step = 0; step < steps; ++step) {
        rate = (rate + h) / (1 + h * mechanics.robot().rayleigh_mass);
        fall += h * rate;
      }
      nq = mechanics.coordinates().nq;
      at = nq - 7;
      Stepper stepper(
          mechanics,
          {.scheme = newton ? StepScheme::newton : StepScheme::one_linearisation, .time_step = h, .tolerance = 1e-10});
      State state = rest_state(mechanics);
      for (int step = 1; step <= steps; ++step)
        run(stepper, commands(mechanics, 0.5 * step * step / (steps * steps)), 1, state);
      ends.push_back(state.q);
    }
    // 0.2 m of fall; Newton's tolerance is relative to forces that weight is part of.
    for (int i = 0; i < nq; ++i) {
      const bool place = i >= at && i < at + 3;
      EXPECT_NEAR(ends[1][extent(i)] - ends[0][extent(i)], place ? g[i - at] * fall : 0, 1e-8) << newton << " " << i;
    }
  }
}

TEST(Assembly, TurnedAsAWholeItIsTheSame) {
  // Statics without gravity: turning all frames turns the answer.
  for (const bool turn : {false, true}) {
    static std::vector<double> first;
    Bar bar, other;
    Assembly assembly;
    const Pose all = turn ? turned({{1, 2, 3}}, {{0.5, -1.1, 0.8}}) : Pose{};
    assembly.frames = {frame("wall", Hold::fixed, all),
                       frame("load", Hold::free, all * turned({{0.3, 0.05, 0.05}}, {{0.1, 0.2, 0.3}}))};
    assembly.bodies = {body("a", bar.mechanics, bar.inertia, 0),
                       body("b", other.mechanics, other.inertia, 0, turned({{0.75, 0, 0}}, {{0, 0, 3}}))};
    const int tip = effector_point(bar.model.robot, "tip"), side = effector_point(bar.model.robot, "side");
    join(assembly, on_body(0, tip), on_frame(1, {{0, 0, 0}}), 1e-3, true);
    join(assembly, on_body(0, side), on_frame(1, {{-0.05, 0, 0.04}}), 1e-3, true);
    join(assembly, on_body(1, tip), on_frame(1, {{0.05, 0.03, 0}}), 1e-3, true);
    AssemblyMechanics mechanics(assembly);
    Equilibrium equilibrium(mechanics, {});
    State state = rest_state(mechanics);
    const EquilibriumReport report = equilibrium.solve(commands(mechanics, 0.5), state);
    ASSERT_EQ(report.status, StepStatus::ok);
    std::vector<double> own = part(state.q, 0, extent(mechanics.coordinates().nv - 6));
    const Pose load = Pose{transpose(all.rotation) * (-1.0 * all.position), transpose(all.rotation)} *
                      mechanics.frame_pose(1, state.q, {});
    own.insert(own.end(), load.position.v, load.position.v + 3);
    own.insert(own.end(), load.rotation.m, load.rotation.m + 9);
    // Both converge to 1e-9 of the forces at work.
    if (turn) {
      EXPECT_LT(boxes::difference(own, first), 1e-7);
    }
    first = own;
  }
}

TEST(Assembly, WeightHangsOnTheFrameThatCarriesIt) {
  // A free frame with a bar, on springs at three points: their forces are the weight, and its moment is that of the
  // bar where it hangs, deformed.
  Bar bar;
  Assembly assembly;
  assembly.gravity = {{0, 0, -9.81}};
  assembly.frames = {frame("ground", Hold::fixed), frame("palm", Hold::free, turned({{0, 0, 0}}, {{0, 0.3, 0}}))};
  assembly.bodies = {body("bar", bar.mechanics, bar.inertia, 1, turned({{0.02, 0, 0}}, {{0, 0, 0.4}}))};
  for (const Vec3d& at : {Vec3d{{0.3, 0.3, 0}}, Vec3d{{-0.3, 0.3, 0}}, Vec3d{{0, -0.3, 0.1}}})
    join(assembly, on_frame(1, at), on_frame(0, at), 1e-3, true);
  AssemblyMechanics mechanics(assembly);
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  ASSERT_EQ(equilibrium.solve(zero_control(mechanics), state).status, StepStatus::ok);
  Vec3d force{{0, 0, 0}}, moment{{0, 0, 0}};
  for (const ConstraintRow& spring : mechanics.robot().springs) {
    double g[6];
    const double lambda = -evaluate_constraint(spring, equilibrium.outputs(), g) / spring.compliance;
    const Vec3d pull = lambda * spring.direction;
    force = force + pull;
    moment = moment + cross(point_at(equilibrium.outputs(), spring.first_point), pull);
  }
  // Centre of mass of the bar, from all of its nodes where they are now.
  std::vector<double> u(3 * bar.model.mesh.nodes.size());
  const Pose pose = mechanics.body_pose(0, state.q, {});
  node_displacements(bar.model, part(state.q, 0, extent(bar.model.coordinates.nv)), {}, u);
  Vec3d weighted{{0, 0, 0}}, rest{{0, 0, 0}};
  const auto add = [&](int node, double mass) {
    const Vec3d& X = bar.model.mesh.nodes[extent(node)];
    weighted = weighted + mass * pose(X + point_at(u, node));
    rest = rest + mass * pose(X);
  };
  const NodeMatrix& M = bar.model.mass;
  for (int column = 0; column + 1 < static_cast<int>(M.column_start.size()); ++column)
    for (int k = M.column_start[extent(column)]; k < M.column_start[extent(column) + 1]; ++k) {
      add(M.row[extent(k)], M.value[extent(k)]);
      if (M.row[extent(k)] != column) add(column, M.value[extent(k)]);
    }
  const RigidInertia own = irregular();
  const Vec3d at = mechanics.frame_pose(1, state.q, {})(own.centre);
  const double weight = 9.81 * (own.mass + bar.model.total_mass);
  EXPECT_GT(norm(weighted - rest), 1e-3 * bar.model.total_mass);  // it has sagged by more than a millimetre
  EXPECT_LT(norm(force - Vec3d{{0, 0, weight}}), 1e-7 * weight);
  const Vec3d expected = cross(own.mass * at + weighted, {{0, 0, 9.81}});
  EXPECT_LT(norm(moment - expected), 1e-7 * weight);
}

TEST(Assembly, DrivenFrameCarriesABodyAsADrivenRegionDoes) {
  // The clamp of the bar driven within the model, and the bar in a frame that is: the same motion, damping and all.
  const Vec3d gravity{{0, 0, -9.81}};
  Scene scene = bar_scene(gravity);
  scene.actuators.clear();  // whose ends are fixed in space here, in the frame there
  const FullModel held = build_full_model(scene, reduced_bodies::bar(false));
  scene.bodies[0].fixes[0] = driven_bodies::driven(scene.bodies[0].fixes[0], "base", {{0.5, 1, -2}});
  const FullModel driven = build_full_model(scene, reduced_bodies::bar(false));
  FullMechanics within(driven), carried(held);
  Assembly assembly;
  assembly.gravity = gravity;
  assembly.frames = {frame("palm", Hold::driven)};
  assembly.frames[0].motions = {driven.robot.motions[0]};
  assembly.bodies = {body("bar", carried, body_inertia(held), 0)};
  AssemblyMechanics mechanics(assembly);
  const Vec3d direction = driven.robot.motions[0].direction;
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton, StepScheme::quasi_static}) {
    Stepper a(within, {.scheme = scheme, .time_step = 0.01, .tolerance = 1e-12}),
        b(mechanics, {.scheme = scheme, .time_step = 0.01, .tolerance = 1e-12});
    State x = rest_state(within), z = rest_state(mechanics);
    Control control = zero_control(within);
    for (int step = 1; step <= 8; ++step) {
      control.motions[0] = 0.003 * step * step / 8;
      run(a, control, 1, x);
      run(b, control, 1, z);
      std::vector<double> world = z.q;
      for (std::size_t i = 0; i < world.size(); ++i) world[i] += z.motions[0] * direction[static_cast<int>(i % 3)];
      // Rounding of displacements of a few centimetres; Newton's tolerance is relative to forces of 10 N.
      // One linearisation begins with the clamp moved and the rest of the bar not, where a frame moves all of it.
      EXPECT_LT(boxes::difference(world, x.q), scheme == StepScheme::one_linearisation ? 5e-3 : 1e-9);
    }
    const Vec3d tip = point_at(b.outputs(), effector_point(mechanics.robot(), "bar/tip"));
    EXPECT_LT(norm(tip - point_at(a.outputs(), effector_point(driven.robot, "tip"))),
              scheme == StepScheme::one_linearisation ? 2e-4 : 1e-10);
  }
}

TEST(Assembly, BodyBetweenTwoFramesIsOneWithPrescribedEnds) {
  // The far end joined node by node to a frame that is driven, and the same end driven within the model.
  Scene scene = bar_scene();
  scene.actuators.clear();
  const Mesh mesh = driven_bodies::bar(false);
  Scene ends = scene;
  FixScene far;
  far.region.kind = Region::Kind::box;
  far.region.lower = {{0.295, -1, -1}};
  far.region.upper = {{1, 1, 1}};
  ends.bodies[0].fixes.push_back(driven_bodies::driven(far, "far", {{-1, 0.3, 0.2}}));
  const FullModel one = build_full_model(ends, mesh);
  std::vector<Vec3d> nodes;
  for (const Vec3d& x : mesh.nodes)
    if (x[0] > 0.295) nodes.push_back(x);
  ASSERT_EQ(nodes.size(), 4U);
  for (const Vec3d& x : nodes) scene.effectors.push_back(position_effector("end", x));
  const std::size_t first = scene.effectors.size() - nodes.size();
  for (std::size_t k = 0; k < nodes.size(); ++k) scene.effectors[first + k].name += std::to_string(k);
  const FullModel free_end = build_full_model(scene, mesh);
  FullMechanics prescribed(one), soft(free_end);
  Assembly assembly;
  assembly.frames = {frame("left", Hold::fixed), frame("right", Hold::driven)};
  assembly.frames[1].motions = {one.robot.motions[0]};
  assembly.bodies = {body("bar", soft, body_inertia(free_end), 0)};
  for (std::size_t k = 0; k < nodes.size(); ++k)
    join(assembly, on_body(0, free_end.robot.effectors[first + k].point), on_frame(1, nodes[k]));
  AssemblyMechanics mechanics(assembly);
  for (const StepScheme scheme : {StepScheme::newton, StepScheme::quasi_static}) {
    Stepper a(prescribed, {.scheme = scheme, .time_step = 0.01, .tolerance = 1e-12}),
        b(mechanics, {.scheme = scheme, .time_step = 0.01, .tolerance = 1e-12});
    State x = rest_state(prescribed), z = rest_state(mechanics);
    Control control = zero_control(prescribed);
    for (int step = 1; step <= 5; ++step) {
      control.motions[0] = 0.002 * step;
      run(a, control, 1, x);
      run(b, control, 1, z);
    }
    std::vector<double> u(3 * mesh.nodes.size()), w = u;
    node_displacements(one, x.q, x.motions, u);
    node_displacements(free_end, z.q, {}, w);
    // The hard rows hold to 1e-11 m of 1 cm.
    EXPECT_LT(boxes::difference(w, u), 1e-7);
  }
}

TEST(Assembly, JoinedReducedRobotsAreTheJoinedFullOnes) {
  // Two bars tip to tip by a joint: with all coordinates as modes the reduced robots are the full ones, and each pulls
  // the other.
  const Vec3d gravity{{0, 0, -9.81}};
  Bar bars[2] = {Bar(gravity), Bar(gravity)};
  const int nv = bars[0].model.coordinates.nv, tip = effector_point(bars[0].model.robot, "tip");
  const std::vector<double> basis = reduced_bodies::full_basis(nv);
  ReducedBar reduced[2] = {{bars[0].model, basis, nv}, {bars[1].model, basis, nv}};
  State states[2];
  for (int kind = 0; kind < 2; ++kind) {
    Assembly assembly;
    assembly.gravity = gravity;
    assembly.frames = {frame("world", Hold::fixed)};
    // The second faces the first, turned about z.
    const Pose facing{{{0.58, 0.1, 0}}, {{-1, 0, 0, 0, -1, 0, 0, 0, 1}}};
    for (std::size_t b = 0; b < 2; ++b)
      assembly.bodies.push_back(body(b == 0 ? "a" : "b",
                                     kind == 0 ? static_cast<Mechanics&>(bars[b].mechanics) : reduced[b].mechanics,
                                     kind == 0 ? bars[b].inertia : reduced[b].inertia, 0, b == 0 ? Pose{} : facing));
    join(assembly, on_body(0, tip), on_body(1, tip));
    AssemblyMechanics mechanics(assembly);
    Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = 0.01, .tolerance = 1e-11});
    State& state = states[kind] = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands[0] = 0.004;  // of the first alone
    run(stepper, control, 10, state);
    const int first = mechanics.robot().constraints.back().first_point;
    const std::vector<double>& y = stepper.outputs();
    EXPECT_LT(norm(point_at(y, first) - point_at(y, first + 1)), 1e-10);
    EXPECT_GT(std::abs(state.multipliers.back()), 1e-3);
  }
  EXPECT_LT(boxes::difference(states[1].q, states[0].q), 1e-7);
  EXPECT_LT(boxes::difference(states[1].multipliers, states[0].multipliers), 1e-6);
}

TEST(Assembly, RefusesWhatItCannotDo) {
  Bar bar;
  const auto message = [](const Assembly& assembly) -> std::string {
    try {
      AssemblyMechanics mechanics(assembly);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  Assembly assembly;
  EXPECT_NE(message(assembly).find("no body"), std::string::npos);
  assembly.frames = {frame("palm", Hold::free, {}, {})};
  EXPECT_NE(message(assembly).find("no mass"), std::string::npos);
  assembly.frames[0].inertia = irregular();
  assembly.bodies = {
      body("bar", bar.mechanics, {.rest = {}, .translation = bar.inertia.translation, .first = {}, .second = {}}, 0)};
  EXPECT_NE(message(assembly).find("has not the inertia"), std::string::npos);
  assembly.bodies[0].inertia = bar.inertia;
  EXPECT_EQ(message(assembly), "");
  assembly.masses = {{on_body(0, 0), 1}};
  EXPECT_NE(message(assembly).find("a mass sits on"), std::string::npos);
}

}  // namespace
}  // namespace supple

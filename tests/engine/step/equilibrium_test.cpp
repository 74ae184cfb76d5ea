// The quasi-static solver: increments that fail are made smaller, given up early, and leave an equilibrium behind.

#include "engine/step/equilibrium.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/scene/reader.hpp"
#include "tests/engine/bodies/bodies_that_buckle.hpp"
#include "tests/engine/bodies/boxes.hpp"
#include "tests/engine/bodies/constrained_bodies.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// A soft bar of 0.4 x 0.1 x 0.1 m held at x = 0, its tip pulled back along a cable through a point in space.
Scene pulled_bar(MaterialModel model) {
  Scene scene = boxes::scene({"", model}, 1e5, 0.45);
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable;
  cable.name = "cable";
  cable.points = {{{0.4, 0.05, 0.1}}};
  cable.pull_point = Vec3d{{0.05, 0.05, 0.25}};
  cable.range = {-1, 1};
  scene.actuators = {cable};
  return scene;
}

FullModel build(MaterialModel model) {
  return build_full_model(pulled_bar(model), box_hexahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 8, 2, 2));
}

// Norm of f - H^T lambda relative to that of H^T lambda, and the row's value, at a state.
std::pair<double, double> imbalance(const FullModel& model, FullMechanics& mechanics, const State& state) {
  std::vector<double> f(state.q.size()), H(state.q.size()), y(static_cast<std::size_t>(model.robot.outputs())), phi(1),
      gradients(3);
  EXPECT_EQ(mechanics.evaluate_forces(state.q, state.motions, TangentKind::none, f).undefined, 0);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  evaluate_rows(model.robot, mechanics.rows(), y, phi, gradients);
  mechanics.row_jacobians(mechanics.rows(), gradients, H, {});
  for (double& h : H) h *= state.multipliers[0];
  return {boxes::difference(f, H), phi[0]};
}

class HyperelasticEquilibrium : public testing::TestWithParam<MaterialModel> {};

TEST_P(HyperelasticEquilibrium, LargeCommandAtOnceEndsWhereSmallOnesDo) {
  const FullModel model = build(GetParam());
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  Equilibrium equilibrium(mechanics, {});
  State at_once = rest_state(mechanics), slowly = at_once;
  control.commands = {0.12};
  const EquilibriumReport report = equilibrium.solve(control, at_once);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  RecordProperty("iterations", report.iterations);
  RecordProperty("increments", report.increments);
  // Measured 6 to 20; before hopeless increments were given up early, up to ten times as many.
  EXPECT_LE(report.iterations, 40);
  for (int step = 1; step <= 24; ++step) {
    control.commands = {0.005 * step};
    ASSERT_EQ(equilibrium.solve(control, slowly).status, StepStatus::ok);
  }
  // Both converged to 1e-9 of the forces; the bar's softest mode is some hundred times softer than its elements.
  EXPECT_LT(boxes::difference(at_once.q, slowly.q), 1e-6);
  const auto [residual, phi] = imbalance(model, mechanics, at_once);
  EXPECT_LT(residual, 1e-7);
  EXPECT_NEAR(phi, 0.12, 1e-9);
}

TEST_P(HyperelasticEquilibrium, LettingGoComesBackToRest) {
  // Forces vanish at the end: the residual must not be judged against what is left of them.
  const FullModel model = build(GetParam());
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  control.commands = {0.05};
  ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
  control.commands = {-0.05};
  const EquilibriumReport report = equilibrium.solve(control, state);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_EQ(state.multipliers[0], 0);
  // 1e-9 of the forces of the loaded bar, which moved by 0.05 m.
  for (double u : state.q) EXPECT_NEAR(u, 0, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Laws, HyperelasticEquilibrium,
                         testing::Values(MaterialModel::corotational, MaterialModel::stable_neo_hookean,
                                         MaterialModel::mooney_rivlin),
                         [](const auto& info) {
                           return std::string(info.param == MaterialModel::corotational         ? "corotational"
                                              : info.param == MaterialModel::stable_neo_hookean ? "stable_neo_hookean"
                                                                                                : "mooney_rivlin");
                         });

// A kept factor changes the way, not the end; every solve stops at a residual of 1e-9, and the bar's softest mode is
// some hundred times softer than its elements.
TEST(KeptFactor, EquilibriaAgreeWithFewerFactorisations) {
  for (const MaterialModel law : {MaterialModel::corotational, MaterialModel::mooney_rivlin}) {
    const FullModel model = build(law);
    FullMechanics mechanics(model);
    Equilibrium direct(mechanics, {}), reusing(mechanics, {.keep_factor_below = 0.1});
    State a = rest_state(mechanics), b = a;
    Control control = zero_control(mechanics);
    int fewer = 0;
    for (const double command : {0.03, 0.06, 0.08, 0.05, 0.02}) {
      control.commands = {command};
      const EquilibriumReport first = direct.solve(control, a), second = reusing.solve(control, b);
      ASSERT_EQ(first.status, StepStatus::ok);
      ASSERT_EQ(second.status, StepStatus::ok);
      EXPECT_LE(second.residual, 1e-9);
      EXPECT_LT(boxes::difference(a.q, b.q), 1e-7);
      EXPECT_NEAR(a.multipliers[0], b.multipliers[0], 1e-7 * a.multipliers[0]);
      fewer += first.iterations - second.iterations;
    }
    EXPECT_GT(fewer, 0);
  }
}

TEST(KeptFactor, NewtonStepsAgree) {
  for (const double damping : {0.0, 0.01}) {  // with stiffness damping every iteration has its own factor
    Scene scene = pulled_bar(MaterialModel::corotational);
    scene.bodies[0].rayleigh_stiffness = damping;
    const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 8, 2, 2));
    FullMechanics mechanics(model);
    const StepSettings settings{.scheme = StepScheme::newton};
    StepSettings keeping = settings;
    keeping.keep_factor_below = 0.1;
    Stepper direct(mechanics, settings), reusing(mechanics, keeping);
    State a = rest_state(mechanics), b = a;
    Control control = zero_control(mechanics);
    int fewer = 0;
    for (int step = 1; step <= 20; ++step) {
      control.commands = {0.002 * step};
      const StepReport first = direct.step(control, a), second = reusing.step(control, b);
      ASSERT_EQ(first.status, StepStatus::ok);
      ASSERT_EQ(second.status, StepStatus::ok);
      fewer += first.iterations - second.iterations;
    }
    EXPECT_LT(boxes::difference(a.q, b.q), 1e-7);
    if (damping == 0)
      EXPECT_GT(fewer, 0);
    else
      EXPECT_EQ(fewer, 0);
  }
}

// A sweep from equilibrium to equilibrium starts each increment at a residual of nothing: that is no reason to cut it.
TEST(Equilibrium, ContinuesFromAnEquilibriumInOneIncrement) {
  const FullModel model = build(MaterialModel::corotational);
  FullMechanics mechanics(model);
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  for (const double command : {0.02, 0.04, 0.06}) {
    control.commands = {command};
    const EquilibriumReport report = equilibrium.solve(control, state);
    ASSERT_EQ(report.status, StepStatus::ok);
    EXPECT_EQ(report.increments, 1);
    EXPECT_LE(report.iterations, 8);
  }
}

TEST(FailedEquilibrium, LeavesTheLastOneReached) {
  // Shortening the cable by more than its length cannot be done.
  const FullModel model = build(MaterialModel::mooney_rivlin);
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  Equilibrium equilibrium(mechanics, {.smallest_increment = 1.0 / 64, .patient_iterations = 5});
  State state = rest_state(mechanics);
  control.commands = {0.5};
  const EquilibriumReport report = equilibrium.solve(control, state);
  EXPECT_NE(report.status, StepStatus::ok);
  EXPECT_GT(report.increments, 0);
  EXPECT_GT(state.commands[0], 0);
  EXPECT_LT(state.commands[0], 0.5);
  const auto [residual, phi] = imbalance(model, mechanics, state);
  EXPECT_LT(residual, 1e-7);
  EXPECT_NEAR(phi, state.commands[0], 1e-9);
}

// A slender bar that its own weight bends by half its length: one step from rest ends nowhere.
FullModel heavy_bar(double young) {
  Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean}, young, 0.45);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  return build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.04, 0.03}}, 20, 2, 2));
}

// Iterations: fewer than all of it at once takes.
constexpr int few = 3;

TEST(HeavyBody, SettlesAlongAVanishingLoad) {
  const FullModel model = heavy_bar(7e5);
  FullMechanics mechanics(model);
  StepSettings at_once;
  at_once.scheme = StepScheme::quasi_static;
  Stepper stepper(mechanics, at_once);
  stepper.set_limits(few, 1, 3);
  State state = rest_state(mechanics);
  ASSERT_NE(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);  // what the way is for
  std::vector<double> r(state.q.size());
  EXPECT_GT(stepper.imbalance(state, r), 0.5);  // at rest nothing holds the weight
  Equilibrium equilibrium(mechanics, {.max_iterations = few});
  const EquilibriumReport report = equilibrium.solve(zero_control(mechanics), state);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_GT(report.increments, 1);
  EXPECT_EQ(report.negative_pivots, 0);
  EXPECT_LE(stepper.imbalance(state, r), 1e-9);  // under the whole load
  double lowest = 0;
  for (std::size_t i = 2; i < state.q.size(); i += 3) lowest = std::min(lowest, state.q[i]);
  EXPECT_LT(lowest, -0.1);
}

TEST(FailedEquilibrium, UnderALoadThatIsNoneIsNotLeftBehind) {
  const FullModel model = heavy_bar(2e4);
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  // Too heavy, and too little patience, to come to the end.
  Equilibrium equilibrium(mechanics, {.max_iterations = few, .smallest_increment = 1.0 / 8, .patient_iterations = 0});
  const EquilibriumReport report = equilibrium.solve(zero_control(mechanics), state);
  ASSERT_NE(report.status, StepStatus::ok);
  EXPECT_GT(report.increments, 0);
  EXPECT_EQ(state.q, rest_state(mechanics).q);
}

TEST(UnstableEquilibrium, AColumnBuckles) {
  // pi^2 1e6 (0.04 0.02^3/12)/(4 0.4^2) = 0.41 N; linear hexahedra of two layers are stiffer in bending.
  const FullModel model = bodies_that_buckle::column(2);
  FullMechanics full(model);
  const ReducedModel reduced =
      project(model, reduced_bodies::full_basis(model.coordinates.nv), model.coordinates.nv, all_elements(model));
  ReducedMechanics same(reduced);
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&full), static_cast<Mechanics*>(&same)}) {
    Control control = zero_control(*mechanics);
    Equilibrium equilibrium(*mechanics, {}), hasty(*mechanics, {.patient_iterations = 0});
    const auto highest = [](const std::vector<double>& q) {
      double most = 0;
      for (std::size_t i = 2; i < q.size(); i += 3) most = std::max(most, std::abs(q[i]));
      return most;
    };
    for (const double load : {0.2, 2.0}) {
      control.commands = {load};
      State straight = rest_state(*mechanics), state = straight;
      const EquilibriumReport before = hasty.solve(control, straight), report = equilibrium.solve(control, state);
      ASSERT_EQ(before.status, StepStatus::ok);
      ASSERT_EQ(report.status, StepStatus::ok);
      EXPECT_LT(highest(straight.q), 1e-3);
      EXPECT_EQ(report.negative_pivots, 0);
      EXPECT_EQ(before.negative_pivots > 0, load > 1);
      EXPECT_EQ(report.relaxed, load > 1);
      EXPECT_EQ(before.unstable, before.negative_pivots);
      if (load < 1) {
        EXPECT_EQ(hash(state), hash(straight));
      } else {
        EXPECT_GT(highest(state.q), 0.1);
      }
    }
  }
}

// The same column, its tip pulled towards its base by a cable of given length: the cable takes the motion along itself
// away from what is unstable, and not the one to the side.
TEST(UnstableEquilibrium, AColumnBucklesUnderACable) {
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
  scene.gravity = {{0, 0, 0}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable;
  cable.name = "cable";
  cable.points = {{{0.4, 0.02, 0.01}}};
  cable.pull_point = Vec3d{{-0.1, 0.02, 0.01}};
  cable.range = {0, 0.05};
  scene.actuators = {cable};
  const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.4, 0.04, 0.02}}, 16, 2, 2));
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  control.commands = {0.02};
  State straight = rest_state(mechanics), state = straight;
  const EquilibriumReport before = Equilibrium(mechanics, {.patient_iterations = 0}).solve(control, straight);
  ASSERT_EQ(before.status, StepStatus::ok);
  EXPECT_GE(before.unstable, 1);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
  ASSERT_EQ(report.status, StepStatus::ok);
  EXPECT_TRUE(report.relaxed);
  EXPECT_EQ(report.unstable, 0);
  double highest = 0;
  for (std::size_t i = 2; i < state.q.size(); i += 3) highest = std::max(highest, std::abs(state.q[i]));
  EXPECT_GT(highest, 0.02);
  EXPECT_LT(state.multipliers[0], straight.multipliers[0]);  // a bent column pushes less
}

// Where cables hold what the body alone would not: stable although K has negative eigenvalues.
TEST(UnstableEquilibrium, CablesHoldAFinRay) {
  const Scene scene = read_scene(SUPPLE_SOURCE_DIR "/assets/zoo/finray/scene.toml");
  const FullModel model = build_full_model(scene);
  FullMechanics mechanics(model);
  Equilibrium equilibrium(mechanics, {});
  int held = 0;
  for (const Sample& sample : uniform_draws(model.robot, 6, 5)) {
    State state = rest_state(mechanics);
    const EquilibriumReport report = equilibrium.solve(control_of(model.robot, sample), state);
    ASSERT_EQ(report.status, StepStatus::ok);
    EXPECT_EQ(report.unstable, 0);
    EXPECT_FALSE(report.relaxed);
    held += report.negative_pivots > 0 ? 1 : 0;
  }
  EXPECT_GT(held, 0);
}

// A body of which one corner is held may still turn about it.
TEST(FailedEquilibrium, OfABodyHeldInOnePointIsSingular) {
  Scene scene = boxes::scene({"", MaterialModel::corotational});
  scene.gravity = {{0, 0, -9.81}};
  FixScene fix;
  fix.region = boxes::box_region({{-1e-6, -1e-6, -1e-6}}, {{1e-6, 1e-6, 1e-6}});
  scene.bodies[0].fixes = {fix};
  const FullModel model = build_full_model(scene, boxes::cube(true, 2));
  ASSERT_FALSE(model.robot.floating);
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  const std::uint64_t before = hash(state);
  Equilibrium equilibrium(mechanics, {});
  EXPECT_NE(equilibrium.solve(zero_control(mechanics), state).status, StepStatus::ok);
  EXPECT_EQ(hash(state), before);
}

// A bar of 39 N held by six hard rows; without them, by springs of 1 mN/m alone. A^-1 r and A^-1 H^T lambda are some
// 10^4 m long and cancel: steps that added them had a residual of 1e-7 at best. The law sees rows of that length, one
// bit of which is 2e-12 m: seven of them may end 1e-11 m off, and did in a build of other rounding.
class NearlySingular : public testing::TestWithParam<bool> {};

TEST_P(NearlySingular, StiffnessHeldByRowsConverges) {
  using constrained_bodies::constraint;
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e7);
  scene.gravity = {{0, 0, -9.81}};
  ConstraintScene corner = constraint("corner", ConstraintKind::fixed_point, {{{0, 0, 0}}}),
                  end = constraint("end", ConstraintKind::fixed_point, {{{0.4, 0, 0}}}),
                  side = constraint("side", ConstraintKind::fixed_point, {{{0, 0.1, 0}}});
  end.directions = {{{0, 1, 0}}, {{0, 0, 1}}};
  side.directions = {{{0, 0, 1}}};
  scene.constraints = {corner, end, side};
  int number = 0;
  for (const Vec3d& point : {Vec3d{{0.4, 0.1, 0.1}}, Vec3d{{0, 0.1, 0.1}}, Vec3d{{0.4, 0, 0.1}}})
    scene.constraints.push_back(constraint("spring" + std::to_string(number++), ConstraintKind::fixed_point, {point},
                                           1e3, ConstraintForm::force));
  const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 8, 2, 2));
  ASSERT_EQ(model.robot.rows(), 6);
  FullMechanics mechanics(model);
  // In time the mass of steps of 10^5 s holds as little.
  const bool dynamic = GetParam();
  Stepper stepper(mechanics, {.scheme = dynamic ? StepScheme::newton : StepScheme::quasi_static,
                              .time_step = dynamic ? 1e5 : 0.0,
                              .row_tolerance = 1e-10,
                              .max_iterations = 20});
  State state = rest_state(mechanics);
  const StepReport report = stepper.step(zero_control(mechanics), state);
  ASSERT_EQ(report.status, StepStatus::ok) << report.residual;
  RecordProperty("residual", fmt::format("{:.1e}", report.residual));
  EXPECT_LE(report.residual, 1e-9);
  EXPECT_LE(report.iterations, 6);
  for (const double phi : stepper.row_values()) EXPECT_LE(std::abs(phi), 1e-10);
  // What the rows bear is the weight, but for the springs: 3 mN/m times a sag below 1 mm, and the tolerance.
  EXPECT_NEAR(state.multipliers[2] + state.multipliers[4] + state.multipliers[5], 9.81 * 1000 * 0.004, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Schemes, NearlySingular, testing::Bool(),
                         [](const auto& info) { return info.param ? "Newton" : "QuasiStatic"; });

}  // namespace
}  // namespace supple

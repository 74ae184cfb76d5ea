// Steps with the factor of an earlier step (StepSettings::keep_tangent).

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "engine/reduction/validate.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/point_masses.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

constexpr double h = 0.01;

StepSettings keeping(double share) {
  return {.time_step = h, .keep_tangent = share};
}

// Factors of `steps` steps along a path from rest; `each` sees every report and state.
template <class Each>
int follow(Mechanics& mechanics, Stepper& stepper, int steps, const Each& each) {
  PathCommands path(mechanics, 3);
  State state = rest_state(mechanics);
  int factors = 0;
  for (int step = 0; step < steps; ++step) {
    const StepReport report = stepper.step(path.at(step), state);
    EXPECT_EQ(report.status, StepStatus::ok) << step;
    factors += report.iterations;
    each(step, state);
  }
  return factors;
}

// All the ways that a force gets into a linear system: weight, mass damping, a hard row, a soft one, a spring, a floor
// with friction that the first mass falls on and slides over.
ReducedModel linear_system() {
  ReducedModel model = point_masses::model({{{{0, 0, 0.02}}, 0.3, 20}, {{{1, 0, 0}}, 0.2, 50}}, {{1, 0, -9.81}});
  model.robot.rayleigh_mass = 0.7;
  model.robot.constraints = {point_masses::along({{0, 1, 0}}, {{0, 0, 0}}),
                             point_masses::along({{0.6, 0, 0.8}}, {{1, 0, 0.03}}, 1e-3, 0, 1)};
  model.robot.springs = {point_masses::along({{0, 0.6, 0.8}}, {{1, 0, 0.01}}, 2e-3, 0, 1)};
  model.robot.obstacles = {contact_bodies::floor(0.4)};
  model.robot.first_collision_point = 0;
  model.robot.collision_points = 1;
  return model;
}

TEST(KeptTangent, LinearSystemsNeedOneFactor) {
  // Nothing is left unbalanced but rounding, 1e-16 of forces against motions that shrink to 1e-4 of the first: if a
  // force were forgotten, the share that it leaves would be far above 1e-9 of the motion in the steps before rest.
  const ReducedModel model = linear_system();
  ReducedMechanics mechanics(model), others(model);
  Stepper stepper(mechanics, keeping(1e-9)), fresh(others, keeping(0));
  State state = rest_state(mechanics), expected = state;
  const Control control = zero_control(mechanics);
  bool touched = false;
  for (int step = 0; step < 60; ++step) {
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok);
    EXPECT_EQ(report.iterations, step == 0 ? 1 : 0) << step;
    ASSERT_EQ(fresh.step(control, expected).iterations, 1);
    EXPECT_EQ(state.q, expected.q);  // the same factor: the same bits
    EXPECT_EQ(state.contact_forces, expected.contact_forces);
    touched = touched || report.contact.touching > 0;
  }
  EXPECT_TRUE(touched);
}

TEST(KeptTangent, ForgottenForcesWouldBeSeen) {
  // The same as before under a load that begins later: the last step did not know of it.
  const ReducedModel model = linear_system();
  ReducedMechanics mechanics(model);
  Stepper stepper(mechanics, keeping(1e-9));
  State state = rest_state(mechanics);
  point_masses::run(stepper, mechanics, 5, state);
  std::vector<double> load(state.q.size(), 0.0);
  load[3] = 1e-4;
  stepper.set_load(load);
  EXPECT_EQ(stepper.step(zero_control(mechanics), state).iterations, 1);
}

TEST(KeptTangent, ShareLimitsWhatItCosts) {
  // Full and reduced bars: the smaller the share, the more factors and the nearer to steps with a
  // new tangent each; the distance is a few times the share of what a step moves.
  FullModel full = build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                                    reduced_bodies::bar(false));
  full.robot.rayleigh_stiffness = 0;
  const int nv = full.coordinates.nv;
  const ReducedModel reduced = project(full, reduced_bodies::full_basis(nv), nv, reduced_bodies::some_elements(full));
  const std::function<std::unique_ptr<Mechanics>()> makers[] = {
      [&]() -> std::unique_ptr<Mechanics> { return std::make_unique<FullMechanics>(full); },
      [&]() -> std::unique_ptr<Mechanics> { return std::make_unique<ReducedMechanics>(reduced); }};
  const int steps = 60;
  for (const auto& make : makers) {
    std::vector<std::vector<double>> fresh;
    double moved = 0;
    const auto mechanics = make();
    Stepper stepper(*mechanics, keeping(0));
    EXPECT_EQ(follow(*mechanics, stepper, steps,
                     [&](int, const State& state) {
                       double sum = 0;
                       for (double q : state.q) sum += q * q;
                       moved = std::max(moved, std::sqrt(sum));
                       fresh.push_back(state.q);
                     }),
              steps);
    int before = steps + 1;
    double error_before = 0;
    for (const double share : {1e-12, 0.005, 0.02}) {
      const auto again = make();
      Stepper keeps(*again, keeping(share));
      double error = 0;
      const int factors = follow(*again, keeps, steps, [&](int step, const State& state) {
        double sum = 0;
        for (std::size_t i = 0; i < state.q.size(); ++i)
          sum += std::pow(state.q[i] - fresh[static_cast<std::size_t>(step)][i], 2);
        error = std::max(error, std::sqrt(sum) / moved);
      });
      EXPECT_LT(factors, before) << share;
      EXPECT_GE(error, error_before) << share;
      EXPECT_LE(error, 2 * share) << share;
      before = factors;
      error_before = error;
    }
    EXPECT_LT(before, steps / 3);
  }
}

TEST(KeptTangent, IsDroppedWhereItIsNotOfThisMotion) {
  const ReducedModel model = linear_system();
  ReducedMechanics mechanics(model);
  Stepper stepper(mechanics, keeping(0.5)), other(mechanics, keeping(0.5));
  const Control control = zero_control(mechanics);
  State state = rest_state(mechanics);
  point_masses::run(stepper, mechanics, 3, state);
  ASSERT_EQ(stepper.step(control, state).iterations, 0);
  State moved = state;
  moved.v[0] += 1e-6;
  EXPECT_EQ(stepper.step(control, moved).iterations, 1) << "a state that it did not lead to";
  point_masses::run(stepper, mechanics, 2, moved);
  ASSERT_EQ(stepper.step(control, moved).iterations, 0);
  point_masses::run(other, mechanics, 1, state);
  EXPECT_EQ(stepper.step(control, moved).iterations, 1) << "another's factor";
  ASSERT_EQ(stepper.step(control, moved).iterations, 0);
  mechanics.set_variations({.density = {1.1}, .rayleigh_mass = {5}});
  EXPECT_EQ(stepper.step(control, moved).iterations, 1) << "another mass and damping";
  ASSERT_EQ(stepper.step(control, moved).iterations, 0);
  stepper.set_time_step(h / 2);
  EXPECT_EQ(stepper.step(control, moved).iterations, 1) << "another time step";
}

TEST(KeptTangent, HasNoEffectWhereTheLastStepSaysNothing) {
  for (int kind = 0; kind < 4; ++kind) {
    ReducedModel model = point_masses::model({{{{0, 0, 0}}, 0.3, 20}}, {{1, 0, -9.81}});
    StepSettings settings = keeping(0.5);
    if (kind == 0) model.robot.rayleigh_stiffness = 1e-3;
    if (kind == 1) model.robot.springs = {point_masses::along({{1, 0, 0}}, {{0, 0, 0}}, 1e-3, 0.1)};
    if (kind == 2) settings.implicit_velocity = settings.implicit_position = 0.5;
    if (kind == 3) settings.scheme = StepScheme::newton;
    ReducedMechanics mechanics(model);
    Stepper stepper(mechanics, settings);
    State state = rest_state(mechanics);
    for (int step = 0; step < 4; ++step) EXPECT_GE(stepper.step(zero_control(mechanics), state).iterations, 1) << kind;
  }
}

}  // namespace
}  // namespace supple

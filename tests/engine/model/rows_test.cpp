// Constraint rows: cables alone, their stiffness in the full system, and what a step does with commands.

#include <gtest/gtest.h>

#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/boxes.hpp"
#include "tests/engine/bodies/curvature.hpp"

namespace supple {
namespace {

Robot one_cable(const std::vector<Vec3d>& points, const std::optional<Vec3d>& pull_point) {
  Robot robot;
  ActuatorRow cable;
  cable.point_count = static_cast<int>(points.size());
  cable.pull_point = pull_point;
  cable.rest_length = 0.7;
  robot.actuators = {cable};
  robot.rest_points = points;
  return robot;
}

std::vector<double> flat(const std::vector<Vec3d>& points) {
  std::vector<double> y;
  for (const Vec3d& x : points) y.insert(y.end(), {x[0], x[1], x[2]});
  return y;
}

struct CableCase {
  std::string name;
  std::vector<Vec3d> points;
  std::optional<Vec3d> pull_point;
  double length;
};

const CableCase cable_cases[] = {
    {"one_point", {{{0.3, 0, 0}}}, Vec3d{{0, 0.4, 0}}, 0.5},
    {"via_points", {{{0, 0, 0}}, {{0.3, 0.4, 0}}, {{0.3, 0.4, 1}}}, Vec3d{{0.3, 1.4, 1}}, 2.5},
    {"no_pull_point", {{{0, 0, 0}}, {{0.3, 0.4, 0}}, {{0.3, 0.4, 1}}}, std::nullopt, 1.5},
    {"there_and_back",
     {{{0, 0, 0}}, {{1, 0.1, 0}}, {{0, 0, 0.02}}},
     std::nullopt,
     std::sqrt(1.01) + std::sqrt(1.01 + 4e-4)},
};

class Cable : public testing::TestWithParam<CableCase> {};

TEST_P(Cable, ValueGradientAndCurvatureAgreeWithDifferences) {
  const Robot robot = one_cable(GetParam().points, GetParam().pull_point);
  const RowLayout layout = row_layout(robot);
  const std::vector<double> y = flat(GetParam().points);
  const auto n = y.size();
  std::vector<double> phi(1), gradient(n), up(n), down(n);
  evaluate_rows(robot, layout, y, phi, gradient);
  EXPECT_NEAR(phi[0], 0.7 - GetParam().length, 1e-15 * 10);
  const double lambda = 3, h = 1e-6;
  const std::vector<double> curvature = dense_curvature(robot, 0, y, lambda);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> plus = y, minus = y, high(1), low(1);
    plus[j] += h;
    minus[j] -= h;
    evaluate_rows(robot, layout, plus, high, up);
    evaluate_rows(robot, layout, minus, low, down);
    // Central differences over 1e-6 m of lengths of 1 m: rounding 1e-10, truncation 1e-12 over segments >= 0.3 m.
    EXPECT_NEAR(gradient[j], (high[0] - low[0]) / (2 * h), 1e-9);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(curvature[i * n + j], -lambda * (up[i] - down[i]) / (2 * h), 1e-8);
      EXPECT_EQ(curvature[i * n + j], curvature[j * n + i]);
    }
  }
  // A tense cable is never less than indifferent to sideways motion.
  boxes::Random random;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> v(n);
    for (double& x : v) x = random();
    double form = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) form += v[i] * curvature[i * n + j] * v[j];
    EXPECT_GE(form, -1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Cable, testing::ValuesIn(cable_cases),
                         [](const auto& info) { return info.param.name; });

TEST(CableRows, CoincidentPointsAddNothing) {
  // The doubled point has no direction of its own; the rest of the cable is as without it.
  const Vec3d a{{0, 0, 0}}, b{{0.3, 0, 0}}, end{{0.3, 0.4, 0}};
  const Robot twice = one_cable({a, b, b}, end), once = one_cable({a, b}, end);
  std::vector<double> phi2(1), phi1(1), g2(9), g1(6);
  const std::vector<double> y2 = flat({a, b, b}), y1 = flat({a, b});
  evaluate_rows(twice, row_layout(twice), y2, phi2, g2);
  evaluate_rows(once, row_layout(once), y1, phi1, g1);
  EXPECT_EQ(phi2[0], phi1[0]);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(g2[k], g1[k]);
    EXPECT_EQ(g2[3 + k] + g2[6 + k], g1[3 + k]);
  }
  for (const double c : dense_curvature(twice, 0, y2, 2)) EXPECT_TRUE(std::isfinite(c));
}

TEST(CableRows, RowsOfARobotAreIndependent) {
  Robot robot = one_cable({{{0, 0, 0}}, {{1, 0, 0}}}, std::nullopt);
  robot.rest_points.push_back({{0, 2, 0}});
  ActuatorRow second;
  second.first_point = 2;
  second.point_count = 1;
  second.pull_point = Vec3d{{0, 0, 0}};
  second.rest_length = 2;
  robot.actuators.push_back(second);
  const RowLayout layout = row_layout(robot);
  EXPECT_EQ(layout.first, (std::vector<int>{0, 6}));
  EXPECT_EQ(layout.count, (std::vector<int>{6, 3}));
  EXPECT_EQ(layout.offset, (std::vector<int>{0, 6, 9}));
  std::vector<double> phi(2), g(9);
  evaluate_rows(robot, layout, flat(robot.rest_points), phi, g);
  EXPECT_NEAR(phi[0], -0.3, 1e-15);
  EXPECT_EQ(phi[1], 0);
  EXPECT_EQ(g, (std::vector<double>{1, 0, 0, -1, 0, 0, 0, -1, 0}));
}

TEST(CableRows, TargetsRespectRangeRateAndSign) {
  ActuatorRow cable;
  cable.range = {-0.01, 0.04};
  cable.rate = 0.1;
  RowTarget law = row_target(cable, 0.03, 0.03, 0.01);
  EXPECT_EQ(law.target, 0.03);
  EXPECT_EQ(law.lower, 0);
  EXPECT_EQ(law.upper, unlimited);
  EXPECT_FALSE(law.limited);
  law = row_target(cable, 0.05, 0.04, 0.01);
  EXPECT_EQ(law.target, 0.04);
  EXPECT_TRUE(law.limited);
  law = row_target(cable, 0.03, 0, 0.01);
  EXPECT_DOUBLE_EQ(law.target, 0.001);
  EXPECT_TRUE(law.limited);
  law = row_target(cable, 0.03, 0, 0);  // statics: no rate
  EXPECT_EQ(law.target, 0.03);
  cable.bilateral = true;
  law = row_target(cable, 0.03, 0.03, 0.01);
  EXPECT_EQ(law.lower, -unlimited);
  cable.control = ActuatorControl::force;
  cable.range = {0, 5};
  cable.rate = unlimited;
  law = row_target(cable, 7, 0, 0.01);
  EXPECT_EQ(law.lower, 5);
  EXPECT_EQ(law.upper, 5);
  EXPECT_TRUE(law.limited);
}

// A bar of 0.4 x 0.1 x 0.1 m clamped at x = 0 with two cables along its length: one through three embedded points, one
// from the tip to a point in space.
Scene bar_with_cables(ActuatorControl control = ActuatorControl::displacement) {
  Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean});
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene via;
  via.name = "via";
  via.points = {{{0.38, 0.05, 0.09}}, {{0.2, 0.05, 0.08}}, {{0.05, 0.05, 0.09}}};
  via.control = control;
  ActuatorScene free;
  free.name = "free";
  free.points = {{{0.4, 0.04, 0.02}}};
  free.pull_point = Vec3d{{0, 0.2, -0.1}};
  free.control = control;
  via.range = free.range = control == ActuatorControl::force ? Interval{0, 100} : Interval{-0.1, 0.1};
  scene.actuators = {via, free};
  return scene;
}

FullModel bar(const Scene& scene, bool hexahedra) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.4, 0.1, 0.1}};
  return build_full_model(scene,
                          hexahedra ? box_hexahedra(lower, upper, 4, 2, 2) : box_tetrahedra(lower, upper, 4, 2, 2));
}

// g(q) = f - H^T lambda for fixed lambda.
std::vector<double> unbalanced(FullMechanics& mechanics, const std::vector<double>& q,
                               const std::vector<double>& lambda) {
  const Robot& robot = mechanics.robot();
  const auto nv = q.size();
  std::vector<double> f(nv), y(static_cast<std::size_t>(robot.outputs())), phi(lambda.size()),
      gradients(static_cast<std::size_t>(mechanics.rows().gradients())), H(lambda.size() * nv);
  EXPECT_EQ(mechanics.evaluate_forces(q, {}, TangentKind::none, f).undefined, 0);
  mechanics.evaluate_outputs(q, {}, y);
  evaluate_rows(robot, mechanics.rows(), y, phi, gradients);
  mechanics.row_jacobians(mechanics.rows(), gradients, H, {});
  for (std::size_t i = 0; i < lambda.size(); ++i)
    for (std::size_t k = 0; k < nv; ++k) f[k] -= lambda[i] * H[i * nv + k];
  return f;
}

class RowsInTheSystem : public testing::TestWithParam<bool> {};

TEST_P(RowsInTheSystem, GeometricStiffnessIsTheDerivative) {
  // A^-1 applied to a difference quotient of f - H^T lambda along v gives v back: that is all of A, cables included.
  const FullModel model = bar(bar_with_cables(), GetParam());
  FullMechanics mechanics(model);
  const int n = model.coordinates.nv;
  const std::vector<double> q = boxes::random_vector(n, 0.003), v = boxes::random_vector(n, 1), lambda{40, 25};
  const double h = 1e-7;
  std::vector<double> x = boxes::plus(unbalanced(mechanics, boxes::plus(q, h, v), lambda), -1,
                                      unbalanced(mechanics, boxes::plus(q, -h, v), lambda));
  for (double& value : x) value /= 2 * h;
  std::vector<double> f(q.size()), y(static_cast<std::size_t>(model.robot.outputs()));
  ASSERT_EQ(mechanics.evaluate_forces(q, {}, TangentKind::exact, f).undefined, 0);
  mechanics.evaluate_outputs(q, {}, y);
  ASSERT_EQ(mechanics.factor({0, 1, true}, y, lambda).status, SystemStatus::ok);
  mechanics.solve(x, 1);
  // Differences over 1e-7 m of elements of 0.05 m: 1e-11 of truncation, 1e-9 of rounding, times a condition of 1e3.
  EXPECT_LT(boxes::difference(x, v), 1e-5);
  // Without the geometric stiffness it is visibly wrong, so the test sees the cables.
  ASSERT_EQ(mechanics.factor({0, 1, false}, y, lambda).status, SystemStatus::ok);
  std::vector<double> again = unbalanced(mechanics, boxes::plus(q, h, v), lambda);
  again = boxes::plus(again, -1, unbalanced(mechanics, boxes::plus(q, -h, v), lambda));
  for (double& value : again) value /= 2 * h;
  mechanics.solve(again, 1);
  EXPECT_GT(boxes::difference(again, v), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RowsInTheSystem, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

TEST(RowsInAStep, ComplianceIsTheSeedsTimesHSquared) {
  // Seed 003 writes W = h^2 H (M + h D + h^2 K)^-1 H^T. Column j of that: a solve with the whole system scaled by h^2.
  Scene scene = bar_with_cables();
  scene.bodies[0].rayleigh_mass = 0.7;
  scene.bodies[0].rayleigh_stiffness = 0.02;
  const FullModel model = bar(scene, false);
  FullMechanics mechanics(model);
  const double h = 0.05;
  Stepper stepper(mechanics, {.time_step = h});
  State state = rest_state(mechanics);
  ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
  const std::vector<double> W = stepper.compliance();

  const auto nv = static_cast<std::size_t>(model.coordinates.nv);
  std::vector<double> q(nv, 0.0), f(nv), y(static_cast<std::size_t>(model.robot.outputs())), phi(2),
      gradients(static_cast<std::size_t>(mechanics.rows().gradients())), H(2 * nv);
  mechanics.evaluate_outputs(q, {}, y);
  evaluate_rows(model.robot, mechanics.rows(), y, phi, gradients);
  mechanics.row_jacobians(mechanics.rows(), gradients, H, {});
  ASSERT_EQ(mechanics.evaluate_forces(q, {}, TangentKind::safe, f).undefined, 0);
  // x = W e_j / h^2 by its own equation: (M + h D + h^2 K) x = H^T e_j, checked through the products M x and D x.
  std::vector<double> X = H;
  ASSERT_EQ(mechanics.factor({1 + h * 0.7, h * h + h * 0.02, false}, y, phi).status, SystemStatus::ok);
  mechanics.solve(X, 2);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      double expected = 0;
      for (std::size_t k = 0; k < nv; ++k) expected += h * h * H[i * nv + k] * X[j * nv + k];
      EXPECT_NEAR(W[2 * i + j], expected, 1e-10 * std::abs(W[0]));
    }
  for (std::size_t j = 0; j < 2; ++j) {
    const std::vector<double> x(X.begin() + static_cast<std::ptrdiff_t>(j * nv),
                                X.begin() + static_cast<std::ptrdiff_t>((j + 1) * nv));
    std::vector<double> Mx(nv), Dx(nv);
    mechanics.inertia(x, {}, Mx);
    mechanics.damping(x, {}, Dx);  // 0.7 M x + 0.02 K x
    for (std::size_t k = 0; k < nv; ++k) {
      const double Kx = (Dx[k] - 0.7 * Mx[k]) / 0.02;
      EXPECT_NEAR(Mx[k] + h * Dx[k] + h * h * Kx, H[j * nv + k], 1e-10);
    }
  }
}

TEST(RowsInAStep, ComplianceIsTheDerivativeOfTheLengthByTheTension) {
  const FullModel model = bar(bar_with_cables(ActuatorControl::force), true);
  FullMechanics mechanics(model);
  Equilibrium equilibrium(mechanics, {.tolerance = 1e-13});
  Stepper one_more(mechanics,
                   {.scheme = StepScheme::quasi_static, .time_step = 0, .tolerance = 0, .max_iterations = 1});
  const std::vector<double> tension{20, 10};
  const auto lengths = [&](const std::vector<double>& commands) {
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = commands;
    EXPECT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
    (void)one_more.step(control, state);
    return one_more.row_values();
  };
  (void)lengths(tension);
  const std::vector<double> W = one_more.compliance();
  const double h = 1e-3;
  for (std::size_t j = 0; j < 2; ++j) {
    std::vector<double> more = tension, less = tension;
    more[j] += h;
    less[j] -= h;
    const std::vector<double> high = lengths(more), low = lengths(less);
    // Lengths of 0.4 m known to 1e-15 over 2e-3 N: 1e-12 of compliances of 1e-4 m/N; truncation about (h/20)^2.
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(W[2 * i + j], (high[i] - low[i]) / (2 * h), 1e-6 * W[0]);
  }
}

TEST(RowsInAStep, SlackCablesCarryNothingAndTautOnesReachTheirCommand) {
  // Gravity bends the bar down: the upper cable must hold, and with slack given to it, lets go.
  Scene scene = bar_with_cables();
  scene.gravity = {{0, 0, -9.81}};
  const FullModel model = bar(scene, true);
  FullMechanics mechanics(model);
  Equilibrium equilibrium(mechanics, {});
  Control control = zero_control(mechanics);
  for (const double pulled : {0.01, 0.0, -0.05}) {
    State state = rest_state(mechanics);
    control.commands = {pulled, -0.05};
    ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
    std::vector<double> y(static_cast<std::size_t>(model.robot.outputs())), phi(2),
        gradients(static_cast<std::size_t>(mechanics.rows().gradients()));
    mechanics.evaluate_outputs(state.q, {}, y);
    evaluate_rows(model.robot, mechanics.rows(), y, phi, gradients);
    if (pulled >= 0) {
      EXPECT_GT(state.multipliers[0], 0);
      EXPECT_NEAR(phi[0], pulled, 1e-9);
    } else {
      EXPECT_EQ(state.multipliers[0], 0);
      EXPECT_GT(phi[0], pulled);
    }
    EXPECT_EQ(state.multipliers[1], 0);
    EXPECT_GT(phi[1], -0.05);
  }
}

TEST(RowsInAStep, DynamicStepsKeepComplementarity) {
  // A command that jumps to and fro: tensions stay >= 0 at every step, whatever the motion does.
  const FullModel model = bar(bar_with_cables(), false);
  FullMechanics mechanics(model);
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton}) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    int slack = 0, taut = 0;
    for (int step = 0; step < 30; ++step) {
      control.commands = {step % 7 < 3 ? 0.01 : -0.01, step % 5 < 2 ? 0.02 : 0.0};
      const StepReport report = stepper.step(control, state);
      ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_GE(state.multipliers[i], 0);
        (state.multipliers[i] > 0 ? taut : slack)++;
        const double gap = stepper.row_values()[i] - control.commands[i];
        if (scheme == StepScheme::newton) {
          EXPECT_NEAR(state.multipliers[i] > 0 ? gap : std::min(gap, 0.0), 0, 1e-9) << "step " << step;
        }
      }
    }
    EXPECT_GT(slack, 5);
    EXPECT_GT(taut, 5);
  }
}

TEST(RowsInAStep, ForceControlGivesExactlyTheTension) {
  const FullModel model = bar(bar_with_cables(ActuatorControl::force), true);
  FullMechanics mechanics(model);
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton, StepScheme::quasi_static}) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.02});
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = {12.5, 3.75};
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    EXPECT_EQ(state.multipliers, control.commands);
    EXPECT_EQ(state.commands, control.commands);
    EXPECT_EQ(report.limited_commands, 0);
    control.commands = {120, -1};  // range: 0 to 100 N
    EXPECT_EQ(stepper.step(control, state).limited_commands, 2);
    EXPECT_EQ(state.multipliers, (std::vector<double>{100, 0}));
  }
}

TEST(RowsInAStep, RatesAndRangesAreReported) {
  Scene scene = bar_with_cables();
  scene.actuators[0].rate = 0.1;  // m/s
  const FullModel model = bar(scene, true);
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {0.0025, 0.2};
  EXPECT_EQ(stepper.step(control, state).limited_commands, 2);
  EXPECT_DOUBLE_EQ(state.commands[0], 0.001);
  EXPECT_DOUBLE_EQ(state.commands[1], 0.1);
  control.commands[1] = 0.05;
  EXPECT_EQ(stepper.step(control, state).limited_commands, 1);
  EXPECT_DOUBLE_EQ(state.commands[0], 0.002);
  EXPECT_EQ(stepper.step(control, state).limited_commands, 0);
  EXPECT_DOUBLE_EQ(state.commands[0], 0.0025);
}

TEST(RowsInAStep, TensionsStayWithinTheirLimits) {
  Scene scene = bar_with_cables();
  scene.actuators[0].force = {0, 4};
  const FullModel model = bar(scene, true);
  FullMechanics mechanics(model);
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {0.03, -0.05};  // would take more than 4 N
  ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
  EXPECT_EQ(state.multipliers[0], 4);
}

}  // namespace
}  // namespace supple

// Forces as actuators, in the full model and in reduced ones.

#include "engine/model/effectors.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/curvature.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;  // NOLINT: a test's own vocabulary

// A bar of 0.4 x 0.1 x 0.1 m held at x = 0, with a force on its end along a skew direction.
Scene loaded_bar(ActuatorControl control, bool bilateral = true) {
  Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean});
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene load;
  load.name = "load";
  load.kind = ActuatorKind::force;
  load.region = boxes::group_region("x+");
  load.direction = {{2, 1, 2}};  // its length does not count
  load.control = control;
  load.bilateral = bilateral;
  scene.actuators = {load};
  return scene;
}
const Vec3d along{{2.0 / 3, 1.0 / 3, 2.0 / 3}};

FullModel build(const Scene& scene, bool hexahedra) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.4, 0.1, 0.1}};
  return build_full_model(scene,
                          hexahedra ? box_hexahedra(lower, upper, 4, 2, 2) : box_tetrahedra(lower, upper, 4, 2, 2));
}

struct Settled {
  State state;
  std::vector<double> f;  // elastic forces
  double phi = 0;         // how far the loaded point has moved along the force [m]
};

Settled settle(Mechanics& mechanics, double command) {
  Settled result{rest_state(mechanics), {}, 0};
  Control control = zero_control(mechanics);
  control.commands[0] = command;
  EXPECT_EQ(Equilibrium(mechanics, {.tolerance = 1e-13}).solve(control, result.state).status, StepStatus::ok);
  result.f.resize(result.state.q.size());
  (void)mechanics.evaluate_forces(result.state.q, {}, TangentKind::none, result.f);
  std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs())), phi(1), gradients(3);
  mechanics.evaluate_outputs(result.state.q, {}, y);
  evaluate_rows(mechanics.robot(), mechanics.rows(), y, phi, gradients);
  result.phi = phi[0];
  return result;
}

TEST(Force, RowIsTheDistanceAlongItsDirection) {
  Robot robot;
  ActuatorRow row;
  row.kind = ActuatorKind::force;
  row.first_point = 1;
  row.point_count = 1;
  row.direction = {{0, 0.6, 0.8}};
  robot.actuators = {row};
  robot.rest_points = {{{0, 0, 0}}, {{1, 2, 3}}};
  const RowLayout layout = row_layout(robot);
  std::vector<double> phi(1), gradient(3);
  evaluate_rows(robot, layout, std::vector<double>{9, 9, 9, 1.5, 2.5, 2}, phi, gradient);
  EXPECT_DOUBLE_EQ(phi[0], 0.6 * 0.5 - 0.8);
  EXPECT_EQ(gradient, (std::vector<double>{0, 0.6, 0.8}));
  EXPECT_EQ(dense_curvature(robot, 0, std::vector<double>{9, 9, 9, 1.5, 2.5, 2}, 5), std::vector<double>(9, 0.0));
}

class ForceOnABar : public testing::TestWithParam<bool> {};

// Inside the load's nodes f = lambda w_i e, elsewhere 0, and the support carries the whole of it.
TEST_P(ForceOnABar, IsBalancedNodeByNode) {
  const FullModel model = build(loaded_bar(ActuatorControl::force), GetParam());
  FullMechanics mechanics(model);
  for (const double force : {6.0, -4.0}) {
    const Settled found = settle(mechanics, force);
    EXPECT_EQ(found.state.multipliers[0], force);
    EXPECT_GT(found.phi * force, 0);
    std::vector<double> load(found.f.size(), 0.0);
    const Interpolation& share = model.interpolation[0];
    for (std::size_t n = 0; n < share.node.size(); ++n)
      for (int k = 0; k < 3; ++k)
        load[static_cast<std::size_t>(3 * model.node_unknown[static_cast<std::size_t>(share.node[n])] + k)] +=
            force * share.weight[n] * along[k];
    // The residual asked for, over forces of elements that are about 100 times the load.
    EXPECT_LT(boxes::difference(found.f, load), 1e-10);
    for (std::size_t k = 0; k < 3; ++k) {
      double sum = 0;
      for (std::size_t i = k; i < found.f.size(); i += 3) sum += found.f[i];
      EXPECT_NEAR(sum, force * along[static_cast<int>(k)], 1e-10 * std::abs(force));
    }
  }
}

// dE = lambda dphi: what the force does is stored.
TEST_P(ForceOnABar, ItsWorkIsTheEnergyStored) {
  const FullModel model = build(loaded_bar(ActuatorControl::force), GetParam());
  FullMechanics mechanics(model);
  const double force = 5, step = 0.02;
  const auto energy = [&](const Settled& found) {
    std::vector<double> u(3 * model.mesh.nodes.size());
    node_displacements(mechanics.model(), found.state.q, {}, u);
    return boxes::elastic_energy(model, u);
  };
  const Settled more = settle(mechanics, force + step), less = settle(mechanics, force - step);
  // A midpoint rule: its error is (step / force)^2 / 12 of the whole, below 2e-6.
  const double work = force * (more.phi - less.phi);
  EXPECT_NEAR(energy(more) - energy(less), work, 3e-6 * work);
}

// A cable that is pulled from very far away is a force.
TEST_P(ForceOnABar, OnAPointIsACableFromFarAway) {
  for (const double radius : {0.0, 0.13}) {
    Scene scene = loaded_bar(ActuatorControl::force);
    ActuatorScene& load = scene.actuators[0];
    load.region.reset();
    load.points = {{{0.39, 0.04, 0.07}}};
    load.attachment_radius = radius;
    Scene far = scene;
    far.actuators = {boxes::pull("far", load.points[0], along, 1e6)};
    far.actuators[0].attachment_radius = radius;
    const FullModel model = build(scene, GetParam()), other = build(far, GetParam());
    FullMechanics mechanics(model), cable(other);
    // Directions differ by displacements of 0.1 m over 1e6 m.
    EXPECT_LT(boxes::difference(settle(mechanics, 3).state.q, settle(cable, 3).state.q), 1e-6);
  }
}

TEST_P(ForceOnABar, ReachesTheDisplacementThatIsCommanded) {
  const FullModel model = build(loaded_bar(ActuatorControl::displacement), GetParam());
  FullMechanics mechanics(model);
  const FullModel same = build(loaded_bar(ActuatorControl::force), GetParam());
  FullMechanics by_force(same);
  for (const double command : {0.02, -0.015, 0.0}) {
    const Settled found = settle(mechanics, command);
    EXPECT_NEAR(found.phi, command, 1e-9);  // what Equilibrium asks of rows
    EXPECT_GE(found.state.multipliers[0] * command, 0);
    if (command == 0) continue;
    // The force found, commanded, leads to the same state.
    const Settled back = settle(by_force, found.state.multipliers[0]);
    EXPECT_LT(boxes::difference(back.state.q, found.state.q), 1e-7);
  }
  // A step that linearises once has the row where it was told, too: forces have no curvature.
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {-0.004};
  for (int k = 0; k < 3; ++k) {
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    std::vector<double> phi(1), gradients(3);
    evaluate_rows(model.robot, mechanics.rows(), stepper.outputs(), phi, gradients);
    EXPECT_NEAR(phi[0], -0.004, 1e-12);  // sums of 9 nodes' displacements, each by a solve
  }
}

TEST_P(ForceOnABar, OneWayItLetsGo) {
  const FullModel model = build(loaded_bar(ActuatorControl::displacement, false), GetParam());
  FullMechanics mechanics(model);
  EXPECT_GT(settle(mechanics, 0.01).state.multipliers[0], 0);
  const Settled slack = settle(mechanics, -0.01);
  EXPECT_EQ(slack.state.multipliers[0], 0);
  EXPECT_GT(slack.phi, -0.01);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ForceOnABar, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

class ReducedForce : public testing::TestWithParam<bool> {};

// With every coordinate as a mode the rows are the full model's, actuators' and effectors', and so are the steps.
TEST_P(ReducedForce, FullBasisIsTheFullModel) {
  const FullModel model = build_full_model(bar_with_forces({"", MaterialModel::stable_neo_hookean}), bar(GetParam()));
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, full_basis(nv), nv, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  const auto n = static_cast<std::size_t>(nv), ny = static_cast<std::size_t>(model.robot.outputs());
  const std::vector<double> q = boxes::random_vector(nv, 0.01);
  std::vector<double> y(ny), z(ny);
  full.evaluate_outputs(q, {}, y);
  mine.evaluate_outputs(q, {}, z);
  EXPECT_LT(boxes::difference(z, y), 1e-14);  // two orders of summation over up to 16 nodes
  const RowLayout layout = effector_layout(model.robot);
  ASSERT_EQ(layout.rows(), 3 + 3 + 2 + 2 + 1);
  const auto rows = static_cast<std::size_t>(layout.rows());
  std::vector<double> goals(3 * model.robot.effectors.size(), 0.1), phi(rows),
      gradients(static_cast<std::size_t>(layout.gradients())), H(rows * n), J(rows * n);
  evaluate_effectors(model.robot, layout, y, goals, phi, gradients);
  full.row_jacobians(layout, gradients, H, {});
  mine.row_jacobians(layout, gradients, J, {});
  EXPECT_LT(boxes::difference(J, H), 1e-14);
  // H is the derivative of phi by the coordinates, through nodes and modes.
  const double h = 1e-6;
  const std::vector<double> v = boxes::random_vector(nv, 1);
  std::vector<double> high(rows), low(rows), scratch(gradients.size());
  full.evaluate_outputs(boxes::plus(q, h, v), {}, y);
  evaluate_effectors(model.robot, layout, y, goals, high, scratch);
  full.evaluate_outputs(boxes::plus(q, -h, v), {}, y);
  evaluate_effectors(model.robot, layout, y, goals, low, scratch);
  for (std::size_t i = 0; i < rows; ++i) {
    double slope = 0;
    for (std::size_t k = 0; k < n; ++k) slope += H[i * n + k] * v[k];
    // Rounding 1e-16 / 1e-6; curvature of angles over a region of 0.1 m: (h / 0.1)^2.
    EXPECT_NEAR((high[i] - low[i]) / (2 * h), slope, 1e-8) << "row " << i;
  }

  Stepper a(full, {.time_step = 0.01}), b(mine, {.time_step = 0.01});
  State x = rest_state(full), w = rest_state(mine);
  Control control = zero_control(full);
  for (int k = 1; k <= 20; ++k) {
    control.commands = {0.0004 * k, 0.05 * k, 0.002 * std::sin(0.5 * k), -0.1 * k, 0.004 * std::sin(0.3 * k)};
    ASSERT_EQ(a.step(control, x).status, StepStatus::ok);
    ASSERT_EQ(b.step(control, w).status, StepStatus::ok);
  }
  EXPECT_EQ(x.multipliers[3], -2);
  EXPECT_GT(std::abs(x.multipliers[4]), 0.01);
  // Rounding of 20 solves; a damped step forgets.
  EXPECT_LT(boxes::difference(w.q, x.q), 1e-11);
  EXPECT_LT(boxes::difference(w.multipliers, x.multipliers), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReducedForce, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

// The metric: what is held at a commanded displacement does not give way, be it a force, and be that force zero.
TEST(ReducedForce, DisplacementControlHoldsItsRowInTheMetric) {
  Scene scene = bar_with_forces({"", MaterialModel::corotational});
  scene.actuators[4].force = {-5, 5};
  const FullModel full = build_full_model(scene, bar(false));
  const int r = 12;
  const ReducedModel model = project(full, random_basis(full.coordinates.nv, r), r, all_elements(full));
  const std::vector<double> alpha = boxes::random_vector(r, 1e-3);
  const RowLayout layout = row_layout(model.robot);
  // |T j| / (|T| |j|) for the row j of the last actuator.
  const auto gives_way = [&](double force) {
    ReducedMechanics mechanics(model);
    std::vector<double> y(static_cast<std::size_t>(model.robot.outputs())), phi(5),
        gradients(static_cast<std::size_t>(layout.gradients())), H(5 * r);
    mechanics.evaluate_outputs(alpha, {}, y);
    evaluate_rows(model.robot, layout, y, phi, gradients);
    mechanics.row_jacobians(layout, gradients, H, {});
    const std::vector<double> T = displacement_metric(model, alpha, std::vector<double>{0, 0, 0, 1, force}, 1);
    double product = 0, size = 0, length = 0;
    for (std::size_t i = 0; i < r; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < r; ++k) {
        sum += T[i * r + k] * H[4 * r + k];
        size += T[i * r + k] * T[i * r + k];
      }
      product += sum * sum;
      length += H[4 * r + i] * H[4 * r + i];
    }
    return std::sqrt(product / size / length);
  };
  // Rounding of a solve whose condition is about 1e4, against something of order one.
  for (const double force : {0.0, 2.0, -2.0}) EXPECT_LT(gives_way(force), 1e-10) << force;
  for (const double force : {5.0, -5.0}) EXPECT_GT(gives_way(force), 1e-2) << force;
}

}  // namespace
}  // namespace supple

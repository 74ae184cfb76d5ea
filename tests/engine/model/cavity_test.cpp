// Cavities: volume and its derivatives, the polynomial of a reduced model, pressure and volume as commands, closed
// forms of inflated shells, walls that are none.

#include <gtest/gtest.h>

#include <fstream>
#include <numbers>

#include "engine/inverse/inverse_step.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mesh/closed_surface.hpp"
#include "engine/model/cavity.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/step/row_ops.hpp"
#include "tests/engine/bodies/curvature.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"

namespace supple {
namespace {

// An octahedron with random corners near the axes, outwards.
struct Surface8 {
  std::vector<Vec3d> nodes;
  Triangles triangles{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  explicit Surface8(double irregular = 0.1) {
    boxes::Random random;
    for (int k = 0; k < 3; ++k)
      for (const double side : {1.0, -1.0}) {
        Vec3d x{{5, -3, 2}};  // away from the origin
        x[k] += side;
        for (int i = 0; i < 3; ++i) x[i] += irregular * random();
        nodes.push_back(x);
      }
  }
  std::vector<double> flat() const {
    std::vector<double> y;
    for (const Vec3d& x : nodes) y.insert(y.end(), {x[0], x[1], x[2]});
    return y;
  }
};

TEST(CavityVolume, OfAnOctahedronIsFourThirds) {
  const Surface8 regular(0);
  EXPECT_NEAR(cavity_volume(regular.flat(), regular.triangles, nullptr), 4.0 / 3, 1e-14);
  EXPECT_NEAR(enclosed_volume(regular.nodes, regular.triangles), 4.0 / 3, 1e-14);
  EXPECT_NEAR(surface_area(regular.nodes, regular.triangles), 4 * std::sqrt(3.0), 1e-14);
}

TEST(CavityVolume, GradientAndCurvatureAgreeWithDifferences) {
  const Surface8 surface;
  Robot robot;
  ActuatorRow row;
  row.kind = ActuatorKind::cavity;
  row.point_count = 6;
  row.triangles = surface.triangles;
  row.rest_volume = 1;
  robot.actuators = {row};
  robot.rest_points = surface.nodes;
  const RowLayout layout = row_layout(robot);
  const std::vector<double> y = surface.flat();
  std::vector<double> phi(1), gradient(18), up(18), down(18), high(1), low(1);
  evaluate_rows(robot, layout, y, phi, gradient);
  EXPECT_NEAR(phi[0], cavity_volume(y, surface.triangles, nullptr) - 1, 1e-15);
  const double pressure = 3, h = 1e-5;
  const std::vector<double> curvature = dense_curvature(robot, 0, y, pressure);
  for (std::size_t j = 0; j < 18; ++j) {
    std::vector<double> plus = y, minus = y;
    plus[j] += h;
    minus[j] -= h;
    evaluate_rows(robot, layout, plus, high, up);
    evaluate_rows(robot, layout, minus, low, down);
    // The volume is linear in each coordinate: only rounding is left, 1e-16 of 10 m^3 terms over 1e-5 m.
    EXPECT_NEAR(gradient[j], (high[0] - low[0]) / (2 * h), 1e-9);
    for (std::size_t i = 0; i < 18; ++i) {
      EXPECT_NEAR(curvature[18 * i + j], -pressure * (up[i] - down[i]) / (2 * h), 1e-9);
      EXPECT_EQ(curvature[18 * i + j], curvature[18 * j + i]);
    }
  }
}

TEST(CavityVolume, PressureHasNoResultantAndNoMoment) {
  const Surface8 surface;
  const std::vector<double> y = surface.flat();
  std::vector<double> g(18);
  (void)cavity_volume(y, surface.triangles, g.data());
  Vec3d force{{0, 0, 0}}, moment{{0, 0, 0}};
  for (std::size_t i = 0; i < 6; ++i) {
    const Vec3d f{{g[3 * i], g[3 * i + 1], g[3 * i + 2]}};
    force = force + f;
    moment = moment + cross(surface.nodes[i], f);
  }
  EXPECT_LT(norm(force), 1e-14);
  EXPECT_LT(norm(moment), 1e-13);
}

TEST(VolumePolynomial, IsTheVolume) {
  const Surface8 surface;
  const std::vector<double> rest = surface.flat();
  constexpr int n = 7;
  boxes::Random random;
  std::vector<double> columns(18 * n);
  for (double& x : columns) x = random();
  const VolumePolynomial polynomial = volume_polynomial(rest, columns, n, surface.triangles);
  EXPECT_EQ(polynomial.cubic.size(), 84u);
  EXPECT_EQ(cubic_size(33), 6545u);
  const double rest_volume = cavity_volume(rest, surface.triangles, nullptr);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> x(n), y = rest, on_walls(18), gradient(n), other(n), hessian(n * n);
    for (double& value : x) value = random();
    for (std::size_t i = 0; i < 18; ++i)
      for (std::size_t m = 0; m < n; ++m) y[i] += columns[i * n + m] * x[m];
    const double volume = cavity_volume(y, surface.triangles, on_walls.data()) - rest_volume;
    // Volumes of up to 30 m^3: rounding alone.
    EXPECT_NEAR(polynomial.evaluate(x.data(), gradient.data()), volume, 1e-12 * std::max(1.0, std::abs(volume)));
    EXPECT_EQ(polynomial.evaluate(x.data(), nullptr), polynomial.evaluate(x.data(), other.data()));
    polynomial.hessian(x.data(), hessian.data());
    for (std::size_t m = 0; m < n; ++m) {
      double expected = 0;
      for (std::size_t i = 0; i < 18; ++i) expected += on_walls[i] * columns[i * n + m];
      EXPECT_NEAR(gradient[m], expected, 1e-11);
      std::vector<double> plus = x, minus = x, up(n), down(n);
      plus[m] += 0.5;
      minus[m] -= 0.5;
      (void)polynomial.evaluate(plus.data(), up.data());
      (void)polynomial.evaluate(minus.data(), down.data());
      // Gradients are quadratic: central differences of any step are exact.
      for (std::size_t k = 0; k < n; ++k) EXPECT_NEAR(hessian[k * n + m], up[k] - down[k], 1e-11);
    }
  }
}

// Long loops, and those of one thread of a device: sums of the same products, some 1e4 of them.
TEST(VolumePolynomial, IsOneInBothOrdersOfSummation) {
  for (const int n : {1, 2, 9, 33, 63}) {
    VolumePolynomial polynomial;
    polynomial.unknowns = n;
    polynomial.linear = boxes::random_vector(n, 1);
    polynomial.quadratic = boxes::random_vector(n * (n + 1) / 2, 1);
    polynomial.cubic = boxes::random_vector(static_cast<int>(cubic_size(n)), 1);
    const std::vector<double> x = boxes::random_vector(n, 1);
    std::vector<double> g(extent(n), -7.0), expected(extent(n), -7.0);
    const double value = cubic_value(n, polynomial.linear.data(), polynomial.quadratic.data(), polynomial.cubic.data(),
                                     x.data(), expected.data());
    EXPECT_NEAR(polynomial.evaluate(x.data(), g.data()), value, 1e-13 * n * n);
    EXPECT_LT(boxes::difference(g, expected), 1e-13 * n) << n;
  }
}

TEST(VolumePolynomial, DoesNotKnowTranslations) {
  const Surface8 surface;
  std::vector<double> columns(18 * 3, 0.0);
  for (std::size_t i = 0; i < 18; ++i) columns[3 * i + i % 3] = 1;
  const VolumePolynomial polynomial = volume_polynomial(surface.flat(), columns, 3, surface.triangles);
  for (const auto* part : {&polynomial.linear, &polynomial.quadratic, &polynomial.cubic})
    for (const double c : *part) EXPECT_LT(std::abs(c), 1e-14);
}

TEST(ClosedSurface, IsTurnedOutwards) {
  Surface8 surface;
  const Triangles right = surface.triangles;
  std::swap(surface.triangles[3][0], surface.triangles[3][1]);
  std::swap(surface.triangles[6][1], surface.triangles[6][2]);
  ClosedSurfaceReport report = orient_closed_surface(surface.nodes, surface.triangles);
  EXPECT_TRUE(report.closed());
  EXPECT_EQ(report.turned, 2);
  EXPECT_EQ(report.parts, 1);
  EXPECT_NEAR(enclosed_volume(surface.nodes, surface.triangles), enclosed_volume(surface.nodes, right), 1e-14);
  for (auto& triangle : surface.triangles) std::swap(triangle[0], triangle[1]);
  report = orient_closed_surface(surface.nodes, surface.triangles);
  EXPECT_EQ(report.turned, 8);
  EXPECT_GT(enclosed_volume(surface.nodes, surface.triangles), 0);
}

TEST(ClosedSurface, SaysWhatIsWrong) {
  Surface8 open(0);
  open.triangles.pop_back();
  ClosedSurfaceReport report = orient_closed_surface(open.nodes, open.triangles);
  EXPECT_FALSE(report.closed());
  EXPECT_EQ(report.open_edges, 3);
  EXPECT_NE(describe(report, open.nodes).find("3 edges belong to one triangle only, for instance between ("),
            std::string::npos);
  Surface8 crowded(0);
  crowded.triangles.push_back({0, 1, 2});
  crowded.triangles.push_back({0, 2, 1});
  report = orient_closed_surface(crowded.nodes, crowded.triangles);
  EXPECT_GT(report.crowded_edges, 0);
  EXPECT_FALSE(report.closed());
  // Two triangles back to back have no volume.
  Triangles flat{{0, 1, 2}, {0, 2, 1}};
  report = orient_closed_surface(crowded.nodes, flat);
  EXPECT_EQ(report.flat_parts, 1);
  EXPECT_FALSE(report.closed());
  // A Klein bottle: a torus of 3 x 3 cells, closed with a reflection.
  Triangles klein;
  const auto node = [](int i, int j) { return 3 * (i % 3) + (i < 3 ? j % 3 : (3 - j % 3) % 3); };
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      klein.push_back({node(i, j), node(i + 1, j), node(i + 1, j + 1)});
      klein.push_back({node(i, j), node(i + 1, j + 1), node(i, j + 1)});
    }
  std::vector<Vec3d> places(9);
  boxes::Random random;
  for (Vec3d& x : places) x = {{random(), random(), random()}};
  report = orient_closed_surface(places, klein);
  EXPECT_GT(report.twisted_edges, 0);
  Triangles none;
  EXPECT_FALSE(orient_closed_surface(places, none).closed());
}

Control command(const Mechanics& mechanics, double cavity, double cable = 0) {
  Control control = zero_control(mechanics);
  control.commands = {cavity, cable};
  return control;
}

State settled(Mechanics& mechanics, const Control& control) {
  State state = rest_state(mechanics);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
  EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
  EXPECT_LE(report.residual, 1e-9);
  return state;
}

double volume_at(Mechanics& mechanics, const State& state) {
  std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  std::vector<double> phi(2), gradients(static_cast<std::size_t>(mechanics.rows().gradients()));
  evaluate_rows(mechanics.robot(), mechanics.rows(), y, phi, gradients);
  return phi[0];
}

// Few free nodes: the polynomial of all of them has n^3/6 coefficients.
FullModel half_held_bar(bool hexahedra) {
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 4e4);
  FixScene fix = boxes::clamp_at_origin();
  fix.region.upper[0] = 0.13;
  scene.bodies[0].fixes = {fix};
  return build_full_model(scene, hollow_bodies::bar(hexahedra));
}

class HollowBar : public testing::TestWithParam<bool> {};

TEST_P(HollowBar, PressureAndVolumeAreTwoSidesOfOneState) {
  const boxes::Law law{"stable_neo_hookean", MaterialModel::stable_neo_hookean};
  Scene scene = hollow_bodies::bar_scene(law, ActuatorControl::force, 4e4);
  const FullModel by_pressure = build_full_model(scene, hollow_bodies::bar(GetParam()));
  FullMechanics pressed(by_pressure);
  const State blown = settled(pressed, command(pressed, 2e4, 0.004));
  const double gained = volume_at(pressed, blown);
  EXPECT_GT(gained, 0.05 * by_pressure.robot.actuators[0].rest_volume);  // far from linear
  scene.actuators[0].control = ActuatorControl::displacement;
  scene.actuators[0].range = {0, 1};
  const FullModel by_volume = build_full_model(scene, hollow_bodies::bar(GetParam()));
  FullMechanics filled(by_volume);
  const State same = settled(filled, command(filled, gained, 0.004));
  // Both are converged to a residual of 1e-9 of the forces at work.
  EXPECT_NEAR(same.multipliers[0], 2e4, 1e-6 * 2e4);
  for (std::size_t i = 0; i < same.q.size(); ++i) EXPECT_NEAR(same.q[i], blown.q[i], 1e-9);
}

// dV/dp of neighbouring equilibria is the compliance of the last system: the follower load's stiffness is in it.
TEST_P(HollowBar, ComplianceIsTheDerivativeOfTheEquilibrium) {
  const boxes::Law law{"corotational", MaterialModel::corotational};
  const Scene scene = hollow_bodies::bar_scene(law, ActuatorControl::force, 4e4);
  const FullModel model = build_full_model(scene, hollow_bodies::bar(GetParam()));
  FullMechanics mechanics(model);
  State state = settled(mechanics, command(mechanics, 1.5e4));
  StepSettings settings;
  settings.scheme = StepScheme::quasi_static;
  settings.tolerance = 0;  // never reached: one more linearisation at the equilibrium
  settings.max_iterations = 2;
  Stepper stepper(mechanics, settings);
  State again = state;
  (void)stepper.step(command(mechanics, 1.5e4), again);
  // The cable is taut and stays as long as it is.
  ASSERT_GT(state.multipliers[1], 1);
  const std::vector<double>& all = stepper.compliance();
  const double W = all[0] - all[1] * all[2] / all[3], dp = 5;
  const double higher = volume_at(mechanics, settled(mechanics, command(mechanics, 1.5e4 + dp))),
               lower = volume_at(mechanics, settled(mechanics, command(mechanics, 1.5e4 - dp)));
  // Residuals of 1e-9 over a change of 3e-4 leave 1e-5.
  EXPECT_NEAR((higher - lower) / (2 * dp), W, 2e-5 * W);
}

TEST_P(HollowBar, UnilateralVolumeDoesNotSuck) {
  const boxes::Law law{"corotational", MaterialModel::corotational};
  Scene scene = hollow_bodies::bar_scene(law, ActuatorControl::displacement, 1e-4);
  scene.gravity = {{0, 0, 0}};
  const FullModel model = build_full_model(scene, hollow_bodies::bar(GetParam()));
  FullMechanics mechanics(model);
  // The cable bends the bar and squeezes or opens the cavity by a little; a cavity told to gain nothing may only push.
  const State state = settled(mechanics, command(mechanics, 0, 0.01));
  EXPECT_GE(state.multipliers[0], 0);
  const double gained = volume_at(mechanics, state);
  EXPECT_GE(gained, -1e-11 * model.robot.actuators[0].rest_area);
  EXPECT_TRUE(state.multipliers[0] == 0 || std::abs(gained) < 1e-11 * model.robot.actuators[0].rest_area);
}

// The reduced model with all directions is the full one: the polynomial stands for the walls in rows, steps,
// equilibria.
TEST_P(HollowBar, ReducedWithAFullBasisIsTheFullModel) {
  const FullModel model = half_held_bar(GetParam());
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, reduced_bodies::full_basis(nv), nv, all_elements(model));
  EXPECT_TRUE(reduced.robot.actuators[0].triangles.empty());
  EXPECT_LT(reduced.robot.rest_points.size(), model.robot.rest_points.size() + static_cast<std::size_t>((nv + 2) / 3));
  FullMechanics full(model);
  ReducedMechanics small(reduced);
  State a = rest_state(full), b = rest_state(small);
  StepSettings settings;
  Stepper full_step(full, settings), small_step(small, settings);
  for (int k = 1; k <= 5; ++k) {
    ASSERT_EQ(full_step.step(command(full, 4e3 * k, 1e-3 * k), a).status, StepStatus::ok);
    ASSERT_EQ(small_step.step(command(small, 4e3 * k, 1e-3 * k), b).status, StepStatus::ok);
  }
  // Rounding of sums in another order over five steps.
  for (std::size_t i = 0; i < a.q.size(); ++i) EXPECT_NEAR(a.q[i], b.q[i], 1e-12);
  EXPECT_NEAR(full_step.row_values()[0], small_step.row_values()[0], 1e-16);
  EXPECT_NEAR(full_step.compliance()[0], small_step.compliance()[0], 1e-9 * full_step.compliance()[0]);
  EXPECT_NEAR(full_step.compliance()[1], small_step.compliance()[1], 1e-9 * full_step.compliance()[0]);
  const State at_rest = settled(full, command(full, 2e4, 0.004)), also = settled(small, command(small, 2e4, 0.004));
  for (std::size_t i = 0; i < at_rest.q.size(); ++i) EXPECT_NEAR(at_rest.q[i], also.q[i], 1e-9);
  EXPECT_NEAR(volume_at(full, at_rest), volume_at(small, also), 1e-12);
}

TEST_P(HollowBar, ModelFileKeepsTheCavity) {
  const boxes::Law law{"corotational", MaterialModel::corotational};
  const FullModel model =
      build_full_model(hollow_bodies::bar_scene(law, ActuatorControl::force, 4e4), hollow_bodies::bar(GetParam()));
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 4), 4, all_elements(model));
  const reduced_bodies::TemporaryFolder folder;
  write_model(reduced, folder / "hollow.rom.h5");
  const ReducedModel read = read_model(folder / "hollow.rom.h5");
  const ActuatorRow &before = reduced.robot.actuators[0], &after = read.robot.actuators[0];
  EXPECT_EQ(after.kind, ActuatorKind::cavity);
  EXPECT_EQ(after.volume.unknowns, 4);
  EXPECT_EQ(after.volume.linear, before.volume.linear);
  EXPECT_EQ(after.volume.quadratic, before.volume.quadratic);
  EXPECT_EQ(after.volume.cubic, before.volume.cubic);
  EXPECT_EQ(after.rest_volume, before.rest_volume);
  EXPECT_EQ(after.rest_area, before.rest_area);
  // Its walls, for display: of this actuator and not of the cable.
  ASSERT_EQ(read.walls.size(), 2u);
  EXPECT_EQ(read.walls[0].rest, reduced.walls[0].rest);
  EXPECT_EQ(read.walls[0].triangles, model.robot.actuators[0].triangles);
  EXPECT_EQ(read.walls[0].modes, reduced.walls[0].modes);
  EXPECT_TRUE(read.walls[1].rest.empty());
  reduced_bodies::expect_same_model(read, reduced);
}

TEST_P(HollowBar, ModelFileWithAnotherCavityIsRefused) {
  const boxes::Law law{"corotational", MaterialModel::corotational};
  const FullModel model =
      build_full_model(hollow_bodies::bar_scene(law, ActuatorControl::force, 4e4), hollow_bodies::bar(GetParam()));
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 4), 4, all_elements(model));
  const reduced_bodies::TemporaryFolder folder;
  const auto refused = [&](const char* what, const auto& change) {
    ReducedModel damaged = reduced;
    change(damaged, damaged.robot.actuators[0]);
    write_model(damaged, folder / "damaged.rom.h5");
    EXPECT_THROW((void)read_model(folder / "damaged.rom.h5"), InputError) << what;
  };
  refused("fewer unknowns", [](ReducedModel&, ActuatorRow& row) {
    row.volume.unknowns = 1;
    row.volume.linear.resize(1);
    row.volume.quadratic.resize(1);
    row.volume.cubic.resize(1);
  });
  refused("a coefficient is missing", [](ReducedModel&, ActuatorRow& row) { row.volume.cubic.pop_back(); });
  refused("no number", [](ReducedModel&, ActuatorRow& row) { row.volume.quadratic[2] = std::nan(""); });
  refused("other points", [](ReducedModel&, ActuatorRow& row) { row.first_point = 0; });
  refused("no coordinates", [](ReducedModel& m, ActuatorRow& row) { m.outputs[extent(3 * row.first_point, 4)] = 2; });
  refused("no volume", [](ReducedModel&, ActuatorRow& row) { row.rest_volume = 0; });
}

// Errors against full equilibria: none with all directions. The full robot has more mapped points than the reduced one.
TEST_P(HollowBar, ErrorsAreThoseOfItsEffector) {
  const FullModel model = half_held_bar(GetParam());
  const int nv = model.coordinates.nv;
  const std::vector<double> basis = reduced_bodies::full_basis(nv);
  const ReducedModel reduced = project(model, basis, nv, all_elements(model));
  ASSERT_NE(reduced.robot.outputs(), model.robot.outputs());
  FullMechanics mechanics(model);
  SnapshotSet set;
  for (const double pressure : {1e4, 2e4, 3e4}) {
    const State state = settled(mechanics, command(mechanics, pressure, 0.002));
    set.commands.push_back({pressure, 0.002});
    set.q.insert(set.q.end(), state.q.begin(), state.q.end());
    ++set.count;
  }
  const ErrorSummary errors = evaluate_errors(reduced, basis, reference_states(model, set));
  EXPECT_EQ(errors.failed, 0);
  EXPECT_LT(errors.goal_max, 1e-6);  // residuals of 1e-9 on both sides
  EXPECT_LT(errors.shape_max, 1e-6);
}

// Pressure and cable bring the tip to where others had brought it, and it is the same pressure.
TEST_P(HollowBar, InverseFindsThePressure) {
  const boxes::Law law{"corotational", MaterialModel::corotational};
  const Scene scene = hollow_bodies::bar_scene(law, ActuatorControl::force, 4e4);
  const FullModel model = build_full_model(scene, hollow_bodies::bar(GetParam()));
  FullMechanics mechanics(model);
  const State there = settled(mechanics, command(mechanics, 2e4, 0.004));
  std::vector<double> y(static_cast<std::size_t>(model.robot.outputs()));
  mechanics.evaluate_outputs(there.q, there.motions, y);
  const auto tip = 3 * static_cast<std::size_t>(model.robot.effectors[0].point);
  InverseStep inverse(mechanics, {}, Integrator::quasi_static, 0.01);
  State state = settled(mechanics, command(mechanics, 0));
  for (int k = 0; k < 10; ++k)
    ASSERT_EQ(inverse.step(std::span<const double>(y).subspan(tip, 3), state).status, StepStatus::ok);
  EXPECT_NEAR(state.multipliers[0], 2e4, 20);
  EXPECT_NEAR(state.commands[1], 0.004, 4e-6);
}

INSTANTIATE_TEST_SUITE_P(Elements, HollowBar, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

// Shells that nothing holds but springs too weak to matter: 1e-6 of the wall's stiffness.
FullModel free_shell(Mesh mesh, double pressure_limit) {
  Scene scene = boxes::scene({"corotational", MaterialModel::corotational}, 1e5, 0.3);
  FixScene spring;
  spring.region = boxes::box_region({{-9, -9, -9}}, {{9, 9, 9}});
  spring.stiffness = 1e-5;
  scene.bodies[0].fixes = {spring};
  // Walls of radius 0.05: faces of the innermost cells.
  Region inside;
  inside.kind = Region::Kind::group;
  inside.group = "inside";
  CellGroup group{"inside", CellType::triangle, {}};
  const auto on_wall = [&](int node) {
    Vec3d x = mesh.nodes[static_cast<std::size_t>(node)];
    const double straight = 0.2;  // half the length of a capsule's straight part, or a sphere that ends before it
    const double z = std::abs(x[2]) > straight ? std::abs(x[2]) - straight : 0;
    const double sphere = norm(x), capsule = std::sqrt(x[0] * x[0] + x[1] * x[1] + z * z);
    return std::abs(sphere - 0.05) < 1e-9 || std::abs(capsule - 0.05) < 1e-9;
  };
  for (const auto& cell : mesh.hexahedra)
    if (on_wall(cell[0]) && on_wall(cell[1]) && on_wall(cell[2])) {
      group.cells.push_back(static_cast<int>(mesh.triangles.size()));
      mesh.triangles.push_back({cell[0], cell[1], cell[2]});
      group.cells.push_back(static_cast<int>(mesh.triangles.size()));
      mesh.triangles.push_back({cell[0], cell[2], cell[3]});
    }
  mesh.groups.push_back(group);
  scene.actuators = {hollow_bodies::cavity("cavity", inside, ActuatorControl::force, pressure_limit)};
  return build_full_model(scene, std::move(mesh));
}

double inflated(FullModel& model, double pressure) {
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  control.commands = {pressure};
  const State state = settled(mechanics, control);
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(model, state.q, state.motions, u);
  // Mean radial displacement of the wall's nodes next to the equator.
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < model.mesh.nodes.size(); ++i) {
    const Vec3d x = model.mesh.nodes[i];
    const double radius = std::hypot(x[0], x[1]);
    if (std::abs(radius - 0.05) > 1e-9 || std::abs(x[2]) > 1e-9) continue;
    sum += (x[0] * u[3 * i] + x[1] * u[3 * i + 1]) / radius;
    ++count;
  }
  EXPECT_GT(count, 7);
  return sum / count;
}

// Lame: u(a) = p a^3/(E (b^3 - a^3)) [(1 - 2 nu) a + (1 + nu) b^3/(2 a^2)], to second order in the size of the
// elements.
TEST(InflatedShells, SphereFollowsLame) {
  const double a = 0.05, b = 0.08, E = 1e5, nu = 0.3, p = 10;  // strains of 1e-4: linear to that
  const double exact =
      p * a * a * a / (E * (b * b * b - a * a * a)) * ((1 - 2 * nu) * a + (1 + nu) * b * b * b / (2 * a * a));
  std::vector<double> errors;
  for (const int n : {4, 8}) {
    FullModel model = free_shell(hollow_bodies::shell(n, n, a, b), 100);
    EXPECT_NEAR(model.robot.actuators[0].rest_volume, 4 * std::numbers::pi / 3 * a * a * a,
                (n == 4 ? 0.12 : 0.03) * 4 * std::numbers::pi / 3 * a * a * a);
    errors.push_back(std::abs(inflated(model, p) / exact - 1));
  }
  EXPECT_LT(errors[1], 0.02);
  EXPECT_GT(errors[0] / errors[1], 3);  // 4 at second order
}

// A long closed cylinder away from its ends: u(a) = p a^2/(E (b^2 - a^2)) [(1 - 2 nu) a + (1 + nu) b^2/a].
TEST(InflatedShells, ClosedCylinderFollowsLame) {
  const double a = 0.05, b = 0.08, E = 1e5, nu = 0.3, p = 10;
  const double exact = p * a * a / (E * (b * b - a * a)) * ((1 - 2 * nu) * a + (1 + nu) * b * b / a);
  std::vector<double> errors;
  for (const int n : {4, 8}) {
    FullModel model = free_shell(hollow_bodies::shell(n, n / 2, a, b, 0.4, 2 * n), 100);
    errors.push_back(std::abs(inflated(model, p) / exact - 1));
  }
  EXPECT_LT(errors[1], 0.02);
  EXPECT_GT(errors[0] / errors[1], 2.5);  // 4 at second order; the ends are four diameters apart
}

TEST(CavityWalls, ThatAreNotClosedAreRefused) {
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 1e4);
  const auto message = [&] {
    try {
      (void)build_full_model(scene, hollow_bodies::bar(true));
    } catch (const InputError& error) {
      return error.report();
    }
    return std::string("none");
  };
  scene.actuators[0].region = boxes::box_region({{0.03, 0.02, 0.02}}, {{0.2, 0.08, 0.08}});
  EXPECT_NE(message().find("the walls of cavity 'cavity' are not closed ("), std::string::npos) << message();
  EXPECT_NE(message().find("belong to one triangle only, for instance between ("), std::string::npos) << message();
  scene.actuators[0].region = boxes::box_region({{1, 1, 1}}, {{2, 2, 2}});
  EXPECT_NE(message().find("it has no triangle"), std::string::npos) << message();
  scene.actuators[0].region = boxes::box_region({{-1, -1, -1}}, {{2, 2, 2}});  // skin and void
  EXPECT_NE(message().find("are, or hold, the outside of the body"), std::string::npos) << message();
  scene.actuators[0].region = hollow_bodies::walls_of_bar();
  FixScene all_walls;
  all_walls.region = hollow_bodies::walls_of_bar();
  scene.bodies[0].fixes.push_back(all_walls);
  EXPECT_NE(message().find("are held everywhere"), std::string::npos) << message();
  scene.bodies[0].fixes.pop_back();
  scene.actuators[0].region.reset();
  EXPECT_NE(message().find("needs either a surface or a region"), std::string::npos) << message();
}

// The walls from a file, embedded, with its triangles turned at random: the same cavity.
TEST(CavityWalls, OfAFileAreEmbedded) {
  const boxes::Law law{"corotational", MaterialModel::corotational};
  Scene scene = hollow_bodies::bar_scene(law, ActuatorControl::force, 4e4);
  const FullModel own = build_full_model(scene, hollow_bodies::bar(false));
  const ActuatorRow& walls = own.robot.actuators[0];
  const reduced_bodies::TemporaryFolder folder;
  {
    std::ofstream file(folder / "walls.obj");
    file.precision(17);
    for (int p = 0; p < walls.point_count; ++p) {
      const Vec3d x = own.robot.rest_points[static_cast<std::size_t>(walls.first_point + p)];
      file << "v " << 1e3 * x[0] << " " << 1e3 * x[1] << " " << 1e3 * x[2] << "\n";
    }
    for (std::size_t t = 0; t < walls.triangles.size(); ++t) {
      const auto& n = walls.triangles[t];
      file << "f " << n[0] + 1 << " " << n[t % 3 == 0 ? 1 : 2] + 1 << " " << n[t % 3 == 0 ? 2 : 1] + 1 << "\n";
    }
  }
  scene.actuators[0].region.reset();
  scene.actuators[0].surface = SurfaceScene{folder / "walls.obj", 1e-3, {}};
  const FullModel read = build_full_model(scene, hollow_bodies::bar(false));
  EXPECT_NEAR(read.robot.actuators[0].rest_volume, walls.rest_volume, 1e-12 * walls.rest_volume);
  FullMechanics a(own), b(read);
  const State first = settled(a, command(a, 1e4)), second = settled(b, command(b, 1e4));
  for (std::size_t i = 0; i < first.q.size(); ++i) EXPECT_NEAR(first.q[i], second.q[i], 1e-10);
}

}  // namespace
}  // namespace supple

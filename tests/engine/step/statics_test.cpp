// Equilibria against closed solutions: beams under small and large loads, uniaxial tension, springs, driven regions.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/boxes.hpp"
#include "tests/engine/bodies/elastica.hpp"

namespace supple {
namespace {

const boxes::Law st_venant{"st_venant_kirchhoff", MaterialModel::st_venant_kirchhoff};

void add_probe(Scene& scene, const Vec3d& x) {
  PointScene probe;
  probe.name = "probe" + std::to_string(scene.probes.size());
  probe.point = x;
  scene.probes.push_back(probe);
}

// Mean position of the mapped points of all probes.
Vec3d mean_of_probes(const FullModel& model, const std::vector<double>& y) {
  Vec3d sum{{0, 0, 0}};
  for (const NamedPoint& probe : model.robot.probes)
    for (int k = 0; k < 3; ++k) sum[k] += y[static_cast<std::size_t>(3 * probe.point + k)];
  return (1.0 / static_cast<double>(model.robot.probes.size())) * sum;
}

// log2 of the ratio of successive errors.
std::vector<double> orders(const std::vector<double>& errors) {
  std::vector<double> result;
  for (std::size_t k = 0; k + 1 < errors.size(); ++k) result.push_back(std::log2(errors[k] / errors[k + 1]));
  return result;
}

TEST(Cantilever, SmallSagConvergesToTimoshenkoAtSecondOrder) {
  // 1 x 0.1 x 0.1 m under its weight made small; nu = 0, so beam theory has no clamping layer. Deflection of the axis:
  // w L^4 / 8 E I + w L^2 / 2 k G A, k = 5/6.
  const double E = 1e7, L = 1, H = 0.1, g = 1e-3;
  const double w = 1000 * g * H * H, I = H * H * H * H / 12, G = E / 2;
  const double expected = w * L * L * L * L / (8 * E * I) + w * L * L / (2 * 5.0 / 6.0 * G * H * H);
  std::vector<double> errors;
  double last = 0;
  for (const int n : {1, 2, 4, 8}) {
    Scene scene = boxes::scene(st_venant, E, 0);
    scene.gravity = {{0, 0, -g}};
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    add_probe(scene, {{L, H / 2, H / 2}});
    const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{L, H, H}}, 20 * n, 1, n));
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Equilibrium equilibrium(mechanics, {});
    const EquilibriumReport report = equilibrium.solve(zero_control(mechanics), state);
    ASSERT_EQ(report.status, StepStatus::ok);
    last = H / 2 - equilibrium.outputs()[2];
    errors.push_back(std::abs(last / expected - 1));
  }
  testing::Test::RecordProperty("relative_error_finest", fmt::format("{:.2e}", errors.back()));
  for (const double order : orders(errors)) EXPECT_NEAR(order, 2, 0.25);
  EXPECT_LT(errors.back(), 2.5e-3);
}

TEST(Cantilever, SlenderBeamsApproachEulerBernoulli) {
  // Timoshenko's shear adds 0.8 (H/L)^2 to Euler-Bernoulli for a uniform load and nu = 0 (k = 1 where one element spans
  // the height, as here: 2/3 (H/L)^2), and n elements per height lock by 1/2 n^-2 of the rest.
  for (const double H : {0.2, 0.1, 0.05}) {
    const int per_height = 8;
    const double E = 1e7, g = 1e-2, w = 1000 * g * H * H, I = H * H * H * H / 12;
    Scene scene = boxes::scene(st_venant, E, 0);
    scene.gravity = {{0, 0, -g}};
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    add_probe(scene, {{1, H / 2, H / 2}});
    const FullModel model = build_full_model(
        scene, box_hexahedra({{0, 0, 0}}, {{1, H, H}}, static_cast<int>(std::lround(per_height / H)), 1, 1));
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Equilibrium equilibrium(mechanics, {});
    ASSERT_EQ(equilibrium.solve(zero_control(mechanics), state).status, StepStatus::ok);
    const double ratio = (H / 2 - equilibrium.outputs()[2]) / (w / (8 * E * I));
    const double expected = 2.0 / 3.0 * H * H + 1 / (1 + 0.5 / (per_height * per_height));
    // The end's section, a clamp and the finite sag (1e-3 of the length) are left out.
    EXPECT_NEAR(ratio, expected, 2e-4 + 0.02 * H * H) << "height " << H;
  }
}

TEST(Cantilever, ElasticaOfTheTestItself) {
  // Bisshopp and Drucker (1945), table: P L^2 / E I = 1: 0.3017 down; = 10: 0.8106; small: k/3.
  EXPECT_NEAR(-elastica_tip(1)[1], 0.3017, 1e-4);
  EXPECT_NEAR(-elastica_tip(10)[1], 0.8106, 1e-4);
  EXPECT_NEAR(-elastica_tip(1e-3)[1], 1e-3 / 3, 1e-9);
}

// Distances of the beam's tip from the elastica's, in lengths of the beam, for so many elements per height.
std::vector<double> elastica_errors(const boxes::Law& law, const std::vector<int>& refinements) {
  // Height L/50, nu = 0; the dead load is a force-controlled cable pulled from 10 km below, whose direction turns by
  // less than 1e-4. What remains in the limit is shear and stretch, of order (H/L)^2 = 4e-4.
  const double E = 1e7, H = 0.02, I = H * H * H * H / 12, k = 3;
  const std::array<double, 2> expected = elastica_tip(k);
  std::vector<double> errors;
  for (const int per_height : refinements) {
    Scene scene = boxes::scene(law, E, 0);
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    scene.actuators = {boxes::pull("load", {{1, H / 2, H / 2}}, {{0, 0, -1}}, 1e4)};
    for (const double y : {0.0, H})
      for (const double z : {0.0, H}) add_probe(scene, {{1, y, z}});
    const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{1, H, H}}, 50 * per_height, 1, 1));
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = {k * E * I};
    Equilibrium equilibrium(mechanics, {});
    const EquilibriumReport report = equilibrium.solve(control, state);
    EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status) << " after " << report.iterations;
    const Vec3d tip = mean_of_probes(model, equilibrium.outputs());
    errors.push_back(std::hypot(tip[0] - expected[0], tip[2] - H / 2 - expected[1]));
  }
  return errors;
}

// One element through the height locks by 1/2 per_height^-2 of the bending stiffness, of which k = 3 passes about a
// third on to the tip, on top of some 3e-4 that is not the elastica: 3e-3 at 8 per height, 1e-3 at 16.
TEST(Cantilever, LargeDeflectionApproachesTheElastica) {
  const std::vector<double> errors = elastica_errors({"", MaterialModel::corotational}, {2, 4, 8});
  RecordProperty("error_finest", fmt::format("{:.2e}", errors.back()));
  EXPECT_LT(errors[1], 0.4 * errors[0]);
  EXPECT_LT(errors[2], 0.4 * errors[1]);
  EXPECT_LT(errors[2], 3e-3);
}

TEST(LongCantilever, LargeDeflectionConvergesToTheElastica) {
  const std::vector<double> errors = elastica_errors(st_venant, {8, 16, 32});
  RecordProperty("error_finest", fmt::format("{:.2e}", errors.back()));
  EXPECT_LT(errors[1], 0.5 * errors[0]);
  EXPECT_LT(errors[1], 1e-3);
  EXPECT_LT(errors[2], 5e-4);
}

// Nominal stress of a law under uniaxial tension by its own formula; `lateral` is the free stretch.
struct Uniaxial {
  std::string name;
  MaterialModel model;
  // Derivatives of W by the axial and by one lateral stretch (a, b) -> (P_axial, P_lateral).
  std::function<std::array<double, 2>(double, double)> stress;
};

constexpr double E_test = 1e5, nu_test = 0.3;
constexpr double mu_test = E_test / (2 * (1 + nu_test));
constexpr double lambda_test = E_test * nu_test / ((1 + nu_test) * (1 - 2 * nu_test));

const Uniaxial uniaxial_cases[] = {
    {"corotational", MaterialModel::corotational,
     [](double a, double b) {
       const double trace = a + 2 * b - 3;
       return std::array{2 * mu_test * (a - 1) + lambda_test * trace, 2 * mu_test * (b - 1) + lambda_test * trace};
     }},
    {"st_venant_kirchhoff", MaterialModel::st_venant_kirchhoff,
     [](double a, double b) {
       const double ea = (a * a - 1) / 2, eb = (b * b - 1) / 2, trace = ea + 2 * eb;
       return std::array{a * (2 * mu_test * ea + lambda_test * trace), b * (2 * mu_test * eb + lambda_test * trace)};
     }},
    {"stable_neo_hookean", MaterialModel::stable_neo_hookean,
     [](double a, double b) {
       const double mu = 4.0 / 3.0 * mu_test, lambda = lambda_test + 5.0 / 6.0 * mu_test;
       const double ic = a * a + 2 * b * b, pressure = lambda * (a * b * b - 1 - 0.75 * mu / lambda);
       const double factor = mu * (1 - 1 / (ic + 1));
       return std::array{factor * a + pressure * b * b, factor * b + pressure * a * b};
     }},
    {"mooney_rivlin", MaterialModel::mooney_rivlin,
     [](double a, double b) {
       const double sum = mu_test / 2, c10 = sum * 0.2, c01 = sum * 0.8, d = E_test / (3 * (1 - 2 * nu_test)) / 2;
       const double J = a * b * b, i1 = a * a + 2 * b * b, i2 = 2 * a * a * b * b + b * b * b * b;
       const double p = std::pow(J, -2.0 / 3), q = std::pow(J, -4.0 / 3);
       const auto along = [&](double di1, double di2, double dJ) {
         return c01 * (p * di1 - 2.0 / 3 * p * i1 / J * dJ) + c10 * (q * di2 - 4.0 / 3 * q * i2 / J * dJ) +
                2 * d * (J - 1) * dJ;
       };
       return std::array{along(2 * a, 4 * a * b * b, b * b), along(2 * b, 2 * a * a * b + 2 * b * b * b, a * b)};
     }},
};

class UniaxialTension : public testing::TestWithParam<Uniaxial> {};

TEST_P(UniaxialTension, StretchUnderTensionFollowsTheLaw) {
  // A cube of one hexahedron pulled at its two ends by dead loads; springs 1e-7 as stiff as the cube hold it in place.
  const auto& law = GetParam();
  for (const double stretch : {1.05, 1.3, 1.6}) {
    // Free lateral stretch by bisection.
    double low = 0.4, high = 1;
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      (law.stress(stretch, middle)[1] < 0 ? low : high) = middle;
    }
    const double lateral = 0.5 * (low + high), stress = law.stress(stretch, lateral)[0];
    Scene scene = boxes::scene({"", law.model}, E_test, nu_test);
    FixScene springs;
    springs.stiffness = 1e-7 * E_test;
    scene.bodies[0].fixes = {springs};
    for (const double x : {0.0, 1.0})
      for (const double y : {0.0, 1.0})
        for (const double z : {0.0, 1.0})
          scene.actuators.push_back(boxes::pull("pull" + std::to_string(scene.actuators.size()), {{x, y, z}},
                                                {{x > 0.5 ? 1.0 : -1.0, 0, 0}}, 1e5));
    const FullModel model = build_full_model(scene, boxes::cube(true, 1));
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands.assign(8, stress / 4);
    Equilibrium equilibrium(mechanics, {.tolerance = 1e-9});
    const EquilibriumReport report = equilibrium.solve(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status) << ", residual " << report.residual;
    const std::vector<double>& y = equilibrium.outputs();
    // Springs 1e-7 as stiff as the cube, load directions within 1e-5 of parallel: 1e-6 of stress, and St.
    // Venant-Kirchhoff is five times softer at these stretches than at rest.
    EXPECT_NEAR(y[3 * 4] - y[0], stretch, 5e-6) << "tension " << stress;
    EXPECT_NEAR(y[3 * 2 + 1] - y[1], lateral, 5e-6);
    EXPECT_NEAR(y[3 * 1 + 2] - y[2], lateral, 5e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, UniaxialTension, testing::ValuesIn(uniaxial_cases),
                         [](const auto& info) { return info.param.name; });

TEST(Springs, HangingCubeFollowsHooke) {
  // Every node of a stiff cube on springs of its own, consistent mass: the whole cube sinks by weight / sum of springs.
  const double k = 50;
  Scene scene = boxes::scene({"", MaterialModel::corotational}, 1e6, 0.3);
  scene.gravity = {{0, 0, -9.81}};
  FixScene springs;
  springs.stiffness = k;
  scene.bodies[0].fixes = {springs};
  const FullModel model = build_full_model(scene, boxes::cube(true, 2));
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  Equilibrium equilibrium(mechanics, {.tolerance = 1e-11});
  ASSERT_EQ(equilibrium.solve(zero_control(mechanics), state).status, StepStatus::ok);
  double mean = 0;
  for (std::size_t i = 2; i < state.q.size(); i += 3) mean += state.q[i] / static_cast<double>(model.free_nodes.size());
  // Equal springs and zero net elastic force: the mean is exact whatever the strain.
  const double expected = -1000 * 9.81 / (k * static_cast<double>(model.free_nodes.size()));
  EXPECT_NEAR(mean / expected, 1, 1e-9);
}

TEST(Springs, OverlappingRegionsAdd) {
  Scene scene = boxes::scene({"", MaterialModel::corotational});
  FixScene all, half;
  all.stiffness = 10;
  half.stiffness = 5;
  half.region.kind = Region::Kind::box;
  half.region.lower = {{-1, -1, -1}};
  half.region.upper = {{0.1, 2, 2}};
  scene.bodies[0].fixes = {all, half};
  const FullModel model = build_full_model(scene, boxes::cube(true, 1));
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i)
    EXPECT_EQ(model.node_spring[i], model.mesh.nodes[static_cast<std::size_t>(model.free_nodes[i])][0] < 0.1 ? 15 : 10);
}

Scene driven_bar(const boxes::Law& law) {
  Scene scene = boxes::scene(law);
  FixScene base = boxes::clamp_at_origin();
  base.motion = "slide";
  base.motion_direction = {{0, 3, 4}};
  scene.bodies[0].fixes = {base};
  return scene;
}

TEST(DrivenBase, TranslationLeavesNoStrain) {
  for (const boxes::Law& law : boxes::exact_laws()) {
    const FullModel model = build_full_model(driven_bar(law), box_hexahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.motions = {0.05};  // m along (0, 0.6, 0.8)
    Equilibrium equilibrium(mechanics, {.tolerance = 1e-12});
    ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok) << law.name;
    EXPECT_EQ(state.motions[0], 0.05);
    for (std::size_t i = 0; i < state.q.size(); i += 3) {
      EXPECT_NEAR(state.q[i], 0, 1e-10) << law.name;
      EXPECT_NEAR(state.q[i + 1], 0.03, 1e-10) << law.name;
      EXPECT_NEAR(state.q[i + 2], 0.04, 1e-10) << law.name;
    }
  }
}

TEST(DrivenBase, SteadyTravelStaysSteadyWithEveryDamping) {
  // Base and body at the same velocity, no gravity: nothing changes, since stiffness damping sees only strain rates.
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton})
    for (const MassKind mass : {MassKind::consistent, MassKind::lumped})
      for (const bool hexahedra : {true, false}) {
        Scene scene = driven_bar({"", MaterialModel::corotational});
        scene.bodies[0].rayleigh_stiffness = 0.05;
        scene.bodies[0].mass_kind = mass;
        const Vec3d lower{{0, 0, 0}}, upper{{0.4, 0.1, 0.1}};
        const FullModel model = build_full_model(
            scene, hexahedra ? box_hexahedra(lower, upper, 4, 1, 1) : box_tetrahedra(lower, upper, 4, 1, 1));
        FullMechanics mechanics(model);
        const double h = 0.01, speed = 0.5;
        Stepper stepper(mechanics, {.scheme = scheme, .time_step = h});
        State state = rest_state(mechanics);
        for (std::size_t i = 0; i < state.v.size(); i += 3) {
          state.v[i + 1] = 0.6 * speed;
          state.v[i + 2] = 0.8 * speed;
        }
        state.motion_velocities = {speed};
        Control control = zero_control(mechanics);
        for (int step = 1; step <= 10; ++step) {
          control.motions = {speed * h * step};
          ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
        }
        // Newton's residual is 1e-9 of the forces a base ahead of its body by h v would meet. One linearisation is made
        // with the base ahead by h v = 5 % of the first element: second order in that.
        const double tolerance = scheme == StepScheme::newton ? 1e-7 : 1e-3 * speed;
        for (std::size_t i = 0; i < state.v.size(); i += 3) {
          EXPECT_NEAR(state.v[i], 0, tolerance);
          EXPECT_NEAR(state.v[i + 1], 0.6 * speed, tolerance);
          EXPECT_NEAR(state.v[i + 2], 0.8 * speed, tolerance);
        }
      }
}

}  // namespace
}  // namespace supple

// Viscoelastic materials: Maxwell and Kelvin-Voigt branches beside every law, full and reduced, against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/inverse/inverse_step.hpp"
#include "engine/io/model_file.hpp"
#include "engine/step/equilibrium.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

const boxes::Law neo_hookean{"stable_neo_hookean", MaterialModel::stable_neo_hookean};

// A bar with cables whose materials have two Maxwell branches and a dashpot.
Scene viscous_bar(const boxes::Law& law) {
  Scene scene = reduced_bodies::bar_scene(law);
  scene.bodies[0].rayleigh_stiffness = 0;
  scene.bodies[0].materials[0].prony = {{0.5, 0.03}, {0.2, 0.3}};
  scene.bodies[0].materials[0].retardation = 0.004;
  return scene;
}

std::vector<double> random_stresses(int count, double size) {
  return boxes::random_vector(count, size);
}

// How far K d is from the central difference of the forces along d, as K^-1 of the difference from d.
double tangent_error(Mechanics& mechanics, double step) {
  const int nv = mechanics.coordinates().nv;
  std::vector<double> q = boxes::random_vector(nv, 0.003), f(q.size()), ahead(q.size()), behind(q.size());
  const std::vector<double> d = boxes::random_vector(nv, 1);
  mechanics.begin_viscous_step(step, random_stresses(mechanics.robot().viscous, 2e4));
  // Central differences: the square of 1e-6 m beside the size of the elements, and rounding of 1e-16/1e-6.
  constexpr double e = 1e-6;
  EXPECT_EQ(mechanics.evaluate_forces(boxes::plus(q, e, d), {}, TangentKind::none, ahead).undefined, 0);
  EXPECT_EQ(mechanics.evaluate_forces(boxes::plus(q, -e, d), {}, TangentKind::none, behind).undefined, 0);
  (void)mechanics.evaluate_forces(q, {}, TangentKind::exact, f);
  std::vector<double> y(extent(mechanics.robot().outputs())), lambda(extent(mechanics.robot().rows()));
  mechanics.evaluate_outputs(q, {}, y);
  EXPECT_EQ(mechanics.factor({.mass = 0, .stiffness = 1, .geometric = true}, y, lambda).status, SystemStatus::ok);
  std::vector<double> x = boxes::plus(ahead, -1, behind);
  for (double& value : x) value /= 2 * e;
  mechanics.solve(x, 1);
  std::vector<double> z(extent(mechanics.robot().viscous));
  mechanics.end_viscous_step(step, q, {}, {}, z);
  return boxes::difference(x, d);
}

class EveryLaw : public testing::TestWithParam<boxes::Law> {};

TEST_P(EveryLaw, TangentsAreDerivatives) {
  for (const bool hexahedra : {false, true}) {
    const FullModel model = build_full_model(viscous_bar(GetParam()), reduced_bodies::bar(hexahedra));
    ASSERT_GT(model.robot.viscous, 0);
    FullMechanics full(model);
    EXPECT_LT(tangent_error(full, 0.01), 1e-6) << hexahedra;
    const ReducedModel reduced =
        project(model, reduced_bodies::random_basis(model.coordinates.nv, 8), 8, reduced_bodies::some_elements(model));
    ReducedMechanics mechanics(reduced);
    EXPECT_LT(tangent_error(mechanics, 0.01), 1e-6) << hexahedra;
    EXPECT_LT(tangent_error(mechanics, 0.002), 1e-6) << hexahedra;  // another step's parameters
  }
}

// Held in shape, the overstress of a Maxwell branch falls by tau/(tau + h) a step; of small shear it begins at g times
// the stress of the law, whatever the law.
TEST_P(EveryLaw, RelaxesAtConstantShape) {
  constexpr double g = 0.7, tau = 0.2, h = 0.001, shear = 1e-5;
  Scene scene = boxes::scene(GetParam());
  scene.bodies[0].materials[0].prony = {{g, tau}};
  const FullModel model = build_full_model(scene, boxes::cube(true, 1));
  FullMechanics mechanics(model);
  Mat3d F = Mat3d::identity();
  F(0, 1) = shear;
  const std::vector<double> q = boxes::affine(model, F);
  std::vector<double> rest(q.size()), now(q.size()), z(extent(model.robot.viscous), 0.0);
  (void)mechanics.evaluate_forces(q, {}, TangentKind::none, rest);
  for (int step = 1; step <= 600; ++step) {
    mechanics.begin_viscous_step(h, z);
    (void)mechanics.evaluate_forces(q, {}, TangentKind::none, now);
    mechanics.end_viscous_step(h, q, {}, {}, z);
    if (step % 200 != 0 && step != 1) continue;
    // Rounding of forces of 1e-5 beside moduli: 1e-11; the law is not linear by the square of the shear.
    EXPECT_NEAR(boxes::norm(now) / boxes::norm(rest), 1 + g * std::pow(tau / (tau + h), step), 1e-5) << step;
    // Of first order: h / (2 tau) of what is relaxed, g t/tau exp(-t/tau).
    EXPECT_NEAR(boxes::norm(now) / boxes::norm(rest), 1 + g * std::exp(-step * h / tau), g * h / tau) << step;
  }
}

// A body that is turned has the same stresses in its own axes: what it remembers stays, forces turn.
TEST_P(EveryLaw, TurnsWithTheBody) {
  Scene scene = boxes::scene(GetParam());
  scene.bodies[0].materials[0].prony = {{0.5, 0.1}};
  const FullModel model = build_full_model(scene, boxes::cube(false, 1));
  FullMechanics mechanics(model);
  const Mat3d R = boxes::rotation({{1, 2, -1}}, 1.3);
  const Mat3d F{{1.1, 0.1, 0, -0.05, 0.95, 0.1, 0, 0.02, 1.05}};
  std::vector<double> f(extent(model.coordinates.nv)), turned(f.size());
  std::vector<double> z(extent(model.robot.viscous), 0.0), z_turned = z;
  const std::vector<double> q = boxes::affine(model, F), q_turned = boxes::affine(model, R * F);
  mechanics.end_viscous_step(0.1, q, {}, {}, z);
  mechanics.end_viscous_step(0.1, q_turned, {}, {}, z_turned);
  EXPECT_GT(boxes::norm(z), 1e3);
  EXPECT_LT(boxes::difference(z_turned, z), 1e-12);  // rounding
  mechanics.begin_viscous_step(0.02, z);
  (void)mechanics.evaluate_forces(q, {}, TangentKind::none, f);
  (void)mechanics.evaluate_forces(q_turned, {}, TangentKind::none, turned);
  mechanics.end_viscous_step(0.02, q, {}, {}, z);
  for (std::size_t i = 0; i < f.size(); i += 3) {
    const Vec3d expected = R * Vec3d{{f[i], f[i + 1], f[i + 2]}};
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(turned[i + static_cast<std::size_t>(k)], expected[k], 1e-10 * 1e5);
  }
}

// At rest the materials are those of their laws, and what comes to rest in statics stays there in dynamics.
TEST_P(EveryLaw, IsRelaxedAtRest) {
  Scene scene = viscous_bar(GetParam());
  const Mesh mesh = reduced_bodies::bar(true);
  const FullModel model = build_full_model(scene, mesh);
  FullMechanics mechanics(model);
  Control control = zero_control(mechanics);
  control.commands = {0.01, 0.5, 0};
  State state = rest_state(mechanics);
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
  scene.bodies[0].materials[0].prony.clear();
  scene.bodies[0].materials[0].retardation = 0;
  const FullModel elastic_model = build_full_model(scene, mesh);
  FullMechanics elastic(elastic_model);
  State expected = rest_state(elastic);
  ASSERT_EQ(Equilibrium(elastic, {}).solve(control, expected).status, StepStatus::ok);
  EXPECT_TRUE(reduced_bodies::same_bits(state.q, expected.q));
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton}) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
    State moved = state;
    // One that remembers nothing has been where it is for long.
    if (scheme == StepScheme::newton) moved.viscous.clear();
    for (int step = 0; step < 20; ++step) ASSERT_EQ(stepper.step(control, moved).status, StepStatus::ok);
    // The equilibrium's tolerance of 1e-9 of the forces.
    EXPECT_LT(boxes::difference(moved.q, state.q), 1e-7);
    EXPECT_EQ(moved.viscous.size(), extent(model.robot.viscous));
  }
}

// Safe tangents are positive semidefinite, whatever the points remember of small strains, and as far as inertia goes: a
// factor of K + M/h^2 exists, and of K alone.
TEST_P(EveryLaw, SafeTangentsArePositive) {
  const FullModel model = build_full_model(viscous_bar(GetParam()), reduced_bodies::bar(true));
  FullMechanics full(model);
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 8), 8, reduced_bodies::some_elements(model));
  ReducedMechanics few(reduced);
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&full), static_cast<Mechanics*>(&few)}) {
    std::vector<double> z = random_stresses(mechanics->robot().viscous, 2e5);
    const std::vector<double> q = boxes::random_vector(mechanics->coordinates().nv, 0.003);
    std::vector<double> f(q.size()), y(extent(mechanics->robot().outputs())), lambda(extent(mechanics->robot().rows()));
    mechanics->begin_viscous_step(0.001, z);
    EXPECT_EQ(mechanics->evaluate_forces(q, {}, TangentKind::safe, f).undefined, 0);
    mechanics->evaluate_outputs(q, {}, y);
    EXPECT_EQ(mechanics->factor({.mass = 0, .stiffness = 1}, y, lambda).status, SystemStatus::ok);
    mechanics->end_viscous_step(0.001, q, {}, {}, z);
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, testing::ValuesIn(boxes::exact_laws()),
                         [](const auto& info) { return info.param.name; });

double tip_of(const FullModel& model, const State& state, int axis) {
  double sum = 0;
  int nodes = 0;
  for (std::size_t n = 0; n < model.free_nodes.size(); ++n) {
    if (model.mesh.nodes[extent(model.free_nodes[n])][0] < 0.4 - 1e-9) continue;
    sum += state.q[3 * n + extent(axis)];
    ++nodes;
  }
  return sum / nodes;
}

Scene cantilever(const Vec3d& gravity, double poisson) {
  Scene scene = boxes::scene(neo_hookean, 1e5, poisson);
  scene.gravity = gravity;
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  scene.bodies[0].order = 2;
  return scene;
}
Mesh slender() {
  return box_hexahedra({{0, 0, 0}}, {{0.4, 0.04, 0.04}}, 10, 1, 1);
}

// A hanging bar creeps: its modulus of compression holds, its shear compliance grows,
//   D(t) = J(t)/3 + 1/(9 K),   J(t) = (1 - g/(1 + g) exp(-t/(tau (1 + g))))/G.
TEST(Viscous, AHangingBarCreeps) {
  constexpr double g = 1.5, tau = 4, h = 0.02, E = 1e5, nu = 0.3, G = E / (2 * (1 + nu)), K = E / (3 * (1 - 2 * nu));
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton}) {
    Scene scene = cantilever({{0.05, 0, 0}}, nu);  // strains of 1e-4: the law is linear
    scene.bodies[0].materials[0].prony = {{g, tau}};
    const FullModel model = build_full_model(scene, slender());
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = h});
    State rest = rest_state(mechanics), state = rest;
    ASSERT_EQ(Equilibrium(mechanics, {}).solve(zero_control(mechanics), rest).status, StepStatus::ok);
    const double end = tip_of(model, rest, 0);
    const double at_rest = 1 / (3 * G) + 1 / (9 * K);
    EXPECT_NEAR(end, 1000 * 0.05 * 0.16 / 2 * at_rest, 0.03 * end);  // the clamp holds the cross-section
    for (int step = 1; step <= 600; ++step) {
      ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
      if (step != 50 && step != 200 && step != 600) continue;
      const double J = (1 - g / (1 + g) * std::exp(-step * h / (tau * (1 + g)))) / G;
      // The steps' first order, 0.2 %, waves that have died away, and the clamp, which has another share of K.
      EXPECT_NEAR(tip_of(model, state, 0) / end, (J / 3 + 1 / (9 * K)) / at_rest, 0.006) << step;
    }
  }
}

// A cantilever that swings. In bending Young's modulus counts, and with K constant d log E/d log G = 2 (1 + nu)/3, so
// that a mode falls by exp(-omega^2 tau_E t/2), tau_E = 2 (1 + nu)/3 times the retardation. The steps' own damping is
// that of the run without a dashpot.
TEST(Viscous, ASwingingCantileverIsDamped) {
  constexpr double tau = 0.05, h = 0.0125, nu = 0.3;  // periods of 2.5 s
  const auto peaks = [&](double retardation, double* period) {
    Scene scene = cantilever({{0, 0, 0}}, nu);
    scene.bodies[0].materials[0].retardation = retardation;
    const FullModel model = build_full_model(scene, slender());
    FullMechanics mechanics(model);
    scene.gravity = {{0, 0, 0.02}};
    const FullModel loaded_model = build_full_model(scene, slender());
    FullMechanics loaded(loaded_model);
    State state = rest_state(loaded);
    EXPECT_EQ(Equilibrium(loaded, {}).solve(zero_control(loaded), state).status, StepStatus::ok);
    Stepper stepper(mechanics, {.time_step = h});
    std::vector<double> found;
    double before = 0, now = tip_of(model, state, 2), last = 0;
    for (int step = 1; found.size() < 3; ++step) {
      EXPECT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
      const double next = tip_of(model, state, 2);
      if (step > 20 && now > before && now >= next) {
        found.push_back(now);
        *period = step * h - last;
        last = step * h;
      }
      before = now;
      now = next;
    }
    return found;
  };
  double period = 0;
  const std::vector<double> damped = peaks(tau, &period), free = peaks(0, &period);
  const double omega = 2 * std::acos(-1.0) / period, tau_E = 2 * (1 + nu) / 3 * tau;
  const double fallen = std::log(free[2] / free[0]) - std::log(damped[2] / damped[0]);
  EXPECT_GT(fallen, 0.5);
  // Small deflections; the steps' own damping beside that of the dashpot, h/tau_E of omega tau.
  EXPECT_NEAR(fallen, omega * omega * tau_E / 2 * 2 * period, 0.04 * fallen);
}

// Under pressure, too, steps of one linearisation come to those of Newton's method as they get shorter: the stress that a
// step adds and H are ten times the law's, and must not become a stiffness against rotation.
TEST(Viscous, ACompressedBarMovesAsByNewtonsMethod) {
  for (const boxes::Law& law : {neo_hookean, boxes::Law{"corotational", MaterialModel::corotational}}) {
    Scene scene = boxes::scene(law, 1e5, 0.3);
    scene.gravity = {{0, 0, -2}};
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    scene.bodies[0].materials[0].retardation = 0.05;
    ActuatorScene cable;
    cable.name = "cable";
    cable.points = {{{0.4, 0.02, 0.02}}, {{0.3, 0.02, 0.02}}, {{0.2, 0.02, 0.02}}, {{0.1, 0.02, 0.02}}};
    cable.pull_point = {{-0.01, 0.02, 0.02}};
    cable.control = ActuatorControl::force;
    cable.range = cable.force = {0, 10};
    scene.actuators = {cable};
    const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.4, 0.04, 0.04}}, 10, 1, 1));
    FullMechanics mechanics(model);
    const auto tip = [&](StepScheme scheme, double h) {
      Stepper stepper(mechanics, {.scheme = scheme, .time_step = h});
      State state = rest_state(mechanics);
      Control control = zero_control(mechanics);
      control.commands = {6};
      for (double time = 0; time < 0.4 - h / 2; time += h)
        EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok) << law.name;
      return tip_of(model, state, 2);
    };
    double before = 0;
    for (const double h : {0.01, 0.0025}) {
      const double newton = tip(StepScheme::newton, h),
                   error = std::abs(tip(StepScheme::one_linearisation, h) - newton);
      EXPECT_GT(std::abs(newton), 0.02) << law.name;
      EXPECT_LT(error, 0.04 * std::abs(newton)) << law.name << " " << h;  // without viscosity 0.04 at 10 ms too
      // Of first order: a quarter of the step, about a quarter of the error.
      if (before > 1e-6) {
        EXPECT_LT(error, 0.5 * before) << law.name;
      }
      before = error;
    }
  }
}

// The reduced model with all modes and elements moves as the full one.
TEST(Viscous, ReducedModelsMoveAsTheFullOne) {
  for (const boxes::Law& law : boxes::exact_laws())
    for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton}) {
      const FullModel model = build_full_model(viscous_bar(law), reduced_bodies::bar(false));
      const int nv = model.coordinates.nv;
      const ReducedModel reduced = project(model, reduced_bodies::full_basis(nv), nv, all_elements(model));
      FullMechanics full(model);
      ReducedMechanics mechanics(reduced);
      Stepper a(full, {.scheme = scheme, .time_step = 0.01}), b(mechanics, {.scheme = scheme, .time_step = 0.01});
      State at = rest_state(full), other = rest_state(mechanics);
      Control control = zero_control(full);
      for (int step = 0; step < 30; ++step) {
        control.commands = {0.0005 * step, 0.1 * step, 0.0001 * step};
        ASSERT_EQ(a.step(control, at).status, StepStatus::ok) << law.name;
        ASSERT_EQ(b.step(control, other).status, StepStatus::ok) << law.name;
      }
      // Newton stops at 1e-9 of the forces; the steps of one linearisation differ by rounding.
      EXPECT_LT(boxes::difference(other.q, at.q), 1e-7) << law.name;
      EXPECT_LT(boxes::difference(other.viscous, at.viscous), 1e-6) << law.name;
    }
}

// Robots beside each other, with factors on their moduli, move as alone; one that is reset begins again.
TEST(Viscous, EachRobotMovesAsAlone) {
  const FullModel model = build_full_model(viscous_bar(boxes::exact_laws()[0]), reduced_bodies::bar(false));
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 8), 8, reduced_bodies::some_elements(model));
  constexpr int robots = 3;
  Variations variations;
  variations.material_scale = {0.8, 1, 1.3};
  ReducedMechanics together(reduced, robots);
  together.set_variations(variations);
  Stepper stepper(together, {.time_step = 0.01});
  State all = rest_state(together);
  Control control = zero_control(together);
  const auto pull = [](int b, int step) { return std::vector<double>{0.0004 * step, 0.1 * (b + 1), 0.0}; };
  for (int step = 0; step < 20; ++step) {
    control.commands.clear();
    for (int b = 0; b < robots; ++b)
      for (const double value : pull(b, step)) control.commands.push_back(value);
    ASSERT_EQ(stepper.step(control, all).status, StepStatus::ok);
    if (step == 9) reset(all, std::vector<int>{1}, rest_state(ReducedMechanics(reduced)));
  }
  for (int b = 0; b < robots; ++b) {
    ReducedMechanics alone(reduced);
    alone.set_variations({.material_scale = {variations.material_scale[extent(b)]}});
    Stepper own(alone, {.time_step = 0.01});
    State state = rest_state(alone);
    for (int step = b == 1 ? 10 : 0; step < 20; ++step) {
      Control command = zero_control(alone);
      command.commands = pull(b, step);
      ASSERT_EQ(own.step(command, state).status, StepStatus::ok);
    }
    const State beside = one_robot(all, b);
    EXPECT_TRUE(reduced_bodies::same_bits(beside.q, state.q)) << b;
    EXPECT_TRUE(reduced_bodies::same_bits(beside.viscous, state.viscous)) << b;
  }
}

TEST(Viscous, ModelFilesKeepIt) {
  const FullModel model = build_full_model(viscous_bar(neo_hookean), reduced_bodies::bar(true));
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 8), 8, reduced_bodies::some_elements(model));
  const reduced_bodies::TemporaryFolder folder;
  write_model(reduced, folder / "bar.h5");
  const ReducedModel read = read_model(folder / "bar.h5");
  reduced_bodies::expect_same_model(read, reduced);
  EXPECT_EQ(read.robot.viscous, reduced.robot.viscous);
  EXPECT_EQ(read.fields[0].viscosity.terms, 3);
  EXPECT_EQ(read.fields[0].viscosity.viscosity, (std::vector<double>{0.5 * 0.03, 0.2 * 0.3, 0.004}));
  EXPECT_EQ(read.fields[0].viscosity.time, (std::vector<double>{0.03, 0.3, 0}));
}

// Of two materials only one is viscous: the other's points remember nothing and move as without.
TEST(Viscous, MaterialsByRegion) {
  Scene scene = viscous_bar(neo_hookean);
  MaterialScene second = scene.bodies[0].materials[0];
  second.prony = {{0.3, 0.1}};
  second.retardation = 0;
  second.region = boxes::box_region({{0.15, -1, -1}}, {{1, 1, 1}});
  scene.bodies[0].materials[0].prony.clear();
  scene.bodies[0].materials[0].retardation = 0;
  scene.bodies[0].materials.push_back(second);
  const FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {0.01, 1, 0};
  for (int step = 0; step < 5; ++step) ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
  const ElementField& field = model.fields[0];
  ASSERT_EQ(field.viscosity.terms, 1);
  int moved = 0;
  for (int p = 0; p < field.points(); ++p) {
    const bool viscous = field.region[extent(p)] == 1;
    const double z = state.viscous[tile_index(p, 0, symmetric_components)];
    EXPECT_EQ(z != 0, viscous) << p;
    moved += viscous;
  }
  EXPECT_GT(moved, 0);
}

TEST(Viscous, NeedsImplicitEuler) {
  Scene scene = viscous_bar(neo_hookean);
  scene.implicit_velocity = 0.5;
  const FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  EXPECT_TRUE(cannot_step(model.robot, Integrator::implicit_euler).has_value());
  FullMechanics mechanics(model);
  EXPECT_THROW(InverseStep(mechanics, {}, Integrator::implicit_euler, 0.01), InputError);
  EXPECT_FALSE(cannot_step(model.robot, Integrator::quasi_static).has_value());
}

}  // namespace
}  // namespace supple

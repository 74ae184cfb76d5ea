// Time steps: free fall, momentum, energy, order in h, damping, mass, determinism.

#include <gtest/gtest.h>
#include <omp.h>

#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

const boxes::Law corotational{"corotational", MaterialModel::corotational};

// Bar of 0.4 x 0.1 x 0.1 m.
Mesh bar_mesh(bool hexahedra, int n = 1) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.4, 0.1, 0.1}};
  return hexahedra ? box_hexahedra(lower, upper, 4 * n, n, n) : box_tetrahedra(lower, upper, 4 * n, n, n);
}

std::vector<double> all_displacements(const FullModel& model, const FullMechanics& mechanics, const State& state) {
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(mechanics.model(), state.q, state.motions, u);
  return u;
}

// Linear momentum [kg m/s].
Vec3d momentum(const FullMechanics& mechanics, const State& state) {
  std::vector<double> Mv(state.v.size());
  mechanics.inertia(state.v, {}, Mv);
  Vec3d sum{{0, 0, 0}};
  for (std::size_t i = 0; i < Mv.size(); ++i) sum[static_cast<int>(i % 3)] += Mv[i];
  return sum;
}

class FreeFlight : public testing::TestWithParam<std::tuple<StepScheme, MassKind>> {};

TEST_P(FreeFlight, FallIsExact) {
  const auto [scheme, mass] = GetParam();
  Scene scene = boxes::scene(corotational);
  scene.gravity = {{0.5, 0, -9.81}};
  scene.bodies[0].mass_kind = mass;
  for (const bool hexahedra : {false, true}) {
    const FullModel model = build_full_model(scene, bar_mesh(hexahedra));
    FullMechanics mechanics(model);
    const double h = 0.01;
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = h});
    State state = rest_state(mechanics);
    const int steps = 50;
    for (int step = 0; step < steps; ++step)
      ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
    EXPECT_NEAR(state.time, steps * h, 1e-12);
    // Implicit Euler: v = g t exactly, x = g h^2 n (n + 1) / 2. Rounding of fifty solves. Weights per node do not fall
    // as one mass would unless all accelerate alike, which they do.
    for (std::size_t i = 0; i < state.v.size(); ++i) {
      const double g = model.robot.gravity[static_cast<int>(i % 3)];
      EXPECT_NEAR(state.v[i], g * steps * h, 1e-8);
      EXPECT_NEAR(state.q[i], g * h * h * steps * (steps + 1) / 2, 1e-8);
    }
  }
}

TEST_P(FreeFlight, MomentumOfAVibratingBodyIsKept) {
  const auto [scheme, mass] = GetParam();
  Scene scene = boxes::scene(corotational);
  scene.bodies[0].mass_kind = mass;
  const FullModel model = build_full_model(scene, bar_mesh(false));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.005, .tolerance = 1e-12});
  State state = rest_state(mechanics);
  state.v = boxes::random_vector(model.coordinates.nv, 1);
  const Vec3d start = momentum(mechanics, state);
  for (int step = 0; step < 20; ++step) ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
  const Vec3d end = momentum(mechanics, state);
  // Internal forces cancel; Newton leaves 1e-12 of element forces of some 100 N for h.
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(end[k], start[k], 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Schemes, FreeFlight,
                         testing::Combine(testing::Values(StepScheme::one_linearisation, StepScheme::newton),
                                          testing::Values(MassKind::consistent, MassKind::lumped, MassKind::per_node)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == StepScheme::newton ? "newton" : "one") +
                                  (std::get<1>(info.param) == MassKind::consistent ? "_consistent"
                                   : std::get<1>(info.param) == MassKind::lumped   ? "_lumped"
                                                                                   : "_per_node");
                         });

class Energy : public testing::TestWithParam<boxes::Law> {};

TEST_P(Energy, NeverGrowsUnderImplicitEuler) {
  // A bar released from a bent and twisted shape, clamped at one end.
  Scene scene = boxes::scene(GetParam());
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  for (const bool hexahedra : {false, true}) {
    const FullModel model = build_full_model(scene, bar_mesh(hexahedra));
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = 0.01});
    State state = rest_state(mechanics);
    for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
      const Vec3d& x = model.mesh.nodes[static_cast<std::size_t>(model.free_nodes[i])];
      const double bend = 0.3 * x[0] * x[0], twist = 1.5 * x[0];
      state.q[3 * i + 1] = -twist * (x[2] - 0.05);
      state.q[3 * i + 2] = bend + twist * (x[1] - 0.05);
    }
    const auto energy = [&] {
      std::vector<double> Mv(state.v.size());
      mechanics.inertia(state.v, {}, Mv);
      return 0.5 * boxes::dot(Mv, state.v) + boxes::elastic_energy(model, all_displacements(model, mechanics, state)) -
             boxes::elastic_energy(model, std::vector<double>(3 * model.mesh.nodes.size(), 0.0));
    };
    const double start = energy();
    double before = start;
    for (int step = 0; step < 40; ++step) {
      const StepReport report = stepper.step(zero_control(mechanics), state);
      ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
      const double now = energy();
      // Newton's 1e-9 of the forces over the motion of a step.
      EXPECT_LE(now, before + 1e-8 * start) << "step " << step;
      before = now;
    }
    EXPECT_LT(before, 0.9 * start);
    EXPECT_GT(before, -1e-8 * start);
  }
}

INSTANTIATE_TEST_SUITE_P(ExactLaws, Energy, testing::ValuesIn(boxes::exact_laws()),
                         [](const auto& info) { return info.param.name; });

class Order : public testing::TestWithParam<boxes::Law> {};

TEST_P(Order, OneLinearisationIsFirstOrderInTheTimeStep) {
  // A clamped bar let go under gravity; position and velocity after 0.08 s, about a third of a period, against Newton's
  // method on steps a hundred times smaller than the smallest compared, extrapolated.
  Scene scene = boxes::scene(GetParam());
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  const FullModel model = build_full_model(scene, bar_mesh(false));
  FullMechanics mechanics(model);
  const auto run = [&](int steps, StepScheme scheme) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.08 / steps});
    State state = rest_state(mechanics);
    for (int step = 0; step < steps; ++step)
      EXPECT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
    return state.q;
  };
  // Richardson on the reference: 2 fine - coarse cancels its own first-order error.
  const StepScheme reference_scheme = GetParam().exact() ? StepScheme::newton : StepScheme::one_linearisation;
  const std::vector<double> coarse = run(800, reference_scheme), fine = run(1600, reference_scheme);
  std::vector<double> reference(fine.size());
  for (std::size_t i = 0; i < fine.size(); ++i) reference[i] = 2 * fine[i] - coarse[i];
  std::vector<double> errors;
  for (const int steps : {40, 80, 160, 320})
    errors.push_back(boxes::difference(run(steps, StepScheme::one_linearisation), reference));
  for (std::size_t k = 0; k + 1 < errors.size(); ++k) EXPECT_NEAR(std::log2(errors[k] / errors[k + 1]), 1, 0.15);
  EXPECT_LT(errors.back(), 0.02);
}

INSTANTIATE_TEST_SUITE_P(AllLaws, Order, testing::ValuesIn(boxes::all_laws()),
                         [](const auto& info) { return info.param.name; });

TEST(OneLinearisation, IsThePapersSystem) {
  // (M + h^2 K) dv = h (p - f - h K v), v += dv, q += h v, from a state in motion.
  Scene scene = boxes::scene(corotational);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_stiffness = 1;  // only to read K through damping()
  const FullModel with_K = build_full_model(scene, bar_mesh(false));
  scene.bodies[0].rayleigh_stiffness = 0;
  const FullModel model = build_full_model(scene, bar_mesh(false));
  FullMechanics mechanics(model), products(with_K);
  const int n = model.coordinates.nv;
  const double h = 0.02;
  State before = rest_state(mechanics);
  before.q = boxes::random_vector(n, 0.005);
  before.v = boxes::random_vector(n, 0.3);
  State after = before;
  Stepper stepper(mechanics, {.time_step = h});
  ASSERT_EQ(stepper.step(zero_control(mechanics), after).status, StepStatus::ok);
  std::vector<double> f(before.q.size()), p(f.size()), Kv(f.size()), Kdv(f.size()), Mdv(f.size());
  ASSERT_EQ(products.evaluate_forces(before.q, {}, TangentKind::safe, f).undefined, 0);
  products.external_forces(p);
  const std::vector<double> dv = boxes::plus(after.v, -1, before.v);
  products.damping(before.v, {}, Kv);
  products.damping(dv, {}, Kdv);
  products.inertia(dv, {}, Mdv);
  std::vector<double> left = boxes::plus(Mdv, h * h, Kdv), right(f.size());
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = h * (p[i] - f[i] - h * Kv[i]);
  EXPECT_LT(boxes::difference(left, right), 1e-11);
  EXPECT_LT(boxes::difference(boxes::plus(before.q, h, after.v), after.q), 1e-14);
}

TEST(Damping, OfMassSlowsARigidBodyAsImplicitEulerSays) {
  // v_{n+1} = v_n / (1 + a h), all nodes alike.
  Scene scene = boxes::scene(corotational);
  const double a = 3, h = 0.02;
  scene.bodies[0].rayleigh_mass = a;
  const FullModel model = build_full_model(scene, bar_mesh(true));
  FullMechanics mechanics(model);
  for (const StepScheme scheme : {StepScheme::one_linearisation, StepScheme::newton}) {
    Stepper stepper(mechanics, {.scheme = scheme, .time_step = h, .tolerance = 1e-13});
    State state = rest_state(mechanics);
    for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? -2 : 0.5;
    const std::vector<double> start = state.v;
    for (int step = 0; step < 25; ++step)
      ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
    for (std::size_t i = 0; i < state.v.size(); ++i)
      EXPECT_NEAR(state.v[i], start[i] * std::pow(1 + a * h, -25), 1e-10);
  }
}

TEST(Damping, OfStiffnessLeavesRigidMotionAlone) {
  Scene scene = boxes::scene(corotational);
  scene.bodies[0].rayleigh_stiffness = 0.1;
  const FullModel model = build_full_model(scene, bar_mesh(false));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i] = i % 3 == 2 ? 1 : 0;
  for (int step = 0; step < 10; ++step) ASSERT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
  for (std::size_t i = 0; i < state.v.size(); ++i) EXPECT_NEAR(state.v[i], i % 3 == 2 ? 1 : 0, 1e-10);
}

TEST(Mass, EveryKindSumsToTheTotal) {
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped, MassKind::per_node})
    for (const bool hexahedra : {false, true})
      for (const bool total : {false, true}) {
        Scene scene = boxes::scene(corotational);
        scene.bodies[0].mass_kind = kind;
        if (total) {
          scene.bodies[0].density.reset();
          scene.bodies[0].mass = 0.123;
        }
        const FullModel model = build_full_model(scene, boxes::cube(hexahedra, 3, 0.05));
        const double expected = total ? 0.123 : 1000 * model.total_volume;
        double sum = 0;
        for (std::size_t column = 0; column + 1 < model.mass.column_start.size(); ++column)
          for (int k = model.mass.column_start[column]; k < model.mass.column_start[column + 1]; ++k)
            sum += (model.mass.row[static_cast<std::size_t>(k)] == static_cast<int>(column) ? 1 : 2) *
                   model.mass.value[static_cast<std::size_t>(k)];
        EXPECT_NEAR(sum / expected, 1, 1e-13);
        EXPECT_NEAR(model.total_mass / expected, 1, 1e-13);
        // And the same seen by a step: momentum of a unit velocity.
        FullMechanics mechanics(model);
        State state = rest_state(mechanics);
        for (std::size_t i = 0; i < state.v.size(); i += 3) state.v[i] = 1;
        EXPECT_NEAR(momentum(mechanics, state)[0] / expected, 1, 1e-12);
      }
}

TEST(Mass, OfAMaterialOverridesTheBodys) {
  Scene scene = boxes::scene(corotational);
  MaterialScene heavy = scene.bodies[0].materials[0];
  heavy.density = 3000;
  heavy.region.kind = Region::Kind::box;
  heavy.region.lower = {{-1, -1, -1}};
  heavy.region.upper = {{0.5, 2, 2}};
  scene.bodies[0].materials.push_back(heavy);
  const FullModel model = build_full_model(scene, boxes::cube(true, 2));
  EXPECT_NEAR(model.total_mass, 2000, 1e-9);
}

class Determinism : public testing::TestWithParam<bool> {
 protected:
  // Enough elements for the loops to run in parallel.
  static FullModel build() {
    Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean});
    scene.gravity = {{0, 0, -9.81}};
    scene.bodies[0].rayleigh_stiffness = 0.01;
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    ActuatorScene cable;
    cable.name = "cable";
    cable.points = {{{0.4, 0.05, 0.1}}, {{0.2, 0.05, 0.1}}};
    cable.pull_point = Vec3d{{-0.1, 0.05, 0.15}};
    cable.range = {0, 0.1};
    scene.actuators = {cable};
    return build_full_model(scene, bar_mesh(GetParam(), 4));
  }
  static StepReport advance(Stepper& stepper, const Mechanics& mechanics, int step, State& state) {
    Control control = zero_control(mechanics);
    control.commands[0] = 0.001 * (step % 10);
    return stepper.step(control, state);
  }
};

TEST_P(Determinism, ThreadsDoNotChangeABit) {
  const FullModel model = build();
  const int threads_before = omp_get_max_threads();
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Stepper one(mechanics, {.time_step = 0.01}), newton(mechanics, {.scheme = StepScheme::newton, .time_step = 0.01});
    for (int step = 0; step < 20; ++step)
      ASSERT_EQ(advance(step < 14 ? one : newton, mechanics, step, state).status, StepStatus::ok);
    hashes.push_back(hash(state));
  }
  omp_set_num_threads(threads_before);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_P(Determinism, ACopiedStateReplays) {
  const FullModel model = build();
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  for (int step = 0; step < 5; ++step) ASSERT_EQ(advance(stepper, mechanics, step, state).status, StepStatus::ok);
  State copy = state;
  EXPECT_EQ(hash(copy), hash(state));
  for (int step = 5; step < 12; ++step) ASSERT_EQ(advance(stepper, mechanics, step, state).status, StepStatus::ok);
  EXPECT_NE(hash(copy), hash(state));
  // In a fresh mechanics and stepper: everything a run depends on is in the state.
  FullMechanics other(model);
  Stepper again(other, {.time_step = 0.01});
  for (int step = 5; step < 12; ++step) ASSERT_EQ(advance(again, other, step, copy).status, StepStatus::ok);
  EXPECT_EQ(hash(copy), hash(state));
}

TEST(FailedStep, LeavesTheStateAlone) {
  // Mooney-Rivlin has no stress in an inverted element.
  Scene scene = boxes::scene({"", MaterialModel::mooney_rivlin});
  const FullModel model = build_full_model(scene, bar_mesh(false));
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  for (std::size_t i = 0; i < state.q.size(); i += 3) state.q[i] = -0.8;  // rigid: fine
  state.q[0] += 1;                                                        // one node through the body
  const std::uint64_t before = hash(state);
  const StepReport report = stepper.step(zero_control(mechanics), state);
  EXPECT_EQ(report.status, StepStatus::undefined_points);
  EXPECT_GE(report.failed_element, 0);
  EXPECT_EQ(hash(state), before);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Determinism, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

}  // namespace
}  // namespace supple

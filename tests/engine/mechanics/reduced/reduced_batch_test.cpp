// The batched mechanics against the one that computes robot by robot: same steps up to rounding, on every device.

#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/QR>
#include <barrier>
#include <cstdlib>
#include <thread>

#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/mechanics/reduced/resident_robots.hpp"
#include "engine/reduction/basis/project.hpp"
#include "kernels/base/error.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"
#include "tests/engine/bodies/hosted.hpp"
#include "tests/engine/bodies/strain_bodies.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

constexpr int modes = 14;

// Bar of 0.4 x 0.1 x 0.1 m, held at x = 0, under gravity and two cables; smooth modes s^a y^b z^c, and every third
// element with three times its weight.
ReducedModel bar(const boxes::Law& law, double rayleigh = 0) {
  Scene scene = boxes::scene(law);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = rayleigh;
  scene.bodies[0].rayleigh_stiffness = 0.01 * rayleigh;
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable;
  cable.name = "below";
  cable.points = {{{0.39, 0.05, 0.01}}, {{0.2, 0.05, 0.01}}};
  cable.pull_point = {{0, 0.05, 0.01}};
  cable.range = {0, 0.05};
  scene.actuators = {cable, boxes::pull("side", {{0.4, 0.05, 0.05}}, {{0, 1, 0}}, 0.3)};
  const FullModel full = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 8, 2, 2));

  const int nv = full.coordinates.nv;
  Eigen::MatrixXd fields = Eigen::MatrixXd::Zero(nv, modes);
  const int powers[][3] = {{1, 0, 0}, {2, 0, 0}, {1, 1, 0}, {1, 0, 1}, {2, 0, 1}};
  for (int k = 0; k < modes; ++k)
    for (int node = 0; node < nv / 3; ++node) {
      const Vec3d x = full.mesh.nodes[static_cast<std::size_t>(full.free_nodes[static_cast<std::size_t>(node)])];
      const auto& p = powers[k / 3];
      fields(3 * node + k % 3, k) =
          std::pow(x[0] / 0.4, p[0]) * std::pow(x[1] / 0.1 - 0.5, p[1]) * std::pow(x[2] / 0.1 - 0.5, p[2]);
    }
  const Eigen::MatrixXd basis =
      Eigen::HouseholderQR<Eigen::MatrixXd>(fields).householderQ() * Eigen::MatrixXd::Identity(nv, modes);
  std::vector<IntegrationDomain> domains(full.fields.size());
  for (std::size_t f = 0; f < domains.size(); ++f)
    for (int e = 0; e < full.fields[f].elements(); e += 3) {
      domains[f].elements.push_back(e);
      domains[f].xi.push_back(3);
    }
  return project(full, {basis.data(), static_cast<std::size_t>(basis.size())}, modes, domains);
}

// Robot b pulls the first cable by up to 30 mm and the second with up to 2 N, each in its own rhythm.
void command(int step, int robots, Control& control) {
  for (int b = 0; b < robots; ++b) {
    control.commands[static_cast<std::size_t>(2 * b)] = 0.015 * (1 - std::cos(0.1 * step * (1 + 0.1 * (b % 7))));
    control.commands[static_cast<std::size_t>(2 * b + 1)] = 1 + std::sin(0.2 * step + b);
  }
}

State run(Mechanics& mechanics, int steps, std::vector<double>* outputs = nullptr) {
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  for (int step = 0; step < steps; ++step) {
    command(step, mechanics.robots(), control);
    const StepReport report = stepper.step(control, state);
    EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
    if (report.status != StepStatus::ok) break;
  }
  if (outputs) *outputs = stepper.outputs();
  return state;
}

class ReducedBatch : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ReducedBatch, test::every_device(), test::device_name);

// Both compute the same sums in another order. One step's rounding is about 1e-15 times the condition number of A
// (1e3), implicit Euler damps what it leaves, and fifty steps stay within a thousand times that.
constexpr double tolerance = 1e-10;

void expect_same_motion(const ReducedModel& model, const Device& device, int robots, int steps) {
  ReducedMechanics one_by_one(model, robots);
  ReducedBatchMechanics batch(model, device, robots);
  std::vector<double> y, y_batch;
  const State expected = run(one_by_one, steps, &y), state = run(batch, steps, &y_batch);
  EXPECT_LT(boxes::difference(state.q, expected.q), tolerance);
  EXPECT_LT(boxes::difference(state.v, expected.v), tolerance);
  EXPECT_LT(boxes::difference(state.multipliers, expected.multipliers), tolerance);
  EXPECT_LT(boxes::difference(y_batch, y), tolerance);
  // The robots do different things, and far from nothing.
  const double* first = expected.q.data();
  EXPECT_NE(std::vector<double>(first, first + modes), std::vector<double>(first + modes, first + 2 * modes));
  EXPECT_GT(boxes::norm(expected.q), 1e-3);
}

TEST_P(ReducedBatch, EveryLawMovesAsRobotByRobot) {
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    expect_same_motion(bar(law), GetParam(), 7, 50);
  }
}

TEST_P(ReducedBatch, DampedFieldsOfTwoLawsInSeveralPortions) {
  ReducedModel model = bar(boxes::all_laws()[0], 0.5);
  const ReducedModel other = bar(boxes::all_laws()[4]);
  model.fields.push_back(other.fields[0]);
  expect_same_motion(model, GetParam(), 70, 10);
}

// A base that carries all of the robot along: outputs, mass, damping and Jacobians see it.
TEST_P(ReducedBatch, SlidesAsRobotByRobot) {
  const FullModel full = driven_bodies::model(driven_bodies::Drive::rigid);
  const ReducedModel model = project(full, reduced_bodies::random_basis(full.coordinates.nv, 6), 6, all_elements(full));
  const int robots = 5;
  ReducedMechanics one_by_one(model, robots);
  ReducedBatchMechanics batch(model, GetParam(), robots);
  std::vector<State> states;
  std::vector<std::vector<double>> outputs;
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&one_by_one), static_cast<Mechanics*>(&batch)}) {
    Stepper stepper(*mechanics, {.time_step = 0.01});
    State state = rest_state(*mechanics);
    Control control = zero_control(*mechanics);
    for (int step = 1; step <= 20; ++step) {
      for (std::size_t b = 0; b < robots; ++b) {
        control.motions[b] = 0.01 * std::sin(0.2 * step * (1 + 0.1 * static_cast<double>(b)));
        control.commands[3 * b] = 0.0002 * step;
        control.commands[3 * b + 1] = 0.05 * static_cast<double>(b);
      }
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
    states.push_back(state);
    outputs.push_back(stepper.outputs());
  }
  EXPECT_LT(boxes::difference(states[1].q, states[0].q), tolerance);
  EXPECT_LT(boxes::difference(states[1].v, states[0].v), tolerance);
  EXPECT_LT(boxes::difference(states[1].multipliers, states[0].multipliers), tolerance);
  EXPECT_LT(boxes::difference(outputs[1], outputs[0]), tolerance);
  const RowLayout& rows = one_by_one.rows();
  const std::vector<double> gradients = boxes::random_vector(robots * rows.gradients(), 1);
  std::vector<double> H(static_cast<std::size_t>(robots * rows.rows() * model.modes)), J(H.size()),
      H_c(static_cast<std::size_t>(robots * rows.rows())), J_c(H_c.size()),
      A_c(static_cast<std::size_t>(robots * model.modes)), B_c(A_c.size());
  one_by_one.row_jacobians(rows, gradients, H, H_c);
  test::Hosted(batch).row_jacobians(rows, gradients, J, J_c);
  EXPECT_LT(boxes::difference(J_c, H_c), 1e-15);  // a product of a library
  one_by_one.input_columns({1e4, 1.2, false}, A_c);
  test::Hosted(batch).input_columns({1e4, 1.2, false}, B_c);
  EXPECT_EQ(A_c, B_c);
}

TEST_P(ReducedBatch, RefusesRegionsThatStrainTheBody) {
  for (const driven_bodies::Drive drive : {driven_bodies::Drive::ends, driven_bodies::Drive::springs}) {
    const FullModel full = driven_bodies::model(drive);
    const ReducedModel model =
        project(full, reduced_bodies::random_basis(full.coordinates.nv, 6), 6, all_elements(full));
    EXPECT_THROW(ReducedBatchMechanics(model, GetParam(), 2), CapabilityError);
  }
}

TEST_P(ReducedBatch, OneRobot) {
  const ReducedModel model = bar(boxes::all_laws()[0]);
  ReducedMechanics one(model, 1);
  ReducedBatchMechanics batch(model, GetParam(), 1);
  EXPECT_LT(boxes::difference(run(batch, 50).q, run(one, 50).q), tolerance);
}

TEST_P(ReducedBatch, ForcesStiffnessAndCountsFarFromRest) {
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    const ReducedModel model = bar(law);
    const int robots = 40;
    ReducedMechanics one_by_one(model, robots);
    ReducedBatchMechanics batch(model, GetParam(), robots);
    std::vector<double> q = boxes::random_vector(robots * modes, 1.0), f(q.size()), f_batch(q.size());
    for (const TangentKind kind : {TangentKind::exact, TangentKind::safe, TangentKind::none}) {
      const PointReport expected = one_by_one.evaluate_forces(q, {}, kind, f);
      const PointReport report = test::Hosted(batch).evaluate_forces(q, {}, kind, f_batch);
      EXPECT_LT(boxes::difference(f_batch, f), 1e-12);
      EXPECT_EQ(report.inverted, expected.inverted);
      EXPECT_EQ(report.undefined, expected.undefined);
      EXPECT_EQ(report.first_undefined, expected.first_undefined);
      EXPECT_GT(expected.inverted + expected.undefined, 0);
      if (kind != TangentKind::safe) {
        EXPECT_NEAR(report.force_scale, expected.force_scale, 1e-12 * expected.force_scale);
      }
    }
    const std::vector<double> K = batch.stiffness();
    for (int b = 0; b < robots; ++b) {
      const std::span<const double> reference = one_by_one.stiffness(b);
      double error = 0, size = 0;
      for (int i = 0; i < modes; ++i)
        for (int j = 0; j <= i; ++j) {
          const auto k = static_cast<std::size_t>(i * modes + j);
          error += std::pow(K[static_cast<std::size_t>(b) * modes * modes + k] - reference[k], 2);
          size += reference[k] * reference[k];
        }
      EXPECT_LE(error, 1e-24 * size);
    }
  }
}

// Of K in single precision. Ogden's tangent between stretches closer than 5e-3 is a derivative in their middle, off by the
// square of that (kernels/materials/ogden.hpp).
double rounding_of_stiffness(const boxes::Law& law) {
  return law.model == MaterialModel::ogden ? 5e-6 : 1e-6;
}

// The points' tangent in single precision: forces stay what they are, K is rounded, and so are motions. The largest
// entries of K are sums of some hundred terms, each to 2^-24; soft modes feel what is lost in the stiff ones, through a
// condition number of 1e3.
TEST_P(ReducedBatch, TangentInSinglePrecision) {
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    const ReducedModel model = bar(law, 2);
    const int robots = 7;
    ReducedBatchMechanics exact(model, GetParam(), robots);
    ReducedBatchMechanics mixed(model, GetParam(), robots, {.precision = Precision::mixed});
    const std::vector<double> q = boxes::random_vector(robots * modes, 0.003);
    std::vector<double> f(q.size()), f_mixed(q.size());
    const PointReport expected = test::Hosted(exact).evaluate_forces(q, {}, TangentKind::safe, f);
    const PointReport report = test::Hosted(mixed).evaluate_forces(q, {}, TangentKind::safe, f_mixed);
    EXPECT_EQ(report.inverted, expected.inverted);
    EXPECT_EQ(report.undefined, expected.undefined);
    EXPECT_LT(boxes::difference(f_mixed, f), 1e-12);
    const double lost = boxes::difference(mixed.stiffness(), exact.stiffness());
    EXPECT_LT(lost, rounding_of_stiffness(law));
    EXPECT_GT(lost, 1e-10);
    const State a = run(exact, 50), b = run(mixed, 50);
    EXPECT_LT(boxes::difference(b.q, a.q), 1e-5);
    EXPECT_LT(boxes::difference(b.multipliers, a.multipliers), 1e-4);
    // Bodies that come to rest do so at the same place.
    std::vector<State> ends;
    for (ReducedBatchMechanics* mechanics : {&exact, &mixed}) {
      Stepper stepper(*mechanics, {.time_step = 0.05});
      State state = rest_state(*mechanics);
      Control control = zero_control(*mechanics);
      command(5, robots, control);
      for (int step = 0; step < 400; ++step) ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
      EXPECT_LT(boxes::norm(state.v), 1e-9);
      ends.push_back(state);
    }
    EXPECT_LT(boxes::difference(ends[1].q, ends[0].q), 1e-9);
  }
}

// Everything in single precision: forces are sums of terms with 2^-24 each, of which the largest cancel, and motions
// and places of rest change by that in the softest modes. Velocities at rest are what rounding leaves of a step.
TEST_P(ReducedBatch, SinglePrecision) {
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    const ReducedModel model = bar(law, 2);
    const int robots = 7;
    ReducedBatchMechanics exact(model, GetParam(), robots);
    ReducedBatchMechanics rounded(model, GetParam(), robots, {.precision = Precision::fp32});
    for (ReducedBatchMechanics* mechanics : {&exact, &rounded})
      mechanics->set_variations({.material_scale = {1, 1.5, 0.7, 1, 2, 1, 1},
                                 .density = {1, 0.8, 1.2, 1.5, 0.6, 1, 1},
                                 .rayleigh_mass = {0, 1, 2, 0.5, 0, 0, 0}});
    const std::vector<double> q = boxes::random_vector(robots * modes, 0.003);
    std::vector<double> f(q.size()), f_rounded(q.size());
    (void)test::Hosted(exact).evaluate_forces(q, {}, TangentKind::safe, f);
    (void)test::Hosted(rounded).evaluate_forces(q, {}, TangentKind::safe, f_rounded);
    const double lost = boxes::difference(f_rounded, f),
                 lost_of_K = boxes::difference(rounded.stiffness(), exact.stiffness());
    EXPECT_LT(lost, 2e-5);
    EXPECT_GT(lost, 1e-9);
    EXPECT_LT(lost_of_K, rounding_of_stiffness(law));
    const State a = run(exact, 50), b = run(rounded, 50);
    EXPECT_LT(boxes::difference(b.q, a.q), 1e-5);
    EXPECT_GT(boxes::difference(b.q, a.q), 1e-9);
    EXPECT_LT(boxes::difference(b.multipliers, a.multipliers), 1e-4);
    std::vector<State> ends;
    for (ReducedBatchMechanics* mechanics : {&exact, &rounded}) {
      Stepper stepper(*mechanics, {.time_step = 0.05});
      State state = rest_state(*mechanics);
      Control control = zero_control(*mechanics);
      command(5, robots, control);
      for (int step = 0; step < 400; ++step) ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
      ends.push_back(state);
    }
    EXPECT_LT(boxes::difference(ends[1].q, ends[0].q), 1e-5);
    EXPECT_LT(boxes::norm(ends[1].v), 1e-5 * boxes::norm(a.v));
  }
}

TEST_P(ReducedBatch, SaysThatASystemIsNotPositive) {
  ReducedModel model = bar(boxes::all_laws()[0]);
  ReducedBatchMechanics batch(model, GetParam(), 3);
  std::vector<double> f(3 * modes);
  (void)test::Hosted(batch).evaluate_forces(std::vector<double>(3 * modes, 0.0), {}, TangentKind::safe, f);
  EXPECT_EQ(test::Hosted(batch).factor({0, 1, false}, {}, {}).status, SystemStatus::ok);
  EXPECT_EQ(test::Hosted(batch).factor({0, -1, false}, {}, {}).status, SystemStatus::not_positive);
}

// Newton's residual of 1e-9 is beyond single precision, and fused algebra keeps no factor that may be indefinite.
TEST_P(ReducedBatch, NeedsDoublePrecisionAndFactorsForNewtonsMethod) {
  const ReducedModel model = bar(boxes::all_laws()[0]);
  for (const BatchSettings& settings :
       {BatchSettings{.precision = Precision::fp32}, {.algebra = SystemAlgebra::fused}}) {
    ReducedBatchMechanics batch(model, GetParam(), 2, settings);
    Stepper stepper(batch, {.scheme = StepScheme::newton});
    State state = rest_state(batch);
    EXPECT_THROW((void)stepper.step(zero_control(batch), state), CapabilityError);
  }
}

// The tangent at coordinates that are random and far from rest is not positive.
TEST_P(ReducedBatch, FactorsWhatIsIndefinite) {
  const int robots = 5, count = 3;
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    const ReducedModel model = bar(law);
    ReducedMechanics one_by_one(model, robots);
    ReducedBatchMechanics batch(model, GetParam(), robots);
    test::Hosted hosted(batch);
    const std::vector<double> q = boxes::random_vector(robots * modes, 0.3), y(extent(robots, model.robot.outputs())),
                              lambda(extent(robots, model.robot.rows()));
    std::vector<double> f(q.size()), X = boxes::random_vector(robots * count * modes, 1.0), found = X;
    (void)one_by_one.evaluate_forces(q, {}, TangentKind::exact, f);
    (void)hosted.evaluate_forces(q, {}, TangentKind::exact, f);
    const SystemCoefficients coefficients{.mass = -1e6, .stiffness = 1, .geometric = true};
    const SystemReport expected = one_by_one.factor(coefficients, y, lambda),
                       report = hosted.factor(coefficients, y, lambda);
    ASSERT_EQ(expected.status, SystemStatus::ok);
    EXPECT_EQ(report.status, SystemStatus::ok);
    EXPECT_GT(report.negative_pivots, 0);
    EXPECT_EQ(report.negative_pivots, expected.negative_pivots);
    one_by_one.solve(X, count);
    hosted.solve(found, count);
    EXPECT_LT(boxes::difference(found, X), 1e-9);
    // One robot's own, through the factor on the host.
    std::vector<double> side = boxes::random_vector(modes, 1.0), same = side;
    one_by_one.solve_robot(3, side, 1);
    batch.solve_robot(3, same, 1);
    EXPECT_LT(boxes::difference(same, side), 1e-9);
    EXPECT_FALSE(batch.root_solve(3, same, 1));
  }
}

TEST_P(ReducedBatch, BitsDoNotDependOnThreads) {
  const int threads = omp_get_max_threads();
  for (const int law : {0, 4})
    for (const int robots : {37, 100}) {
      const ReducedModel model = bar(boxes::all_laws()[static_cast<std::size_t>(law)], 0.1);
      std::vector<std::uint64_t> hashes, one_by_one;
      for (const int count : {1, 2, 8}) {
        omp_set_num_threads(count);
        ReducedBatchMechanics batch(model, GetParam(), robots);
        hashes.push_back(hash(run(batch, 10)));
        ReducedMechanics alone(model, robots);
        one_by_one.push_back(hash(run(alone, 10)));
      }
      omp_set_num_threads(threads);
      EXPECT_EQ(hashes[0], hashes[1]);
      EXPECT_EQ(hashes[0], hashes[2]);
      EXPECT_EQ(one_by_one[0], one_by_one[1]);
      EXPECT_EQ(one_by_one[0], one_by_one[2]);
    }
}

// What is said before it is taken is what is taken: of points, and of strain modes.
TEST_P(ReducedBatch, MemoryIsCounted) {
  if (GetParam() == cpu() || test::is_real_gpu(GetParam()))
    GTEST_SKIP() << "a GPU rounds up, and main memory is not this program's";
  const FullModel covered = build_full_model(strain_bodies::covered(), reduced_bodies::bar(false));
  const ReducedModel strained =
      strain_bodies::with_strains(covered, reduced_bodies::random_basis(covered.coordinates.nv, modes), modes,
                                  strain_bodies::random_strains(covered, 5));
  ASSERT_GT(strained.fields.back().strains.count, 0);
  for (const ReducedModel& model : {bar(boxes::all_laws()[0]), strained}) {
    constexpr int robots = 2000;
    for (const Precision precision : {Precision::fp64, Precision::mixed, Precision::fp32}) {
      const std::size_t before = free_bytes(GetParam());
      const ReducedBatchMechanics mechanics(model, GetParam(), robots, {precision});
      const double taken = static_cast<double>(before - free_bytes(GetParam()));
      const double counted = static_cast<double>(ResidentRobots::bytes(model, GetParam(), robots, precision));
      // Small arrays, whole pages.
      EXPECT_NEAR(counted / taken, 1, 0.1) << static_cast<int>(precision);
    }
    int many = robots;
    while (ResidentRobots::bytes(model, GetParam(), many, Precision::fp64) <= free_bytes(GetParam())) many *= 2;
    EXPECT_THROW(ReducedBatchMechanics(model, GetParam(), many), CapabilityError) << many;
  }
}

TEST(ReducedBatchDevices, RefusesAGpuThatIsNotThere) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  const ReducedModel model = bar(boxes::all_laws()[0]);
  EXPECT_THROW(ReducedBatchMechanics(model, cuda(0), 2), CapabilityError);
}

template <class S, TangentRows rows>
void compare_team_with_one(int members) {
  const int r = 10, tiles = 2, robots = 2, components = rows == TangentRows::four ? four_row_components : 81;
  const auto random = [](int n) {
    const std::vector<double> values = boxes::random_vector(n, 1);
    return std::vector<S>(values.begin(), values.end());
  };
  const std::vector<S> G = random(tiles * r * tile_rows), tangent = random(robots * tiles * components * tile_size),
                       initial = random(3 * r * r), scale = random(robots * 2);
  std::vector<S> scratch(stiffness_scratch<S>(rows, r, TeamKind::cpu)), one(robots * r * r), many(one.size());
  ReducedStiffnessTeamOp<S, rows> op{r,
                                     tiles * tile_size,
                                     G.data(),
                                     tangent.data(),
                                     true,
                                     {initial.data(), r * r, scale.data(), 2},
                                     one.data(),
                                     scratch.data(),
                                     stiffness_scratch<S>(rows, r, TeamKind::cpu)};
  for (int robot = 0; robot < robots; ++robot) op(SingleTeam{}, 0, robot);
  op.K = many.data();
  std::barrier<> barrier(members);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < members; ++rank)
      threads.emplace_back([&, rank] {
        for (int robot = 0; robot < robots; ++robot) op(test::ThreadTeam{rank, members, &barrier}, 0, robot);
      });
  }
  EXPECT_EQ(one, many);
}

TEST(ReducedStiffnessTeam, ManyThreadsAgreeWithOne) {
  for (const int members : {3, 4, 8}) {
    compare_team_with_one<double, TangentRows::four>(members);
    compare_team_with_one<double, TangentRows::nine>(members);
    compare_team_with_one<float, TangentRows::four>(members);
    compare_team_with_one<float, TangentRows::nine>(members);
  }
}

}  // namespace
}  // namespace supple

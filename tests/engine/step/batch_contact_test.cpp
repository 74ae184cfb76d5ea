// Steps among obstacles of robots whose states stay on a device, against a Stepper: forces found on the device and on
// the host, robots with too many contacts, robots that are put back.

#include <gtest/gtest.h>
#include <omp.h>

#include "engine/inverse/inverse_law.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/touches.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/batch_stepper.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"
#include "tests/engine/bodies/contact_models.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"
#include "tests/engine/bodies/hosted.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"

namespace supple {
namespace {

using contact_models::floor_at, contact_models::reduced;

constexpr int robots = 5;

class BatchContacts : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchContacts, test::every_device(), test::device_name);

struct Case {
  const char* name;
  ReducedModel model;
  std::vector<double> pull;
};

// Pressed onto the floor by its cavity.
Case hollow() {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  scene.obstacles = {obstacle_scenes::floor(-0.004)};
  scene.obstacles[0].friction = 0.3;
  return {"hollow", reduced(build_full_model(scene, hollow_bodies::bar(false))), {8e3, 0.004}};
}
// A crawler that nothing holds.
FullModel loose_body() {
  Scene scene = floating_bodies::scene();
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].rayleigh_mass = 1;
  scene.bodies[0].rayleigh_stiffness = 0.005;
  return build_full_model(scene, floating_bodies::mesh());
}
Case loose() {
  FullModel full = loose_body();
  contact_bodies::place_among(full, {floor_at(-0.002, 0.6)});
  return {"loose", reduced(full, true), {0.015, 0.004}};
}
// On a sphere and a leaning capsule, within a box: pairs with several rows, curved and turned round.
Case curved() {
  FullModel full = loose_body();
  Vec3d lower = full.mesh.nodes[0], upper = lower;
  for (const Vec3d& x : full.mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
  const Vec3d centre = 0.5 * (lower + upper), size = upper - lower;
  const auto at = [&](const char* name, Obstacle obstacle, const Vec3d& position) {
    return PlacedObstacle{.name = name,
                          .obstacle = std::move(obstacle),
                          .pose = {.rotation = {{1, 0, 0, 0, 0.6, -0.8, 0, 0.8, 0.6}}, .position = position},
                          .friction = 0.4};
  };
  PlacedObstacle room = at("room", Obstacle::box(size + Vec3d{{0.01, 0.01, 0.004}}, Obstacle::Side::inside), centre);
  room.pose.rotation = Mat3d::identity();
  contact_bodies::place_among(
      full, {at("ball", Obstacle::sphere(0.1), {{lower[0], centre[1], lower[2] - 0.101}}),
             at("log", Obstacle::capsule(0.05, 0.1), {{upper[0], centre[1], lower[2] - 0.12}}), room});
  return {"curved", reduced(full, true), {0.015, 0.004}};
}

// The crawler's 114 points on its floor with thirty smooth modes: W of 342 rows has at most that rank.
Case crawler() {
  constexpr contact_models::Power powers[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                                              {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
  const FullModel full = build_full_model(read_scene(SUPPLE_SOURCE_DIR "/assets/multigait/crawl.toml"));
  const Eigen::MatrixXd basis = contact_models::smooth_modes(full, powers);
  std::vector<IntegrationDomain> domains;
  constexpr int step = 25;  // elements of which one stands for all
  for (const ElementField& field : full.fields) {
    IntegrationDomain& domain = domains.emplace_back();
    for (int e = 0; e < field.elements(); e += step) {
      domain.elements.push_back(e);
      domain.xi.push_back(step);
    }
  }
  return {
      "crawler",
      project(full, {basis.data(), static_cast<std::size_t>(basis.size())}, static_cast<int>(basis.cols()), domains),
      std::vector<double>(5, 6e3)};
}

std::vector<double> commands_of(const Case& c, int step, int count, int first = 0) {
  std::vector<double> commands;
  for (int b = first; b < first + count; ++b)
    for (std::size_t i = 0; i < c.pull.size(); ++i) {
      const double phase = 0.2 * step * (1 + 0.05 * b) + static_cast<double>(i);
      commands.push_back(c.pull[i] * (1 + b / 8.0) * (1 - std::cos(phase)));
    }
  return commands;
}

struct Outcome {
  State state;
  int touching = 0, rows = 0, problems = 0, on_host = 0;
};

Outcome by_stepper(const Case& c, const Device& device, int steps) {
  ReducedBatchMechanics mechanics(c.model, device, robots);
  Stepper stepper(mechanics, {.time_step = c.model.robot.time_step});
  Outcome run{rest_state(mechanics)};
  Control control = zero_control(mechanics);
  for (int step = 1; step <= steps; ++step) {
    control.commands = commands_of(c, step, robots);
    const StepReport report = stepper.step(control, run.state);
    EXPECT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    run.touching = std::max(run.touching, report.contact.touching);
    run.rows = std::max(run.rows, report.contact.rows);
  }
  return run;
}

void advance(const Case& c, BatchStepper& stepper, int begin, int end, Outcome& run, int first = 0) {
  for (int step = begin; step <= end; ++step) {
    const StepReport report = stepper.step(commands_of(c, step, stepper.robots(), first));
    EXPECT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    EXPECT_LE(report.contact.residual, tight_residual);
    run.touching = std::max(run.touching, report.contact.touching);
    run.rows = std::max(run.rows, report.contact.rows);
    run.problems += report.contact.on_device;
    run.on_host += report.contact.on_host;
  }
  run.state = stepper.state();
}

// Both solvers end at a residual of 1e-10 of the largest force, at other places within it (the host's from V, by
// Newton's method where that is quicker), which the steps damp like every other motion: as BatchInContact.
constexpr double tolerance = 1e-7;

std::vector<BatchStepSettings> every_way(const Case& c) {
  BatchStepSettings device, host, both;
  host.contact.solver = ContactSolver::host;
  both.contact.sweeps = 1;  // alone not enough for several contacts: the host's solver steps in
  both.contact.newton_steps = 0;
  both.parts = 2;
  both.ahead = true;
  std::vector<BatchStepSettings> all{device, host, both};
  for (BatchStepSettings& settings : all) {
    settings.time_step = c.model.robot.time_step;
    settings.contact.most_contacts = 64;
  }
  return all;
}

// Without friction the motion is unique, and with few contacts it is with friction too.
TEST_P(BatchContacts, MoveAsStepper) {
  constexpr int steps = 30;
  std::vector<Case> cases{hollow(), loose(), curved()};
  for (std::size_t k = 1; k < cases.size(); ++k)
    for (PlacedObstacle& obstacle : cases[k].model.robot.obstacles) obstacle.friction = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome expected = by_stepper(c, GetParam(), steps);
    EXPECT_GE(expected.touching, robots);
    for (const BatchStepSettings& settings : every_way(c)) {
      BatchStepper stepper(c.model, GetParam(), robots, settings);
      Outcome found;
      advance(c, stepper, 1, steps, found);
      for (const auto list : {&State::q, &State::v, &State::multipliers, &State::commands})
        EXPECT_LT(boxes::difference(found.state.*list, expected.state.*list), tolerance);
      EXPECT_GT(found.problems, steps);
      if (settings.contact.sweeps == 1) {
        EXPECT_GT(found.on_host, 0);
      }
      if (c.model.robot.obstacles[0].friction == 0) continue;  // forces need not be unique
      EXPECT_LT(boxes::difference(found.state.contact_forces, expected.state.contact_forces), 10 * tolerance);
      EXPECT_EQ(found.touching, expected.touching);
      EXPECT_EQ(found.rows, expected.rows);
    }
  }
}

// The rows of contacts go through the rounded factor in double. Without friction, as the motion is unique then.
TEST_P(BatchContacts, SinglePrecision) {
  for (Case c : {hollow(), loose()}) {
    SCOPED_TRACE(c.name);
    for (PlacedObstacle& obstacle : c.model.robot.obstacles) obstacle.friction = 0;
    const Outcome expected = by_stepper(c, GetParam(), 30);
    BatchStepper stepper(
        c.model, GetParam(), robots,
        {.time_step = c.model.robot.time_step, .precision = Precision::fp32, .contact = {.most_contacts = 64}});
    Outcome found;
    advance(c, stepper, 1, 30, found);
    const double lost = boxes::difference(found.state.q, expected.state.q);
    EXPECT_LT(boxes::difference(found.state.contact_forces, expected.state.contact_forces), 1e-4);
    EXPECT_LT(lost, 1e-5);
    EXPECT_GT(lost, 1e-9);
  }
}

// More contacts than modes, with friction: neither motion nor forces are unique, and each solver finds a solution of
// its own. From the same states: the same rows, forces within their cones at residuals below the tolerance, and no
// point of a floor or a room, whose gaps are linear, below it.
TEST_P(BatchContacts, FindTheRowsOfStepper) {
  for (const Case& c : {loose(), curved()}) {
    SCOPED_TRACE(c.name);
    ReducedBatchMechanics mechanics(c.model, GetParam(), robots);
    Stepper stepper(mechanics, {.time_step = c.model.robot.time_step});
    for (const BatchStepSettings& settings : every_way(c)) {
      State state = rest_state(mechanics);
      Control control = zero_control(mechanics);
      BatchStepper resident(c.model, GetParam(), robots, settings);
      int rows = 0;
      for (int step = 1; step <= 15; ++step) {
        resident.set_state(state);
        control.commands = commands_of(c, step, robots);
        const StepReport expected = stepper.step(control, state);
        const StepReport found = resident.step(control.commands);
        ASSERT_EQ(expected.status, StepStatus::ok);
        ASSERT_EQ(found.status, StepStatus::ok);
        EXPECT_LE(found.contact.residual, tight_residual);
        EXPECT_EQ(found.contact.loose, 0);
        // Where a turn is left to several solutions the next one may see other points.
        if (found.contact.on_device == robots) {
          EXPECT_EQ(found.contact.rows, expected.contact.rows) << step;
        }
        rows += found.contact.rows;
        const State end = resident.state();
        const std::vector<double> y = resident.outputs();
        for (int b = 0; b < robots; ++b)
          for (const Touch& touch : touches(c.model.robot, end, y, {}, b)) {
            const PlacedObstacle& obstacle = c.model.robot.obstacles[extent(touch.obstacle)];
            if (obstacle.obstacle.shape() != Obstacle::Shape::plane) continue;
            EXPECT_LE(norm(touch.force - touch.normal_force * Vec3d{{0, 0, 1}}),
                      obstacle.friction * touch.normal_force * (1 + 1e-9));
            EXPECT_NEAR(touch.at[2] - obstacle.pose.position[2], c.model.robot.contact_distance, 1e-9);
          }
        if (c.model.robot.obstacles.size() == 1) {
          EXPECT_GT(contact_bodies::least_gap(mechanics, end), -1e-9);
        }
      }
      EXPECT_GT(rows, 100 * robots);
    }
  }
}

struct Hard {
  int problems = 0, on_host = 0;
  long steps = 0;
  // Steps whose forces both found without help, and the largest difference of q at the end of one.
  int alike = 0;
  double apart = 0;
};
// The crawler from the states of a Stepper, which starts where these do.
Hard run_crawler(const Device& device, ContactSolver solver, int steps) {
  const Case c = crawler();
  ReducedBatchMechanics mechanics(c.model, device, 2);
  Stepper stepper(mechanics, {.time_step = c.model.robot.time_step});
  BatchStepper resident(c.model, device, 2, {.time_step = c.model.robot.time_step, .contact = {.solver = solver}});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  Hard run;
  for (int step = 1; step <= steps; ++step) {
    resident.set_state(state);
    control.commands = commands_of(c, step, 2);
    const StepReport expected = stepper.step(control, state);
    const StepReport found = resident.step(control.commands);
    EXPECT_EQ(expected.status, StepStatus::ok);
    EXPECT_EQ(found.status, StepStatus::ok);
    EXPECT_LE(found.contact.residual, tight_residual);
    EXPECT_EQ(found.contact.loose, 0);
    run.problems += found.contact.on_device;
    run.on_host += found.contact.on_host;
    run.steps += found.contact.newton_steps;
    const State end = resident.state();
    EXPECT_GT(contact_bodies::least_gap(mechanics, end), -1e-9);
    if (found.contact.on_host == 0 && expected.contact.loose == 0) {
      ++run.alike;
      run.apart = std::max(run.apart, boxes::difference(end.q, state.q));
    }
    const std::vector<double> y = resident.outputs();
    for (int b = 0; b < 2; ++b)
      for (const Touch& touch : touches(c.model.robot, end, y, {}, b))
        EXPECT_LE(norm(touch.force - touch.normal_force * Vec3d{{0, 0, 1}}), 0.7 * touch.normal_force * (1 + 1e-8));
  }
  return run;
}

// Where Gauss-Seidel leaves nearly all to the host, Newton's method on the device leaves at most one in twenty. With
// more contacts than modes and friction there are several solutions; one method from one start finds the same, to the
// residual of 1e-8 that both may end at.
TEST_P(BatchContacts, TheCrawlerIsSolvedOnTheDevice) {
  const Hard device = run_crawler(GetParam(), ContactSolver::device, 25);
  EXPECT_GE(device.problems, 50);
  EXPECT_LE(20 * device.on_host, device.problems);
  EXPECT_GT(device.steps, device.problems);
  EXPECT_GE(device.alike, 20);
  EXPECT_LT(device.apart, 1e-7);
}
TEST_P(BatchContacts, SweepsLeaveTheCrawlerToTheHost) {
  const Hard sweeps = run_crawler(GetParam(), ContactSolver::sweeps, 4);
  EXPECT_GE(sweeps.on_host, 6);
  EXPECT_EQ(sweeps.steps, 0);
}

TEST_P(BatchContacts, RobotsWithTooManyFailAlone) {
  Case c = loose();
  BatchStepSettings settings{.time_step = c.model.robot.time_step, .contact = {.most_contacts = 2}};
  BatchStepper stepper(c.model, GetParam(), 3, settings);
  // The middle one is a metre above the floor; mode 2 lifts.
  State start = stepper.state();
  ReducedBatchMechanics mechanics(c.model, GetParam(), 1);
  std::vector<double> y(extent(c.model.robot.outputs())), lifted = y, q(extent(c.model.modes), 0.0);
  test::Hosted(mechanics).evaluate_outputs(q, {}, y);
  q[2] = 1;
  test::Hosted(mechanics).evaluate_outputs(q, {}, lifted);
  const std::size_t z = 3 * extent(c.model.robot.first_collision_point) + 2;
  ASSERT_GT(std::abs(lifted[z] - y[z]), 1e-3);
  start.q[extent(c.model.modes) + 2] = 1 / (lifted[z] - y[z]);
  stepper.set_state(start);
  int failed = 0;
  for (int step = 1; step <= 20; ++step) {
    const State before = stepper.state();
    const StepReport report = stepper.step(commands_of(c, 0, 3));
    for (const RobotFailure& failure : report.failures) {
      EXPECT_EQ(failure.status, StepStatus::too_many_contacts);
      EXPECT_NE(failure.robot, 1);
      batch_bodies::expect_same_robot(stepper.state(), failure.robot, before, failure.robot);
      ++failed;
    }
    EXPECT_EQ(report.contact.too_many, !report.failures.empty());
  }
  EXPECT_GT(failed, 0);
}

// A run that is cut in two, and one robot that is put to another's state, go on as they did; on a CPU bit by bit.
TEST_P(BatchContacts, GoOnFromStates) {
  const Case c = hollow();
  const BatchStepSettings settings{.time_step = c.model.robot.time_step, .parts = 2};
  BatchStepper whole(c.model, GetParam(), robots, settings), second(c.model, GetParam(), robots, settings);
  Outcome run, other;
  advance(c, whole, 1, 20, run);
  ASSERT_GT(boxes::norm(run.state.contact_forces), 0);
  second.set_state(run.state);
  EXPECT_EQ(hash(second.state()), hash(run.state));
  const int put[] = {3};
  const ReducedMechanics one(c.model, 1);
  const State at_rest = rest_state(one);
  second.reset(put, at_rest);
  EXPECT_NE(hash(second.state()), hash(run.state));
  second.reset(put, run.state);
  advance(c, whole, 21, 30, run);
  advance(c, second, 21, 30, other);
  for (const auto list : {&State::q, &State::v, &State::multipliers, &State::contact_forces})
    EXPECT_LT(boxes::difference(other.state.*list, run.state.*list), tolerance);
  if (GetParam().kind == Device::Kind::cpu) {
    EXPECT_EQ(hash(other.state), hash(run.state));
  }
}

TEST_P(BatchContacts, FrictionOfTheirOwn) {
  const Case c = loose();
  const BatchStepSettings settings{.time_step = c.model.robot.time_step, .contact = {.most_contacts = 64}};
  BatchStepper stepper(c.model, GetParam(), 2, settings), same(c.model, GetParam(), 2, settings);
  Variations own;
  own.friction = {0.6, 0};
  stepper.set_variations(own);
  Outcome run, plain;
  advance(c, stepper, 1, 30, run);
  advance(c, same, 1, 30, plain);
  const auto of = [](const std::vector<double>& all, int b) { return batch_bodies::of_robot(all, 2, b); };
  EXPECT_EQ(of(run.state.q, 0), of(plain.state.q, 0));
  EXPECT_GT(boxes::difference(of(run.state.q, 1), of(plain.state.q, 1)), 1e-6);
  // Without friction a floor pushes upwards alone.
  const std::vector<double> forces = of(run.state.contact_forces, 1);
  for (std::size_t i = 0; i < forces.size(); ++i)
    if (i % 3 != 2) {
      EXPECT_EQ(forces[i], 0) << i;
    }
  EXPECT_GT(boxes::norm(forces), 0);
}

TEST_P(BatchContacts, FusedAlgebraIsRefused) {
  EXPECT_THROW(BatchStepper(hollow().model, GetParam(), 2, {.algebra = SystemAlgebra::fused}), InputError);
}

TEST(BatchContactsOnCpu, BitsDependNeitherOnTheBatchNorOnThreads) {
  const Case c = loose();
  const BatchStepSettings settings{.time_step = c.model.robot.time_step, .contact = {.most_contacts = 64}};
  const int threads = omp_get_max_threads();
  std::vector<State> states;
  for (const int count : {1, 2, 8}) {
    omp_set_num_threads(count);
    BatchStepper stepper(c.model, cpu(), 9, settings);
    Outcome run;
    advance(c, stepper, 1, 12, run);
    states.push_back(run.state);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(hash(states[0]), hash(states[1]));
  EXPECT_EQ(hash(states[0]), hash(states[2]));
  BatchStepper alone(c.model, cpu(), 1, settings);
  Outcome run;
  advance(c, alone, 1, 12, run, 7);
  batch_bodies::expect_same_robot(states[0], 7, run.state, 0);
}

}  // namespace
}  // namespace supple

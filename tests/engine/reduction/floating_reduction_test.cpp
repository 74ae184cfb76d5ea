// Reduced bodies that nothing holds: rigid modes make no force, momentum is kept, errors are those of the shape.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "engine/io/model_file.hpp"
#include "engine/model/on_frame.hpp"
#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/elements/training.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/varied_commands.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

// Rigid modes and 8 random ones.
struct Body {
  explicit Body(const Scene& scene = floating_bodies::scene())
      : full(build_full_model(scene, floating_bodies::mesh())),
        basis(
            join_modes(rigid_modes(full), reduced_bodies::random_basis(full.coordinates.nv, 8), full.coordinates.nv)) {}
  ReducedModel reduced(bool all = true) const {
    return project(full, basis, 14, all ? all_elements(full) : reduced_bodies::some_elements(full));
  }
  FullModel full;
  std::vector<double> basis;
};

TEST(FloatingReducedBody, TranslationMakesNoForce) {
  const Body body;
  for (const bool all : {true, false}) {
    const ReducedModel model = body.reduced(all);
    ReducedMechanics mechanics(model);
    std::vector<double> f(14), moved(14), alpha = boxes::random_vector(14, 0.01);
    for (int k = 0; k < 6; ++k) alpha[static_cast<std::size_t>(k)] = 0;
    (void)mechanics.evaluate_forces(alpha, {}, TangentKind::none, f);
    EXPECT_GT(boxes::norm(f), 0.1);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(f[k], 0);  // to the last bit: its columns of G are zero
      alpha[k] = 10;
    }
    (void)mechanics.evaluate_forces(alpha, {}, TangentKind::none, moved);
    EXPECT_EQ(moved, f);
  }
}

// What ends in space would go along with a frame.
TEST(FloatingReducedBody, IsOnAFrameUnlessSomethingOfItEndsInSpace) {
  Scene scene = floating_bodies::scene();
  EXPECT_TRUE(can_be_on_frame(build_full_model(scene, floating_bodies::mesh()).robot));
  scene.actuators[0].pull_point = Vec3d{{1, 0, 0}};
  EXPECT_FALSE(can_be_on_frame(build_full_model(scene, floating_bodies::mesh()).robot));
  scene.actuators = {boxes::pull("ahead", {{0.4, 0.05, 0.05}}, {{1, 0, 0}}, 1)};
  EXPECT_FALSE(can_be_on_frame(build_full_model(scene, floating_bodies::mesh()).robot));
}

// A small turn of the rest shape makes no force in first order, whatever elements are kept.
TEST(FloatingReducedBody, SmallRotationMakesNoForceInFirstOrder) {
  const Body body;
  const ReducedModel model = body.reduced(false);
  ReducedMechanics mechanics(model);
  for (std::size_t k = 3; k < 6; ++k) {
    double last = 0;
    for (const double size : {1e-2, 1e-3}) {
      std::vector<double> f(14), alpha(14, 0.0);
      alpha[k] = size;
      (void)mechanics.evaluate_forces(alpha, {}, TangentKind::none, f);
      if (last > 0) {
        EXPECT_LT(boxes::norm(f), 0.02 * last);  // the strain is theta^2 / 2
      }
      last = boxes::norm(f);
    }
  }
}

class Falling : public testing::TestWithParam<StepScheme> {};

// With a cable pulled on the way. Implicit Euler: v = g t, the centre's way is g h^2 n (n + 1) / 2.
TEST_P(Falling, CentreOfMassFallsAsTheFullBodys) {
  Scene scene = floating_bodies::scene();
  scene.gravity = {{0.5, 0, -9.81}};
  const Body body(scene);
  for (const bool all : {true, false}) {
    const ReducedModel model = body.reduced(all);
    ReducedMechanics mechanics(model);
    Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 0.01});
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    const int steps = 50;
    for (int step = 1; step <= steps; ++step) {
      control.commands = {4e-4 * step, 1e-4 * step};
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
    double strained = 0;
    for (std::size_t k = 6; k < 14; ++k) strained = std::max(strained, std::abs(state.q[k]));
    EXPECT_GT(strained, 1e-4);
    // Momentum and first moment of mass along each axis: (Phi^T M e)^T of v and of alpha.
    for (int axis = 0; axis < 3; ++axis) {
      double momentum = 0, moment = 0;
      for (std::size_t i = 0; i < 14; ++i) {
        const double m = model.gravity[3 * i + static_cast<std::size_t>(axis)];
        momentum += m * state.v[i];
        moment += m * state.q[i];
      }
      const double g = scene.gravity[axis], h = 0.01;
      // Rounding: of fifty solves of a system of condition 1e5; Newton's stops at 1e-9 of the forces.
      const double tolerance = GetParam() == StepScheme::newton ? 1e-6 : 1e-10;
      EXPECT_NEAR(momentum / body.full.total_mass, g * h * steps, tolerance);
      EXPECT_NEAR(moment / body.full.total_mass, g * h * h * steps * (steps + 1) / 2, tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Falling, testing::Values(StepScheme::one_linearisation, StepScheme::newton),
                         [](const auto& info) { return info.param == StepScheme::newton ? "newton" : "one"; });

// Snapshots wherever a body is and however turned are the same shapes.
TEST(FloatingErrors, AreThoseOfTheShape) {
  const FullModel full =
      build_full_model(floating_bodies::scene(), box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
  const int nv = full.coordinates.nv;
  FullMechanics mechanics(full);
  const RigidFit fit(full);
  // Of full rank.
  const std::vector<double> basis =
      join_modes(rigid_modes(full), reduced_bodies::random_basis(nv, nv - rigid_mode_count), nv);
  const ReducedModel same = project(full, basis, nv, all_elements(full));
  std::vector<double> shapes;
  for (const double angle : {0.0, 2.0}) {
    SnapshotSet set;
    for (const Sample& sample : uniform_draws(full.robot, 3, 5)) {
      State state = rest_state(mechanics);
      Control control = zero_control(mechanics);
      control.commands = sample;
      ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
      fit.move({boxes::rotation({{1, 1, 0}}, angle), {{angle, 0, 1}}}, state.q);
      set.commands.push_back(sample);
      set.q.insert(set.q.end(), state.q.begin(), state.q.end());
      ++set.count;
    }
    const ReferenceStates reference = reference_states(full, set);
    const ErrorSummary errors = evaluate_errors(same, basis, reference);
    EXPECT_EQ(errors.failed, 0);
    EXPECT_LT(errors.goal_max, 1e-5);  // two solutions of residual 1e-9 of a bar of condition 1e4
    EXPECT_LT(errors.shape_max, 1e-5);
    if (shapes.empty())
      shapes = reference.q;
    else
      EXPECT_LT(boxes::difference(reference.q, shapes), 1e-10);
  }
}

class FloatingPipeline : public testing::Test {
 public:
  FloatingPipeline() : scene_(floating_bodies::scene()) {
    write_msh(folder_ / "bar.msh", floating_bodies::mesh());
    scene_.bodies[0].mesh_file = folder_ / "bar.msh";
    scene_.reduction.states = 20;
    scene_.reduction.validation_states = 6;
    settings_.snapshots.folder = folder_ / "states";
    settings_.dynamic_steps = 100;
    settings_.rate_seconds = 0.01;
  }

 protected:
  TemporaryFolder folder_;
  Scene scene_;
  ReduceSettings settings_;
};

TEST_F(FloatingPipeline, ReportsAnAccurateModel) {
  const FullModel full = build_full_model(scene_);
  const Reduction result = reduce(scene_, full, settings_, {});
  const ReducedModel& model = result.model;
  EXPECT_EQ(result.report.snapshots.failed, 0);
  EXPECT_TRUE(model.robot.floating);
  EXPECT_TRUE(model.on_frame);
  EXPECT_GE(model.modes, 3);
  const ErrorSummary &pod = result.report.table[1].errors, &hyper = model.errors;
  EXPECT_EQ(hyper.failed, 0);
  RecordProperty("modes", model.modes);
  RecordProperty("elements", result.report.table[3].elements);
  RecordProperty("pod_shape", std::to_string(pod.shape_mean));
  RecordProperty("hyper_shape", std::to_string(hyper.shape_mean));
  RecordProperty("dynamic", std::to_string(result.report.dynamic.goal_mean));
  EXPECT_LT(pod.shape_mean, 0.01);
  EXPECT_LT(hyper.shape_mean, 0.03);
  EXPECT_LT(hyper.goal_mean, 0.03);
  // In motion too the cables bend the reduced body as they do the full one.
  EXPECT_FALSE(result.report.dynamic.failed);
  EXPECT_LT(result.report.dynamic.goal_mean, 0.02);
  EXPECT_GT(result.report.dynamic.where.turned, 0);

  write_model(model, folder_ / "bar.rom.h5");
  reduced_bodies::expect_same_model(read_model(folder_ / "bar.rom.h5"), model);
}

// The bar on a floor, onto which it falls from 1 mm.
Scene on_a_floor(Scene scene) {
  scene.gravity = {{0, 0, -9.81}};
  scene.obstacles = {obstacle_scenes::floor(-1e-3)};
  scene.obstacles[0].friction = 0.3;
  scene.bodies[0].rayleigh_mass = 2;
  scene.bodies[0].rayleigh_stiffness = 0.005;
  scene.reduction.sweep_steps = 8;
  return scene;
}

// With every mode the reduced body repeats the full one's steps, path by path, each from rest, the second with
// friction.
TEST(LooseErrors, AreThoseAlongThePathsInTime) {
  const FullModel full =
      build_full_model(on_a_floor(floating_bodies::scene()), box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4, 1, 1));
  ASSERT_TRUE(shaken_in_time(full.robot));
  const int nv = full.coordinates.nv;
  FullMechanics mechanics(full);
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = full.robot.time_step});
  SnapshotSet set;
  const std::vector<SamplePath> paths = paths_through(full.robot, uniform_draws(full.robot, 9, 5), 8);
  ASSERT_EQ(paths.size(), 2U);
  int touching = 0;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    State state = rest_state(mechanics);
    mechanics.set_friction(k == 1);
    for (const Sample& sample : paths[k].samples) {
      const StepReport report = stepper.step(control_of(full.robot, sample), state);
      ASSERT_EQ(report.status, StepStatus::ok);
      touching += report.contact.touching > 0;
      set.source.push_back({static_cast<int>(k), set.count++, k == 1});
      set.commands.push_back(sample);
      set.q.insert(set.q.end(), state.q.begin(), state.q.end());
    }
  }
  EXPECT_GT(touching, set.count / 2);
  const std::vector<double> basis =
      join_modes(rigid_modes(full), reduced_bodies::random_basis(nv, nv - rigid_mode_count), nv);
  ReferenceStates reference = reference_states(full, set);
  const ErrorSummary errors = evaluate_errors(project(full, basis, nv, all_elements(full)), basis, reference);
  EXPECT_EQ(errors.failed, 0);
  // Rounding and contact forces to 1e-8, over 72 steps of a bar of condition 1e4.
  EXPECT_LT(errors.goal_max, 1e-4);
  EXPECT_LT(errors.shape_max, 1e-4);
  // Without its friction the second goes another way.
  std::vector<char> friction(reference.friction.size(), 0);
  std::swap(reference.friction, friction);
  EXPECT_GT(evaluate_errors(project(full, basis, nv, all_elements(full)), basis, reference).shape_max, 1e-3);
  std::swap(reference.friction, friction);
  // As one path, the second would not begin at rest.
  std::ranges::fill(reference.path, 0);
  EXPECT_GT(evaluate_errors(project(full, basis, nv, all_elements(full)), basis, reference).shape_max, 0.01);
}

// Rotations are linear in the modes: a body turned by 4 degrees through them swells by 0.24 %, against which a stiff
// sheet makes forces that nobody asked for. Modes of the turned states hold what makes up for that.
TEST(LooseBasis, ATurnedBodyIsFreeOfFalseForcesWhereItWasLearntTurned) {
  Scene scene = on_a_floor(floating_bodies::scene());
  MembraneScene sheet;
  sheet.region = boxes::group_region("z-");
  sheet.young = 1e7;
  sheet.poisson = 0.4;
  sheet.thickness = 1e-3;
  scene.bodies[0].membranes = {sheet};
  const FullModel full = build_full_model(scene, floating_bodies::mesh());
  FullModel flying = full;
  flying.robot.obstacles.clear();
  flying.robot.gravity = {{0, 0, 0}};
  FullMechanics mechanics(flying);
  const RigidFit fit(full);
  const int nv = full.coordinates.nv, count = 5;
  std::vector<double> turned, brought_back;
  for (const Sample& sample : uniform_draws(full.robot, count, 5)) {
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = sample;
    ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
    (void)fit.remove(state.q);
    brought_back.insert(brought_back.end(), state.q.begin(), state.q.end());
    fit.move({boxes::rotation({{0, 1, 0.5}}, 0.07), {{0, 0, 0}}}, state.q);
    turned.insert(turned.end(), state.q.begin(), state.q.end());
  }
  const auto false_force = [&](const std::vector<double>& learnt) {
    const ColumnBlocks columns{nv, {count}, [&](int, std::vector<double>& storage) {
                                 storage = learnt;
                                 return std::span<const double>(storage);
                               }};
    const SnapshotBasis basis = snapshot_basis(full, columns, scene.reduction, {});
    const ReducedModel model = project(full, basis.vectors, basis.modes, all_elements(full));
    ReducedMechanics reduced(model);
    const std::vector<double> alpha = project_states(basis.vectors, nv, basis.modes, turned, count);
    double error = 0, size = 0;
    for (int s = 0; s < count; ++s) {
      std::vector<double> f(extent(nv)), f_reduced(extent(basis.modes));
      (void)mechanics.evaluate_forces(std::span(turned).subspan(extent(s, nv), extent(nv)), {}, TangentKind::none, f);
      (void)reduced.evaluate_forces(std::span(alpha).subspan(extent(s, basis.modes), extent(basis.modes)), {},
                                    TangentKind::none, f_reduced);
      const std::vector<double> exact = reduced_bodies::restrict_vector(basis.vectors, f);
      error += boxes::norm(boxes::plus(f_reduced, -1, exact));
      size += boxes::norm(exact);
    }
    return error / size;
  };
  const double of_shapes = false_force(brought_back), of_states = false_force(turned);
  RecordProperty("of_shapes", std::to_string(of_shapes));
  RecordProperty("of_states", std::to_string(of_states));
  EXPECT_GT(of_shapes, 0.1);
  // All of the turned states are in the basis, but for the tolerance of the truncation, 1e-3.
  EXPECT_LT(of_states, 1e-2 * of_shapes);
}

// What a missing force moves is judged by how much the body bends, however far it has gone.
TEST(LooseBasis, MetricDoesNotDependOnWhereTheBodyWent) {
  const Body body(on_a_floor(floating_bodies::scene()));
  const ReducedModel model = body.reduced();
  ASSERT_TRUE(shaken_in_time(model.robot));
  const int count = 3;
  const std::vector<double> multipliers(extent(count, model.robot.rows()), 0.0);
  std::vector<double> states = boxes::random_vector(14 * count, 0.01);
  const std::vector<double> here = displacement_metric(model, states, multipliers, count);
  for (int s = 0; s < count; ++s) states[extent(s, 14)] += 1;
  EXPECT_GT(boxes::norm(here), 0);
  EXPECT_LT(boxes::difference(displacement_metric(model, states, multipliers, count), here), 1e-9);
}

TEST_F(FloatingPipeline, LearnsInTimeOnAFloor) {
  scene_ = on_a_floor(scene_);
  scene_.reduction.max_modes = 16;
  settings_.tolerances = {0.001, 0.004};
  const FullModel full = build_full_model(scene_);
  const Reduction result = reduce(scene_, full, settings_, {});
  const auto noted = [](const Reduction& r, const std::string& text) {
    return std::ranges::any_of(r.report.notes, [&](const std::string& n) { return n.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(noted(result,
                    "trained on transient trajectories without friction, 8 steps of 10 ms for each state, and measured "
                    "on such with"));
  // 20 draws, 4 corners (the released bar among them), 6 unseen ones, half as many (at least 10) to select by: ramps
  // of 8.
  EXPECT_EQ(result.report.snapshots.states, 8 * (24 + 6 + 10));
  EXPECT_EQ(result.report.snapshots.failed, 0);
  const ErrorSummary& pod = result.report.table[1].errors;
  EXPECT_EQ(result.model.errors.states, 8 * 6);
  EXPECT_EQ(result.model.errors.failed, 0);
  EXPECT_LT(pod.shape_mean, 0.1);
  EXPECT_LT(result.model.errors.shape_mean, 1.2 * pod.shape_mean);
  // The model has the friction that its training left out.
  ASSERT_EQ(result.model.robot.obstacles.size(), 1U);
  EXPECT_EQ(result.model.robot.obstacles[0].friction, 0.3);
  const DynamicError& path = result.report.dynamic;
  EXPECT_FALSE(path.failed);
  EXPECT_LT(path.goal_mean, 0.1);
  EXPECT_GT(path.where.travelled, 1e-3);  // it falls by 1 mm
  EXPECT_LT(path.where.strayed, 0.1 * path.where.travelled);
  RecordProperty("pod", std::to_string(pod.shape_mean));
  RecordProperty("hyper", std::to_string(result.model.errors.shape_mean));
  RecordProperty("path", std::to_string(path.goal_mean));
  RecordProperty("strayed", std::to_string(path.where.strayed));

  // Elements by a third of the 192 training states: seven eighths are left out where enough stay.
  EXPECT_TRUE(noted(result, "chosen on 64 of 192 states, one in 3"));
  scene_.reduction.elements_every = 5;
  EXPECT_TRUE(noted(reduce(scene_, full, settings_, {}), "chosen on 39 of 192 states, one in 5"));
  scene_.reduction.elements_every = 1;
  EXPECT_FALSE(noted(reduce(scene_, full, settings_, {}), "chosen on"));

  // The modes are those of the states as they went, turned and away from where they began.
  const SamplingPlans plans = make_plans(full.robot, scene_.reduction);
  const std::string folder = sets_of(plans, settings_.snapshots.folder)[0].folder;
  const int nv = full.coordinates.nv;
  const SnapshotSet set = read_snapshots(folder, identify(scene_), plans.training, nv, full.robot.rows());
  std::vector<double> storage, columns;
  const ColumnBlocks blocks = basis_columns(full, folder, set, RigidMotionForm::linearised);
  for (int k = 0; k < static_cast<int>(blocks.counts.size()); ++k)
    std::ranges::copy(blocks.read(k, storage), std::back_inserter(columns));
  EXPECT_TRUE(reduced_bodies::same_bits(columns, set.q));

  scene_.reduction.ecsw_training = "rerun";
  EXPECT_THROW((void)reduce(scene_, full, settings_, {}), InputError);
}

// Along commands over time: better along variations of them than a model that has seen ramps all over the box.
TEST_F(FloatingPipeline, LearnsAlongCommandsOnAFloor) {
  scene_ = on_a_floor(scene_);
  scene_.reduction.max_modes = 8;
  settings_.tolerances = {0.001, 0.004};
  const FullModel full = build_full_model(scene_);
  std::ofstream(folder_ / "gait.csv") << "time [s],upper [mm],left [mm]\n0,0,0\n0.1,0,0\n0.2,6,0\n0.3,6,4\n0.4,0,0\n";
  const Reduction ramps = reduce(scene_, full, settings_, {});
  Scene along = scene_;
  along.reduction.along.file = folder_ / "gait.csv";
  ReduceSettings settings = settings_;
  settings.snapshots.folder = folder_ / "along";
  const Reduction gait = reduce(along, full, settings, {});
  EXPECT_EQ(gait.report.snapshots.states, (3 + 2 + 1) * 40);
  EXPECT_EQ(gait.model.errors.states, 2 * 40);
  EXPECT_EQ(gait.model.errors.failed, 0);
  EXPECT_FALSE(gait.report.dynamic.failed);
  EXPECT_EQ(gait.report.dynamic.steps, 40);  // the unseen path has the length of the commands
  // Both along a variation that neither has seen.
  const Actuation table = training_table(along.reduction.along, full.robot);
  const VariedCommands unseen(table, 0.1, 20, 1);
  const UnseenPath path(full, 40, [&](double time) { return unseen.at(time); }, {});
  const double of_gait = path.compare(gait.model).goal_mean, of_ramps = path.compare(ramps.model).goal_mean;
  RecordProperty("gait", std::to_string(of_gait));
  RecordProperty("ramps", std::to_string(of_ramps));
  EXPECT_LT(of_gait, 0.7 * of_ramps);  // 0.62: 12.7 and 20.6 % of the displacement, with eight modes of shape
}

// Training has the obstacles' friction where the scene says so; what models are judged by has it always.
TEST_F(FloatingPipeline, ShakesWithFrictionWhereTheSceneSaysSo) {
  scene_ = on_a_floor(scene_);
  scene_.reduction.corners = false;
  const FullModel full = build_full_model(scene_);
  const auto states = [&](ShakingFriction friction, const std::string& name) {
    scene_.reduction.friction = friction;
    SnapshotJob job;
    job.folder = folder_ / name;
    (void)compute_snapshots(full, scene_, job, {});
    const SamplingPlans plans = make_plans(full.robot, scene_.reduction);
    std::vector<SnapshotSet> sets;
    for (const SetPlan& set : sets_of(plans, job.folder))
      sets.push_back(read_snapshots(set.folder, identify(scene_), *set.plan, full.coordinates.nv, full.robot.rows()));
    return sets;
  };
  const std::vector<SnapshotSet> none = states(ShakingFriction::none, "none"),
                                 own = states(ShakingFriction::own, "own");
  ASSERT_EQ(none[0].count, 8 * 20);
  ASSERT_EQ(own[0].count, none[0].count);
  for (std::size_t k = 0; k < 3; ++k)
    for (const auto* sets : {&none, &own})
      EXPECT_TRUE(
          std::ranges::all_of((*sets)[k].source, [&](const auto& s) { return s.friction == (sets == &own || k > 0); }));
  EXPECT_GT(boxes::difference(own[0].q, none[0].q), 1e-4);
  for (const std::size_t k : {1U, 2U}) EXPECT_TRUE(reduced_bodies::same_bits(own[k].q, none[k].q)) << k;
  // States of the one are none of the other's.
  SnapshotJob job;
  job.folder = folder_ / "none";
  EXPECT_THROW((void)compute_snapshots(full, scene_, job, {}), InputError);
}

TEST_F(FloatingPipeline, RefusesForcesFromOutside) {
  Scene heavy = scene_;
  heavy.gravity = {{0, 0, -1}};
  EXPECT_THROW((void)reduce(heavy, build_full_model(heavy), settings_, {}), InputError);
  Scene pulled = scene_;
  pulled.actuators.push_back(boxes::pull("pull", {{0.4, 0.05, 0.05}}, {{1, 0, 0}}, 1));
  EXPECT_THROW((void)reduce(pulled, build_full_model(pulled), settings_, {}), InputError);
}

}  // namespace
}  // namespace supple

// The folder of full-order states: who may use it, what is computed again, bits that depend on nothing but the path.

#include "engine/reduction/snapshots/snapshots.hpp"

#include <filesystem>
#include <fstream>

#include "engine/io/hdf5_file.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/reach.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/flipped_bits.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"
#include "tests/engine/bodies/snapshot_bodies.hpp"

namespace supple {
namespace {

namespace fs = std::filesystem;
using reduced_bodies::TemporaryFolder;
using snapshot_bodies::corotational;

class Snapshots : public snapshot_bodies::SmallBar {};

void cut_in_half(const std::string& file) {
  fs::resize_file(file, fs::file_size(file) / 2);
}

TEST_F(Snapshots, FolderRules) {
  const std::string folder = folder_ / "set";
  prepare(folder, ExistingFolder::refuse);  // new: nothing to refuse
  EXPECT_TRUE(fs::exists(fs::path(folder) / "plan.json"));
  EXPECT_EQ(missing(folder), (std::vector<int>{0, 1, 2}));
  EXPECT_THROW(prepare(folder, ExistingFolder::refuse), InputError);
  EXPECT_NO_THROW(prepare(folder, ExistingFolder::resume));
  (void)compute(folder);
  EXPECT_TRUE(missing(folder).empty());
  prepare(folder, ExistingFolder::resume);
  EXPECT_TRUE(missing(folder).empty());
  prepare(folder, ExistingFolder::replace);
  EXPECT_EQ(missing(folder).size(), 3U);
  EXPECT_FALSE(fs::exists(path_file(folder, 0)));
}

TEST_F(Snapshots, ForeignFoldersAreLeftAlone) {
  const std::string folder = folder_ / "mine";
  fs::create_directories(folder);
  std::ofstream(fs::path(folder) / "thesis.txt") << "years of work";
  for (const ExistingFolder existing : {ExistingFolder::refuse, ExistingFolder::resume, ExistingFolder::replace})
    EXPECT_THROW(prepare(folder, existing), InputError);
  EXPECT_TRUE(fs::exists(fs::path(folder) / "thesis.txt"));

  const std::string other = folder_ / "other";
  prepare(other);
  std::ofstream(fs::path(other) / "notes.txt") << "kept";
  SamplingPlan changed = plan_;
  changed.paths[1].samples[2][0] *= 0.5;
  EXPECT_THROW(prepare_snapshot_folder(other, identity_, changed, ExistingFolder::resume), InputError);
  SceneIdentity scene = identity_;
  ++scene.scene;
  EXPECT_THROW(prepare_snapshot_folder(other, scene, plan_, ExistingFolder::resume), InputError);
  EXPECT_NO_THROW(prepare_snapshot_folder(other, scene, plan_, ExistingFolder::replace));
  EXPECT_TRUE(fs::exists(fs::path(other) / "notes.txt"));  // only its own files go
}

TEST_F(Snapshots, DamagedAndForeignPathsAreComputedAgain) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  (void)compute(folder);
  const SnapshotSet before = read(folder);
  ASSERT_EQ(before.count, 20);
  cut_in_half(path_file(folder, 1));
  EXPECT_EQ(missing(folder), std::vector<int>{1});
  EXPECT_THROW(read(folder), InputError);
  fs::copy_file(path_file(folder, 2), path_file(folder, 0), fs::copy_options::overwrite_existing);
  EXPECT_EQ(missing(folder), (std::vector<int>{0, 1}));
  EXPECT_THROW(read(folder), InputError);
  std::ofstream(path_file(folder, 2)) << "";
  EXPECT_EQ(missing(folder).size(), 3U);
  const SnapshotRun run = compute(folder);
  EXPECT_EQ(run.states, 20);
  const SnapshotSet after = read(folder);
  EXPECT_TRUE(reduced_bodies::same_bits(before.q, after.q));
  EXPECT_TRUE(reduced_bodies::same_bits(before.multipliers, after.multipliers));
}

TEST_F(Snapshots, EveryFlippedBitIsSeen) {
  const std::string folder = folder_ / "set", file = path_file(folder, 2), aside = folder_ / "path";
  prepare(folder);
  (void)compute(folder);
  const SnapshotSet before = read(folder);
  fs::rename(file, aside);
  const auto same = [&](const std::string& copy) {
    fs::rename(copy, file);
    const SnapshotSet set = read(folder);
    return set.count == 20 && set.failed == before.failed && set.factorisations == before.factorisations &&
           reduced_bodies::same_bits(set.q, before.q) && reduced_bodies::same_bits(set.multipliers, before.multipliers);
  };
  EXPECT_GT(flipped_bits::refused(aside, 13, same), 0.5);
}

// kill -9 while a path is written leaves its temporary file and no path: exactly that path is computed again.
TEST_F(Snapshots, LeftoversOfAKilledRunAreIgnored) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  (void)compute(folder);
  const std::vector<double> before = stored_q(folder, 1);
  fs::rename(path_file(folder, 1), path_file(folder, 1) + ".part-4711");
  cut_in_half(path_file(folder, 1) + ".part-4711");
  prepare(folder);
  EXPECT_EQ(missing(folder), std::vector<int>{1});
  const SnapshotRun run = compute(folder);
  EXPECT_EQ(run.states, 8);
  EXPECT_TRUE(reduced_bodies::same_bits(stored_q(folder, 1), before));
  prepare(folder, ExistingFolder::replace);
  EXPECT_FALSE(fs::exists(path_file(folder, 1) + ".part-4711"));
}

TEST_F(Snapshots, ShardsGiveTheSameBits) {
  const std::string whole = folder_ / "whole", parts = folder_ / "parts";
  prepare(whole);
  prepare(parts);
  const SnapshotRun all = compute(whole);
  const SnapshotRun second = compute(parts, 1, 2), first = compute(parts, 0, 2);
  EXPECT_EQ(all.states, 20);
  EXPECT_EQ(first.states, 12);  // paths 0 and 2
  EXPECT_EQ(second.states, 8);
  EXPECT_EQ(all.factorisations, first.factorisations + second.factorisations);
  for (int path = 0; path < 3; ++path)
    EXPECT_TRUE(reduced_bodies::same_bits(stored_q(whole, path), stored_q(parts, path)));
}

TEST_F(Snapshots, InterruptedRunGoesOnWhereItStopped) {
  const std::string whole = folder_ / "whole", folder = folder_ / "set";
  prepare(whole);
  (void)compute(whole);
  prepare(folder);
  int states = 0;
  Progress progress;
  progress.report = [&](const std::string&, double done, double total, const std::string&) {
    states = static_cast<int>(done);
    EXPECT_EQ(total, 20);
  };
  progress.stop = [&] { return states == 11; };
  EXPECT_THROW(compute(folder, 0, 1, progress), Interrupted);
  EXPECT_EQ(missing(folder), (std::vector<int>{1, 2}));  // path 0 was finished, path 1 begun
  const SnapshotRun rest = compute(folder);
  EXPECT_EQ(rest.states, 12);
  EXPECT_TRUE(reduced_bodies::same_bits(read(folder).q, read(whole).q));
}

TEST_F(Snapshots, AreEquilibriaUnderTheirCommands) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  const SnapshotRun run = compute(folder);
  EXPECT_EQ(run.failed, 0);
  const SnapshotSet set = read(folder);
  EXPECT_EQ(set.factorisations, run.factorisations);
  FullMechanics mechanics(model_);
  Equilibrium equilibrium(mechanics, {});
  const auto nv = static_cast<std::size_t>(model_.coordinates.nv);
  for (const std::size_t s : {0U, 7U, 19U}) {
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = set.commands[s];
    ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
    const std::vector<double> q(set.q.begin() + static_cast<long>(s * nv),
                                set.q.begin() + static_cast<long>((s + 1) * nv));
    // Two ways to the same equilibrium, residuals below 1e-9; the bar's condition number is about 1e5.
    EXPECT_LT(boxes::difference(state.q, q), 1e-6);
  }
}

TEST_F(Snapshots, FailedStatesAreCountedAndLeftOut) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  (void)compute(folder);
  const SnapshotSet before = read(folder);
  const std::string file = path_file(folder, 0);
  std::vector<double> q = stored_q(folder, 0), multipliers, commands;
  std::string identity;
  std::vector<int> factorisations;
  {
    const Hdf5File stored(file, Hdf5File::Mode::read);
    multipliers = stored.read_doubles("/multipliers");
    commands = stored.read_doubles("/commands");
    factorisations = stored.read_ints("/factorisations");
    identity = stored.read_text("/identity");
  }
  const std::size_t nv = q.size() / 8;
  write_hdf5_atomically(file, [&](Hdf5File& out) {
    out.write("/identity", identity);
    out.write("/q", q, {8, nv});
    out.write("/multipliers", multipliers, {8, 2});
    out.write("/commands", commands, {8, commands.size() / 8});
    out.write("/status", std::vector<int>{0, 0, 1, 0, 0, 2, 0, 0}, {8});
    out.write("/factorisations", factorisations, {8});
  });
  const SnapshotSet set = read(folder);
  EXPECT_EQ(set.count, 18);
  EXPECT_EQ(set.failed, 2);
  ASSERT_EQ(set.commands.size(), 18U);
  EXPECT_EQ(set.q.size(), 18 * nv);
  EXPECT_EQ(set.commands[2], before.commands[3]);
  EXPECT_EQ(set.q[2 * nv], before.q[3 * nv]);
  EXPECT_EQ(set.multipliers[4], before.multipliers[6]);
}

// All eight cables of a trunk at once, by more than its necks bear: it folds up before that. The state is an equilibrium
// on the way, and its commands are those it has.
TEST(SnapshotsOfATrunk, ASampleOutOfReachIsReplaced) {
  const TemporaryFolder folder;
  const Scene scene = read_scene(SUPPLE_SOURCE_DIR "/assets/zoo/trunk/scene.toml");
  const FullModel model = build_full_model(scene);
  const Sample sample = {0.03, 0.01, 0.04, 0.02, 0.02, 0.035, 0.01, 0.04};
  SamplingPlan plan;
  plan.paths = {{{sample}}};
  const SceneIdentity identity = identify(scene);
  prepare_snapshot_folder(folder / "set", identity, plan, ExistingFolder::resume);
  const SnapshotRun run = compute_paths(model, scene, identity, plan, folder / "set", {}, {});
  EXPECT_EQ(run.failed, 0);
  EXPECT_EQ(run.short_of, 1);
  const SnapshotSet set = read_snapshots(folder / "set", identity, plan, model.coordinates.nv, model.robot.rows());
  ASSERT_EQ(set.count, 1);
  EXPECT_EQ(set.out_of_reach.size(), 1U);
  EXPECT_GT(set.least_reach, 0.1);
  EXPECT_LT(set.least_reach, 1);
  for (std::size_t k = 0; k < sample.size(); ++k)
    EXPECT_NEAR(set.commands[0][k], set.least_reach * sample[k], 1e-12);  // rounding of lengths of centimetres
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.scheme = StepScheme::quasi_static, .time_step = 0});
  State state = rest_state(mechanics);
  state.q = set.q;
  state.multipliers = set.multipliers;
  state.commands = set.commands[0];
  std::vector<double> r(state.q.size());
  EXPECT_LE(stepper.imbalance(state, r), 1e-9);
}

TEST(Reach, TheActuatorsThatTellMostAreNamed) {
  Robot robot;
  for (const char* name : {"a", "b", "idle"}) {
    ActuatorRow cable;
    cable.name = name;
    cable.range = {0, 1};
    robot.actuators.push_back(cable);
  }
  SnapshotSet set;
  for (const Sample& sample : {Sample{0.1, 0.9, 0.2}, {0.2, 0.3, 0.8}, {0.3, 0.7, 0.9}, {0.9, 0.1, 0.1}}) {
    set.commands.push_back(sample);
    set.source.push_back({0, 0});
  }
  EXPECT_EQ(where_out_of_reach(robot, set), "");
  set.out_of_reach = {{0.9, 0.9, 0.7}, {0.8, 0.8, 0.3}};
  EXPECT_EQ(where_out_of_reach(robot, set),
            "'a' 67 % in the far half of its range, 0 % in the near one; 'b' 50 % in the far half of its range, 0 % in "
            "the near one");
  // What took their place is no sample that was reached.
  set.commands.push_back({0.6, 0.6, 0.6});
  set.source.push_back({.path = 0, .sample = 0, .replaced = true});
  EXPECT_TRUE(where_out_of_reach(robot, set).starts_with("'a' 67 %"));
}

// Trajectories are steps from the released equilibrium; they join equilibria that are there already, which then are not computed again.
TEST_F(Snapshots, MotionsJoinTheEquilibria) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  (void)compute(folder);
  const std::vector<double> before = stored_q(folder, 1);
  const SamplingPlan equilibria = plan_;
  scene_.reduction.trajectories = 1;
  plan_ = make_plan(model_.robot, scene_.reduction);
  ASSERT_EQ(plan_.paths.size(), equilibria.paths.size() + 1);
  EXPECT_TRUE(plan_.paths.back().in_time);
  prepare(folder);
  EXPECT_EQ(missing(folder), std::vector<int>{static_cast<int>(equilibria.paths.size())});
  EXPECT_EQ(compute(folder).failed, 0);
  EXPECT_EQ(stored_q(folder, 1), before);
  const SnapshotSet set = read(folder);
  ASSERT_EQ(set.count, 20 + 80);
  EXPECT_TRUE(set.source.back().in_time);
  EXPECT_FALSE(set.source.front().in_time);
  FullMechanics mechanics(model_);
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = scene_.time_step});
  State state = rest_state(mechanics);
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(control_of(model_.robot, released_sample(model_.robot)), state).status,
            StepStatus::ok);
  for (const Sample& sample : plan_.paths.back().samples)
    ASSERT_EQ(stepper.step(control_of(model_.robot, sample), state).status, StepStatus::ok);
  EXPECT_TRUE(std::equal(state.q.begin(), state.q.end(), set.q.end() - static_cast<long>(state.q.size())));
  // Whoever asks for the equilibria alone finds them there.
  plan_ = equilibria;
  prepare(folder);
  EXPECT_TRUE(missing(folder).empty());
  EXPECT_EQ(read(folder).count, 20);
}

// Eight cables pull a tentacle: from the first state's equilibrium Newton's method does not come to the second one's in
// increments of 1/256, from rest it does in nine iterations.
TEST(SnapshotsOfATentacle, AStateThatContinuationMissesIsFoundFromRest) {
  const TemporaryFolder folder;
  const Scene scene = read_scene(SUPPLE_SOURCE_DIR "/assets/tentacle/scene.toml");
  const FullModel model = build_full_model(scene);
  SamplingPlan plan;
  plan.paths = {{{{2.97, 4.15, 4.09, 4.81, 0.45, 3.27, 2.52, 3.91}, {0.31, 5.63, 4.3, 4.27, 0.58, 3.06, 1.9, 3.51}}}};
  const SceneIdentity identity = identify(scene);
  prepare_snapshot_folder(folder / "set", identity, plan, ExistingFolder::resume);
  const SnapshotRun run = compute_paths(model, scene, identity, plan, folder / "set", {}, {});
  EXPECT_EQ(run.failed, 0);
  EXPECT_LT(run.factorisations, 60);  // measured: 162 for the second state without another start, and it failed
}

TEST_F(Snapshots, PathOfAnotherShapeIsAnError) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  (void)compute(folder);
  EXPECT_THROW(read_snapshots(folder, identity_, plan_, model_.coordinates.nv + 3, 2), InputError);
  EXPECT_THROW(read_snapshots(folder, identity_, plan_, model_.coordinates.nv, 1), InputError);
}

TEST_F(Snapshots, OneStepPerIncrementAsInThePaper) {
  SamplingPlan plan = plan_;
  plan.converged = false;
  const std::string folder = folder_ / "steps";
  prepare_snapshot_folder(folder, identity_, plan, ExistingFolder::resume);
  const SnapshotRun run = compute_paths(model_, scene_, identity_, plan, folder, {}, {});
  EXPECT_EQ(missing_paths(folder, identity_, plan_).size(), plan_.paths.size());  // other states
  EXPECT_EQ(run.states, 20);
  EXPECT_EQ(run.factorisations, 20);
}

TEST_F(Snapshots, IdentityIsWhatChangesStates) {
  const auto changed = [&](const auto& change) {
    Scene scene = scene_;
    change(scene);
    return identify(scene);
  };
  // The recipe after the states, and what the plan says itself.
  for (const SceneIdentity& same : {changed([](Scene& s) { s.reduction.pod_tolerance = 1e-2; }),
                                    changed([](Scene& s) { s.reduction.ecsw_tolerance = 0.1; }),
                                    changed([](Scene& s) { s.reduction.max_modes = 7; }),
                                    changed([](Scene& s) { s.reduction.ecsw_training = "rerun"; }),
                                    changed([](Scene& s) { s.reduction.states = 99; }),
                                    changed([](Scene& s) { s.reduction.goal_error_limit = 0.1; }),
                                    changed([](Scene& s) { s.file = "elsewhere"; })}) {
    EXPECT_EQ(same.scene, identity_.scene);
    EXPECT_EQ(same.mesh, identity_.mesh);
  }
  for (const SceneIdentity& other :
       {changed([](Scene& s) { s.bodies[0].materials[0].young *= 1.001; }),
        changed([](Scene& s) { s.bodies[0].materials[0].model = MaterialModel::mooney_rivlin; }),
        changed([](Scene& s) { s.gravity[2] = 0; }), changed([](Scene& s) { s.actuators[0].points[0][0] += 1e-3; }),
        changed([](Scene& s) { s.bodies[0].fixes.pop_back(); })})
    EXPECT_NE(other.scene, identity_.scene);
}

TEST_F(Snapshots, IdentityFollowsTheMeshNotItsFolder) {
  const TemporaryFolder elsewhere;
  fs::copy_file(folder_ / "bar.msh", elsewhere / "bar.msh");
  Scene scene = scene_;
  scene.bodies[0].mesh_file = elsewhere / "bar.msh";
  EXPECT_EQ(identify(scene).scene, identity_.scene);
  EXPECT_EQ(identify(scene).mesh, identity_.mesh);
  std::ofstream(elsewhere / "bar.msh", std::ios::app) << "\n";
  EXPECT_NE(identify(scene).mesh, identity_.mesh);
}

// All three sets through the pipeline's entry, with a shard that leaves the rest to others.
TEST_F(Snapshots, JobComputesAllSets) {
  SnapshotJob job;
  job.folder = folder_ / "job";
  job.shards = 2;
  (void)compute_snapshots(model_, scene_, job, {});
  EXPECT_FALSE(fs::exists(path_file(job.folder + "/training", 1)));
  job.shards = 1;
  SnapshotTotals totals = compute_snapshots(model_, scene_, job, {});
  EXPECT_EQ(totals.states, 20 + 10 + 6);
  EXPECT_EQ(totals.failed, 0);
  EXPECT_TRUE(fs::exists(path_file(job.folder + "/training", 2)));
  EXPECT_TRUE(fs::exists(path_file(job.folder + "/selection", 9)));
  EXPECT_TRUE(fs::exists(path_file(job.folder + "/test", 5)));
  job.existing = ExistingFolder::refuse;
  EXPECT_THROW((void)compute_snapshots(model_, scene_, job, {}), InputError);

  // Replaced as a whole or not at all: while its owner reads it, or another works on one set.
  job.existing = ExistingFolder::replace;
  EXPECT_THROW((void)compute_snapshots(model_, scene_, job, {}), InputError);
  totals.present.reset();
  {
    Claims other(job.folder + "/selection");
    ASSERT_TRUE(other.enter());
    EXPECT_THROW((void)compute_snapshots(model_, scene_, job, {}), InputError);
  }
  EXPECT_TRUE(fs::exists(path_file(job.folder + "/training", 2)));
  EXPECT_EQ(compute_snapshots(model_, scene_, job, {}).states, 20 + 10 + 6);
}

}  // namespace
}  // namespace supple

// Full-order states of a batch of robots against one after another.

#include <omp.h>

#include "engine/reduction/snapshots/state_batch.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/snapshot_bodies.hpp"

namespace supple {
namespace {

using snapshot_bodies::bytes;

class SnapshotBatch : public snapshot_bodies::SmallBar {
 protected:
  SnapshotRun in_batch(const std::string& folder, int robots, const Progress& progress = {}) const {
    return in_batch(folder, StateBatch{robots, cpu()}, progress);
  }
  SnapshotRun in_batch(const std::string& folder, const StateBatch& batch, const Progress& progress = {}) const {
    return compute_paths(model_, scene_, identity_, plan_, folder, {}, progress, batch);
  }
  std::string computed(const std::string& name, int robots) const {
    const std::string folder = folder_ / name;
    prepare(folder);
    (void)in_batch(folder, robots);
    return folder;
  }
  void expect_same_paths(const std::string& a, const std::string& b) const {
    for (int path = 0; path < static_cast<int>(plan_.paths.size()); ++path)
      EXPECT_EQ(bytes(path_file(a, path)), bytes(path_file(b, path))) << path;
  }
};

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

TEST_F(SnapshotBatch, IsTheStatesOneByOne) {
  const std::string alone = folder_ / "alone", together = folder_ / "together";
  prepare(alone);
  prepare(together);
  const SnapshotRun one = compute(alone), batch = in_batch(together, 3);
  EXPECT_EQ(batch.states, one.states);
  EXPECT_EQ(batch.failed, 0);
  EXPECT_EQ(batch.factorisations, one.factorisations);
  const SnapshotSet expected = read(alone), found = read(together);
  ASSERT_EQ(found.count, expected.count);
  EXPECT_EQ(found.commands, expected.commands);
  // Newton's method ends far below its tolerance, in the rounding of two factorisations.
  EXPECT_LT(boxes::difference(found.q, expected.q), 1e-9 * largest(expected.q));
  EXPECT_LT(boxes::difference(found.multipliers, expected.multipliers), 1e-8 * largest(expected.multipliers));
}

// Loads stay with their robots.
TEST_F(SnapshotBatch, OfPushedStatesIsThatOneByOne) {
  scene_.reduction.pushes = 1;
  model_ = build_full_model(scene_);
  plan_ = make_plan(model_.robot, scene_.reduction);
  const std::string alone = folder_ / "alone", together = computed("together", 3);
  prepare(alone);
  EXPECT_EQ(compute(alone).failed, 0);
  const SnapshotSet expected = read(alone), found = read(together);
  EXPECT_EQ(found.commands, expected.commands);
  EXPECT_LT(boxes::difference(found.q, expected.q), 1e-9 * largest(expected.q));
  expect_same_paths(together, computed("one", 1));
}

// As on a GPU: elements, too, are evaluated for all robots at a time.
TEST_F(SnapshotBatch, SharedElementsChangeNoBit) {
  const std::string own = computed("own", 3), shared = folder_ / "shared";
  prepare(shared);
  EXPECT_EQ(in_batch(shared, StateBatch{3, cpu(), true}).failed, 0);
  expect_same_paths(own, shared);
}

// Also with more robots than paths.
TEST_F(SnapshotBatch, BitsDependOnThePathAlone) {
  const std::string one = computed("one", 1);
  expect_same_paths(one, computed("two", 2));
  expect_same_paths(one, computed("many", 50));
  expect_same_paths(one, computed("auto", 0));
  const int threads = omp_get_max_threads();
  omp_set_num_threads(threads == 1 ? 3 : 1);
  expect_same_paths(one, computed("threads", 2));
  omp_set_num_threads(threads);
}

TEST_F(SnapshotBatch, ADivergingPathLeavesTheOthersAlone) {
  for (ActuatorRow& actuator : model_.robot.actuators) actuator.range = {-1e12, 1e12};
  const std::string good = computed("good", 3);
  for (Sample& sample : plan_.paths[1].samples)
    for (double& command : sample) command = 1e12;  // N, m: an equilibrium that nothing finds
  const std::string folder = folder_ / "bad";
  prepare(folder);
  const SnapshotRun run = in_batch(folder, 3);
  EXPECT_EQ(run.states, 20);
  EXPECT_GT(run.failed, 0);
  EXPECT_LE(run.failed, 8);
  for (const int path : {0, 2}) EXPECT_EQ(bytes(path_file(folder, path)), bytes(path_file(good, path)));
}

TEST_F(SnapshotBatch, AnInterruptedRunGoesOn) {
  const std::string whole = computed("whole", 2), folder = folder_ / "set";
  prepare(folder);
  double states = 0;
  Progress progress;
  progress.report = [&](const std::string&, double done, double total, const std::string& detail) {
    states = done;
    EXPECT_EQ(total, 20);
    EXPECT_TRUE(detail.find("/s") != std::string::npos);
  };
  progress.stop = [&] { return states >= 17; };
  EXPECT_THROW(in_batch(folder, 2, progress), Interrupted);
  const std::size_t left = missing(folder).size();
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, 3U);
  (void)in_batch(folder, 2);
  expect_same_paths(folder, whole);
}

TEST_F(SnapshotBatch, ABodyThatNothingHoldsIsSingularInEveryRobot) {
  Scene loose = scene_;
  loose.bodies[0].fixes.clear();
  loose.gravity = {};
  FullModel model = build_full_model(loose);
  model.robot.floating = false;  // its equilibria are sought as if it were held
  const std::string alone = folder_ / "alone", together = folder_ / "together";
  prepare(alone);
  prepare(together);
  const SnapshotRun one = compute_paths(model, loose, identity_, plan_, alone, {}, {});
  const SnapshotRun batch = compute_paths(model, loose, identity_, plan_, together, {}, {}, {3, cpu()});
  EXPECT_GT(one.failed, 0);
  EXPECT_EQ(batch.failed, one.failed);
}

// Compliance of the contacts by solutions, where one robot alone has it from its factor.
TEST_F(SnapshotBatch, IsTheStatesOneByOneInContact) {
  const std::string free = computed("free", 3);
  contact_bodies::place_among(model_, {contact_bodies::floor()});
  const std::string alone = folder_ / "alone";
  prepare(alone);
  const SnapshotRun one = compute(alone);
  const SnapshotSet expected = read(alone), found = read(computed("together", 3)), without = read(free);
  EXPECT_EQ(one.failed, 0);
  ASSERT_EQ(found.count, expected.count);
  EXPECT_GT(boxes::difference(expected.q, without.q), 0.01 * largest(expected.q));  // the floor matters
  // Contact forces end at 1e-9 of their size, about.
  EXPECT_LT(boxes::difference(found.q, expected.q), 1e-7 * largest(expected.q));
}

// The same folder on every device, with the same numbers as one by one but for rounding.
class SnapshotBatchOn : public SnapshotBatch, public testing::WithParamInterface<Device> {
 protected:
  void SetUp() override { test::need_device(GetParam()); }
  StateBatch batch(int robots) const { return {robots, GetParam(), true}; }
};
INSTANTIATE_TEST_SUITE_P(Devices, SnapshotBatchOn, test::every_device(), test::device_name);

TEST_P(SnapshotBatchOn, IsTheStatesOneByOne) {
  const std::string alone = folder_ / "alone";
  prepare(alone);
  const SnapshotRun one = compute(alone);
  const SnapshotSet expected = read(alone);
  for (const int robots : {0, 2}) {  // auto: all paths at a time
    const std::string together = folder_ / ("together" + std::to_string(robots));
    prepare(together);
    const SnapshotRun run = in_batch(together, batch(robots));
    EXPECT_EQ(run.failed, 0);
    EXPECT_EQ(run.factorisations, one.factorisations);
    const SnapshotSet found = read(together);
    ASSERT_EQ(found.count, expected.count);
    EXPECT_LT(boxes::difference(found.q, expected.q), 1e-9 * largest(expected.q));
    EXPECT_LT(boxes::difference(found.multipliers, expected.multipliers), 1e-8 * largest(expected.multipliers));
  }
  expect_same_paths(folder_ / "together0", folder_ / "together2");
}

TEST_P(SnapshotBatchOn, ADivergingPathLeavesTheOthersAlone) {
  for (ActuatorRow& actuator : model_.robot.actuators) actuator.range = {-1e12, 1e12};
  const std::string good = folder_ / "good", bad = folder_ / "bad";
  prepare(good);
  (void)in_batch(good, batch(3));
  for (Sample& sample : plan_.paths[1].samples)
    for (double& command : sample) command = 1e12;
  prepare(bad);
  const SnapshotRun run = in_batch(bad, batch(3));
  EXPECT_EQ(run.states, 20);
  EXPECT_GT(run.failed, 0);
  for (const int path : {0, 2}) EXPECT_EQ(bytes(path_file(bad, path)), bytes(path_file(good, path)));
}

TEST(SnapshotBatchSize, IsANumberOrAuto) {
  EXPECT_EQ(parse_batch("auto"), 0);
  EXPECT_EQ(parse_batch("12"), 12);
  for (const char* wrong : {"0", "-3", "many", "8x", "1.5", "99999999999", " 4"})
    EXPECT_THROW((void)parse_batch(wrong), InputError) << wrong;
}

class AssetInBatch : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Robots, AssetInBatch, testing::Values("diamond/scene.toml", "diamond/mooney_rivlin.toml"));

TEST_P(AssetInBatch, IsTheStatesOneByOne) {
  const reduced_bodies::TemporaryFolder folder;
  Scene scene = read_scene(std::string(SUPPLE_SOURCE_DIR "/assets/") + GetParam());
  scene.reduction.states = 3;
  scene.reduction.corners = false;
  const FullModel model = build_full_model(scene);
  const SceneIdentity identity = identify(scene);
  SamplingPlan plan = make_plan(model.robot, scene.reduction);
  std::vector<SamplePath> paths;  // of two states each
  for (const SamplePath& path : plan.paths)
    for (std::size_t k = 0; k < path.samples.size(); k += 2)
      paths.push_back({{path.samples.begin() + static_cast<long>(k),
                        path.samples.begin() + static_cast<long>(std::min(k + 2, path.samples.size()))}});
  plan.paths = paths;
  const auto states = [&](const std::string& name, const StateBatch& batch) {
    prepare_snapshot_folder(folder / name, identity, plan, ExistingFolder::resume);
    (void)compute_paths(model, scene, identity, plan, folder / name, {}, {}, batch);
    return read_snapshots(folder / name, identity, plan, model.coordinates.nv, model.robot.rows());
  };
  const SnapshotSet expected = states("alone", {}), found = states("together", {8, cpu()});
  ASSERT_GT(expected.count, 0);
  ASSERT_EQ(found.count, expected.count);
  EXPECT_LT(boxes::difference(found.q, expected.q), 1e-9 * largest(expected.q));
}

}  // namespace
}  // namespace supple

// Several runs in one folder of full-order states, some of which are killed or start over.

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "engine/reduction/snapshots/claims.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "tests/engine/bodies/snapshot_bodies.hpp"

namespace supple {
namespace {

namespace fs = std::filesystem;
using snapshot_bodies::bytes;

class SharedSnapshots : public snapshot_bodies::SmallBar {};

TEST_F(SharedSnapshots, PathsOfOthersAreLeftToThem) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  Claims other(folder);
  ASSERT_TRUE(other.claim(1));
  const SnapshotRun run =
      compute_paths(model_, scene_, identity_, plan_, folder, {.shard = 0, .shards = 1, .wait = false}, {});
  EXPECT_EQ(run.states, 12);
  EXPECT_EQ(run.left, 1);
  EXPECT_EQ(missing(folder), std::vector<int>{1});
}

// Another run is killed while this one waits for it.
TEST_F(SharedSnapshots, WhatOthersLeaveBehindIsTakenOver) {
  const std::string folder = folder_ / "set", whole = folder_ / "whole";
  prepare(whole);
  (void)compute(whole);
  prepare(folder);
  std::optional<Claims> other(folder);
  ASSERT_TRUE(other->claim(1));
  Progress progress;
  int waited = 0;
  progress.stop = [&] {
    if (missing(folder) == std::vector<int>{1} && ++waited == 2) other.reset();
    return false;
  };
  const SnapshotRun run = compute(folder, 0, 1, progress);
  EXPECT_EQ(run.states, 20);
  EXPECT_EQ(run.left, 0);
  EXPECT_GE(waited, 2);
  for (int path = 0; path < 3; ++path) EXPECT_EQ(bytes(path_file(folder, path)), bytes(path_file(whole, path)));
}

TEST_F(SharedSnapshots, AFolderInUseIsNotReplaced) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  (void)compute(folder);
  {
    Claims other(folder);
    ASSERT_TRUE(other.enter());
    EXPECT_THROW(prepare(folder, ExistingFolder::replace), InputError);
    EXPECT_NO_THROW(prepare(folder, ExistingFolder::resume));
    EXPECT_TRUE(missing(folder).empty());
  }
  prepare(folder, ExistingFolder::replace);
  EXPECT_EQ(missing(folder).size(), 3U);
}

TEST_F(SharedSnapshots, ARunWhosePlanIsGoneStops) {
  const std::string folder = folder_ / "set";
  prepare(folder);
  SceneIdentity other = identity_;
  ++other.mesh;
  prepare_snapshot_folder(folder, other, plan_, ExistingFolder::replace);
  EXPECT_THROW((void)compute(folder), InputError);
  EXPECT_FALSE(fs::exists(path_file(folder, 0)));
}

TEST_F(SharedSnapshots, AFormatOfAnotherVersionIsNamed) {
  const std::string folder = folder_ / "set", file = folder + "/plan.json";
  prepare(folder);
  std::string text = bytes(file);
  text.replace(text.find("snapshots 2"), 11, "snapshots 7");
  std::ofstream(file) << text;
  try {
    prepare(folder);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("supple snapshots 7"), std::string::npos) << error.what();
  }
}

// Tasks that start at the same moment in a folder that is not there yet.
TEST_F(SharedSnapshots, ManyMakeTheSameFolder) {
  for (int round = 0; round < 20; ++round) {
    const std::string folder = folder_ / ("set" + std::to_string(round));
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back([&] {
        try {
          prepare(folder);
        } catch (const Error& error) {
          ++failed;
          ADD_FAILURE() << error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(failed, 0);
    EXPECT_EQ(missing(folder).size(), 3U);
  }
}

}  // namespace
}  // namespace supple

#pragma once
// A small bar and a plan of its states.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/io/hdf5_file.hpp"
#include "engine/reduction/pipeline.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::snapshot_bodies {

inline const boxes::Law corotational{"corotational", MaterialModel::corotational};

// Twenty states in paths of eight, eight and four, of a small bar.
class SmallBar : public testing::Test {
 public:
  SmallBar()
      : scene_(reduced_bodies::saved_bar(folder_, corotational, false)),
        model_(build_full_model(scene_)),
        identity_(identify(scene_)) {
    scene_.reduction.states = 20;
    scene_.reduction.corners = false;
    identity_ = identify(scene_);
    plan_ = make_plan(model_.robot, scene_.reduction);
  }
  SnapshotRun compute(const std::string& folder, int shard = 0, int shards = 1, const Progress& progress = {}) const {
    return compute_paths(model_, scene_, identity_, plan_, folder, {shard, shards}, progress);
  }
  SnapshotSet read(const std::string& folder) const {
    return read_snapshots(folder, identity_, plan_, model_.coordinates.nv, model_.robot.rows());
  }
  void prepare(const std::string& folder, ExistingFolder existing = ExistingFolder::resume) const {
    prepare_snapshot_folder(folder, identity_, plan_, existing);
  }
  std::vector<int> missing(const std::string& folder) const { return missing_paths(folder, identity_, plan_); }
  std::vector<double> stored_q(const std::string& folder, int path) const {
    return Hdf5File(path_file(folder, path), Hdf5File::Mode::read).read_doubles("/q");
  }

 protected:
  reduced_bodies::TemporaryFolder folder_;
  Scene scene_;
  FullModel model_;
  SceneIdentity identity_;
  SamplingPlan plan_;
};

inline std::string bytes(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace supple::snapshot_bodies

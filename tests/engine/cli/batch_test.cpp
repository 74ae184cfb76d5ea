// --batch of the verbs that compute full-order states.
#include <nlohmann/json.hpp>

#include "engine/io/hdf5_file.hpp"
#include "kernels/array/device.hpp"
#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class StatesInBatch : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    std::ofstream(path("scene.toml"), std::ios::app)
        << "[reduce]\nstates = 60\nvalidation_states = 6\nmodes_tolerance = 1e-3\n";
  }
  void expect_same_paths(const std::string& a, const std::string& b) const {
    int paths = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path(a + "/training"))) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("path_")) continue;
      ++paths;
      EXPECT_TRUE(read_text(path(a + "/training/" + name)) == read_text(path(b + "/training/" + name))) << name;
    }
    EXPECT_GT(paths, 1);
  }
};

TEST_F(StatesInBatch, AreTheSameInEveryWayToShareThem) {
  Outcome outcome = run({"snapshots", ".", "-o", "one", "--batch", "3", "--device", "cpu", "--json", "one.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(read_text(path("one.json")));
  EXPECT_EQ(report["batch"], "3");
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["failed"], 0);
  outcome = run({"snapshots", ".", "-o", "jobs", "--batch", "auto", "--jobs", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* shard : {"1/2", "0/2"})
    ASSERT_EQ(run({"snapshots", ".", "-o", "shards", "--batch", "8", "--resume", "--shard", shard}).code, 0);
  expect_same_paths("one", "jobs");
  expect_same_paths("one", "shards");
}

TEST_F(StatesInBatch, GoOnAfterAKill) {
  ASSERT_EQ(run({"snapshots", ".", "-o", "whole", "--batch", "2"}).code, 0);
  const pid_t child = start({"snapshots", ".", "-o", "killed", "--batch", "2"});
  EXPECT_TRUE(wait_until([&] { return exists("killed/training/path_0001.h5"); }));
  kill(child, SIGKILL);
  (void)finish(child);
  const Outcome outcome = run({"snapshots", ".", "-o", "killed", "--resume", "--batch", "8"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_same_paths("whole", "killed");
}

TEST_F(StatesInBatch, MakeAModel) {
  const Outcome outcome =
      run({"reduce", ".", "-o", "beam.rom.h5", "--batch", "8", "--seconds", "20 ms", "--json", "report.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(run({"run", "beam.rom.h5", "--set", "bend=5 mm", "--steps", "3"}).code, 0);
}

TEST_F(StatesInBatch, WrongOptions) {
  for (const char* verb : {"snapshots", "reduce"})
    for (const char* batch : {"0", "-1", "few", "2.5"}) {
      const Outcome outcome = run({verb, ".", "-o", "s.rom.h5", std::string("--batch=") + batch});
      EXPECT_EQ(outcome.code, 2) << verb << batch;
      EXPECT_TRUE(contains(outcome.err, "--batch")) << outcome.err;
      EXPECT_FALSE(exists("s.rom.h5"));
    }
  // No GPU is an error, and a GPU alone computes nothing one by one.
  EXPECT_EQ(run({"snapshots", ".", "-o", "s", "--device", "cuda:0"}).code, 3);
  if (cuda_device_count() == 0) {
    EXPECT_EQ(run({"snapshots", ".", "-o", "s", "--device", "cuda:0", "--batch", "8"}).code, 3);
  }
  // More robots than there are paths are as many as there are paths.
  EXPECT_EQ(run({"snapshots", ".", "-o", "s", "--batch", "2000000000"}).code, 0);
}

// Another solver finds the same states but for rounding, in workers too.
TEST_F(StatesInBatch, SolversOfStatesOneByOne) {
  ASSERT_EQ(run({"snapshots", ".", "-o", "eigen", "--solver", "eigen"}).code, 0);
  const Outcome jobs = run({"snapshots", ".", "-o", "jobs", "--solver", "eigen", "--jobs", "2"});
  ASSERT_EQ(jobs.code, 0) << jobs.err;
  expect_same_paths("eigen", "jobs");
  ASSERT_EQ(run({"snapshots", ".", "-o", "auto"}).code, 0);
  int differ = 0;
  for (const char* name : {"/training/path_0000.h5", "/training/path_0001.h5"}) {
    const std::vector<double> q = Hdf5File(path(std::string("auto") + name), Hdf5File::Mode::read).read_doubles("q"),
                              p = Hdf5File(path(std::string("eigen") + name), Hdf5File::Mode::read).read_doubles("q");
    ASSERT_EQ(q.size(), p.size());
    double largest = 0, error = 0;
    for (std::size_t k = 0; k < q.size(); ++k) {
      largest = std::max(largest, std::abs(q[k]));
      error = std::max(error, std::abs(q[k] - p[k]));
    }
    EXPECT_LT(error, 1e-9 * largest);  // residuals of 1e-9 are asked for
    differ += q != p;
  }
  EXPECT_GT(differ, 0) << "--solver changed nothing";
  for (const char* verb : {"snapshots", "reduce"}) {
    Outcome outcome = run({verb, ".", "-o", "s.rom.h5", "--solver", "pardiso"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(
        contains(outcome.err, "unknown sparse solver 'pardiso' (there are auto, cholesky, mumps, eigen and cudss)"))
        << outcome.err;
    outcome = run({verb, ".", "-o", "s.rom.h5", "--solver", "eigen", "--batch", "2"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(contains(outcome.err, "--solver and --batch do not go together")) << outcome.err;
  }
  // Not built in, or built in and no GPU.
  if (cuda_device_count() == 0) {
    const Outcome outcome = run({"snapshots", ".", "-o", "s", "--solver", "cudss"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_TRUE(contains(outcome.err, "'cudss' (")) << outcome.err;
  }
}

}  // namespace
}  // namespace supple::test

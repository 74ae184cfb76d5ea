// The main job on robots of assets/, as a user does it: errors within the bars, the same bits for any number of jobs,
// and nothing lost but the path in flight when it is killed.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple::test {
namespace {

class LongReduce : public Cli {
 protected:
  static std::string asset(const std::string& name) {
    return std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets" / name;
  }
  std::vector<std::string> paths(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder), error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("path_") && name.ends_with(".h5")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(LongReduce, CoarseDiamondMeetsItsErrors) {
  const Outcome outcome =
      run({"reduce", asset("diamond"), "-o", "d.rom.h5", "--jobs", "2", "--json", "d.json", "--plots", "plots"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(read_text(path("d.json")));
  EXPECT_LE(report["validation"]["goal_error_mean"].get<double>(), 0.008);
  EXPECT_LE(report["validation"]["shape_error_mean"].get<double>(), 0.010);
  EXPECT_GE(report["validation"]["states"].get<int>(), 30);
  EXPECT_EQ(report["validation"]["failed"].get<int>(), 0);
  EXPECT_LE(report["modes"].get<int>(), 34);
  for (const auto& [name, field] : report["rid"].items()) EXPECT_LE(field["elements"].get<int>(), 150) << name;
  for (const char* file : {"pod.csv", "elements.csv", "rate.csv"})
    EXPECT_TRUE(exists(std::string("plots/") + file)) << file;
}

TEST_F(LongReduce, SlidingTentacleIsAsGoodAsTheHeldOne) {
  const Outcome outcome = run({"reduce", asset("tentacle/sliding.toml"), "-o", "t.rom.h5", "--jobs", "2", "--seconds",
                               "100 ms", "--json", "t.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto validation = nlohmann::json::parse(read_text(path("t.json")))["validation"];
  // With 272 states and 27 modes 3.3, 3.0 and, moving, 2.2 % were measured, with a base that stays 3.4, 3.2 and 3.1 %;
  // the recipe of the tentacle has more of both now.
  EXPECT_LE(validation["goal_error_mean"].get<double>(), 0.04);
  EXPECT_LE(validation["shape_error_mean"].get<double>(), 0.04);
  EXPECT_LE(validation["dynamic_goal_error_mean"].get<double>(), 0.04);
  EXPECT_EQ(validation["failed"].get<int>(), 0);
}

TEST_F(LongReduce, JobsDoNotChangeABitOfTheFinger) {
  for (const std::string jobs : {"1", "2"}) {
    const Outcome outcome =
        run({"reduce", asset("finger"), "-o", "f" + jobs + ".rom.h5", "--jobs", jobs, "--seconds", "100 ms"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  EXPECT_EQ(read_text(path("f1.rom.h5")), read_text(path("f2.rom.h5")));
}

TEST_F(LongReduce, KilledSnapshotsLoseOnlyThePathInFlight) {
  const pid_t child = start({"snapshots", asset("finger"), "-o", "killed"});
  // Kill without warning as soon as two paths are there.
  EXPECT_TRUE(wait_until([&] { return paths("killed/training").size() >= 2; }));
  kill(child, SIGKILL);
  (void)finish(child);
  const std::vector<std::string> kept = paths("killed/training");
  ASSERT_GE(kept.size(), 2u);
  std::vector<std::string> before;
  for (const std::string& name : kept) before.push_back(read_text(path("killed/training/" + name)));

  Outcome outcome = run({"snapshots", asset("finger"), "-o", "killed", "--resume"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  outcome = run({"snapshots", asset("finger"), "-o", "whole"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (std::size_t k = 0; k < kept.size(); ++k) EXPECT_EQ(before[k], read_text(path("killed/training/" + kept[k])));
  const std::vector<std::string> all = paths("whole/training");
  EXPECT_EQ(all, paths("killed/training"));
  for (const std::string& name : all)
    EXPECT_EQ(read_text(path("whole/training/" + name)), read_text(path("killed/training/" + name))) << name;
}

}  // namespace
}  // namespace supple::test

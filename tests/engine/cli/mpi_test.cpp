// supple-mpi: the folder of the single process, byte for byte; a killed rank; modes and model of the single process.
// Skipped where there is no MPI.
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "engine/reduction/snapshots/claims.hpp"
#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class MpiRanks : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_text(path("scene.toml"), read_text(path("scene.toml")) + "[reduce]\nstates = 24\nvalidation_states = 6\n");
    if (!fs::exists(program())) GTEST_SKIP() << "built without MPI";
    if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
    // More ranks than processors, also for root, in the words of Open MPI.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"})
      setenv(name, "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    // hwloc asks X servers for graphics cards, and dies with one that another test ends.
    setenv("HWLOC_COMPONENTS", "-gl", 1);
    // Jobs of one user share a folder otherwise, which one that ends removes while another begins.
    setenv("OMPI_MCA_orte_tmpdir_base", folder_.c_str(), 1);
  }
  static fs::path program() { return test::program_under_test().parent_path() / "supple-mpi"; }

  pid_t start_ranks(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"-n", "2", program().string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return start("mpirun", words);
  }
  Outcome run_ranks(const std::vector<std::string>& arguments) { return finish(start_ranks(arguments)); }

  void expect_same_files(const std::string& a, const std::string& b) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path(a))) {
      if (!entry.is_regular_file()) continue;
      const std::string name = fs::relative(entry.path(), path(a)).string();
      EXPECT_EQ(read_text(path(a + "/" + name)), read_text(path(b + "/" + name))) << name;
      ++files;
    }
    EXPECT_GT(files, 4);
  }

  // Ranks that `process` has started.
  static std::vector<pid_t> ranks_of(pid_t process) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string number = entry.path().filename().string();
      if (number.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string stat = read_text(entry.path() / "stat");
      const auto end = stat.rfind(')');
      if (end == std::string::npos || stat.find("(supple-mpi)") == std::string::npos) continue;
      char state = 0;
      pid_t parent = 0;
      std::istringstream(stat.substr(end + 1)) >> state >> parent;
      if (parent == process) found.push_back(std::stoi(number));
    }
    return found;
  }
};

TEST_F(MpiRanks, WriteTheFolderOfASingleProcess) {
  ASSERT_EQ(run({"snapshots", ".", "-o", "one"}).code, 0);
  const Outcome outcome = run_ranks({"snapshots", ".", "-o", "two", "--json", "two.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_same_files("one", "two");
  EXPECT_EQ(json::parse(read_text(path("two.json")))["ranks"], 2);
  EXPECT_NE(outcome.out.find("states in 'two'"), std::string::npos);
  EXPECT_EQ(outcome.out.find("states in 'two'"), outcome.out.rfind("states in 'two'")) << "only one rank speaks";
}

TEST_F(MpiRanks, WhatAKilledRankLeavesIsGoneOnWith) {
  // A shard without paths makes the plan; the job cannot be over while the last path is somebody else's.
  ASSERT_EQ(run({"snapshots", ".", "-o", "two", "--shard", "9/10"}).code, 0);
  std::optional<Claims> other(path("two/training"));
  ASSERT_TRUE(other->claim(2));
  const pid_t job = start_ranks({"snapshots", ".", "-o", "two", "--resume"});
  std::vector<pid_t> ranks;
  ASSERT_TRUE(wait_until([&] {
    ranks = ranks_of(job);
    return ranks.size() == 2 && exists("two/training/path_0000.h5");
  })) << ranks.size()
      << " ranks\n"
      << read_text(path("out")) << read_text(path("err"));
  kill(ranks.back(), SIGKILL);
  EXPECT_NE(finish(job).code, 0);
  EXPECT_FALSE(exists("two/training/path_0002.h5"));
  other.reset();
  const Outcome rest = run_ranks({"snapshots", ".", "-o", "two", "--resume"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  ASSERT_EQ(run({"snapshots", ".", "-o", "one"}).code, 0);
  expect_same_files("one", "two");
}

TEST_F(MpiRanks, MakeTheModelOfASingleProcess) {
  const std::vector<std::string> options{"--snapshots", "states", "--seconds", "20 ms"};
  std::vector<std::string> one{"reduce", ".", "-o", "one.rom.h5", "--json", "one.json"},
      two{"reduce", ".", "-o", "two.rom.h5", "--json", "two.json"};
  one.insert(one.end(), options.begin(), options.end());
  two.insert(two.end(), options.begin(), options.end());
  Outcome outcome = run_ranks(two);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  outcome = run(one);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json a = json::parse(read_text(path("one.json"))), b = json::parse(read_text(path("two.json")));
  ASSERT_EQ(a["modes"], b["modes"]);
  for (std::size_t k = 0; k < a["modes"].get<std::size_t>(); ++k)
    EXPECT_NEAR(b["singular_values"][k].get<double>() / a["singular_values"][k].get<double>(), 1, 1e-10) << k;
  EXPECT_EQ(a["rid"]["corotational-hexahedra"]["elements"], b["rid"]["corotational-hexahedra"]["elements"]);
  for (const char* error : {"goal_error_mean", "shape_error_mean"})
    EXPECT_NEAR(a["validation"][error].get<double>(), b["validation"][error].get<double>(), 1e-8) << error;
}

TEST_F(MpiRanks, SayWhatIsWrongOnce) {
  // Every rank finds it.
  const Outcome outcome = run_ranks({"snapshots", ".", "-o", "two", "--shard", "0/2"});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  const auto first = outcome.err.find("error: ");
  EXPECT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("error: ", first + 1), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists("two"));
  // The first finds it.
  ASSERT_EQ(run({"snapshots", ".", "-o", "two"}).code, 0);
  const Outcome again = run_ranks({"snapshots", ".", "-o", "two"});
  EXPECT_EQ(again.code, 2) << again.err;
  EXPECT_TRUE(contains(again.err, "already holds snapshots"));
}

}  // namespace
}  // namespace supple::test

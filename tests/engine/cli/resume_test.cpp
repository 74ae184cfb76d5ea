// Ctrl-C and going on: the bits are those of a run that was never interrupted.
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Resume : public Cli {
 protected:
  std::string hash_of(const std::string& report) {
    return json::parse(read_text(path(report)))["state_hash"].get<std::string>();
  }

  // Starts a run and interrupts it when `file` has appeared.
  Outcome interrupt(const std::vector<std::string>& arguments, const std::string& file, int signal) {
    const pid_t child = start(arguments);
    EXPECT_TRUE(wait_until([&] { return exists(file); }));
    kill(child, signal);
    return finish(child);
  }

  const std::vector<std::string> long_run{"simulate", ".",    "--actuation", "commands.csv",
                                          "--steps",  "2000", "--threads",   "1"};
  void SetUp() override {
    Cli::SetUp();
    write_text(path("commands.csv"), "time [s],lift [N],bend [mm]\n0,0,0\n3,2,5\n9,0,15\n20,1,0\n");
  }
  std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) const {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(Resume, AnInterruptedRunEndsInTheSameState) {
  ASSERT_EQ(run(with(long_run, {"--json", "whole.json", "-o", "whole", "--every", "500"})).code, 0);
  const Outcome stopped = interrupt(with(long_run, {"-o", "r", "--every", "100"}), "r/step_000100.vtu", SIGINT);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "supple simulate --resume r"));
  ASSERT_TRUE(exists("r/state.h5"));

  const Outcome outcome = run({"simulate", "--resume", "r", "--json", "rest.json", "--threads", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(hash_of("rest.json"), hash_of("whole.json"));
  EXPECT_EQ(read_text(path("r/trajectory.csv")), read_text(path("whole/trajectory.csv")));
  const std::string shapes = read_text(path("r/result.pvd"));
  EXPECT_TRUE(contains(shapes, "step_000100.vtu"));
  EXPECT_TRUE(contains(shapes, "step_002000.vtu"));
}

TEST_F(Resume, WhatTheTrajectoryHasBeyondTheStateIsCut) {
  const std::vector<std::string> begin{"simulate", ".", "--set", "bend=3 mm", "--steps"};
  ASSERT_EQ(run(with(begin, {"12", "-o", "whole"})).code, 0);
  ASSERT_EQ(run(with(begin, {"5", "-o", "r"})).code, 0);
  // As left by a machine that goes down between the trajectory and the state.
  write_text(path("r/trajectory.csv"), read_text(path("r/trajectory.csv")) + "0.06,1,2,3,4,5,6,7\n0.07,0.");
  ASSERT_EQ(run({"simulate", "--resume", "r", "--steps", "12"}).code, 0);
  EXPECT_EQ(read_text(path("r/trajectory.csv")), read_text(path("whole/trajectory.csv")));
  // Shorter than the state is old, it is no trajectory of this run.
  const std::string text = read_text(path("r/trajectory.csv"));
  write_text(path("r/trajectory.csv"), text.substr(0, text.size() - 3));
  const Outcome outcome = run({"simulate", "--resume", "r", "--steps", "15"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "the trajectory ends before step 12"));
}

// Also when the terminal is gone.
TEST_F(Resume, WithoutAFolderTheStateIsSavedToo) {
  const auto before = std::signal(SIGHUP, SIG_DFL);  // a test under nohup ignores it, and so would the program
  for (const auto& [signal, folder] : {std::pair(SIGTERM, "beam-interrupted"), {SIGHUP, "beam-interrupted-2"}}) {
    const pid_t child = start({"simulate", ".", "--steps", "1000000", "--threads", "1"});
    EXPECT_TRUE(wait_until([&] { return handles(child, SIGHUP); }));  // the last that the program sets
    kill(child, signal);
    const Outcome stopped = finish(child);
    ASSERT_EQ(stopped.code, 130) << stopped.err;
    EXPECT_TRUE(contains(stopped.err, std::string("supple simulate --resume ") + folder + " "));
    EXPECT_TRUE(exists(std::string(folder) + "/state.h5"));
  }
  std::signal(SIGHUP, before);
}

// The matrix is ordered in the first step by METIS, which sets a handler of SIGTERM for its own errors meanwhile.
TEST_F(Resume, ATerminationDuringTheFirstStepIsAStop) {
  for (int k = 0; k < 8; ++k) {
    const pid_t child = start({"simulate", ".", "--steps", "1000000", "--threads", "2"});
    EXPECT_TRUE(wait_until([&] { return handles(child, SIGINT); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(k));
    kill(child, SIGTERM);
    const Outcome outcome = finish(child);
    ASSERT_EQ(outcome.code, 130) << k << " ms: " << outcome.err;
  }
}

TEST_F(Resume, ATerminationWithoutLongWorkEndsTheProgram) {
  // 50,000 elements: a second of work that does not look for signals.
  const pid_t child = start({"check", std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets/multigait/fine.toml"});
  EXPECT_TRUE(wait_until([&] { return in_signal_mask(child, "SigBlk", SIGTERM); }));
  kill(child, SIGTERM);
  EXPECT_EQ(finish(child).code, -SIGTERM);
}

TEST_F(Resume, NohupHoldsTheHangUpBack) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const pid_t child = start({"simulate", ".", "--steps", "1000000", "--threads", "1"});
  std::signal(SIGHUP, before);
  EXPECT_TRUE(wait_until([&] { return handles(child, SIGINT); }));
  EXPECT_FALSE(handles(child, SIGHUP));
  kill(child, SIGTERM);
  const Outcome outcome = finish(child);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
}

TEST_F(Resume, ARunCanBeMadeLonger) {
  ASSERT_EQ(run({"simulate", ".", "--set", "bend=3 mm", "--steps", "12", "--json", "whole.json"}).code, 0);
  ASSERT_EQ(run({"simulate", ".", "--set", "bend=3 mm", "--steps", "5", "-o", "r"}).code, 0);
  const Outcome done = run({"simulate", "--resume", "r"});
  EXPECT_EQ(done.code, 2);
  EXPECT_TRUE(contains(done.err, "at step 5 of 5 already"));
  ASSERT_EQ(run({"simulate", "--resume", "r", "--steps", "12", "--json", "rest.json"}).code, 0);
  EXPECT_EQ(hash_of("rest.json"), hash_of("whole.json"));
}

TEST_F(Resume, AChangedSceneIsRefused) {
  ASSERT_EQ(run({"simulate", ".", "--steps", "3", "-o", "r"}).code, 0);
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("500 kPa"), 7, "501 kPa");
  write_text(path("scene.toml"), text);
  const Outcome outcome = run({"simulate", "--resume", "r", "--steps", "9"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "changed since"));
}

TEST_F(Resume, ADamagedStateIsRefused) {
  ASSERT_EQ(run({"simulate", ".", "--steps", "3", "-o", "r"}).code, 0);
  const std::string bytes = read_text(path("r/state.h5"));
  write_text(path("r/state.h5"), bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(run({"simulate", "--resume", "r", "--steps", "9"}).code, 2);
  write_text(path("r/state.h5"), "no HDF5");
  EXPECT_EQ(run({"simulate", "--resume", "r", "--steps", "9"}).code, 2);
  EXPECT_EQ(run({"simulate", "--resume", "nowhere"}).code, 2);
}

}  // namespace
}  // namespace supple::test

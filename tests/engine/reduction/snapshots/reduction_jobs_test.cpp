// Worker processes: their logs, their errors, and that none outlives the program that started it.

#include "engine/reduction/snapshots/jobs.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/base/error.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

namespace fs = std::filesystem;

class Jobs : public testing::Test {
 protected:
  // Two shells with the same script; $0 is the number of the worker.
  void run(const std::string& script, const Progress& progress = {}) const {
    run_workers(
        {"/bin/sh"}, 2, folder_ / ".",
        [&](int k) {
          return std::vector<std::string>{"-c", script, std::to_string(k)};
        },
        "test", 1, [] { return 0.0; }, progress);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_ / ".")) found.push_back(entry.path());
    return found;
  }
  reduced_bodies::TemporaryFolder folder_;
};

TEST_F(Jobs, LeaveNoLogWhenAllIsWell) {
  run("echo something");
  EXPECT_TRUE(files().empty());
}

TEST_F(Jobs, AFailureNamesItsLog) {
  try {
    run("echo wrong in $0 >&2; exit $0");
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("wrong in 1"), std::string::npos) << error.what();
    ASSERT_EQ(files().size(), 1U);
    EXPECT_NE(error.suggestion().find(files()[0].filename().string()), std::string::npos) << error.suggestion();
    EXPECT_EQ(fs::status(files()[0]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST_F(Jobs, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW(run_workers(
                   {"/nowhere/supple"}, 2, folder_ / ".", [](int) { return std::vector<std::string>(); }, "test", 1,
                   [] { return 0.0; }, {}),
               RunError);
}

TEST_F(Jobs, AStopRequestIsPassedOn) {
  Progress progress;
  progress.stop = [] { return true; };
  EXPECT_THROW(run("trap 'exit 130' INT; while :; do sleep 0.05; done", progress), Interrupted);
  EXPECT_TRUE(files().empty());
}

TEST_F(Jobs, DieWithTheirParent) {
  // Orphans become children of this process, so that their end is seen here.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    run("echo $$ > '" + (folder_ / "pid-") + "'$0; exec sleep 60");
    _exit(0);
  }
  const auto wait_for = [](const auto& holds) {
    for (int i = 0; i < 1000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return holds();
  };
  std::vector<pid_t> workers(2, 0);
  EXPECT_TRUE(wait_for([&] {
    for (std::size_t k = 0; k < 2; ++k) std::ifstream(folder_ / ("pid-" + std::to_string(k))) >> workers[k];
    return workers[0] > 0 && workers[1] > 0;
  }));
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  for (const pid_t worker : workers) {
    if (worker <= 0) continue;
    int status = 0;
    EXPECT_TRUE(wait_for([&] { return waitpid(worker, &status, WNOHANG) == worker || kill(worker, 0) != 0; }));
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace supple

// --record: what becomes of a run and of its recording.
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/io/recording.hpp"
#include "engine/io/saved_run.hpp"
#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

class Record : public Cli {
 protected:
  // What the program may write to a file: to it the disk is full beyond.
  Outcome run_within(rlim_t bytes, const std::vector<std::string>& arguments) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const pid_t child = start(arguments);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    return finish(child);
  }
};

// A frame of the beam has a kilobyte or two, a block a megabyte, and 4 MiB are kept free: the second block has no room.
constexpr rlim_t one_block = 5'800'000;

TEST_F(Record, AFullDiskTakesNeitherTheRunNorWhatWasRecorded) {
  const std::vector<std::string> words{"simulate", ".",         "--set", "bend=3 mm", "--steps",
                                       "2000",     "--threads", "1",     "-o"};
  std::vector<std::string> recorded = words, alone = words;
  recorded.insert(recorded.end(), {"r", "--record", "a.rec.h5"});
  alone.emplace_back("s");
  const Outcome outcome = run_within(one_block, recorded);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "note: nothing more is recorded"));
  EXPECT_TRUE(contains(outcome.err, "the run itself is complete, in 'r'"));
  const long frames = RecordingReader(path("a.rec.h5")).frames();
  EXPECT_TRUE(contains(outcome.err, "ends after its first " + std::to_string(frames) + " frames"));
  EXPECT_GT(frames, 100);
  EXPECT_LT(frames, 2000);
  ASSERT_EQ(run(alone).code, 0);
  EXPECT_EQ(read_text(path("r/trajectory.csv")), read_text(path("s/trajectory.csv")));
  EXPECT_EQ(hash(read_state(path("r/state.h5")).state), hash(read_state(path("s/state.h5")).state));
}

TEST_F(Record, AFullDiskLeavesTheCommandsThatWereFound) {
  const Outcome outcome = run_within(one_block, {"inverse", "scene.toml", "--circle", "1 mm", "--steps", "1500", "-o",
                                                 "r", "--record", "a.rec.h5", "--json", "a.json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "the run itself is complete"));
  EXPECT_EQ(nlohmann::json::parse(read_text(path("a.json")))["steps"], 1500);
  EXPECT_TRUE(exists("r/commands.csv"));
  EXPECT_GT(RecordingReader(path("a.rec.h5")).frames(), 100);
}

// Results that cannot be written, here a shape in whose place a folder stands, end the run; the rest is kept.
TEST_F(Record, OtherFilesThatFailLeaveTheRecordingAndTheState) {
  std::filesystem::create_directories(path("r/step_000050.vtu/in the way"));
  const Outcome outcome =
      run({"simulate", ".", "--steps", "100", "--every", "50", "-o", "r", "--force", "--record", "a.rec.h5"});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "step_000050.vtu"));
  EXPECT_EQ(read_state(path("r/state.h5")).step, 50);
  EXPECT_EQ(RecordingReader(path("a.rec.h5")).frames(), 51);
}

}  // namespace
}  // namespace supple::test

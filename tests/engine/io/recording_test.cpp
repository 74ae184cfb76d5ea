// Recordings come back frame by frame, from files of many blocks, and no flipped bit goes unnoticed.

#include "engine/io/recording.hpp"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>

#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"
#include "tests/engine/bodies/flipped_bits.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

RecordedFrame frame_of(int k, std::size_t unknowns) {
  RecordedFrame frame;
  frame.step = 3 + k;
  frame.inverse = k % 2 == 0;
  frame.held = k % 3 == 0;
  frame.saturated = k % 4;
  frame.step_seconds = 1e-3 * k;
  frame.qp_seconds = 1e-5 * k;
  frame.state.time = frame.other.time = 0.01 * k;
  for (std::size_t i = 0; i < unknowns; ++i) frame.state.q.push_back(std::sin(k + 0.1 * static_cast<double>(i)));
  frame.state.v = frame.state.q;
  frame.state.multipliers = {1.0 * k, 2};
  frame.state.commands = {0.001 * k, 0};
  frame.other.q = {0.5 * k};
  frame.other.contact_forces = {0, 0, 0.25 * k};
  // 0, 1, 2, 0 ... contacts between bodies.
  frame.state.surface_forces.resize(1);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(k % 3); ++i)
    frame.state.surface_forces[0].push_back({7 + i, 0x80000003u, {0.1 * k, -0.2, 1.0 * i}});
  frame.goals = {0.1, 0.2, 0.3 * k};
  frame.steered = {k % 2 == 0 ? 1.0 : 0.0};
  frame.sensors = {0.5 * k, -1};
  frame.pull = {k % 3 - 1.0, 0.2, 0.3, 0.5, 1, 2, 3, 0.1 * k};
  return frame;
}

bool same(const RecordedFrame& a, const RecordedFrame& b) {
  return a.step == b.step && a.inverse == b.inverse && a.held == b.held && a.saturated == b.saturated &&
         a.step_seconds == b.step_seconds && a.qp_seconds == b.qp_seconds && hash(a.state) == hash(b.state) &&
         hash(a.other) == hash(b.other) && a.state.surface_forces == b.state.surface_forces && a.goals == b.goals &&
         a.steered == b.steered && a.pull == b.pull && a.sensors == b.sensors;
}

class Recordings : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(folder_ / "robot.toml") << "name = \"robot\"\n"; }
  RecordingFacts facts() const {
    return {{folder_ / "robot.toml", 0xfedcba9876543210u}, std::nullopt, Integrator::quasi_static, 0.01};
  }
  void write(int frames, std::size_t unknowns) {
    RecordingWriter writer(path_, facts());
    for (int k = 0; k < frames; ++k) writer.add(frame_of(k, unknowns));
    EXPECT_EQ(writer.frames(), frames);
    writer.finish();
  }
  std::string refusal() {
    try {
      const RecordingReader reader(path_);
      return "";
    } catch (const InputError& error) {
      return error.report();
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.rec.h5";
};

// A megabyte holds 2 frames of 30000 unknowns and 1024 of 3.
TEST_F(Recordings, OfManyBlocksComeBackInAnyOrder) {
  for (const auto& [frames, unknowns] : std::vector<std::pair<int, std::size_t>>{{1, 3}, {2500, 3}, {7, 30000}}) {
    write(frames, unknowns);
    RecordingReader reader(path_);
    ASSERT_EQ(reader.frames(), frames);
    EXPECT_EQ(reader.facts().integrator, Integrator::quasi_static);
    EXPECT_EQ(reader.facts().time_step, 0.01);
    EXPECT_EQ(reader.facts().robot.file, folder_ / "robot.toml");
    EXPECT_EQ(reader.facts().robot.fingerprint, 0xfedcba9876543210u);
    EXPECT_FALSE(reader.facts().beside);
    for (const int k : {0, frames - 1, frames / 2, 0, frames / 3})
      EXPECT_TRUE(same(reader.frame(k), frame_of(k, unknowns))) << k << " of " << frames;
  }
}

TEST_F(Recordings, GrowOnDiskAndNotInMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "memory that is given back is kept for a while under the address sanitizer";
#endif
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    double total = 0, pages = 0;
    file >> total >> pages;
    return pages * 4096;
  };
  RecordingWriter writer(path_, facts());
  const RecordedFrame frame = frame_of(1, 30000);
  for (int k = 0; k < 20; ++k) writer.add(frame);
  const double before = resident();
  for (int k = 0; k < 300; ++k) writer.add(frame);  // 144 MB
  EXPECT_LT(resident(), before + 20e6);
  writer.finish();
  EXPECT_GT(std::filesystem::file_size(path_), 140'000'000u);
}

// Two programs with one name: the first to finish has it, the other's frames are not lost.
TEST_F(Recordings, DoNotReplaceOneThatWasMadeMeanwhile) {
  std::string kept;
  {
    RecordingWriter writer(path_, facts());
    writer.add(frame_of(7, 3));
    std::ofstream(path_) << "another's";
    try {
      writer.finish();
    } catch (const RunError& error) {
      kept = error.report();
    }
  }
  EXPECT_NE(kept.find("another program has made"), std::string::npos) << kept;
  std::ifstream file(path_);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "another's");
  const std::string part = path_ + ".part-" + std::to_string(getpid());
  ASSERT_TRUE(std::filesystem::exists(part));
  std::filesystem::rename(part, path_);
  EXPECT_EQ(RecordingReader(path_).frames(), 1);
}

TEST_F(Recordings, ThatAreNotFinishedLeaveNothing) {
  {
    RecordingWriter writer(path_, facts());
    writer.add(frame_of(0, 3));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "."), {}), 1);  // robot.toml
}

// Beside the recording as it was or where it was, whichever is the one that was recorded: by its content.
TEST_F(Recordings, FindTheirRobotBesideThemOrWhereItWas) {
  const std::string robot = folder_ / "robot.h5";
  std::ofstream(robot) << "recorded";
  {
    RecordingWriter writer(path_, {{robot, hash_file(robot)}, std::nullopt, Integrator::quasi_static, 0.01});
    writer.add(frame_of(0, 3));
    writer.finish();
  }
  const TemporaryFolder other;
  const std::string moved = other / "a.rec.h5", beside = other / "robot.h5";
  std::filesystem::copy_file(path_, moved);
  const auto found = [&] { return find_robot(RecordingReader(moved).facts().robot, moved); };
  const auto refusal_of = [&]() -> std::string {
    try {
      return found();
    } catch (const InputError& error) {
      return error.report();
    }
  };
  EXPECT_EQ(found(), robot);
  std::ofstream(beside) << "another";
  EXPECT_EQ(found(), robot);
  std::filesystem::copy_file(robot, beside, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(found(), beside);
  std::ofstream(beside) << "another";
  std::filesystem::remove(robot);
  const std::string why = refusal_of();
  EXPECT_NE(why.find("'" + beside + "' has changed since this was recorded, or is another robot"), std::string::npos)
      << why;
  EXPECT_NE(why.find("'" + robot + "' is not there"), std::string::npos) << why;
  EXPECT_NE(why.find(moved), std::string::npos) << why;
  // Not moved: one place, said once.
  EXPECT_EQ(RecordingReader(path_).facts().robot.moved, robot);
}

TEST_F(Recordings, ThatAreCutOffOrOfAnotherKindAreRefused) {
  write(2500, 3);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  EXPECT_NE(refusal().find(path_), std::string::npos) << refusal();
  write_hdf5_atomically(path_, [](Hdf5File& file) { file.write("/format", std::string("supple run")); });
  EXPECT_NE(refusal().find("is not a recording"), std::string::npos) << refusal();
  EXPECT_FALSE(is_recording_file(path_));
  {
    RecordingWriter writer(path_, facts());
    writer.finish();
  }
  EXPECT_NE(refusal().find("has no frames"), std::string::npos) << refusal();
  RecordingWriter writer(path_, facts());
  RecordedFrame frame = frame_of(0, 3);
  frame.state.q[1] = std::nan("");
  writer.add(frame);
  writer.finish();
  EXPECT_NE(refusal().find("/frames/q"), std::string::npos) << refusal();
}

// A picture of one frame needs that frame alone: what is damaged elsewhere is met by who goes there.
TEST_F(Recordings, AreReadWholeOrOnlyWhereTheyAreAskedFor) {
  write(7, 30000);  // four blocks
  std::string bytes;
  {
    std::ifstream file(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  const double last = frame_of(6, 30000).state.q[15000];
  const std::string written(reinterpret_cast<const char*>(&last), sizeof last);
  const auto at = bytes.rfind(written);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 3] ^= 4;
  std::ofstream(path_, std::ios::binary) << bytes;
  EXPECT_NE(refusal().find("/frames/"), std::string::npos) << refusal();
  RecordingReader reader(path_, RecordingReader::Check::as_read);
  EXPECT_TRUE(same(reader.frame(3), frame_of(3, 30000)));
  EXPECT_THROW((void)reader.frame(6), InputError);
  EXPECT_TRUE(same(reader.frame(0), frame_of(0, 30000)));
}

TEST_F(Recordings, EveryFlippedBitIsSeen) {
  write(40, 20);
  const auto as_it_was = [&](const std::string& copy) {
    RecordingReader reader(copy);
    bool equal = reader.frames() == 40 && reader.facts().robot.fingerprint == facts().robot.fingerprint;
    for (int k = 0; k < 40; ++k) equal = equal && same(reader.frame(k), frame_of(k, 20));
    return equal;
  };
  ASSERT_TRUE(as_it_was(path_));
  EXPECT_GT(flipped_bits::refused(path_, 23, as_it_was), 0.5);
}

// A process that may write only so much to a file sees a full disk: the recording ends, and the program goes on.
TEST_F(Recordings, AFullDiskLeavesWhatWasWritten) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  // Two frames a block of a megabyte, and 4 MiB kept free for the end.
  const rlimit small{20'000'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string why;
  try {
    write(100, 30000);
  } catch (const RunError& error) {
    why = error.report();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_EQ(refusal(), "");
  RecordingReader reader(path_);
  EXPECT_GE(reader.frames(), 28);
  EXPECT_LE(reader.frames(), 32);
  EXPECT_EQ(reader.frames() % 2, 0);
  for (long k = 0; k < reader.frames(); ++k) EXPECT_TRUE(same(reader.frame(k), frame_of(static_cast<int>(k), 30000)));
  EXPECT_NE(why.find("ends after its first " + std::to_string(reader.frames()) + " frames"), std::string::npos) << why;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "."), {}), 2);  // and robot.toml
  write(3, 30000);
  EXPECT_EQ(RecordingReader(path_).frames(), 3);
}

// Where not even one block has room there is no recording.
TEST_F(Recordings, AFullDiskFromTheBeginningLeavesNothing) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4'800'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write(100, 30000), RunError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace supple

// The window itself, on a display that nobody sees (Xvfb), with keys from outside (xdotool).

#include <fmt/format.h>

#include <cstdlib>

#include <sys/stat.h>

#include "engine/io/recording.hpp"
#include "tests/engine/cli/program.hpp"
#include "viewer/gl/offscreen.hpp"

namespace supple::test {
namespace {

class Window : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    for (const char* program : {"Xvfb", "xdotool"})
      if (std::system((std::string("command -v ") + program + " > /dev/null 2>&1").c_str()) != 0)
        GTEST_SKIP() << program << " is not there: apt-get install xvfb xdotool";
    server_ = fork();
    if (server_ == 0) {
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      dup2(open(path("xvfb").c_str(), O_CREAT | O_WRONLY, 0644), STDERR_FILENO);
      const int number = open(path("display").c_str(), O_CREAT | O_WRONLY, 0644);
      const std::string to = std::to_string(number);
      execlp("Xvfb", "Xvfb", "-displayfd", to.c_str(), "-screen", "0", "1400x900x24", "-nolisten", "tcp", "-noreset",
             nullptr);
      _exit(127);
    }
    ASSERT_TRUE(soon([&] { return read_text(path("display")).find('\n') != std::string::npos; }))
        << read_text(path("xvfb"));
    setenv("DISPLAY", fmt::format(":{}", std::stoi(read_text(path("display")))).c_str(), 1);
  }
  void TearDown() override {
    if (server_ > 0) {
      kill(server_, SIGTERM);
      waitpid(server_, nullptr, 0);
    }
    Cli::TearDown();
  }

  // The limit is for a machine with other work.
  template <class Condition>
  static bool soon(const Condition& condition) {
    for (int k = 0; k < 600; ++k) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // The output of xdotool; "" where it finds nothing.
  std::string xdotool(const std::string& words) const {
    (void)std::system(("xdotool " + words + " > " + path("said") + " 2> /dev/null").c_str());
    return read_text(path("said"));
  }
  bool find_window() {
    return soon([&] {
      id_ = xdotool("search --onlyvisible --name '^Supple$'");
      id_ = id_.substr(0, id_.find('\n'));
      return !id_.empty();
    });
  }
  void key(const std::string& name) const { xdotool("windowfocus " + id_ + " key --delay 80 " + name); }

  pid_t server_ = -1;
  std::string id_;
};

TEST_F(Window, OpensTakesKeysAndCloses) {
  const pid_t child = start({"view", "scene.toml"});
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(find_window()) << read_text(path("err"));
  std::printf("the window is there after %.2f s\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  // A picture of the window, once it takes keys.
  ASSERT_TRUE(soon([&] {
    key("F12");
    return exists("supple-001.png");
  })) << read_text(path("err"));
  const view::Image image = view::read_png(path("supple-001.png"));
  EXPECT_EQ(image.width, 1280);
  EXPECT_EQ(image.height, 800);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  key("ctrl+q");
  int status = -1;
  ASSERT_TRUE(soon([&] { return waitpid(child, &status, WNOHANG) == child; }));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_text(path("err")), "");
}

// A file that cannot be read does not close the window.
TEST_F(Window, StaysOpenOnABadFile) {
  const pid_t child = start({"view", "none.toml"});
  ASSERT_TRUE(find_window()) << read_text(path("err"));
  ASSERT_TRUE(soon([&] {
    key("ctrl+q");
    return waitpid(child, nullptr, WNOHANG) == child;
  }));
}

// A pipe that nobody writes to is a file that is never read to its end.
TEST_F(Window, ClosesWhileAFileIsBeingRead) {
  ASSERT_EQ(mkfifo(path("slow.toml").c_str(), 0600), 0);
  const pid_t child = start({"view", "slow.toml"});
  ASSERT_TRUE(find_window()) << read_text(path("err"));
  int status = -1;
  ASSERT_TRUE(soon([&] {
    key("ctrl+q");
    return waitpid(child, &status, WNOHANG) == child;
  }));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Window, FinishesItsRecordingOnCtrlC) {
  const pid_t child = start({"view", "scene.toml"});
  ASSERT_TRUE(find_window()) << read_text(path("err"));
  const auto part = [&] { return exists(fmt::format("beam-001.rec.h5.part-{}", child)); };
  for (int k = 0; k < 100 && !part(); ++k) {
    key("F8");
    for (int wait = 0; wait < 20 && !part(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(part());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(child, SIGINT);
  const Outcome outcome = finish(child);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_GT(RecordingReader(path("beam-001.rec.h5")).frames(), 1);
  EXPECT_FALSE(part());
}

TEST_F(Window, FillsTheScreenAndGoesBack) {
  const pid_t child = start({"view", "scene.toml"});
  ASSERT_TRUE(find_window()) << read_text(path("err"));
  const auto size = [&] {
    const std::string said = xdotool("getwindowgeometry " + id_);
    const auto at = said.find("Geometry: ");
    return at == std::string::npos ? "" : said.substr(at + 10, said.find('\n', at) - at - 10);
  };
  EXPECT_EQ(size(), "1280x800");
  for (const char* wanted : {"1400x900", "1280x800"}) {
    // Once: a second press would take it back. Pressed again only where the window did not hear it yet.
    EXPECT_TRUE(soon([&] {
      key("F11");
      for (int k = 0; k < 40 && size() != wanted; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return size() == wanted;
    })) << size();
  }
  key("ctrl+q");
  ASSERT_TRUE(soon([&] { return waitpid(child, nullptr, WNOHANG) == child; }));
}

TEST_F(Window, RefusesWhatHasNoEffect) {
  const Outcome json = run({"view", "scene.toml", "--json", "a.json"});
  EXPECT_EQ(json.code, 2);
  EXPECT_TRUE(contains(json.err, "--json"));
  const Outcome device = run({"view", "scene.toml", "--device", "cuda"});
  EXPECT_EQ(device.code, 3);
  EXPECT_TRUE(contains(device.err, "--device cpu"));
}

TEST_F(Window, NeedsADisplayAndSaysSo) {
  unsetenv("DISPLAY");
  const Outcome outcome = run({"view", "scene.toml"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "a window needs a display"));
}

}  // namespace
}  // namespace supple::test

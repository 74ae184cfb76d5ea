// Files that open, that do not, and that change while they are open: the viewer stays.

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "tests/viewer/app/scripted.hpp"

namespace {

// A disk that takes its time: fsync of this program waits while it is slow, two seconds at most.
std::atomic<bool> slow_disk{false};
std::atomic<int> waiting_for_disk{0};

}  // namespace

extern "C" int fsync(int file) {
  ++waiting_for_disk;
  for (int k = 0; k < 2000 && slow_disk; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --waiting_for_disk;
  return static_cast<int>(syscall(SYS_fsync, file));
}

namespace supple::view {
namespace {

namespace fs = std::filesystem;

class Files : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    if (!stage_) return;
    input_.seconds = 0.1;  // few pictures a second: the file is looked at after some of them
    std::string name = (fs::temp_directory_path() / "supple-view-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* file : {"scene.toml", "finger_coarse.msh"})
      fs::copy_file(asset("finger") + "/" + file, folder_ / file);
  }
  void TearDown() override {
    stage_.reset();
    std::error_code error;
    if (!folder_.empty()) fs::remove_all(folder_, error);
  }
  std::string scene() const { return (folder_ / "scene.toml").string(); }
  std::string text() const {
    std::ifstream file(folder_ / "scene.toml");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void save(const std::string& text) const { std::ofstream(folder_ / "scene.toml") << text; }
  static std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
  }
  // As long as the file is looked at a few times.
  void wait_for_a_look() { frames(static_cast<int>(2 / input_.seconds)); }
  void expect_running() {
    const long step = now().step;
    EXPECT_TRUE(until([&] { return now().step > step; }));
  }
  void expect_banner(const std::string& part) {
    EXPECT_NE(app().banner().text.find(part), std::string::npos) << part << " is not in:\n" << app().banner().text;
    EXPECT_TRUE(app().banner().wrong);
  }

  fs::path folder_;
};

TEST_F(Files, ThatAreBadLeaveTheRobotRunning) {
  const auto write = [&](const char* name, const std::string& words) {
    std::ofstream(folder_ / name) << words;
    return (folder_ / name).string();
  };
  const struct {
    std::string file, names;
  } bad[] = {
      {write("broken.toml", "name = \"a\"\n[body\n"), "broken.toml:2:"},
      {write("unit.toml", replaced(text(), "\"1070 kg/m^3\"", "\"1070 kg/m\"")), "unit.toml:10:"},
      {(folder_ / "none.toml").string(), "none.toml"},
      {write("not.rom.h5", "these are words"), "not.rom.h5"},
      {folder_.string() + "/finger_coarse.msh", "finger_coarse.msh"},
  };
  open(bad[0].file);  // with nothing open before
  expect_banner(bad[0].names);
  EXPECT_FALSE(app().document());
  frames(3);
  open(scene());
  ASSERT_TRUE(app().document());
  EXPECT_EQ(app().banner().text, "");
  for (const auto& [file, names] : bad) {
    open(file);
    expect_banner(names);
    ASSERT_TRUE(app().document());
    EXPECT_EQ(document().request().file, scene());
    expect_running();
  }
}

TEST_F(Files, ThatAreSavedAreReadAgain) {
  open(scene());
  ASSERT_TRUE(app().document());
  const double stiff = document().simulation().rest_intent().goals[0];
  app().settings().camera.azimuth = 0.1;
  save(replaced(text(), "young = \"600 kPa\"", "young = \"60 kPa\""));
  const Document* before = app().document();
  ASSERT_TRUE(until([&] { return is_open() && app().document() != before; }));
  // A tenth of the stiffness: it hangs elsewhere, by millimetres rather than by rounding.
  EXPECT_GT(std::abs(document().simulation().rest_intent().goals[0] - stiff), 1e-5);
  EXPECT_EQ(camera().azimuth, 0.1);  // looked at as before
  wait_for_a_look();
  EXPECT_FALSE(app().opening());
  expect_running();
}

TEST_F(Files, ThatAreSavedBrokenKeepTheRobotAsItWas) {
  open(scene());
  ASSERT_TRUE(app().document());
  const Document* before = app().document();
  const std::string good = text();
  save(replaced(good, "\"600 kPa\"", "\"600 kPA\""));
  ASSERT_TRUE(until([&] { return app().banner().wrong && !app().banner().text.empty(); }));
  expect_banner("scene.toml:14:9:");
  EXPECT_EQ(app().document(), before);
  expect_running();
  // Said once, not at every look.
  app().say({});
  wait_for_a_look();
  EXPECT_EQ(app().banner().text, "");
  EXPECT_FALSE(app().opening());
  save(good);
  ASSERT_TRUE(until([&] { return is_open() && app().document() != before; }));
  expect_running();
}

TEST_F(Files, ThatArePausedStayPausedWhenReadAgain) {
  open(scene());
  ASSERT_TRUE(app().document());
  press(Key::space);
  const Document* before = app().document();
  press(Key::f5);
  ASSERT_TRUE(until([&] { return is_open() && app().document() != before; }));
  EXPECT_FALSE(document().intent().running);
}

TEST_F(Files, ThatAreReadAgainKeepWhatIsWantedOfThem) {
  open(scene());
  ASSERT_TRUE(app().document());
  document().intent().speed = 0.25;
  press(Key::page_up);
  const Vec3d goal = document().goal(0);
  const auto read_again = [&] {
    const Document* before = app().document();
    press(Key::f5);
    return until([&] { return is_open() && app().document() != before; });
  };
  ASSERT_TRUE(read_again());
  EXPECT_EQ(document().intent().mode, Mode::inverse);
  EXPECT_EQ(document().goal(0), goal);
  EXPECT_EQ(document().intent().speed, 0.25);
  press(Key::m);
  const double most = document().robot().robot().actuators[0].range.upper;
  document().intent().commands[0] = most;
  document().send();
  ASSERT_TRUE(read_again());
  EXPECT_EQ(document().intent().mode, Mode::forward);
  EXPECT_EQ(document().intent().commands[0], most);
  // What does not fit is cut.
  const std::string range = "range = [\"0 mm\", \"";
  const auto at = text().find(range) + range.size();
  ASSERT_NE(text().find(range), std::string::npos);
  const Document* before = app().document();
  save(text().substr(0, at) + "2 mm" + text().substr(text().find('"', at)));
  ASSERT_TRUE(until([&] { return is_open() && app().document() != before; })) << app().banner().text;
  EXPECT_NEAR(document().intent().commands[0], 2e-3, 1e-15);
}

TEST_F(Files, ThatAreRecordingsArePlayedAndSimulatedOn) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);  // where recordings go
  open_paused(scene());
  press(Key::page_up);
  press(Key::f8);
  for (int k = 1; k <= 5; ++k) {
    press(Key::period);
    ASSERT_TRUE(until([&] { return now().step == k; })) << now().failure;
  }
  EXPECT_EQ(now().recording.frames, 6);
  press(Key::f8);
  ASSERT_TRUE(until([&] { return now().recording.file.empty(); }));
  frame();
  const std::string file = (folder_ / "finger-001.rec.h5").string();
  EXPECT_EQ(app().banner().text, "written to finger-001.rec.h5 (6 frames)");
  EXPECT_FALSE(app().banner().wrong);
  EXPECT_EQ(document().intent().record, "");
  const std::uint64_t last = hash(now().state);
  const Vec3d goal = document().goal(0);

  input_.dropped = {file};
  frame();
  ASSERT_TRUE(until([&] { return is_open(); })) << app().banner().text;
  ASSERT_EQ(document().request().file, file);
  ASSERT_TRUE(document().playing());
  EXPECT_FALSE(document().intent().running);
  EXPECT_EQ(now().position, 0);
  EXPECT_EQ(app().effector(), -1);  // what was recorded cannot be led
  for (int k = 0; k < 6; ++k) {     // every colouring that it has
    press(Key::c);
    frame();
  }
  press(Key::f8);
  EXPECT_TRUE(app().banner().wrong);
  app().say({});
  press(Key::space);  // to its end, where it stops
  ASSERT_TRUE(until([&] { return !document().intent().running; }));
  EXPECT_EQ(now().position, 5);
  EXPECT_EQ(hash(now().state), last);
  EXPECT_EQ(now().failure, "");
  press(Key::comma);
  ASSERT_TRUE(until([&] { return now().position == 4; }));
  press(Key::period);
  ASSERT_TRUE(until([&] { return now().position == 5; }));
  press(Key::space);  // from its beginning again
  ASSERT_TRUE(until([&] { return !document().intent().running && now().position == 5; }));
  press(Key::r);
  ASSERT_TRUE(until([&] { return now().position == 0; }));
  press(Key::period);
  ASSERT_TRUE(until([&] { return now().position == 1; }));
  press(Key::g);
  ASSERT_TRUE(until([&] { return !document().playing(); }));
  EXPECT_EQ(document().goal(0), goal);
  EXPECT_EQ(document().intent().mode, Mode::inverse);
  press(Key::period);
  ASSERT_TRUE(until([&] { return now().step == 2; })) << now().failure;
  press(Key::r);
  ASSERT_TRUE(until([&] { return now().step == 1; }));  // where it was simulated on from
  EXPECT_EQ(document().goal(0), goal);

  // A robot that has changed, or is gone, and half a file.
  save(replaced(text(), "\"600 kPa\"", "\"60 kPa\""));
  open(file);
  expect_banner("has changed since this was recorded");
  fs::rename(folder_ / "scene.toml", folder_ / "other.toml");
  open(file);
  expect_banner("is not there");
  fs::resize_file(file, fs::file_size(file) / 2);
  open(file);
  expect_banner("finger-001.rec.h5");
  fs::current_path(before);
}

TEST_F(Files, ThatCannotBeRecordedSaySoEachTime) {
  const fs::path before = fs::current_path();
  const fs::path gone = folder_ / "gone";
  fs::create_directory(gone);
  fs::current_path(gone);
  fs::remove(gone);  // nothing can be written here
  open_paused(scene());
  for (int k = 0; k < 2; ++k) {
    app().say({});
    press(Key::f8);
    ASSERT_TRUE(until([&] { return !app().banner().text.empty(); }));
    expect_banner("finger-001.rec.h5");
    EXPECT_EQ(document().intent().record, "");
  }
  fs::current_path(before);
  press(Key::period);
  EXPECT_TRUE(until([&] { return now().step == 1; })) << now().failure;
}

TEST_F(Files, ThatAreRecordedAreFinishedWhenAnotherIsOpened) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  open(scene());
  ASSERT_TRUE(app().document());
  press(Key::f8);
  ASSERT_TRUE(until([&] { return now().recording.frames > 2; }));
  open(asset("cantilever"));
  EXPECT_NE(app().banner().text.find("written to finger-001.rec.h5"), std::string::npos) << app().banner().text;
  EXPECT_GT(RecordingReader("finger-001.rec.h5").frames(), 2);
  fs::current_path(before);
}

// Pictures do not wait for the disk; the file that was opened does, until the recording is safe.
TEST_F(Files, ThatAreOpenedLetARecordingComeToASlowDisk) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  open(scene());
  ASSERT_TRUE(app().document());
  press(Key::f8);
  ASSERT_TRUE(until([&] { return now().recording.frames > 2; }));
  slow_disk = true;
  app().open({asset("cantilever"), "", settings_});
  EXPECT_TRUE(until([&] { return waiting_for_disk > 0; }));
  frames(3);
  EXPECT_GT(waiting_for_disk, 0);
  EXPECT_TRUE(app().opening());
  EXPECT_EQ(document().request().file, scene());
  slow_disk = false;
  ASSERT_TRUE(until([&] { return !app().opening(); }));
  EXPECT_EQ(document().request().file, asset("cantilever"));
  EXPECT_NE(app().banner().text.find("written to finger-001.rec.h5"), std::string::npos) << app().banner().text;
  fs::current_path(before);
}

TEST_F(Files, ThatAreDroppedAreOpened) {
  frame();
  input_.dropped = {scene()};
  frame();
  ASSERT_TRUE(until([&] { return is_open(); }));
  EXPECT_EQ(document().request().file, scene());
  input_.dropped = {asset("cantilever"), asset("cantilever") + "/tetrahedra.toml"};  // the second goes beside
  frame();
  ASSERT_TRUE(until([&] { return is_open(); }));
  EXPECT_EQ(document().request().file, asset("cantilever"));
  EXPECT_NE(document().beside(), nullptr);
}

}  // namespace
}  // namespace supple::view

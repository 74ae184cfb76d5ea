// `supple render` as a user types it: pictures and films, and what it says where there are none.

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"
#include "tests/viewer/app/scripted.hpp"

namespace supple::test {
namespace {

namespace fs = std::filesystem;

class Render : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    const std::string why = view::no_pictures();
    if (why.empty()) return;
    if (view::pictures_required()) FAIL() << "SUPPLE_REQUIRE_GL=1, but " << why;
    GTEST_SKIP() << why;
  }
  static bool has(const std::string& program) {
    return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
  }
  // Names in the folder but for the output of the program.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename() != "out" && entry.path().filename() != "err")
        found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  void expect_picture(const std::string& name, int width, int height) {
    const view::Image image = view::read_png(path(name));
    EXPECT_EQ(image.width, width);
    EXPECT_EQ(image.height, height);
    // More than the backdrop, whose rows are of one colour each.
    std::size_t changes = 0;
    for (std::size_t i = 3; i < image.rgb.size(); ++i) changes += std::abs(image.rgb[i] - image.rgb[i - 3]) > 20;
    EXPECT_GT(changes, static_cast<std::size_t>(height));
  }
  const std::vector<std::string> scene_only_{"beam.msh", "scene.toml"};
};

TEST_F(Render, WritesAPictureOfTheSizeAskedFor) {
  const Outcome rest = run({"render", "scene.toml", "-o", "rest.png", "--size", "200x150"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(contains(rest.out, "written to rest.png"));
  expect_picture("rest.png", 200, 150);
  const Outcome bent =
      run({"render", "scene.toml", "--set", "bend=20 mm", "--duration", "100 ms", "--colour", "stress", "--edges",
           "--azimuth", "20 deg", "--elevation", "10 deg", "--zoom", "1.2", "-o", "bent.png", "--size", "200x150"});
  ASSERT_EQ(bent.code, 0) << bent.err;
  expect_picture("bent.png", 200, 150);
  EXPECT_NE(view::read_png(path("bent.png")).rgb, view::read_png(path("rest.png")).rgb);
  const Outcome beside = run({"render", "scene.toml", "--compare", "scene.toml", "--side-by-side", "--no-legend", "-o",
                              "two.png", "--size", "201x150"});
  ASSERT_EQ(beside.code, 0) << beside.err;
  expect_picture("two.png", 201, 150);
  EXPECT_EQ(names(), (std::vector<std::string>{"beam.msh", "bent.png", "rest.png", "scene.toml", "two.png"}));
}

TEST_F(Render, DrawsTheSameBitsTwice) {
  for (const char* name : {"a.png", "b.png"})
    ASSERT_EQ(run({"render", "scene.toml", "--set", "bend=10 mm", "--duration", "50 ms", "--colour", "displacement",
                   "-o", name, "--size", "160x120"})
                  .code,
              0);
  EXPECT_EQ(read_text(path("a.png")), read_text(path("b.png")));
}

TEST_F(Render, SaysWhatIsWrongAndLeavesNothingBehind) {
  const struct {
    std::vector<std::string> words;
    const char* says;
  } bad[] = {
      {{"-o", "a.png", "--size", "big"}, "--size big is not a size in pixels (16 to 8192 each)"},
      {{"-o", "a.png", "--size", "200x9999999999"}, "is not a size in pixels"},
      {{"-o", "a.png", "--size", "200x8"}, "is not a size in pixels"},
      {{"-o", "a.jpg"}, "'a.jpg' is neither a picture nor a film"},
      {{}, "`supple render` needs -o FILE"},
      {{"-o", "a.png", "--colour", "weight"}, "--colour weight is not possible (a full model has no weights)"},
      {{"-o", "a.png", "--colour", "mode"}, "--colour mode is not possible"},
      {{"-o", "a.png", "--colour", "difference"}, "there is no second robot (--compare)"},
      {{"-o", "a.png", "--colour", "purple"}, "purple"},
      {{"-o", "a.png", "--domain"}, "--domain is not possible"},
      {{"-o", "a.png", "--mode", "2"}, "--mode goes with --colour mode"},
      {{"-o", "a.png", "--height", "5 mm"}, "--height goes with --circle or --lemniscate"},
      {{"-o", "a.png", "--side-by-side"}, "--side-by-side needs a second robot"},
      {{"-o", "a.png", "--circle", "5 mm", "--set", "bend=1 mm"}, "several options give goals for the robot"},
      {{"-o", "a.png", "--set", "curl=1 mm"}, "curl"},
      {{"-o", "a.png", "--azimuth", "20 mm"}, "--azimuth"},
      {{"-o", "a.png", "--elevation", "20"}, "--elevation 20 is beyond the vertical"},
      {{"-o", "a.png", "--zoom", "0"}, "--zoom"},
      {{"-o", "a.png", "--zoom", "-2"}, "--zoom"},
      {{"-o", "no/such/folder/a.png"}, "no/such/folder/a.png"},
      {{"-o", "a.png", "--compare", "none.toml"}, "none.toml"},
  };
  for (const auto& [words, says] : bad) {
    std::vector<std::string> all{"render", "scene.toml"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 2) << says;
    EXPECT_TRUE(contains(outcome.err, says));
    EXPECT_EQ(names(), scene_only_) << says;
  }
}

TEST_F(Render, DoesNotReplaceAFileUnasked) {
  write_text(path("a.png"), "mine");
  const Outcome refused = run({"render", "scene.toml", "-o", "a.png", "--size", "64x64"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--force"));
  EXPECT_EQ(read_text(path("a.png")), "mine");
  EXPECT_EQ(run({"render", "scene.toml", "-o", "a.png", "--size", "64x64", "--force"}).code, 0);
  EXPECT_EQ(view::read_png(path("a.png")).width, 64);
}

TEST_F(Render, DrawsWhatWasRecorded) {
  ASSERT_EQ(run({"simulate", "scene.toml", "--set", "bend=20 mm", "--steps", "10", "--record", "a.rec.h5"}).code, 0);
  const std::vector<std::string> look{"--colour", "stress", "--size", "200x150"};
  const auto render = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "render");
    words.insert(words.end(), look.begin(), look.end());
    return run(words);
  };
  const Outcome end = render({"a.rec.h5", "-o", "end.png"});
  ASSERT_EQ(end.code, 0) << end.err;
  ASSERT_EQ(render({"a.rec.h5", "--duration", "30 ms", "-o", "third.png"}).code, 0);
  EXPECT_NE(read_text(path("end.png")), read_text(path("third.png")));
  // The frame that was asked for is the state of a run that long.
  ASSERT_EQ(run({"simulate", "scene.toml", "--set", "bend=20 mm", "--steps", "3", "--json", "three.json"}).code, 0);
  ASSERT_EQ(render({"a.rec.h5", "--duration", "30 ms", "-o", "third.png", "--force", "--json", "drawn.json"}).code, 0);
  const auto hash_in = [&](const char* file) {
    return nlohmann::json::parse(read_text(path(file)))["state_hash"].get<std::string>();
  };
  EXPECT_EQ(hash_in("drawn.json"), hash_in("three.json"));
  expect_picture("end.png", 200, 150);
  const struct {
    std::vector<std::string> words;
    const char* says;
  } bad[] = {
      {{"a.rec.h5", "--set", "bend=1 mm", "-o", "b.png"}, "do not go with a recording"},
      {{"a.rec.h5", "--compare", "scene.toml", "-o", "b.png"}, "do not go with a recording"},
      {{"a.rec.h5", "--time-step", "1 ms", "-o", "b.png"}, "do not go with a recording"},
      {{"none.rec.h5", "-o", "b.png"}, "none.rec.h5"},
      {{"half.rec.h5", "-o", "b.png"}, "half.rec.h5"},
      {{"a.rec.h5", "--device", "cuda", "-o", "b.png"}, ""},
  };
  const std::string whole = read_text(path("a.rec.h5"));
  write_text(path("half.rec.h5"), whole.substr(0, whole.size() / 2));
  for (const auto& [words, says] : bad) {
    const Outcome outcome = render(words);
    EXPECT_EQ(outcome.code, *says ? 2 : 3) << says;
    EXPECT_TRUE(contains(outcome.err, says));
  }
  std::string text = read_text(path("scene.toml"));
  write_text(path("scene.toml"), text.replace(text.find("500 kPa"), 7, "400 kPa"));
  const Outcome changed = render({"a.rec.h5", "-o", "b.png"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_TRUE(contains(changed.err, "has changed since this was recorded"));
  fs::remove(path("scene.toml"));
  EXPECT_TRUE(contains(render({"a.rec.h5", "-o", "b.png"}).err, "is not there"));
  EXPECT_FALSE(exists("b.png"));
}

class RenderSeveralBodies : public Render {
 protected:
  void SetUp() override {
    Render::SetUp();
    write_text(path("pair.toml"), pair_);
    write_text(path("loose.toml"), pair_ + R"([[rigid]]
name = "load"
mass = "50 g"
size = ["20 mm", "20 mm", "20 mm"]
translation = ["200 mm", "20 mm", "-40 mm"]
)");
  }
  std::string hash_in(const std::string& name) {
    return nlohmann::json::parse(read_text(path(name)))["state_hash"].get<std::string>();
  }
  const std::string pair_ = R"(name = "pair"
time_step = "10 ms"
[[rigid]]
name = "palm"
size = ["50 mm", "700 mm", "10 mm"]
translation = [0, "250 mm", 0]
motion = "slide"
direction = [0, 1, 0]
range = ["-20 mm", "20 mm"]
[[part]]
name = "one"
scene = "scene.toml"
on = "palm"
[[part]]
name = "two"
scene = "scene.toml"
on = "palm"
translation = [0, "400 mm", 0]
)";
};

TEST_F(RenderSeveralBodies, DrawsWhatIsSimulatedAndWhatWasRecorded) {
  const std::vector<std::string> led{"--set", "one/bend=20 mm", "--set", "palm/slide=20 mm"};
  const auto verb = [&](std::vector<std::string> words, const std::vector<std::string>& more = {}) {
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << words[0] << ": " << outcome.err;
  };
  const std::vector<std::string> size{"--size", "200x150", "--no-legend"};
  verb({"render", "pair.toml", "-o", "rest.png"}, size);
  verb({"render", "pair.toml", "--duration", "50 ms", "-o", "led.png", "--set", "one/bend=20 mm"}, size);
  expect_picture("rest.png", 200, 150);
  EXPECT_NE(read_text(path("rest.png")), read_text(path("led.png")));
  for (const char* colour : {"displacement", "stress"})
    verb({"render", "pair.toml", "-o", std::string(colour) + ".png", "--colour", colour}, size);
  EXPECT_NE(read_text(path("stress.png")), read_text(path("displacement.png")));
  verb({"simulate", "pair.toml", "--steps", "5", "--record", "a.rec.h5", "--json", "run.json"}, led);
  verb({"render", "a.rec.h5", "-o", "recorded.png", "--json", "drawn.json"}, size);
  EXPECT_EQ(hash_in("drawn.json"), hash_in("run.json"));
  EXPECT_TRUE(contains(run({"info", "a.rec.h5"}).out, "pair.toml"));
  // Led: the first tip goes round a circle.
  verb({"render", "pair.toml", "--circle", "5 mm", "--duration", "100 ms", "-o", "circle.png"}, size);
  EXPECT_NE(read_text(path("circle.png")), read_text(path("rest.png")));
  // The same robot beside itself.
  verb({"render", "pair.toml", "--compare", "pair.toml", "--colour", "difference", "-o", "two.png"}, size);
}

TEST_F(RenderSeveralBodies, SaysWhatItCannotDo) {
  const Outcome mode = run({"render", "pair.toml", "--colour", "mode", "-o", "a.png"});
  EXPECT_EQ(mode.code, 2);
  EXPECT_TRUE(contains(mode.err, "several bodies have no modes in common"));
  // A load that nothing holds has no equilibrium to begin with; its fall is drawn from a recording.
  const Outcome loose = run({"render", "loose.toml", "-o", "a.png"});
  EXPECT_EQ(loose.code, 1);
  EXPECT_TRUE(contains(loose.err, "does not settle"));
  EXPECT_TRUE(contains(loose.err, "--record"));
  EXPECT_FALSE(exists("a.png"));
  ASSERT_EQ(run({"simulate", "loose.toml", "--steps", "8", "--record", "fall.rec.h5"}).code, 0);
  const Outcome fall = run({"render", "fall.rec.h5", "-o", "a.png", "--size", "200x150"});
  EXPECT_EQ(fall.code, 0) << fall.err;
  expect_picture("a.png", 200, 150);
}

class Films : public Render {
 protected:
  void SetUp() override {
    Render::SetUp();
    if (!IsSkipped() && !HasFatalFailure() && !has("ffmpeg")) GTEST_SKIP() << "films are made by ffmpeg: not there";
  }
};

TEST_F(Films, AreWrittenByFfmpeg) {
  for (const char* name : {"a.gif", "a.mp4"}) {
    // An odd size, which some films cannot have.
    const Outcome outcome = run({"render", "scene.toml", "--set", "bend=10 mm", "--duration", "100 ms",
                                 "--frames-per-second", "50", "-o", name, "--size", "63x49"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_GT(fs::file_size(path(name)), 500u);
  }
  EXPECT_EQ(read_text(path("a.gif")).substr(0, 6), "GIF89a");
  EXPECT_EQ(read_text(path("a.mp4")).substr(4, 4), "ftyp");
  if (has("ffprobe")) {
    // 0 to 100 ms at 50 a second: 0, 20, ... 100.
    ASSERT_EQ(std::system(("ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 " +
                           path("a.mp4") + " > " + path("count"))
                              .c_str()),
              0);
    EXPECT_EQ(std::stoi(read_text(path("count"))), 6);
  }
}

TEST_F(Films, OfARecordingAreAsLongAsItIs) {
  ASSERT_EQ(run({"inverse", "scene.toml", "--circle", "2 mm", "--steps", "10", "--record", "a.rec.h5"}).code, 0);
  const Outcome outcome =
      run({"render", "a.rec.h5", "--frames-per-second", "100", "-o", "a.mp4", "--size", "64x64", "--json", "a.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(read_text(path("a.json")), "\"pictures\": 11"));
}

TEST_F(Films, LeaveNothingBehindWhenInterrupted) {
  const pid_t child =
      start({"render", "scene.toml", "--set", "bend=10 mm", "--duration", "1000 s", "-o", "a.gif", "--size", "64x64"});
  const pid_t group = setpgid(child, child) == 0 ? -child : child;  // as a terminal does it: to all of them
  // Once ffmpeg is at work the program is in the middle of the film.
  const std::string children = "/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children";
  for (int k = 0; k < 3000 && read_text(children).empty(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(group, SIGINT);
  const Outcome outcome = finish(child);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_TRUE(contains(outcome.err, "interrupted"));
  EXPECT_EQ(names(), scene_only_);
}

TEST_F(Films, AreNotWrittenWhereThereIsNoFfmpeg) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("PATH", "/nowhere", 1);
    const pid_t program = start({"render", "scene.toml", "-o", "a.mp4", "--size", "64x64", "--duration", "100 ms"});
    _exit(finish(program).code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(contains(read_text(path("err")), "ffmpeg"));
  EXPECT_EQ(names(), scene_only_);
}

// The programs of the other package: without them `supple` says so.
TEST_F(Cli, WithoutTheViewerBesideItSaysWhatToInstall) {
  fs::copy_file(SUPPLE_BINARY, path("alone"));
  for (const char* verb : {"view", "render"}) {
    const std::string command =
        "cd " + folder_ + " && ./alone " + verb + " scene.toml " + (verb[0] == 'r' ? "-o a.png" : "") + " 2> err";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_TRUE(contains(read_text(path("err")), "needs the program supple-view beside this one"));
    EXPECT_TRUE(contains(read_text(path("err")), "scripts/setup.sh --viewer"));
  }
}

}  // namespace
}  // namespace supple::test

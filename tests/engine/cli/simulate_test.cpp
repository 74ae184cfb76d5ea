#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Simulate : public Cli {
 protected:
  json report(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"simulate"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--json", "report.json", "--force", "--quiet"});
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return json::parse(read_text(path("report.json")));
  }
};

TEST_F(Simulate, ReportsWhatTheContractAsks) {
  const json found = report({"scene.toml"});
  for (const char* key : {"steps", "steps_per_s", "realtime_factor", "p50_us", "p99_us", "p999_us", "device", "batch",
                          "threads", "state_hash", "stages_us", "machine", "isa", "commit", "version"})
    EXPECT_TRUE(found.contains(key)) << key;
  EXPECT_EQ(found["steps"], 5);  // the scene's duration
  EXPECT_EQ(found["device"], "cpu");
  EXPECT_GT(found["stages_us"]["forces"].get<double>(), 0);
  EXPECT_NEAR(found["realtime_factor"].get<double>(), 0.01 * found["steps_per_s"].get<double>(),
              1e-9 * found["steps_per_s"].get<double>());
}

TEST_F(Simulate, BitsDoNotDependOnThreads) {
  for (const char* integrator : {"implicit-euler", "implicit-euler-newton", "quasi-static"}) {
    const std::vector<std::string> common{"scene.toml", "--integrator", integrator, "--set", "lift=1 N",
                                          "--set",      "bend=5 mm",    "--steps",  "10"};
    auto one = common, two = common;
    one.insert(one.end(), {"--threads", "1"});
    two.insert(two.end(), {"--threads", "2"});
    const json first = report(one), second = report(two);
    EXPECT_EQ(first["state_hash"], second["state_hash"]) << integrator;
    EXPECT_EQ(second["threads"], 2);
  }
}

TEST_F(Simulate, WritesATrajectoryAndShapes) {
  write_text(path("commands.csv"), "# pull, then hold\ntime [ms],bend [mm],lift\n0,0,0\n50,10,0.5\r\n");
  const Outcome outcome =
      run({"simulate", ".", "--actuation", "commands.csv", "--steps", "8", "--every", "4", "-o", "r"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* name : {"r/result.pvd", "r/state.h5", "r/step_000000.vtu", "r/step_000004.vtu", "r/step_000008.vtu"})
    EXPECT_TRUE(exists(name)) << name;
  EXPECT_FALSE(exists("r/step_000001.vtu"));
  const std::string trajectory = read_text(path("r/trajectory.csv"));
  EXPECT_TRUE(
      contains(trajectory,
               "time [s],lift [N],bend [mm],lift tension [N],bend tension [N],tip x [mm],tip y [mm],tip z [mm]\n"
               "0,0,0,0,0,200,20,20\n"));
  // Straight between the instants, held after the last.
  EXPECT_TRUE(contains(trajectory, "\n0.02,0.2,4,"));
  EXPECT_TRUE(contains(trajectory, "\n0.08,0.5,10,"));
}

// Forces and effectors of every kind: their columns, and what is said of them.
TEST_F(Simulate, ForcesTurnsAndLengthsAreReported) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("[[effector]]"), 0, R"([[actuator]]
name = "press"
type = "force"
group = "x+"
direction = [0, 0, -1]
range = ["-3 N", "3 N"]
[[effector]]
name = "end"
type = "orientation"
box = [["150 mm", 0, 0], [1, 1, 1]]
directions = [[0, 1, 0]]
lever = "20 mm"
[[effector]]
name = "taken"
type = "length"
cable = "bend"
)");
  write_text(path("more.toml"), text);
  Outcome outcome = run({"simulate", "more.toml", "--set", "press=-2 N", "--set", "bend=5 mm", "--integrator",
                         "quasi-static", "--steps", "1", "-o", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"command -2 N, force -2 N", "command 5 mm, tension", "turned by", "shortened by 5 mm"})
    EXPECT_TRUE(contains(outcome.out, words));
  const std::string trajectory = read_text(path("r/trajectory.csv"));
  EXPECT_TRUE(contains(trajectory,
                       "lift tension [N],bend tension [N],press force [N],end x [mm],end y [mm],end z [mm],taken x "
                       "[mm],taken y [mm],taken z [mm],tip x [mm],tip y [mm],tip z [mm],end turn x [deg],end turn y "
                       "[deg],end turn z [deg],taken shortening [mm]\n"));
  const std::string last = trajectory.substr(trajectory.rfind('\n', trajectory.size() - 2) + 1);
  EXPECT_NEAR(std::stod(last.substr(last.rfind(',') + 1)), 5, 1e-6);  // mm; the rows' tolerance is 1e-9 m

  outcome = run({"info", "more.toml", "--json", "info.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"force along (0, 0, -1), commanded", "cable, length pulled", "-3 N to 3 N",
                            "orientation along (0, 1, 0)", "length", "position"})
    EXPECT_TRUE(contains(outcome.out, words));
  const json scene = json::parse(read_text(path("info.json")))["scene"];
  EXPECT_EQ(scene["actuators"][2]["type"], "force");
  EXPECT_EQ(scene["actuators"][2]["direction"][2], -1);
  EXPECT_EQ(scene["actuators"][0]["type"], "cable");
  EXPECT_EQ(scene["effectors"][0]["type"], "orientation");
  EXPECT_EQ(scene["effectors"][0]["lever"], 0.02);
  EXPECT_EQ(scene["effectors"][1]["type"], "length");
  EXPECT_EQ(scene["effectors"][2]["directions"].size(), 3u);
}

TEST_F(Simulate, AnEarlierTangentIsFasterAndNotTheSame) {
  // Held after a short pull: the body comes to rest, and what an old tangent costs goes with the motion. Rounding of
  // the end would be 1e-14 of the millimetres moved; a share of 10 % moves the way there, the last digits of the rest.
  const std::vector<std::string> common{"scene.toml", "--set", "bend=5 mm", "--steps", "30"};
  auto kept = common;
  kept.insert(kept.end(), {"--keep-tangent", "10 %"});
  const json fresh = report(common), old = report(kept);
  EXPECT_NE(fresh["state_hash"], old["state_hash"]);
  EXPECT_EQ(fresh["factorisations"], 30);
  EXPECT_LT(old["factorisations"], 30);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--keep-tangent", "1"}, {"--keep-tangent", "-0.1"}, {"--keep-tangent", "2 mm"}}) {
    std::vector<std::string> all{"simulate", "scene.toml", "-o", "r"};
    all.insert(all.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run(all).code, 2) << wrong.back();
  }
  Outcome outcome = run({"simulate", "scene.toml", "--keep-tangent", "0.1", "--integrator", "quasi-static", "-o", "r"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "steps of one linearisation"));
  std::string text = read_text(path("scene.toml"));
  text.insert(text.find("[body]") + 7, "rayleigh_stiffness = \"5 ms\"\n");
  write_text(path("damped.toml"), text);
  outcome = run({"simulate", "damped.toml", "--keep-tangent", "0.1", "-o", "r"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "stiffness damping"));
  EXPECT_FALSE(exists("r"));
}

TEST_F(Simulate, AFileOfCommandsGivesTheDuration) {
  write_text(path("commands.csv"), "time [s],lift [N]\n0,0\n0.12,1\n");
  EXPECT_EQ(report({".", "--actuation", "commands.csv"})["steps"], 12);
  EXPECT_EQ(report({".", "--duration", "30 ms"})["steps"], 3);
}

TEST_F(Simulate, SettledItStays) {
  run({"simulate", ".", "--settle", "--steps", "1", "-o", "r"});
  const std::string trajectory = read_text(path("r/trajectory.csv"));
  const auto last = [](const std::string& line) { return std::stod(line.substr(line.rfind(',') + 1)); };
  const auto end = trajectory.size() - 1, middle = trajectory.rfind('\n', end - 1),
             begin = trajectory.rfind('\n', middle - 1);
  const double before = last(trajectory.substr(begin + 1, middle - begin - 1));
  const double after = last(trajectory.substr(middle + 1, end - middle - 1));
  EXPECT_LT(before, 19.9);
  EXPECT_NEAR(before, after, 1e-6);
}

TEST_F(Simulate, BadLinesOfCommandsHaveTheirPlace) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& bad : {Case{"time [s],lift [N]\n0,0\n1,x\n", "c.csv:3:3: error: 'x' is not a number"},
                          Case{"time [s],lift [N]\n0,0\n1\n", "c.csv:3: error: 1 cells, the header has 2"},
                          Case{"time [s],lift [N]\n1,0\n1,0\n", "c.csv:3:1: error: time does not go forward"},
                          Case{"time [s],lift [N]\n0,\n", "c.csv:2:3: error: a number is missing here"},
                          Case{"time [s],lift [N]\n0,nan\n", "'nan' is not a number"},
                          Case{"time [s],lift [mm]\n0,0\n", "a force is expected"},
                          Case{"time [s],lyft [N]\n0,0\n", "c.csv:1:10: error: the robot has no input 'lyft'"},
                          Case{"time [s],lift,lift\n0,0,0\n", "two columns"}, Case{"lift [N]\n0\n", "not the time"},
                          Case{"time [s],lift\n", "no line after the header"}, Case{"", "the file is empty"}}) {
    write_text(path("c.csv"), bad.text);
    const Outcome outcome = run({"simulate", ".", "--actuation", "c.csv", "-o", "r"});
    EXPECT_EQ(outcome.code, 2) << bad.text;
    EXPECT_TRUE(contains(outcome.err, bad.message));
    EXPECT_FALSE(exists("r"));
  }
}

TEST_F(Simulate, CommandsBeyondTheirRangeAreCutAndTold) {
  const Outcome outcome = run({"simulate", ".", "--set", "bend=60 mm", "--steps", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "60 mm of bend"));
  EXPECT_TRUE(contains(outcome.out, "command 20 mm"));
}

TEST_F(Simulate, StaticStepsObeyTheRatesOfActuatorsToo) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("range = [\"0 mm\", \"20 mm\"]"), 0, "rate = \"100 mm/s\"\n");
  write_text(path("slow.toml"), text);
  for (const std::string integrator : {"quasi-static", "implicit-euler"}) {
    const json found =
        report({"slow.toml", "--integrator", integrator, "--set", "bend=2.5 mm", "--steps", "4", "-o", "r"});
    const std::string trajectory = read_text(path("r/trajectory.csv"));
    // 1 mm in each of its 10 ms.
    for (const char* line : {"\n0.01,0,1,", "\n0.02,0,2,", "\n0.03,0,2.5,", "\n0.04,0,2.5,"})
      EXPECT_TRUE(contains(trajectory, line)) << integrator;
    EXPECT_EQ(found["limited_commands"], 2) << integrator;
    for (const char* stage : {"outputs", "forces", "factor", "solve", "rows"})
      EXPECT_GT(found["stages_us"][stage].get<double>(), 0) << integrator << " " << stage;
  }
}

TEST_F(Simulate, MotionsBeyondTheirRangeAreCutAndTold) {
  std::string text = read_text(path("scene.toml"));
  const std::string held = "group = \"x-\"\n";
  text.insert(text.find(held) + held.size(),
              "motion = \"base\"\ndirection = [0, 0, 1]\nrange = [\"-1 mm\", \"4 mm\"]\n");
  write_text(path("driven.toml"), text);
  for (const std::string integrator : {"quasi-static", "implicit-euler"}) {
    const Outcome outcome = run({"simulate", "driven.toml", "--integrator", integrator, "--set", "base=9 mm", "--steps",
                                 "3", "-o", "r", "--json", "report.json", "--force"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "9 mm of base at 0 ms is beyond its range -1 mm to 4 mm; it is cut to it"));
    EXPECT_EQ(json::parse(read_text(path("report.json")))["limited_commands"], 3) << integrator;
    EXPECT_TRUE(contains(read_text(path("r/trajectory.csv")), "\n0.03,0,0,4,")) << integrator;
  }
}

TEST_F(Simulate, WhereResultsGoIsLookedAtFirst) {
  for (const std::vector<std::string>& where : {std::vector<std::string>{"-o", "beam.msh/r"},
                                                {"-o", "beam.msh"},
                                                {"--json", "nowhere/r.json"},
                                                {"--json", "."}}) {
    std::vector<std::string> all{"simulate", ".", "--duration", "1000 s", "--force"};  // would be long
    all.insert(all.end(), where.begin(), where.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 2) << where[1];
    EXPECT_TRUE(contains(outcome.err, "folder")) << where[1];
  }
}

TEST_F(Simulate, ResultsAreNotReplacedUnasked) {
  ASSERT_EQ(run({"simulate", ".", "-o", "r", "--every", "1"}).code, 0);
  const std::string before = read_text(path("r/trajectory.csv"));
  const Outcome refused = run({"simulate", ".", "-o", "r", "--steps", "2"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--force"));
  EXPECT_EQ(read_text(path("r/trajectory.csv")), before);
  write_text(path("r/notes.txt"), "mine");
  EXPECT_EQ(run({"simulate", ".", "-o", "r", "--steps", "2", "--force"}).code, 0);
  EXPECT_NE(read_text(path("r/trajectory.csv")), before);
  EXPECT_FALSE(exists("r/step_000004.vtu")) << "a shape of the old run";
  EXPECT_EQ(read_text(path("r/notes.txt")), "mine");
}

TEST_F(Simulate, AFailedStepIsToldAndTheLastStateKept) {
  // Far too heavy for a static equilibrium.
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("1000 kg/m^3"), 11, "9e6 kg/m^3");
  write_text(path("heavy.toml"), text);
  const Outcome outcome =
      run({"simulate", "heavy.toml", "--integrator", "quasi-static", "-o", "r", "--json", "report.json"});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "step 1 (to 10 ms) failed: "));
  EXPECT_TRUE(contains(outcome.err, "try: "));
  EXPECT_TRUE(exists("r/state.h5"));
  EXPECT_FALSE(exists("report.json"));
}

// The crawler on its floor, more than a hundred points with friction: forces that are accepted with a larger residual,
// or of contacts made soft, are rare, and counted.
TEST_F(Simulate, ContactSolvesAreCounted) {
  const std::string scene = std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets/multigait/crawl.toml";
  const Outcome outcome = run({"simulate", scene, "--sweep", "--steps", "25", "--json", "crawl.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json contact = json::parse(read_text(path("crawl.json")))["contact"];
  EXPECT_GT(contact["most_touching"], 50);
  const int solves = contact["solves"];
  EXPECT_GE(solves, 25);
  EXPECT_LE(100 * contact["loose"].get<int>(), solves);
  EXPECT_EQ(contact["softened"], 0);
  EXPECT_LE(contact["residual"].get<double>(), 1e-2);
  EXPECT_TRUE(contains(outcome.out, "of " + std::to_string(solves) + " solves "));
}

TEST_F(Simulate, TheFullModelHasNoGpu) {
  const Outcome outcome = run({"simulate", ".", "--device", "cuda:0"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "--device cpu"));
}

}  // namespace
}  // namespace supple::test

// Scenes of several bodies from the command line.

#include <map>
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Assembly : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("pair.toml", base);
  }
  void write(const std::string& name, const std::string& text) { write_text(path(name), text); }
  Outcome simulate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "simulate");
    return run(arguments);
  }
  // The last line of a trajectory, by its columns.
  std::map<std::string, std::string> last(const std::string& folder) {
    std::ifstream file(path(folder + "/trajectory.csv"));
    std::string header, line, row;
    std::getline(file, header);
    while (std::getline(file, line)) row = line;
    std::map<std::string, std::string> cells;
    for (std::size_t h = 0, r = 0; h < header.size();) {
      const std::size_t end = std::min(header.find(',', h), header.size()),
                        stop = std::min(row.find(',', r), row.size());
      cells[header.substr(h, end - h)] = row.substr(r, stop - r);
      h = end + 1;
      r = stop + 1;
    }
    return cells;
  }
  double number(const std::string& folder, const std::string& column) {
    const auto cells = last(folder);
    const auto found = cells.find(column);
    EXPECT_NE(found, cells.end()) << column;
    return found == cells.end() ? 0 : std::stod(found->second);
  }
  void refused(const std::string& text, const std::string& problem) {
    write("bad.toml", text);
    const Outcome outcome = run({"check", "bad.toml"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(problem), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("try:"), std::string::npos) << outcome.err;
  }

  const std::string base = R"(name = "pair"
time_step = "10 ms"
duration = "50 ms"
[[rigid]]
name = "palm"
size = ["50 mm", "50 mm", "10 mm"]
motion = "slide"
direction = [0, 1, 0]
range = ["-20 mm", "20 mm"]
point = [{name = "hook", point = ["200 mm", "520 mm", "60 mm"]}]
[[part]]
name = "one"
scene = "scene.toml"
on = "palm"
[[part]]
name = "two"
scene = "scene.toml"
on = "palm"
translation = [0, "500 mm", 0]
)";
};

TEST_F(Assembly, PartsThatNothingTiesMoveAsAlone) {
  EXPECT_EQ(run({"simulate", "scene.toml", "--set", "bend=5 mm", "-o", "alone"}).code, 0);
  const Outcome outcome = simulate({"pair.toml", "--set", "one/bend=5 mm", "-o", "both"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const std::string axis : {"x", "y", "z"})
    // Printed with six digits or more; the law solves more rows at once.
    EXPECT_NEAR(number("both", "one/tip " + axis + " [mm]"), number("alone", "tip " + axis + " [mm]"), 1e-3);
  EXPECT_GT(number("both", "two/tip y [mm]"), 500);
  EXPECT_TRUE(exists("both/step_000005.vtu"));
}

TEST_F(Assembly, AMotionCarriesItsParts) {
  const Outcome outcome =
      simulate({"pair.toml", "--set", "palm/slide=10 mm", "--integrator", "quasi-static", "-o", "moved"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(simulate({"pair.toml", "--integrator", "quasi-static", "-o", "still"}).code, 0);
  EXPECT_NEAR(number("moved", "palm y [mm]"), 10, 1e-9);
  for (const std::string part : {"one", "two"}) {
    EXPECT_NEAR(number("moved", part + "/tip y [mm]") - number("still", part + "/tip y [mm]"), 10, 1e-3);
    EXPECT_NEAR(number("moved", part + "/tip z [mm]"), number("still", part + "/tip z [mm]"), 1e-3);
  }
}

TEST_F(Assembly, BitsDoNotDependOnThreadsAndRunsGoOn) {
  write("linked.toml", base + R"([[rigid]]
name = "load"
mass = "50 g"
size = ["20 mm", "20 mm", "20 mm"]
translation = ["200 mm", "20 mm", "20 mm"]
[[link]]
name = "grip"
from = "one/tip"
to = "load"
)");
  // A part's point is named behind a colon.
  EXPECT_EQ(simulate({"linked.toml"}).code, 2);
  std::string text = read_text(path("linked.toml"));
  text.replace(text.find("one/tip"), 7, "one:tip");
  write("linked.toml",
        text + "[[link]]\nname = \"string\"\ntype = \"limit\"\nfrom = \"two:tip\"\nto = \"palm:hook\"\n");
  json found[2];
  for (int k = 0; k < 2; ++k) {
    const Outcome outcome = simulate({"linked.toml", "--threads", k == 0 ? "1" : "2", "--set", "one/bend=5 mm",
                                      "--steps", "10", "--json", "report.json", "--force", "--quiet"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    found[k] = json::parse(read_text(path("report.json")));
  }
  EXPECT_EQ(found[0]["state_hash"], found[1]["state_hash"]);
  EXPECT_EQ(simulate({"linked.toml", "--set", "one/bend=5 mm", "--steps", "4", "-o", "half"}).code, 0);
  const Outcome rest = simulate({"--resume", "half", "--steps", "10", "--json", "report.json", "--force", "--quiet"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(json::parse(read_text(path("report.json")))["state_hash"], found[0]["state_hash"]);
}

// The pair with a box on springs between its tips, whose place is led by the palm and both cables.
TEST_F(Assembly, ItsPartsAreReducedInItAndItIsLed) {
  std::string alone = base;
  for (const std::string part : {"one", "two"}) {
    const std::string line = "name = \"" + part + "\"\n";
    alone.insert(alone.find(line) + line.size(), "collision = \"none\"\n");
  }
  write("world.toml", alone + R"([[rigid]]
name = "load"
mass = "20 g"
size = ["20 mm", "20 mm", "20 mm"]
translation = ["200 mm", "270 mm", "20 mm"]
collision = "none"
[[effector]]
name = "place"
at = "load"
directions = [[0, 1, 0]]
[[link]]
name = "left"
type = "distance"
from = "one:tip"
to = "load"
stiffness = "100 N/m"
[[link]]
name = "right"
type = "distance"
from = "two:tip"
to = "load"
stiffness = "100 N/m"
[reduce]
states = 6
validation_states = 4
)");
  const Outcome refused = run({"reduce", "world.toml", "-o", "world.rom.h5"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("a folder"), std::string::npos) << refused.err;
  EXPECT_EQ(run({"reduce", "world.toml", "--jobs", "2"}).code, 2);
  const Outcome outcome =
      run({"reduce", "world.toml", "--error", "5 %", "-o", "world.reduced", "--json", "report.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  const json report = json::parse(read_text(path("report.json")));
  EXPECT_EQ(report["parts"].size(), 1U);
  EXPECT_LE(report["validation"]["goal_error_mean"], 0.05);
  EXPECT_TRUE(exists("world.reduced/scene.toml"));
  EXPECT_TRUE(exists("world.reduced/scene.rom.h5"));
  // It is not replaced unless told so, and what missed is not written.
  EXPECT_EQ(run({"reduce", "world.toml", "--error", "5 %", "-o", "world.reduced"}).code, 2);
  const Outcome missed = run({"reduce", "world.toml", "--error", "1e-9", "--modes", "1", "-o", "missed"});
  EXPECT_EQ(missed.code, 1);
  EXPECT_FALSE(exists("missed"));

  write("goals.csv", "time [s],place x [mm],place y [mm],place z [mm]\n0,0,270,0\n0.2,0,272,0\n1,0,272,0\n");
  const Outcome led = run({"inverse", "world.reduced", "--goal", "goals.csv", "--replay", "world.toml", "-o", "led",
                           "--integrator", "quasi-static", "--steps", "20", "--json", "led.json"});
  ASSERT_EQ(led.code, 0) << led.err;
  const json tracking = json::parse(read_text(path("led.json")));
  EXPECT_LT(tracking["tracking_error_median"], 1e-6);
  EXPECT_NE(led.out.find("on the full model"), std::string::npos) << led.out;
}

TEST_F(Assembly, CheckAndInfoSayWhatItIs) {
  const Outcome check = run({"check", "pair.toml", "--json", "check.json"});
  ASSERT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find("fit to be simulated"), std::string::npos);
  const json report = json::parse(read_text(path("check.json")));
  EXPECT_EQ(report["equilibrium"]["status"], "ok");
  EXPECT_EQ(report["scene"]["inputs"].size(), 5U);  // two cables each, and the motion
  const Outcome info = run({"info", "pair.toml"});
  EXPECT_EQ(info.code, 0);
  for (const char* text : {"palm: driven", "one: full model", "palm/slide", "two/tip"})
    EXPECT_NE(info.out.find(text), std::string::npos) << text;
}

TEST_F(Assembly, CheckLooksForTheEquilibriumOfFreeBodies) {
  const std::string load = R"([[rigid]]
name = "load"
mass = "50 g"
size = ["20 mm", "20 mm", "20 mm"]
translation = ["200 mm", "20 mm", "20 mm"]
point = [{name = "a", point = ["10 mm", 0, "10 mm"]}, {name = "b", point = [0, "10 mm", "10 mm"]},
         {name = "c", point = ["-10 mm", "-10 mm", "10 mm"]}]
)";
  // Equilibria of free bodies that may touch others are not computed.
  const auto apart = [](std::string text) {
    for (const std::string table : {"[[part]]\n", "[[rigid]]\n"})
      for (std::size_t at = 0; (at = text.find(table, at)) != std::string::npos; at += table.size())
        text.insert(at + table.size(), "collision = \"none\"\n");
    return text;
  };
  const auto status = [&](const std::string& text) {
    write("load.toml", apart(text));
    const Outcome outcome = run({"check", "load.toml", "--json", "load.json", "--force"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json report = json::parse(read_text(path("load.json")));
    const bool found = outcome.out.find("found in") != std::string::npos;
    EXPECT_EQ(found, report["equilibrium"]["status"] == "ok") << outcome.out;
    // What cannot be settled is said to need springs.
    EXPECT_NE(found, outcome.out.find("--settle need") != std::string::npos) << outcome.out;
    return found;
  };
  EXPECT_FALSE(status(base + load));  // it falls
  std::string held = base + load + R"([[rigid]]
name = "ceiling"
held = true
translation = ["200 mm", "20 mm", "30 mm"]
point = [{name = "a", point = ["10 mm", 0, 0]}, {name = "b", point = [0, "10 mm", 0]},
         {name = "c", point = ["-10 mm", "-10 mm", 0]}]
)";
  for (const std::string point : {"a", "b", "c"})
    held += "[[link]]\nname = \"" + point + "\"\nfrom = \"load:" + point + "\"\nto = \"ceiling:" + point +
            "\"\nstiffness = \"1 N/mm\"\n";
  EXPECT_TRUE(status(held));
  refused("integrator = \"quasi-static\"\n" + apart(base + load), "no equilibrium");
}

// A rigid box that falls on a floor, beside the parts.
const std::string fallen = R"([[rigid]]
name = "box"
mass = "100 g"
size = ["20 mm", "20 mm", "20 mm"]
translation = [0, "-300 mm", "30 mm"]
[[obstacle]]
name = "floor"
type = "plane"
position = [0, 0, "-200 mm"]
friction = 0.4
[contact]
distance = "1 mm"
spacing = "20 mm"
)";

TEST_F(Assembly, BodiesFallOnObstacles) {
  write("fall.toml", base + fallen);
  const Outcome outcome =
      simulate({"fall.toml", "--duration", "400 ms", "-o", "fall", "--json", "fall.json", "--record", "fall.rec.h5"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(number("fall", "box z [mm]"), -200 + 1 + 10, 1e-6);
  const json contact = json::parse(read_text(path("fall.json")))["contact"];
  EXPECT_NEAR(contact["force"][2].get<double>(), 0.1 * 9.81, 1e-6);
  EXPECT_NEAR(contact["least_gap"].get<double>(), 1e-3, 1e-8);
  const Outcome check = run({"check", "fall.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  for (const char* text : {"kept at a distance of 1 mm", "depends on the way there"})
    EXPECT_NE(check.out.find(text), std::string::npos) << check.out;
  for (const std::vector<std::string>& statics :
       {std::vector<std::string>{"--settle"}, {"--integrator", "quasi-static"}}) {
    std::vector<std::string> arguments = {"fall.toml"};
    arguments.insert(arguments.end(), statics.begin(), statics.end());
    const Outcome refusal = simulate(arguments);
    EXPECT_EQ(refusal.code, 2);
    EXPECT_NE(refusal.err.find("not computed in contact with obstacles yet"), std::string::npos) << refusal.err;
  }
}

TEST_F(Assembly, SaysWhichObstaclesItDoesNotTake) {
  refused(base + fallen + "box = [[0, 0, 0], [1, 1, 1]]\n", "does not say of which part");
  refused(base + fallen + "surface = {file = \"skin.stl\"}\n", "does not say of which part");
  refused(base + "[[obstacle]]\nname = \"one\"\ntype = \"plane\"\n", "the name 'one' is taken");
  refused(base + "[[obstacle]]\nname = \"rock\"\ntype = \"mesh\"\nsurface = {file = \"rock.stl\"}\n", "the surface");
  refused("[[rigid]]\nname = \"a\"\nheld = true\n[[obstacle]]\nname = \"floor\"\ntype = \"plane\"\n",
          "nothing can touch");
  // A part keeps its region and spacing, not obstacles or a distance of its own.
  const std::string own = read_text(path("scene.toml"));
  write("scene.toml", own + "\n[contact]\ndistance = \"2 mm\"\n");
  refused(base + fallen, "another contact distance");
  write("scene.toml", own + "\n[[obstacle]]\nname = \"floor\"\ntype = \"plane\"\nposition = [0, 0, -1]\n");
  refused(base, "obstacles of its own");
  refused(base + fallen, "obstacles of its own");
}

TEST_F(Assembly, SaysWhatItDoesNotTake) {
  refused("[[rigid]]\nname = \"a\"\n", "moves freely and has no mass");
  refused("[[rigid]]\nname = \"a\"\nheld = true\n[[part]]\nname = \"b\"\n", "neither scene and model");
  refused("[[part]]\nname = \"b\"\nscene = \"none.toml\"\n", "does not exist");
  refused("[[part]]\nname = \"b\"\nscene = \"scene.toml\"\non = \"c\"\n", "no rigid body of the scene");
  refused(base + "[[link]]\nname = \"l\"\nfrom = \"one:no\"\nto = \"palm\"\n", "no point of the scene");
  refused(base + "[[link]]\nname = \"l\"\nfrom = \"one:tip\"\nto = \"one:tip\"\n", "one point twice");
  refused(base + "[[rigid]]\nname = \"one\"\nheld = true\n", "the name 'one' is taken");
  refused(base +
              "[[rigid]]\nname = \"wall\"\nheld = true\n[[link]]\nname = \"l\"\nfrom = \"wall\"\nto = \"palm:hook\"\n" +
              "type = \"distance\"\n",
          "can move neither");
  refused(base + "[[link]]\nname = \"l\"\nfrom = \"palm\"\nto = \"palm:hook\"\ntype = \"distance\"\n",
          "both are on one rigid body");
  refused(base + "[body]\n", "body");
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"reduce", "pair.toml", "-o", "m.h5"},
                                               {"snapshots", "pair.toml", "-o", "states"},
                                               {"simulate", "pair.toml", "--keep-tangent", "0.1"}}) {
    const Outcome outcome = run(verb);
    EXPECT_EQ(outcome.code, 2) << verb[0];
    EXPECT_NE(outcome.err.find("several bodies"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace supple::test

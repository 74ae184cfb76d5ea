// Constraints and implicit factors on the command line: the example of assets/cantilever.
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

class Constraints : public Cli {
 protected:
  std::string propped_ = std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets/cantilever/propped.toml";
};

TEST_F(Constraints, ExampleIsDescribed) {
  const Outcome outcome = run({"info", propped_, "--json", "i.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "implicit velocity 0.5, position 1"));
  EXPECT_TRUE(contains(outcome.out, "at most 251 mm"));
  EXPECT_TRUE(contains(outcome.out, "500 N/m, as force"));
  EXPECT_TRUE(contains(outcome.out, "2000 N/m, as constraint, damping time 20 ms"));
  const auto json = nlohmann::json::parse(read_text(path("i.json")));
  const auto& scene = json.contains("scene") ? json["scene"] : json;
  ASSERT_EQ(scene["constraints"].size(), 4u);
  EXPECT_EQ(scene["constraints"][1]["one_sided"], true);
  EXPECT_EQ(scene["constraints"][3]["as"], "force");
  EXPECT_EQ(scene["implicit_velocity"], 0.5);
}

TEST_F(Constraints, ExampleRunsAndReportsForces) {
  for (const char* integrator : {"implicit-euler", "quasi-static"}) {
    const Outcome outcome = run({"simulate", propped_, "--steps", "4", "--integrator", integrator, "-o", integrator});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "prop"));
    const std::string table = read_text(path(std::string(integrator) + "/trajectory.csv"));
    EXPECT_TRUE(contains(table, "lift tension [N],prop force [N],rope force [N],guide force [N],tip x [mm]"));
  }
}

TEST_F(Constraints, ReducedModelKeepsThem) {
  // The beam of these tests with a damped spring, a rope and halves: reduced, described and run.
  write_text(path("propped.toml"),
             "include = \"scene.toml\"\nimplicit_velocity = 0.5\nimplicit_position = 0.5\n"
             "[[constraint]]\nname = \"prop\"\ntype = \"fixed-point\"\npoint = [\"150 mm\", \"10 mm\", \"10 "
             "mm\"]\ndirections = [[0, 0, 1]]\nstiffness = \"50 N/m\"\ndamping_time = \"5 ms\"\nas = "
             "\"constraint\"\n[[constraint]]\nname = \"tie\"\ntype = \"distance\"\npoints = [[\"100 mm\", \"10 "
             "mm\", \"20 mm\"]]\nanchor = [0, 0, \"200 mm\"]\ncompliance = \"10 mm/N\"\n[reduce]\nstates = "
             "10\nvalidation_states = 4\n");
  Outcome outcome = run({"reduce", "propped.toml", "-o", "p.rom.h5", "--seconds", "50 ms"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  outcome = run({"info", "p.rom.h5"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "50 N/m, as constraint"));
  EXPECT_TRUE(contains(outcome.out, "100 N/m, as force"));
  EXPECT_TRUE(contains(outcome.out, "implicit velocity 0.5"));
  outcome = run({"run", "p.rom.h5", "--steps", "5", "-o", "p"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(read_text(path("p/trajectory.csv")), "prop force [N]"));
}

TEST_F(Constraints, BodyHeldByThemAloneIsNotReduced) {
  std::string scene = read_text(path("scene.toml"));
  const std::string fix = "[[fix]]\ngroup = \"x-\"\n";
  scene.erase(scene.find(fix), fix.size());
  const std::string hooks[] = {"[0, 0, 0]", "[\"200 mm\", 0, 0]", "[0, \"40 mm\", 0]"};
  for (int k = 0; k < 3; ++k)
    scene +=
        "[[constraint]]\nname = \"hook" + std::to_string(k) + "\"\ntype = \"fixed-point\"\npoint = " + hooks[k] + "\n";
  write_text(path("hung.toml"), scene);
  Outcome outcome = run({"simulate", "hung.toml", "--steps", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  outcome = run({"check", "hung.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "found in"));
  outcome = run({"reduce", "hung.toml", "-o", "h.rom.h5"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "only constraints hold the body"));
}

}  // namespace
}  // namespace supple::test

#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Inspect : public Cli {};

TEST_F(Inspect, TheProgram) {
  const Outcome outcome = run({"info", "--json", "info.json", "--threads", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* label : {"version", "commit", "build", "processor", "sparse solver", "CUDA", "HDF5"})
    EXPECT_TRUE(contains(outcome.out, label));
  const json report = json::parse(read_text(path("info.json")));
  for (const char* key : {"version", "commit", "isa", "machine", "threads"}) EXPECT_TRUE(report.contains(key)) << key;
  EXPECT_EQ(report["threads"], 1);
}

TEST_F(Inspect, AMesh) {
  const Outcome outcome = run({"info", "beam.msh", "--unit", "m", "--json", "info.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "5 hexahedra"));
  EXPECT_TRUE(contains(outcome.out, "x 0 to 200, y 0 to 40, z 0 to 40 mm"));
  EXPECT_TRUE(contains(outcome.out, "320 cm^3"));
  EXPECT_EQ(json::parse(read_text(path("info.json")))["mesh"]["nodes"], 24);
}

TEST_F(Inspect, AScene) {
  const Outcome outcome = run({"info", ".", "--json", "info.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words :
       {"24, 4 of them held", "320 g", "500 kPa", "0 mm to 20 mm", "0 N to 2 N", "(200, 20, 20) mm"})
    EXPECT_TRUE(contains(outcome.out, words));
  const json scene = json::parse(read_text(path("info.json")))["scene"];
  EXPECT_EQ(scene["unknowns"], 60);
  EXPECT_NEAR(scene["mass"].get<double>(), 0.32, 1e-12);
  EXPECT_EQ(scene["actuators"][1]["range"][1], 0.02);
}

TEST_F(Inspect, Obstacles) {
  write_text(
      path("touching.toml"),
      read_text(path("scene.toml")) +
          "[[obstacle]]\nname = \"floor\"\ntype = \"plane\"\nposition = [0, 0, \"1 mm\"]\nfriction = 0.5\n"
          "[[obstacle]]\nname = \"pipe\"\ntype = \"cylinder\"\nradius = \"0.5 m\"\nlength = 2\ninside = true\n"
          "axis = [1, 0, 0]\n"
          "[[obstacle]]\nname = \"hose\"\ntype = \"tube\"\nradius = \"0.3 m\"\nthickness = \"5 mm\"\nlength = 1\n"
          "friction = 0.1\nmax_force = \"2 N\"\n"
          "[contact]\ndistance = \"2 mm\"\nspacing = \"50 mm\"\n");
  const Outcome outcome = run({"info", "touching.toml", "--json", "info.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"plane, normal (0, 0, 1)", "at (0, 0, 1) mm", "friction 0.5",
                            "inside of a cylinder, radius 500 mm, length 2 m, axis (1, 0, 0)",
                            "tube, inner radius 300 mm, wall 5 mm, length 1 m, axis (0, 0, 1)",
                            "friction 0.1, at most 2 N in inverse control", "points, kept at a distance of 2 mm",
                            "too near to obstacle 'floor' at rest", "mm by 3 mm"})
    EXPECT_TRUE(contains(outcome.out, words)) << words << "\n" << outcome.out;
  const json scene = json::parse(read_text(path("info.json")))["scene"];
  EXPECT_EQ(scene["obstacles"].size(), 3u);
  EXPECT_EQ(scene["obstacles"][1]["type"], "cylinder");
  EXPECT_EQ(scene["obstacles"][1]["radius"], 0.5);
  EXPECT_EQ(scene["obstacles"][1]["inside"], true);
  EXPECT_EQ(scene["obstacles"][0]["friction"], 0.5);
  EXPECT_FALSE(scene["obstacles"][0].contains("max_force"));
  EXPECT_EQ(scene["obstacles"][2]["type"], "tube");
  EXPECT_EQ(scene["obstacles"][2]["thickness"], 0.005);
  EXPECT_EQ(scene["obstacles"][2]["length"], 1);
  EXPECT_EQ(scene["obstacles"][2]["max_force"], 2);
  EXPECT_EQ(scene["contact"]["distance"], 0.002);
  EXPECT_GT(scene["contact"]["points"].get<int>(), 2);
  EXPECT_LT(scene["contact"]["points"].get<int>(), 20);
}

TEST_F(Inspect, ARecording) {
  ASSERT_EQ(run({"inverse", "scene.toml", "--circle", "1 mm", "--steps", "12", "--record", "a.rec.h5"}).code, 0);
  const Outcome outcome = run({"info", "a.rec.h5", "--json", "info.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"13, from 0 ms to 120 ms", "10 ms, implicit-euler", "60 unknowns, 2 actuators",
                            "found for goals in 13 frames, held in 0"})
    EXPECT_TRUE(contains(outcome.out, words));
  const json recording = json::parse(read_text(path("info.json")))["recording"];
  EXPECT_EQ(recording["frames"], 13);
  EXPECT_EQ(recording["inverse_frames"], 13);
  EXPECT_EQ(recording["pulled_frames"], 0);
  EXPECT_EQ(recording["unknowns"], 60);
  EXPECT_NEAR(recording["last_time"].get<double>(), 0.12, 1e-12);
  EXPECT_EQ(recording["robot"]["found"], path("scene.toml"));
  EXPECT_FALSE(recording.contains("beside"));

  // Without its robot it can still be looked into; half of it cannot.
  std::filesystem::remove(path("scene.toml"));
  const Outcome alone = run({"info", "a.rec.h5", "--json", "alone.json"});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(contains(alone.out, "gone, or changed since"));
  EXPECT_TRUE(json::parse(read_text(path("alone.json")))["recording"]["robot"]["found"].is_null());
  std::filesystem::resize_file(path("a.rec.h5"), std::filesystem::file_size(path("a.rec.h5")) / 2);
  EXPECT_EQ(run({"info", "a.rec.h5"}).code, 2);
}

TEST_F(Inspect, CheckFindsTheEquilibrium) {
  const Outcome outcome = run({"check", "scene.toml", "--json", "check.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "fit to be simulated"));
  const json report = json::parse(read_text(path("check.json")));
  EXPECT_EQ(report["equilibrium"]["status"], "ok");
  EXPECT_GT(report["equilibrium"]["max_displacement"].get<double>(), 1e-4);
  EXPECT_EQ(report["reducible"], true);
}

TEST_F(Inspect, PointsOutsideAreOneNoteTheFurthestFirst) {
  std::string text = read_text(path("scene.toml"));
  const std::string points = "points = [[\"200 mm\", \"20 mm\", \"0 mm\"]]";
  text.replace(text.find(points), points.size(),
               "points = [[\"200 mm\", \"20 mm\", \"-1 mm\"], [\"150 mm\", \"20 mm\", \"-2 mm\"], "
               "[\"100 mm\", \"20 mm\", \"-4 mm\"], [\"50 mm\", \"20 mm\", \"-3 mm\"], "
               "[\"20 mm\", \"20 mm\", \"-0.5 mm\"]]");
  write_text(path("outside.toml"), text);
  const Outcome outcome = run({"check", "outside.toml", "--json", "check.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out,
                       "5 points lie outside the mesh and follow the nearest element: point 3 of cable 'bend' by 4 mm, "
                       "point 4 of cable 'bend' by 3 mm, point 2 of cable 'bend' by 2 mm and 2 more"));
  EXPECT_EQ(json::parse(read_text(path("check.json")))["scene"]["notes"].size(), 1U);
}

TEST_F(Inspect, CheckSaysWhatIsWrongWithARecipe) {
  write_text(path("layer.toml"), read_text(path("scene.toml")) + "\n[reduce]\nmembranes = \"strains\"\n");
  const Outcome outcome = run({"check", "layer.toml", "--json", "layer.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(
      contains(outcome.out, "is for bodies with sheets ([[body.membrane]] with a thickness), and this one has none"))
      << outcome.out;
  EXPECT_EQ(json::parse(read_text(path("layer.json")))["reducible"], false);
}

TEST_F(Inspect, CheckRefusesABodyThatTurns) {
  // Held on an edge only: it swings.
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("group = \"x-\""), 12,
               "box = [[\"-1 mm\", \"-1 mm\", \"-1 mm\"], [\"1 mm\", \"50 mm\", \"1 mm\"]]");
  text.erase(text.find("[[actuator]]"), text.find("[[effector]]") - text.find("[[actuator]]"));
  write_text(path("hinge.toml"), text);
  const Outcome outcome = run({"check", "hinge.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "no equilibrium under gravity"));
}

TEST_F(Inspect, AnExistingJsonFileIsKept) {
  write_text(path("mine.json"), "precious");
  const Outcome refused = run({"check", "scene.toml", "--json", "mine.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--force"));
  EXPECT_EQ(read_text(path("mine.json")), "precious");
  EXPECT_EQ(run({"check", "scene.toml", "--json", "mine.json", "--force"}).code, 0);
  EXPECT_EQ(read_text(path("mine.json"))[0], '{');
}

}  // namespace
}  // namespace supple::test

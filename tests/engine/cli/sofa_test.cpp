// From a scene to SOFA's files and back, as a user does it.
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Sofa : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_text(path("scene.toml"), read_text(path("scene.toml")) + "[reduce]\nstates = 16\nvalidation_states = 6\n");
  }
  json parse(const std::string& name) { return json::parse(read_text(path(name))); }

  // Five decimals of one mode that stretches the beam, on all 24 nodes; the four at x = 0 are held.
  void write_sofa_files() {
    std::string modes = "72 1\n";
    for (int node = 0; node < 24; ++node) modes += node % 6 == 0 ? "0\n0\n0\n" : "   0.22361\n   0.00000\n   0.00000\n";
    write_text(path("modes.txt"), modes);
    write_text(path("RID.txt"), "2 1\n1\n4\n");
    write_text(path("weight.txt"), "5 1\n0\n2.5\n0\n0\n2.5\n");
  }
  Outcome import(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"import-sofa", ".", "--modes", "modes.txt", "--rid", "RID.txt", "--weights",
                               "weight.txt", "-o", "beam.rom.h5"});
    return run(more);
  }
};

TEST_F(Sofa, AReducedModelGoesThereAndBack) {
  write_text(path("scene.toml"), read_text(path("scene.toml")) + "unit = \"element\"\n");
  Outcome outcome = run({"reduce", ".", "-o", "beam.rom.h5", "--seconds", "10 ms", "--modes", "6"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "-o", "sofa", "--json", "export.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(read_text(path("sofa/README.txt")), "72 rows"));
  std::vector<std::string> words{"import-sofa", ".", "--modes", "sofa/modes.txt", "-o", "again.rom.h5"};
  const json exported = parse("export.json");
  for (const std::string name : exported["files"]) {
    if (name.ends_with("_RID.txt")) words.insert(words.end(), {"--rid", "sofa/" + name});
    if (name.ends_with("_weight.txt")) words.insert(words.end(), {"--weights", "sofa/" + name});
  }
  outcome = run(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "never measured"));
  // The same robot, to rounding.
  std::vector<double> shapes[2];
  for (const auto& [k, model] : {std::pair{0, "beam.rom.h5"}, {1, "again.rom.h5"}}) {
    const std::string folder = std::string("run") + std::to_string(k);
    ASSERT_EQ(run({"run", model, "--set", "bend=8 mm", "--steps", "20", "-o", folder}).code, 0);
    std::string last = read_text(path(folder + "/trajectory.csv"));
    last = last.substr(last.rfind('\n', last.size() - 2) + 1);
    for (std::size_t at = 0; at < last.size(); at = last.find_first_of(",\n", at) + 1)
      shapes[k].push_back(std::strtod(last.c_str() + at, nullptr));
  }
  ASSERT_EQ(shapes[0].size(), shapes[1].size());
  for (std::size_t i = 0; i < shapes[0].size(); ++i) EXPECT_NEAR(shapes[0][i], shapes[1][i], 1e-6);
  // The states of the reduction are those of the validation.
  words.insert(words.end(), {"--force", "--validate", "--snapshots", "beam.snapshots", "--json", "import.json"});
  outcome = run(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(run({"info", "beam.rom.h5", "--json", "info.json"}).code, 0);
  const json made = parse("info.json")["model"]["validation"], imported = parse("import.json")["validation"];
  EXPECT_EQ(imported["states"], 6);
  EXPECT_NEAR(imported["goal_error_mean"].get<double>(), made["goal_error_mean"].get<double>(), 1e-6);
  EXPECT_NEAR(imported["shape_error_max"].get<double>(), made["shape_error_max"].get<double>(), 1e-6);
}

// The modes that a model file does not hold are made again as they were made: whatever its recipe.
TEST_F(Sofa, AModelOfAnyRecipeGoesThere) {
  std::string plain = read_text(path("scene.toml")) + "unit = \"element\"\n";
  std::string greedy = plain;
  plain.replace(plain.find("states = 16"), 11, "states = 6");
  greedy.replace(greedy.find("states = 16"), 11, "sampling = \"greedy\"\nmax_modes = 3\nstates = 24");
  std::string touching = plain + "contact_modes = 2\n";
  touching.insert(touching.find("[reduce]"), R"([[obstacle]]
name = "peg"
type = "box"
size = ["40 mm", "100 mm", "20 mm"]
position = ["150 mm", "20 mm", "-11 mm"]
[contact]
spacing = "30 mm"
)");
  std::string floating = plain;
  floating.insert(0, "gravity = [0, 0, 0]\n");
  floating.erase(floating.find("[[fix]]"), std::string("[[fix]]\ngroup = \"x-\"\n").size());
  floating.erase(floating.find("[[actuator]]"), floating.find("[[effector]]") - floating.find("[[actuator]]"));
  floating.insert(floating.find("[[effector]]"), R"([[actuator]]
name = "bend"
type = "cable"
points = [["0 mm", "20 mm", "0 mm"], ["100 mm", "20 mm", "0 mm"], ["200 mm", "20 mm", "0 mm"]]
range = ["0 mm", "10 mm"]
)");
  const std::string on_frame = floating;
  floating += "rigid_motion = \"linearised\"\n";
  for (const auto& [name, text] : {std::pair{"greedy", greedy},
                                   {"touching", touching},
                                   {"floating", floating},
                                   {"on_frame", on_frame},
                                   {"of_options", plain}}) {
    const std::string stem = name;
    write_text(path(stem + ".toml"), text);
    std::vector<std::string> words{"reduce", stem + ".toml", "-o", stem + ".rom.h5", "--seconds", "10 ms"};
    if (stem == "of_options") words.insert(words.end(), {"--modes", "4", "--seed", "5"});
    if (stem == "floating" || stem == "on_frame")
      words.emplace_back("--accept-errors");  // how good it is does not matter here
    Outcome outcome = run(words);
    ASSERT_EQ(outcome.code, 0) << name << outcome.err;
    outcome = run({"export", stem + ".rom.h5", "--format", "sofa", "--scene", stem + ".toml", "-o", stem, "--json",
                   "e.json", "--force"});
    EXPECT_EQ(outcome.code, stem == "on_frame" ? 2 : 0) << name << outcome.err;
    EXPECT_EQ(contains(outcome.err, "on a frame cannot be written"), stem == "on_frame") << outcome.err;
    if (outcome.code != 0) continue;
    EXPECT_TRUE(contains(read_text(path(stem + "/README.txt")), "72 rows")) << name;
    ASSERT_EQ(run({"info", stem + ".rom.h5", "--json", "i.json", "--force"}).code, 0);
    EXPECT_EQ(parse("e.json")["modes"], parse("i.json")["model"]["modes"]) << name;
  }
}

TEST_F(Sofa, PointsHaveNoWeightsThere) {
  Outcome outcome = run({"reduce", ".", "-o", "beam.rom.h5", "--seconds", "10 ms", "--json", "reduce.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "points"));
  const json made = parse("reduce.json");
  const json rid = made["rid"].begin().value();
  EXPECT_EQ(rid["unit"], "point");
  EXPECT_LE(rid["elements"], 5);
  EXPECT_GE(rid["points"], rid["elements"]);
  EXPECT_LT(rid["points"], 40);
  EXPECT_EQ(made["table"][1]["points"], 40);
  EXPECT_EQ(made["table"][1]["elements"], 5);
  outcome = run({"info", "beam.rom.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, " points in "));
  EXPECT_EQ(run({"run", "beam.rom.h5", "--set", "bend=8 mm", "--steps", "3"}).code, 0);
  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "-o", "sofa"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "one weight for each element"));
  EXPECT_TRUE(contains(outcome.err, "unit = \"element\""));
  EXPECT_FALSE(exists("sofa"));
}

TEST_F(Sofa, AnImportIsAuditedAndSaysThatItWasNeverMeasured) {
  write_sofa_files();
  Outcome outcome = import({"--json", "import.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"orthonormality", "five decimals", "2 of 5 elements", "every mode is zero there"})
    EXPECT_TRUE(contains(outcome.out, words));
  const json report = parse("import.json");
  EXPECT_EQ(report["validation"]["states"], 0);
  EXPECT_TRUE(report["validation"]["goal_error_mean"].is_null());
  EXPECT_EQ(report["audit"][0]["check"], "orthonormality");
  EXPECT_NEAR(report["audit"][0]["value"].get<double>(), 2.9e-5, 2e-6);
  outcome = run({"info", "beam.rom.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"do not trust", "imported from files of SOFA: modes.txt", "tolerance not known"})
    EXPECT_TRUE(contains(outcome.out, words));
  EXPECT_EQ(run({"run", "beam.rom.h5", "--steps", "3"}).code, 0);
  EXPECT_EQ(import().code, 2) << "replaced without --force";
}

TEST_F(Sofa, BadFilesAreRefusedWithTheirPlace) {
  struct Case {
    const char* file;
    std::string text;
    const char* place;
    const char* message;
  };
  for (const Case& wrong : std::vector<Case>{
           {"modes.txt", "3 1\n1\n0\n0\n", "modes.txt:1: error:", "the mesh of the scene has 24 nodes"},
           {"modes.txt", "72 1\n0\n0\nx\n" + std::string(200, ' '), "modes.txt:4:1: error:", "not a number"},
           {"RID.txt", "2 1\n1\n5\n", "RID.txt:3: error:", "element 5 does not exist"},
           {"RID.txt", "0 1\n", "RID.txt:1: error:", "no element of 5 is kept"},
           {"weight.txt", "5 1\n0\n-1\n0\n0\n2\n", "weight.txt:3: error:", "negative"},
           {"weight.txt", "4 1\n0\n0\n0\n0\n", "weight.txt:1: error:", "has 5 elements"}}) {
    write_sofa_files();
    write_text(path(wrong.file), wrong.text);
    const Outcome outcome = import();
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(contains(outcome.err, wrong.place));
    EXPECT_TRUE(contains(outcome.err, wrong.message));
    EXPECT_TRUE(contains(outcome.err, "try: "));
    EXPECT_FALSE(exists("beam.rom.h5"));
  }
}

TEST_F(Sofa, WhatIsMissingIsSaid) {
  write_sofa_files();
  EXPECT_TRUE(contains(run({"import-sofa", "."}).err, "needs --modes"));
  EXPECT_TRUE(contains(import({"--rid", "RID.txt"}).err, "--rid is given 2 times, --weights 1 times"));
  ASSERT_EQ(import().code, 0);
  Outcome outcome = run({"export", "beam.rom.h5", "--format", "sofa", "-o", "sofa"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "--scene"));
  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "-o", "sofa"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "--modes modes.txt of its import"));
  outcome = run({"export", "beam.msh", "--format", "sofa", "--scene", ".", "-o", "sofa"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "not a reduced model"));
  EXPECT_FALSE(exists("sofa"));
  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "--modes", "modes.txt", "-o", "sofa",
                 "--five-decimals"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(read_text(path("sofa/modes.txt")), "\n   0.22361\n   0.00000\n"));
  // Not over what is there.
  EXPECT_EQ(
      run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "--modes", "modes.txt", "-o", "sofa"}).code, 2);
}

}  // namespace
}  // namespace supple::test

// A beam with a sheet on it, from the scene to a reduced model, as a user does it.
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Membrane : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_text(path("scene.toml"), read_text(path("scene.toml")) + R"([reduce]
states = 16
validation_states = 6
unit = "element"
[[body.membrane]]
group = "z-"
thickness = "0.5 mm"
young = "20 MPa"
poisson = 0.5
)");
  }
  json parse(const std::string& name) { return json::parse(read_text(path(name))); }
};

TEST_F(Membrane, IsCheckedReducedRunAndExported) {
  Outcome outcome = run({"check", ".", "--json", "check.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "10 triangles, 80 cm^2, 500 um thick, Young 20 MPa, Poisson 0.5\n"));
  const json checked = parse("check.json")["scene"];
  EXPECT_EQ(checked["membranes"].size(), 1U);
  EXPECT_EQ(checked["membranes"][0]["triangles"], 10);
  EXPECT_NEAR(checked["membranes"][0]["area"].get<double>(), 8e-3, 1e-12);
  EXPECT_NEAR(checked["mass"].get<double>(), 0.32, 1e-12);

  outcome = run({"reduce", ".", "-o", "beam.rom.h5", "--seconds", "20 ms", "--json", "reduce.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json rid = parse("reduce.json")["rid"];
  ASSERT_EQ(rid.size(), 2U);
  EXPECT_EQ(rid["corotational-hexahedra"]["of"], 5);
  EXPECT_EQ(rid["corotational-membrane"]["of"], 10);
  EXPECT_GT(rid["corotational-membrane"]["elements"], 0);
  EXPECT_LT(parse("reduce.json")["validation"]["goal_error_mean"].get<double>(), 0.05);

  outcome = run({"info", "beam.rom.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "of 10 in corotational-membrane"));

  outcome = run({"run", "beam.rom.h5", "--set", "bend=8 mm", "--steps", "20", "--compare", ".", "--json", "run.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(parse("run.json")["goal_error_mean"].get<double>(), 0.1);

  outcome = run({"export", "beam.rom.h5", "-o", "skin.stl"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // In SOFA's files a membrane is a force field with a pair of its own, read back in the order of the scene's fields.
  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "-o", "sofa"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string solid = "sofa/reducedFF_corotational-hexahedra_0_",
                    sheet = "sofa/reducedFF_corotational-membrane_1_";
  outcome =
      run({"import-sofa", ".", "--modes", "sofa/modes.txt", "--rid", solid + "RID.txt", "--weights",
           solid + "weight.txt", "--rid", sheet + "RID.txt", "--weights", sheet + "weight.txt", "-o", "back.rom.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Membrane, IsReducedByStrainModes) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("unit = \"element\""), 16, "unit = \"element\"\nmembranes = \"strains\"");
  write_text(path("strains.toml"), text);
  Outcome outcome = run({"reduce", "strains.toml", "-o", "beam.rom.h5", "--seconds", "20 ms", "--json", "reduce.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out + outcome.err, "of the strains of 10 triangles"));
  const json sheet = parse("reduce.json")["rid"]["corotational-membrane"];
  EXPECT_EQ(sheet["elements"], 0);
  EXPECT_GT(sheet["strain_modes"], 0);
  EXPECT_LT(parse("reduce.json")["validation"]["goal_error_mean"].get<double>(), 0.05);
  outcome = run({"info", "beam.rom.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "for 10 elements in corotational-membrane (tolerance 0.05, left out"));
  outcome = run(
      {"run", "beam.rom.h5", "--set", "bend=8 mm", "--steps", "20", "--compare", "strains.toml", "--json", "run.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(parse("run.json")["goal_error_mean"].get<double>(), 0.1);
  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", "strains.toml", "-o", "sofa"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "a model with strain modes cannot be written for SOFA"));
  EXPECT_TRUE(contains(outcome.err, "membranes = \"elements\""));
}

TEST_F(Membrane, OfTheVolumeIsRefused) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("group = \"z-\""), 12, "group = \"body\"");
  write_text(path("wrong.toml"), text);
  const Outcome outcome = run({"check", "wrong.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "group \"body\" of the mesh holds no triangle of the body"));
}

}  // namespace
}  // namespace supple::test

// Parameters of a scene: what is read, what is written comes back, and what is wrong is said.
#include <gtest/gtest.h>

#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "tests/engine/scene/scene_text.hpp"

namespace supple {
namespace {

std::string error_of(const std::string& lines) {
  try {
    (void)parse_scene(test::minimal + ("\n[[parameter]]\nname = \"p\"\n" + lines), "/robots/p.toml");
  } catch (const InputError& error) {
    return std::string(error.what()) + " | " + error.suggestion();
  }
  return "";
}

TEST(ParameterReader, ReadsAndWritesEveryType) {
  const Scene scene = parse_scene(std::string(test::minimal) + R"(
[[parameter]]
name = "soft"
type = "stiffness"
range = [0.5, 2]
[[parameter]]
name = "first"
type = "stiffness"
material = 1
range = [0.5, 1]
[[parameter]]
name = "weight"
type = "density"
range = [1, 1.2]
[[parameter]]
name = "height"
type = "stretch"
range = [0.7, 1.3]
direction = [0, 0, 2]
from = [0, 0, "10 mm"]
about = [0, 0, "12 mm"]
)",
                                  "/robots/p.toml");
  ASSERT_EQ(scene.parameters.size(), 4U);
  EXPECT_EQ(scene.parameters[0].material, 0);
  EXPECT_EQ(scene.parameters[1].material, 1);
  EXPECT_EQ(scene.parameters[2].kind, ParameterKind::density);
  const ParameterScene& height = scene.parameters[3];
  EXPECT_EQ(height.direction[2], 1);
  EXPECT_EQ(height.from->v[2], 0.01);
  EXPECT_FALSE(height.to);
  EXPECT_EQ(height.about->v[2], 0.012);
  const std::string written = write_scene(scene);
  EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
  EXPECT_EQ(write_scene(parse_scene(written, "elsewhere.toml")), written);
  EXPECT_EQ(write_scene(parse_scene(test::minimal, "/robots/p.toml")).find("parameter"), std::string::npos);
}

TEST(ParameterReader, TellsWhatIsWrong) {
  const auto expect = [](const std::string& lines, const std::string& what) {
    EXPECT_NE(error_of(lines).find(what), std::string::npos) << error_of(lines);
  };
  expect("type = \"stiffness\"", "range");
  expect("type = \"stiffness\"\nrange = [0, 2]", "factors above 0");
  expect("type = \"stiffness\"\nrange = [1.5, 2]", "leaves out 1");
  expect("type = \"stiffness\"\nrange = [1, 1]", "no range");
  expect("type = \"stiffness\"\nrange = [0.5, inf]", "factors above 0");
  expect("type = \"stiffness\"\nrange = [0.5, 2]\nmaterial = 3", "material 3");
  expect("type = \"stiffness\"\nrange = [0.5, 2]\nmembrane = 1", "none");
  expect("type = \"density\"\nrange = [0.5, 2]\nmaterial = 1", "material");
  expect("type = \"stretch\"\nrange = [0.5, 2]", "no direction");
  expect("type = \"stiffness\"\nrange = [0.5, 2]\ndirection = [0, 0, 1]", "direction");
  expect("type = \"hardness\"\nrange = [0.5, 2]", "stiffness, density, stretch");
}

}  // namespace
}  // namespace supple

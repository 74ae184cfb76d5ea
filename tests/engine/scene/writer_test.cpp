#include "engine/scene/writer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/scene/keys.hpp"
#include "engine/scene/reader.hpp"
#include "tests/engine/scene/scene_text.hpp"

namespace supple {
namespace {

TEST(SceneWriter, RoundTrip) {
  for (const std::string& text : {test::minimal, test::full}) {
    const Scene scene = parse_scene(text, "/robots/all.toml");
    const std::string written = write_scene(scene);
    EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
    EXPECT_EQ(write_scene(parse_scene(written, "elsewhere.toml")), written);
  }
}

TEST(SceneWriter, ThreadsRoundTrip) {
  const Scene scene = parse_scene(test::minimal +
                                      "[[body.membrane]]\ngroup = \"a\"\nthreads = {stiffness = 500, spacing = 0.003, "
                                      "angle = 1.5, axis = [0, 2, 0], "
                                      "centre = [1, 0, 0]}\n[[body.membrane]]\ngroup = \"b\"\n"
                                      "threads = {stiffness = 1, spacing = 1, direction = [0, 0, 5], push = true}\n",
                                  "/robots/all.toml");
  const std::string written = write_scene(scene);
  EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
  for (int k = 0; k < 4; ++k) {
    Scene other = scene;
    ThreadScene& threads = *other.bodies.front().membranes.front().threads;
    if (k == 0) threads.centre.reset();
    if (k == 1) threads.angle = 1;
    if (k == 2) threads.push = true;
    if (k == 3) other.bodies.front().membranes.front().threads.reset();
    EXPECT_FALSE(other == scene) << k;
  }
}

TEST(SceneWriter, RodsRoundTrip) {
  const Scene scene = parse_scene(
      test::minimal +
          "[[body.rod]]\npoints = [[0, 0, 0], [\"120 mm\", 0, 0]]\nradius = \"0.5 mm\"\nyoung = \"60 GPa\"\n"
          "[[body.rod]]\npoints = [[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]]\nradius = 0.001\ninner_radius = 0.0005\n"
          "young = 3e9\ndensity = 1400\nbending = false\nclamped = false\npush = false\nbuckling = 1e-4\n"
          "spacing = \"5 mm\"\n",
      "/robots/all.toml");
  const std::vector<RodScene>& rods = scene.bodies.front().rods;
  ASSERT_EQ(rods.size(), 2u);
  EXPECT_DOUBLE_EQ(rods[0].points[1][0], 0.12);
  EXPECT_TRUE(rods[0].bending && rods[0].clamped && rods[0].push && !rods[0].spacing && !rods[0].density);
  EXPECT_DOUBLE_EQ(*rods[1].spacing, 0.005);
  EXPECT_EQ(rods[1].buckling, 1e-4);
  const std::string written = write_scene(scene);
  EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
  for (int k = 0; k < 5; ++k) {
    Scene other = scene;
    RodScene& rod = other.bodies.front().rods.back();
    if (k == 0) rod.points[0][1] = 0.01;
    if (k == 1) rod.inner_radius = 0;
    if (k == 2) rod.push = true;
    if (k == 3) rod.spacing.reset();
    if (k == 4) rod.clamped = true;
    EXPECT_FALSE(other == scene) << k;
  }
}

TEST(SceneWriter, ViscousMaterialsRoundTrip) {
  const Scene scene = parse_scene(
      test::minimal +
          "prony = [{modulus = 0.4, time = \"100 ms\"}, {modulus = 0.1, time = 2}]\nretardation_time = 0.003\n",
      "/robots/all.toml");
  const std::string written = write_scene(scene);
  EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
  Scene other = scene;
  other.bodies.front().materials.front().prony[1].time = 3;
  EXPECT_FALSE(other == scene);
}

// Comparison sees every field of the text: one changed value is another scene.
TEST(SceneWriter, EveryValueCounts) {
  const Scene scene = parse_scene(test::full, "/robots/all.toml");
  const std::string written = write_scene(scene);
  int changed = 0;
  for (std::size_t begin = 0; begin < written.size();) {
    const std::size_t end = written.find('\n', begin), equals = written.find(" = ", begin);
    if (equals < end) {
      std::string other = written;
      const std::string value = written.substr(equals + 3, end - equals - 3);
      const std::string replacement = value == "true" ? "false" : value == "false" ? "true" : "";
      const bool whole = value.find_first_not_of("0123456789") == std::string::npos;
      if (!replacement.empty() || whole) {
        other.replace(equals + 3, value.size(), whole ? std::to_string(std::stoll(value) + 1) : replacement);
        try {
          EXPECT_FALSE(parse_scene(other, "/robots/all.toml") == scene) << written.substr(begin, end - begin);
          ++changed;
        } catch (const InputError&) {  // e.g. a cable that may no longer push
        }
      }
    }
    begin = end + 1;
  }
  EXPECT_GT(changed, 15);
}

// The walls of a volume: its own, or those of the actuator that it names.
TEST(SceneWriter, VolumesKeepTheirWalls) {
  const Scene scene = parse_scene(test::minimal + R"([[actuator]]
name = "air"
type = "cavity"
group = "walls"
[[actuator]]
name = "water"
type = "cavity"
surface = {file = "water.stl", unit = "mm"}
[[effector]]
name = "a"
type = "volume"
cavity = "air"
weight = 3
[[effector]]
name = "b"
type = "volume"
cavity = "water"
exact = true
[[effector]]
name = "c"
type = "volume"
sphere = {centre = [0, 0, 1], radius = "2 mm"}
[[effector]]
name = "d"
type = "volume"
surface = {file = "other.obj", unit = "cm", scale = 2}
)",
                                  "/robots/all.toml");
  ASSERT_EQ(scene.effectors.size(), 4u);
  for (const EffectorScene& effector : scene.effectors) EXPECT_EQ(effector.kind, EffectorKind::volume);
  EXPECT_EQ(scene.effectors[0].region->group, "walls");
  EXPECT_EQ(scene.effectors[0].weight, 3);
  EXPECT_EQ(scene.effectors[1].surface->file, scene.actuators[1].surface->file);
  EXPECT_FALSE(scene.effectors[1].region);
  EXPECT_TRUE(scene.effectors[1].exact);
  EXPECT_DOUBLE_EQ(scene.effectors[2].region->radius, 0.002);
  EXPECT_DOUBLE_EQ(scene.effectors[3].surface->unit, 0.01);
  // Files that a change of which makes another robot.
  EXPECT_EQ(input_files(scene), (std::vector<std::string>{"/robots/bar.msh", "/robots/water.stl", "/robots/water.stl",
                                                          "/robots/other.obj"}));
  const std::string written = write_scene(scene);
  EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
  Scene other = scene;
  other.effectors[3].surface->file = "/robots/third.obj";
  EXPECT_FALSE(other == scene);
}

TEST(SceneWriter, RelativeMesh) {
  const Scene scene = parse_scene(test::minimal, "/robots/bar/scene.toml");
  EXPECT_NE(write_scene(scene).find("file = \"/robots/bar/bar.msh\""), std::string::npos);
  EXPECT_NE(write_scene(scene, "/robots/bar").find("file = \"bar.msh\""), std::string::npos);
}

TEST(SceneReference, CommittedFileIsCurrent) {
  const std::string path = SUPPLE_SOURCE_DIR "/docs/reference/scene.md";
  // To renew it: SUPPLE_WRITE_REFERENCE=1 test_scene --gtest_filter=SceneReference.*
  if (std::getenv("SUPPLE_WRITE_REFERENCE") != nullptr) std::ofstream(path) << scene_reference_markdown();
  std::ifstream stream(path);
  const std::string committed{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(committed == scene_reference_markdown()) << path << " is not what engine/scene/keys.cpp says";
}

}  // namespace
}  // namespace supple

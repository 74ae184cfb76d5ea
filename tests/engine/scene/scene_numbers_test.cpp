// Numbers of a scene file that are changed before it is read.

#include "engine/scene/scene_numbers.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/scene/reader.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple {
namespace {

const std::string text = R"(# ünïcode before it
gravity = [0, 0, "-9.81 m/s^2"]  # down
[body]
mesh = {file = "bar.msh", unit = "mm", translation = [0, "1 mm", 0]}
density = "1.07 g/cm^3"
[[body.material]]
young = "450 kPa"
poisson = 0.45  # a number
[[actuator]]
name = "north"
type = "cable"
points = [["1 mm", 0, 0], ["2 mm", 0, 0]]
[[actuator]]
name = "south"
type = "cable"
points = [["1 mm", 0, 0], ["3 mm", 0, 0]]
)";

template <class Function>
void expect_refused(Function function, const std::string& words) {
  try {
    function();
    ADD_FAILURE() << "no InputError; expected: " << words;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_FALSE(error.suggestion().empty());
  }
}

class Numbers : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_.file("bar.msh")) << "";
    std::ofstream(file()) << text;
  }
  std::string file() const { return folder_.file("scene.toml"); }
  test::TemporaryFolder folder_;
};

TEST_F(Numbers, AreFoundByTheirKeys) {
  SceneNumbers scene(file());
  EXPECT_EQ(scene.add("body.material.young"), 0u);  // the only material
  scene.add("body.density");
  scene.add("gravity.z");
  scene.add("actuator.south.points.2.x");
  scene.add("actuator.1.points.1.1");
  scene.add("body.material.1.poisson");
  scene.add("body.mesh.translation.y");
  const auto& numbers = scene.numbers();
  EXPECT_EQ(numbers[0].value, 450);
  EXPECT_EQ(numbers[0].unit, "kPa");
  EXPECT_EQ(numbers[0].scale, 1000);
  EXPECT_EQ(numbers[1].unit, "g/cm^3");
  EXPECT_EQ(numbers[2].value, -9.81);
  EXPECT_EQ(numbers[3].value, 3);
  EXPECT_EQ(numbers[4].value, 1);
  EXPECT_EQ(numbers[5].unit, "");
  EXPECT_NEAR(scene.in_unit(0, "1 MPa"), 1000, 1e-9);
  EXPECT_EQ(scene.in_unit(5, "0.4"), 0.4);
}

TEST_F(Numbers, ChangeTheSceneAndItsText) {
  SceneNumbers scene(file());
  for (const char* keys : {"body.material.young", "body.material.poisson", "actuator.south.points.2.x", "gravity.1"})
    scene.add(keys);
  const std::vector<double> values{300.5, 0.3, 7.25, 0.5};
  const Scene changed = scene.scene(values);
  EXPECT_EQ(changed.bodies[0].materials[0].young, 300.5e3);
  EXPECT_EQ(changed.bodies[0].materials[0].poisson, 0.3);
  EXPECT_EQ(changed.actuators[1].points[1][0], 7.25e-3);
  EXPECT_EQ(changed.actuators[0].points[1][0], 2e-3);
  EXPECT_EQ(changed.gravity[0], 0.5);
  const std::string written = scene.text(values);
  EXPECT_NE(written.find("poisson = 0.3  # a number"), std::string::npos) << written;
  EXPECT_NE(written.find("# ünïcode before it"), std::string::npos);
  std::ofstream(folder_.file("again.toml")) << written;
  Scene again = read_scene(folder_.file("again.toml"));
  again.name = changed.name;  // that of the file
  EXPECT_TRUE(again == changed);
}

TEST_F(Numbers, WhatIsNoNumberIsRefused) {
  SceneNumbers scene(file());
  const auto refuse = [&](const std::string& keys, const std::string& words) {
    expect_refused([&] { (void)scene.add(keys); }, words);
  };
  refuse("body.yuong", "there is no 'yuong'");
  refuse("body", "it is a table");
  refuse("actuator.north.name", "it is no number");
  refuse("actuator.east.points.1.x", "there is no 'east'");
  refuse("actuator.points.1.x", "there is no 'points'");  // two actuators
  refuse("body.density.x", "stands behind a value");
  refuse("gravity.4", "there is no '4'");
  refuse("", "there is no ''");
  scene.add("body.density");
  refuse("body.density", "once more");
  EXPECT_THROW((void)scene.in_unit(0, "3 mm"), InputError);
  EXPECT_THROW((void)scene.in_unit(0, "3"), InputError);
  const std::vector<double> negative{-1};
  EXPECT_THROW((void)scene.scene(negative), InputError);
}

TEST_F(Numbers, OfAnIncludedFileAreNotWritten) {
  std::ofstream(folder_.file("outer.toml")) << "include = \"scene.toml\"\nduration = \"2 s\"\n";
  SceneNumbers scene(folder_.file("outer.toml"));
  scene.add("duration");
  scene.add("body.density");
  EXPECT_NEAR(*scene.scene(std::vector<double>{3, 2}).bodies[0].density, 2000, 1e-9);  // g/cm^3
  expect_refused([&] { (void)scene.text(std::vector<double>{3, 2}); }, "stands in an included file");
}

}  // namespace
}  // namespace supple

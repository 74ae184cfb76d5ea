// Scenes of several bodies: what is read, and one mistake each.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numbers>

#include "engine/scene/assembly_scene.hpp"

namespace supple {
namespace {

namespace fs = std::filesystem;

class AssemblyReader : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("supple_assembly_" + std::string(info->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* file : {"finger.toml", "body.stl"}) write(file, "");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  AssemblyScene read(const std::string& text) const {
    write("scene.toml", text);
    return read_assembly((folder_ / "scene.toml").string());
  }
  RigidScene rigid(const std::string& text) const { return read("[[rigid]]\nname = \"a\"\n" + text).rigids.front(); }
  // The text of one rigid body after its first two lines: where the error is and what it says.
  void refused(const std::string& text, int line, const std::string& problem) const {
    try {
      (void)rigid(text);
      ADD_FAILURE() << "no error for " << text;
    } catch (const InputError& error) {
      SCOPED_TRACE(error.report());
      EXPECT_EQ(error.place().line, line);
      EXPECT_EQ(error.place().file, (folder_ / "scene.toml").string());
      EXPECT_NE(std::string(error.what()).find(problem), std::string::npos);
      EXPECT_FALSE(error.suggestion().empty());
    }
  }
  fs::path folder_;
};

TEST_F(AssemblyReader, ShapesHaveTheMeasuresOfObstacles) {
  const std::string held = "held = true\n";
  const RigidScene box = rigid(held + "size = [1, 2, \"30 cm\"]\n");
  EXPECT_EQ(box.shape, RigidShape::box);
  EXPECT_EQ(*box.size, (Vec3d{{1, 2, 0.3}}));
  const RigidScene sphere = rigid(held + "type = \"sphere\"\nradius = \"20 mm\"\n");
  EXPECT_EQ(sphere.shape, RigidShape::sphere);
  EXPECT_DOUBLE_EQ(*sphere.radius, 0.02);
  const RigidScene capsule = rigid(held + "type = \"capsule\"\nradius = 1\nlength = 0\n");
  EXPECT_EQ(capsule.shape, RigidShape::capsule);
  EXPECT_EQ(capsule.length, 0);
  const RigidScene cylinder = rigid(held + "type = \"cylinder\"\nradius = 1\nlength = 2\n");
  EXPECT_EQ(cylinder.shape, RigidShape::cylinder);
  EXPECT_EQ(cylinder.length, 2);
  const RigidScene mesh = rigid(held + "type = \"mesh\"\nsurface = {file = \"body.stl\", unit = \"mm\"}\n");
  EXPECT_EQ(mesh.shape, RigidShape::mesh);
  EXPECT_DOUBLE_EQ(mesh.surface->unit, 1e-3);
  const RigidScene none = rigid(held);
  EXPECT_FALSE(none.has_shape());
  for (const RigidScene* shaped : {&box, &sphere, &capsule, &cylinder, &mesh}) EXPECT_TRUE(shaped->has_shape());
}

TEST_F(AssemblyReader, MotionsAreANameOrAList) {
  const RigidScene one = rigid("motion = \"lift\"\ndirection = [0, 0, 2]\nrange = [0, \"50 mm\"]\n");
  ASSERT_EQ(one.motions.size(), 1u);
  EXPECT_EQ(one.motions[0].name, "lift");
  EXPECT_EQ(one.motions[0].kind, MotionKind::translation);
  EXPECT_EQ(one.motions[0].direction, (Vec3d{{0, 0, 1}}));
  EXPECT_DOUBLE_EQ(one.motions[0].range.upper, 0.05);
  EXPECT_STREQ(one.hold(), "driven");
  const RigidScene two = rigid(R"([[rigid.motion]]
name = "slide"
direction = [1, 0, 0]
range = [0, "1 cm"]
[[rigid.motion]]
name = "turn"
type = "rotation"
direction = [0, 0, -3]
centre = ["10 mm", 0, 0]
range = ["-90 deg", "0.5 rev"]
)");
  ASSERT_EQ(two.motions.size(), 2u);
  EXPECT_EQ(two.motions[0].kind, MotionKind::translation);
  EXPECT_EQ(two.motions[1].kind, MotionKind::rotation);
  EXPECT_EQ(two.motions[1].direction, (Vec3d{{0, 0, -1}}));
  EXPECT_EQ(two.motions[1].centre, (Vec3d{{0.01, 0, 0}}));
  EXPECT_DOUBLE_EQ(two.motions[1].range.lower, -std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(two.motions[1].range.upper, std::numbers::pi);
}

TEST_F(AssemblyReader, WhatTouchesIsSaid) {
  const AssemblyScene scene = read(R"([[rigid]]
name = "palm"
held = true
friction = 0.4
[[rigid]]
name = "pad"
on = "palm"
collision = "none"
[[part]]
name = "one"
scene = "finger.toml"
friction = 0.5
self_contact = true
[[part]]
name = "two"
scene = "finger.toml"
collision = "none"
)");
  EXPECT_EQ(scene.rigids[0].friction, 0.4);
  EXPECT_TRUE(scene.rigids[0].collides);
  EXPECT_EQ(scene.rigids[1].on, "palm");
  EXPECT_STREQ(scene.rigids[1].hold(), "carried");
  EXPECT_FALSE(scene.rigids[1].collides);
  EXPECT_EQ(scene.parts[0].friction, 0.5);
  EXPECT_TRUE(scene.parts[0].self_contact && scene.parts[0].collides);
  EXPECT_FALSE(scene.parts[1].self_contact || scene.parts[1].collides);
}

TEST_F(AssemblyReader, MistakesAreExplained) {
  refused("mass = 1\n", 1, "moves freely and has no size");
  refused("size = [1, 1, 1]\n", 1, "moves freely and has no mass");
  refused("held = true\ntype = \"sphere\"\n", 1, "has no radius (it is a sphere)");
  refused("held = true\ntype = \"sphere\"\nradius = 1\nsize = [1, 1, 1]\n", 6, "size means nothing to a sphere");
  refused("held = true\nradius = 1\n", 4, "radius means nothing to a box");
  refused("held = true\ntype = \"capsule\"\nradius = 1\n", 1, "has no length");
  refused("held = true\ntype = \"cylinder\"\nradius = 1\nlength = 0\n", 6, "has no length");
  refused("held = true\ntype = \"ball\"\nradius = 1\n", 4, "unknown type");
  refused("held = true\ntype = \"mesh\"\n", 1, "has no surface");
  refused("held = true\ntype = \"mesh\"\nsurface = {file = \"none.stl\"}\n", 5, "does not exist");
  refused("held = true\non = \"b\"\n", 3, "is held, and carried by 'b'");
  refused("on = \"b\"\nmass = 1\n", 1, "has a mass and no shape");
  refused("held = true\nmotion = \"lift\"\ndirection = [1, 0, 0]\n", 3, "held or driven, not both");
  refused("motion = \"lift\"\n", 1, "has no direction");
  refused("held = true\ndirection = [1, 0, 0]\n", 4, "direction means nothing");
  refused("motion = 3\n", 3, "list of tables is expected");
  refused("direction = [1, 0, 0]\n[[rigid.motion]]\nname = \"b\"\ndirection = [1, 0, 0]\n", 3,
          "direction means nothing to a list of motions");
  refused("[[rigid.motion]]\nname = \"b\"\ndirection = [0, 0, 0]\n", 5, "direction has no length");
  refused("[[rigid.motion]]\nname = \"b\"\n", 3, "has no direction");
  refused("[[rigid.motion]]\nname = \"b\"\ndirection = [1, 0, 0]\ncentre = [1, 0, 0]\n", 6,
          "centre means nothing to a translation");
  refused("[[rigid.motion]]\nname = \"b\"\ntype = \"rotation\"\ndirection = [1, 0, 0]\nrange = [0, \"1 mm\"]\n", 7,
          "an angle");
  refused(
      "[[rigid.motion]]\nname = \"b\"\ndirection = [1, 0, 0]\n[[rigid.motion]]\nname = \"b\"\ndirection = [1, 0, 0]\n",
      7, "has a motion 'b' already");
  refused("held = true\nfriction = -1\n", 4, "friction is -1");
  refused("held = true\ncollision = \"none\"\nfriction = 1\n", 5, "friction means nothing");
  refused("held = true\n[[part]]\nname = \"p\"\nscene = \"finger.toml\"\ncollision = \"none\"\nself_contact = true\n",
          8, "self_contact means nothing");
}

}  // namespace
}  // namespace supple

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/scene/reader.hpp"
#include "tests/engine/scene/scene_text.hpp"

namespace supple {
namespace {

namespace fs = std::filesystem;

class Include : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("supple_include_" + std::string(info->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "shared");
    write("bar.msh", "");
    write("fine.msh", "");
    write("shared/bar.msh", "");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // The error, or one without a message.
  InputError error(const std::string& name) const {
    try {
      read_scene(path(name));
    } catch (const InputError& e) {
      return e;
    }
    return {"none", ""};
  }

  fs::path folder_;
};

TEST_F(Include, OverridesOnlyWhatItSays) {
  write("scene.toml", "name = \"coarse\"\ntime_step = \"5 ms\"\n" + test::minimal +
                          "[[fix]]\ngroup = \"a\"\n[[fix]]\ngroup = \"b\"\n");
  write("fine.toml",
        "include = \"scene.toml\"\nname = \"fine\"\n[body]\nmesh = {file = \"fine.msh\"}\n[[fix]]\ngroup = \"c\"\n");
  const Scene scene = read_scene(path("fine.toml"));
  EXPECT_EQ(scene.name, "fine");
  EXPECT_DOUBLE_EQ(scene.time_step, 0.005);
  EXPECT_EQ(scene.bodies[0].mesh_file, path("fine.msh"));
  EXPECT_DOUBLE_EQ(scene.bodies[0].mesh_unit, 1e-3);  // merged, not replaced
  ASSERT_EQ(scene.bodies[0].fixes.size(), 1u);        // a list is replaced
  EXPECT_EQ(scene.bodies[0].fixes[0].region.group, "c");
  EXPECT_EQ(scene.bodies[0].fixes[0].place.file, path("fine.toml"));
  EXPECT_EQ(scene.bodies[0].materials[0].place.file, path("scene.toml"));
}

TEST_F(Include, MeshPathsStartFromTheFileThatSaysThem) {
  write("shared/base.toml", test::minimal);
  write("scene.toml", "include = \"shared/base.toml\"\n");
  EXPECT_EQ(read_scene(path("scene.toml")).bodies[0].mesh_file, path("shared/bar.msh"));
  EXPECT_EQ(read_scene(folder_.string()).file, path("scene.toml"));  // a folder stands for its scene.toml
}

TEST_F(Include, ErrorsPointIntoTheRightFile) {
  write("scene.toml", test::minimal + "[[fix]]\nbxo = 1\n");
  write("fine.toml", "include = \"scene.toml\"\n[body]\nname = \"b\"\n");
  const InputError e = error("fine.toml");
  EXPECT_EQ(e.place().file, path("scene.toml"));
  EXPECT_EQ(e.place().line, 8);
  EXPECT_EQ(e.place().text, "bxo = 1");
}

TEST_F(Include, CyclesAndMissingFiles) {
  write("a.toml", "include = \"b.toml\"\n");
  write("b.toml", "\ninclude = \"a.toml\"\n");
  const InputError cycle = error("a.toml");
  EXPECT_NE(std::string(cycle.what()).find("includes itself"), std::string::npos);
  EXPECT_EQ(cycle.place().file, path("b.toml"));
  EXPECT_EQ(cycle.place().line, 2);
  write("c.toml", "include = \"nowhere.toml\"\n");
  EXPECT_EQ(error("c.toml").place().column, 11);
  EXPECT_NE(std::string(error("nowhere.toml").what()).find("no such file"), std::string::npos);
  write("d.toml", "include = 3\n");
  EXPECT_NE(std::string(error("d.toml").what()).find("include is not"), std::string::npos);
  EXPECT_NE(std::string(error("shared").what()).find("not a text file"), std::string::npos);
}

TEST_F(Include, MissingMeshSuggestsANeighbour) {
  std::string text = test::minimal;
  write("scene.toml", text.replace(text.find("bar.msh"), 7, "bat.msh"));
  const InputError e = error("scene.toml");
  EXPECT_EQ(e.place().line, 2);
  EXPECT_EQ(e.place().column, 16);
  EXPECT_EQ(e.suggestion(), "file = \"bar.msh\"");
}

}  // namespace
}  // namespace supple

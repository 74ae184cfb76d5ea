// A scene's fingerprint sees what moves the robot, and no more.

#include "engine/scene/fingerprint.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "tests/engine/scene/scene_text.hpp"

namespace supple {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  return lines;
}

std::string without_line(const std::vector<std::string>& lines, std::size_t dropped) {
  std::string text;
  for (std::size_t k = 0; k < lines.size(); ++k)
    if (k != dropped) text += lines[k];
  return text;
}

TEST(WithoutDefaults, IsTheSameScene) {
  for (const std::string& text : {test::minimal, test::full}) {
    const std::string written = write_scene(parse_scene(text, "/robots/all.toml"));
    const std::string shorter = without_defaults(written);
    EXPECT_TRUE(parse_scene(shorter, "/robots/all.toml") == parse_scene(written, "/robots/all.toml")) << shorter;
    EXPECT_EQ(without_defaults(shorter), shorter);
  }
}

// What is left of the smallest scene is what it says; a table of defaults alone goes with its title.
TEST(WithoutDefaults, IsWhatSomebodySaid) {
  EXPECT_EQ(without_defaults(write_scene(parse_scene(test::minimal, "/scene.toml"))),
            "[body]\nmesh = {file = \"/bar.msh\", unit = \"0.001 m\"}\ndensity = 1000\n"
            "[[body.material]]\nyoung = 450000\npoisson = 0.45\n");
}

// A line that may be missing is what a key that scenes have got since adds to the text.
TEST(WithoutDefaults, DoesNotSeeKeysThatNobodyUses) {
  const std::string written =
      write_scene(parse_scene(test::minimal + "[[fix]]\ngroup = 'held'\n" +
                                  "[[actuator]]\nname = 'pull'\ntype = 'cable'\n"
                                  "points = [[0, 0, 1], [0, 0, 0]]\nrange = [0, 1]\nbilateral = true\n" +
                                  "[[effector]]\nname = 'tip'\npoint = [0, 0, 1]\n",
                              "/robots/all.toml"));
  const Scene scene = parse_scene(written, "/scene.toml");
  const std::string shorter = without_defaults(written);
  const std::vector<std::string> lines = lines_of(written);
  int defaults = 0;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].find(" = ") == std::string::npos) continue;
    const std::string older = without_line(lines, k);
    try {
      if (!(parse_scene(older, "/scene.toml") == scene)) {
        EXPECT_NE(without_defaults(older), shorter) << lines[k];
        continue;
      }
    } catch (const InputError&) {
      continue;  // the line is required
    }
    ++defaults;
    EXPECT_EQ(without_defaults(older), shorter) << lines[k];
  }
  EXPECT_GT(defaults, 10);
}

}  // namespace
}  // namespace supple

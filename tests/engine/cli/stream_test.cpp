// run --stdin and simulate --stdin, as a controller uses them: steps, bad lines, contact, recordings, options. Those of
// inverse --stdin: inverse_test.cpp.
#include <string>
#include <vector>

#include "engine/io/model_file.hpp"
#include "engine/io/recording.hpp"
#include "engine/scene/reader.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"
#include "tests/engine/cli/program.hpp"

namespace supple {
namespace {

using nlohmann::json;
using test::contains;
using test::Outcome;
using test::read_text;
using test::write_text;

class StreamCommand : public test::Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    const FullModel full = build_full_model(read_scene(path("scene.toml")));
    const int n = full.coordinates.nv;
    write_model(project(full, reduced_bodies::full_basis(n), n, all_elements(full)), path("beam.rom.h5"));
  }
};

TEST_F(StreamCommand, StepsAreThoseOfARun) {
  for (const std::string words : {"run beam.rom.h5", "simulate scene.toml"}) {
    const std::vector<json> answers =
        converse(words + " --settle --record live.rec.h5 --force", R"({"commands": {"bend": 0.003, "lift": 0.5}}
{}
{"commands": {"lift": 0.5}}
)");
    ASSERT_EQ(answers.size(), 3u);
    const std::string verb = words.substr(0, words.find(' ')), file = words.substr(words.find(' ') + 1);
    // It settles without commands, and then has them all at once.
    write_text(path("jump.csv"), "time [s],bend,lift\n0,0,0\n0.001,0.003,0.5\n1,0.003,0.5\n");
    const Outcome outcome =
        run({verb, file, "--settle", "--actuation", "jump.csv", "--steps", "3", "--record", "run.rec.h5", "--force"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    RecordingReader live(path("live.rec.h5")), all(path("run.rec.h5"));
    ASSERT_EQ(live.frames(), 4);
    for (int k = 0; k < 4; ++k) {
      const RecordedFrame frame = live.frame(k), other = all.frame(k);
      EXPECT_EQ(hash(frame.state), hash(other.state)) << words << k;
      EXPECT_EQ(frame.goals, other.goals);
      EXPECT_EQ(frame.step, k);
      EXPECT_FALSE(frame.inverse);
      if (k == 0) continue;
      const json& answer = answers[static_cast<std::size_t>(k) - 1];
      EXPECT_EQ(answer["time"], frame.state.time);
      EXPECT_EQ(answer["commands"], (json{{"lift", 0.5}, {"bend", 0.003}}));
      EXPECT_EQ(answer["forces"], (json{{"lift", frame.state.multipliers[0]}, {"bend", frame.state.multipliers[1]}}));
      EXPECT_EQ(answer["reached"], (json{{"tip", frame.goals}}));
      EXPECT_EQ(answer["limited"], 0);
      EXPECT_GT(answer["step_us"], 0);
      for (const char* key : {"contact", "held", "distance", "error"}) EXPECT_FALSE(answer.contains(key)) << key;
    }
  }
}

TEST_F(StreamCommand, BadLinesChangeNothing) {
  const std::vector<json> answers = converse("run beam.rom.h5 --set lift=\"0.2 N\"", R"({"commands": {"bend": 0.001}}
{"commands": {"lift": 1, "nose": 0}}
{"commands": {"lift": "much"}}
{"commands": {"lift": null}}
{"commands": 3}
{"goal": {"tip": [0, 0, 0]}}
{"commands": {"lift": 1}, "reset": 1}
nonsense
[1]

{}
{"commands": {"lift": 5, "bend": -1}}
{"reset": true, "commands": {"bend": 0.001}}
{}
{"reset": true}
)");
  ASSERT_EQ(answers.size(), 14u);
  const char* const problems[] = {"no input 'nose'",           "'lift' is not a number",
                                  "'lift' is not a number",    "'commands' is not an object",
                                  "'goal' means nothing here", "'reset' is neither true nor false",
                                  "not a JSON object",         "not a JSON object"};
  for (std::size_t k = 0; k < std::size(problems); ++k) {
    EXPECT_TRUE(contains(answers[k + 1]["error"], problems[k]));
    EXPECT_EQ(answers[k + 1].size(), 1u);
  }
  EXPECT_EQ(answers[9]["time"], 0.02);  // the second step
  EXPECT_EQ(answers[9]["commands"], (json{{"lift", 0.2}, {"bend", 0.001}}));
  EXPECT_EQ(answers[9]["limited"], 0);
  // Beyond both ranges.
  EXPECT_EQ(answers[10]["limited"], 2);
  EXPECT_EQ(answers[10]["commands"], (json{{"lift", 2.0}, {"bend", 0.0}}));
  // The start again, with the command of --set.
  for (const char* key : {"time", "commands", "forces", "reached", "limited"}) {
    EXPECT_EQ(answers[11][key], answers[0][key]) << key;
    EXPECT_EQ(answers[12][key], answers[9][key]) << key;
  }
  EXPECT_EQ(answers[13]["commands"], (json{{"lift", 0.2}, {"bend", 0.0}}));
}

// A full scene on a slider, that falls onto a stop.
TEST_F(StreamCommand, AnswersOfAFullSceneHaveMotionsAndContacts) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("group = \"x-\""), 12,
               "group = \"x-\"\nmotion = \"slide\"\ndirection = [0, 0, 1]\nrange = [\"0 mm\", \"8 mm\"]");
  write_text(path("slider.toml"), text + R"(
[[obstacle]]
name = "stop"
type = "box"
size = ["40 mm", "100 mm", "10 mm"]
position = ["200 mm", "20 mm", "-11 mm"]
[[obstacle]]
name = "far"
type = "plane"
position = [0, 0, -1]
)");
  std::string lines = "{}\n{\"commands\": {\"slide\": 0.004}}\n{\"commands\": {\"slide\": 1}}\n";
  for (int k = 0; k < 8; ++k) lines += "{}\n";
  const std::vector<json> answers = converse("simulate slider.toml", lines);
  ASSERT_EQ(answers.size(), 11u);
  EXPECT_EQ(answers[0]["commands"]["slide"], 0);
  EXPECT_EQ(answers[0]["contact"]["pressing"], 0);
  EXPECT_EQ(answers[0]["contact"]["forces"], (json{{"stop", 0.0}, {"far", 0.0}}));
  EXPECT_EQ(answers[1]["commands"]["slide"], 0.004);
  EXPECT_EQ(answers[1]["limited"], 0);
  EXPECT_EQ(answers[2]["commands"]["slide"], 0.008);
  EXPECT_EQ(answers[2]["limited"], 1);
  double most = 0;
  for (const json& answer : answers) most = std::max(most, answer["contact"]["forces"]["stop"].get<double>());
  EXPECT_GT(most, 0.01);
  for (const json& answer : answers) EXPECT_LT(answer["contact"]["residual"], 1e-8);
}

TEST_F(StreamCommand, RefusesOptionsThatMeanNothing) {
  const auto refused = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.push_back("--stdin");
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << more[0];
    EXPECT_TRUE(contains(outcome.err, more[0] + " does not go with --stdin"));
    EXPECT_EQ(outcome.out, "");
  };
  const std::vector<std::vector<std::string>> of_both = {
      {"--steps", "3"}, {"--duration", "1 s"}, {"--record-robot", "0"}, {"-o", "r"}, {"--json", "j.json"}};
  for (const auto& words : of_both)
    for (const std::vector<std::string>& verb :
         {std::vector<std::string>{"run", "missing.rom.h5"}, {"inverse", "missing.rom.h5"}})
      refused(verb, words);
  refused({"inverse", "missing.rom.h5"}, {"--replay", "scene.toml"});
  refused({"inverse", "missing.rom.h5"}, {"--resume"});
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--batch", "2"}, {"--compare", "scene.toml"}, {"--actuation", "c.csv"}, {"--sweep"}, {"--every", "2"}})
    refused({"run", "missing.rom.h5"}, words);
  refused({"run"}, {"--resume", "r"});
  for (const auto& words : std::vector<std::vector<std::string>>{{"--actuation", "c.csv"}, {"--steps", "1"}})
    refused({"simulate", "missing.toml"}, words);
  EXPECT_FALSE(exists("r") || exists("j.json"));
}

}  // namespace
}  // namespace supple

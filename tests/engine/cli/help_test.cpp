// Help, exit codes and messages for what is typed wrongly; docs/reference/command-line.md is the help of every verb.
#include <cstdlib>
#include <sstream>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

class CommandLine : public Cli {
 protected:
  // Verbs as `supple --help` lists them.
  std::vector<std::string> verbs() {
    std::istringstream lines(run({"--help"}).out);
    std::vector<std::string> found;
    std::string line;
    while (std::getline(lines, line) && line != "Verbs:") continue;
    while (std::getline(lines, line) && !line.empty())
      if (line[2] != ' ') found.push_back(line.substr(2, line.find(' ', 2) - 2));
    return found;
  }
};

TEST_F(CommandLine, EveryVerbHasHelpWithExamples) {
  const auto names = verbs();
  ASSERT_GE(names.size(), 3u);
  for (const std::string& verb : names) {
    const Outcome outcome = run({verb, "--help"});
    EXPECT_EQ(outcome.code, 0) << verb;
    EXPECT_TRUE(contains(outcome.out, "Usage: supple " + verb));
    EXPECT_TRUE(contains(outcome.out, "Examples:\n  supple " + verb));
    EXPECT_EQ(run({"help", verb}).out, outcome.out);
    for (const char* option : {"--json FILE", "--threads N", "--device NAME", "--seed N", "--force"})
      EXPECT_TRUE(contains(outcome.out, option));
  }
}

TEST_F(CommandLine, NothingTypedIsUsageOnStderr) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "Usage: supple VERB"));
  EXPECT_EQ(run({"--version"}).code, 0);
}

TEST_F(CommandLine, WrongWordsGetASuggestion) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  for (const Case& wrong :
       std::vector<Case>{{{"simualte", "scene.toml"}, "supple simulate (did you mean it?)"},
                         {{"simulate", "scene.toml", "--step", "3"}, "--steps (did you mean it?)"},
                         {{"simulate", "scene.toml", "--steps=0"}, "--steps: '0' is not a whole number of at least 1"},
                         {{"simulate", "scene.toml", "--steps", "many"}, "'many' is not a whole number"},
                         {{"simulate", "scene.toml", "--duration", "2 kg"}, "a mass"},
                         {{"simulate", "scene.toml", "--integrator", "quasistatic"}, "quasi-static"},
                         {{"simulate", "scene.toml", "surplus"}, "too many arguments"},
                         {{"simulate"}, "needs SCENE"},
                         {{"simulate", "scene.toml", "--set", "lft=1 N"}, "lift (did you mean it?)"},
                         {{"simulate", "scene.toml", "--set", "lift=1 mm"}, "a force is expected"},
                         {{"simulate", "scene.toml", "--device", "gpu"}, "device 'gpu' is not understood"},
                         {{"check", "nowhere.toml"}, "nowhere.toml"},
                         {{"check", "--frobnicate"}, "there is no option '--frobnicate'"},
                         {{"--frobnicate"}, "there is no option '--frobnicate'"}}) {
    const Outcome outcome = run(wrong.arguments);
    EXPECT_EQ(outcome.code, 2) << wrong.message;
    EXPECT_TRUE(contains(outcome.err, wrong.message));
    EXPECT_TRUE(contains(outcome.err, "error: "));
    EXPECT_EQ(outcome.err.find('\033'), std::string::npos) << "colour without a terminal";
  }
}

TEST_F(CommandLine, AFileMayFollowAnOptionThatMayBeRepeated) {
  Outcome outcome = run({"simulate", "--set", "lift=1 N", "--set", "bend=5 mm", "scene.toml", "--steps", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "command 1 N"));
  EXPECT_TRUE(contains(outcome.out, "command 5 mm"));
  outcome = run({"inverse", "--circle", "1 mm", "--steps", "2", "--effort", "lift=2", "scene.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // The other verbs get as far as to look into the file, each word of theirs being taken for what it is.
  outcome = run({"run", "--set", "lift=1 N", "missing.rom.h5"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "missing.rom.h5"));
  outcome = run({"import-sofa", "--rid", "a_RID.txt", "--weights", "a_weight.txt", "scene.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "needs --modes"));
  outcome = run({"bench", "--case", "beam", "surplus"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "too many arguments"));
}

TEST_F(CommandLine, CountsHaveBounds) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"reduce", ".", "--jobs"},
                                             {"reduce", ".", "--modes"},
                                             {"snapshots", ".", "-o", "s", "--jobs"},
                                             {"run", "m.rom.h5", "--batch"},
                                             {"run", "m.rom.h5", "--steps"},
                                             {"run", "m.rom.h5", "--every"},
                                             {"bench", "--batch"},
                                             {"simulate", ".", "--threads"}})
    for (const std::string count : {"0", "-1", "3000000000", "99999999999999999999", "1.5", "2x"}) {
      std::vector<std::string> all = words;
      all.back() += "=" + count;
      const Outcome outcome = run(all);
      EXPECT_EQ(outcome.code, 2) << all.back();
      EXPECT_TRUE(contains(outcome.err, words.back() + ": '" + count + "' is "));
    }
  for (const std::string list : {"1,0", "1,,2", ",1", "4,", "1,2000000"}) {
    const Outcome outcome = run({"bench", "--batch", list});
    EXPECT_EQ(outcome.code, 2) << list;
    EXPECT_TRUE(contains(outcome.err, "--batch: '"));
  }
  EXPECT_EQ(run({"simulate", ".", "--seed", "-1"}).code, 2);
  // A duration of too many steps is one of these counts.
  const Outcome outcome = run({"simulate", ".", "--duration", "1e9 s"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "too many steps"));
}

TEST_F(CommandLine, AnErrorInASceneHasItsPlace) {
  write_text(path("bad.toml"), read_text(path("scene.toml")) + "colour = \"red\"\n");
  const Outcome outcome = run({"check", "bad.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "bad.toml:30:1: error: "));
  EXPECT_TRUE(contains(outcome.err, "^"));
}

TEST_F(CommandLine, ReferenceIsCurrent) {
  std::string text =
      "# Command line\n\nGenerated from `supple --help`; a test compares.\n\n```\n" + run({"--help"}).out + "```\n";
  for (const std::string& verb : verbs())
    text += "\n## `supple " + verb + "`\n\n```\n" + run({verb, "--help"}).out + "```\n";
  const std::string file = SUPPLE_SOURCE_DIR "/docs/reference/command-line.md";
  // To renew it: SUPPLE_WRITE_REFERENCE=1 test_cli --gtest_filter=CommandLine.ReferenceIsCurrent
  if (std::getenv("SUPPLE_WRITE_REFERENCE") != nullptr) write_text(file, text);
  EXPECT_TRUE(read_text(file) == text) << file << " is not what --help says";
}

}  // namespace
}  // namespace supple::test

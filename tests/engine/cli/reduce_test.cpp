// From a scene to a reduced model and its use, as a user does it; the beam is small enough for seconds.
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/io/hdf5_file.hpp"
#include "engine/io/model_file.hpp"
#include "engine/reduction/validate.hpp"
#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Reduce : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_text(path("scene.toml"), read_text(path("scene.toml")) + "[reduce]\nstates = 16\nvalidation_states = 6\n");
  }
  void expect_same_states(const std::string& a, const std::string& b) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path(a))) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".h5")) continue;
      ++files;
      EXPECT_EQ(read_text(path(a + "/" + name)), read_text(path(b + "/" + name))) << name;
    }
    EXPECT_GT(files, 1);
  }
  json parse(const std::string& name) { return json::parse(read_text(path(name))); }
};

TEST_F(Reduce, AModelIsMadeRunAndCompared) {
  Outcome outcome =
      run({"reduce", ".", "-o", "beam.rom.h5", "--jobs", "2", "--seconds", "100 ms", "--json", "reduce.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "hyper-reduced"));
  const json report = parse("reduce.json");
  for (const char* key : {"nodes", "elements", "actuators", "snapshots", "modes", "pod_tolerance", "rid", "validation",
                          "speed", "seconds"})
    EXPECT_TRUE(report.contains(key)) << key;
  for (const auto& [name, field] : report["rid"].items())
    for (const char* key : {"elements", "of", "tolerance", "residual"}) EXPECT_TRUE(field.contains(key)) << key;
  for (const char* key : {"states", "goal_error_mean", "goal_error_median", "goal_error_max", "shape_error_mean",
                          "shape_error_median", "shape_error_max"})
    EXPECT_TRUE(report["validation"].contains(key)) << key;
  for (const char* key : {"fom_steps_per_s", "rom_steps_per_s", "hrom_steps_per_s"})
    EXPECT_GT(report["speed"][key].get<double>(), 0) << key;
  for (const char* key : {"snapshots", "pod", "training", "selection", "validation", "total"})
    EXPECT_TRUE(report["seconds"].contains(key)) << key;
  EXPECT_LT(report["validation"]["goal_error_mean"].get<double>(), 0.1);

  outcome = run({"reduce", ".", "-o", "beam.rom.h5"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "--force"));

  outcome = run({"info", "beam.rom.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "goal error"));

  write_text(path("commands.csv"), "time [s],bend [mm]\n0,0\n0.2,8\n0.3,8\n");
  outcome = run({"run", "beam.rom.h5", "--actuation", "commands.csv", "--compare", ".", "--settle", "--json",
                 "run.json", "-o", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json measured = parse("run.json");
  EXPECT_EQ(measured["steps"], 30);
  for (const char* key : {"goal_error_mean", "shape_error_max", "state_hash", "p999_us"})
    EXPECT_TRUE(measured.contains(key)) << key;
  EXPECT_LT(measured["goal_error_mean"].get<double>(), 0.1);
  EXPECT_TRUE(exists("r/step_000030.vtu"));

  // A full model that cannot follow is a failed comparison, not one of 0 %.
  std::string heavy = read_text(path("scene.toml"));
  heavy.replace(heavy.find("1000 kg/m^3"), 11, "9e6 kg/m^3");
  write_text(path("heavy.toml"), heavy);
  outcome = run({"run", "beam.rom.h5", "--integrator", "quasi-static", "--steps", "2", "--set", "bend=1 mm",
                 "--compare", "heavy.toml", "--json", "failed.json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "failed: "));
  EXPECT_FALSE(exists("failed.json"));

  // Without commands it sweeps through all ranges.
  ASSERT_EQ(run({"run", "beam.rom.h5", "--json", "sweep.json"}).code, 0);
  EXPECT_EQ(parse("sweep.json")["steps"], smooth_path_covering_steps);

  // One robot and the first of a batch are the same robot.
  ASSERT_EQ(run({"run", "beam.rom.h5", "--batch", "3", "--steps", "5", "--json", "batch.json"}).code, 0);
  EXPECT_EQ(parse("batch.json")["batch"], 3);

  // The run made longer ends as one that was longer.
  const std::vector<std::string> whole{"run", "beam.rom.h5", "--set", "bend=3 mm", "--steps"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), whole.begin(), whole.end());
    return run(more);
  };
  ASSERT_EQ(with({"40", "--json", "whole.json"}).code, 0);
  ASSERT_EQ(with({"15", "-o", "s"}).code, 0);
  ASSERT_EQ(run({"run", "--resume", "s", "--steps", "40", "--json", "rest.json"}).code, 0);
  EXPECT_EQ(parse("rest.json")["state_hash"], parse("whole.json")["state_hash"]);

  EXPECT_EQ(run({"export", "beam.rom.h5", "-o", "skin.stl"}).code, 0);
  EXPECT_EQ(run({"export", ".", "-o", "beam.vtu"}).code, 0);
  EXPECT_TRUE(exists("skin.stl") && exists("beam.vtu"));
  EXPECT_EQ(run({"export", "beam.rom.h5", "-o", "skin.msh"}).code, 2);
  outcome = run({"bench", "--assets", "nowhere", "--model", "beam.rom.h5", "--seconds", "100 ms", "--json", "b.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* key : {"case", "device", "batch", "threads", "modes", "elements", "error", "steps_per_s", "p50_us",
                          "p99_us", "p999_us", "stages_us", "machine", "isa", "commit", "state_hash"})
    EXPECT_TRUE(parse("b.json")[0].contains(key)) << key;
}

TEST_F(Reduce, ABaseThatSlidesIsAnInputOfTheModel) {
  std::string text = read_text(path("scene.toml"));
  const std::string held = "group = \"x-\"\n";
  text.insert(text.find(held) + held.size(),
              "motion = \"base\"\ndirection = [0, 0, 1]\nrange = [\"-10 mm\", \"10 mm\"]\n");
  write_text(path("scene.toml"), text);
  Outcome outcome = run({"reduce", ".", "-o", "beam.rom.h5", "--seconds", "50 ms", "--json", "reduce.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(parse("reduce.json")["validation"]["worst_commands"].size(), 3U);
  outcome = run({"info", "beam.rom.h5"});
  EXPECT_TRUE(contains(outcome.out, "moves a fixed region, the body goes with it  -10 mm to 10 mm"));

  // Back and forth, beside the full model.
  write_text(path("commands.csv"), "time [s],bend [mm],base [mm]\n0,0,0\n0.2,5,8\n0.4,5,-8\n");
  outcome = run({"run", "beam.rom.h5", "--actuation", "commands.csv", "--compare", ".", "--settle", "--json",
                 "run.json", "-o", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(parse("run.json")["goal_error_mean"].get<double>(), 0.1);
  EXPECT_LT(parse("run.json")["shape_error_mean"].get<double>(), 0.1);
  const std::string trajectory = read_text(path("r/trajectory.csv"));
  EXPECT_TRUE(contains(trajectory, "time [s],lift [N],bend [mm],base [mm],"));
  EXPECT_TRUE(contains(trajectory, "\n0.4,0,5,-8,"));

  // A sweep moves it too, and needs a range for it.
  ASSERT_EQ(run({"run", "beam.rom.h5", "-o", "s"}).code, 0);
  double least = 0, largest = 0;
  std::istringstream lines(read_text(path("s/trajectory.csv")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    double time, lift, bend, base;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf", &time, &lift, &bend, &base), 4);
    least = std::min(least, base);
    largest = std::max(largest, base);
  }
  EXPECT_NEAR(least, -10, 0.1);
  EXPECT_NEAR(largest, 10, 0.1);
  text.erase(text.find("range = [\"-10 mm\""), 27);
  write_text(path("open.toml"), text);
  outcome = run({"simulate", "open.toml", "--sweep"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "--sweep needs a finite range for 'base'"));

  outcome = run({"export", "beam.rom.h5", "--format", "sofa", "--scene", ".", "-o", "sofa"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "prescribed motions"));
}

TEST_F(Reduce, ShardsAndJobsGiveTheSameFolder) {
  ASSERT_EQ(run({"snapshots", ".", "-o", "one"}).code, 0);
  ASSERT_EQ(run({"snapshots", ".", "-o", "two", "--shard", "1/2"}).code, 0);
  ASSERT_EQ(run({"snapshots", ".", "-o", "two", "--shard", "0/2", "--resume"}).code, 0);
  expect_same_states("one/training", "two/training");
  const Outcome again = run({"snapshots", ".", "-o", "one"});
  EXPECT_EQ(again.code, 2) << "a folder is not gone over unasked";
  for (const char* shard : {"2/2", "-1/2", "1/0", "1", "a/b", "0/2x"})
    EXPECT_EQ(run({"snapshots", ".", "-o", "new", "--shard", shard}).code, 2) << shard;
  EXPECT_EQ(run({"snapshots", ".", "-o", "new", "--shard", "0/2", "--worker"}).code, 2);
  EXPECT_EQ(run({"snapshots", ".", "-o", "new", "--worker", "--force"}).code, 2);
  EXPECT_EQ(run({"snapshots", ".", "-o", "new", "--worker", "--jobs", "2"}).code, 2);
  EXPECT_FALSE(exists("new"));
  EXPECT_EQ(run({"snapshots", "."}).code, 2);
}

// What is chosen depends on the states, not on who computed them.
TEST_F(Reduce, GreedyStatesAreTheSameForAnyNumberOfJobs) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("states = 16"), 11, "sampling = 'greedy'\nmax_modes = 3\nstates = 40");
  write_text(path("scene.toml"), text);
  ASSERT_EQ(run({"snapshots", ".", "-o", "one"}).code, 0);
  ASSERT_EQ(run({"snapshots", ".", "-o", "three", "--jobs", "3"}).code, 0);
  expect_same_states("one/training", "three/training");
  EXPECT_EQ(read_text(path("one/training/plan.json")), read_text(path("three/training/plan.json")));
  EXPECT_EQ(parse("one/training/plan.json")["predictions"].size(), 2U);  // a round of sixteen, and what was left

  // Two runs at once, each of which would plan on, and one that does not.
  const std::vector<std::string> same{"snapshots", ".", "-o", "both", "--resume", "--quiet"};
  std::vector<std::string> worker = same;
  worker.push_back("--worker");
  const pid_t first = start(same), second = start(same), third = start(worker);
  for (const pid_t child : {first, second, third}) {
    const Outcome outcome = finish(child);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  expect_same_states("one/training", "both/training");
  EXPECT_EQ(read_text(path("one/training/plan.json")), read_text(path("both/training/plan.json")));
}

TEST_F(Reduce, WhatCouldNotBeMeasuredIsNotZero) {
  // So heavy and soft that it has no equilibrium unless a cable lifts it: the unseen path begins without one, and steps
  // of the full model invert elements.
  write_text(path("soft.toml"), R"(name = "soft"
time_step = "100 ms"
[body]
order = 1
dilatation = "points"
mesh = {file = "beam.msh", unit = "m"}
density = "300000 kg/m^3"
[[body.material]]
model = "mooney-rivlin"
young = "100 kPa"
poisson = 0.3
[[fix]]
group = "x-"
[[actuator]]
name = "lift"
type = "cable"
points = [["200 mm", "20 mm", "0 mm"]]
pull_point = ["200 mm", "20 mm", "1 m"]
control = "force"
range = ["0 N", "150 N"]
[[effector]]
name = "tip"
point = ["200 mm", "20 mm", "20 mm"]
[reduce]
states = 6
validation_states = 4
)");
  const Outcome outcome =
      run({"reduce", "soft.toml", "-o", "m.rom.h5", "--seconds", "10 ms", "--json", "r.json", "--accept-errors"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "no rate of 'full'"));
  EXPECT_TRUE(contains(outcome.err, "no goal error in motion"));
  const json report = parse("r.json");
  EXPECT_TRUE(report["speed"]["fom_steps_per_s"].is_null());
  EXPECT_EQ(report["validation"]["dynamic_failed"], true);
  EXPECT_TRUE(report["validation"]["dynamic_goal_error_mean"].is_null());
  EXPECT_TRUE(contains(outcome.out, "failed"));
}

TEST_F(Reduce, WhereTheModelGoesIsLookedAtFirst) {
  for (const std::vector<std::string>& where : {std::vector<std::string>{"-o", "nowhere/m.rom.h5"},
                                                {"-o", "."},
                                                {"--json", "nowhere/m.json"},
                                                {"--plots", "beam.msh"}}) {
    const Outcome outcome = run({"reduce", ".", where[0], where[1]});
    EXPECT_EQ(outcome.code, 2) << where[1];
    EXPECT_TRUE(contains(outcome.err, where[0] + ": "));
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      EXPECT_NE(entry.path().extension(), ".snapshots") << where[1];
  }
}

TEST_F(Reduce, AsManyModesAsTheErrorTakes) {
  const auto reduce = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"reduce", ".", "-o", "beam.rom.h5", "--seconds", "10 ms", "--json", "r.json", "--force"});
    return run(more);
  };
  ASSERT_EQ(reduce({}).code, 0);
  const int few = parse("r.json")["modes"];
  const double error = parse("r.json")["validation"]["goal_error_mean"];
  EXPECT_TRUE(parse("r.json")["mode_search"].empty());
  const Outcome finer = reduce({"--error", std::to_string(0.3 * error)});
  ASSERT_EQ(finer.code, 0) << finer.err;
  const json report = parse("r.json");
  EXPECT_GT(report["modes"], few);
  EXPECT_LE(report["validation"]["goal_error_mean"].get<double>(), 0.3 * error);
  EXPECT_LE(report["validation"]["shape_error_mean"].get<double>(), 0.3 * error);
  EXPECT_LT(report["mode_search"][0]["modes"], report["modes"]);
  EXPECT_TRUE(contains(finer.out + finer.err, "modes were added"));
  // The scene that the model holds makes the same modes again.
  const ReducedModel model = read_model(path("beam.rom.h5"));
  EXPECT_TRUE(contains(model.provenance.scene_text, "max_modes = " + std::to_string(model.modes)));
  // Sixteen states do not show what others need to 1e-9; what there are too few of is named, and nothing is written.
  std::filesystem::remove(path("beam.rom.h5"));
  const Outcome missed = reduce({"--error", "1e-9"});
  EXPECT_EQ(missed.code, 1);
  EXPECT_TRUE(contains(missed.err, "limited by the training states"));
  EXPECT_TRUE(contains(missed.out + missed.err, "no states were added"));
  EXPECT_TRUE(contains(missed.err, "doublings = 1"));
  EXPECT_FALSE(exists("beam.rom.h5"));
  ASSERT_EQ(reduce({"--error", "1e-9", "--accept-errors"}).code, 0);
  EXPECT_TRUE(contains(run({"info", "beam.rom.h5"}).out, "do not trust"));
  // With modes of its own a scene is only judged by it.
  const Outcome judged = reduce({"--error", "1e-9", "--modes", "2"});
  EXPECT_EQ(judged.code, 1);
  EXPECT_TRUE(contains(judged.err, "limited by the 2 modes"));
}

// Four states show unseen ones to 0.06 %. The first four stay when there are eight.
TEST_F(Reduce, AsManyStatesAsTheErrorTakes) {
  const std::string beam = read_text(path("scene.toml")), few = "states = 16";
  const auto with = [&](const std::string& keys) {
    std::string text = beam;
    write_text(path("scene.toml"), text.replace(text.find(few), few.size(), "states = 4\ncorners = false\n" + keys));
  };
  const auto reduce = [&](const std::string& model) {
    return run({"reduce", ".", "-o", model + ".rom.h5", "--seconds", "10 ms", "--json", model + ".json"});
  };
  with("error = 1e-4\ntrajectories = 0\n");
  const Outcome outcome = reduce("asked");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out + outcome.err, "training states were added from 4 to 8"));
  EXPECT_TRUE(contains(outcome.err, "expected: about "));
  const json report = parse("asked.json");
  EXPECT_EQ(report["snapshots"], 8);
  ASSERT_EQ(report["state_search"].size(), 2U);
  EXPECT_GT(report["state_search"][0]["shape_error_mean"].get<double>(), 1e-4);
  EXPECT_LT(report["state_search"][1]["shape_error_mean"].get<double>(), 1e-4);
  EXPECT_EQ(report["expected"]["states"], 4 + 10 + 6);  // training, validation, test
  // Eight from the beginning: the same states, the same model.
  with("error = 1e-4\ntrajectories = 0\ndoublings = 1\n");
  ASSERT_EQ(reduce("at-once").code, 0);
  expect_same_states("asked.snapshots/training", "at-once.snapshots/training");
  const ReducedModel asked = read_model(path("asked.rom.h5")), at_once = read_model(path("at-once.rom.h5"));
  EXPECT_EQ(asked.provenance.scene_text, at_once.provenance.scene_text);
  EXPECT_EQ(parse("asked.json")["validation"], parse("at-once.json")["validation"]);
  // Of a folder that has more the first four are used again.
  with("trajectories = 0\n");
  ASSERT_EQ(run({"reduce", ".", "-o", "four.rom.h5", "--snapshots", "asked.snapshots", "--seconds", "10 ms", "--json",
                 "four.json"})
                .code,
            0);
  EXPECT_EQ(parse("four.json")["snapshots"], 4);
  EXPECT_EQ(parse("four.json")["expected"]["states"], 0);
}

TEST_F(Reduce, CheckTellsWhatItWillCost) {
  const Outcome outcome = run({"check", ".", "--json", "check.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "yes; about "));
  const json cost = parse("check.json")["reduction_cost"];
  EXPECT_EQ(cost["states"], 16 + 4 + 10 + 6);  // corners, and the sets of validation and test
  EXPECT_GT(cost["state_seconds"].get<double>(), 0);
  EXPECT_GT(cost["seconds"].get<double>(), cost["state_seconds"].get<double>());
  EXPECT_EQ(cost["most_seconds"], cost["seconds"]);  // the scene says how many states
  EXPECT_GT(cost["memory_bytes"].get<double>(), 1e6);
  // 20 free nodes and two cables: 62 numbers each.
  EXPECT_EQ(cost["disk_bytes"].get<double>(), 36 * 62 * 8);
  write_text(path("scene.toml"), read_text(path("scene.toml")) + "sampling = 'grid'\nconverged = false\nbudget = 3\n");
  EXPECT_EQ(run({"check", ".", "--json", "check.json", "--force"}).code, 0);
  EXPECT_FALSE(parse("check.json").contains("reduction_cost"));  // it cannot be reduced
}

TEST_F(Reduce, AModelBeyondItsLimitIsRefused) {
  write_text(path("scene.toml"), read_text(path("scene.toml")) + "goal_error_limit = 1e-12\n");
  const Outcome outcome = run({"reduce", ".", "-o", "beam.rom.h5", "--seconds", "100 ms", "--json", "reduce.json"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "the model is rejected"));
  EXPECT_FALSE(exists("beam.rom.h5"));
  EXPECT_TRUE(exists("reduce.json"));
}

// A beam that four cables pull to its sides, two of them with forces of up to `sideways`. One mode shows one of both
// directions; what is missing of the motion is about half of `sideways` / 1 N, and half where they are equal.
std::string pulled_to_all_sides(std::string scene, const std::string& sideways) {
  const std::size_t actuators = scene.find("[[actuator]]"), effectors = scene.find("[[effector]]");
  std::string pulls;
  for (const auto& [name, towards, force] :
       std::vector<std::array<std::string, 3>>{{"lift", "\"20 mm\", \"1 m\"", "1 N"},
                                               {"drop", "\"20 mm\", \"-1 m\"", "1 N"},
                                               {"left", "\"1 m\", \"20 mm\"", sideways},
                                               {"right", "\"-1 m\", \"20 mm\"", sideways}})
    pulls += "[[actuator]]\nname = \"" + name +
             "\"\ntype = \"cable\"\npoints = [[\"200 mm\", \"20 mm\", \"20 mm\"]]\n" + "pull_point = [\"200 mm\", " +
             towards + "]\ncontrol = \"force\"\nrange = [\"0 N\", \"" + force + "\"]\n";
  return scene.replace(actuators, effectors - actuators, pulls);
}

// Large errors: a warning, or no model at all unless the user accepts them.
TEST_F(Reduce, LargeErrorsAreToldOrRefused) {
  const std::string beam = read_text(path("scene.toml"));
  write_text(path("rough.toml"), pulled_to_all_sides(beam, "0.2 N"));
  Outcome outcome =
      run({"reduce", "rough.toml", "-o", "rough.rom.h5", "--seconds", "10 ms", "--modes", "1", "--json", "rough.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  json report = parse("rough.json");
  EXPECT_GT(report["validation"]["shape_error_mean"].get<double>(), 0.05);
  EXPECT_LT(report["validation"]["shape_error_mean"].get<double>(), 0.25);
  EXPECT_TRUE(contains(outcome.err, "warning: the model's mean error on test states is "));
  EXPECT_TRUE(contains(report["warning"], "more than 5 %"));
  EXPECT_TRUE(contains(report["warning"], "--modes-tolerance"));
  EXPECT_EQ(report["refused"], "");
  EXPECT_FALSE(contains(run({"info", "rough.rom.h5"}).out, "do not trust"));
  outcome = run({"reduce", "rough.toml", "-o", "fine.rom.h5", "--snapshots", "rough.snapshots", "--seconds", "10 ms"});
  EXPECT_FALSE(contains(outcome.err, "warning: "));

  const std::string four = pulled_to_all_sides(beam, "1 N");
  write_text(path("four.toml"), four);
  std::vector<std::string> words{"reduce", "four.toml", "-o",    "four.rom.h5", "--modes",
                                 "1",      "--seconds", "10 ms", "--json",      "four.json"};
  outcome = run(words);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "error: the model is rejected: its mean error on test states is "));
  EXPECT_TRUE(contains(outcome.err, "more training snapshots"));
  EXPECT_TRUE(contains(outcome.err, "--accept-errors writes this model all the same"));
  EXPECT_FALSE(exists("four.rom.h5"));
  report = parse("four.json");
  EXPECT_TRUE(contains(report["refused"], "(more than 25 %)"));
  EXPECT_EQ(report["forced"], false);

  words.emplace_back("--force");  // replaces files, no more
  EXPECT_EQ(run(words).code, 1);
  EXPECT_FALSE(exists("four.rom.h5"));
  words.emplace_back("--accept-errors");
  outcome = run(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: the model's mean error on test states is "));
  EXPECT_EQ(parse("four.json")["forced"], true);
  outcome = run({"info", "four.rom.h5", "--json", "info.json"});
  EXPECT_TRUE(contains(outcome.out, "written with --accept-errors"));
  EXPECT_TRUE(contains(parse("info.json")["model"]["forced"], "more than 25 %"));
  outcome = run({"run", "four.rom.h5", "--steps", "1", "--json", "run.json"});
  EXPECT_TRUE(contains(outcome.err, "written with --accept-errors"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(parse("run.json")["warning"], "written with --accept-errors"));

  // A limit of the scene holds all the same, and what is there stays.
  const std::string there = read_text(path("four.rom.h5"));
  write_text(path("four.toml"), four + "goal_error_limit = 0.1\n");
  outcome = run(words);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(contains(outcome.err, "all the same"));
  EXPECT_EQ(read_text(path("four.rom.h5")), there);
}

// States that the model does not solve count as wrong by 100 % and are told apart wherever errors are.
TEST_F(Reduce, FailedTestStatesAreTold) {
  ASSERT_EQ(run({"reduce", ".", "-o", "beam.rom.h5", "--seconds", "10 ms"}).code, 0);
  ReducedModel model = read_model(path("beam.rom.h5"));
  ErrorSummary& errors = model.errors;
  ASSERT_EQ(errors.failed, 0);
  errors.failed = 2;
  for (double* mean : {&errors.goal_mean, &errors.shape_mean})
    *mean = (*mean * (errors.states - 2) + 2) / errors.states;
  write_model(model, path("failed.rom.h5"));
  const std::string counted = "2 of " + std::to_string(errors.states) + " test states failed";
  Outcome outcome = run({"info", "failed.rom.h5", "--json", "info.json"});
  EXPECT_TRUE(contains(outcome.out, counted));
  const json told = parse("info.json")["model"]["validation"];
  EXPECT_EQ(told["failed"], 2);
  for (const std::string kind : {"goal", "shape"})
    EXPECT_NEAR(told[kind + "_error_mean"].get<double>() * errors.states,
                told[kind + "_error_mean_without_failed"].get<double>() * (errors.states - 2) + 2, 1e-9)
        << kind;
  EXPECT_TRUE(contains(run({"run", "failed.rom.h5", "--steps", "1"}).out, counted));
}

// The paper's sweep in steps that are short against the body's vibrations, and in longer ones.
TEST_F(Reduce, ASweepThatDoesNotSettleIsTold) {
  std::string text = read_text(path("scene.toml"));
  text.replace(text.find("states = 16"), 11, "sampling = \"grid\"\nconverged = false\nstates = 16");
  text.replace(text.find("\"10 ms\""), 7, "\"2 ms\"");
  write_text(path("short.toml"), text);
  text.replace(text.find("\"2 ms\""), 6, "\"40 ms\"");
  write_text(path("long.toml"), text);
  Outcome outcome = run({"check", "short.toml", "--json", "short.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: with converged = false each training snapshot is one time step of 2 ms"));
  const std::string warning = parse("short.json")["sweep_warning"];
  for (const char* words : {"converged = true", "sweep_steps = ", "a time_step of about "})
    EXPECT_TRUE(contains(warning, words));
  outcome = run({"reduce", "short.toml", "-o", "m.rom.h5", "--seconds", "10 ms", "--json", "reduce.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: " + warning));
  EXPECT_EQ(parse("reduce.json")["sweep_warning"], warning);
  outcome = run({"check", "long.toml", "--json", "long.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(parse("long.json")["sweep_warning"], "");
}

}  // namespace
}  // namespace supple::test

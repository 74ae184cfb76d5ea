// supple bench on a folder of robots of its own: which models are made, kept and made again, and what is measured.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Bench : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    for (const std::string robot : {"beam", "other"}) {
      fs::create_directories(path("robots/" + robot));
      fs::copy(path("beam.msh"), path("robots/" + robot + "/beam.msh"));
      write_text(path("robots/" + robot + "/scene.toml"),
                 read_text(path("scene.toml")) + "[reduce]\nstates = 6\nvalidation_states = 4\n");
    }
  }

  Outcome bench(const std::vector<std::string>& more) {
    std::vector<std::string> all{"bench", "--assets", "robots", "--models", "kept",      "--seconds",
                                 "10 ms", "--json",   "b.json", "--force",  "--threads", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  json rows() { return json::parse(read_text(path("b.json"))); }

  // All that lies in a folder.
  std::vector<std::string> files(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path(folder), error)) names.push_back(entry.path().string());
    return names;
  }
};

TEST_F(Bench, ForwardCasesComeFromTheScenesAlone) {
  Outcome outcome = bench({"--case", "forward/beam", "--batch", "1,3"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  json found = rows();
  ASSERT_EQ(found.size(), 2u);
  const int batches[] = {1, 3};
  for (std::size_t k = 0; k < 2; ++k) {
    const json& row = found[k];
    EXPECT_EQ(row["case"], "forward/beam");
    EXPECT_EQ(row["batch"], batches[k]);
    EXPECT_GT(row["modes"], 0);
    EXPECT_GT(row["error"].get<double>(), 0);  // measured, not assumed
    EXPECT_LT(row["error"].get<double>(), 0.2);
    EXPECT_NEAR(row["steps_per_s"].get<double>() * row["p50_us"].get<double>(), 1e6 * batches[k], 1e-3);
  }
  EXPECT_NE(found[0]["state_hash"], found[1]["state_hash"]);
  // The model, and nothing of the way to it.
  std::vector<std::string> kept = files("kept");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_TRUE(kept[0].ends_with(".rom.h5"));
  const auto made = fs::last_write_time(kept[0]);

  // Made once.
  ASSERT_EQ(bench({"--case", "forward/beam"}).code, 0);
  EXPECT_EQ(rows()[0]["modes"], found[0]["modes"]);
  EXPECT_EQ(fs::last_write_time(kept[0]), made);

  // Damaged, it is made again.
  const std::string bytes = read_text(kept[0]);
  for (const std::string& damaged : {bytes.substr(0, bytes.size() / 2), std::string("no model")}) {
    write_text(kept[0], damaged);
    outcome = bench({"--case", "forward/beam"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "was made again"));
    EXPECT_EQ(rows()[0]["error"], found[0]["error"]);
    EXPECT_EQ(files("kept"), kept);
  }
}

TEST_F(Bench, AnotherSceneOrMeshIsAnotherModel) {
  ASSERT_EQ(bench({"--case", "forward/beam"}).code, 0);
  const std::string scene = path("robots/beam/scene.toml");
  std::string text = read_text(scene);
  text.replace(text.find("500 kPa"), 7, "400 kPa");
  write_text(scene, text);
  ASSERT_EQ(bench({"--case", "forward/beam"}).code, 0);
  EXPECT_EQ(files("kept").size(), 2u);
}

TEST_F(Bench, OnlyWhatIsAskedForIsMade) {
  ASSERT_EQ(bench({"--case", "full"}).code, 0);
  EXPECT_EQ(rows().size(), 4u);  // each forward and inversely
  EXPECT_FALSE(exists("kept"));
  const Outcome outcome = bench({"--case", "forward/bean"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err,
                       "forward/beam, forward/other, full-inverse/beam, full-inverse/other, full/beam, full/other, "
                       "inverse/beam, inverse/other, qp/4, qp/9"));
  EXPECT_FALSE(exists("kept"));
}

TEST_F(Bench, QuadraticProgramsAlone) {
  ASSERT_EQ(bench({"--case", "qp/", "--batch", "1,64", "--steps", "90"}).code, 0);
  const json found = rows();
  ASSERT_EQ(found.size(), 4u);
  for (const json& row : found) EXPECT_LT(row["error"], 1e-9) << row["case"];  // as solve_qp promises
}

TEST_F(Bench, RoundsAreTakenInTurnAndSummed) {
  const Outcome outcome = bench({"--case", "/beam", "--rounds", "3", "--steps", "90"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = rows();
  ASSERT_EQ(found.size(), 4u);
  const json &forward = found[0], &full_inverse = found[1], &full = found[2], &inverse = found[3];
  EXPECT_EQ(full_inverse["case"], "full-inverse/beam");
  EXPECT_EQ(inverse["case"], "inverse/beam");
  for (const json* led : {&inverse, &full_inverse})
    for (const char* key : {"tracking_error_median", "qp_us_median", "held_steps", "saturated_steps"})
      EXPECT_TRUE(led->contains(key)) << key;
  EXPECT_TRUE(inverse.contains("times_full"));
  EXPECT_FALSE(full_inverse.contains("times_full"));
  EXPECT_EQ(forward["case"], "forward/beam");
  EXPECT_EQ(forward["steps"], 270);
  for (const json& row : found) {
    EXPECT_EQ(row["rounds"], 3);
    EXPECT_GE(row["spread"], 0);
    EXPECT_LE(row["p50_us"], row["p99_us"]);
    EXPECT_LE(row["p99_us"], row["p999_us"]);
    EXPECT_EQ(row["load"].size(), 3u);
    EXPECT_TRUE(contains(row["flags"], "-march="));
  }
  const json& times = forward["times_full"];
  EXPECT_GT(times["median"], 1);
  EXPECT_LE(times["least"], times["median"]);
  EXPECT_LE(times["median"], times["largest"]);
  EXPECT_FALSE(full.contains("times_full"));
  EXPECT_TRUE(contains(outcome.out, "times full"));
  // As many steps give the same states.
  const std::string hash = forward["state_hash"];
  ASSERT_EQ(bench({"--case", "forward/beam", "--steps", "90"}).code, 0);
  EXPECT_EQ(rows()[0]["state_hash"], hash);
  EXPECT_FALSE(rows()[0].contains("times_full"));
}

TEST_F(Bench, WorkIsHeldAgainstTheMachineOfTheSameRun) {
  const Outcome outcome = bench({"--case", "/beam"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = rows(), &forward = found[0];
  for (const char* key : {"fma_flop_per_s", "product_flop_per_s", "read_l2_bytes_per_s", "read_l3_bytes_per_s",
                          "read_memory_bytes_per_s"})
    EXPECT_GT(forward["peaks"][key], 0) << key;
  EXPECT_EQ(forward["peaks"], found[1]["peaks"]);
  for (const char* stage : {"forces", "factor", "solve", "step"}) {
    EXPECT_GT(forward["flop"][stage], 0) << stage;
    EXPECT_GT(forward["fraction_of_peak"][stage], 0) << stage;
    EXPECT_LT(forward["fraction_of_peak"][stage], 3) << stage;  // a neighbour may slow the peak
  }
  double stages = 0;
  for (const auto& [stage, us] : forward["stages_us"].items()) stages += us.get<double>();
  EXPECT_GT(stages, 0);
  EXPECT_LT(stages, 3 * forward["p50_us"].get<double>());
  EXPECT_GT(forward["gradient_bytes"], 0);
  EXPECT_GT(forward["gradient_read_bytes_per_s"], 0);
  EXPECT_GT(forward["fraction_of_roofline"], 0);
  EXPECT_LT(forward["fraction_of_roofline"], 3);
  EXPECT_FALSE(found[1].contains("flop"));  // of a sparse factorisation it is not known
  for (const char* words : {"of peak", "of roofline", "fused multiply-adds", "load", "commit"})
    EXPECT_TRUE(contains(outcome.out, words));
}

// The algebra of GPUs on the CPU: the same robots along the same paths, and not the same bits.
TEST_F(Bench, BatchedAlgebraInEveryPrecision) {
  std::vector<json> found;
  const std::vector<std::string> precisions{"", "fp64", "mixed", "fp32"};
  for (const std::string& precision : precisions) {
    std::vector<std::string> words{"--case", "forward/beam", "--batch", "40", "--steps", "18"};
    if (!precision.empty()) words.insert(words.end(), {"--precision", precision});
    const Outcome outcome = bench(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    found.push_back(rows()[0]);
    EXPECT_EQ(found.back()["batch"], 40);
  }
  EXPECT_FALSE(found[0].contains("precision"));
  std::set<std::string> hashes;
  for (std::size_t k = 1; k < found.size(); ++k) {
    EXPECT_EQ(found[k]["precision"], precisions[k]);
    hashes.insert(found[k]["state_hash"]);
  }
  EXPECT_EQ(hashes.size(), 3U);
  EXPECT_EQ(bench({"--case", "forward/beam", "--precision", "fp16"}).code, 2);
}

// Whole steps on the device: the rate of the same robots, and states that are the same to rounding but not in their
// bits.
TEST_F(Bench, StatesThatStayOnTheDevice) {
  const Outcome outcome =
      bench({"--case", "forward/beam", "--batch", "40", "--steps", "18", "--rounds", "2", "--resident"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = rows()[0];
  EXPECT_EQ(found["resident"], true);
  EXPECT_EQ(found["precision"], "fp64");
  EXPECT_EQ(found["batch"], 40);
  EXPECT_GT(found["steps_per_s"], 0);
  for (const char* stage : {"outputs", "forces", "factor", "solve", "rows"})
    EXPECT_GT(found["stages_us"][stage].get<double>(), 0) << stage;
  EXPECT_EQ(found["fused"], false);
  ASSERT_EQ(bench({"--case", "forward/beam", "--batch", "40", "--steps", "18", "--resident", "--fused"}).code, 0);
  EXPECT_EQ(rows()[0]["fused"], true);
  EXPECT_NE(rows()[0]["state_hash"], found["state_hash"]);
  ASSERT_EQ(bench({"--case", "forward/beam", "--batch", "40", "--steps", "18", "--precision", "fp64"}).code, 0);
  EXPECT_EQ(rows()[0]["resident"], false);
  EXPECT_EQ(bench({"--case", "forward/beam", "--fused"}).code, 2);
  EXPECT_EQ(bench({"--case", "forward/beam", "--sweep-contact"}).code, 2);
  EXPECT_EQ(bench({"--case", "forward/beam", "--resident", "--sweep-contact", "--host-contact"}).code, 2);
}

TEST_F(Bench, AGpuThatIsNotThereIsOneLineAndCodeThree) {
  const Outcome outcome = bench({"--case", "forward/beam", "--device", "cuda:99"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "no CUDA device 99"));
  EXPECT_FALSE(exists("b.json"));
}

TEST_F(Bench, SeveralCasesMayBeNamed) {
  ASSERT_EQ(bench({"--case", "full/beam", "--case", "full/oth"}).code, 0);
  ASSERT_EQ(rows().size(), 2u);
  EXPECT_EQ(rows()[0]["case"], "full/beam");
  EXPECT_EQ(rows()[1]["case"], "full/other");
}

TEST_F(Bench, ARobotThatCannotBeReducedIsLeftOut) {
  const std::string scene = path("robots/beam/scene.toml");
  std::string text = read_text(scene);
  text.erase(text.find("[[effector]]"), text.find("[reduce]") - text.find("[[effector]]"));
  write_text(scene, text);
  const Outcome outcome = bench({"--case", "/beam"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "forward/beam is left out: the scene has no effector"));
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0]["case"], "full/beam");
}

TEST_F(Bench, AnAssemblyIsLeftOutAndTheOthersAreMeasured) {
  fs::create_directories(path("robots/pair"));
  write_text(path("robots/pair/scene.toml"), "[[part]]\nname = \"one\"\nscene = \"../beam/scene.toml\"\n");
  const Outcome outcome = bench({"--case", "full/"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "full/pair is left out: a scene of several bodies"));
  ASSERT_EQ(rows().size(), 2u);
}

TEST_F(Bench, ModelsAreKeptInTheCacheOfTheUser) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", path("cache").c_str(), 1), 0);
  const Outcome outcome = run({"bench", "--assets", "robots", "--case", "forward/beam", "--seconds", "10 ms"});
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(files("cache/supple/bench").size(), 1u);
}

TEST_F(Bench, AnInterruptedModelGoesOn) {
  const std::string scene = path("robots/beam/scene.toml");
  std::string text = read_text(scene);
  text.replace(text.find("states = 6"), 10, "sampling = \"grid\"\nsweep_steps = 200");
  write_text(scene, text);
  const std::vector<std::string> words{"bench", "--assets",  "robots", "--case",    "forward/beam", "--models",
                                       "kept",  "--threads", "1",      "--seconds", "10 ms",        "--quiet"};
  const pid_t child = start(words);
  const auto states = [&] { return files("kept").empty() ? "" : files("kept")[0]; };
  EXPECT_TRUE(wait_until([&] { return fs::exists(states() + "/training/path_0000.h5"); }));
  kill(child, SIGINT);
  const Outcome stopped = finish(child);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "the same command again (continues)"));
  EXPECT_TRUE(fs::exists(states() + "/training/path_0000.h5"));
  EXPECT_EQ(run(words).code, 0);
  ASSERT_EQ(files("kept").size(), 1u);
  EXPECT_TRUE(states().ends_with(".rom.h5"));
}

TEST_F(Bench, TablesSayWhatIsMissing) {
  const std::string script = SUPPLE_SOURCE_DIR "/bench/tables.sh";
  if (!fs::exists(script)) GTEST_SKIP() << "without the source tree";
  const std::string program = test::program_under_test();
  const auto tables = [&](const std::string& arguments) {
    return std::system(("cd " + folder_ + " && bash " + script + " " + arguments + " 2>err >out").c_str());
  };
  EXPECT_NE(tables("robots --supple " + program), 0);
  EXPECT_TRUE(contains(read_text(path("err")), "robots/diamond_4k_tet.vtu' is missing: the published meshes"));
  EXPECT_NE(tables("robots --supple nowhere"), 0);
  EXPECT_TRUE(contains(read_text(path("err")), "there is no program 'nowhere'"));
  EXPECT_EQ(tables("--help"), 0);
  EXPECT_TRUE(contains(read_text(path("out")), "--meshes 4k,34k,70k"));
  EXPECT_FALSE(exists("out/tables"));
}

TEST_F(Bench, WithoutAGpuTheCudaDeviceIsRefused) {
  if (std::getenv("SUPPLE_REQUIRE_CUDA") != nullptr) GTEST_SKIP() << "there is a GPU";
  const Outcome outcome = bench({"--device", "cuda"});
  if (outcome.code == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_FALSE(exists("kept"));
}

}  // namespace
}  // namespace supple::test

// Sensors as a user has them: columns of results, answers of streams, recordings, the report, and runs that are resumed.
#include <cmath>
#include <sstream>

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

constexpr const char* sensors = R"([[sensor]]
name = "stretch"
type = "length"
points = [["10 mm", "20 mm", "40 mm"], ["190 mm", "20 mm", "40 mm"]]
noise = "0.1 mm"
[[sensor]]
name = "gauge"
type = "strain"
point = ["20 mm", "20 mm", "39 mm"]
direction = [1, 0, 0]
measure = "engineering"
[[sensor]]
name = "cell"
type = "tension"
actuator = "bend"
delay = "20 ms"
[[sensor]]
name = "imu"
type = "accelerometer"
point = ["200 mm", "20 mm", "20 mm"]
[[sensor]]
name = "gyro"
type = "gyroscope"
box = [["150 mm", "-1 m", "-1 m"], ["1 m", "1 m", "1 m"]]
noise = "0.5 deg/s"
)";

// Lines and cells of a table of numbers.
std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) lines.back().push_back(cell);
  }
  return lines;
}

double cell(const std::vector<std::vector<std::string>>& lines, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < lines[0].size(); ++i)
    if (lines[0][i] == column) return std::stod(lines[row + 1][i]);
  ADD_FAILURE() << "no column " << column;
  return 0;
}

class Sensors : public test::Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_text(path("scene.toml"), read_text(path("scene.toml")) + sensors);
    const FullModel full = build_full_model(read_scene(path("scene.toml")));
    const int n = full.coordinates.nv;
    write_model(project(full, reduced_bodies::full_basis(n), n, all_elements(full)), path("beam.rom.h5"));
  }
};

TEST_F(Sensors, AreColumnsOfARun) {
  const Outcome outcome = run({"simulate", ".", "--set", "bend=4 mm", "--steps", "6", "-o", "r", "--json", "r.json",
                               "--record", "r.rec.h5", "--threads", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = table(read_text(path("r/trajectory.csv")));
  ASSERT_EQ(lines.size(), 8u);
  for (const char* column :
       {"stretch length [mm]", "gauge strain", "cell tension [N]", "imu acceleration x [m/s^2]", "gyro rate z [deg/s]"})
    (void)cell(lines, 0, column);
  EXPECT_NEAR(cell(lines, 0, "stretch length [mm]"), 180, 0.5);
  EXPECT_NE(cell(lines, 0, "stretch length [mm]"), 180);
  EXPECT_EQ(cell(lines, 0, "gauge strain"), 0);
  EXPECT_GT(cell(lines, 6, "gauge strain"), 1e-4);  // it bends down: its upper side is stretched
  EXPECT_NEAR(cell(lines, 0, "imu acceleration z [m/s^2]"), 9.81, 1e-9);
  for (std::size_t k = 2; k <= 6; ++k)
    EXPECT_EQ(cell(lines, k, "cell tension [N]"), cell(lines, k - 2, "bend tension [N]")) << k;
  // The same numbers in the report and in the recording, in SI.
  const json report = json::parse(read_text(path("r.json")));
  EXPECT_NEAR(report["sensors"]["stretch"].get<double>(), 1e-3 * cell(lines, 6, "stretch length [mm]"), 1e-9);
  EXPECT_EQ(report["sensors"]["imu"].size(), 3u);
  RecordingReader recorded(path("r.rec.h5"));
  ASSERT_EQ(recorded.facts().sensors.size(), 9u);
  EXPECT_EQ(recorded.facts().sensors[0], "stretch length [m]");
  EXPECT_EQ(recorded.facts().sensors[1], "gauge strain");
  ASSERT_EQ(recorded.frame(6).sensors.size(), 9u);
  EXPECT_NEAR(recorded.frame(3).sensors[0], 1e-3 * cell(lines, 3, "stretch length [mm]"), 1e-9);
  EXPECT_NEAR(recorded.frame(6).sensors[5], cell(lines, 6, "imu acceleration z [m/s^2]"), 1e-6);

  EXPECT_TRUE(contains(run({"info", "r.rec.h5"}).out, "imu acceleration x [m/s^2]"));

  // The reduced model of all modes reads the same, noise included.
  const Outcome reduced = run({"run", "beam.rom.h5", "--set", "bend=4 mm", "--steps", "6", "-o", "m"});
  ASSERT_EQ(reduced.code, 0) << reduced.err;
  const auto other = table(read_text(path("m/trajectory.csv")));
  ASSERT_EQ(other[0], lines[0]);
  for (std::size_t i = lines[0].size() - 9; i < lines[0].size(); ++i)
    EXPECT_NEAR(std::stod(other[7][i]), std::stod(lines[7][i]), 1e-5 * (1 + std::abs(std::stod(lines[7][i]))))
        << lines[0][i];
}

TEST_F(Sensors, OfAResumedRunGoOn) {
  for (const std::vector<std::string>& begin :
       {std::vector<std::string>{"simulate", ".", "--set", "bend=4 mm", "--seed", "3"},
        std::vector<std::string>{"run", "beam.rom.h5", "--batch", "3", "--set", "bend=4 mm", "--seed", "3"}}) {
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), begin.begin(), begin.end());
      return more;
    };
    ASSERT_EQ(run(with({"--steps", "12", "-o", "whole", "--force"})).code, 0);
    ASSERT_EQ(run(with({"--steps", "5", "-o", "r", "--force"})).code, 0);
    const Outcome outcome = run({begin[0], "--resume", "r", "--steps", "12"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_text(path("r/trajectory.csv")), read_text(path("whole/trajectory.csv")));
    // The same seed, the same noise.
    ASSERT_EQ(run(with({"--steps", "12", "-o", "other", "--force"})).code, 0);
    EXPECT_EQ(read_text(path("other/trajectory.csv")), read_text(path("whole/trajectory.csv")));
  }
  EXPECT_EQ(run({"run", "--resume", "r", "--steps", "14", "--seed", "9"}).code, 2);
  // Another seed has other noise, and the same motion.
  ASSERT_EQ(run({"simulate", ".", "--steps", "2", "-o", "a", "--seed", "3"}).code, 0);
  ASSERT_EQ(run({"simulate", ".", "--steps", "2", "-o", "b", "--seed", "4"}).code, 0);
  const auto a = table(read_text(path("a/trajectory.csv"))), b = table(read_text(path("b/trajectory.csv")));
  EXPECT_NE(cell(a, 2, "stretch length [mm]"), cell(b, 2, "stretch length [mm]"));
  EXPECT_EQ(cell(a, 2, "gauge strain"), cell(b, 2, "gauge strain"));
}

TEST_F(Sensors, AreInTheAnswersOfAStream) {
  ASSERT_EQ(run({"run", "beam.rom.h5", "--set", "bend=4 mm", "--steps", "3", "-o", "r"}).code, 0);
  const auto lines = table(read_text(path("r/trajectory.csv")));
  const std::vector<json> answers =
      converse("run beam.rom.h5", "{\"commands\": {\"bend\": 0.004}}\n{}\n{}\n{\"reset\": true}\n");
  ASSERT_EQ(answers.size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) {
    const json& own = answers[k]["sensors"];
    ASSERT_EQ(own.size(), 5u);
    EXPECT_NEAR(own["stretch"].get<double>(), 1e-3 * cell(lines, k + 1, "stretch length [mm]"), 1e-9);
    EXPECT_NEAR(own["imu"][2].get<double>(), cell(lines, k + 1, "imu acceleration z [m/s^2]"), 1e-6);
  }
  const std::vector<json> inverse = converse("inverse beam.rom.h5", "{\"goal\": {\"tip\": [0.2, 0.02, 0.018]}}\n");
  ASSERT_EQ(inverse.size(), 1u);
  EXPECT_TRUE(inverse[0]["sensors"].contains("gyro"));
}

TEST_F(Sensors, AreColumnsOfInverseControl) {
  write_text(path("goals.csv"), "time [s],tip x [mm],tip y [mm],tip z [mm]\n0,200,20,20\n0.1,200,20,19\n");
  const Outcome outcome = run({"inverse", "beam.rom.h5", "--goal", "goals.csv", "--steps", "60", "-o", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = table(read_text(path("r/tracking.csv")));
  ASSERT_EQ(lines.size(), 62u);
  // It begins where its weight bends it, and is led straight.
  EXPECT_NEAR(cell(lines, 0, "stretch length [mm]"), 182, 0.5);
  EXPECT_NEAR(cell(lines, 60, "stretch length [mm]"), 180, 1.5);
  double felt = 0;
  for (const char* axis : {"x", "y", "z"})
    felt += std::pow(cell(lines, 60, std::string("imu acceleration ") + axis + " [m/s^2]"), 2);
  EXPECT_NEAR(std::sqrt(felt), 9.81, 0.1);
  EXPECT_EQ(lines[0].back(), "gyro rate z [deg/s]");
  EXPECT_EQ(lines[3].size(), lines[0].size());
}

TEST_F(Sensors, AreListed) {
  const Outcome scene = run({"info", ".", "--json", "scene.json"});
  ASSERT_EQ(scene.code, 0) << scene.err;
  EXPECT_TRUE(contains(scene.out, "noise 100 um"));
  EXPECT_TRUE(contains(scene.out, "tension of bend"));
  EXPECT_EQ(json::parse(read_text(path("scene.json")))["scene"]["sensors"].size(), 5u);
  const Outcome model = run({"info", "beam.rom.h5"});
  EXPECT_TRUE(contains(model.out, "accelerometer at"));
}

TEST_F(Sensors, OutsideTheBodyAreWarnedOf) {
  write_text(path("scene.toml"), read_text(path("scene.toml")) +
                                     "[[sensor]]\nname = \"off\"\ntype = \"strain\"\npoint = [\"100 mm\", \"20 mm\", "
                                     "\"44 mm\"]\ndirection = [1, 0, 0]\n");
  const Outcome outcome = run({"check", "."});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out + outcome.err, "sensor 'off' lies 4 mm outside the mesh"));
}

}  // namespace
}  // namespace supple

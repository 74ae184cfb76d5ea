// A hollow bar with air in it, from the scene to a reduced model and back to a pressure, as a user does it.
#include <nlohmann/json.hpp>

#include "engine/mesh/write.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"
#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Air : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_msh(path("hollow.msh"), hollow_bodies::bar(false));
    write_text(path("hollow.toml"), R"(name = "hollow"
[body]
order = 1
dilatation = "points"
mesh = {file = "hollow.msh", unit = "m"}
density = "1000 kg/m^3"
[[body.material]]
young = "200 kPa"
poisson = 0.35
[[fix]]
box = [[-1, -1, -1], ["1 um", 1, 1]]
[[actuator]]
name = "air"
type = "cavity"
box = [["30 mm", "20 mm", "20 mm"], ["270 mm", "80 mm", "80 mm"]]
range = ["0 kPa", "20 kPa"]
[[effector]]
name = "tip"
point = ["290 mm", "50 mm", "50 mm"]
[reduce]
states = 12
validation_states = 6
modes_tolerance = 1e-6
)");
  }
  json parse(const std::string& name) { return json::parse(read_text(path(name))); }
};

TEST_F(Air, IsBlownReducedAndFound) {
  Outcome outcome = run({"info", "hollow.toml", "--json", "info.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "pressure  0 kPa to 20 kPa"));
  outcome = run({"simulate", "hollow.toml", "--set", "air=15 kPa", "--integrator", "quasi-static", "--steps", "1", "-o",
                 "full", "--json", "full.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "command 15 kPa, pressure 15 kPa"));
  const std::string trajectory = read_text(path("full/trajectory.csv"));
  EXPECT_EQ(trajectory.substr(0, trajectory.find('\n')),
            "time [s],air [kPa],air pressure [kPa],tip x [mm],tip y [mm],tip z [mm]");
  EXPECT_TRUE(contains(trajectory, "0.01,15,15,"));

  outcome = run({"reduce", "hollow.toml", "-o", "hollow.rom.h5", "--seconds", "20 ms", "--json", "reduce.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // A body of 144 elements with one command; the errors are of the same order as the acceptance of its elements.
  EXPECT_LT(parse("reduce.json")["validation"]["goal_error_mean"].get<double>(), 0.02);
  EXPECT_EQ(parse("reduce.json")["validation"]["failed"], 0);
  outcome = run({"run", "hollow.rom.h5", "--set", "air=15 kPa", "--integrator", "quasi-static", "--steps", "1",
                 "--compare", "hollow.toml", "--json", "run.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(parse("run.json")["goal_error_mean"].get<double>(), 0.05);

  // The pressure that brings the tip to where 15 kPa have brought it.
  const std::string last = trajectory.substr(trajectory.rfind('\n', trajectory.size() - 2) + 1);
  const std::string place = last.substr(last.find(',', last.find(',', last.find(',') + 1) + 1) + 1);
  write_text(path("goal.csv"), "time [s],tip x [mm],tip y [mm],tip z [mm]\n0," + place);
  outcome = run({"inverse", "hollow.rom.h5", "--goal", "goal.csv", "--integrator", "quasi-static", "--steps", "4", "-o",
                 "found", "--json", "found.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string commands = read_text(path("found/commands.csv"));
  EXPECT_TRUE(commands.starts_with("time [s],air [kPa]\n")) << commands;
  EXPECT_NEAR(std::stod(commands.substr(commands.rfind(',') + 1)), 15, 0.3);
  EXPECT_TRUE(contains(read_text(path("found/tracking.csv")), "air pressure [kPa]"));
}

TEST_F(Air, SaysWhatIsWrong) {
  Outcome outcome = run({"simulate", "hollow.toml", "--set", "air=15 N"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "is a force, a stress is expected"));
  std::string text = read_text(path("hollow.toml"));
  text.replace(text.find("\"270 mm\""), 8, "\"200 mm\"");
  write_text(path("open.toml"), text);
  outcome = run({"check", "open.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "the walls of cavity 'air' are not closed"));
  EXPECT_TRUE(contains(outcome.err, "open.toml:"));
}

// A volume is asked for in millilitres or cubic millimetres, in a file or on a line, and reached.
TEST_F(Air, IsLedToAVolume) {
  write_text(path("chamber.toml"), R"(include = "hollow.toml"
[[effector]]
name = "chamber"
type = "volume"
cavity = "air"
)");
  Outcome outcome = run({"info", "chamber.toml", "--json", "info.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json info = parse("info.json")["scene"]["effectors"][0];
  EXPECT_EQ(info["type"], "volume");
  const double rest = info["rest_volume"].get<double>(), goal = 1.04 * rest;
  EXPECT_TRUE(contains(outcome.out, "chamber  volume of "));
  for (const auto& [unit, size] : {std::pair{"mL", 1e-6}, {"mm^3", 1e-9}}) {
    write_text(path("goal.csv"),
               "time [s],chamber [" + std::string(unit) + "]\n0," + std::to_string(goal / size) + "\n");
    outcome = run({"inverse", "chamber.toml", "--goal", "goal.csv", "--integrator", "quasi-static", "--steps", "3",
                   "--replay", "chamber.toml", "-o", "led", "--force", "--json", "led.json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    // Six digits of the goal in the file, converged to 1e-9 m.
    EXPECT_LT(parse("led.json")["tracking_error_max"].get<double>(), 1e-8);
    EXPECT_LT(parse("led.json")["replay"]["tracking_error_max"].get<double>(), 1e-7);
    const std::string tracking = read_text(path("led/tracking.csv"));
    EXPECT_TRUE(contains(tracking, ",chamber goal [mL],chamber reached [mL],air pressure [kPa],chamber replayed [mL]"));
    // The commands bring it there in a forward run too, whose table has the volume.
    outcome = run({"simulate", "chamber.toml", "--actuation", "led/commands.csv", "--integrator", "quasi-static",
                   "--steps", "3", "-o", "forward", "--force"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::string trajectory = read_text(path("forward/trajectory.csv"));
    EXPECT_TRUE(contains(trajectory, ",chamber volume [mL]\n"));
    const double last = 1e-6 * std::stod(trajectory.substr(trajectory.rfind(',') + 1));
    EXPECT_NEAR(last, goal, 1e-6 * goal);
  }
  write_text(path("lines"),
             "{\"goal\": {\"chamber\": " + std::to_string(goal) + "}}\n{\"goal\": {\"chamber\": [1, 2, 3]}}\n");
  ASSERT_EQ(system(("cd " + folder_ + " && '" + test::program_under_test().string() +
                    "' inverse chamber.toml --stdin --integrator quasi-static < lines > answers 2> err")
                       .c_str()),
            0)
      << read_text(path("err"));
  const std::string answers = read_text(path("answers"));
  const json answer = json::parse(answers.substr(0, answers.find('\n')));
  ASSERT_EQ(answer["reached"]["chamber"].size(), 1u);
  EXPECT_NEAR(answer["reached"]["chamber"][0].get<double>(), goal, 0.01 * goal);
  EXPECT_TRUE(contains(answers, "the goal of 'chamber' needs a number")) << answers;
}

}  // namespace
}  // namespace supple::test

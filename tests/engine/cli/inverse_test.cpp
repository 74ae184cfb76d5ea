// supple inverse, as a user runs it: goals from a file, a figure or standard input; results; bad input.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/io/recording.hpp"
#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple {
namespace {

using test::contains;
using test::Outcome;
using test::read_text;
using test::write_text;

class InverseCommand : public test::Cli {
 protected:
  // A small way up for the tip, from where it hangs.
  void write_goals(const std::string& name, double rise_mm) {
    write_text(path(name), "time [s],tip x [mm],tip y [mm],tip z [mm]\n0,200,20,17\n0.2,200,20," +
                               std::to_string(17 + rise_mm) + "\n");
  }
  static std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(line);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
  }
  nlohmann::json json(const std::string& name) { return nlohmann::json::parse(read_text(path(name))); }
};

TEST_F(InverseCommand, CommandsReachTheGoalAndReplayTheSame) {
  write_goals("goals.csv", 0.5);
  const Outcome outcome = run({"inverse", "scene.toml", "--goal", "goals.csv", "--replay", "scene.toml", "-o",
                               "results", "--json", "out.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json result = json("out.json");
  EXPECT_EQ(result["steps"], 20);
  EXPECT_EQ(result["held_steps"], 0);
  for (const char* key : {"steps_per_s", "realtime_factor", "p50_us", "p99_us", "p999_us", "qp_us_median",
                          "tracking_error_median", "tracking_error_max", "saturated_steps", "state_hash"})
    EXPECT_TRUE(result.contains(key)) << key;
  // The replay runs the very model that the commands were found on: it is where the inverse run was.
  EXPECT_NEAR(result["replay"]["tracking_error_max"].get<double>(), result["tracking_error_max"].get<double>(), 1e-8);
  EXPECT_TRUE(exists("results/commands.csv") && exists("results/tracking.csv") && exists("results/path.gp"));
  // So are the places that tracking.csv holds of both, at the end of each line.
  std::istringstream tracking(read_text(path("results/tracking.csv")));
  std::string header, line;
  std::getline(tracking, header);
  const std::vector<std::string> names = split(header, ',');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  ASSERT_EQ(column("tip z replayed [mm]") + 1, names.size());
  int lines = 0;
  for (; std::getline(tracking, line); ++lines) {
    const std::vector<std::string> values = split(line, ',');
    ASSERT_EQ(values.size(), names.size());
    for (const std::string axis : {"x", "y", "z"})  // nine digits are written: 1e-6 mm of 200 mm
      EXPECT_NEAR(std::stod(values[column("tip " + axis + " replayed [mm]")]),
                  std::stod(values[column("tip " + axis + " reached [mm]")]), 1e-5);
  }
  EXPECT_EQ(lines, 21);  // the start and 20 steps
  // The commands are a file that `simulate` takes.
  EXPECT_EQ(run({"simulate", "scene.toml", "--actuation", "results/commands.csv"}).code, 0);
  // Nothing is overwritten unasked.
  const std::string before = read_text(path("results/commands.csv"));
  const Outcome again = run({"inverse", "scene.toml", "--goal", "goals.csv", "-o", "results"});
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(contains(again.err, "--force"));
  EXPECT_EQ(read_text(path("results/commands.csv")), before);
}

TEST_F(InverseCommand, SameBitsEveryTimeForAnyThreads) {
  write_goals("goals.csv", 0.5);
  ASSERT_EQ(run({"inverse", "scene.toml", "--goal", "goals.csv", "--json", "a.json", "--threads", "1"}).code, 0);
  ASSERT_EQ(run({"inverse", "scene.toml", "--goal", "goals.csv", "--json", "b.json", "--threads", "2"}).code, 0);
  EXPECT_EQ(json("a.json")["state_hash"], json("b.json")["state_hash"]);
}

// Free, in contact with friction, at a limit, and in statics: what the programs begin with is saved too.
TEST_F(InverseCommand, AnInterruptedRunGoesOnWithTheSameBits) {
  write_text(path("floor.toml"), R"(include = "scene.toml"
[[obstacle]]
name = "floor"
type = "plane"
position = ["0 mm", "0 mm", "-2 mm"]
friction = 0.4
)");
  write_text(path("rope.toml"), R"(include = "scene.toml"
[[constraint]]
name = "rope"
type = "limit"
points = [["100 mm", "20 mm", "40 mm"]]
anchor = ["100 mm", "20 mm", "80 mm"]
length = "40.5 mm"
)");
  const struct {
    std::string scene, steps, integrator;
  } runs[] = {{"scene.toml", "6000", "implicit-euler"},
              {"floor.toml", "4000", "implicit-euler"},
              {"rope.toml", "4000", "implicit-euler"},
              {"scene.toml", "1500", "quasi-static"}};
  for (const auto& [scene, steps, integrator] : runs) {
    const std::vector<std::string> request{"inverse",   scene,     "--lemniscate", "4 mm",         "--height",
                                           "-2.5 mm",   "--steps", steps,          "--integrator", integrator,
                                           "--threads", "1",       "--force"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), request.begin(), request.end());
      return more;
    };
    const Outcome whole = run(with({"-o", "whole", "--json", "whole.json"}));
    ASSERT_EQ(whole.code, 0) << whole.err;
    const pid_t child = start(with({"-o", "parts"}));
    EXPECT_TRUE(test::wait_until([&] { return test::handles(child, SIGINT); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(child, SIGINT);
    const Outcome stopped = finish(child);
    ASSERT_EQ(stopped.code, 130) << scene << integrator << stopped.err;
    EXPECT_TRUE(contains(stopped.err, "--resume (continues)"));
    EXPECT_LT(read_text(path("parts/commands.csv")).size(), read_text(path("whole/commands.csv")).size());

    std::vector<std::string> other = with({"-o", "parts", "--resume"});
    other[3] = "5 mm";
    const Outcome refused = run(other);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "other goals, settings or steps")) << refused.err;

    const Outcome rest = run(with({"-o", "parts", "--resume", "--json", "parts.json"}));
    ASSERT_EQ(rest.code, 0) << rest.err;
    EXPECT_EQ(json("parts.json")["state_hash"], json("whole.json")["state_hash"]) << scene << integrator;
    EXPECT_EQ(json("parts.json")["contact"], json("whole.json")["contact"]);
    if (scene == "floor.toml") {
      EXPECT_GT(json("whole.json")["contact"]["steps"], 100);
    }
    for (const char* file : {"/commands.csv", "/tracking.csv"})
      EXPECT_EQ(read_text(path("parts" + std::string(file))), read_text(path("whole" + std::string(file))));
    EXPECT_TRUE(contains(run(with({"-o", "parts", "--resume"})).err, "there is no unfinished run in 'parts'"));
  }
}

TEST_F(InverseCommand, AnInterruptedReplayIsGoneOnWith) {
  const std::vector<std::string> request{"inverse",  "scene.toml", "--circle",  "1 mm", "--steps", "4000",
                                         "--replay", "scene.toml", "--threads", "1",    "-o"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), request.begin(), request.end());
    return more;
  };
  const Outcome whole = run(with({"whole", "--json", "whole.json"}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const pid_t child = start(with({"parts"}));
  // Saved before the replay, which a signal then stops.
  EXPECT_TRUE(test::wait_until([&] { return exists("parts/inverse.h5") && test::handles(child, SIGINT); }));
  kill(child, SIGINT);
  const Outcome stopped = finish(child);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "--resume (continues)")) << stopped.err;
  const Outcome rest = run(with({"parts", "--resume", "--json", "parts.json"}));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(json("parts.json")["replay"], json("whole.json")["replay"]);
  EXPECT_EQ(read_text(path("parts/tracking.csv")), read_text(path("whole/tracking.csv")));
  EXPECT_FALSE(exists("parts/inverse.h5"));
}

TEST_F(InverseCommand, WhatIsNotTheInterruptedRunIsNotGoneOnWith) {
  write_goals("goals.csv", 0.5);
  const std::vector<std::string> request{"inverse", "scene.toml", "--goal", "goals.csv", "-o", "r", "--resume"};
  EXPECT_EQ(run({"inverse", "scene.toml", "--goal", "goals.csv", "--resume"}).code, 2);
  EXPECT_TRUE(contains(run(request).err, "there is no unfinished run in 'r'"));
  std::filesystem::create_directory(path("r"));
  write_text(path("r/inverse.h5"), "no HDF5");
  EXPECT_EQ(run(request).code, 2);
  // What a killed run left is not replaced unasked.
  const Outcome fresh = run({"inverse", "scene.toml", "--goal", "goals.csv", "-o", "r"});
  EXPECT_EQ(fresh.code, 2);
  EXPECT_TRUE(contains(fresh.err, "--resume to continue")) << fresh.err;
  EXPECT_EQ(read_text(path("r/inverse.h5")), "no HDF5");
  EXPECT_TRUE(
      contains(run({"inverse", "scene.toml", "--goal", "goals.csv", "-o", "r", "--resume", "--record", "x.rec.h5"}).err,
               "--record does not go with --resume"));
}

TEST_F(InverseCommand, FiguresAndIntegrators) {
  for (const char* integrator : {"implicit-euler", "implicit-euler-newton", "quasi-static"}) {
    const Outcome outcome = run({"inverse", "scene.toml", "--circle", "1 mm", "--turns", "1", "--steps", "16",
                                 "--integrator", integrator, "--json", "out.json", "--force"});
    EXPECT_EQ(outcome.code, 0) << integrator << outcome.err;
    EXPECT_EQ(json("out.json")["steps"], 16);
  }
  EXPECT_EQ(run({"inverse", "scene.toml", "--lemniscate", "1 mm", "--steps", "8", "--solver", "gauss-seidel"}).code, 0);
}

TEST_F(InverseCommand, UnreachableGoalsAreToldNotHidden) {
  write_goals("goals.csv", 500);
  const Outcome outcome = run({"inverse", "scene.toml", "--goal", "goals.csv", "--json", "out.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(json("out.json")["saturated_steps"].get<long>(), 0);
  EXPECT_TRUE(contains(outcome.out + outcome.err, "limits kept the robot from its goal"));
}

TEST_F(InverseCommand, LeadsInContact) {
  // A stop above the tip, which is asked to go 8 mm up.
  write_text(path("stop.toml"), R"(include = "scene.toml"
[[obstacle]]
name = "stop"
type = "box"
size = ["40 mm", "100 mm", "10 mm"]
position = ["200 mm", "20 mm", "44 mm"]
friction = 0.2
max_force = "0.2 N"
)");
  write_goals("goals.csv", 8);
  const Outcome outcome = run({"inverse", "stop.toml", "--goal", "goals.csv", "--replay", "stop.toml", "-o", "results",
                               "--starts", "2", "--integrator", "quasi-static", "--json", "out.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json result = json("out.json"), contact = result["contact"];
  EXPECT_GE(contact["most_touching"], 1);
  EXPECT_LT(contact["residual"], 1e-8);
  for (const nlohmann::json& run : {contact, result["replay"]["contact"]}) {
    EXPECT_GT(run["solves"], 0);
    EXPECT_EQ(run["loose"], 0);
    EXPECT_EQ(run["softened"], 0);
  }
  EXPECT_LT(contact["pyramid_error"], 1e-3);
  // It pushes down on the beam, as much as it may: the exact cone gives a few hundredths more or less.
  EXPECT_NEAR(contact["force"][2].get<double>(), -0.2, 0.01);
  EXPECT_GT(result["saturated_steps"], 0);
  EXPECT_EQ(result["held_steps"], 0);
  EXPECT_TRUE(contains(outcome.out, "pairs of point and obstacle press at most")) << outcome.out;
  EXPECT_TRUE(contains(read_text(path("results/tracking.csv")),
                       ",held,contacts,replayed contacts,stop normal force [N],"
                       "stop replayed normal force [N],tip x"));
  EXPECT_GE(contact["steps"], 1);
  EXPECT_EQ(contact["touchdowns"], 1);
  const nlohmann::json replayed = result["replay"]["contact"];
  EXPECT_EQ(replayed["steps"], contact["steps"]);
  EXPECT_EQ(replayed["touchdowns"], 1);
  // The same model: what differs is where both have converged to.
  const double most = contact["largest_normal_force"]["stop"];
  EXPECT_NEAR(replayed["largest_normal_force"]["stop"], most, 1e-4 * most);
  EXPECT_NEAR(most, 0.2, 0.01);
  EXPECT_TRUE(contains(outcome.out, "on 'stop' at most 2")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "after 1 touchdown; on the full model in ")) << outcome.out;
  const Outcome refused = run({"inverse", "stop.toml", "--goal", "goals.csv", "--solver", "gauss-seidel"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "Gauss-Seidel knows no contact")) << refused.err;
}

// The robots of assets/ in contact: a tip led round a circle against a ball, a finger that may press with 0.1 N.
TEST_F(InverseCommand, LeadsTheTentacleAgainstItsBall) {
  const std::string scene = std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets/tentacle/ball.toml";
  const Outcome led = run({"inverse", scene, "--circle", "25 mm", "--height", "5 mm", "--duration", "3 s", "--json",
                           "out.json", "-o", "results"});
  ASSERT_EQ(led.code, 0) << led.err;
  const nlohmann::json result = json("out.json"), contact = result["contact"];
  EXPECT_LT(result["tracking_error_max"].get<double>(), 1e-4);
  EXPECT_EQ(result["held_steps"], 0);
  EXPECT_EQ(contact["touchdowns"], 3);
  EXPECT_NEAR(contact["steps"].get<double>(), 135, 5);
  EXPECT_NEAR(contact["largest_normal_force"]["ball"].get<double>(), 0.15, 0.05);
}

TEST_F(InverseCommand, LeadsTheFingerWithinItsForce) {
  const std::string folder = std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets/pneumatic_finger/";
  const Outcome outcome = run(
      {"inverse", folder + "press.toml", "--goal", folder + "press.csv", "--duration", "0.9 s", "--json", "out.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json result = json("out.json"), contact = result["contact"];
  EXPECT_EQ(result["held_steps"], 0);
  EXPECT_GE(contact["steps"], 3);
  // The pyramid finds the forces that the cone does where points stick.
  EXPECT_NEAR(contact["largest_normal_force"]["cylinder"].get<double>(), 0.1, 1e-4);
  EXPECT_GT(result["saturated_steps"], 0);
  EXPECT_TRUE(contains(outcome.out, "on 'cylinder' at most 100 mN of 100 mN")) << outcome.out;
}

TEST_F(InverseCommand, AnswersSayWhatPresses) {
  write_text(path("stop.toml"), R"(include = "scene.toml"
integrator = "quasi-static"
[[obstacle]]
name = "stop"
type = "box"
size = ["40 mm", "100 mm", "10 mm"]
position = ["200 mm", "20 mm", "44 mm"]
[[obstacle]]
name = "far"
type = "plane"
position = [0, 0, -1]
)");
  const std::vector<nlohmann::json> answers =
      converse("inverse stop.toml", "{}\n{\"goal\": {\"tip\": [0.2, 0.02, 0.03]}}\n{}\n{}\n");
  ASSERT_EQ(answers.size(), 4U);
  const nlohmann::json away = answers[0]["contact"];
  EXPECT_EQ(away["pressing"], 0);
  EXPECT_EQ(away["forces"], (nlohmann::json{{"stop", 0.0}, {"far", 0.0}}));
  const nlohmann::json there = answers[3]["contact"];
  EXPECT_GE(there["pressing"], 1);
  EXPECT_GT(there["forces"]["stop"], 0.01);
  EXPECT_EQ(there["forces"]["far"], 0);
  EXPECT_LT(there["residual"], 1e-8);
}

// Two reasons, one after the other: a goal that must be reached and a command that is known leave no answer.
TEST_F(InverseCommand, SaysTheFirstAndTheMostFrequentReasonOfHeldSteps) {
  write_text(path("exact.toml"), R"(include = "scene.toml"
gravity = [0, 0, 0]
[[actuator]]
name = "lift"
type = "cable"
points = [["200 mm", "20 mm", "40 mm"]]
pull_point = ["200 mm", "20 mm", "1 m"]
control = "force"
range = ["0 N", "2 N"]
rate = "0.5 N/s"
[[actuator]]
name = "bend"
type = "cable"
points = [["200 mm", "20 mm", "0 mm"]]
pull_point = ["0 mm", "20 mm", "-100 mm"]
range = ["0 mm", "20 mm"]
force = ["0 N", "1 mN"]
[[effector]]
name = "tip"
point = ["200 mm", "20 mm", "20 mm"]
directions = [[0, 0, 1]]
exact = true
)");
  // Far up, which the rate of one cable forbids; then far down, which the force of the other does.
  write_text(
      path("goals.csv"),
      "time [s],tip x [mm],tip y [mm],tip z [mm]\n0,200,20,60\n0.03,200,20,60\n0.031,200,20,-40\n0.1,200,20,-40\n");
  const Outcome outcome = run({"inverse", "exact.toml", "--goal", "goals.csv", "--json", "out.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json result = json("out.json"), reasons = result["held_reasons"];
  EXPECT_EQ(result["held_steps"], 10);
  ASSERT_EQ(reasons.size(), 2u) << reasons;
  EXPECT_EQ(reasons[0]["steps"], 3);
  EXPECT_EQ(reasons[1]["steps"], 7);
  EXPECT_NEAR(reasons[0]["first"].get<double>(), 0.01, 1e-12);
  EXPECT_NEAR(reasons[1]["first"].get<double>(), 0.04, 1e-12);
  // A limit that moves with the last command is one reason, not another in each step.
  EXPECT_TRUE(contains(reasons[0]["reason"], "force of 'lift' at most its range and rate allow")) << reasons;
  EXPECT_TRUE(contains(reasons[1]["reason"], "force of 'bend' at most 1 mN")) << reasons;
  EXPECT_TRUE(contains(outcome.out + outcome.err, "at 10 ms: ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out + outcome.err, "(3 steps); most often, from 40 ms on: ")) << outcome.err;
}

TEST_F(InverseCommand, AnswersLineByLine) {
  const std::vector<nlohmann::json> answers =
      converse("inverse scene.toml --record a.rec.h5", R"({"goal": {"tip": [0.2, 0.02, 0.0172]}}
{"goal": {"tip": [0.2, 0.02]}}
nonsense
{"goal": {"nose": [0, 0, 0]}}
{"known": {"lift": 0.1}}
{"goal": {"tip": [0.2, 0.02, 1e400]}}
{"reset": true, "goal": {"tip": [0.2, 0.02, 0.0172]}}
)");
  ASSERT_EQ(answers.size(), 7U);
  EXPECT_TRUE(answers[0]["held"].is_null());
  EXPECT_TRUE(answers[0]["commands"].contains("lift"));
  EXPECT_NEAR(answers[0]["time"].get<double>(), 0.01, 1e-12);
  for (int i : {1, 2, 3, 5}) EXPECT_TRUE(answers[static_cast<std::size_t>(i)].contains("error")) << i;
  EXPECT_FALSE(answers[1].contains("commands"));
  EXPECT_EQ(answers[4]["commands"]["lift"], 0.1);
  // After the reset the first answer again, bit for bit.
  for (const char* key : {"commands", "forces", "reached", "distance", "time"})
    EXPECT_EQ(answers[6][key], answers[0][key]);
  // The start and each step that was taken; the goal counts from where it was first given.
  RecordingReader recorded(path("a.rec.h5"));
  ASSERT_EQ(recorded.frames(), 4);
  const double steps[] = {0, 1, 2, 1};
  for (int k = 0; k < 4; ++k) {
    const RecordedFrame& frame = recorded.frame(k);
    EXPECT_EQ(frame.step, steps[k]);
    EXPECT_TRUE(frame.inverse);
    EXPECT_EQ(frame.steered, std::vector<double>{k > 0 ? 1.0 : 0.0});
    if (k == 0) continue;
    EXPECT_EQ(frame.goals, (std::vector<double>{0.2, 0.02, 0.0172}));
  }
  EXPECT_EQ(hash(recorded.frame(3).state), hash(RecordedFrame(recorded.frame(1)).state));
  EXPECT_GT(recorded.frame(0).goals[0], 0.15);  // where the tip hangs, and not at the origin
}

TEST_F(InverseCommand, LimitsOfForcesChangeFromLineToLine) {
  const std::vector<nlohmann::json> answers = converse("inverse scene.toml", R"({"goal": {"tip": [0.2, 0.02, 0.019]}}
{"limits": {"lift": [0, 0.05]}}
{}
{"limits": {"lift": null}}
{"limits": {"lift": [3, 1]}}
{"limits": {"lift": [5, 6]}}
{"limits": {"nose": [0, 1]}}
{"limits": {"lift": [0, 0.05]}, "goal": {"tip": [0.2, 0.02, 0.019]}, "reset": true}
{"reset": true, "goal": {"tip": [0.2, 0.02, 0.019]}}
)");
  ASSERT_EQ(answers.size(), 9U);
  const auto lift = [&](std::size_t line) { return answers[line]["forces"]["lift"].get<double>(); };
  EXPECT_GT(lift(0), 0.1);
  for (std::size_t line : {1, 2, 7}) {
    EXPECT_LE(lift(line), 0.05 + 1e-12) << line;
    EXPECT_GT(answers[line]["saturated"], 0) << line;
  }
  EXPECT_GT(lift(3), 0.1);
  EXPECT_TRUE(contains(answers[4]["error"], "reversed"));
  EXPECT_TRUE(contains(answers[5]["error"], "outside those of the robot (0 N to "));
  EXPECT_TRUE(contains(answers[6]["error"], "no actuator 'nose'"));
  EXPECT_EQ(answers[8]["forces"], answers[0]["forces"]);  // the robot's own again
}

// What is said of errors and commands holds for a full and for a reduced model, whether the goal was reached or not.
TEST_F(InverseCommand, NotesSayWhatTheyKnow) {
  const std::string replay = "--replay SCENE runs the commands on the full model";
  write_goals("far.csv", 500);
  Outcome outcome = run({"inverse", "scene.toml", "--goal", "far.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, replay));
  EXPECT_FALSE(contains(outcome.out, "of the reduced model itself"));
  EXPECT_TRUE(contains(outcome.out, "depend on the way there"));
  write_text(path("small.toml"), read_text(path("scene.toml")) + "[reduce]\nstates = 8\nvalidation_states = 4\n");
  ASSERT_EQ(run({"reduce", "small.toml", "-o", "m.rom.h5", "--seconds", "10 ms"}).code, 0);
  outcome = run({"inverse", "m.rom.h5", "--goal", "far.csv", "--regularisation", "energy"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, replay));
  EXPECT_TRUE(contains(outcome.out, "of the reduced model itself"));
  EXPECT_FALSE(contains(outcome.err, "reached its goal"));
  EXPECT_FALSE(contains(outcome.out, "depend on the way there"));
}

TEST_F(InverseCommand, TheExampleOfAControllerRuns) {
  if (system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  const std::string example = std::string(SUPPLE_SOURCE_DIR) + "/docs/examples/controller/circle.py";
  if (!std::filesystem::exists(example)) GTEST_SKIP() << "the documentation is not here";
  ASSERT_EQ(system(("python3 '" + example + "' '" + test::program_under_test().string() + "' " + folder_ +
                    "/scene.toml 12 > " + path("answers") + " 2> " + path("err"))
                       .c_str()),
            0)
      << read_text(path("err"));
  const std::string commands = read_text(path("answers"));
  EXPECT_EQ(std::count(commands.begin(), commands.end(), '\n'), 12);
  EXPECT_TRUE(contains(commands, "lift="));
  EXPECT_TRUE(contains(read_text(path("err")), "largest distance to the goal"));
}

TEST_F(InverseCommand, SaysWhatIsWrong) {
  const auto refuses = [&](const std::vector<std::string>& arguments, const std::string& words) {
    std::vector<std::string> all{"inverse"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_TRUE(contains(outcome.err, words));
  };
  refuses({"scene.toml"}, "there are no goals");
  refuses({"scene.toml", "--circle", "1 mm", "--stdin"}, "several options");
  refuses({"scene.toml", "--goal", "missing.csv"}, "cannot read");
  write_text(path("part.csv"), "time [s],tip x [mm],tip y [mm]\n0,1,2\n");
  refuses({"scene.toml", "--goal", "part.csv"}, "2 of its 3 columns");
  write_text(path("none.csv"), "time [s],lift [N]\n0,1\n");
  refuses({"scene.toml", "--goal", "none.csv"}, "no effector has a goal");
  write_text(path("wrong.csv"), "time [s],nose x [mm]\n0,1\n");
  refuses({"scene.toml", "--goal", "wrong.csv"}, "no input 'nose x'");
  write_text(path("nan.csv"), "time [s],tip x [mm],tip y [mm],tip z [mm]\n0,1,nan,2\n");
  refuses({"scene.toml", "--goal", "nan.csv"}, "not a number");
  refuses({"scene.toml", "--circle", "1 mm", "--epsilon", "-3"}, "--epsilon");
  refuses({"scene.toml", "--circle", "1 mm", "--steps", "3", "--duration", "1 s"}, "twice");
}

}  // namespace
}  // namespace supple

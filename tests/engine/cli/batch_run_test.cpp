// run and inverse with --batch: each robot with its own commands or goals, on every device.
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/io/model_file.hpp"
#include "engine/io/recording.hpp"
#include "engine/io/saved_run.hpp"
#include "engine/run/inverse_run.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "engine/run/steps_on_device.hpp"
#include "engine/scene/reader.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"
#include "tests/engine/cli/program.hpp"
#include "tests/support/wait.hpp"

namespace supple::test {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Of a table of a batch, those of one robot without its index: the table that the robot alone would have.
Lines of_robot(const std::string& text, int robot) {
  Lines own;
  for (const std::string& line : lines_of(text)) {
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    const std::string index = line.substr(first + 1, second - first - 1);
    if (index == "robot" || index == std::to_string(robot)) own.push_back(line.substr(0, first) + line.substr(second));
  }
  return own;
}

// Nine digits are written; a device differs from a CPU by rounding, which ten steps of a soft beam hardly amplify.
void expect_near(const Lines& a, const Lines& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 1; k < a.size(); ++k) {
    std::istringstream left(a[k]), right(b[k]);
    std::string x, y;
    while (std::getline(left, x, ',') && std::getline(right, y, ',')) {
      if (x.empty()) continue;
      EXPECT_NEAR(std::stod(x), std::stod(y), 1e-5 * std::max(1.0, std::abs(std::stod(y)))) << a[k];
    }
  }
}

// The beam of Cli with all of its modes, reduced without snapshots.
class BatchFiles : public Cli {
 protected:
  void write_beam(const std::string& name, const std::string& material) {
    std::string text = read_text(path("scene.toml"));
    text.replace(text.find("young"), 5, "model = \"" + material + "\"\nyoung");
    text.replace(text.find("[\"0 N\", \"2 N\"]"), 14, "[\"0 N\", \"1e6 N\"]");
    write_text(path("reduced.toml"), text);
    const FullModel full = build_full_model(read_scene(path("reduced.toml")));
    write_model(project(full, reduced_bodies::full_basis(full.coordinates.nv), full.coordinates.nv, all_elements(full)),
                path(name));
  }
  json report(const std::string& name) { return json::parse(read_text(path(name))); }
};

class BatchRun : public BatchFiles, public testing::WithParamInterface<Device> {
 protected:
  void SetUp() override {
    BatchFiles::SetUp();
    need_device(GetParam());
    if (!IsSkipped()) write_beam("beam.rom.h5", "corotational");
  }
  Outcome run_batch(const std::string& verb, const std::string& model, int robots, Lines more) {
    more.insert(more.begin(), {verb, model, "--batch", std::to_string(robots), "--device", to_string(GetParam())});
    return run(more);
  }
  bool on_cpu() const { return GetParam().kind == Device::Kind::cpu; }
  // As alone on a CPU: the same bits there.
  void expect_same(const Lines& in_batch, const Lines& alone) const {
    if (on_cpu())
      EXPECT_EQ(in_batch, alone);
    else
      expect_near(in_batch, alone);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, BatchRun, every_device(), device_name);

// Robot b pulls more, and has instants of its own; the lines of the robots come in no order.
std::string commands_of(int b, const std::string& index) {
  const std::string bend = std::to_string(3 + b), lift = std::to_string(0.1 * b);
  return "0" + index + ",0,0\n" + std::to_string(0.03 + 0.01 * b) + index + "," + bend + "," + lift + "\n0.2" + index +
         ",1,0\n";
}

TEST_P(BatchRun, EachRobotMovesAsAlone) {
  constexpr int robots = 5;
  std::string all = "time [s],robot,bend [mm],lift [N]\n";
  for (const int b : {3, 0, 4, 1, 2}) all += commands_of(b, "," + std::to_string(b));
  write_text(path("robots.csv"), all);
  for (const std::string integrator : {"implicit-euler", "implicit-euler-newton"}) {
    const Outcome outcome =
        run_batch("run", "beam.rom.h5", robots,
                  {"--actuation", "robots.csv", "--steps", "10", "-o", "all", "--settle", "--record", "all.rec.h5",
                   "--record-robot", "3", "--json", "all.json", "--integrator", integrator, "--force"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(exists("all/state.h5"));
    EXPECT_FALSE(exists("all/result.pvd"));
    const json all_json = report("all.json");
    EXPECT_EQ(all_json["batch"], robots);
    EXPECT_EQ(all_json["device"], to_string(GetParam()));
    EXPECT_TRUE(all_json["failed"].empty());
    EXPECT_NEAR(all_json["steps_per_s"].get<double>() * all_json["p50_us"].get<double>(), 1e6 * robots, 1);
    for (int b = 0; b < robots; ++b) {
      write_text(path("one.csv"), "time [s],bend [mm],lift [N]\n" + commands_of(b, ""));
      const Outcome one = run({"run", "beam.rom.h5", "--actuation", "one.csv", "--steps", "10", "-o", "one", "--settle",
                               "--record", "one.rec.h5", "--integrator", integrator, "--force"});
      ASSERT_EQ(one.code, 0) << one.err;
      expect_same(of_robot(read_text(path("all/trajectory.csv")), b), lines_of(read_text(path("one/trajectory.csv"))));
      if (b != 3) continue;
      RecordingReader recorded(path("all.rec.h5")), alone(path("one.rec.h5"));
      ASSERT_EQ(recorded.frames(), alone.frames());
      if (on_cpu()) {
        EXPECT_EQ(hash(recorded.frame(10).state), hash(alone.frame(10).state));
      }
    }
  }
}

TEST_P(BatchRun, WithoutTheColumnAllHaveTheSameCommands) {
  write_text(path("one.csv"), "time [s],bend [mm]\n0,0\n0.05,8\n");
  ASSERT_EQ(run_batch("run", "beam.rom.h5", 3, {"--actuation", "one.csv", "-o", "all", "--every", "2"}).code, 0);
  const std::string text = read_text(path("all/trajectory.csv"));
  EXPECT_EQ(lines_of(text).size(), 1 + 3 * 3U);  // steps 0, 2 and 4
  EXPECT_EQ(of_robot(text, 0), of_robot(text, 2));
}

TEST_P(BatchRun, ARobotThatFailsLeavesTheOthers) {
  write_beam("soft.rom.h5", "mooney-rivlin");
  const auto file = [&](const std::string& lift) {
    return "time [s],robot,lift [N]\n0,0,0\n0,1,0\n0,2,0\n0.03,1,0\n0.031,1," + lift + "\n0.1,0,0.5\n0.1,2,1\n";
  };
  write_text(path("bad.csv"), file("1e6"));
  write_text(path("good.csv"), file("0"));
  const Outcome bad =
      run_batch("run", "soft.rom.h5", 3, {"--actuation", "bad.csv", "--steps", "8", "-o", "bad", "--json", "bad.json"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(contains(bad.err, "1 of 3 robots failed: robot 1: step "));
  ASSERT_EQ(run_batch("run", "soft.rom.h5", 3, {"--actuation", "good.csv", "--steps", "8", "-o", "good"}).code, 0);
  const json failed = report("bad.json")["failed"];
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0]["robot"], 1);
  const long step = failed[0]["step"];
  EXPECT_GE(step, 4);
  EXPECT_NEAR(failed[0]["time"].get<double>(), 0.01 * static_cast<double>(step), 1e-12);
  EXPECT_FALSE(failed[0]["reason"].get<std::string>().empty());
  EXPECT_EQ(report("bad.json")["last_step"], 8);
  const std::string with = read_text(path("bad/trajectory.csv")), without = read_text(path("good/trajectory.csv"));
  for (const int b : {0, 2}) EXPECT_EQ(of_robot(with, b), of_robot(without, b));
  EXPECT_EQ(of_robot(with, 1).size(), 1 + static_cast<std::size_t>(step));
  // It is still named where the run is gone on with, and stays where it was.
  const State before = read_state(path("bad/state.h5")).state;
  const Outcome rest = run({"run", "--resume", "bad", "--steps", "12", "--device", to_string(GetParam())});
  EXPECT_EQ(rest.code, 1);
  EXPECT_TRUE(contains(rest.err, "robot 1: step " + std::to_string(step) + " "));
  const State after = read_state(path("bad/state.h5")).state;
  EXPECT_EQ(one_robot(after, 1).q, one_robot(before, 1).q);
  EXPECT_NE(one_robot(after, 2).q, one_robot(before, 2).q);
  EXPECT_EQ(of_robot(read_text(path("bad/trajectory.csv")), 2).size(), 1 + 13U);
}

// Also where its steps would succeed again, as those of a robot whose commands have become possible.
TEST_P(BatchRun, ARobotThatHasFailedStays) {
  const ReducedModel model = read_model(path("beam.rom.h5"));
  write_text(path("robots.csv"), "time [s],robot,bend [mm]\n0,0,0\n0,1,1\n0.08,0,6\n0.1,1,0\n");
  const Actuation actuation = read_actuation(path("robots.csv"), model.robot, 2);
  const MechanicsTeam team(model, 2);
  const State start = repeated(rest_state(team.member(0)), 2);
  DriveSettings settings;
  settings.time_step = model.robot.time_step;
  const auto after_steps = [&](const std::vector<FailedRobot>& failures) {
    std::unique_ptr<RobotSteps> robots;
    if (on_cpu())
      robots = std::make_unique<ForwardOnCpu>(team, settings, actuation, start);
    else
      robots = std::make_unique<ForwardOnDevice>(model, GetParam(), settings, actuation, start);
    robots->set_failures(failures);
    for (int k = 1; k <= 4; ++k) EXPECT_EQ(robots->step(k, k * settings.time_step).report.status, StepStatus::ok);
    EXPECT_EQ(robots->failures().size(), failures.size());
    return robots->state();
  };
  FailedRobot failed{1, 1, {}};
  failed.report.status = StepStatus::rows_unsolved;
  const State with = after_steps({failed}), without = after_steps({});
  EXPECT_EQ(hash(one_robot(with, 0)), hash(one_robot(without, 0)));
  EXPECT_EQ(one_robot(with, 1).q, one_robot(start, 1).q);
  EXPECT_EQ(one_robot(with, 1).commands, one_robot(start, 1).commands);
  EXPECT_NE(one_robot(without, 1).q, one_robot(start, 1).q);
}

TEST_P(BatchRun, GoesOnWithTheSameBits) {
  write_text(path("robots.csv"), "time [s],robot,bend [mm]\n0,0,0\n0,1,1\n0.08,0,6\n0.1,1,0\n");
  const Lines begin{"--actuation", "robots.csv", "--steps"};
  const auto with = [&](Lines more) {
    more.insert(more.begin(), begin.begin(), begin.end());
    return run_batch("run", "beam.rom.h5", 2, more).code;
  };
  ASSERT_EQ(with({"12", "-o", "whole", "--json", "whole.json"}), 0);
  ASSERT_EQ(with({"5", "-o", "part"}), 0);
  const Outcome rest =
      run({"run", "--resume", "part", "--steps", "12", "--device", to_string(GetParam()), "--json", "rest.json"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(report("rest.json")["state_hash"], report("whole.json")["state_hash"]);
  EXPECT_EQ(read_text(path("part/trajectory.csv")), read_text(path("whole/trajectory.csv")));
}

TEST_P(BatchRun, AnInterruptedBatchIsSaved) {
  write_text(path("robots.csv"), "time [s],robot,bend [mm]\n0,0,0\n0,1,1\n0.08,0,6\n0.1,1,0\n");
  const pid_t child = start({"run", "beam.rom.h5", "--batch", "2", "--actuation", "robots.csv", "--steps", "100000000",
                             "--device", to_string(GetParam())});
  EXPECT_TRUE(wait_until([&] { return handles(child, SIGHUP); }));  // the last that the program sets
  kill(child, SIGINT);
  const Outcome stopped = finish(child);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "supple run --resume beam-interrupted "));
  const SavedRun saved = read_state(path("beam-interrupted/state.h5"));
  EXPECT_EQ(saved.state.robots, 2);
  const std::string steps = std::to_string(saved.step + 3);
  ASSERT_EQ(run({"run", "--resume", "beam-interrupted", "--steps", steps, "--device", to_string(GetParam()), "--json",
                 "rest.json"})
                .code,
            0);
  ASSERT_EQ(
      run_batch("run", "beam.rom.h5", 2, {"--actuation", "robots.csv", "--steps", steps, "--json", "whole.json"}).code,
      0);
  EXPECT_EQ(report("rest.json")["state_hash"], report("whole.json")["state_hash"]);
}

std::string goals_of(int b, const std::string& index) {
  const std::string z = std::to_string(17.0 + 0.3 * b);
  return "0" + index + ",200,20,17\n0.1" + index + ",200,20," + z + "\n";
}

TEST_P(BatchRun, EachRobotIsLedAsAlone) {
  constexpr int robots = 3;
  std::string all = "time [s],robot,tip x [mm],tip y [mm],tip z [mm]\n";
  for (const int b : {1, 2, 0}) all += goals_of(b, "," + std::to_string(b));
  write_text(path("robots.csv"), all);
  const Outcome outcome =
      run_batch("inverse", "beam.rom.h5", robots, {"--goal", "robots.csv", "-o", "all", "--json", "all.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(report("all.json")["batch"], robots);
  EXPECT_EQ(report("all.json")["device"], to_string(GetParam()));
  for (int b = 0; b < robots; ++b) {
    write_text(path("one.csv"), "time [s],tip x [mm],tip y [mm],tip z [mm]\n" + goals_of(b, ""));
    ASSERT_EQ(run({"inverse", "beam.rom.h5", "--goal", "one.csv", "-o", "one", "--force"}).code, 0);
    for (const std::string file : {"commands.csv", "tracking.csv"})
      expect_same(of_robot(read_text(path("all/" + file)), b), lines_of(read_text(path("one/" + file))));
  }
  // The commands are a file for `run`.
  EXPECT_EQ(run_batch("run", "beam.rom.h5", robots, {"--actuation", "all/commands.csv"}).code, 0);
}

TEST_F(BatchFiles, EachRobotKeepsItsOwnTangent) {
  write_beam("beam.rom.h5", "corotational");
  std::string all = "time [s],robot,bend [mm],lift [N]\n";
  for (const int b : {0, 1, 2}) all += commands_of(b, "," + std::to_string(b));
  write_text(path("robots.csv"), all);
  ASSERT_EQ(run({"run", "beam.rom.h5", "--batch", "3", "--actuation", "robots.csv", "-o", "all", "--steps", "30",
                 "--keep-tangent", "0.2"})
                .code,
            0);
  write_text(path("one.csv"), "time [s],bend [mm],lift [N]\n" + commands_of(2, ""));
  ASSERT_EQ(run({"run", "beam.rom.h5", "--actuation", "one.csv", "-o", "one", "--steps", "30", "--keep-tangent", "0.2",
                 "--json", "one.json"})
                .code,
            0);
  EXPECT_LT(report("one.json")["factorisations"], 30);
  EXPECT_EQ(of_robot(read_text(path("all/trajectory.csv")), 2), lines_of(read_text(path("one/trajectory.csv"))));
}

// By any integrator, also where programs begin with the limits of the step before.
TEST_F(BatchFiles, InverseStepsOfAnyIntegratorAreThoseOfOneRobot) {
  write_beam("beam.rom.h5", "corotational");
  write_text(path("robots.csv"),
             "time [s],robot,tip x [mm],tip y [mm],tip z [mm]\n" + goals_of(40, ",0") + goals_of(2, ",1"));
  for (const std::string integrator : {"quasi-static", "implicit-euler-newton"}) {
    ASSERT_EQ(run({"inverse", "beam.rom.h5", "--batch", "2", "--goal", "robots.csv", "-o", "all", "--force",
                   "--integrator", integrator, "--threads", "1"})
                  .code,
              0);
    for (const int b : {0, 1}) {
      write_text(path("one.csv"), "time [s],tip x [mm],tip y [mm],tip z [mm]\n" + goals_of(b == 0 ? 40 : 2, ""));
      ASSERT_EQ(
          run({"inverse", "beam.rom.h5", "--goal", "one.csv", "-o", "one", "--force", "--integrator", integrator}).code,
          0);
      EXPECT_EQ(of_robot(read_text(path("all/tracking.csv")), b), lines_of(read_text(path("one/tracking.csv"))));
    }
  }
}

// The beam lies on a floor with friction at its end, which robot b is pulled along or off.
TEST_P(BatchRun, EachRobotIsInContactAsAlone) {
  write_text(path("scene.toml"), read_text(path("scene.toml")) + R"([[obstacle]]
name = "floor"
type = "plane"
position = ["0 mm", "0 mm", "-1 mm"]
friction = 0.3
)");
  write_beam("floor.rom.h5", "corotational");
  std::string all = "time [s],robot,bend [mm],lift [N]\n", goals = "time [s],robot,tip x [mm],tip y [mm],tip z [mm]\n";
  const auto goal = [](int b, const std::string& index) {
    return "0" + index + ",200,20,19\n0.1" + index + "," + std::to_string(199.5 - 0.2 * b) + ",20," +
           std::to_string(18 + b) + "\n";
  };
  for (const int b : {0, 1, 2}) {
    all += commands_of(b, "," + std::to_string(b));
    goals += goal(b, "," + std::to_string(b));
  }
  write_text(path("robots.csv"), all);
  write_text(path("goals.csv"), goals);
  ASSERT_EQ(run_batch("run", "floor.rom.h5", 3,
                      {"--actuation", "robots.csv", "--steps", "10", "-o", "all", "--json", "all.json"})
                .code,
            0);
  EXPECT_GT(report("all.json")["contact"]["most_touching"], 3);
  ASSERT_EQ(
      run_batch("run", "floor.rom.h5", 3,
                {"--actuation", "robots.csv", "--steps", "10", "-o", "newton", "--integrator", "implicit-euler-newton"})
          .code,
      0);
  const Outcome led = run_batch("inverse", "floor.rom.h5", 3, {"--goal", "goals.csv", "-o", "led"});
  EXPECT_EQ(led.code, 0) << led.err;
  for (const int b : {0, 1, 2}) {
    write_text(path("one.csv"), "time [s],bend [mm],lift [N]\n" + commands_of(b, ""));
    const auto alone = [&](const std::string& integrator) {
      EXPECT_EQ(run({"run", "floor.rom.h5", "--actuation", "one.csv", "--steps", "10", "-o", "one", "--force",
                     "--integrator", integrator})
                    .code,
                0);
      return lines_of(read_text(path("one/trajectory.csv")));
    };
    expect_same(of_robot(read_text(path("all/trajectory.csv")), b), alone("implicit-euler"));
    expect_same(of_robot(read_text(path("newton/trajectory.csv")), b), alone("implicit-euler-newton"));
    write_text(path("goal.csv"), "time [s],tip x [mm],tip y [mm],tip z [mm]\n" + goal(b, ""));
    ASSERT_EQ(run({"inverse", "floor.rom.h5", "--goal", "goal.csv", "-o", "one-led", "--force"}).code, 0);
    expect_same(of_robot(read_text(path("led/commands.csv")), b), lines_of(read_text(path("one-led/commands.csv"))));
  }
}

// Interrupted after a step that is known: in this program.
TEST_P(BatchRun, AnInterruptedInverseBatchGoesOnWithTheSameBits) {
  const ReducedModel model = read_model(path("beam.rom.h5"));
  write_text(path("robots.csv"),
             "time [s],robot,tip x [mm],tip y [mm],tip z [mm]\n" + goals_of(1, ",0") + goals_of(30, ",1"));
  const GoalPath goals = read_goals(path("robots.csv"), model.robot, 2);
  const MechanicsTeam team(model, 2);
  DriveSettings settings;
  settings.time_step = model.robot.time_step;
  settings.last = 10;
  const State start = repeated(settled_state(team.member(0)), 2);
  const auto run_to_end = [&](long stop_after, SavedInverse& saved) {
    std::unique_ptr<RobotSteps> robots;
    InverseAnswers* answers = nullptr;
    const auto take = [&](auto made) {
      answers = made.get();
      robots = std::move(made);
    };
    if (on_cpu())
      take(std::make_unique<InverseOnCpu>(team, settings, InverseSettings{}, goals, saved.state));
    else
      take(std::make_unique<InverseOnDevice>(model, GetParam(), settings, InverseSettings{}, goals, saved.state));
    RunRecorder recorder("", model.robot, {}, {});
    InverseRun run{*robots, *answers, model.robot, &model, goals, settings, path("saved"), recorder, {}};
    if (!saved.report.record.times.empty()) take_up(saved, run);
    saved.memory = answers->memory();
    run_inverse(run, {{}, [&] { return saved.report.drive.step >= stop_after; }}, saved);
    save_inverse(run, saved);
    return hash(robots->state());
  };
  SavedInverse whole;
  whole.state = start;
  SavedInverse part = whole;
  const std::uint64_t expected = run_to_end(10, whole);
  run_to_end(4, part);
  EXPECT_TRUE(part.report.drive.stopped);
  SavedInverse rest = read_saved_inverse(path("saved"), part, model.robot);
  EXPECT_EQ(rest.report.drive.step, 4);
  EXPECT_EQ(run_to_end(10, rest), expected);
  EXPECT_EQ(rest.report.record.commands, whole.report.record.commands);
  EXPECT_EQ(rest.report.record.errors, whole.report.record.errors);
}

TEST_F(BatchFiles, SayWhatIsWrong) {
  write_beam("beam.rom.h5", "corotational");
  write_text(path("robots.csv"), "time [s],robot,bend [mm]\n0,0,1\n0,1,2\n0,3,2\n");
  const auto refused = [&](const Lines& words, const std::string& message) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_TRUE(contains(outcome.err, message));
    EXPECT_FALSE(exists("r"));
  };
  refused({"run", "beam.rom.h5", "--batch", "4", "--actuation", "robots.csv", "-o", "r"},
          "robots.csv: error: robot 2 has no line");
  refused({"run", "beam.rom.h5", "--batch", "3", "--actuation", "robots.csv", "-o", "r"},
          "robots.csv:4:3: error: there is no robot 3 in a batch of 3");
  refused({"run", "beam.rom.h5", "--actuation", "robots.csv", "-o", "r"}, "robots.csv:3:3: error: there is no robot 1");
  refused({"run", "beam.rom.h5", "--batch", "2", "--compare", "."}, "--compare goes with one robot only");
  refused({"run", "beam.rom.h5", "--batch", "2", "--record-robot", "1"}, "--record-robot goes with --record");
  refused({"run", "beam.rom.h5", "--batch", "2", "--record", "a.rec.h5", "--record-robot", "2"},
          "there is no robot 2 in a batch of 2");
  refused({"inverse", "scene.toml", "--batch", "2", "--circle", "1 mm"}, "--batch goes with a reduced model");
  refused({"inverse", "beam.rom.h5", "--batch", "2", "--stdin"}, "--batch does not go with --stdin");
  refused({"inverse", "beam.rom.h5", "--batch", "2", "--circle", "1 mm", "--replay", "."},
          "--replay goes with one robot only");
  write_text(path("goals.csv"), "time [s],robot,tip x [mm],tip y [mm],tip z [mm]\n0,1,200,20,17\n");
  refused({"inverse", "beam.rom.h5", "--batch", "2", "--goal", "goals.csv", "-o", "r"},
          "goals.csv: error: robot 0 has no line");
}

class BatchRunCuda : public BatchFiles {
 protected:
  void SetUp() override {
    BatchFiles::SetUp();
    need_device(cuda(0));
  }
};

// Before anything is written.
TEST_F(BatchRunCuda, SaysWhatADeviceLacks) {
  write_beam("beam.rom.h5", "corotational");
  const auto refused = [&](Lines words, const std::string& feature) {
    words.insert(words.end(), {"--device", "cuda:0", "-o", "r"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, feature));
    EXPECT_TRUE(contains(outcome.err, "--device cpu"));
    EXPECT_FALSE(exists("r"));
  };
  const Lines sweep{"run", "beam.rom.h5", "--batch", "2", "--sweep", "--steps", "2"};
  const auto with = [&](const Lines& more) {
    Lines all = sweep;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  refused(with({"--set", "lift=1 N", "--integrator", "quasi-static"}), "equilibria");
  refused(with({"--set", "lift=1 N", "--keep-tangent", "0.05"}), "--keep-tangent");
  for (const std::string integrator : {"quasi-static", "implicit-euler-newton"})
    refused({"inverse", "beam.rom.h5", "--batch", "2", "--circle", "1 mm", "--integrator", integrator},
            integrator == "quasi-static" ? "equilibria" : "one linearisation");
  Outcome outcome = run({"inverse", "scene.toml", "--circle", "1 mm", "--device", "cuda:0"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "--device cpu"));
  std::string text = read_text(path("scene.toml"));
  const std::string held = "group = \"x-\"\n";
  text.insert(text.find(held) + held.size(),
              "motion = \"base\"\ndirection = [0, 0, 1]\nrange = [\"-10 mm\", \"10 mm\"]\n");
  write_text(path("scene.toml"), text);
  write_beam("slides.rom.h5", "corotational");
  refused({"run", "slides.rom.h5", "--batch", "2", "--set", "bend=1 mm", "--steps", "2"}, "driven regions");
}

}  // namespace
}  // namespace supple::test

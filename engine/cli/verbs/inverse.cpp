// supple inverse: commands that bring a robot's effectors to their goals.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/inverse_results.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/change_options.hpp"
#include "engine/cli/verbs/inverse_report.hpp"
#include "engine/cli/verbs/record_option.hpp"
#include "engine/cli/verbs/stream.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/changes.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/run/inverse_run.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "engine/run/steps_on_device.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  std::string model, goal, replay, output, record, integrator;
  std::string regularisation, solver = "qp";
  std::vector<std::string> efforts;
  ModelChanges changes;
  std::string epsilon;
  std::optional<double> circle, lemniscate, duration, time_step, goal_speed;
  std::optional<long> steps, turns, starts, batch, record_robot;
  std::string height_text;
  double height = 0;
  bool stream = false, resume = false;
};

constexpr double figure_turn = 5;  // s, the built-in figures' time for one turn unless told otherwise

// The robot of a scene, of one body or of several.
struct SceneRobot {
  std::unique_ptr<FullModel> full;
  std::unique_ptr<FullMechanics> full_mechanics;
  std::unique_ptr<AssemblyRobot> several;
  RecordedRobot recorded;
  Mechanics& mechanics() const {
    return several ? static_cast<Mechanics&>(several->mechanics()) : static_cast<Mechanics&>(*full_mechanics);
  }
};

// The robot that is controlled: a reduced model, or that of a scene.
struct Subject {
  std::unique_ptr<ReducedModel> reduced;
  SceneRobot of_scene;
  std::unique_ptr<MechanicsTeam> team;
  Device device = cpu();
  RecordedRobot recorded;
  double time_step = 0;
  Integrator integrator = Integrator::implicit_euler;
};

// What a batch needs, before anything is read.
void check_place(const Arguments& arguments) {
  const long robots = arguments.batch.value_or(1);
  if (robots > 1 && !arguments.replay.empty())
    throw InputError("--replay goes with one robot only", "leave --batch out");
  if (arguments.record_robot && arguments.record.empty())
    throw InputError("--record-robot goes with --record FILE", "leave it out");
  if (arguments.record_robot && *arguments.record_robot >= robots)
    throw InputError(fmt::format("--record-robot: there is no robot {} in a batch of {} (the first is robot 0)",
                                 *arguments.record_robot, robots),
                     fmt::format("0 to {}", robots - 1));
}

// `change` of how the scene is stepped: a Scene or an AssemblyScene.
template <class Change>
SceneRobot open_scene(const std::string& path, const ModelChanges& changes, const Change& change) {
  SceneRobot robot;
  if (is_assembly(path)) {
    refuse_changes(changes, path);
    AssemblyScene scene = read_assembly(path);
    change(scene);
    robot.several = std::make_unique<AssemblyRobot>(scene);
    robot.recorded = {scene.file, robot.several->fingerprint()};
    return robot;
  }
  Scene scene = read_scene(path);
  change(scene);
  robot.full = std::make_unique<FullModel>(build_full_model(scene));
  take_changes(changes, *robot.full);
  robot.full_mechanics = std::make_unique<FullMechanics>(*robot.full);
  robot.recorded = {scene.file, with_changes(scene_fingerprint(scene), robot.full->robot)};
  return robot;
}

Subject open_subject(const Arguments& arguments, const Device& device) {
  Subject subject;
  subject.device = device;
  const int robots = static_cast<int>(arguments.batch.value_or(1));
  if (is_model_file(arguments.model)) {
    subject.reduced = std::make_unique<ReducedModel>(read_model(arguments.model));
    take_changes(arguments.changes, *subject.reduced);
    subject.team = std::make_unique<MechanicsTeam>(*subject.reduced, robots);
    subject.recorded = {arguments.model, with_changes(hash_file(arguments.model), subject.reduced->robot)};
  } else {
    if (device.kind == Device::Kind::cuda)
      throw CapabilityError("the full model is controlled on the CPU only",
                            "--device cpu, or reduce it and `supple inverse` that");
    if (robots > 1) throw InputError("--batch goes with a reduced model", "`supple reduce` makes one of the scene");
    subject.of_scene = open_scene(arguments.model, arguments.changes, [&](auto& scene) {
      if (!arguments.integrator.empty()) scene.integrator = integrator_of(arguments.integrator);
    });
    subject.team = std::make_unique<MechanicsTeam>(subject.of_scene.mechanics());
    subject.recorded = subject.of_scene.recorded;
  }
  const Robot& robot = subject.team->robot();
  subject.time_step = arguments.time_step.value_or(robot.time_step);
  subject.integrator = arguments.integrator.empty() ? robot.integrator : integrator_of(arguments.integrator);
  if (const auto why = cannot_lead(robot)) throw InputError(*why);
  return subject;
}

InverseSettings inverse_settings(const Arguments& arguments, const Robot& robot) {
  InverseSettings settings;
  settings.regularisation = arguments.regularisation == "energy" ? Regularisation::energy
                            : arguments.regularisation == "none" ? Regularisation::none
                                                                 : Regularisation::proximal;
  for (const std::string& effort : arguments.efforts) {
    const auto equals = effort.find('=');
    const std::string name = effort.substr(0, equals);
    const auto found = std::ranges::find(robot.actuators, name, &ActuatorRow::name);
    if (equals == std::string::npos || found == robot.actuators.end())
      throw InputError(equals == std::string::npos ? fmt::format("'{}' is not NAME=NUMBER", effort)
                                                   : fmt::format("the robot has no actuator '{}'", name),
                       fmt::format("--effort {}=10", robot.actuators.empty() ? "NAME" : robot.actuators.front().name));
    settings.effort.resize(robot.actuators.size(), 1.0);
    const double factor = parse_quantity(effort.substr(equals + 1), Dimension::number, {"--effort", 0, 0, ""});
    if (!(factor >= 0)) throw InputError(fmt::format("--effort {} is negative", effort), "0 or more");
    settings.effort[static_cast<std::size_t>(found - robot.actuators.begin())] = factor;
  }
  if (arguments.solver == "gauss-seidel") settings.solver = InverseSolver::gauss_seidel;
  if (!arguments.epsilon.empty()) {
    settings.epsilon = parse_quantity(arguments.epsilon, Dimension::number, {"--epsilon", 0, 0, ""});
    if (!(settings.epsilon >= 0 && settings.epsilon <= 1))
      throw InputError(fmt::format("--epsilon {} is not between 0 and 1", arguments.epsilon), "1e-6");
  }
  settings.goal_speed = arguments.goal_speed.value_or(unlimited);
  settings.starts = static_cast<int>(arguments.starts.value_or(0));
  return settings;
}

GoalPath make_path(const Arguments& arguments, const Robot& robot, std::span<const double> y, double time_step) {
  if (!arguments.goal.empty()) return read_goals(arguments.goal, robot, static_cast<int>(arguments.batch.value_or(1)));
  FigureSettings figure;
  figure.figure = arguments.circle ? Figure::circle : Figure::lemniscate;
  figure.radius = arguments.circle ? *arguments.circle : *arguments.lemniscate;
  figure.height = arguments.height;
  figure.turns = static_cast<int>(arguments.turns.value_or(figure.turns));
  figure.duration = arguments.steps      ? static_cast<double>(*arguments.steps) * time_step
                    : arguments.duration ? *arguments.duration
                                         : figure_turn * (figure.turns + 1);
  return figure_goals(robot, y, figure, time_step);
}

void check_arguments(const Arguments& arguments, const CommonOptions& common) {
  const int sources = (arguments.goal.empty() ? 0 : 1) + (arguments.circle ? 1 : 0) + (arguments.lemniscate ? 1 : 0) +
                      (arguments.stream ? 1 : 0);
  if (sources != 1)
    throw InputError(sources == 0 ? "there are no goals for the robot" : "several options give goals for the robot",
                     "one of --goal CSV, --circle RADIUS, --lemniscate RADIUS, --stdin");
  if (arguments.steps && arguments.duration)
    throw InputError("--steps and --duration say the same thing twice", "one of them");
  if (arguments.stream)
    check_stream(common,
                 {{arguments.steps.has_value(), "--steps"},
                  {arguments.duration.has_value(), "--duration"},
                  {!arguments.replay.empty(), "--replay"},
                  {arguments.batch.has_value(), "--batch"},
                  {arguments.record_robot.has_value(), "--record-robot"},
                  {arguments.resume, "--resume"}},
                 {{!arguments.output.empty(), "-o"}});
  if (arguments.resume && arguments.output.empty())
    throw InputError("there is no folder of a run to continue", "--resume goes with the -o DIR of that run");
  if (arguments.resume && !arguments.record.empty())
    throw InputError("--record does not go with --resume", "record a run from its beginning");
  if (arguments.solver == "gauss-seidel" &&
      (!arguments.regularisation.empty() || !arguments.epsilon.empty() || !arguments.efforts.empty()))
    throw InputError("--regularisation, --epsilon and --effort mean nothing to --solver gauss-seidel", "--solver qp");
  if ((arguments.turns || !arguments.height_text.empty()) && !arguments.circle && !arguments.lemniscate)
    throw InputError("--turns and --height go with --circle or --lemniscate", "leave them out");
}

// What a continued run must have in common with the one that was saved.
std::uint64_t request_of(const InverseSettings& inverse, const DriveSettings& settings, const GoalPath& path,
                         const Robot& robot, std::uint64_t sensor_seed) {
  std::vector<double> numbers{static_cast<double>(settings.integrator),
                              settings.time_step,
                              static_cast<double>(settings.last),
                              static_cast<double>(inverse.solver),
                              static_cast<double>(inverse.regularisation),
                              inverse.epsilon,
                              inverse.goal_speed,
                              static_cast<double>(inverse.starts)};
  if (!robot.sensors.empty()) numbers.push_back(static_cast<double>(sensor_seed));
  numbers.insert(numbers.end(), inverse.effort.begin(), inverse.effort.end());
  return path.hash(hash_bytes(numbers.data(), numbers.size() * sizeof(double)));
}

// The model that commands are replayed on, read before that.
SceneRobot open_replay(const Arguments& arguments, const Robot& robot, const DriveSettings& settings) {
  SceneRobot replayed = open_scene(arguments.replay, arguments.changes, [&](auto& scene) {
    scene.integrator = settings.integrator;
    scene.time_step = settings.time_step;
    scene.implicit_velocity = robot.implicit_velocity;
    scene.implicit_position = robot.implicit_position;
  });
  const Robot& full = replayed.mechanics().robot();
  const auto same = [](const auto& a, const auto& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.name == y.name; });
  };
  if (!same(robot.actuators, full.actuators) || !same(robot.effectors, full.effectors) ||
      !same(robot.motions, full.motions))
    throw InputError("the replayed scene has other actuators or effectors than the model",
                     "the scene that the model was made from", {arguments.replay, 0, 0, ""});
  return replayed;
}

ReplayRecord replay_on(Context& context, Mechanics& mechanics, const InverseRecord& record, const GoalPath& path,
                       const DriveSettings& settings) {
  const InterruptGuard guard;
  ProgressBar bar(context.common.quiet);
  ReplayRecord replayed = replay(mechanics, record, path, settings, bar.progress());
  bar.finish();
  return replayed;
}

RecordingFacts recording_facts(const Subject& subject) {
  return {subject.recorded, std::nullopt, subject.integrator, subject.time_step};
}

// Lines on standard input, answers on standard output.
int converse(const Context& context, const Arguments& arguments, const Subject& subject,
             const InverseSettings& inverse_of, const State& start) {
  LiveSettings settings{subject.integrator, subject.time_step};
  settings.forward = false;
  settings.inverse = inverse_of;
  settings.sensor_seed = context.common.seed.value_or(default_sensor_seed);
  LiveRobot live(subject.team->member(0), settings, start);
  const Robot& robot = live.robot();
  LiveRequest first;
  first.mode = LiveMode::inverse;
  first.goals.resize(3 * robot.effectors.size());
  first.steered.resize(robot.effectors.size());
  first.known.assign(robot.actuators.size(), std::nan(""));
  std::ranges::transform(robot.actuators, std::back_inserter(first.limits), own_force_limits);
  RunRecorder recorder(arguments.record, robot, recording_facts(subject), print_note);
  if (subject.reduced && !context.common.quiet) print_warning(distrust(*subject.reduced));
  stream(live, first, std::cin, std::cout, recorder);
  recorder.finish();
  recorder.require_whole("all lines were answered");
  return 0;
}

// Who takes the steps, from `start`.
struct Led {
  std::unique_ptr<RobotSteps> robots;
  InverseAnswers* answers = nullptr;  // the same object
};

Led lead(const Subject& subject, const DriveSettings& settings, const InverseSettings& inverse_of, const GoalPath& path,
         State start) {
  Led led;
  const auto take = [&](auto robots) {
    led.answers = robots.get();
    led.robots = std::move(robots);
  };
  if (subject.device.kind == Device::Kind::cpu) {
    take(std::make_unique<InverseOnCpu>(*subject.team, settings, inverse_of, path, std::move(start)));
    return led;
  }
  if (const auto why = cannot_run_on_device(*subject.reduced, settings, true)) throw InputError(*why);
  take(std::make_unique<InverseOnDevice>(*subject.reduced, subject.device, settings, inverse_of, path, start));
  return led;
}

void run_with_bar(const Context& context, InverseRun& run, SavedInverse& saved) {
  const InterruptGuard guard;
  ProgressBar bar(context.common.quiet);
  run_inverse(run, bar.progress(), saved);
  run.recorder.finish();
  bar.finish();
}

int inverse(Context& context, Arguments& arguments) {
  check_json_target(context);
  check_arguments(arguments, context.common);
  check_record(context, arguments.record, arguments.model);
  if (!arguments.height_text.empty())
    arguments.height = parse_quantity(arguments.height_text, Dimension::length, {"--height", 0, 0, ""});
  const Device device = context.common.device == "auto" ? cpu() : parse_device(context.common.device);
  check_place(arguments);
  if (!arguments.output.empty() && !arguments.resume) check_inverse_folder(arguments.output, context.common.force);
  const Subject subject = open_subject(arguments, device);
  if (subject.reduced) print_change_notes(context, arguments.changes, subject.reduced->robot);
  Mechanics& mechanics = subject.team->member(0);
  const Robot& robot = mechanics.robot();
  const InverseSettings inverse_of = inverse_settings(arguments, robot);
  const State settled = settled_state(mechanics, /*loose_at_rest=*/true);
  if (arguments.stream) return converse(context, arguments, subject, inverse_of, settled);
  std::vector<double> y(static_cast<std::size_t>(robot.outputs()));
  mechanics.evaluate_outputs(settled.q, settled.motions, y);
  const GoalPath path = make_path(arguments, robot, y, subject.time_step);
  DriveSettings settings;
  settings.integrator = subject.integrator;
  settings.time_step = subject.time_step;
  const double duration = arguments.duration.value_or(path.end());
  settings.last = arguments.steps.value_or(std::max(1L, std::lround(std::min(duration / settings.time_step, 1e9))));

  std::optional<SceneRobot> replayed_model;
  if (!arguments.replay.empty()) replayed_model = open_replay(arguments, robot, settings);

  const int robots = subject.team->robots();
  const std::uint64_t sensor_seed = context.common.seed.value_or(default_sensor_seed);
  SavedInverse saved{.robot = subject.recorded.fingerprint,
                     .request = request_of(inverse_of, settings, path, robot, sensor_seed),
                     .state = repeated(settled, robots),
                     .memory = {},
                     .failures = {},
                     .sensor_memory = {},
                     .report = {}};
  Led led = lead(subject, settings, inverse_of, path, saved.state);
  saved.memory = led.answers->memory();
  if (arguments.resume) {
    saved = read_saved_inverse(arguments.output, saved, robot);
    led = lead(subject, settings, inverse_of, path, saved.state);
  }
  RunRecorder recorder(arguments.record, robot, recording_facts(subject), print_note,
                       static_cast<int>(arguments.record_robot.value_or(0)));
  InverseRun run{*led.robots, *led.answers, robot,      subject.reduced.get(), path, settings, arguments.output,
                 recorder,    print_note,   sensor_seed};
  if (arguments.resume) take_up(saved, run);
  if (!arguments.resume && !arguments.output.empty()) remove_saved_inverse(arguments.output);  // --force
  run_with_bar(context, run, saved);

  const InverseReportOfRun& report = saved.report;
  const std::string again = arguments.output.empty() ? "run it again"
                            : arguments.record.empty()
                                ? "the same command with --resume (continues)"
                                : "the same command with --resume instead of --record (continues)";
  std::string pictures;
  const auto write = [&](const ReplayRecord& replayed) {
    if (!arguments.output.empty()) pictures = write_inverse_results(arguments.output, report.record, robot, replayed);
  };
  write({});
  if (report.drive.stopped || (replayed_model && !report.drive.failed())) save_inverse(run, saved);
  if (report.drive.failed() && robots == 1) throw_step_failure(report.drive, settings, "");
  if (report.drive.stopped)
    throw Interrupted(
        fmt::format("interrupted after step {} of {}{}", report.drive.step, settings.last,
                    arguments.output.empty() ? "" : ", the commands so far are in '" + arguments.output + "'"),
        again);
  ReplayRecord replayed;
  if (replayed_model) {
    try {
      replayed = replay_on(context, replayed_model->mechanics(), report.record, path, settings);
    } catch (const Interrupted& stop) {
      throw Interrupted(stop.what(), again);
    }
    write(replayed);
  }
  if (!arguments.output.empty()) remove_saved_inverse(arguments.output);

  const State state = led.robots->state();
  const InverseOutcome outcome{.robot = robot,
                               .reduced = subject.reduced.get(),
                               .device = device,
                               .settings = settings,
                               .inverse = inverse_of,
                               .report = report,
                               .replayed = replayed,
                               .has_replay = replayed_model.has_value(),
                               .state = state,
                               .failures = led.robots->failures(),
                               .output = arguments.output,
                               .record = arguments.record,
                               .pictures = pictures};
  write_json(context, inverse_json(context, outcome));
  recorder.require_whole("the run itself is complete");
  if (!context.common.quiet) print_inverse(outcome);
  if (!outcome.failures.empty()) throw_robot_failures(outcome.failures, robots, settings, "");
  return 0;
}

}  // namespace

Command inverse_command() {
  Command command;
  command.name = "inverse";
  command.description = "find the commands that bring a robot's effectors to their goals";
  command.examples =
      "  supple inverse diamond.rom.h5 --circle \"15 mm\" --replay assets/diamond -o circle\n"
      "  supple inverse diamond.rom.h5 --goal path.csv -o path\n"
      "  supple inverse assets/diamond --circle \"15 mm\" --integrator quasi-static --steps 60\n"
      "  supple inverse diamond.rom.h5 --stdin\n"
      "  supple inverse diamond.rom.h5 --batch 4096 --device cuda:0 --goal robots.csv -o /tmp/diamonds\n"
      "\n"
      "A file of goals has a header and numbers: time [s],tip x [mm],tip y [mm],tip z [mm] for an effector 'tip' by\n"
      "position; tip rx [deg], tip ry [deg], tip rz [deg] by orientation; tip [mm] by length, tip [mL] by volume;\n"
      "the name of an actuator whose command is known; north min [N], north max [N] for limits of its force or\n"
      "pressure, within the limits of the scene. --stdin reads one JSON object a line,\n"
      "{\"goal\": {\"tip\": [0, 0, 0.12]}} in SI units, and answers each with one: commands, forces, what was\n"
      "reached, contacts, and why commands were held if they were. \"limits\": {\"north\": [0, 5]} in a line limits "
      "the\n"
      "force [N] or pressure [Pa] of an actuator from that step on, within the limits of the scene.\n"
      "The integrator sets how far a control step goes: implicit-euler is one linearisation, implicit-euler-newton\n"
      "converges in time, quasi-static converges to the equilibrium that reaches the goals best.\n";
  command.examples += rate_words;
  command.declare = [](Options& options) -> Run {
    const auto a = std::make_shared<Arguments>();
    options.positional("MODEL", a->model, "reduced model, or scene: its full model");
    options.text("--goal", a->goal, "CSV", "goals of the effectors over time");
    options.quantity("--circle", a->circle, Dimension::length, "RADIUS",
                     "lead the first effector by position round a horizontal circle about its place at rest");
    options.quantity("--lemniscate", a->lemniscate, Dimension::length, "RADIUS", "the same, a figure of eight");
    options.text("--height", a->height_text, "LENGTH", "of the figure above that place (0; may be negative)");
    options.whole("--turns", a->turns, 1, 1000000, "N", "turns of the figure (2)");
    options.flag("--stdin", a->stream, "goals line by line, as JSON");
    declare_changes(options, a->changes);
    options.text("--replay", a->replay, "SCENE", "run the commands on the full model and measure its errors");
    options.whole("--steps", a->steps, 1, 1'000'000'000, "N", "steps of the whole run");
    options.quantity("--duration", a->duration, Dimension::time, "TIME",
                     "time of the whole run; without both as long as the goals, figures 5 s a turn");
    options.choice("--integrator", a->integrator, integrator_names(), "instead of the model's");
    options.quantity("--time-step", a->time_step, Dimension::time, "TIME", "instead of the model's");
    options.choice("--solver", a->solver, {"qp", "gauss-seidel"}, "of the problem in constraint space (qp)");
    options.choice("--regularisation", a->regularisation, {"proximal", "energy", "none"},
                   "what else is kept small where several commands reach a goal: the change of forces since the step "
                   "before (commands depend on the way there), the work of the actuators (they do not), nothing "
                   "(proximal)");
    options.texts("--effort", a->efforts, "NAME=NUMBER", "what an actuator counts in that (1)");
    options.text("--epsilon", a->epsilon, "NUMBER", "its size relative to the goals' term (1e-6)");
    options.quantity("--goal-speed", a->goal_speed, Dimension::speed, "SPEED",
                     "come no faster than this towards a goal, \"50 mm/s\"");
    options.whole("--starts", a->starts, 0, 1000, "N",
                  "in contact: look for better commands from N other starts in each step (0)");
    options.text("-o,--output", a->output, "DIR", "write commands.csv, tracking.csv and pictures");
    options.flag("--resume", a->resume, "continue the interrupted run in that folder");
    options.whole(
        "--batch", a->batch, 1, most_robots, "N",
        "so many robots of a reduced model at once; a column `robot` in the file of goals gives each its own");
    declare_record(options, a->record);
    options.whole("--record-robot", a->record_robot, 0, most_robots - 1, "I",
                  "of a batch: index of the robot that --record records (0)");
    return [a](Context& context) { return inverse(context, *a); };
  };
  return command;
}

}  // namespace supple::cli

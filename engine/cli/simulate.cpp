// supple simulate: the full model of a scene, step by step.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/command.hpp"
#include "engine/cli/drive.hpp"
#include "engine/cli/interrupt.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
#include "engine/cli/progress_bar.hpp"
#include "engine/cli/result_folder.hpp"
#include "engine/cli/scene_facts.hpp"
#include "engine/cli/shape_writer.hpp"
#include "engine/cli/terminal.hpp"
#include "engine/dynamics/equilibrium.hpp"
#include "engine/dynamics/full_mechanics.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string scene, actuation, integrator, output, resume;
  std::vector<std::string> assignments;
  std::optional<long> steps, every;
  std::optional<double> duration, time_step;
  bool settle = false;
};

// What the command line asks for, with what a saved run says where it goes on from one.
struct Plan {
  Scene scene;
  DriveSettings settings;
  long every = 1;
  std::optional<SavedRun> saved;
  std::string folder;  // of results; "" = none
};

void refuse_together(bool both, const std::string& option) {
  if (both)
    throw InputError(fmt::format("{} does not go with --resume (the run was begun without it)", option),
                     "start a new run");
}

Plan make_plan(const Arguments& arguments, bool force) {
  Plan plan;
  std::string path = arguments.scene;
  const bool resume = !arguments.resume.empty();
  if (resume) {
    refuse_together(!arguments.output.empty(), "-o");
    refuse_together(!arguments.integrator.empty(), "--integrator");
    refuse_together(arguments.time_step.has_value(), "--time-step");
    refuse_together(arguments.every.has_value(), "--every");
    refuse_together(arguments.settle, "--settle");
    plan.saved = read_state(ResultFolder::state_file(arguments.resume));
    if (path.empty()) path = plan.saved->model;
    plan.folder = arguments.resume;
  } else if (path.empty()) {
    throw InputError("`supple simulate` needs SCENE, or --resume DIR", "supple simulate --help");
  } else if (!arguments.output.empty()) {
    ResultFolder::check(arguments.output, force);
    plan.folder = arguments.output;
  }
  if (arguments.steps && arguments.duration)
    throw InputError("--steps and --duration say the same thing twice", "one of them");
  plan.scene = read_scene(path);
  Scene& scene = plan.scene;
  const std::string integrator = plan.saved ? plan.saved->integrator : arguments.integrator;
  if (!integrator.empty()) scene.integrator = integrator_of(integrator);
  scene.time_step = plan.saved ? plan.saved->time_step : arguments.time_step.value_or(scene.time_step);
  plan.settings.integrator = scene.integrator;
  plan.settings.time_step = scene.time_step;
  const auto steps_in = [&](double seconds) { return std::max(1L, std::lround(seconds / scene.time_step)); };
  if (arguments.steps)
    plan.settings.last = *arguments.steps;
  else if (arguments.duration)
    plan.settings.last = steps_in(*arguments.duration);
  else
    plan.settings.last = -1;  // as long as the commands of a file, or the scene's duration: known later
  return plan;
}

Actuation make_actuation(const Arguments& arguments, const Plan& plan, const Robot& robot) {
  Actuation actuation(inputs_of(robot));
  if (!arguments.actuation.empty())
    actuation = read_actuation(arguments.actuation, robot);
  else if (plan.saved)
    actuation = Actuation(inputs_of(robot), plan.saved->inputs, plan.saved->times, plan.saved->values);
  for (const std::string& assignment : arguments.assignments) actuation.set(assignment);
  for (const std::string& note : actuation.notes()) print_note(note);
  return actuation;
}

// Steps of the whole run where neither --steps nor --duration says it.
long default_steps(const Plan& plan, const Actuation& actuation) {
  if (plan.saved) return static_cast<long>(plan.saved->steps);
  const double duration = actuation.end() > 0 ? actuation.end() : plan.scene.duration;
  return std::max(1L, std::lround(duration / plan.settings.time_step));
}

void settle(FullMechanics& mechanics, const Actuation& actuation, State& state) {
  for (const ElementField& field : mechanics.model().fields)
    if (!has_exact_tangent(field.law))
      throw InputError("--settle needs the exact tangent, which rotations from element edges do not have",
                       "rotation = \"polar\" in the material");
  Control control = zero_control(mechanics);
  actuation.evaluate(0, state.robots, control);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
  if (report.status != StepStatus::ok)
    throw RunError(fmt::format("the robot does not settle: {}", describe(report.status)),
                   "`supple check` looks for its equilibrium with all commands at zero");
}

// A folder for the state of a run that has none.
std::string rescue_folder(const std::string& name) {
  std::error_code error;
  for (int i = 1;; ++i) {
    const std::string folder = fmt::format("{}-interrupted{}", name, i == 1 ? "" : fmt::format("-{}", i));
    if (fs::exists(folder, error)) continue;
    fs::create_directories(folder, error);
    if (error) throw RunError(fmt::format("cannot create '{}' to save the state in", folder), "-o DIR");
    return folder;
  }
}

void print_summary(const Plan& plan, const DriveReport& report, FullMechanics& mechanics, const State& state) {
  const double h = plan.settings.time_step;
  double wall = 0;
  for (const double seconds : report.seconds) wall += seconds;
  const auto n = static_cast<double>(report.seconds.size());
  const auto time = [](double seconds) { return format_quantity(seconds, Dimension::time); };
  fmt::print("{}: {} steps of {}, {} simulated in {} ({:.4g} steps/s, {:.3g} x real time)\n", plan.scene.name,
             report.seconds.size(), time(h), time(n * h), time(wall), wall > 0 ? n / wall : 0,
             wall > 0 ? n * h / wall : 0);
  Facts facts{
      {"step time", fmt::format("median {}, 99 % below {}, 99.9 % below {}", time(quantile(report.seconds, 0.5)),
                                time(quantile(report.seconds, 0.99)), time(quantile(report.seconds, 0.999)))}};
  const Robot& robot = mechanics.robot();
  std::vector<double> y(static_cast<std::size_t>(robot.outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  for (const NamedPoint& effector : robot.effectors) {
    const auto p = static_cast<std::size_t>(effector.point);
    const Vec3d x{{y[3 * p], y[3 * p + 1], y[3 * p + 2]}};
    facts.emplace_back(effector.name, fmt::format("{}, {} from rest", format_point(x),
                                                  format_quantity(norm(x - robot.rest_points[p]), Dimension::length)));
  }
  const std::vector<Input> inputs = inputs_of(robot);
  for (std::size_t i = 0; i < robot.cables.size(); ++i)
    facts.emplace_back(robot.cables[i].name,
                       fmt::format("command {}, tension {}", format_quantity(state.commands[i], inputs[i].dimension),
                                   format_quantity(state.multipliers[i], Dimension::force)));
  facts.emplace_back("state hash", hash_hex(hash(state)));
  print_facts(facts);
  if (report.limited > 0) print_note(fmt::format("commands were cut to their range or rate {} times", report.limited));
  if (report.final.inverted > 0)
    print_note(fmt::format("{} points of elements are turned inside out at the end: do not trust this result",
                           report.final.inverted));
}

int simulate(Context& context, const Arguments& arguments) {
  check_json_target(context);
  if (parse_device(context.common.device).kind == Device::Kind::cuda && context.common.device != "auto")
    throw CapabilityError("the full model runs on the CPU only", "--device cpu, or reduce it and `supple run` that");
  Plan plan = make_plan(arguments, context.common.force);
  const FullModel model = build_full_model(plan.scene);
  const std::uint64_t fingerprint = scene_fingerprint(plan.scene);
  FullMechanics mechanics(model);
  const Actuation actuation = make_actuation(arguments, plan, model.robot);
  DriveSettings& settings = plan.settings;
  if (settings.last < 0) settings.last = default_steps(plan, actuation);
  plan.every = arguments.every.value_or(std::max(1L, (settings.last + 99) / 100));

  State state = rest_state(mechanics);
  if (plan.saved) {
    const SavedRun& saved = *plan.saved;
    if (saved.fingerprint != fingerprint || saved.state.q.size() != state.q.size() || saved.state.robots != 1 ||
        saved.state.v.size() != state.v.size() || saved.state.multipliers.size() != state.multipliers.size() ||
        saved.state.commands.size() != state.commands.size() || saved.state.motions.size() != state.motions.size() ||
        saved.state.motion_velocities.size() != state.motion_velocities.size())
      throw InputError(
          fmt::format("'{}' was saved from another scene, or the scene or its mesh has changed since", plan.folder),
          "run it from its beginning");
    state = saved.state;
    settings.first = static_cast<long>(saved.step);
    plan.every = static_cast<long>(saved.every);
    if (settings.last <= settings.first)
      throw InputError(
          fmt::format("the run in '{}' is at step {} of {} already", plan.folder, settings.first, settings.last),
          fmt::format("--steps {} (counted from its beginning)", 2 * std::max(1L, settings.first)));
  }
  if (arguments.settle) settle(mechanics, actuation, state);

  std::unique_ptr<ResultFolder> results;
  std::error_code error;
  const WriteShape write_shape = full_shape_writer(mechanics);
  if (plan.saved && fs::exists(plan.folder + "/trajectory.csv", error))
    results = std::make_unique<ResultFolder>(plan.folder, mechanics, write_shape, plan.every, settings.first);
  else if (!plan.saved && !plan.folder.empty())
    results = std::make_unique<ResultFolder>(plan.folder, mechanics, write_shape, plan.every);
  if (results && !plan.saved) results->record(0, state);

  long done = settings.first;
  const auto save = [&] {
    const SavedRun run{state,
                       done,
                       settings.last,
                       plan.every,
                       settings.time_step,
                       integrator_name(settings.integrator),
                       fs::absolute(plan.scene.file).string(),
                       fingerprint,
                       [&] {
                         std::vector<std::string> names;
                         for (const Input& input : actuation.inputs()) names.push_back(input.name);
                         return names;
                       }(),
                       actuation.times(),
                       actuation.values()};
    if (results)
      results->save(run);
    else if (!plan.folder.empty())
      write_state(ResultFolder::state_file(plan.folder), run);
  };

  const InterruptGuard guard;
  ProgressBar bar(context.common.quiet);
  auto last_save = std::chrono::steady_clock::now();
  const DriveReport report = drive(mechanics, settings, actuation, state, bar.progress(), [&](long step) {
    done = step;
    if (!results) return;
    results->record(step, state);
    // A machine that goes down loses half a minute.
    if (std::chrono::steady_clock::now() - last_save < std::chrono::seconds(30)) return;
    save();
    last_save = std::chrono::steady_clock::now();
  });
  bar.finish();
  if (report.stopped && plan.folder.empty()) plan.folder = rescue_folder(plan.scene.name);
  save();
  if (report.failed()) throw_step_failure(report, settings, plan.folder);
  if (report.stopped)
    throw Interrupted(
        fmt::format("interrupted after step {} of {}, the state is in '{}'", done, settings.last, plan.folder),
        fmt::format("supple simulate --resume {} (goes on from there)", shell_quoted(plan.folder)));

  nlohmann::ordered_json json = speed_facts(report, settings, 1);
  json.update(machine_facts(context, "cpu"));
  json["scene"] = plan.scene.file;
  json["first_step"] = settings.first;
  json["last_step"] = done;
  json["time"] = state.time;
  json["limited_commands"] = report.limited;
  json["state_hash"] = hash_hex(hash(state));
  write_json(context, json);
  if (context.common.quiet) return 0;
  print_summary(plan, report, mechanics, state);
  if (results) print_facts({{"written", plan.folder + "/result.pvd, trajectory.csv, state.h5"}});
  return 0;
}

}  // namespace

Command simulate_command() {
  Command command;
  command.name = "simulate";
  command.description = "simulate the full model of a scene";
  command.examples =
      "  supple simulate assets/cantilever\n"
      "  supple simulate assets/diamond --set north=\"20 mm\" --duration \"2 s\" -o /tmp/diamond\n"
      "  supple simulate assets/diamond --actuation commands.csv --json speed.json\n"
      "  supple simulate --resume /tmp/diamond\n"
      "\n"
      "A file of commands begins with a line like `time [s],north [mm],west [mm]`; numbers follow, straight lines\n"
      "are drawn between them, and inputs without a column stay at zero.\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("SCENE", arguments->scene, "scene file, or a folder with a scene.toml", false);
    options.whole("--steps", arguments->steps, 1, "N", "steps of the whole run");
    options.quantity("--duration", arguments->duration, Dimension::time, "TIME",
                     "time of the whole run, \"2 s\"; without both the commands' or the scene's");
    options.text("--actuation", arguments->actuation, "CSV", "commands over time");
    options.texts("--set", arguments->assignments, "NAME=VALUE", "hold a command, north=\"20 mm\"");
    options.choice("--integrator", arguments->integrator, integrator_names(), "instead of the scene's");
    options.quantity("--time-step", arguments->time_step, Dimension::time, "TIME", "instead of the scene's");
    options.flag("--settle", arguments->settle, "begin in equilibrium under gravity and the first commands");
    options.text("-o,--output", arguments->output, "DIR",
                 "write result.pvd with shapes for ParaView, trajectory.csv and state.h5");
    options.whole("--every", arguments->every, 1, "K", "steps between two shapes; without it about 100 in all");
    options.text("--resume", arguments->resume, "DIR", "go on with the run saved there");
    return [arguments](Context& context) { return simulate(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

#include "engine/cli/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/command.hpp"
#include "engine/cli/interrupt.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
#include "engine/cli/progress_bar.hpp"
#include "engine/cli/robot_facts.hpp"
#include "engine/cli/run_recorder.hpp"
#include "engine/cli/table.hpp"
#include "engine/cli/terminal.hpp"
#include "engine/dynamics/equilibrium.hpp"
#include "engine/reduction/validate.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

// Wall time between two saves of a run: what is lost when the machine goes down.
constexpr std::chrono::seconds save_interval{30};

constexpr long most_steps = 1'000'000'000;  // of one run

// Whole steps in `time`. Throws InputError if they are too many.
long count_steps(double time, double time_step) {
  const double steps = time / time_step;
  if (!(steps < static_cast<double>(most_steps) + 0.5))
    throw InputError(
        fmt::format("{} are too many steps of {}, at most {} are possible", format_quantity(time, Dimension::time),
                    format_quantity(time_step, Dimension::time), most_steps),
        "a shorter --duration, or a longer --time-step");
  return std::lround(steps);
}

std::vector<std::string> names_of(const std::vector<Input>& inputs) {
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back(input.name);
  return names;
}

// The built-in sweep: a smooth path through every input's range, point by point of the run's steps.
Actuation sweep_actuation(const Robot& robot, double time_step, double duration, std::uint64_t seed) {
  if (const std::string name = unbounded_input(robot); !name.empty())
    throw InputError(fmt::format("--sweep needs a finite range for '{}'", name),
                     "range = [..] in the scene, or --actuation CSV");
  const SmoothPath path(robot, smooth_path_period_steps * time_step, seed);
  const std::vector<Input> inputs = inputs_of(robot);
  std::vector<double> times, values;
  const long steps = count_steps(duration, time_step);
  for (long k = 0; k <= steps; ++k) {
    times.push_back(static_cast<double>(k) * time_step);
    const Sample sample = path.at(times.back());
    values.insert(values.end(), sample.begin(), sample.end());
  }
  return Actuation(inputs, names_of(inputs), times, values);
}

Actuation make_actuation(const SessionArguments& arguments, const SessionPlan& plan, const Robot& robot,
                         double time_step, double duration, std::uint64_t seed) {
  Actuation actuation(inputs_of(robot));
  if (!arguments.actuation.empty())
    actuation = read_actuation(arguments.actuation, robot);
  else if (arguments.sweep)
    actuation = sweep_actuation(robot, time_step, duration, seed);
  else if (plan.saved)
    actuation = Actuation(inputs_of(robot), plan.saved->inputs, plan.saved->times, plan.saved->values);
  for (const std::string& assignment : arguments.assignments) actuation.set(assignment);
  for (const std::string& note : actuation.notes()) print_note(note);
  return actuation;
}

long steps_of(const SessionArguments& arguments, const SessionPlan& plan, const Actuation& actuation, double duration,
              double time_step) {
  if (arguments.steps) return *arguments.steps;
  if (!arguments.duration && plan.saved) return static_cast<long>(plan.saved->steps);
  const double time = arguments.duration ? *arguments.duration : actuation.end() > 0 ? actuation.end() : duration;
  return std::max(1L, count_steps(time, time_step));
}

void settle(Mechanics& mechanics, const Actuation& actuation, State& state) {
  Control control = zero_control(mechanics);
  actuation.evaluate(0, state.robots, control);
  const EquilibriumReport report = Equilibrium(mechanics, {}).solve(control, state);
  if (report.status != StepStatus::ok)
    throw RunError(fmt::format("the robot does not settle: {}", describe(report.status)),
                   report.status == StepStatus::loose_among_obstacles
                       ? "without --settle it comes to rest in time"
                       : "`supple check` looks for its equilibrium with all commands at zero");
}

double least_gap(const Robot& robot, const std::vector<Vec3d>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (const PlacedObstacle& placed : robot.obstacles)
    for (const Vec3d& x : points) least = std::min(least, placed.obstacle.at(placed.pose, x).gap);
  return least;
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

}  // namespace

void declare_session(Options& options, SessionArguments& arguments, const std::string& owner,
                     const std::string& duration) {
  options.whole("--steps", arguments.steps, 1, most_steps, "N", "steps of the whole run");
  options.quantity(
      "--duration", arguments.duration, Dimension::time, "TIME",
      fmt::format("time of the whole run, \"2 s\"; without both as long as the file of commands, or {}", duration));
  options.text("--actuation", arguments.actuation, "CSV", "commands over time");
  options.flag("--sweep", arguments.sweep,
               "drive every input smoothly through its range (another --seed, another path)");
  options.texts("--set", arguments.assignments, "NAME=VALUE", "hold a command, north=\"20 mm\"");
  options.choice("--integrator", arguments.integrator, integrator_names(), fmt::format("instead of the {}'s", owner));
  options.quantity("--time-step", arguments.time_step, Dimension::time, "TIME",
                   fmt::format("instead of the {}'s", owner));
  options.quantity("--keep-tangent", arguments.keep_tangent, Dimension::number, "SHARE",
                   "implicit-euler: use the tangent of an earlier step while the error it makes is below this share of "
                   "the motion of a step: up to twice as fast, at several times the error");
  options.flag("--settle", arguments.settle, "begin in equilibrium under gravity and the first commands");
  options.text("-o,--output", arguments.output, "DIR",
               "write result.pvd with shapes for ParaView, trajectory.csv and state.h5");
  options.whole("--every", arguments.every, 1, std::numeric_limits<int>::max(), "K",
                "steps between two shapes; without it about 100 in all");
  options.text("--resume", arguments.resume, "DIR", "go on with the run saved there");
  declare_record(options, arguments.record);
}

SessionPlan plan_session(const Context& context, const SessionArguments& arguments, const std::string& verb,
                         const std::string& what) {
  SessionPlan plan;
  plan.model = arguments.model;
  plan.record = arguments.record;
  check_record(context, plan.record, plan.model);
  if (arguments.steps && arguments.duration)
    throw InputError("--steps and --duration say the same thing twice", "one of them");
  if (arguments.sweep && !arguments.actuation.empty())
    throw InputError("--sweep and --actuation both say what the actuators do", "one of them");
  if (!arguments.resume.empty()) {
    const auto refuse = [](bool given, const char* option) {
      if (given)
        throw InputError(fmt::format("{} does not go with --resume (it was settled when the run began)", option),
                         "start a new run");
    };
    refuse(!arguments.output.empty(), "-o");
    refuse(!arguments.integrator.empty(), "--integrator");
    refuse(arguments.time_step.has_value(), "--time-step");
    refuse(arguments.every.has_value(), "--every");
    refuse(arguments.settle, "--settle");
    refuse(arguments.sweep, "--sweep");
    plan.saved = read_state(ResultFolder::state_file(arguments.resume));
    plan.folder = arguments.resume;
    plan.integrator = plan.saved->integrator;
    plan.time_step = plan.saved->time_step;
    if (plan.model.empty()) plan.model = plan.saved->model;
    return plan;
  }
  if (plan.model.empty())
    throw InputError(fmt::format("`supple {}` needs {}, or --resume DIR", verb, what),
                     fmt::format("supple {} --help", verb));
  if (!arguments.output.empty()) ResultFolder::check(arguments.output, context.common.force);
  plan.folder = arguments.output;
  if (!arguments.integrator.empty()) plan.integrator = arguments.integrator;
  plan.time_step = arguments.time_step;
  return plan;
}

SessionResult perform(const Context& context, const SessionArguments& arguments, SessionPlan& plan,
                      const Subject& subject, DriveSettings settings,
                      const std::function<void(long, const State&)>& after) {
  Mechanics& mechanics = subject.mechanics;
  if (arguments.keep_tangent) {
    if (*arguments.keep_tangent >= 1)
      throw InputError("--keep-tangent is a share between 0 and 1", "--keep-tangent 0.05");
    if (settings.integrator != Integrator::implicit_euler)
      throw InputError(fmt::format("--keep-tangent is for steps of one linearisation, and the integrator is {}",
                                   integrator_name(settings.integrator)),
                       "--integrator implicit-euler");
    if (const auto why = cannot_keep_tangent(mechanics.robot())) throw InputError(*why);
    settings.keep_tangent = *arguments.keep_tangent;
  }
  const double horizon = arguments.steps      ? static_cast<double>(*arguments.steps) * settings.time_step
                         : arguments.duration ? *arguments.duration
                                              : subject.duration;
  const Actuation actuation =
      make_actuation(arguments, plan, mechanics.robot(), settings.time_step, horizon, context.common.seed.value_or(1));
  settings.last = steps_of(arguments, plan, actuation, subject.duration, settings.time_step);
  long every = arguments.every.value_or(std::max(1L, (settings.last + 99) / 100));
  State state = rest_state(mechanics);
  if (plan.saved) {
    const SavedRun& saved = *plan.saved;
    if (saved.fingerprint != subject.fingerprint || !same_sizes(saved.state, state))
      throw InputError(
          fmt::format("'{}' was saved from something else, or '{}' has changed since", plan.folder, subject.file),
          "run it from its beginning");
    state = saved.state;
    settings.first = static_cast<long>(saved.step);
    every = static_cast<long>(saved.every);
    if (settings.last <= settings.first)
      throw InputError(
          fmt::format("the run in '{}' is at step {} of {} already", plan.folder, settings.first, settings.last),
          fmt::format("--steps {} (counted from its beginning)", 2 * std::max(1L, settings.first)));
  }
  if (arguments.settle) settle(mechanics, actuation, state);

  std::unique_ptr<ResultFolder> results;
  std::error_code error;
  if (plan.saved && fs::exists(plan.folder + "/trajectory.csv", error))
    results = std::make_unique<ResultFolder>(plan.folder, mechanics, subject.write_shape, every, settings.first);
  else if (!plan.saved && !plan.folder.empty())
    results = std::make_unique<ResultFolder>(plan.folder, mechanics, subject.write_shape, every);
  if (results && !plan.saved) results->record(0, state);

  RunRecorder recorder(plan.record, mechanics, {subject.file, subject.fingerprint}, settings.integrator,
                       settings.time_step);
  recorder.add(settings.first, state);
  long done = settings.first;
  const auto save = [&] {
    if (plan.folder.empty()) return;
    SavedRun run;
    run.state = state;
    run.step = done;
    run.steps = settings.last;
    run.every = every;
    run.time_step = settings.time_step;
    run.integrator = integrator_name(settings.integrator);
    run.model = fs::absolute(subject.file).string();
    run.fingerprint = subject.fingerprint;
    run.inputs = names_of(actuation.inputs());
    run.times = actuation.times();
    run.values = actuation.values();
    if (results)
      results->save(run);
    else
      write_state(ResultFolder::state_file(plan.folder), run);
  };

  const Robot& robot = mechanics.robot();
  SessionResult result;
  {
    const InterruptGuard guard;
    ProgressBar bar(context.common.quiet);
    auto last_save = std::chrono::steady_clock::now();
    try {
      result.report =
          drive(mechanics, settings, actuation, state, bar.progress(), [&](long step, const StepReport& report) {
            done = step;
            if (after) after(step, state);
            if (robot.pairs() > 0) {
              result.contact.add(report.contact, subject.reduced, state);
              if (step % every == 0 || step == settings.last)
                result.contact.least_gap =
                    std::min(result.contact.least_gap.value_or(unlimited), least_gap(robot, subject.skin(state)));
            }
            recorder.add(step, state);
            if (!results) return;
            results->record(step, state);
            if (std::chrono::steady_clock::now() - last_save < save_interval) return;
            save();
            last_save = std::chrono::steady_clock::now();
          });
    } catch (const Error&) {
      // Results that cannot be written: the state is smaller than they are.
      recorder.finish();
      try {
        save();
      } catch (const Error&) {  // the first one is told
      }
      throw;
    }
    bar.finish();
    recorder.finish();  // before the state: on a full disk it gives back room
    if (result.report.stopped && plan.folder.empty()) plan.folder = rescue_folder(subject.name);
    save();
  }
  if (result.report.failed()) throw_step_failure(result.report, settings, plan.folder);
  if (result.report.stopped)
    throw Interrupted(
        fmt::format("interrupted after step {} of {}, the state is in '{}'", done, settings.last, plan.folder),
        fmt::format("supple {} --resume {} (goes on from there)", subject.verb, shell_quoted(plan.folder)));
  recorder.require_whole(plan.folder.empty() ? "the run itself is complete"
                                             : fmt::format("the run itself is complete, in '{}'", plan.folder));
  result.settings = settings;
  result.state = std::move(state);
  result.times = actuation.times();
  result.values = actuation.values();
  return result;
}

Actuation session_actuation(const SessionResult& result, const Robot& robot) {
  const std::vector<Input> inputs = inputs_of(robot);
  return {inputs, names_of(inputs), result.times, result.values};
}

nlohmann::ordered_json session_json(const Context& context, const SessionResult& result, const std::string& device) {
  nlohmann::ordered_json json = speed_facts(result.report, result.settings, result.state.robots);
  json.update(machine_facts(context, device));
  json["integrator"] = integrator_name(result.settings.integrator);
  json["first_step"] = result.settings.first;
  json["last_step"] = result.report.step;
  json["time"] = result.state.time;
  if (!result.state.contact_forces.empty()) json["contact"] = contact_figures_json(result.contact, result.state);
  json["limited_commands"] = result.report.limited;
  json["state_hash"] = hash_hex(hash(result.state));
  return json;
}

void print_session(const SessionPlan& plan, const Subject& subject, const SessionResult& result) {
  const DriveReport& report = result.report;
  const State& state = result.state;
  const double h = result.settings.time_step;
  const double wall = std::accumulate(report.seconds.begin(), report.seconds.end(), 0.0);
  const auto n = static_cast<double>(report.seconds.size());
  const StepRate rate = step_rate(report.seconds, state.robots, h);
  const auto time = [](double seconds) { return format_quantity(seconds, Dimension::time); };
  fmt::print("{}: {} steps of {}{}, {} simulated in {} (by the median step {:.4g} steps/s, {:.3g} x real time)\n",
             subject.name, report.seconds.size(), time(h),
             state.robots > 1 ? fmt::format(" of {} robots", state.robots) : "", time(n * h), time(wall),
             rate.steps_per_s, rate.realtime_factor);
  Facts facts{{"step time", fmt::format("median {}, 99 % below {}, 99.9 % below {}", time(1e-6 * rate.p50_us),
                                        time(1e-6 * rate.p99_us), time(1e-6 * rate.p999_us))}};
  const Robot& robot = subject.mechanics.robot();
  std::vector<double> y(static_cast<std::size_t>(robot.outputs() * state.robots));
  subject.mechanics.evaluate_outputs(state.q, state.motions, y);
  for (std::size_t e = 0; e < robot.effectors.size(); ++e)
    facts.emplace_back(robot.effectors[e].name, effector_text(robot, static_cast<int>(e), y));
  const std::vector<Input> inputs = inputs_of(robot);
  for (std::size_t i = 0; i < robot.actuators.size(); ++i)
    facts.emplace_back(
        robot.actuators[i].name,
        fmt::format("command {}, {} {}", format_quantity(state.commands[i], inputs[i].dimension),
                    multiplier_name(robot.actuators[i]),
                    format_quantity(state.multipliers[i], multiplier_dimension(robot.actuators[i].kind))));
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    if (!is_obeyed(robot.constraints[k]))
      facts.emplace_back(
          robot.constraints[k].name,
          fmt::format("force {}", format_quantity(state.multipliers[robot.actuators.size() + k], Dimension::force)));
  for (std::size_t m = 0; m < robot.motions.size(); ++m)
    facts.emplace_back(robot.motions[m].name,
                       fmt::format("at {}", format_quantity(state.motions[m], Dimension::length)));
  add_contact_facts(facts, result.contact, robot, state);
  facts.emplace_back("state hash", hash_hex(hash(state)));
  if (!plan.folder.empty()) facts.emplace_back("written", plan.folder + "/result.pvd, trajectory.csv, state.h5");
  if (!plan.record.empty()) facts.emplace_back("recorded", plan.record);
  print_facts(facts);
  if (report.limited > 0) print_note(fmt::format("commands were cut to their range or rate {} times", report.limited));
  print_contact_notes(result.contact);
  print_weakened_note(report);
  if (report.final.inverted > 0)
    print_note(fmt::format("{} points of elements are turned inside out at the end: do not trust this result",
                           report.final.inverted));
}

}  // namespace supple::cli

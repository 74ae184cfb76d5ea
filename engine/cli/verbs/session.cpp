#include "engine/cli/verbs/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/robot_facts.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/change_options.hpp"
#include "engine/cli/verbs/record_option.hpp"
#include "engine/cli/verbs/stream.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/run/settle.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "engine/run/steps_on_device.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

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
    const Control control = control_of(robot, path.at(times.back()));
    values.insert(values.end(), control.commands.begin(), control.commands.end());
    values.insert(values.end(), control.motions.begin(), control.motions.end());
  }
  return Actuation(inputs, names_of(inputs), times, values);
}

Actuation make_actuation(const SessionArguments& arguments, const SessionPlan& plan, const Robot& robot, int robots,
                         double time_step, double duration, std::uint64_t seed) {
  Actuation actuation(inputs_of(robot));
  if (!arguments.actuation.empty())
    actuation = read_actuation(arguments.actuation, robot, robots);
  else if (arguments.sweep)
    actuation = sweep_actuation(robot, time_step, duration, seed);
  else if (plan.saved)
    actuation =
        Actuation(inputs_of(robot), plan.saved->inputs, plan.saved->times, plan.saved->values, plan.saved->rows);
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
  options.flag("--stdin", arguments.stream, "commands line by line, as JSON; each line is a step");
  options.texts("--set", arguments.assignments, "NAME=VALUE", "hold a command, north=\"20 mm\"");
  declare_changes(options, arguments.changes);
  options.choice("--integrator", arguments.integrator, integrator_names(), fmt::format("instead of the {}'s", owner));
  options.quantity("--time-step", arguments.time_step, Dimension::time, "TIME",
                   fmt::format("instead of the {}'s", owner));
  options.quantity("--keep-tangent", arguments.keep_tangent, Dimension::number, "SHARE",
                   "implicit-euler: use the tangent of an earlier step while the error it makes is below this share of "
                   "the motion of a step: up to twice as fast, at several times the error");
  options.flag("--settle", arguments.settle, "begin in equilibrium under gravity and the first commands");
  options.text("-o,--output", arguments.output, "DIR",
               "write result.pvd with shapes for ParaView, trajectory.csv and state.h5");
  const char* batch = owner == "model" ? "; of a batch, between two lines of each robot (1)" : "";
  options.whole("--every", arguments.every, 1, std::numeric_limits<int>::max(), "K",
                fmt::format("steps between two shapes (default: about 100 in all){}", batch));
  options.text("--resume", arguments.resume, "DIR", "continue the run saved there");
  declare_record(options, arguments.record);
}

SessionPlan plan_session(const Context& context, const SessionArguments& arguments, const std::string& verb,
                         const std::string& what) {
  if (arguments.stream)
    check_stream(context.common,
                 {{arguments.steps.has_value(), "--steps"},
                  {arguments.duration.has_value(), "--duration"},
                  {!arguments.actuation.empty(), "--actuation"},
                  {arguments.sweep, "--sweep"},
                  {arguments.batch.has_value(), "--batch"},
                  {arguments.record_robot.has_value(), "--record-robot"},
                  {!arguments.resume.empty(), "--resume"}},
                 {{!arguments.output.empty(), "-o"}, {arguments.every.has_value(), "--every"}});
  SessionPlan plan;
  plan.model = arguments.model;
  plan.record = arguments.record;
  plan.record_robot = static_cast<int>(arguments.record_robot.value_or(0));
  check_record(context, plan.record, plan.model);
  if (arguments.steps && arguments.duration)
    throw InputError("--steps and --duration say the same thing twice", "one of them");
  if (arguments.sweep && !arguments.actuation.empty())
    throw InputError("--sweep and --actuation both say what the actuators do", "one of them");
  if (!arguments.resume.empty()) {
    refuse_with("--resume (it was settled when the run began)",
                {{!arguments.output.empty(), "-o"},
                 {!arguments.integrator.empty(), "--integrator"},
                 {arguments.time_step.has_value(), "--time-step"},
                 {arguments.every.has_value(), "--every"},
                 {arguments.settle, "--settle"},
                 {arguments.sweep, "--sweep"}},
                "start a new run");
    plan.saved = read_state(ResultFolder::state_file(arguments.resume));
    if (context.common.seed && *context.common.seed != plan.saved->sensor_seed)
      throw InputError(fmt::format("the run that is resumed has the seed {}", plan.saved->sensor_seed),
                       "without --seed, or a new run");
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

void check_settle(const SessionArguments& arguments, const FullModel& model) {
  if (!arguments.settle) return;
  for (const ElementField& field : model.fields)
    if (!has_exact_tangent(field.law))
      throw InputError("--settle needs the exact tangent, which rotations from element edges do not have",
                       "rotation = \"polar\" in the material");
}

namespace {

void take_keep_tangent(const SessionArguments& arguments, const Robot& robot, DriveSettings& settings) {
  if (!arguments.keep_tangent) return;
  if (*arguments.keep_tangent >= 1)
    throw InputError("--keep-tangent is a share between 0 and 1", "--keep-tangent 0.05");
  if (settings.integrator != Integrator::implicit_euler)
    throw InputError(fmt::format("--keep-tangent is for steps of one linearisation, and the integrator is {}",
                                 integrator_name(settings.integrator)),
                     "--integrator implicit-euler");
  if (const auto why = cannot_keep_tangent(robot)) throw InputError(*why);
  settings.keep_tangent = *arguments.keep_tangent;
}

// The state of a saved run, which `state` has the sizes of.
State saved_state(const SessionPlan& plan, const Subject& subject, const State& state, DriveSettings& settings) {
  const SavedRun& saved = *plan.saved;
  if (saved.fingerprint != subject.fingerprint || !same_sizes(saved.state, state))
    throw InputError(
        fmt::format("'{}' was saved from something else, or '{}' has changed since", plan.folder, subject.file),
        "run it from its beginning");
  settings.first = static_cast<long>(saved.step);
  if (settings.last <= settings.first)
    throw InputError(
        fmt::format("the run in '{}' is at step {} of {} already", plan.folder, settings.first, settings.last),
        fmt::format("--steps {} (counted from its beginning)", 2 * std::max(1L, settings.first)));
  return saved.state;
}

std::unique_ptr<RobotSteps> make_steps(const Subject& subject, const DriveSettings& settings,
                                       const Actuation& actuation, State state) {
  if (subject.device.kind == Device::Kind::cpu)
    return std::make_unique<ForwardOnCpu>(subject.team, settings, actuation, std::move(state));
  if (const auto why = cannot_run_on_device(*subject.reduced, settings, false)) throw InputError(*why);
  return std::make_unique<ForwardOnDevice>(*subject.reduced, subject.device, settings, actuation, state);
}

// Steps between two shapes of one robot, about 100 in all, or two lines of each robot of a batch.
long default_every(int robots, long steps) {
  return robots > 1 ? 1 : std::max(1L, (steps + 99) / 100);
}

RecordingFacts recording_facts(const Subject& subject, const DriveSettings& settings) {
  return {{subject.file, subject.fingerprint}, std::nullopt, settings.integrator, settings.time_step};
}

}  // namespace

int converse(const Context& context, const SessionArguments& arguments, const SessionPlan& plan, const Subject& subject,
             DriveSettings settings) {
  Mechanics& mechanics = subject.team.member(0);
  const Robot& robot = mechanics.robot();
  take_keep_tangent(arguments, robot, settings);
  Actuation actuation(inputs_of(robot));
  for (const std::string& assignment : arguments.assignments) actuation.set(assignment);
  for (const std::string& note : actuation.notes()) print_note(note);
  State start = rest_state(mechanics);
  if (arguments.settle) settle(subject.team, actuation, start);
  LiveRobot live(mechanics,
                 {.integrator = settings.integrator,
                  .time_step = settings.time_step,
                  .keep_tangent = settings.keep_tangent,
                  .sensor_seed = context.common.seed.value_or(default_sensor_seed)},
                 std::move(start));
  LiveRequest first;
  first.commands = actuation.values();
  RunRecorder recorder(plan.record, robot, recording_facts(subject, settings), print_note);
  stream(live, first, std::cin, std::cout, recorder);
  recorder.finish();
  recorder.require_whole("all lines were answered");
  return 0;
}

SessionResult perform(const Context& context, const SessionArguments& arguments, SessionPlan& plan,
                      const Subject& subject, DriveSettings settings,
                      const std::function<void(long, const State&)>& after) {
  const Robot& robot = subject.team.robot();
  const int robots = subject.team.robots();
  take_keep_tangent(arguments, robot, settings);
  const double horizon = arguments.steps      ? static_cast<double>(*arguments.steps) * settings.time_step
                         : arguments.duration ? *arguments.duration
                                              : subject.duration;
  const Actuation actuation =
      make_actuation(arguments, plan, robot, robots, settings.time_step, horizon, context.common.seed.value_or(1));
  settings.last = steps_of(arguments, plan, actuation, subject.duration, settings.time_step);
  plan.last = settings.last;
  State state = repeated(rest_state(subject.team.member(0)), robots);
  if (plan.saved) state = saved_state(plan, subject, state, settings);
  if (arguments.settle) settle(subject.team, actuation, state);
  const std::unique_ptr<RobotSteps> steps = make_steps(subject, settings, actuation, std::move(state));
  if (plan.saved) steps->set_failures(read_failures(plan.saved->failures));

  RunRecorder recorder(plan.record, robot, recording_facts(subject, settings), print_note, plan.record_robot);
  ForwardRun run{*steps,   robot,       subject.name,           subject.reduced,     settings,
                 {},       plan.folder, plan.saved.has_value(), subject.write_shape, subject.skin,
                 recorder, after};
  run.about.steps = settings.last;
  run.about.every = plan.saved ? plan.saved->every : arguments.every.value_or(default_every(robots, settings.last));
  run.about.time_step = settings.time_step;
  run.about.integrator = integrator_name(settings.integrator);
  run.about.model = fs::absolute(subject.file).string();
  run.about.fingerprint = subject.fingerprint;
  run.about.inputs = names_of(actuation.inputs());
  run.about.times = actuation.times();
  run.about.values = actuation.values();
  run.about.rows = actuation.rows();
  run.about.sensor_seed = plan.saved ? plan.saved->sensor_seed : context.common.seed.value_or(default_sensor_seed);
  if (plan.saved) run.about.sensor_memory = plan.saved->sensor_memory;
  ForwardResult done;
  {
    const InterruptGuard guard;
    ProgressBar bar(context.common.quiet);
    done = run_forward(run, bar.progress());
    bar.finish();
  }
  plan.folder = done.folder;
  plan.step_failed = done.report.failed() && robots == 1;
  if (plan.step_failed) throw_step_failure(done.report, settings, plan.folder);
  if (done.report.stopped)
    throw Interrupted(
        fmt::format("interrupted after step {} of {}, the state is in '{}'", done.report.step, settings.last,
                    plan.folder),
        fmt::format("supple {} --resume {} (continues from there)", subject.verb, shell_quoted(plan.folder)));
  recorder.require_whole(plan.folder.empty() ? "the run itself is complete"
                                             : fmt::format("the run itself is complete, in '{}'", plan.folder));
  SessionResult result;
  result.report = std::move(done.report);
  result.contact = done.contact;
  result.sensors = std::move(done.sensors);
  result.settings = settings;
  result.state = steps->state();
  result.failures = steps->failures();
  result.times = actuation.times();
  result.values = actuation.values();
  return result;
}

void throw_failures(const SessionPlan& plan, const SessionResult& result) {
  if (!result.failures.empty())
    throw_robot_failures(result.failures, result.state.robots, result.settings, plan.folder);
}

Actuation session_actuation(const SessionResult& result, const Robot& robot) {
  const std::vector<Input> inputs = inputs_of(robot);
  return {inputs, names_of(inputs), result.times, result.values};
}

nlohmann::ordered_json session_json(const Context& context, const Subject& subject, const SessionResult& result) {
  nlohmann::ordered_json json = speed_facts(result.report, result.settings, result.state.robots);
  json.update(machine_facts(context, to_string(subject.device)));
  json["integrator"] = integrator_name(result.settings.integrator);
  json["first_step"] = result.settings.first;
  json["last_step"] = result.report.step;
  json["time"] = result.state.time;
  const Robot& robot = subject.team.robot();
  if (robot.touches()) json["contact"] = contact_figures_json(result.contact, result.state);
  if (robot.surfaces) json["body_contacts"] = body_touches_json(robot, result.state);
  if (result.state.robots == 1 && !robot.sensors.empty()) json["sensors"] = sensors_json(robot, result.sensors);
  json["limited_commands"] = result.report.limited;
  if (result.state.robots > 1) json["failed"] = failed_json(result.failures, result.settings.time_step);
  json["state_hash"] = hash_hex(hash(result.state));
  return json;
}

namespace {

// Where one robot is, and what its actuators and constraints do.
void add_robot_facts(Facts& facts, const Subject& subject, const State& state) {
  const Robot& robot = subject.team.robot();
  std::vector<double> y(static_cast<std::size_t>(robot.outputs()));
  subject.team.member(0).evaluate_outputs(state.q, state.motions, y);
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
      facts.emplace_back(robot.constraints[k].name,
                         fmt::format("{} {}", multiplier_name(robot.constraints[k]),
                                     format_quantity(state.multipliers[robot.actuators.size() + k],
                                                     multiplier_dimension(robot.constraints[k]))));
  for (std::size_t m = 0; m < robot.motions.size(); ++m)
    facts.emplace_back(
        robot.motions[m].name,
        fmt::format("at {}", format_quantity(state.motions[m], inputs[robot.actuators.size() + m].dimension)));
}

}  // namespace

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
  if (state.robots == 1)
    add_robot_facts(facts, subject, state);
  else
    facts.emplace_back("device", to_string(subject.device));
  add_contact_facts(facts, result.contact, subject.team.robot(), state);
  facts.emplace_back("state hash", hash_hex(hash(state)));
  if (!plan.folder.empty())
    facts.emplace_back("written", plan.folder + (state.robots == 1 ? "/result.pvd, trajectory.csv, state.h5"
                                                                   : "/trajectory.csv, state.h5"));
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

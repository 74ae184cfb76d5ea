// supple run: a reduced model, step by step; one robot or many.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/reports/shape_writer.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/change_options.hpp"
#include "engine/cli/verbs/comparison.hpp"
#include "engine/cli/verbs/session.hpp"
#include "engine/error/error_estimator.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  SessionArguments session;
  std::string compare, estimate, full;
  std::optional<double> limit;  // m
};

// Where an estimate passed its limit, or was not found.
struct PassedLimit {
  long step = 0;
  std::string effector;
  std::optional<double> error;  // m; none: there is no estimate

  std::string text(double limit) const {
    return error ? fmt::format("the estimated error of '{}' is {} after step {}, above the limit of {}", effector,
                               format_quantity(*error, Dimension::length), step,
                               format_quantity(limit, Dimension::length))
                 : fmt::format("the error is not known after step {}: no estimate was found", step);
  }
};

// Estimates of the error along a run.
struct Estimates {
  std::unique_ptr<ReducedModel> finer;
  std::unique_ptr<ErrorEstimator> estimator;
  std::vector<double> times;
  std::vector<std::vector<double>> sizes;  // [estimates][effectors] m
  std::optional<PassedLimit> passed;
};

// Of a run with a limit estimates take as long as the steps, and the last step has one.
constexpr double share_with_limit = 1;

Estimates open_estimates(const Arguments& arguments, const ReducedModel& model) {
  Estimates estimates;
  if (arguments.estimate.empty()) return estimates;
  estimates.finer = std::make_unique<ReducedModel>(read_model(arguments.estimate));
  take_changes(arguments.session.changes, *estimates.finer);
  ErrorEstimatorSettings settings;
  if (arguments.limit) settings.share = share_with_limit;
  estimates.estimator = std::make_unique<ErrorEstimator>(model, *estimates.finer, settings);
  return estimates;
}

// Throws RunError where it passes the limit: the run ends there.
void take_estimate(long step, long last, const State& state, const Robot& robot, const std::optional<double>& limit,
                   Estimates& estimates) {
  const int failed = estimates.estimator->failed();
  if (estimates.estimator->after_step(state, limit && step == last)) {
    const ErrorEstimator::Estimate& newest = *estimates.estimator->newest();
    estimates.times.push_back(newest.time);
    std::vector<double>& sizes = estimates.sizes.emplace_back();
    for (std::size_t e = 0; e < newest.error.size(); e += 3)
      sizes.push_back(std::hypot(newest.error[e], newest.error[e + 1], newest.error[e + 2]));
    const auto largest = std::ranges::max_element(sizes);
    if (limit && !(*largest <= *limit))
      estimates.passed = {step, robot.effectors[static_cast<std::size_t>(largest - sizes.begin())].name, *largest};
  } else if (limit && (estimates.estimator->failed() > failed || (step == last && estimates.times.empty()))) {
    estimates.passed = {step, "", {}};
  }
  if (estimates.passed)
    throw RunError(estimates.passed->text(*limit),
                   "--full SCENE, by which the full model takes over; or a model with more modes");
}

nlohmann::ordered_json estimates_json(const Robot& robot, const Estimates& estimates, std::size_t steps) {
  const std::size_t count = estimates.times.size();
  nlohmann::ordered_json json{{"every_steps", count > 0 ? static_cast<double>(steps) / static_cast<double>(count) : 0},
                              {"not_found", estimates.estimator->failed()},
                              {"time", estimates.times},
                              {"effectors", nlohmann::ordered_json::object()}};
  if (estimates.passed) {
    json["passed_limit"] = {{"step", estimates.passed->step}};
    if (estimates.passed->error)
      json["passed_limit"].update({{"effector", estimates.passed->effector}, {"error", *estimates.passed->error}});
  }
  for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
    std::vector<double> own;
    for (const std::vector<double>& sizes : estimates.sizes) own.push_back(sizes[e]);
    json["effectors"][robot.effectors[e].name] = own;
  }
  return json;
}

// Mean and largest of each effector.
void print_estimates(const Robot& robot, const Estimates& estimates, std::size_t steps) {
  const std::size_t count = estimates.sizes.size();
  const int failed = estimates.estimator->failed();
  for (std::size_t e = 0; e < robot.effectors.size() && count > 0; ++e) {
    double sum = 0, largest = 0;
    for (const std::vector<double>& sizes : estimates.sizes) {
      sum += sizes[e];
      largest = std::max(largest, sizes[e]);
    }
    fmt::print("estimated error of '{}': {} on average, {} at most ({} estimates, one in {:.0f} steps)\n",
               robot.effectors[e].name, format_quantity(sum / static_cast<double>(count), Dimension::length),
               format_quantity(largest, Dimension::length), count,
               static_cast<double>(steps) / static_cast<double>(count));
  }
  if (failed > 0)
    print_warning(
        fmt::format("{} of {} estimates were not found: there the finer model has no equilibrium near the "
                    "robot, and its error is not known",
                    failed, failed + static_cast<int>(count)));
}

// The full model of a scene, with what the run has changed and the model's own integration.
FullModel full_model(const Arguments& arguments, const ReducedModel& model, Scene scene,
                     const DriveSettings& settings) {
  scene.integrator = settings.integrator;
  scene.time_step = settings.time_step;
  scene.implicit_velocity = model.robot.implicit_velocity;
  scene.implicit_position = model.robot.implicit_position;
  FullModel full = build_full_model(scene);
  take_changes(arguments.session.changes, full);
  if (identify(scene).mesh != model.provenance.mesh_hash)
    print_note("the model was made from another mesh than the scene's: its errors include that difference");
  return full;
}

// That takes over where an estimate passes the limit: known before the run begins.
struct Substitute {
  FullModel model;
  FullMechanics mechanics{model};
  MechanicsTeam team{mechanics};
  Subject subject;

  Substitute(FullModel full, const Scene& scene, const std::string& file, double duration)
      : model(std::move(full)),
        subject{team,
                "simulate",
                model.robot.name,
                file,
                with_changes(scene_fingerprint(scene), model.robot),
                duration,
                full_shape_writer(mechanics),
                full_skin(mechanics)} {}
};

std::unique_ptr<Substitute> open_substitute(const Arguments& arguments, const ReducedModel& model,
                                            const DriveSettings& settings, double duration) {
  if (arguments.full.empty()) return nullptr;
  const Scene scene = read_scene(arguments.full);
  if (scene.implicit_velocity != model.robot.implicit_velocity ||
      scene.implicit_position != model.robot.implicit_position)
    throw InputError("--full: the scene's implicit_velocity or implicit_position is another than the model's",
                     "the scene the model was made from");
  auto full =
      std::make_unique<Substitute>(full_model(arguments, model, scene, settings), scene, arguments.full, duration);
  const Robot& robot = full->model.robot;
  const auto same = [](const Effector& one, const Effector& other) { return one.name == other.name; };
  if (names_of(inputs_of(robot)) != names_of(inputs_of(model.robot)) ||
      !std::ranges::equal(robot.effectors, model.robot.effectors, same))
    throw InputError("--full: the scene's robot has other inputs or effectors than the model's",
                     "the scene the model was made from");
  check_settle(arguments.session, full->model);
  return full;
}

// A GPU was asked for by name; `auto` is the CPU.
Device device_of(const Context& context) {
  return context.common.device == "auto" ? cpu() : parse_device(context.common.device);
}

// What goes along with the run, of those that were asked for.
const char* beside_of(const Arguments& arguments) {
  return arguments.compare.empty() ? "--estimate" : "--compare";
}

void check_limit(const Arguments& arguments) {
  if (arguments.limit && arguments.estimate.empty())
    throw InputError("--limit is one of the estimated error", "--estimate FINER, a model with more modes");
  if (!arguments.full.empty() && !arguments.limit)
    throw InputError("--full takes over where the estimated error passes a limit", "--estimate FINER --limit \"1 mm\"");
  if (!arguments.full.empty() && !arguments.compare.empty())
    throw InputError("--compare runs the full model anyway", "--full or --compare");
  if (!arguments.full.empty() && !arguments.session.resume.empty())
    throw InputError("--full does not go with --resume: the full model begins where the run begins",
                     "a run from its beginning");
}

void check_batch(const Arguments& arguments, int robots) {
  if (robots > 1 && (!arguments.compare.empty() || !arguments.estimate.empty()))
    throw InputError(fmt::format("{} goes with one robot only", beside_of(arguments)), "leave --batch out");
  const SessionArguments& session = arguments.session;
  if (!session.record_robot) return;
  if (session.record.empty()) throw InputError("--record-robot goes with --record FILE", "leave it out");
  if (*session.record_robot >= robots)
    throw InputError(fmt::format("--record-robot: there is no robot {} in a batch of {} (the first is robot 0)",
                                 *session.record_robot, robots),
                     fmt::format("0 to {}", robots - 1));
}

int run_model(Context& context, Arguments& arguments) {
  check_json_target(context);
  SessionArguments& session = arguments.session;
  if (session.stream && (!arguments.compare.empty() || !arguments.estimate.empty()))
    throw InputError(
        fmt::format("{} does not go with --stdin (each line is a step of one robot)", beside_of(arguments)),
        "leave it out");
  if (session.actuation.empty() && session.assignments.empty() && session.resume.empty() && !session.sweep &&
      !session.stream)
    session.sweep = session.settle = true;
  check_limit(arguments);
  SessionPlan plan = plan_session(context, arguments.session, "run", "MODEL");
  if (plan.saved) {
    session.batch = plan.saved->state.robots;
    if (!arguments.compare.empty())
      throw InputError("--compare does not go with --resume", "compare a run from its beginning");
  }
  const int robots = static_cast<int>(session.batch.value_or(1));
  check_batch(arguments, robots);
  ReducedModel model = read_model(plan.model);
  take_changes(session.changes, model);
  if (!context.common.quiet) print_warning(distrust(model));
  print_change_notes(context, session.changes, model.robot);
  const MechanicsTeam team(model, robots,
                           session.keep_tangent ? MechanicsTeam::Members::robots : MechanicsTeam::Members::threads);
  DriveSettings settings;
  settings.integrator = plan.integrator ? integrator_of(*plan.integrator) : model.robot.integrator;
  settings.time_step = plan.time_step.value_or(model.robot.time_step);
  const double duration = smooth_path_covering_steps * settings.time_step;
  const Subject subject{team,
                        "run",
                        model.robot.name,
                        plan.model,
                        with_changes(hash_file(plan.model), model.robot),
                        duration,
                        reduced_shape_writer(model),
                        reduced_skin(model),
                        &model,
                        device_of(context)};
  if (session.stream) return converse(context, session, plan, subject, settings);
  Trajectory reduced;
  std::size_t reduced_steps = 0;
  std::function<void(long, const State&)> after;
  Estimates estimates = open_estimates(arguments, model);
  const std::unique_ptr<Substitute> substitute = open_substitute(arguments, model, settings, duration);
  if (!arguments.compare.empty() || estimates.estimator)
    after = [&](long step, const State& state) {
      if (!arguments.compare.empty()) reduced.push_back({state.q, state.motions});
      ++reduced_steps;
      if (estimates.estimator) take_estimate(step, plan.last, state, model.robot, arguments.limit, estimates);
    };
  SessionResult result;
  const Subject* answers = &subject;
  try {
    result = perform(context, arguments.session, plan, subject, settings, after);
  } catch (const RunError& error) {
    if (!substitute || !(estimates.passed || plan.step_failed)) throw;
    if (!context.common.quiet)
      print_note(fmt::format("{}: the full model takes over, from the beginning of the run", error.what()));
    answers = &substitute->subject;
    result = perform(context, arguments.session, plan, *answers, settings);
  }

  nlohmann::ordered_json json = session_json(context, *answers, result);
  json["model"] = plan.model;
  json["modes"] = model.modes;
  json["model_errors"] = errors_json(model.errors);
  json["warning"] = distrust(model);
  if (arguments.limit) json["answered_by"] = answers == &subject ? "reduced model" : "full model";
  if (estimates.estimator) json["estimated_errors"] = estimates_json(model.robot, estimates, reduced_steps);
  std::optional<Comparison> comparison;
  if (!arguments.compare.empty()) {
    comparison = compare_with_full(full_model(arguments, model, read_scene(arguments.compare), result.settings), model,
                                   result, reduced, session.settle, context.common.quiet);
    json.update(comparison_json(*comparison));
  }
  write_json(context, json);
  if (!context.common.quiet) {
    print_session(plan, *answers, result);
    if (comparison)
      print_comparison(*comparison, context.common.threads);
    else if (answers == &subject)
      fmt::print("model's errors: {}\n", errors_text(model));
    if (estimates.estimator) print_estimates(model.robot, estimates, reduced_steps);
  }
  throw_failures(plan, result);
  return 0;
}

}  // namespace

Command run_command() {
  Command command;
  command.name = "run";
  command.description = "simulate a reduced model, alone or beside the full one";
  command.examples =
      "  supple run diamond.rom.h5 --set north=\"20 mm\" --duration \"2 s\"\n"
      "  supple run diamond.rom.h5 --actuation commands.csv -o /tmp/diamond\n"
      "  supple run diamond.rom.h5 --actuation commands.csv --compare assets/diamond\n"
      "  supple run diamond.rom.h5 --sweep --estimate finer.rom.h5 --limit \"1 mm\" --full assets/diamond\n"
      "  supple run diamond.rom.h5 --stdin\n"
      "  supple run diamond.rom.h5 --batch 1024 --steps 100 --json speed.json\n"
      "  supple run diamond.rom.h5 --batch 4096 --device cuda:0 --actuation robots.csv -o /tmp/diamonds\n"
      "\n"
      "A file of commands is one as for `supple simulate`. Without commands the robot settles and then sweeps\n"
      "smoothly through its inputs' ranges (--settle --sweep). In a batch a column `robot` holds the index of the\n"
      "robot that a line is for, from 0; without that column all robots have the same commands. trajectory.csv has\n"
      "such a column too. A robot that fails leaves the run at that step and is named at the end; the others "
      "continue.\n";
  command.examples += stream_words;
  command.examples += rate_words;
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("MODEL", arguments->session.model, "file of `supple reduce`", false);
    declare_session(options, arguments->session, "model",
                    fmt::format("{} steps, in which --sweep takes every input through all of its range",
                                smooth_path_covering_steps));
    options.whole("--batch", arguments->session.batch, 1, most_robots, "N",
                  "so many robots at once; a column `robot` in the file of commands gives each its own");
    options.whole("--record-robot", arguments->session.record_robot, 0, most_robots - 1, "I",
                  "of a batch: index of the robot that --record records (0)");
    options.text("--compare", arguments->compare, "SCENE", "run the full model too and measure the errors");
    options.text(
        "--estimate", arguments->estimate, "FINER",
        "estimate the error at the effectors along the run, by a model of the same scene and snapshots with more "
        "modes");
    options.quantity(
        "--limit", arguments->limit, Dimension::length, "LENGTH",
        "with --estimate, then as often as takes the time of the steps: the run ends where the estimated error of "
        "an effector is above that, or is not found");
    options.text(
        "--full", arguments->full, "SCENE",
        "with --limit: there, or where a step of the model fails, the full model takes over, and the results are its "
        "own, from the beginning of the run");
    return [arguments](Context& context) { return run_model(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

// supple run: a reduced model, step by step; one robot or many.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

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
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  SessionArguments session;
  std::string compare, estimate;
};

// Estimates of the error along a run.
struct Estimates {
  std::unique_ptr<ReducedModel> finer;
  std::unique_ptr<ErrorEstimator> estimator;
  std::vector<double> times;
  std::vector<std::vector<double>> sizes;  // [estimates][effectors] m
};

Estimates open_estimates(const Arguments& arguments, const ReducedModel& model) {
  Estimates estimates;
  if (arguments.estimate.empty()) return estimates;
  estimates.finer = std::make_unique<ReducedModel>(read_model(arguments.estimate));
  take_changes(arguments.session.changes, *estimates.finer);
  estimates.estimator = std::make_unique<ErrorEstimator>(model, *estimates.finer);
  return estimates;
}

void take_estimate(const State& state, Estimates& estimates) {
  if (!estimates.estimator->after_step(state)) return;
  const ErrorEstimator::Estimate& newest = *estimates.estimator->newest();
  estimates.times.push_back(newest.time);
  std::vector<double>& sizes = estimates.sizes.emplace_back();
  for (std::size_t e = 0; e < newest.error.size(); e += 3)
    sizes.push_back(std::hypot(newest.error[e], newest.error[e + 1], newest.error[e + 2]));
}

nlohmann::ordered_json estimates_json(const Robot& robot, const Estimates& estimates) {
  nlohmann::ordered_json json{{"every_steps", estimates.estimator->steps_between()},
                              {"not_found", estimates.estimator->failed()},
                              {"time", estimates.times},
                              {"effectors", nlohmann::ordered_json::object()}};
  for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
    std::vector<double> own;
    for (const std::vector<double>& sizes : estimates.sizes) own.push_back(sizes[e]);
    json["effectors"][robot.effectors[e].name] = own;
  }
  return json;
}

// Mean and largest of each effector.
void print_estimates(const Robot& robot, const Estimates& estimates) {
  const std::size_t count = estimates.sizes.size();
  const int failed = estimates.estimator->failed();
  for (std::size_t e = 0; e < robot.effectors.size() && count > 0; ++e) {
    double sum = 0, largest = 0;
    for (const std::vector<double>& sizes : estimates.sizes) {
      sum += sizes[e];
      largest = std::max(largest, sizes[e]);
    }
    fmt::print("estimated error of '{}': {} on average, {} at most ({} estimates, one in {} steps)\n",
               robot.effectors[e].name, format_quantity(sum / static_cast<double>(count), Dimension::length),
               format_quantity(largest, Dimension::length), count, estimates.estimator->steps_between());
  }
  if (failed > 0)
    print_warning(
        fmt::format("{} of {} estimates were not found: there the finer model has no equilibrium near the "
                    "robot, and its error is not known",
                    failed, failed + static_cast<int>(count)));
}

// Both runs along the same commands. Throws InputError if the scene has other effectors or inputs.
Comparison compare(Context& context, const Arguments& arguments, const ReducedModel& model, const SessionResult& result,
                   const Trajectory& reduced) {
  Scene scene = read_scene(arguments.compare);
  scene.integrator = result.settings.integrator;
  scene.time_step = result.settings.time_step;
  scene.implicit_velocity = model.robot.implicit_velocity;
  scene.implicit_position = model.robot.implicit_position;
  FullModel full = build_full_model(scene);
  take_changes(arguments.session.changes, full);
  if (identify(scene).mesh != model.provenance.mesh_hash)
    print_note("the model was made from another mesh than the scene's: its errors include that difference");
  return compare_with_full(full, model, result, reduced, arguments.session.settle, context.common.quiet);
}

// A GPU was asked for by name; `auto` is the CPU.
Device device_of(const Context& context) {
  return context.common.device == "auto" ? cpu() : parse_device(context.common.device);
}

// What goes along with the run, of those that were asked for.
const char* beside_of(const Arguments& arguments) {
  return arguments.compare.empty() ? "--estimate" : "--compare";
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
  const Subject subject{team,
                        "run",
                        model.robot.name,
                        plan.model,
                        with_changes(hash_file(plan.model), model.robot),
                        smooth_path_covering_steps * settings.time_step,
                        reduced_shape_writer(model),
                        reduced_skin(model),
                        &model,
                        device_of(context)};
  if (session.stream) return converse(context, session, plan, subject, settings);
  Trajectory reduced;
  std::function<void(long, const State&)> after;
  Estimates estimates = open_estimates(arguments, model);
  if (!arguments.compare.empty() || estimates.estimator)
    after = [&](long, const State& state) {
      if (!arguments.compare.empty()) reduced.push_back({state.q, state.motions});
      if (estimates.estimator) take_estimate(state, estimates);
    };
  const SessionResult result = perform(context, arguments.session, plan, subject, settings, after);

  nlohmann::ordered_json json = session_json(context, subject, result);
  json["model"] = plan.model;
  json["modes"] = model.modes;
  json["model_errors"] = errors_json(model.errors);
  json["warning"] = distrust(model);
  if (estimates.estimator) json["estimated_errors"] = estimates_json(model.robot, estimates);
  std::optional<Comparison> comparison;
  if (!arguments.compare.empty()) {
    comparison = compare(context, arguments, model, result, reduced);
    json.update(comparison_json(*comparison));
  }
  write_json(context, json);
  if (!context.common.quiet) {
    print_session(plan, subject, result);
    if (comparison)
      print_comparison(*comparison, context.common.threads);
    else
      fmt::print("model's errors: {}\n", errors_text(model));
    if (estimates.estimator) print_estimates(model.robot, estimates);
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
    return [arguments](Context& context) { return run_model(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

// supple reduce: a scene to a reduced model, with its errors on unseen actuation.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/cost_facts.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/reports/reduction_facts.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/reduce_world.hpp"
#include "engine/cli/verbs/snapshot_folder.hpp"
#include "engine/io/model_file.hpp"
#include "engine/measure/mesh_error.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/plots.hpp"
#include "engine/reduction/recipe.hpp"
#include "engine/reduction/snapshots/sweep_increment.hpp"
#include "engine/reduction/strains/solid_strains.hpp"
#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string scene, output, snapshots, plots, batch, solver, solids;
  std::optional<long> jobs, modes, elements;
  std::optional<double> error, tolerance, modes_tolerance, seconds;
  bool accept_errors = false;
};

void print_report(const Reduction& reduction, const std::string& warning) {
  const ReduceReport& report = reduction.report;
  const ReducedModel& model = reduction.model;
  // Hexahedra have more points than there are of them.
  const bool points = std::ranges::any_of(report.table, [](const ModelRow& row) { return row.points != row.elements; });
  std::vector<std::string> head{"model", "modes", "elements"};
  if (points) head.emplace_back("points");
  head.insert(head.end(), {"goal error", "largest"});
  for (const ErrorSummary::Set& set : model.errors.sets) head.push_back(set.name + " error");
  for (const char* title : {"shape error", "largest", "steps/s", "p99 us"}) head.push_back(title);
  std::vector<std::size_t> numbers;
  for (std::size_t k = 1; k < head.size(); ++k) numbers.push_back(k);
  std::vector<std::vector<std::string>> rows{head};
  for (const ModelRow& row : report.table) {
    const bool full = row.modes == 0;
    const auto error = [&](double value) { return full ? std::string("-") : percent(value); };
    std::vector<std::string> line{
        row.label, full ? "-" : fmt::format("{}", row.modes),
        full ? fmt::format("{}", model.provenance.elements) : forces_of(row.elements, row.strain_modes)};
    if (points) line.push_back(full ? "-" : fmt::format("{}", row.points));
    line.push_back(error(row.errors.goal_mean));
    line.push_back(error(row.errors.goal_max));
    for (std::size_t k = 0; k < model.errors.sets.size(); ++k)
      line.push_back(full ? "-" : percent(row.errors.sets[k].mean));
    const bool ok = row.rate.status == StepStatus::ok;
    for (const std::string& text : {error(row.errors.shape_mean), error(row.errors.shape_max),
                                    ok ? fmt::format("{:.4g}", row.rate.steps_per_s) : std::string("failed"),
                                    ok ? fmt::format("{:.4g}", row.rate.p99_us) : std::string("-")})
      line.push_back(text);
    rows.push_back(std::move(line));
  }
  fmt::print("{}", format_table(rows, numbers));
  fmt::print("errors on {} unseen {}; steps on one thread\n", model.errors.states,
             shaken_in_time(model.robot) ? "time steps under actuation" : "equilibria under actuation");
  if (!report.dynamic.failed)
    fmt::print("driven along an unseen path: goal error {} on average, {} at most\n", percent(report.dynamic.goal_mean),
               percent(report.dynamic.goal_max));
  for (const std::string& note : report.notes) print_note(note);
  print_warning(failed_states_text(model.errors));
  // A rejected model has its error at the end.
  if (report.refused.empty() || !model.provenance.forced.empty()) print_warning(warning);
}

// What the mesh adds to the model's own error, which is that beside the full model on the same mesh.
void report_mesh_error(const Scene& scene, const FullModel& model, const ErrorSummary& own, bool quiet,
                       nlohmann::ordered_json& json) {
  std::string why_not = no_mesh_error(model);
  MeshError estimate;
  try {
    if (why_not.empty()) estimate = estimate_mesh_error(scene, model);
    if (why_not.empty() && estimate.loads.empty()) why_not = "the body is free-floating, or nothing loads it";
  } catch (const Error& error) {  // the model is there: nothing that goes wrong here loses it
    why_not = error.what();
  }
  json["mesh_error"] = nullptr;
  json["total_error"] = nullptr;
  if (!why_not.empty()) {
    if (!quiet) fmt::print("the mesh's own error is not estimated: {}\n", why_not);
    return;
  }
  const MeshError::Load& worst = estimate.worst();
  const double total = worst.counts + own.goal_mean;
  json["mesh_error"] = worst.counts;
  json["total_error"] = total;
  if (!quiet)
    fmt::print("the mesh's own error: about {} at rest, beside {} ({} unknowns); with the model's {} up to {} in all\n",
               worst.in_words(), estimate.finer, estimate.unknowns, percent(own.goal_mean), percent(total));
}

void check_tolerance(const char* option, const std::optional<double>& tolerance) {
  if (tolerance && !(*tolerance > 0 && *tolerance < 1))
    throw InputError(fmt::format("{}: {:g} is not between 0 and 1", option, *tolerance),
                     fmt::format("{} 0.01", option));
}

void refuse_for_several(const Arguments& arguments) {
  const std::pair<bool, const char*> others[] = {{!arguments.snapshots.empty(), "--snapshots"},
                                                 {!arguments.plots.empty(), "--plots"},
                                                 {!arguments.batch.empty(), "--batch"},
                                                 {!arguments.solver.empty(), "--solver"},
                                                 {!arguments.solids.empty(), "--solids"},
                                                 {arguments.jobs.has_value(), "--jobs"},
                                                 {arguments.elements.has_value(), "--elements"},
                                                 {arguments.tolerance.has_value(), "--tolerance"},
                                                 {arguments.modes_tolerance.has_value(), "--modes-tolerance"},
                                                 {arguments.seconds.has_value(), "--seconds"}};
  for (const auto& [given, name] : others)
    if (given)
      throw InputError(fmt::format("{} does not go with a scene of several bodies", name),
                       "--error, --modes and --seed do, and [reduce] of the scene");
}

int reduce_scene(Context& context, const Arguments& arguments) {
  check_json_target(context);
  check_tolerance("--tolerance", arguments.tolerance);
  check_tolerance("--modes-tolerance", arguments.modes_tolerance);
  check_tolerance("--error", arguments.error);
  if (is_assembly(arguments.scene)) {
    refuse_for_several(arguments);
    return reduce_world(context, {.scene = arguments.scene,
                                  .output = arguments.output,
                                  .error = arguments.error,
                                  .modes = arguments.modes,
                                  .accept_errors = arguments.accept_errors});
  }
  Scene scene = read_scene(arguments.scene);
  ReductionScene& recipe = scene.reduction;
  const auto count = [](const std::optional<long>& number) {
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
  };
  change_recipe(recipe, {.error = arguments.error,
                         .tolerance = arguments.tolerance,
                         .modes_tolerance = arguments.modes_tolerance,
                         .modes = count(arguments.modes),
                         .elements = count(arguments.elements),
                         .solids = arguments.solids,
                         .seed = context.common.seed});
  check_reducible(scene);
  const std::string output = arguments.output.empty() ? scene.name + ".rom.h5" : arguments.output;
  check_target("-o", output);
  refuse_existing(output, context.common.force);
  std::error_code error;
  if (!arguments.plots.empty() && fs::exists(arguments.plots, error) && !fs::is_directory(arguments.plots, error))
    throw InputError(fmt::format("--plots: '{}' is a file, not a folder", arguments.plots), "another name");
  const FullModel model = build_full_model(scene);
  ReduceSettings settings;
  // States that are there are used if they are this scene's, and never replaced: they are what took the time.
  settings.snapshots.folder = arguments.snapshots.empty() ? default_snapshots(output) : arguments.snapshots;
  settings.snapshots.jobs = static_cast<int>(arguments.jobs.value_or(1));
  settings.snapshots.program = this_program();
  settings.snapshots.ranks = context.ranks;
  settings.snapshots.batch = parse_state_batch(context, arguments.batch, arguments.solver);
  check_jobs(context, settings.snapshots.jobs);
  settings.rate_seconds = arguments.seconds.value_or(settings.rate_seconds);
  settings.fastest_solids = arguments.solids == "fastest";

  // Before the snapshots, which are what takes the time.
  const std::string unsettled = unsettled_sweep(model, recipe);
  if (!context.common.quiet && context.ranks.rank == 0) print_warning(unsettled);

  std::optional<ReductionCost> expected;
  if (context.ranks.rank == 0) expected = expected_cost(model, scene, settings.snapshots, settings.rate_seconds);
  const bool fits = (recipe.solids == FieldForm::strains || settings.fastest_solids) && no_solid_strains(model).empty();
  if (expected && !context.common.quiet)
    fmt::print(stderr, "expected: {}{}\n", cost_text(*expected),
               fits ? "; and half a minute to two minutes to fit strain modes" : "");

  const InterruptGuard guard;
  Reduction reduction;
  try {
    ProgressBar bar(context.common.quiet);
    reduction = reduce(scene, model, settings, bar.progress());
  } catch (const Interrupted&) {
    std::string words = program_of(context);
    for (const std::string& argument : context.arguments) words += fmt::format(" {}", shell_quoted(argument));
    throw Interrupted(fmt::format("interrupted, finished states are in '{}'", settings.snapshots.folder),
                      words + " (continues)");
  }
  if (context.ranks.rank > 0) return 0;
  note_failures(reduction.report);
  recipe.solids = reduction.solids;  // what helps depends on it
  const bool forced = reduction.report.forcible && arguments.accept_errors;
  if (forced) reduction.model.provenance.forced = reduction.report.refused;
  const std::string warning = error_warning(reduction.model.errors, recipe);
  nlohmann::ordered_json json = reduction_json(reduction, warning);
  json.update(machine_facts(context, to_string(settings.snapshots.batch.device)));
  json["sweep_warning"] = unsettled;
  if (expected) json["expected"] = cost_json(*expected);
  json["jobs"] = settings.snapshots.jobs;
  if (!arguments.batch.empty()) json["batch"] = arguments.batch;
  json["ranks"] = settings.snapshots.ranks.size;
  json["file"] = output;
  if (!context.common.quiet) print_report(reduction, warning);
  // The model first: nothing that goes wrong after it loses the work.
  const bool refused = !reduction.report.refused.empty() && !forced;
  if (!refused) write_model(reduction.model, output);
  report_mesh_error(scene, model, reduction.model.errors, context.common.quiet, json);
  write_json(context, json);
  if (!arguments.plots.empty()) {
    const Plots plots = write_plots(reduction.report, scene.name, arguments.plots);
    if (!plots.note.empty() && !context.common.quiet) print_note(plots.note);
  }
  if (refused)
    throw refusal_of(reduction.report, recipe, settings.snapshots.folder,
                     "--accept-errors writes this model all the same");
  if (!context.common.quiet)
    fmt::print("written to {}{} in {}; states in {}\n", output, forced ? " by --accept-errors" : "",
               format_duration(reduction.report.seconds.total), settings.snapshots.folder);
  return 0;
}

}  // namespace

Command reduce_command() {
  Command command;
  command.name = "reduce";
  command.description = "make a reduced model of a scene and measure its errors";
  command.examples =
      "  supple reduce assets/diamond -o diamond.rom.h5 --jobs 4\n"
      "  supple reduce assets/diamond --snapshots diamond.snapshots --tolerance 0.01 -o finer.rom.h5\n";
  command.examples +=
      "\nA scene that specifies no states, modes or elements asks for a mean error of 1 %, as --error does; modes and\n"
      "elements are added until the model has it. With states, modes or elements of your own a mean error above 5 % "
      "is\n"
      "a warning, and above 25 % an error. A model that misses is not written (exit code 1), unless --accept-errors "
      "is\n"
      "given: it is marked then, and `info`, `run` and `inverse` report that.\n"
      "A limit of the scene (goal_error_limit, shape_error_limit) holds with --accept-errors too.\n";
  command.examples += rate_words;
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("SCENE", arguments->scene, "scene file, or a folder with a scene.toml");
    options.text(
        "-o,--output", arguments->output, "FILE",
        "the model; without it NAME.rom.h5. Of several bodies a folder with a model for each kind of part and a\n"
        "scene of these; without it NAME.reduced");
    options.text("--snapshots", arguments->snapshots, "DIR",
                 "states of `supple snapshots`; what is missing is computed; without it NAME.snapshots");
    options.text("--plots", arguments->plots, "DIR", "curves as CSV, gnuplot scripts and pictures");
    options.whole("--jobs", arguments->jobs, 1, std::numeric_limits<int>::max(), "N",
                  "worker processes for the states");
    options.text("--batch", arguments->batch, "B", batch_words);
    options.text("--solver", arguments->solver, "NAME", solver_words);
    options.quantity(
        "--error", arguments->error, Dimension::number, "E",
        "mean error that the model may have on unseen states, \"1 %\": as many modes as that takes, instead of "
        "the scene's");
    options.quantity("--tolerance", arguments->tolerance, Dimension::number, "T",
                     "of the reduced integration domain, instead of the scene's");
    options.quantity("--modes-tolerance", arguments->modes_tolerance, Dimension::number, "T",
                     "of the modes, instead of the scene's");
    options.whole("--elements", arguments->elements, 1, std::numeric_limits<int>::max(), "N",
                  "exactly so many elements, or points of hexahedra");
    options.whole("--modes", arguments->modes, 1, std::numeric_limits<int>::max(), "N", "at most so many modes");
    options.text(
        "--solids", arguments->solids, "FORM",
        "forces of some of the elements, or of modes of the strains, instead of the scene's: elements, strains, or "
        "fastest: both are made, and the one of less arithmetic a step is taken");
    options.quantity("--seconds", arguments->seconds, Dimension::time, "TIME", "measuring time of each rate (1 s)");
    options.flag("--accept-errors", arguments->accept_errors, "write a model whose errors are too large, and mark it");
    return [arguments](Context& context) { return reduce_scene(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

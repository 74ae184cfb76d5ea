#include "engine/cli/verbs/reduce_world.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/io/model_file.hpp"
#include "engine/reduction/world_reduction.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

std::string percent(double fraction) {
  return fmt::format("{:.3g} %", 100 * fraction);
}

const WorldRow& taken(const WorldReduction& reduction) {
  return reduction.rows[static_cast<std::size_t>(reduction.taken)];
}

nlohmann::ordered_json errors_json(const ErrorSummary& errors) {
  return {{"states", errors.states},
          {"failed", errors.failed},
          {"goal_error_mean", errors.goal_mean},
          {"goal_error_median", errors.goal_median},
          {"goal_error_max", errors.goal_max},
          {"shape_error_mean", errors.shape_mean},
          {"shape_error_median", errors.shape_median},
          {"shape_error_max", errors.shape_max}};
}

nlohmann::ordered_json world_json(const WorldReduction& reduction) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < reduction.kinds.size(); ++k)
    json["parts"].push_back({{"scene", reduction.kinds[k].scene},
                             {"file", reduction.kinds[k].file},
                             {"modes", taken(reduction).modes[k]},
                             {"elements", taken(reduction).elements[k]}});
  json["states"] = reduction.states;
  json["failed_states"] = reduction.failed_states;
  json["validation"] = errors_json(taken(reduction).errors);
  for (const WorldRow& row : reduction.rows)
    json["rounds"].push_back({{"modes", row.modes}, {"elements", row.elements}, {"errors", errors_json(row.errors)}});
  json["speed"] = {{"fom_steps_per_s", reduction.full.steps_per_s},
                   {"hrom_steps_per_s", reduction.reduced.steps_per_s}};
  json["seconds"] = {{"total", reduction.seconds}};
  json["notes"] = reduction.notes;
  return json;
}

void print_world(const WorldReduction& reduction) {
  std::vector<std::vector<std::string>> rows{
      {"model", "modes", "elements", "goal error", "largest", "shape error", "largest"}};
  std::vector<std::size_t> numbers{3, 4, 5, 6};
  for (std::size_t r = 0; r < reduction.rows.size(); ++r) {
    const WorldRow& row = reduction.rows[r];
    rows.push_back({static_cast<int>(r) == reduction.taken ? "taken" : "tried",
                    fmt::format("{}", fmt::join(row.modes, ", ")), fmt::format("{}", fmt::join(row.elements, ", ")),
                    percent(row.errors.goal_mean), percent(row.errors.goal_max), percent(row.errors.shape_mean),
                    percent(row.errors.shape_max)});
  }
  fmt::print("{}", format_table(rows, numbers));
  fmt::print("errors of the whole on {} unseen equilibria{}; {} training states\n", taken(reduction).errors.states,
             taken(reduction).errors.failed > 0
                 ? fmt::format(" ({} of which the reduced one did not find)", taken(reduction).errors.failed)
                 : "",
             reduction.states);
  const auto rate = [](const Rate& of) {
    return of.status == StepStatus::ok ? fmt::format("{:.4g} steps/s", of.steps_per_s) : std::string("failed");
  };
  fmt::print("one step after the other on one thread: full {}, reduced {} (99 % below {})\n", rate(reduction.full),
             rate(reduction.reduced), format_quantity(1e-6 * reduction.reduced.p99_us, Dimension::time));
  for (const std::string& note : reduction.notes) print_note(note);
}

}  // namespace

int reduce_world(Context& context, const WorldArguments& arguments) {
  AssemblyScene scene = read_assembly(arguments.scene);
  WorldRecipe recipe = scene.reduction;
  recipe.error = arguments.error.value_or(recipe.error);
  if (arguments.modes) recipe.max_modes = static_cast<int>(*arguments.modes);
  if (context.common.seed) recipe.seed = static_cast<std::uint64_t>(*context.common.seed);
  const std::string output = arguments.output.empty() ? scene.name + ".reduced" : arguments.output;
  if (output.ends_with(".h5"))
    throw InputError(fmt::format("-o: '{}' is a file name, and several bodies become a folder", output),
                     fmt::format("-o {}.reduced", scene.name));
  const fs::path target = output, work = fmt::format("{}.part-{}", output, ::getpid());
  std::error_code ignored;
  if (fs::exists(target, ignored) && !fs::is_directory(target, ignored))
    throw InputError(fmt::format("-o: '{}' is a file, not a folder", output), "another name");
  if (fs::exists(target, ignored) && fs::equivalent(target, fs::absolute(scene.file).parent_path(), ignored))
    throw InputError(fmt::format("-o: '{}' is the folder of the scene itself", output), "another folder");
  if (fs::exists(target, ignored) && !fs::is_empty(target, ignored)) refuse_existing(output, context.common.force);
  try {
    fs::create_directories(work);
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("-o: '{}' cannot be made ({})", output, error.code().message()), "another folder");
  }
  const InterruptGuard guard;
  WorldReduction reduction;
  try {
    ProgressBar bar(context.common.quiet);
    reduction = supple::reduce_world(scene, recipe, work.string(), bar.progress());
  } catch (...) {
    fs::remove_all(work, ignored);
    throw;
  }
  fs::remove_all(work, ignored);
  const bool refused = !reduction.reached && !arguments.accept_errors;
  nlohmann::ordered_json json = world_json(reduction);
  json.update(machine_facts(context, "cpu"));
  json["folder"] = output;
  if (!context.common.quiet) print_world(reduction);
  if (!refused) {
    fs::create_directories(target);
    for (const WorldReduction::Kind& kind : reduction.kinds) write_model(kind.model, (target / kind.file).string());
    std::ofstream file(target / "scene.toml");
    file << world_scene_text(scene, reduction, output);
    if (!file.flush())
      throw RunError(fmt::format("'{}' cannot be written", (target / "scene.toml").string()), "another disk");
  }
  write_json(context, json);
  const double worst = taken(reduction).error();
  if (refused)
    throw RunError(fmt::format("the reduced parts miss by {} on average, {} were asked for", percent(worst),
                               percent(recipe.error)),
                   "states = ... of [reduce], more than now; smaller ranges of the inputs; --error; --accept-errors "
                   "writes them all the same");
  if (!context.common.quiet)
    fmt::print("written to {} in {}: scene.toml and {} model{}\n", output, format_duration(reduction.seconds),
               reduction.kinds.size(), reduction.kinds.size() == 1 ? "" : "s");
  return 0;
}

}  // namespace supple::cli

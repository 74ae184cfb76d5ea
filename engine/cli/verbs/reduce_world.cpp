#include "engine/cli/verbs/reduce_world.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/reports/world_facts.hpp"
#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/reduction/world_reduction.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

void print_world(const WorldReduction& reduction, const WorldRecipe& recipe) {
  std::vector<std::vector<std::string>> rows{
      {"model", "modes", "elements", "goal error", "largest", "shape error", "largest"}};
  std::vector<std::size_t> numbers{3, 4, 5, 6};
  const bool touching = !reduction.row().errors.sets.empty();
  if (touching) {
    rows[0].insert(rows[0].end(), {"force error", "largest"});
    numbers.insert(numbers.end(), {7, 8});
  }
  for (std::size_t r = 0; r < reduction.rows.size(); ++r) {
    const WorldRow& row = reduction.rows[r];
    rows.push_back({static_cast<int>(r) == reduction.taken ? "taken" : "tried",
                    fmt::format("{}", fmt::join(row.modes, ", ")), fmt::format("{}", fmt::join(row.elements, ", ")),
                    percent(row.errors.goal_mean), percent(row.errors.goal_max), percent(row.errors.shape_mean),
                    percent(row.errors.shape_max)});
    if (touching) rows.back().insert(rows.back().end(), {percent(row.force_mean), percent(row.force_max)});
  }
  fmt::print("{}", format_table(rows, numbers));
  fmt::print("errors of the whole {} {}{}; {} training states\n",
             recipe.along.file.empty() ? "on unseen equilibria:" : "along unseen variations of the commands, states:",
             reduction.row().errors.states,
             reduction.row().errors.failed > 0
                 ? fmt::format(" ({} of which the reduced one did not find)", reduction.row().errors.failed)
                 : "",
             reduction.states);
  const auto rate = [](const Rate& of) {
    return of.status == StepStatus::ok ? fmt::format("{:.4g} steps/s", of.steps_per_s) : std::string("failed");
  };
  fmt::print("one step after the other on one thread: full {}, reduced {} (99 % below {})\n", rate(reduction.full),
             rate(reduction.reduced), format_quantity(1e-6 * reduction.reduced.p99_us, Dimension::time));
  if (!recipe.along.file.empty())
    fmt::print("along the commands the reduced robot is {:.3g} times as fast as real time\n",
               reduction.reduced.realtime_factor);
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
  if (!context.common.quiet) print_world(reduction, recipe);
  if (!refused) write_world(scene, reduction, output);
  write_json(context, json);
  if (refused) throw refusal_of(reduction, recipe, "--accept-errors writes them all the same");
  if (!context.common.quiet)
    fmt::print("written to {} in {}: scene.toml and {} model{}\n", output, format_duration(reduction.seconds),
               reduction.kinds.size(), reduction.kinds.size() == 1 ? "" : "s");
  return 0;
}

}  // namespace supple::cli

// supple snapshots: the full-order states a reduction is trained on.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/snapshot_folder.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/sweep_increment.hpp"
#include "engine/scene/reader.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  std::string scene, output, shard, batch, solver;
  std::optional<long> jobs;
  bool resume = false, with_validation = false, worker = false;
};

void parse_shard(const std::string& text, SnapshotJob& job) {
  const auto slash = text.find('/');
  const auto number = [&](const std::string& digits, int& value) {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return status == std::errc() && end == digits.data() + digits.size();
  };
  if (slash == std::string::npos || !number(text.substr(0, slash), job.shard) ||
      !number(text.substr(slash + 1), job.shards) || job.shards < 1 || job.shard < 0 || job.shard >= job.shards)
    throw InputError(fmt::format("--shard: '{}' is not i/n with 0 <= i < n", text), "--shard 0/4 ... --shard 3/4");
}

void check_combination(const Context& context, const Arguments& arguments, const SnapshotJob& job) {
  const char* part = !arguments.shard.empty() ? "--shard" : arguments.worker ? "--worker" : nullptr;
  if (!arguments.shard.empty() && arguments.worker)
    throw InputError("--shard and --worker do not go together (a fixed part, or what no other process computes)",
                     "one of them");
  if (part && context.common.force)
    throw InputError(
        fmt::format("--force and {} do not go together (one would delete what the others have done)", part),
        "--resume, or another folder");
  if (part && job.jobs > 1) throw InputError(fmt::format("--jobs and {} do not go together", part), "one of them");
  if (part && context.ranks.size > 1)
    throw InputError(fmt::format("{} is for runs that know nothing of each other (the ranks share all paths)", part),
                     "supple-mpi without it");
  check_jobs(context, job.jobs);
}

int snapshots(Context& context, const Arguments& arguments) {
  check_json_target(context);
  if (arguments.output.empty()) throw InputError("`supple snapshots` needs -o DIR", "supple snapshots --help");
  Scene scene = read_scene(arguments.scene);
  if (context.common.seed) scene.reduction.seed = *context.common.seed;
  check_reducible(scene);
  const FullModel model = build_full_model(scene);
  SnapshotJob job;
  job.folder = arguments.output;
  job.existing = arguments.resume       ? ExistingFolder::resume
                 : context.common.force ? ExistingFolder::replace
                                        : ExistingFolder::refuse;
  job.jobs = static_cast<int>(arguments.jobs.value_or(1));
  job.program = this_program();
  job.with_validation = arguments.with_validation;
  job.worker = arguments.worker;
  job.ranks = context.ranks;
  job.batch = parse_state_batch(context, arguments.batch, arguments.solver);
  if (!arguments.shard.empty()) parse_shard(arguments.shard, job);
  check_combination(context, arguments, job);

  if (!context.common.quiet && !job.worker && context.ranks.rank == 0)
    print_warning(unsettled_sweep(model, scene.reduction));

  const InterruptGuard guard;
  SnapshotTotals totals;
  try {
    ProgressBar bar(context.common.quiet);
    totals = compute_snapshots(model, scene, job, bar.progress());
  } catch (const Interrupted&) {
    std::string words = program_of(context);
    for (const std::string& argument : context.arguments)
      if (argument != "--force") words += fmt::format(" {}", shell_quoted(argument));
    if (!arguments.resume) words += " --resume";
    throw Interrupted(fmt::format("interrupted, finished paths are in '{}'", job.folder), words + " (continues)");
  }
  nlohmann::ordered_json json = machine_facts(context, to_string(job.batch.device));
  json["snapshots"] = totals.states;
  json["failed"] = totals.failed;
  json["out_of_reach"] = totals.short_of;
  json["factorisations"] = totals.factorisations;
  json["seconds"] = totals.seconds;
  json["jobs"] = job.jobs;
  if (!arguments.batch.empty()) json["batch"] = arguments.batch;
  json["ranks"] = job.ranks.size;
  write_json(context, json);
  if (context.common.quiet) return 0;
  if (job.shards > 1 || job.worker) {
    const std::string part = job.worker ? "what was left" : fmt::format("shard {} of {}", job.shard, job.shards);
    fmt::print("{}: {} done in {}\n", scene.name, part, format_duration(totals.seconds));
    if (totals.left > 0) fmt::print("{} paths are being computed by other runs\n", totals.left);
  } else
    fmt::print("{}: {} states in '{}', {} failed, {} out of reach, {} factorisations, {}\n", scene.name, totals.states,
               job.folder, totals.failed, totals.short_of, totals.factorisations, format_duration(totals.seconds));
  if (!totals.locks)
    print_note(
        fmt::format("the file system of '{}' has no locks: runs that share the folder compute everything each; "
                    "--shard divides the work",
                    job.folder));
  return 0;
}

}  // namespace

Command snapshots_command() {
  Command command;
  command.name = "snapshots";
  command.description = "compute full-order states to reduce from";
  command.examples =
      "  supple snapshots assets/diamond -o diamond.snapshots --jobs 4\n"
      "  supple snapshots assets/diamond -o diamond.snapshots --batch auto\n"
      "  supple snapshots assets/diamond -o diamond.snapshots --resume\n"
      "  supple snapshots assets/diamond -o diamond.snapshots --resume --shard 3/16\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("SCENE", arguments->scene, "scene file, or a folder with a scene.toml");
    options.text("-o,--output", arguments->output, "DIR", "folder of the states");
    options.whole("--jobs", arguments->jobs, 1, std::numeric_limits<int>::max(), "N",
                  "worker processes on this machine");
    options.text("--batch", arguments->batch, "B", batch_words);
    options.text("--solver", arguments->solver, "NAME", solver_words);
    options.text("--shard", arguments->shard, "I/N", "only the I-th of N parts, counted from 0 (on several machines)");
    options.flag("--worker", arguments->worker,
                 "only what no other run in the folder is computing, without waiting for them");
    options.flag("--resume", arguments->resume, "continue with what is in the folder");
    options.flag("--with-validation", arguments->with_validation, "also the states that a reduction is tested on");
    return [arguments](Context& context) { return snapshots(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

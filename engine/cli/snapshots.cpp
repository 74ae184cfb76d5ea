// supple snapshots: the full-order states a reduction learns from.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/command.hpp"
#include "engine/cli/interrupt.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
#include "engine/cli/progress_bar.hpp"
#include "engine/cli/terminal.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/scene/reader.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  std::string scene, output, shard;
  std::optional<long> jobs;
  bool resume = false, with_validation = false;
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
  job.executable = this_executable();
  job.with_validation = arguments.with_validation;
  if (!arguments.shard.empty()) {
    parse_shard(arguments.shard, job);
    if (context.common.force)
      throw InputError("--force and --shard do not go together (one shard would delete what the others have done)",
                       "--resume, or another folder");
    if (job.jobs > 1) throw InputError("--jobs and --shard do not go together", "one of them");
  }

  const InterruptGuard guard;
  SnapshotTotals totals;
  try {
    ProgressBar bar(context.common.quiet);
    totals = compute_snapshots(model, scene, job, bar.progress());
  } catch (const Interrupted&) {
    std::string words = "supple";
    for (const std::string& argument : context.arguments)
      if (argument != "--force") words += fmt::format(" {}", shell_quoted(argument));
    if (!arguments.resume) words += " --resume";
    throw Interrupted(fmt::format("interrupted, finished paths are in '{}'", job.folder), words + " (goes on)");
  }
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["snapshots"] = totals.states;
  json["failed"] = totals.failed;
  json["factorisations"] = totals.factorisations;
  json["seconds"] = totals.seconds;
  json["jobs"] = job.jobs;
  write_json(context, json);
  if (context.common.quiet) return 0;
  if (job.shards > 1)
    fmt::print("{}: shard {} of {} done in {}\n", scene.name, job.shard, job.shards, format_duration(totals.seconds));
  else
    fmt::print("{}: {} states in '{}', {} failed, {} factorisations, {}\n", scene.name, totals.states, job.folder,
               totals.failed, totals.factorisations, format_duration(totals.seconds));
  return 0;
}

}  // namespace

Command snapshots_command() {
  Command command;
  command.name = "snapshots";
  command.description = "compute full-order states to reduce from";
  command.examples =
      "  supple snapshots assets/diamond -o diamond.snapshots --jobs 4\n"
      "  supple snapshots assets/diamond -o diamond.snapshots --resume\n"
      "  supple snapshots assets/diamond -o diamond.snapshots --resume --shard 3/16\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("SCENE", arguments->scene, "scene file, or a folder with a scene.toml");
    options.text("-o,--output", arguments->output, "DIR", "folder of the states");
    options.whole("--jobs", arguments->jobs, 1, std::numeric_limits<int>::max(), "N",
                  "worker processes on this machine");
    options.text("--shard", arguments->shard, "I/N", "only the I-th of N parts, counted from 0 (on several machines)");
    options.flag("--resume", arguments->resume, "go on with what is in the folder");
    options.flag("--with-validation", arguments->with_validation, "also the states that a reduction is tested on");
    return [arguments](Context& context) { return snapshots(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

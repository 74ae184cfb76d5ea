// supple bench: rates of the built-in robots and of models made from them, each with its error.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/actuation.hpp"
#include "engine/cli/command.hpp"
#include "engine/cli/interrupt.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
#include "engine/cli/progress_bar.hpp"
#include "engine/cli/table.hpp"
#include "engine/cli/terminal.hpp"
#include "engine/dynamics/full_mechanics.hpp"
#include "engine/dynamics/reduced_mechanics.hpp"
#include "engine/reduction/model_file.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t path_seed = 20;  // of the commands that every case follows

struct Arguments {
  std::string wanted, assets = "assets";
  std::vector<std::string> models;
  std::optional<double> seconds;
};

struct Case {
  std::string name, file;
  bool reduced = false;
};

struct Row {
  std::string name;
  int modes = 0, elements = 0;
  std::optional<double> error;  // mean goal error; none: it is the reference itself
  Rate rate;
  std::string unbounded;  // actuator without a finite range: nothing was measured
};

std::vector<Case> find_cases(const Arguments& arguments) {
  std::vector<Case> cases;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(arguments.assets, error)) {
    const fs::path scene = entry.path() / "scene.toml";
    if (fs::exists(scene, error)) cases.push_back({"full/" + entry.path().filename().string(), scene.string(), false});
  }
  for (const std::string& file : arguments.models)
    cases.push_back({"forward/" + read_model(file).robot.name, file, true});
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  if (cases.empty())
    throw InputError(fmt::format("there is nothing to measure (no scenes in '{}', no --model)", arguments.assets),
                     "--assets DIR, the folder of the robots");
  std::vector<std::string> names;
  for (const Case& entry : cases) names.push_back(entry.name);
  std::erase_if(cases, [&](const Case& entry) { return entry.name.find(arguments.wanted) == std::string::npos; });
  if (cases.empty())
    throw InputError(fmt::format("no case is called '{}'", arguments.wanted),
                     fmt::format("{}", fmt::join(names, ", ")));
  return cases;
}

Row measure(const Case& entry, double seconds) {
  Row row{entry.name, 0, 0, {}, {}, {}};
  if (entry.reduced) {
    const ReducedModel model = read_model(entry.file);
    row.modes = model.modes;
    for (const ReducedField& field : model.fields) row.elements += static_cast<int>(field.element.size());
    row.error = model.errors.states > 0 ? model.errors.goal_mean : std::nan("");
    row.unbounded = unbounded_actuator(model.robot);
    if (!row.unbounded.empty()) return row;
    ReducedMechanics mechanics(model);
    row.rate = measure_rate(mechanics, 10'000'000, seconds, path_seed);
  } else {
    const FullModel model = build_full_model(read_scene(entry.file));
    row.elements = model.mesh.element_count();
    row.unbounded = unbounded_actuator(model.robot);
    if (!row.unbounded.empty()) return row;
    FullMechanics mechanics(model);
    row.rate = measure_rate(mechanics, 10'000'000, seconds, path_seed);
  }
  return row;
}

nlohmann::ordered_json row_json(const Context& context, const Row& row) {
  const Rate& rate = row.rate;
  nlohmann::ordered_json json{{"case", row.name}, {"batch", 1}, {"modes", row.modes}, {"elements", row.elements}};
  const bool ok = rate.status == StepStatus::ok;
  const auto number = [&](double value) { return ok ? nlohmann::ordered_json(value) : nlohmann::ordered_json(); };
  json["error"] = row.error ? nlohmann::ordered_json(*row.error) : nlohmann::ordered_json(0.0);
  json.update(nlohmann::ordered_json{{"status", describe(rate.status)},
                                     {"steps", rate.steps},
                                     {"steps_per_s", number(rate.steps_per_s)},
                                     {"p50_us", number(rate.p50_us)},
                                     {"p99_us", number(rate.p99_us)},
                                     {"p999_us", number(rate.p999_us)},
                                     {"stages_us",
                                      {{"outputs", 1e6 * rate.mean.outputs},
                                       {"forces", 1e6 * rate.mean.forces},
                                       {"factor", 1e6 * rate.mean.factor},
                                       {"solve", 1e6 * rate.mean.solve},
                                       {"rows", 1e6 * rate.mean.rows}}},
                                     {"state_hash", hash_hex(rate.state_hash)}});
  json.update(machine_facts(context, "cpu"));
  return json;
}

int bench(Context& context, const Arguments& arguments) {
  check_json_target(context);
  if (context.common.device != "auto" && parse_device(context.common.device).kind == Device::Kind::cuda)
    throw CapabilityError("this build has no case that runs on a GPU", "--device cpu");
  const std::vector<Case> cases = find_cases(arguments);
  auto json = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> table{{"case", "modes", "elements", "error", "steps/s", "median", "99 %"}};
  std::vector<std::string> notes, failures;
  const InterruptGuard guard;
  {
    ProgressBar bar(context.common.quiet);
    for (const Case& entry : cases) {
      bar.update("measuring", static_cast<double>(json.size()), static_cast<double>(cases.size()), entry.name);
      if (interrupted()) throw Interrupted("interrupted, nothing is kept", "--case for one case alone");
      const Row row = measure(entry, arguments.seconds.value_or(2));
      if (!row.unbounded.empty()) {
        notes.push_back(
            fmt::format("{} is left out: '{}' has no finite range to move through", row.name, row.unbounded));
        continue;
      }
      json.push_back(row_json(context, row));
      const bool ok = row.rate.status == StepStatus::ok;
      if (!ok) failures.push_back(fmt::format("{} ({})", row.name, describe(row.rate.status)));
      table.push_back({row.name, row.modes > 0 ? fmt::format("{}", row.modes) : "-", fmt::format("{}", row.elements),
                       !row.error                  ? "reference"
                       : std::isfinite(*row.error) ? fmt::format("{:.3g} %", 100 * *row.error)
                                                   : "unknown",
                       ok ? fmt::format("{:.4g}", row.rate.steps_per_s) : "failed",
                       ok ? format_quantity(1e-6 * row.rate.p50_us, Dimension::time) : "-",
                       ok ? format_quantity(1e-6 * row.rate.p99_us, Dimension::time) : "-"});
    }
  }
  write_json(context, json);
  if (!context.common.quiet)
    fmt::print("{}one-linearisation implicit Euler steps, commands changing every step, {} thread{}\n",
               format_table(table, {1, 2, 3, 4, 5, 6}), context.common.threads, context.common.threads > 1 ? "s" : "");
  for (const std::string& note : notes) print_note(note);
  if (!failures.empty())
    throw RunError(fmt::format("{} of {} cases failed: {}", failures.size(), json.size(), fmt::join(failures, ", ")),
                   "`supple check` looks at the scene");
  if (json.empty()) throw InputError("no case could be measured", "range = [..] for each [[actuator]] in the scene");
  return 0;
}

}  // namespace

Command bench_command() {
  Command command;
  command.name = "bench";
  command.description = "measure steps per second, each beside its error";
  command.examples =
      "  supple bench --threads 1\n"
      "  supple bench --case diamond --model diamond.rom.h5 --threads 1 --json bench.json\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.text("--case", arguments->wanted, "TEXT",
                 "only cases whose name holds TEXT: full/diamond, forward/diamond");
    options.texts("--model", arguments->models, "FILE", "a reduced model, for a case forward/NAME");
    options.text("--assets", arguments->assets, "DIR", "folder of the robots; without it ./assets");
    options.quantity("--seconds", arguments->seconds, Dimension::time, "TIME", "measuring time of a case (2 s)");
    return [arguments](Context& context) { return bench(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

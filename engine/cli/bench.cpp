// supple bench: rates of the built-in robots and of models made from them, each with its error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/actuation.hpp"
#include "engine/cli/bench_models.hpp"
#include "engine/cli/command.hpp"
#include "engine/cli/drive.hpp"
#include "engine/cli/interrupt.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
#include "engine/cli/progress_bar.hpp"
#include "engine/cli/table.hpp"
#include "engine/cli/terminal.hpp"
#include "engine/dynamics/full_mechanics.hpp"
#include "engine/dynamics/reduced_batch_mechanics.hpp"
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
constexpr int most_measured_steps = 10'000'000;

struct Arguments {
  std::string wanted, assets = "assets", kept;
  std::vector<std::string> models;
  std::vector<long> batches{1};
  std::optional<double> seconds;
};

struct Case {
  enum class Kind { full, forward, forward_of_file };
  std::string name, file;  // a scene's, or a model's
  Kind kind = Kind::full;
};

struct Row {
  std::string name;
  int batch = 1, modes = 0, elements = 0;
  std::optional<double> error;  // mean goal error; none: it is the reference itself
  Rate rate;
};

std::vector<Case> find_cases(const Arguments& arguments) {
  std::vector<Case> cases;
  for (const std::string& file : arguments.models)
    cases.push_back({"forward/" + read_model(file).robot.name, file, Case::Kind::forward_of_file});
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(arguments.assets, error)) {
    const fs::path scene = entry.path() / "scene.toml";
    if (!fs::exists(scene, error)) continue;
    const std::string robot = entry.path().filename().string();
    cases.push_back({"full/" + robot, scene.string(), Case::Kind::full});
    // A model that is given stands for the one that would be made.
    const std::string name = "forward/" + robot;
    if (std::ranges::none_of(cases, [&](const Case& other) { return other.name == name; }))
      cases.push_back({name, scene.string(), Case::Kind::forward});
  }
  std::ranges::stable_sort(cases, {}, &Case::name);
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

class Bench {
 public:
  Bench(const Context& context, const Arguments& arguments, const Device& device, std::size_t cases)
      : context_(context),
        arguments_(arguments),
        device_(device),
        cases_(static_cast<double>(cases)),
        bar_(context.common.quiet) {}

  // All batches of a case into `rows`.
  void measure(const Case& entry) {
    try {
      entry.kind == Case::Kind::full ? measure_full(entry) : measure_forward(entry);
    } catch (const RunError& failure) {  // its model could not be made
      failures.push_back(fmt::format("{} ({})", entry.name, failure.what()));
    }
    ++done_;
  }

  std::vector<Row> rows;
  std::vector<std::string> notes, failures;

 private:
  // False, with a note, if no path leads through the robot's ranges.
  bool measurable(const Case& entry, const Robot& robot) {
    const std::string unbounded = unbounded_actuator(robot);
    if (!unbounded.empty())
      notes.push_back(fmt::format("{} is left out: '{}' has no finite range to move through", entry.name, unbounded));
    return unbounded.empty();
  }

  void measure_rate_of(Row row, Mechanics& mechanics) {
    if (interrupted()) throw Interrupted("interrupted, nothing is kept", "--case for one case alone");
    bar_.update("measuring", done_, cases_, row.name);
    row.batch = mechanics.robots();
    row.rate = measure_rate(mechanics, most_measured_steps, arguments_.seconds.value_or(2), path_seed);
    if (row.rate.status != StepStatus::ok)
      failures.push_back(fmt::format("{}, batch {} ({})", row.name, row.batch, describe(row.rate.status)));
    rows.push_back(std::move(row));
  }

  void measure_full(const Case& entry) {
    if (device_.kind == Device::Kind::cuda) {
      notes.push_back(fmt::format("{} is left out: the full model runs on the CPU only", entry.name));
      return;
    }
    const FullModel model = build_full_model(read_scene(entry.file));
    if (!measurable(entry, model.robot)) return;
    FullMechanics mechanics(model);
    Row row;
    row.name = entry.name;
    row.elements = model.mesh.element_count();
    measure_rate_of(std::move(row), mechanics);
  }

  void measure_forward(const Case& entry) {
    ReducedModel model;
    if (entry.kind == Case::Kind::forward_of_file) {
      model = read_model(entry.file);
      if (!measurable(entry, model.robot)) return;
    } else {
      const Scene scene = read_scene(entry.file);
      try {
        check_reducible(scene);
      } catch (const InputError& obstacle) {
        notes.push_back(fmt::format("{} is left out: {}", entry.name, obstacle.what()));
        return;
      }
      const std::string folder = arguments_.kept.empty() ? default_model_folder() : arguments_.kept;
      model = kept_model(scene, folder, context_.common.threads, notes, bar_.progress());
    }
    Row row;
    row.name = entry.name;
    row.modes = model.modes;
    for (const ReducedField& field : model.fields) row.elements += static_cast<int>(field.element.size());
    row.error = model.errors.states > 0 ? model.errors.goal_mean : std::nan("");
    for (const long batch : arguments_.batches) {
      const int robots = static_cast<int>(batch);
      if (device_.kind == Device::Kind::cuda) {
        ReducedBatchMechanics mechanics(model, device_, robots);
        measure_rate_of(row, mechanics);
      } else {
        ReducedMechanics mechanics(model, robots);
        measure_rate_of(row, mechanics);
      }
    }
  }

  const Context& context_;
  const Arguments& arguments_;
  Device device_;
  double cases_, done_ = 0;
  ProgressBar bar_;
};

nlohmann::ordered_json row_json(const Context& context, const Device& device, const Row& row) {
  const Rate& rate = row.rate;
  nlohmann::ordered_json json{
      {"case", row.name}, {"batch", row.batch}, {"modes", row.modes}, {"elements", row.elements}};
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
  json.update(machine_facts(context, to_string(device)));
  return json;
}

std::vector<std::string> row_cells(const Row& row) {
  const bool ok = row.rate.status == StepStatus::ok;
  const auto time = [&](double us) { return ok ? format_quantity(1e-6 * us, Dimension::time) : std::string("-"); };
  return {row.name,
          fmt::format("{}", row.batch),
          row.modes > 0 ? fmt::format("{}", row.modes) : "-",
          fmt::format("{}", row.elements),
          !row.error                  ? "reference"
          : std::isfinite(*row.error) ? fmt::format("{:.3g} %", 100 * *row.error)
                                      : "unknown",
          ok ? fmt::format("{:.4g}", row.rate.steps_per_s) : "failed",
          time(row.rate.p50_us),
          time(row.rate.p99_us)};
}

int bench(Context& context, const Arguments& arguments) {
  check_json_target(context);
  const Device device = context.common.device == "auto" ? cpu() : parse_device(context.common.device);
  const std::vector<Case> cases = find_cases(arguments);
  const InterruptGuard guard;
  std::vector<Row> rows;
  std::vector<std::string> notes, failures;
  {
    Bench measured(context, arguments, device, cases.size());
    for (const Case& entry : cases) measured.measure(entry);
    rows = std::move(measured.rows);
    notes = std::move(measured.notes);
    failures = std::move(measured.failures);
  }
  auto json = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> table{
      {"case", "batch", "modes", "elements", "error", "steps/s", "median", "99 %"}};
  for (const Row& row : rows) {
    json.push_back(row_json(context, device, row));
    table.push_back(row_cells(row));
  }
  write_json(context, json);
  if (!context.common.quiet && !rows.empty())
    fmt::print("{}one-linearisation implicit Euler steps, commands changing every step, {} thread{}\n",
               format_table(table, {1, 2, 3, 4, 5, 6, 7}), context.common.threads,
               context.common.threads > 1 ? "s" : "");
  if (!context.common.quiet)
    for (const std::string& note : notes) print_note(note);
  if (!failures.empty())
    throw RunError(fmt::format("not everything could be measured: {}", fmt::join(failures, ", ")),
                   "`supple check` looks at the scene");
  if (rows.empty() && device.kind == Device::Kind::cuda)
    throw CapabilityError("no case that runs on a GPU is asked for", "--device cpu, or --case forward");
  if (rows.empty()) throw InputError("no case could be measured", "range = [..] for each [[actuator]] in the scene");
  return 0;
}

}  // namespace

Command bench_command() {
  Command command;
  command.name = "bench";
  command.description = "measure steps per second, each beside its error";
  command.examples =
      "  supple bench --threads 1\n"
      "  supple bench --case forward/diamond --batch 1,64,1024 --json bench.json\n"
      "  supple bench --case diamond --model diamond.rom.h5 --threads 1\n"
      "\n"
      "full/NAME steps the full model of NAME/scene.toml in the folder of the robots, forward/NAME a reduced one.\n"
      "That model is made when it is first asked for, from fewer states than `supple reduce` takes, and kept.\n";
  command.examples += rate_words;
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.text("--case", arguments->wanted, "TEXT",
                 "only cases whose name holds TEXT: full/diamond, forward/diamond");
    options.wholes("--batch", arguments->batches, 1, most_robots, "N[,N...]",
                   "robots stepped at once in forward cases, each along a path of its own (1)");
    options.texts("--model", arguments->models, "FILE",
                  "a reduced model for its forward case, instead of one made here");
    options.text("--models", arguments->kept, "DIR",
                 "where models that are made here are kept; without it $XDG_CACHE_HOME/supple/bench or "
                 "~/.cache/supple/bench");
    options.text("--assets", arguments->assets, "DIR", "folder of the robots; without it ./assets");
    options.quantity("--seconds", arguments->seconds, Dimension::time, "TIME", "measuring time of each row (2 s)");
    return [arguments](Context& context) { return bench(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

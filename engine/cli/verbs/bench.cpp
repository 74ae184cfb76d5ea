// supple bench: rates of the built-in robots and of models made from them, each with its error and with the share it
// takes of what the machine can do.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/bench_report.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/bench_cases.hpp"
#include "engine/cli/verbs/bench_models.hpp"
#include "engine/cli/verbs/bench_programs.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/inverse/inverse_law.hpp"
#include "engine/io/model_file.hpp"
#include "engine/measure/inverse_rate.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/batch_stepper.hpp"
#include "kernels/array/device.hpp"

namespace supple::cli {

namespace {

constexpr std::uint64_t path_seed = 20;         // of the commands that every case follows
constexpr int most_measured_steps = 5'000'000;  // with those that warm up
constexpr long most_counted_steps = 4'500'000;
constexpr double default_seconds = 2;       // of each row in each round
constexpr double most_peak_seconds = 0.05;  // of each number of the machine in each round
constexpr long most_rounds = 1000;

// A row and the model that is stepped for it: one of the two.
struct Subject {
  BenchRow row;
  std::shared_ptr<const FullModel> full;
  std::shared_ptr<const ReducedModel> reduced;
  bool inverse = false;
  int unknowns = 0;  // of quadratic programs alone
};

Precision precision_of(const std::string& word) {
  return word == "fp32" ? Precision::fp32 : word == "mixed" ? Precision::mixed : Precision::fp64;
}

class Bench {
 public:
  Bench(const Context& context, const BenchArguments& arguments, const Device& device)
      : context_(context), arguments_(arguments), device_(device), bar_(context.common.quiet) {
    machine.device = to_string(device);
    const bool gpu = device.kind == Device::Kind::cuda;
    if (gpu || !arguments.precision.empty() || arguments.resident)
      batched_ = BatchSettings{precision_of(arguments.precision)};
    if (gpu) machine.gpu = measure_device_peaks(device, most_peak_seconds);
  }

  // Makes or reads the model of a case; all its batches become rows.
  void prepare(const BenchCase& entry) {
    const bool of_scene = entry.kind == BenchCase::Kind::full || entry.kind == BenchCase::Kind::full_inverse ||
                          entry.kind == BenchCase::Kind::forward || entry.kind == BenchCase::Kind::inverse;
    if (of_scene && is_assembly(entry.file)) {
      notes.push_back(
          fmt::format("{} is left out: a scene of several bodies is timed by `supple simulate`", entry.name));
      return;
    }
    try {
      if (entry.kind == BenchCase::Kind::full || entry.kind == BenchCase::Kind::full_inverse)
        prepare_full(entry);
      else if (entry.kind == BenchCase::Kind::program)
        prepare_programs(entry);
      else
        prepare_reduced(entry);
    } catch (const RunError& failure) {  // its model could not be made
      failures.push_back(fmt::format("{} ({})", entry.name, failure.what()));
    }
  }

  // Every row once, in turn, and the machine.
  void measure_round(long round, long rounds) {
    const double peak_seconds = std::min(most_peak_seconds, arguments_.seconds.value_or(default_seconds));
    note_load();
    machine.peaks = best_of(machine.peaks, measure_peaks(peak_seconds));
    const double all = static_cast<double>(subjects_.size() * static_cast<std::size_t>(rounds));
    double done = static_cast<double>(subjects_.size() * static_cast<std::size_t>(round));
    for (Subject& subject : subjects_) {
      if (interrupted()) throw Interrupted("interrupted, nothing is kept", "--case for one case alone");
      bar_.update("measuring", done++, all, subject.row.name);
      BenchRow& row = subject.row;
      row.rounds.push_back(measure(subject));
      if (row.work && !machine.gpu)
        row.gradient_read = std::max(row.gradient_read,
                                     read_bandwidth(static_cast<std::size_t>(row.work->gradient_bytes), peak_seconds));
    }
    note_load();
  }

  std::vector<BenchRow> rows() {
    std::vector<BenchRow> found;
    for (Subject& subject : subjects_) found.push_back(std::move(subject.row));
    for (const BenchRow& row : found) {
      const Rate rate = typical(row.rounds);
      const std::string name = fmt::format("{}, batch {}", row.name, row.batch);
      if (row.failed())
        failures.push_back(fmt::format("{} ({})", name, describe(rate.status)));
      else if (!same_states(row.rounds))
        failures.push_back(fmt::format("{} (two rounds of as many steps end in different states)", name));
    }
    return found;
  }

  BenchMachine machine;
  std::vector<std::string> notes, failures;

 private:
  // False, with a note, if no path leads through the robot's ranges.
  bool measurable(const BenchCase& entry, const Robot& robot) {
    const std::string unbounded = unbounded_input(robot);
    if (!unbounded.empty())
      notes.push_back(fmt::format("{} is left out: '{}' has no finite range to move through", entry.name, unbounded));
    return unbounded.empty();
  }

  // False, with a note, if inverse control cannot lead the robot.
  bool can_lead(const BenchCase& entry, const Robot& robot) {
    const auto why = cannot_lead(robot);
    if (why) notes.push_back(fmt::format("{} is left out: {}", entry.name, why->what()));
    return !why;
  }

  void note_load() {
    double load[3] = {0, 0, 0};
    if (getloadavg(load, 3) != 3) return;
    for (std::size_t k = 0; k < 3; ++k) machine.load[k] = std::max(machine.load[k], load[k]);
  }

  Rate measure(Subject& subject) const {
    // measure_rate takes the first tenth for warming up.
    const bool counted = arguments_.steps && !subject.full;
    const int wanted = counted ? static_cast<int>(*arguments_.steps) : 0;
    const int steps = counted ? wanted + (wanted - 1) / 9 : most_measured_steps;
    const double seconds =
        counted ? std::numeric_limits<double>::infinity() : arguments_.seconds.value_or(default_seconds);
    BenchRow& row = subject.row;
    Rate rate;
    if (subject.unknowns > 0) {
      const ProgramRate found = measure_programs(subject.unknowns, row.batch, context_.common.threads, steps, seconds);
      row.error = std::max(row.error.value_or(0), found.residual);
      rate = found;
    } else if (subject.inverse) {
      const InverseRate found = row.resident ? measure_batch_inverse_rate(*subject.reduced, device_, row.batch,
                                                                          batch_settings(), steps, seconds, path_seed)
                                             : measure_inverse_rate(*mechanics_of(subject), steps, seconds, path_seed);
      row.control = {found.median_error, 1e6 * found.qp_seconds, found.held, found.saturated};
      rate = found;
    } else if (row.resident) {
      rate = measure_batch_rate(*subject.reduced, device_, row.batch, batch_settings(), steps, seconds, path_seed);
    } else {
      rate = measure_rate(*mechanics_of(subject), steps, seconds, path_seed);
    }
    rate.warm_up = rate.steps / 10;
    rate.steps -= rate.warm_up;
    return rate;
  }

  ContactSolver contact_solver() const {
    if (arguments_.host_contact) return ContactSolver::host;
    return arguments_.sweep_contact ? ContactSolver::sweeps : ContactSolver::device;
  }

  BatchStepSettings batch_settings() const {
    BatchStepSettings settings;
    settings.precision = batched_->precision;
    settings.algebra = arguments_.fused ? SystemAlgebra::fused : SystemAlgebra::library;
    settings.contact.solver = contact_solver();
    return settings;
  }

  std::unique_ptr<Mechanics> mechanics_of(const Subject& subject) const {
    std::unique_ptr<Mechanics> mechanics;
    if (subject.full)
      mechanics = std::make_unique<FullMechanics>(*subject.full);
    else if (batched_)
      mechanics = std::make_unique<ReducedBatchMechanics>(*subject.reduced, device_, subject.row.batch, *batched_);
    else
      mechanics = std::make_unique<ReducedMechanics>(*subject.reduced, subject.row.batch);
    return mechanics;
  }

  void prepare_programs(const BenchCase& entry) {
    if (device_.kind == Device::Kind::cuda) {
      notes.push_back(fmt::format("{} is left out: programs are solved on the CPU", entry.name));
      return;
    }
    Subject subject;
    subject.unknowns = entry.unknowns;
    subject.row.name = entry.name;
    for (const long batch : arguments_.batches) {
      subject.row.batch = static_cast<int>(batch);
      subjects_.push_back(subject);
    }
  }

  void prepare_full(const BenchCase& entry) {
    if (device_.kind == Device::Kind::cuda) {
      notes.push_back(fmt::format("{} is left out: the full model runs on the CPU only", entry.name));
      return;
    }
    Subject subject;
    subject.full = std::make_shared<FullModel>(build_full_model(read_scene(entry.file)));
    if (!measurable(entry, subject.full->robot)) return;
    subject.inverse = entry.kind == BenchCase::Kind::full_inverse;
    if (subject.inverse && !can_lead(entry, subject.full->robot)) return;
    subject.row.name = entry.name;
    subject.row.file = entry.file;
    subject.row.elements = subject.full->mesh.element_count();
    subjects_.push_back(std::move(subject));
  }

  void prepare_reduced(const BenchCase& entry) {
    ReducedModel model;
    if (entry.kind == BenchCase::Kind::forward_of_file || entry.kind == BenchCase::Kind::inverse_of_file) {
      model = read_model(entry.file);
      if (const std::string why = distrust(model); !why.empty())
        notes.push_back(fmt::format("{}: {}", entry.file, why));
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
    Subject subject;
    subject.inverse = entry.kind == BenchCase::Kind::inverse || entry.kind == BenchCase::Kind::inverse_of_file;
    if (subject.inverse && !can_lead(entry, model.robot)) return;
    BenchRow& row = subject.row;
    row.name = entry.name;
    row.file = entry.file;
    row.modes = model.modes;
    for (const ReducedField& field : model.fields) {
      row.elements += kept_elements(field).count();
      row.strain_modes += field.strains.count;
    }
    row.error = model.errors.states > 0 ? model.errors.goal_mean : std::nan("");
    if (model.on_frame) {
      notes.push_back(
          fmt::format("{} is left out: free-floating models on a frame are timed by `supple run`", entry.name));
      return;
    }
    if (batched_) {
      row.precision = arguments_.precision.empty() ? "fp64" : arguments_.precision;
      if (model.columns() > model.modes) {
        notes.push_back(fmt::format(
            "{} is left out: prescribed motions that strain the body are stepped robot by robot only", entry.name));
        return;
      }
    }
    if (arguments_.resident) {
      row.resident = true;
      row.fused = arguments_.fused;
      row.contact = model.robot.pairs() > 0;
      row.contact_solver = contact_solver();
      if (!row.contact && (arguments_.host_contact || arguments_.sweep_contact))
        notes.push_back(fmt::format("{} touches nothing: who finds forces of contact is without effect", entry.name));
      if (row.contact && row.fused) {
        notes.push_back(fmt::format(
            "{} is left out: in contact with obstacles --fused has no factor for the rows of contacts", entry.name));
        return;
      }
    }
    if (!subject.inverse) row.work = reduced_step_work(model);
    subject.reduced = std::make_shared<ReducedModel>(std::move(model));
    for (const long batch : arguments_.batches) {
      row.batch = static_cast<int>(batch);
      subjects_.push_back(subject);
    }
  }

  const Context& context_;
  const BenchArguments& arguments_;
  Device device_;
  std::optional<BatchSettings> batched_;  // reduced models by batched algebra; none: robot by robot

  ProgressBar bar_;
  std::vector<Subject> subjects_;
};

int bench(Context& context, const BenchArguments& arguments) {
  check_json_target(context);
  if (arguments.host_contact && arguments.sweep_contact)
    throw InputError("--host-contact and --sweep-contact name two solvers for the same forces", "one of them");
  if ((arguments.host_contact || arguments.sweep_contact) && !arguments.resident)
    throw InputError(fmt::format("--{}-contact is about steps that are whole on the device (--resident is not given)",
                                 arguments.host_contact ? "host" : "sweep"),
                     "with --resident, or neither");
  if (arguments.fused && !arguments.resident)
    throw InputError("--fused is about steps that are whole on the device (--resident is not given)",
                     "--resident --fused, or neither");
  const Device device = context.common.device == "auto" ? cpu() : parse_device(context.common.device);
  const std::vector<BenchCase> cases = find_cases(arguments);
  const InterruptGuard guard;
  std::vector<BenchRow> rows;
  BenchMachine machine;
  std::vector<std::string> notes, failures;
  {
    Bench measured(context, arguments, device);
    for (const BenchCase& entry : cases) measured.prepare(entry);
    const long rounds = arguments.rounds.value_or(1);
    for (long round = 0; round < rounds; ++round) measured.measure_round(round, rounds);
    rows = measured.rows();
    machine = measured.machine;
    notes = std::move(measured.notes);
    failures = std::move(measured.failures);
  }
  for (const BenchRow& row : rows) {
    long problems = 0, on_host = 0;
    for (const Rate& rate : row.rounds) problems += rate.contact.on_device, on_host += rate.contact.on_host;
    if (on_host > 0)
      notes.push_back(fmt::format("{}, batch {}: {} of {} problems of contact were left to the host", row.name,
                                  row.batch, on_host, problems));
  }
  write_json(context, bench_json(context, machine, rows));
  if (!context.common.quiet) {
    print_bench(context, machine, rows);
    for (const std::string& note : notes) print_note(note);
  }
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
      "  supple bench --case diamond --steps 100000 --rounds 5 --threads 1\n"
      "  supple bench --case forward --device cuda --batch 1024,65536 --precision mixed\n"
      "  supple bench --case forward/diamond --device cuda --batch 65536 --resident\n"
      "\n"
      "full/NAME steps the full model of NAME/scene.toml in the folder of the robots, forward/NAME a reduced one,\n"
      "inverse/NAME the same led by its effectors along what the forward one does, full-inverse/NAME the full model "
      "so.\n"
      "qp/N solves the quadratic programs of N actuators alone; its error is their largest residual.\n"
      "A reduced model is made when it is first asked for, from fewer states than `supple reduce` takes, and kept.\n"
      "The work of a reduced step, counted from its sizes, is held against what a core does at its best, measured in\n"
      "the same run: docs/howto/benchmark.md.\n";
  command.examples += rate_words;
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<BenchArguments>();
    options.texts("--case", arguments->wanted, "TEXT",
                  "only cases whose name, or whose robot's, begins with TEXT: full/diamond, forward, diamond");
    options.wholes("--batch", arguments->batches, 1, most_robots, "N[,N...]",
                   "robots stepped at once in forward cases, each along a path of its own (1)");
    options.texts("--model", arguments->models, "FILE",
                  "a reduced model for its forward case, instead of one made here");
    options.text("--models", arguments->kept, "DIR",
                 "where models that are made here are kept; without it $XDG_CACHE_HOME/supple/bench or "
                 "~/.cache/supple/bench");
    options.text("--assets", arguments->assets, "DIR", "folder of the robots; without it ./assets");
    options.choice(
        "--precision", arguments->precision, {"fp64", "mixed", "fp32"},
        "reduced models by the batched algebra of GPUs, also on a CPU, in double precision, with the stiffness of "
        "their "
        "points in single precision, or with points and systems in single precision; without it robot by robot on a "
        "CPU, fp64 on a GPU");
    options.flag("--resident", arguments->resident,
                 "reduced models by whole steps on the device, where their states stay; without it the host steps and "
                 "the device does the algebra");
    options.flag("--fused", arguments->fused,
                 "with --resident: factors and solves of a robot by one team of threads, not by libraries for all");
    options.flag("--host-contact", arguments->host_contact,
                 "with --resident: the forces of contacts by the host's solver, not on the device");
    options.flag(
        "--sweep-contact", arguments->sweep_contact,
        "with --resident: the device seeks them by Gauss-Seidel alone, to compare with; without it by Newton's "
        "method too where that ends earlier");
    options.quantity("--seconds", arguments->seconds, Dimension::time, "TIME",
                     "measuring time of each row in each round (2 s)");
    options.whole("--steps", arguments->steps, 1, most_counted_steps, "N",
                  "reduced rows: so many steps in each round instead, after a ninth as many to warm up");
    options.whole("--rounds", arguments->rounds, 1, most_rounds, "N",
                  "measure all rows in turn, N times; medians and their spread (1)");
    return [arguments](Context& context) { return bench(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

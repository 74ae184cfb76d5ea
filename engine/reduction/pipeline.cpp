#include "engine/reduction/pipeline.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>

#include "engine/dynamics/full_mechanics.hpp"
#include "engine/dynamics/reduced_mechanics.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/reduction/jobs.hpp"
#include "engine/reduction/lifting.hpp"
#include "engine/reduction/metric.hpp"
#include "engine/reduction/project.hpp"
#include "engine/reduction/rigid_motion.hpp"
#include "engine/reduction/selection.hpp"
#include "engine/reduction/training.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Tolerances of the displacement rule: from a predicted displacement that no robot shows in its errors to one where
// models fail.
std::vector<double> displacement_tolerances() {
  std::vector<double> tolerances;
  for (double tau = 4e-4; tau < 0.04; tau *= 1.25) tolerances.push_back(tau);
  return tolerances;
}
constexpr double force_tolerance = 0.02;    // of the two force rules, unless the scene gives one
constexpr double small_force = 2.5;         // the small domain's tolerance in multiples of the model's
constexpr double small_acceptance = 0.5;    // and what it may lose where domains are accepted by their errors
constexpr double largest_error_growth = 2;  // of the worst state against that of all elements

SamplingPlan draws(const Robot& robot, int count, const ReductionScene& recipe, std::uint64_t seed) {
  SamplingPlan plan;
  plan.kind = "uniform";
  std::vector<Sample> samples = uniform_draws(robot, count, seed);
  if (shaken_in_time(robot)) {
    plan.converged = false;
    plan.paths = paths_through(robot, samples, recipe.sweep_steps);
    return plan;
  }
  // Independent states: every path is one state from rest.
  for (Sample& sample : samples) plan.paths.push_back({{std::move(sample)}});
  return plan;
}

struct SetPlan {
  std::string folder;
  const SamplingPlan* plan;
};

std::vector<SetPlan> sets_of(const SamplingPlans& plans, const std::string& folder, bool with_validation) {
  std::vector<SetPlan> sets{{(fs::path(folder) / "training").string(), &plans.training}};
  if (with_validation) {
    sets.push_back({(fs::path(folder) / "selection").string(), &plans.selection});
    sets.push_back({(fs::path(folder) / "test").string(), &plans.test});
  }
  return sets;
}

double states_present(const std::vector<SetPlan>& sets) {
  double states = 0;
  for (const SetPlan& set : sets)
    for (std::size_t k = 0; k < set.plan->paths.size(); ++k)
      if (fs::exists(path_file(set.folder, static_cast<int>(k))))
        states += static_cast<double>(set.plan->paths[k].samples.size());
  return states;
}

std::string write_scene_copy(const Scene& scene, const std::string& folder) {
  const std::string file = (fs::path(folder) / "scene.toml").string();
  write_file(file, write_scene(scene));
  return file;
}

// One thread while it lives.
class SingleThreaded {
 public:
  SingleThreaded() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreaded() { omp_set_num_threads(threads_); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  int threads_;
};

// Reduced states to train on, alpha and c: full states projected, or the paper's second pass with the POD-only model.
// displacements: without their lifting.
std::vector<double> training_states(const Scene& scene, const ReducedModel& all, std::span<const double> basis,
                                    const SnapshotSet& set, const ColumnBlocks& displacements,
                                    std::vector<std::string>& notes, const Progress& progress) {
  std::vector<double> states, storage;
  for (std::size_t k = 0; k < displacements.counts.size(); ++k) {
    const std::span<const double> q = displacements.read(static_cast<int>(k), storage);
    const std::vector<double> alpha = project_states(basis, displacements.rows, all.modes, q, displacements.counts[k]);
    for (int s = 0; s < displacements.counts[k]; ++s) {
      const std::span<const double> modes = std::span(alpha).subspan(extent(s, all.modes), extent(all.modes));
      const std::size_t state = states.size() / extent(all.modes + all.motions());
      const std::vector<double> motions = control_of(all.robot, set.commands[state]).motions;
      states.insert(states.end(), modes.begin(), modes.end());
      states.insert(states.end(), motions.begin(), motions.end());
    }
  }
  if (scene.reduction.ecsw_training != "rerun") return states;
  ReducedMechanics mechanics(all);
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  int failed = 0;
  for (int s = 0; s < set.count; ++s) {
    const Control control = control_of(all.robot, set.commands[static_cast<std::size_t>(s)]);
    if (equilibrium.solve(control, state).status == StepStatus::ok)
      std::ranges::copy(state.q, states.begin() + static_cast<long>(extent(s, all.modes + all.motions())));
    else
      ++failed;  // its projected state stays
    progress("second pass", s + 1, set.count);
  }
  if (failed > 0)
    notes.push_back(
        fmt::format("second pass: {} of {} states did not converge, their projections were used", failed, set.count));
  return states;
}

// The loosest domain that loses little: mean errors on the selection set at most 1 + loss times those of all elements,
// the worst state at most twice as bad, no failed solve that all elements do not fail too, and two elements per mode
// (below that, predictions and a small selection set both mislead). curve: from the loosest to the tightest, then all
// elements. -1: none.
int accept(const std::vector<ModelRow>& curve, double loss) {
  const ErrorSummary& floor = curve.back().errors;
  for (std::size_t k = 0; k + 1 < curve.size(); ++k) {
    const ErrorSummary& errors = curve[k].errors;
    // Written so that a robot without effectors, whose goal error is not a number, is judged by its shape.
    const auto exceeds = [](double error, double limit) { return error > limit; };
    if (!std::isfinite(errors.shape_mean) || exceeds(errors.goal_mean, (1 + loss) * floor.goal_mean) ||
        exceeds(errors.shape_mean, (1 + loss) * floor.shape_mean) ||
        exceeds(errors.goal_max, largest_error_growth * floor.goal_max) ||
        exceeds(errors.shape_max, largest_error_growth * floor.shape_max) || errors.failed > floor.failed ||
        curve[k].elements < 2 * curve[k].modes)
      continue;
    return static_cast<int>(k);
  }
  return -1;
}

// What can be known to be wrong before the states are computed.
void check_recipe(const ReductionScene& recipe, const FullModel& full) {
  if (shaken_in_time(full.robot) && recipe.ecsw_training == "rerun")
    throw InputError(
        "the second pass of [reduce] training = \"rerun\" solves equilibria, and a robot that lies loose among "
        "obstacles is learnt in time",
        "training = \"projected\"");
  if (recipe.elements == 0) return;
  if (recipe.ecsw_tolerance)
    throw InputError("a number of elements and their tolerance contradict each other", "one of them");
  if (full.fields.size() > 1)
    throw InputError("a number of elements is for bodies with one force field, and this one has several",
                     "elements_tolerance, or elements_acceptance");
}

// A robot among obstacles is shaken, learnt and judged without friction, under which shapes depend on the way to them;
// the model made of it has its friction back. `copy` holds what is returned where there are obstacles.
const FullModel& without_friction(const FullModel& model, std::optional<FullModel>& copy) {
  if (model.robot.obstacles.empty()) return model;
  copy = model;
  for (PlacedObstacle& obstacle : copy->robot.obstacles) obstacle.friction = 0;
  return *copy;
}

// What of the snapshots is no rigid mode: the columns of which a floating body's modes are made.
ColumnBlocks without_rigid_modes(const ColumnBlocks& columns, const std::vector<double>& rigid) {
  if (rigid.empty()) return columns;
  return {columns.rows, columns.counts, [&columns, &rigid](int k, std::vector<double>& storage) {
            (void)columns.read(k, storage);  // basis_columns reads into storage
            remove_modes(rigid, columns.rows, storage);
            return std::span<const double>(storage);
          }};
}

SelectionRule rule_of(const ReductionScene& recipe) {
  if (recipe.ecsw_selection == "displacement") return SelectionRule::displacement;
  return recipe.ecsw_selection == "lawson-hanson" ? SelectionRule::lawson_hanson : SelectionRule::lawson_hanson_pruned;
}

}  // namespace

void check_floating(const Scene& scene, const Robot& robot) {
  if (!robot.floating) return;
  const Place& place = scene.bodies.front().place;
  for (const auto* rows : {&robot.constraints, &robot.springs})
    for (const ConstraintRow& row : *rows)
      if (row.in_space())
        throw InputError("only constraints hold the body, '" + row.name +
                             "' among them (its equilibria depend on where the body is)",
                         "a [[fix]] region beside them", place);
  if (shaken_in_time(robot)) return;
  if (norm(robot.gravity) > 0)
    throw InputError("nothing holds the body (under gravity it has no equilibrium, and a reduction is made of those)",
                     "gravity = [0, 0, 0], or a [[fix]] region", place);
  for (const ActuatorRow& actuator : robot.actuators)
    if (actuator.kind == ActuatorKind::force || actuator.pull_point)
      throw InputError("nothing holds the body, and '" + actuator.name +
                           "' pulls at it from outside (its equilibria depend on where the body is)",
                       "a cable that ends in the body, or a [[fix]] region", place);
}

SamplingPlans make_plans(const Robot& robot, const ReductionScene& recipe) {
  // Seeds of the validation sets are derived from the scene's by fixed odd offsets, used nowhere else.
  return {make_plan(robot, recipe),
          draws(robot, std::max(10, recipe.validation_states / 2), recipe, recipe.seed + 0x9e3779b97f4a7c15ULL),
          draws(robot, recipe.validation_states, recipe, recipe.seed + 0xd1b54a32d192ed03ULL)};
}

SnapshotTotals compute_snapshots(const FullModel& whole, const Scene& scene, const SnapshotJob& job,
                                 const Progress& progress) {
  std::optional<FullModel> copy;
  const FullModel& model = without_friction(whole, copy);
  const double start = now();
  for (const ElementField& field : model.fields)
    if (!has_exact_tangent(field.law))
      throw InputError(
          "reduction needs converged equilibria, and rotations from element edges have no exact tangent to find them "
          "with",
          "rotation = \"polar\"", scene.bodies.front().materials.front().place);
  check_floating(scene, whole.robot);
  const SceneIdentity identity = identify(scene);
  const SamplingPlans plans = make_plans(model.robot, scene.reduction);
  const std::vector<SetPlan> sets = sets_of(plans, job.folder, job.with_validation);
  std::error_code error;
  fs::create_directories(job.folder, error);
  for (const SetPlan& set : sets) prepare_snapshot_folder(set.folder, identity, *set.plan, job.existing);
  double total = 0;
  std::size_t missing = 0;
  for (const SetPlan& set : sets) {
    total += set.plan->states();
    missing += missing_paths(set.folder, identity, *set.plan).size();
  }
  const int jobs = std::min<int>(job.jobs, static_cast<int>(missing));
  if (jobs > 1 && !job.executable.empty()) {
    const std::string copy = write_scene_copy(scene, job.folder);
    run_workers(
        job.executable, jobs, job.folder,
        [&](int k) {
          std::vector<std::string> words{
              "snapshots", copy, "-o", job.folder, "--resume", "--jobs", "1", "--shard", fmt::format("{}/{}", k, jobs),
              "--quiet"};
          if (job.with_validation) words.push_back("--with-validation");
          return words;
        },
        "snapshots", total, [&] { return states_present(sets); }, progress);
  } else {
    for (const SetPlan& set : sets)
      (void)compute_paths(model, scene, identity, *set.plan, set.folder, job.shard, job.shards, progress);
  }
  SnapshotTotals totals;
  totals.seconds = now() - start;
  if (job.shards == 1)
    for (const SetPlan& set : sets) {
      const SnapshotSet read =
          read_snapshots(set.folder, identity, *set.plan, model.coordinates.nv, model.robot.rows(), /*with_q=*/false);
      totals.states += read.count;
      totals.failed += read.failed;
      totals.factorisations += read.factorisations;
    }
  return totals;
}

Reduction reduce(const Scene& scene, const FullModel& whole, const ReduceSettings& settings, const Progress& progress) {
  std::optional<FullModel> copy;
  const FullModel& full = without_friction(whole, copy);
  const double start = now();
  Reduction result;
  ReduceReport& report = result.report;
  const ReductionScene& recipe = scene.reduction;
  const auto check_stop = [&] {
    if (progress.stopped())
      throw Interrupted("stopped; the full-order states are kept", "the same command again: it goes on from there");
  };

  check_recipe(recipe, full);
  report.snapshots = compute_snapshots(full, scene, settings.snapshots, progress);
  report.seconds.snapshots = now() - start;
  const SceneIdentity identity = identify(scene);
  const SamplingPlans plans = make_plans(full.robot, recipe);
  const std::vector<SetPlan> sets = sets_of(plans, settings.snapshots.folder, true);
  const int nv = full.coordinates.nv, rows = full.robot.rows();
  const auto read = [&](std::size_t k) { return read_snapshots(sets[k].folder, identity, *sets[k].plan, nv, rows); };
  const SnapshotSet training = read_snapshots(sets[0].folder, identity, *sets[0].plan, nv, rows, /*with_q=*/false);
  const ColumnBlocks displacements = basis_columns(full, sets[0].folder, training);
  if (!plans.training.note.empty()) report.notes.push_back(plans.training.note);
  if (training.failed > 0)
    report.notes.push_back(fmt::format("{} of {} training states did not converge and were left out", training.failed,
                                       training.failed + training.count));
  if (training.count < 2)
    throw RunError("fewer than two training states converged", "`supple simulate` the scene; smaller actuator ranges");
  const ReferenceStates selection = reference_states(full, read(1)), test = reference_states(full, read(2));
  if (test.failed > 0)
    report.notes.push_back(fmt::format("{} of {} test states of the full model did not converge and were left out",
                                       test.failed, test.failed + test.count));
  if (test.count == 0)
    throw RunError("no test state of the full model converged", "`supple simulate` the scene; smaller actuator ranges");

  double mark = now();
  progress("POD", 0, 1);
  const std::vector<double> rigid = full.robot.floating ? rigid_modes(full) : std::vector<double>{};
  Pod pod = proper_orthogonal_decomposition(
      without_rigid_modes(displacements, rigid),
      {.tolerance = recipe.pod_tolerance,
       .truncation = recipe.pod_tolerance_squared ? PodTruncation::squared : PodTruncation::root,
       .max_modes = recipe.max_modes});
  report.singular_values = pod.singular_values;
  report.truncation_error = truncation_errors(
      pod.singular_values, recipe.pod_tolerance_squared ? PodTruncation::squared : PodTruncation::root);
  if (pod.modes == 0)
    throw RunError("the training states are all at rest: there is nothing to reduce",
                   "check gravity and the actuators' ranges");
  std::vector<double> basis = std::move(pod.basis);
  if (full.robot.floating) {
    basis = join_rigid_modes(rigid, basis, nv);
    report.notes.push_back(fmt::format(
        "nothing holds the body: {} rigid modes stand before {} of its shapes, and errors are those of the shape, the "
        "rigid motion between both models taken out",
        rigid_mode_count, pod.modes));
  }
  const int modes = static_cast<int>(basis.size() / extent(nv));
  report.seconds.pod = now() - mark;
  check_stop();

  mark = now();
  ReducedModel all = project(full, basis, modes, all_elements(full));
  Provenance& provenance = all.provenance;
  provenance.version = version();
  provenance.scene_name = scene.name;
  provenance.scene_text = write_scene(scene);
  provenance.scene_hash = identity.scene;
  provenance.mesh_hash = identity.mesh;
  provenance.snapshots = training.count;
  provenance.pod_tolerance = recipe.pod_tolerance;
  provenance.pod_tolerance_squared = recipe.pod_tolerance_squared;
  provenance.pod_error = pod.truncation_error;
  provenance.seed = recipe.seed;
  all.singular_values = pod.singular_values;
  TrainingStates states{
      training.count, training_states(scene, all, basis, training, displacements, report.notes, progress), {}};
  SelectionSettings selecting{rule_of(recipe), settings.tolerances};
  const bool displacement = selecting.rule == SelectionRule::displacement;
  if (displacement) states.metric = displacement_metric(all, states.states, training.multipliers, training.count);
  report.seconds.training = now() - mark;

  // Domains for every tolerance, field by field. `wanted`, if there is one, is the tolerance of the model.
  std::optional<double> wanted = recipe.ecsw_tolerance;
  if (!displacement && !wanted) wanted = force_tolerance;
  std::vector<double>& tolerances = selecting.tolerances;
  selecting.elements = recipe.elements;
  if (recipe.elements > 0) {
    wanted = 0;  // the one domain there is
    tolerances = {0};
  }
  if (tolerances.empty())
    tolerances = displacement ? displacement_tolerances() : std::vector<double>{0.2, 0.1, 0.05, 0.03, 0.02, 0.01};
  if (wanted && recipe.elements == 0) tolerances.insert(tolerances.end(), {*wanted, small_force * *wanted});
  std::sort(tolerances.begin(), tolerances.end());
  tolerances.erase(std::unique(tolerances.begin(), tolerances.end()), tolerances.end());
  std::vector<std::vector<IntegrationDomain>> domains(tolerances.size());
  for (std::size_t f = 0; f < all.fields.size(); ++f) {
    SelectedDomains selected = select_domains(all, static_cast<int>(f), states, selecting, progress, check_stop);
    for (std::size_t t = 0; t < tolerances.size(); ++t) domains[t].push_back(std::move(selected.domains[t]));
    report.notes.insert(report.notes.end(), selected.notes.begin(), selected.notes.end());
    report.seconds.training += selected.training_seconds;
    report.seconds.selection += selected.selection_seconds;
  }
  states = {};

  mark = now();
  const auto row = [&](const std::string& label, const ReducedModel& model, const ReferenceStates& reference,
                       double seconds) {
    ModelRow line;
    line.label = label;
    line.modes = model.modes;
    for (const ReducedField& field : model.fields) {
      line.elements += static_cast<int>(field.element.size());
      line.tolerance = field.tolerance;
      line.residual = std::max(line.residual, field.residual);
    }
    line.errors = evaluate_errors(model, basis, reference);
    ReducedMechanics mechanics(model);
    line.rate = measure_rate(mechanics, 100000, seconds, recipe.seed + 7);
    check_stop();
    return line;
  };
  const std::size_t curve = tolerances.size();
  for (std::size_t t = curve; t-- > 0;) {
    progress("validation", static_cast<double>(curve - t), static_cast<double>(curve + 4), "selection set");
    report.curve.push_back(row(recipe.elements > 0 ? "elements" : fmt::format("tau {:.3g}", tolerances[t]),
                               restrict_to(all, domains[t]), selection, 0.05 * settings.rate_seconds));
  }
  report.curve.push_back(row("all elements", all, selection, 0));
  const auto index_of = [&](double tolerance) {
    return static_cast<std::size_t>(std::find(tolerances.begin(), tolerances.end(), tolerance) - tolerances.begin());
  };
  std::size_t best, small;
  if (wanted) {
    best = index_of(*wanted);
    small = index_of(small_force * *wanted);
  } else {
    // The curve begins with the largest tolerance.
    const int accepted = accept(report.curve, recipe.ecsw_acceptance),
              loose = accept(report.curve, std::max(small_acceptance, recipe.ecsw_acceptance));
    if (accepted < 0)
      report.notes.push_back(
          fmt::format("no choice of elements came within {:.3g} % of the errors of all elements: the largest is kept",
                      100 * recipe.ecsw_acceptance));
    best = accepted < 0 ? 0 : curve - 1 - static_cast<std::size_t>(accepted);
    small = loose < 0 ? 0 : curve - 1 - static_cast<std::size_t>(loose);
  }
  progress("validation", static_cast<double>(curve), static_cast<double>(curve + 4), "full model");
  ModelRow line;
  line.label = "full";
  {
    // One thread, as every rate of the table.
    const SingleThreaded one;
    FullMechanics mechanics(full);
    line.rate = measure_rate(mechanics, 2000, 2 * settings.rate_seconds, recipe.seed + 7);
  }
  report.table.push_back(line);
  report.table.push_back(row("POD only", all, test, settings.rate_seconds));
  report.table.push_back(row("hyper-reduced (small)", restrict_to(all, domains[small]), test, settings.rate_seconds));
  result.model = restrict_to(all, domains[best]);
  report.table.push_back(row("hyper-reduced", result.model, test, settings.rate_seconds));
  result.model.errors = report.table.back().errors;
  all = {};
  result.model.robot.obstacles = whole.robot.obstacles;
  if (shaken_in_time(full.robot))
    report.notes.push_back(fmt::format(
        "the robot lies loose among obstacles: it was shaken and judged in time, without friction, along ramps of {} "
        "steps of {:.3g} ms from state to state",
        recipe.sweep_steps, 1e3 * full.robot.time_step));
  report.dynamic = compare_dynamics(whole, result.model, settings.dynamic_steps, recipe.seed + 11, progress);
  if (full.robot.floating && !report.dynamic.failed)
    report.notes.push_back(fmt::format(
        "along the unseen path the reduced body is turned by up to {:.2g} degrees against the full one (its "
        "rotations are linearised), which its goal error there does not count",
        report.dynamic.where.turned * 180 / std::numbers::pi));
  if (shaken_in_time(full.robot) && !report.dynamic.failed)
    report.notes.push_back(
        fmt::format("with friction, the full body goes {:.3g} mm away along that path, and the reduced one is at most "
                    "{:.3g} mm beside it",
                    1e3 * report.dynamic.where.travelled, 1e3 * report.dynamic.where.strayed));
  report.seconds.validation = now() - mark;
  report.seconds.total = now() - start;

  const ErrorSummary& errors = result.model.errors;
  // Written so that an error that is not a number (no effector moves) is refused too.
  if (recipe.goal_error_limit && !(errors.goal_mean <= *recipe.goal_error_limit))
    report.refused = fmt::format("mean goal error {:.3g} % exceeds its limit of {:.3g} %", 100 * errors.goal_mean,
                                 100 * *recipe.goal_error_limit);
  else if (recipe.shape_error_limit && !(errors.shape_mean <= *recipe.shape_error_limit))
    report.refused = fmt::format("mean shape error {:.3g} % exceeds its limit of {:.3g} %", 100 * errors.shape_mean,
                                 100 * *recipe.shape_error_limit);
  return result;
}

}  // namespace supple

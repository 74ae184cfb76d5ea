#include "engine/reduction/pipeline.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "engine/dynamics/full_mechanics.hpp"
#include "engine/dynamics/reduced_mechanics.hpp"
#include "engine/reduction/basis.hpp"
#include "engine/reduction/contact_compliance.hpp"
#include "engine/reduction/lifting.hpp"
#include "engine/reduction/metric.hpp"
#include "engine/reduction/model_basis.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/project.hpp"
#include "engine/reduction/reduced_shape.hpp"
#include "engine/reduction/rigid_motion.hpp"
#include "engine/reduction/selection.hpp"
#include "engine/reduction/strain_modes.hpp"
#include "engine/reduction/training.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

namespace {

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
constexpr double tightest_curve = 0.25;     // of the model's tolerance, where there is one
constexpr double small_acceptance = 0.5;    // and what it may lose where domains are accepted by their errors
constexpr double largest_error_growth = 2;  // of the worst state against that of all elements

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
  const std::vector<double> alpha = project_states(basis, all.modes, displacements);
  std::vector<double> states;
  for (int s = 0; s < set.count; ++s) {
    const std::span<const double> modes = std::span(alpha).subspan(extent(s, all.modes), extent(all.modes));
    const std::vector<double> motions = control_of(all.robot, set.commands[extent(s)]).motions;
    states.insert(states.end(), modes.begin(), modes.end());
    states.insert(states.end(), motions.begin(), motions.end());
  }
  if (scene.reduction.ecsw_training != "rerun") return states;
  ReducedMechanics mechanics(all);
  Variations without_friction;
  without_friction.friction.assign(all.robot.obstacles.size(), 0.0);
  mechanics.set_variations(without_friction);
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

// Elements are chosen on every so-manieth state. States a time step apart say nearly the same (decision 0022); all
// parts of a ramp come.
int elements_every(const Robot& robot, const ReductionScene& recipe, int count) {
  constexpr int most = 8, least_states = 64;
  if (recipe.elements_every > 0) return std::min(recipe.elements_every, count);
  int every = shaken_in_time(robot) ? std::clamp(count / least_states, 1, most) : 1;
  while (std::gcd(every, recipe.sweep_steps) > 1) --every;
  return every;
}

// Values of `count` states: those of every so-manieth stay, the first among them.
void keep_every(int every, std::vector<double>& values, int count) {
  const std::size_t length = values.size() / extent(count);
  std::size_t kept = 0;
  for (int s = 0; s < count; s += every, ++kept)
    std::copy_n(values.begin() + static_cast<long>(extent(s) * length), length,
                values.begin() + static_cast<long>(kept * length));
  values.resize(kept * length);
}

// The loosest domain that loses little: mean errors on the selection set at most 1 + loss times those of all elements,
// the worst state at most twice as bad, no failed solve that all elements do not fail too, and two units per mode
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
        curve[k].units < 2 * curve[k].modes)
      continue;
    return static_cast<int>(k);
  }
  return -1;
}

// Puts strain modes in the place of the membranes' elements; a note.
std::string replace_membranes(const FullModel& full, const ReductionScene& recipe, const std::string& folder,
                              const SnapshotSet& training, ReducedModel& all) {
  const int field = membrane_field(full);
  const StrainBasis basis = strain_basis(
      full, field, displacement_blocks(folder, training, full.coordinates.nv), training,
      {recipe.strain_tolerance, recipe.max_strain_modes, elements_every(full.robot, recipe, training.count)});
  use_strain_modes(all, field, basis);
  const std::string missed =
      basis.left_out > basis.tolerance
          ? fmt::format(" (more than strain_tolerance, {:.3g} %, for max_strain_modes)", 100 * basis.tolerance)
          : "";
  return fmt::format(
      "membranes: {} modes leave out {:.3g} %{} of the strains of {} triangles, in the norm of energy; they stretch by "
      "up to {:.2g} %, where Green strains are off the membrane's law by {:.2g} % on average",
      basis.modes, 100 * basis.left_out, missed, all.fields[extent(field)].total_elements, 100 * basis.largest,
      100 * basis.off_law);
}

SelectionRule rule_of(const ReductionScene& recipe) {
  if (recipe.ecsw_selection == "displacement") return SelectionRule::displacement;
  return recipe.ecsw_selection == "lawson-hanson" ? SelectionRule::lawson_hanson : SelectionRule::lawson_hanson_pruned;
}

}  // namespace

void check_recipe(const ReductionScene& recipe, const FullModel& full) {
  if (shaken_in_time(full.robot) && recipe.ecsw_training == "rerun")
    throw InputError(
        "the second pass of [reduce] training = \"rerun\" solves equilibria, and a robot that lies loose among "
        "obstacles is learnt in time",
        "training = \"projected\"");
  if (recipe.contact_modes > 0 && full.robot.pairs() == 0)
    throw InputError("[reduce] contact_modes is for robots among obstacles, and the scene has none",
                     "[[obstacle]], or without contact_modes");
  const bool strains = recipe.membranes == MembraneForm::strains;
  if (strains && membrane_field(full) < 0)
    throw InputError("[reduce] membranes = \"strains\" is for bodies with membranes, and this one has none",
                     "[[body.membrane]], or without membranes");
  if (recipe.elements == 0) return;
  if (recipe.ecsw_tolerance)
    throw InputError("a number of elements and their tolerance contradict each other", "one of them");
  if (full.fields.size() > (strains ? 2 : 1))
    throw InputError("a number of elements is for bodies with one force field, and this one has several",
                     "elements_tolerance, or elements_acceptance");
}

Reduction reduce(const Scene& scene, const FullModel& full, const ReduceSettings& settings, const Progress& progress) {
  const double start = now();
  Reduction result;
  ReduceReport& report = result.report;
  const ReductionScene& recipe = scene.reduction;
  const auto check_stop = [&] {
    if (progress.stopped())
      throw Interrupted("stopped; the full-order states are kept", "the same command again: it goes on from there");
  };

  std::optional<DeviceRoom> device = settings.device;
  if (!device && settings.snapshots.batch.device.kind == Device::Kind::cuda) device = settings.snapshots.batch.device;

  check_recipe(recipe, full);
  report.snapshots = compute_snapshots(full, scene, settings.snapshots, progress);
  report.seconds.snapshots = now() - start;
  const SceneIdentity identity = identify(scene);
  const SamplingPlans plans = make_plans(full.robot, recipe);
  const std::vector<SetPlan> sets = sets_of(plans, settings.snapshots.folder);
  const int nv = full.coordinates.nv, rows = full.robot.rows();
  const auto read = [&](std::size_t k) { return read_snapshots(sets[k].folder, identity, *sets[k].plan, nv, rows); };
  const TrainingSet training_set = read_training(full, scene, settings.snapshots.folder);
  const SnapshotSet& training = training_set.snapshots;
  const Ranks& ranks = settings.snapshots.ranks;
  const ColumnBlocks displacements = basis_columns(full, training_set.folder, training, ranks.size);
  if (!training_set.plan.note.empty()) report.notes.push_back(training_set.plan.note);
  if (training.failed > 0)
    report.notes.push_back(fmt::format("{} of {} training states did not converge and were left out", training.failed,
                                       training.failed + training.count));
  if (training.count < 2)
    throw RunError("fewer than two training states converged", "`supple simulate` the scene; smaller actuator ranges");

  double mark = now();
  progress("POD", 0, 1);
  const ModelBasis made = model_basis(full, training_set, displacements, recipe, ranks, device, progress);
  if (ranks.rank > 0) return result;
  const Pod& pod = made.pod;
  const std::vector<double>& basis = made.vectors;
  const int modes = made.modes;
  report.singular_values = pod.singular_values;
  report.truncation_error = truncation_errors(pod.singular_values, truncation_of(recipe));
  report.notes.insert(report.notes.end(), made.notes.begin(), made.notes.end());
  report.seconds.pod = now() - mark;
  check_stop();
  const ReferenceStates selection = reference_states(full, read(1)), test = reference_states(full, read(2));
  if (test.failed > 0)
    report.notes.push_back(fmt::format("{} of {} test states of the full model did not converge and were left out",
                                       test.failed, test.failed + test.count));
  if (test.count == 0)
    throw RunError("no test state of the full model converged", "`supple simulate` the scene; smaller actuator ranges");

  mark = now();
  ReducedModel all = project(full, basis, modes, all_elements(full));
  if (recipe.unit == DomainUnit::point) all = by_points(std::move(all));
  if (recipe.membranes == MembraneForm::strains) {
    progress("strain modes", 0, 1);
    report.notes.push_back(replace_membranes(full, recipe, training_set.folder, training, all));
    check_stop();
  }
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
  std::vector<double> multipliers = training.multipliers;
  if (const int every = elements_every(full.robot, recipe, training.count); every > 1) {
    keep_every(every, states.states, training.count);
    keep_every(every, multipliers, training.count);
    states.count = (training.count + every - 1) / every;
    report.notes.push_back(
        fmt::format("elements are chosen on {} of {} states, one in {}", states.count, training.count, every));
  }
  SelectionSettings selecting{rule_of(recipe), settings.tolerances};
  selecting.device = device;
  const bool displacement = selecting.rule == SelectionRule::displacement;
  if (displacement) states.metric = displacement_metric(all, states.states, multipliers, states.count);
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
  if (tolerances.empty()) {
    tolerances = displacement ? displacement_tolerances() : std::vector<double>{0.2, 0.1, 0.05, 0.03, 0.02, 0.01};
    // Far tighter domains would cost most of the time and only lengthen the curve.
    if (wanted) std::erase_if(tolerances, [&](double tau) { return tau < tightest_curve * *wanted; });
  }
  if (wanted && recipe.elements == 0) tolerances.insert(tolerances.end(), {*wanted, small_force * *wanted});
  std::sort(tolerances.begin(), tolerances.end());
  tolerances.erase(std::unique(tolerances.begin(), tolerances.end()), tolerances.end());
  std::vector<std::vector<IntegrationDomain>> domains(tolerances.size());
  for (std::size_t f = 0; f < all.fields.size(); ++f) {
    if (const ReducedField& field = all.fields[f]; field.strains.count > 0) {
      for (auto& domain : domains) domain.push_back({{}, {}, field.tolerance, field.residual});
      continue;
    }
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
      if (field.strains.count > 0) continue;
      line.elements += kept_elements(field).count();
      line.units += field.units();
      line.points += field.points();
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
  if (full.robot.pairs() > 0) {
    FullMechanics body(full);
    ReducedMechanics own(result.model);
    result.model.full_compliance = point_compliance(body);
    result.model.own_compliance = point_compliance(own);
    if (result.model.full_compliance.empty() || result.model.own_compliance.empty()) {
      result.model.full_compliance.clear();
      result.model.own_compliance.clear();
    }
  }
  const bool friction = slides_with_friction(full.robot);
  if (shaken_in_time(full.robot))
    report.notes.push_back(
        fmt::format("the robot lies loose among obstacles: it was shaken in time{}, {} steps of {:.3g} ms for each "
                    "state, and judged "
                    "so{}",
                    !friction                                  ? ""
                    : recipe.friction == ShakingFriction::none ? " without friction"
                                                               : " with friction",
                    recipe.sweep_steps, 1e3 * full.robot.time_step, friction ? " with friction" : ""));
  report.dynamic = compare_dynamics(full, result.model, settings.dynamic_steps, recipe.seed + 11, progress);
  if (full.robot.floating && !report.dynamic.failed)
    report.notes.push_back(fmt::format(
        "along the unseen path the reduced body is turned by up to {:.2g} degrees against the full one (its "
        "rotations are linearised), which its goal error there does not count",
        report.dynamic.where.turned * 180 / std::numbers::pi));
  if (shaken_in_time(full.robot) && !report.dynamic.failed)
    report.notes.push_back(
        fmt::format("the full body goes {:.3g} mm away along that path, and the reduced one is at most "
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
  else if (error_level(errors) == ErrorLevel::too_large) {
    report.refused = fmt::format("its mean error on test states is {} (more than {:g} %)", mean_errors_text(errors),
                                 100 * refused_error);
    report.forcible = true;
  }
  return result;
}

}  // namespace supple

#include "engine/reduction/pipeline.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/step_work.hpp"
#include "engine/model/on_frame.hpp"
#include "engine/model/parameters.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/model/stretch.hpp"
#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/basis/contact_compliance.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/basis/model_basis.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/basis/strain_modes.hpp"
#include "engine/reduction/branches.hpp"
#include "engine/reduction/elements/selection.hpp"
#include "engine/reduction/elements/training.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/more_states.hpp"
#include "engine/reduction/snapshots/pushes.hpp"
#include "engine/reduction/snapshots/reach.hpp"
#include "engine/reduction/snapshots/varied_commands.hpp"
#include "engine/reduction/strains/solid_strains.hpp"
#include "engine/reduction/validation_set.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Tolerances of the displacement rule: from a predicted displacement that no robot shows in its errors, a small one
// against the error asked for, to one where models fail.
std::vector<double> displacement_tolerances(const std::optional<double>& error) {
  constexpr double tightest = 4e-4, step = 1.25;
  std::vector<double> tolerances;
  for (double tau = tightest; tau < 0.04; tau *= step) tolerances.push_back(tau);
  for (double tau = tightest / step; error && tau > 0.1 * *error; tau /= step) tolerances.push_back(tau);
  return tolerances;
}
constexpr double tight_domain = 4e-4;       // that strain modes are made of, of either rule
constexpr double force_tolerance = 0.02;    // of the two force rules, unless the scene gives one
constexpr double small_force = 2.5;         // the small domain's tolerance in multiples of the model's
constexpr double tightest_curve = 0.25;     // of the model's tolerance, where there is one
constexpr double small_acceptance = 0.5;    // and what it may lose where domains are accepted by their errors
constexpr double largest_error_growth = 2;  // of the worst state against that of all elements

// Where modes are added (`error` in [reduce]).
constexpr double share_of_modes = 0.7;  // of the error asked for; the rest is for the choice of elements
constexpr double share_of_strains = 1;  // instead: strain modes have smaller errors than all elements (decision 0049)
constexpr double share_of_elements = 0.85;  // of a model of chosen elements; the rest is for states not seen yet
constexpr double finest_tolerance = 1e-7;   // of the modes that there are to add
constexpr double more_modes = 4.0 / 3;      // so many times as many
constexpr double least_gain = 0.95;         // additions that leave more of the error than this are idle
constexpr int most_idle = 3;
constexpr std::size_t domains_tried = 8;    // larger and larger ones
constexpr double most_elsewhere = 0.25;     // share of the test states that may be in other equilibria
constexpr double much_out_of_reach = 0.25;  // share of the test states
constexpr double shown_by_modes = 0.5;      // of the mean error: what all modes may leave of unseen states
// Where states are added a doubling that leaves more of the error than this did not pay.
constexpr double least_gain_of_states = 0.9;

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
  ChangingModel<ReducedModel> changing(all);
  ReducedMechanics mechanics(changing.model());
  Variations without_friction;
  without_friction.friction.assign(all.robot.obstacles.size(), 0.0);
  mechanics.set_variations(without_friction);
  Equilibrium equilibrium(mechanics, {});
  State state = rest_state(mechanics);
  int failed = 0;
  for (int s = 0; s < set.count; ++s) {
    const Control control = control_of(all.robot, set.commands[static_cast<std::size_t>(s)]);
    equilibrium.set_load(load_of(mechanics, set.commands[extent(s)]));
    if (changing.set(parameters_of(all.robot, set.commands[static_cast<std::size_t>(s)]))) mechanics.model_changed();
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

// Elements are selected using every n-th training snapshot. Snapshots a time step apart hold nearly the same (decision
// 0022); all parts of a ramp are taken.
int elements_every(const Robot& robot, const ReductionScene& recipe, int count) {
  constexpr int most = 8, least_states = 64;
  if (recipe.elements_every > 0) return std::min(recipe.elements_every, count);
  int every = shaken_in_time(robot) ? std::clamp(count / least_states, 1, most) : 1;
  while (std::gcd(every, recipe.sweep_steps) > 1) --every;
  return every;
}

// Values of `count` snapshots: those of every n-th stay, the first among them.
void keep_every(int every, std::vector<double>& values, int count) {
  const std::size_t length = values.size() / extent(count);
  std::size_t kept = 0;
  for (int s = 0; s < count; s += every, ++kept)
    std::copy_n(values.begin() + static_cast<long>(extent(s) * length), length,
                values.begin() + static_cast<long>(kept * length));
  values.resize(kept * length);
}

// The loosest domain that loses little: mean errors on the selection set at most 1 + loss times those of all elements,
// the worst state at most twice as bad, no failed solve that all elements do not fail too, no more states in other
// equilibria than of all elements, and, unless solids are strain modes, two units per mode (below that, predictions and
// a small selection set both mislead). curve: from the loosest to the tightest, then all elements. -1: none.
int accept(const std::vector<ModelRow>& curve, double loss, bool solids_by_strains) {
  const ErrorSummary& floor = curve.back().errors;
  for (std::size_t k = 0; k + 1 < curve.size(); ++k) {
    const ErrorSummary& errors = curve[k].errors;
    // Written so that a robot without effectors, whose goal error is not a number, is judged by its shape.
    const auto exceeds = [](double error, double limit) { return error > limit; };
    if (!std::isfinite(errors.shape_mean) || exceeds(errors.goal_mean, (1 + loss) * floor.goal_mean) ||
        exceeds(errors.shape_mean, (1 + loss) * floor.shape_mean) ||
        exceeds(errors.goal_max, largest_error_growth * floor.goal_max) ||
        exceeds(errors.shape_max, largest_error_growth * floor.shape_max) || errors.failed > floor.failed ||
        errors.elsewhere > floor.elsewhere || (!solids_by_strains && curve[k].units < 2 * curve[k].modes))
      continue;
    return static_cast<int>(k);
  }
  return -1;
}

// Puts strain modes in the place of the membranes' elements; a note.
std::string replace_membranes(const FullModel& full, const ReductionScene& recipe, const std::string& folder,
                              const SnapshotSet& training, ReducedModel& all) {
  const int field = membrane_field(full);
  const StrainBasis basis =
      strain_basis(full, field, displacement_blocks(folder, training, full.coordinates.nv), training,
                   {recipe.strain_tolerance.value_or(membrane_strain_tolerance), recipe.max_strain_modes,
                    elements_every(full.robot, recipe, training.count)});
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

namespace {

// How many elements the solids are to have, or their tolerance: with solids by strain modes that of membranes alone.
bool gives_elements(const ReductionScene& recipe, const FullModel& full) {
  const bool membranes = membrane_field(full) >= 0 && recipe.membranes == FieldForm::elements;
  return recipe.elements > 0 || (recipe.ecsw_tolerance && !membranes);
}

}  // namespace

void check_recipe(const ReductionScene& recipe, const FullModel& full) {
  if (shaken_in_time(full.robot) && recipe.ecsw_training == "rerun")
    throw InputError(
        "the second pass of [reduce] training = \"rerun\" solves equilibria, and a free-floating robot in "
        "contact with obstacles is trained on transient trajectories",
        "training = \"projected\"");
  if (recipe.contact_modes > 0 && full.robot.pairs() == 0 && full.robot.pushes == 0)
    throw InputError("[reduce] contact_modes is for robots in contact with obstacles, and the scene has none",
                     "[[obstacle]] or pushes, or without contact_modes");
  if (still_inputs(full.robot) > 0) (void)make_plans(full.robot, recipe);  // throws where they do not go with samples
  if (!full.robot.parameters.empty()) {
    if (recipe.contact_modes > 0 && !stretches_of(full.robot).empty())
      throw InputError("[reduce] contact_modes is not for scenes with a stretch (where the body touches depends on it)",
                       "without contact_modes", recipe.place);
    if (recipe.solids == FieldForm::strains || recipe.membranes == FieldForm::strains)
      throw InputError("parameters are not for strain modes (one fit serves one set of parameters)",
                       recipe.solids == FieldForm::strains ? "solids = \"elements\"" : "membranes = \"elements\"",
                       recipe.place);
  }
  const bool strains = recipe.membranes == FieldForm::strains;
  if (strains && membrane_field(full) < 0)
    throw InputError(
        "[reduce] membranes = \"strains\" is for bodies with sheets ([[body.membrane]] with a thickness), and "
        "this one has none",
        "membranes = \"elements\"");
  if (recipe.solids == FieldForm::strains) {
    if (const std::string why_not = no_solid_strains(full); !why_not.empty())
      throw InputError(fmt::format("[reduce] solids = \"strains\" is not supported here: {}", why_not),
                       "solids = \"elements\"");
    if (gives_elements(recipe, full))
      throw InputError("a number of elements, or their tolerance, is in conflict with solids = \"strains\"",
                       "neither elements nor elements_tolerance: strains have strain_tolerance and max_strain_modes");
  }
  if (recipe.elements == 0) return;
  if (recipe.ecsw_tolerance)
    throw InputError("a number of elements and their tolerance are in conflict", "one of them");
  if (full.fields.size() > (strains ? 2 : 1))
    throw InputError("a number of elements is for bodies with one force field, and this one has several",
                     "elements_tolerance or elements_acceptance; of one material, dilatation = \"points\" in [body]");
}

namespace {

// The job and what its stages hand on: one method for each stage, called in the order in which they stand.
class ReductionJob {
 public:
  ReductionJob(const Scene& scene, const FullModel& full, const ReduceSettings& settings, const Progress& progress)
      : scene_(scene), full_(full), settings_(settings), progress_(progress), validation_(full) {
    // Errors of a free-floating body's shape say nothing of where it is: none is asked for unless the user does.
    if (full.robot.floating) drop_default_error(scene_.reduction);
    selecting_.rule = rule_of(recipe_);
    selecting_.tolerances = settings.tolerances;
    selecting_.device = settings.device;
    const Device& of_states = settings.snapshots.batch.device;
    if (!selecting_.device && of_states.kind == Device::Kind::cuda) selecting_.device = of_states;
  }
  Reduction run();

 private:
  void begin();
  TrainingSet take_snapshots();
  bool find_modes(const TrainingSet& training, const ColumnBlocks& displacements);
  void read_references();
  void project_model(const TrainingSet& training);
  void add_modes(const TrainingSet& training, const ColumnBlocks& displacements);
  bool add_states(const TrainingSet& training, const ColumnBlocks& displacements);
  ReductionScene finest() const;
  std::size_t larger_domain(int accepted);
  TrainingStates make_training(const TrainingSet& training, const ColumnBlocks& displacements);
  void plan_tolerances();
  void select_elements(const TrainingStates& states);
  bool strains_alone() const;
  // Solids by strain modes, fitted to equilibria of the full model.
  bool closes_strains() const {
    return recipe_.solids == FieldForm::strains && closes(full_.robot) && recipe_.converged;
  }
  void fit_strains(const TrainingStates& states);
  // Of POD alone.
  const ReducedModel& whole() const { return whole_.modes > 0 ? whole_ : all_; }
  void trace_curve();
  std::pair<std::size_t, std::size_t> choose_domains();
  bool on_frame() const { return recipe_.rigid_motion == RigidMotionForm::frame && can_be_on_frame(full_.robot); }
  // The model, or in `room` the same on a frame.
  const ReducedModel& as_it_moves(const ReducedModel& model, ReducedModel& room) const {
    if (!on_frame() || model.on_frame) return model;
    return room = put_on_frame(model);
  }
  void make_table(std::size_t best, std::size_t small);
  void report_branches();
  void add_compliance();
  bool along_commands() const { return !recipe_.along.file.empty(); }
  UnseenPath unseen_path();
  void compare_in_motion();
  void judge();
  void find_limit(const AskedError& asked);
  bool limited_by_reach();
  std::string more_states() const;
  // Whether the projection error of the validation set tells of its states: of equilibria of a body that is held.
  bool projects_equilibria() const { return validation_.equilibria.path.empty() && !validation_.equilibria.fit; }

  void check_stop() const {
    if (progress_.stopped())
      throw Interrupted("stopped; the full-order states are kept", "the same command again: it continues from there");
  }
  void note_reach(const char* name, const SnapshotSet& set) {
    if (set.out_of_reach.empty()) return;
    const std::string where = where_out_of_reach(full_.robot, set);
    note(fmt::format(
        "{} of {} {} states are out of reach: on the way to their commands equilibria end (a body that folds into "
        "itself), the first at {:.0f} % of the commands; others on that way took their place{}{}",
        set.out_of_reach.size(), set.count + set.failed, name, 100 * set.least_reach,
        where.empty() ? "" : ". Out of reach: ", where));
  }
  void note(std::string text) { result_.report.notes.push_back(std::move(text)); }
  // known: its errors there, where they have been evaluated.
  ModelRow row(const std::string& label, const ReducedModel& linearised, const ReferenceStates& reference,
               double seconds, const std::optional<ErrorSummary>& known = std::nullopt);

  Scene scene_;  // with the states that were added
  const FullModel& full_;
  const ReduceSettings& settings_;
  const Progress& progress_;
  const ReductionScene& recipe_ = scene_.reduction;
  Reduction result_;
  ModelBasis modes_;
  ValidationSet validation_;
  ReferenceStates test_;
  ReducedModel all_;                   // with every element, of solids by strain modes with these instead
  ReducedModel whole_;                 // then: with every element
  bool lost_in_motion_ = false;        // where the full model is not
  ErrorShares reached_;                // by the model that modes were added to
  double out_of_reach_ = 0;            // share of the test states
  bool states_help_ = true;            // as far as the trend tells
  bool can_double_ = false;            // the training states
  double last_share_ = 0;              // of reached_, of unseen states: with half of them
  std::optional<ErrorSummary> floor_;  // its errors on the validation set, once they are known
  std::string membrane_note_;
  ReductionScene used_;           // the recipe with the modes that were taken
  double best_shape_ = 0;         // projection error of the validation set on all modes there are
  SelectionSettings selecting_;   // its tolerances ascend, one domain for each
  std::optional<double> wanted_;  // the tolerance of the model, if one was asked for
  std::vector<std::vector<IntegrationDomain>> domains_;  // [tolerance][field]
  double mark_ = now();                                  // where the stage began
};

// Forgets what a model of fewer states has left.
void ReductionJob::begin() {
  used_ = recipe_;
  used_.modes_by_error = false;  // so that the modes of the model can be made again
  result_.report.notes.clear();
  result_.report.mode_search.clear();
  floor_.reset();
}

// Snapshots of all sets are in the folder afterwards; those of the training set are read.
TrainingSet ReductionJob::take_snapshots() {
  ReduceReport& report = result_.report;
  check_recipe(recipe_, full_);
  mark_ = now();
  report.snapshots = compute_snapshots(full_, scene_, settings_.snapshots, progress_);
  report.seconds.snapshots += now() - mark_;
  TrainingSet training = read_training(full_, scene_, settings_.snapshots.folder);
  can_double_ = can_double(training.plan);
  const int count = training.snapshots.count, failed = training.snapshots.failed;
  if (!training.plan.note.empty()) note(training.plan.note);
  if (failed > 0)
    note(fmt::format("{} of {} training states did not converge and were left out ({})", failed, failed + count,
                     failures_text(training.snapshots)));
  note_reach("training", training.snapshots);
  if (count < 2)
    throw RunError("fewer than two training states converged", "`supple simulate` the scene; smaller actuator ranges");
  return training;
}

// False: another rank continues.
bool ReductionJob::find_modes(const TrainingSet& training, const ColumnBlocks& displacements) {
  mark_ = now();
  progress_("POD", 0, 1);
  const Ranks& ranks = settings_.snapshots.ranks;
  modes_ = model_basis(full_, training, displacements, recipe_, ranks, selecting_.device, progress_);
  if (ranks.rank > 0) return false;
  ReduceReport& report = result_.report;
  report.singular_values = modes_.pod.singular_values;
  report.truncation_error = truncation_errors(modes_.pod.singular_values, truncation_of(recipe_));
  report.seconds.pod += now() - mark_;
  check_stop();
  return true;
}

void ReductionJob::read_references() {
  const SamplingPlans plans = make_plans(full_.robot, recipe_);
  const std::vector<SetPlan> sets = sets_of(plans, settings_.snapshots.folder);
  const auto read = [&](std::size_t k, const char* name) {
    const SnapshotSet set =
        read_snapshots(sets[k].folder, identify(scene_), *sets[k].plan, full_.coordinates.nv, full_.robot.rows());
    note_reach(name, set);
    const double out_of_reach = static_cast<double>(set.out_of_reach.size()) / std::max(1, set.count + set.failed);
    ReferenceStates states = reference_states(full_, set);
    const auto asked = asked_error(recipe_);
    const bool judged = asked || sets[k].plan == &plans.test;
    if (judged && states.path.empty() && !full_.robot.floating)
      states.branches = std::make_shared<Branches>(full_, asked ? asked->largest : far_without_asked_error);
    return std::pair(std::move(states), out_of_reach);
  };
  validation_.equilibria = read(1, "validation").first;
  std::tie(test_, out_of_reach_) = read(2, "test");
  if (test_.failed > 0)
    note(fmt::format("{} of {} test states of the full model did not converge and were left out", test_.failed,
                     test_.failed + test_.count));
  if (test_.count == 0)
    throw RunError("no test state of the full model converged", "`supple simulate` the scene; smaller actuator ranges");
}

void ReductionJob::project_model(const TrainingSet& training) {
  all_ = project(full_, modes_.vectors, modes_.modes, all_elements(full_));
  if (recipe_.unit == DomainUnit::point) all_ = by_points(std::move(all_));
  if (recipe_.membranes == FieldForm::strains) {
    progress_("strain modes", 0, 1);
    membrane_note_ = replace_membranes(full_, recipe_, training.folder, training.snapshots, all_);
    check_stop();
  }
  const SceneIdentity identity = identify(scene_);
  Provenance& provenance = all_.provenance;
  provenance.version = version();
  provenance.scene_name = scene_.name;
  Scene used = scene_;
  used.reduction = used_;
  provenance.scene_text = write_scene(used);
  provenance.scene_hash = identity.scene;
  provenance.mesh_hash = identity.mesh;
  provenance.snapshots = training.snapshots.count;
  provenance.pod_tolerance = used_.pod_tolerance;
  provenance.pod_tolerance_squared = recipe_.pod_tolerance_squared;
  provenance.pod_error = modes_.pod.truncation_error;
  provenance.seed = recipe_.seed;
  all_.singular_values = modes_.pod.singular_values;
}

// All modes that there are to add.
ReductionScene ReductionJob::finest() const {
  ReductionScene finest = recipe_;
  finest.pod_tolerance = std::min(finest_tolerance, recipe_.pod_tolerance);
  return finest;
}

// Adds modes until the model of all elements has the error asked for, or more of them do not help: then those of the
// least error are taken.
void ReductionJob::add_modes(const TrainingSet& training, const ColumnBlocks& displacements) {
  if (!recipe_.modes_by_error) return;
  const AskedError asked = *asked_error(recipe_);
  best_shape_ = projection_error(modes_.vectors, modes_.modes, validation_.equilibria);
  validation_.take_trained(training, asked);
  if (const int failed = validation_.drive(recipe_.seed + 11, progress_); failed > 0)
    note(fmt::format("the full model does not follow {} of the validation trajectories: models are chosen without them",
                     failed));
  std::vector<ModelRow>& search = result_.report.mode_search;
  std::vector<ErrorShares> shares;  // of the error asked for, one for each row of the search
  const auto least = [&] { return std::ranges::min_element(shares, {}, &ErrorShares::largest); };
  const auto judge = [&](int count) {
    ReducedModel room;
    const ReducedModel& moving = as_it_moves(all_, room);
    floor_ = evaluate_errors(moving, modes_.vectors, validation_.equilibria);
    ModelRow line;
    line.label = fmt::format("{} modes", count);
    line.modes = count;
    line.errors = *floor_;
    search.push_back(std::move(line));
    const double part = closes_strains() ? share_of_strains : share_of_modes;
    shares.push_back(validation_.shares(moving, modes_.vectors, *floor_, asked, part));
    reached_ = *least();
    check_stop();
  };
  int count = modes_.pod.modes, idle = 0;
  judge(count);
  if (reached_.largest() <= 1) return;
  const SnapshotBasis there = snapshot_basis(full_, displacements, finest(), {}, selecting_.device);
  best_shape_ = projection_error(there.vectors, there.modes, validation_.equilibria);
  const auto take = [&](int modes) {
    used_.pod_tolerance = finest().pod_tolerance;
    used_.max_modes = modes;
    modes_ = model_basis(full_, training, first_modes(there, modes, truncation_of(recipe_)), recipe_, progress_);
    project_model(training);
  };
  while (count < there.pod.modes && idle < most_idle && reached_.largest() > 1) {
    const double so_far = reached_.largest();
    count = std::min(there.pod.modes, std::max(count + 2, static_cast<int>(std::lround(more_modes * count))));
    progress_("modes", count, there.pod.modes, fmt::format("error {:.2g} of what it may be", so_far));
    take(count);
    judge(count);
    idle = shares.back().largest() > least_gain * so_far ? idle + 1 : 0;
  }
  const auto best = least() - shares.begin();
  floor_ = search[static_cast<std::size_t>(best)].errors;
  if (const int fewest = search[static_cast<std::size_t>(best)].modes; fewest != count) take(fewest);
  if (modes_.pod.modes == search.front().modes) return;
  note(fmt::format("modes were added from {} to {}: mean errors on the validation set are {} instead of {}",
                   search.front().modes, modes_.pod.modes, mean_errors_text(*floor_),
                   mean_errors_text(search.front().errors)));
}

// Doubles the training states where the model misses its error for want of them; true: it is to be made again.
bool ReductionJob::add_states(const TrainingSet& training, const ColumnBlocks& displacements) {
  if (!recipe_.modes_by_error) return false;
  std::vector<StateRow>& search = result_.report.state_search;
  const double share = std::max(reached_.equilibria, reached_.motion);
  search.push_back({training.snapshots.count, modes_.modes, *floor_});
  const int left = most_added_doublings + 1 - static_cast<int>(search.size());
  const bool idle = search.size() > 1 && share > least_gain_of_states * last_share_;
  last_share_ = share;
  if (share <= 1 || left == 0 || idle || !can_double_ || !projects_equilibria()) return false;
  if (settings_.snapshots.ranks.size > 1) {
    note("states are not added by several ranks: the same command in one process adds them, or doublings in [reduce]");
    return false;
  }
  if (reached_.equilibria > 1) {
    const double enough = shown_by_modes * asked_error(recipe_)->mean;
    if (best_shape_ <= enough) return false;  // it is not for want of states
    const double expected = error_of_more_states(full_, displacements, finest(), validation_.equilibria, best_shape_,
                                                 left, selecting_.device);
    if (expected > enough) {
      states_help_ = false;
      note(fmt::format(
          "no states were added: with {} times as many their modes would still leave about {:.2g} % of unseen "
          "ones",
          1 << left, 100 * expected));
      return false;
    }
  }
  ++scene_.reduction.doublings;
  return true;
}

TrainingStates ReductionJob::make_training(const TrainingSet& training, const ColumnBlocks& displacements) {
  const int count = training.snapshots.count;
  TrainingStates states{
      count,
      training_states(scene_, all_, modes_.vectors, training.snapshots, displacements, result_.report.notes, progress_),
      {},
      training.snapshots.multipliers,
      {}};
  for (const Sample& sample : training.snapshots.commands) {
    const std::span<const double> values = parameters_of(full_.robot, sample);
    states.parameters.insert(states.parameters.end(), values.begin(), values.end());
  }
  for (const auto& source : training.snapshots.source)
    states.equilibrium.push_back(recipe_.converged && recipe_.ecsw_training != "rerun" && !source.in_time ? 1 : 0);
  if (const int every = elements_every(full_.robot, recipe_, count); every > 1) {
    keep_every(every, states.states, count);
    keep_every(every, states.multipliers, count);
    keep_every(every, states.equilibrium, count);
    keep_every(every, states.parameters, count);
    states.count = (count + every - 1) / every;
    note(fmt::format("elements are chosen on {} of {} states, one in {}", states.count, count, every));
  }
  if (selecting_.rule == SelectionRule::displacement || recipe_.solids == FieldForm::strains)
    states.metric = displacement_metric(all_, states.states, states.multipliers, states.count, states.parameters);
  result_.report.seconds.training = now() - mark_;
  return states;
}

void ReductionJob::plan_tolerances() {
  const bool displacement = selecting_.rule == SelectionRule::displacement;
  wanted_ = recipe_.ecsw_tolerance;
  if (!displacement && !wanted_ && !strains_alone()) wanted_ = force_tolerance;
  std::vector<double>& tolerances = selecting_.tolerances;
  selecting_.elements = recipe_.elements;
  if (recipe_.elements > 0) {
    wanted_ = 0;  // the one domain there is
    tolerances = {0};
  }
  if (tolerances.empty() && strains_alone()) tolerances = {tight_domain};
  if (tolerances.empty()) {
    tolerances =
        displacement ? displacement_tolerances(recipe_.error) : std::vector<double>{0.2, 0.1, 0.05, 0.03, 0.02, 0.01};
    // Far tighter domains would cost most of the time and only lengthen the curve.
    if (wanted_) std::erase_if(tolerances, [&](double tau) { return tau < tightest_curve * *wanted_; });
  }
  if (wanted_ && recipe_.elements == 0) tolerances.insert(tolerances.end(), {*wanted_, small_force * *wanted_});
  std::sort(tolerances.begin(), tolerances.end());
  tolerances.erase(std::unique(tolerances.begin(), tolerances.end()), tolerances.end());
}

// Domains for every tolerance, field by field.
void ReductionJob::select_elements(const TrainingStates& states) {
  ReduceReport& report = result_.report;
  domains_.resize(selecting_.tolerances.size());
  for (std::size_t f = 0; f < all_.fields.size(); ++f) {
    if (const ReducedField& field = all_.fields[f]; field.strains.count > 0) {
      for (auto& domain : domains_) domain.push_back({{}, {}, field.tolerance, field.residual});
      continue;
    }
    SelectedDomains selected =
        select_domains(all_, static_cast<int>(f), states, selecting_, progress_, [this] { check_stop(); });
    for (std::size_t t = 0; t < domains_.size(); ++t) domains_[t].push_back(std::move(selected.domains[t]));
    report.notes.insert(report.notes.end(), selected.notes.begin(), selected.notes.end());
    report.seconds.training += selected.training_seconds;
    report.seconds.selection += selected.selection_seconds;
  }
}

// No field is left that elements are chosen of.
bool ReductionJob::strains_alone() const {
  return recipe_.solids == FieldForm::strains && std::ranges::all_of(all_.fields, [](const ReducedField& field) {
           return solid(field.law) || field.strains.count > 0;
         });
}

// Strain modes in the place of the solids, made of the tightest domain; of several fits the one with the least errors
// on the validation set.
void ReductionJob::fit_strains(const TrainingStates& states) {
  if (recipe_.solids != FieldForm::strains) return;
  const double start = now();
  const SolidStrainFit fit = solid_strains(restrict_to(all_, domains_.front()), states,
                                           {.tolerance = recipe_.strain_tolerance.value_or(solid_strain_tolerance),
                                            .max_modes = recipe_.max_strain_modes,
                                            .seed = recipe_.seed},
                                           progress_, [this] { check_stop(); });
  std::vector<char> goes(all_.fields.size());
  bool first = true;
  for (std::size_t f = 0; f < goes.size(); ++f) {
    if (!solid(all_.fields[f].law)) continue;
    for (auto& domain : domains_) domain[f] = {{}, {}, fit.tolerance, fit.left_out};
    goes[f] = !std::exchange(first, false);
  }
  for (auto& domain : domains_)
    for (std::size_t f = goes.size(); f-- > 0;)
      if (goes[f]) domain.erase(domain.begin() + static_cast<long>(f));
  validation_.search_branches(false);  // fits that are wrong are not elsewhere
  const ReducedModel others = without_solids(all_);
  ReducedModel best;
  const SolidStrains* chosen = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const SolidStrains& strains : fit.found) {
    ReducedModel tried = others;
    use_solid_strains(tried, strains.modes, fit.tolerance, fit.left_out);
    const ErrorSummary errors =
        evaluate_errors(restrict_to(tried, domains_.front()), modes_.vectors, validation_.equilibria);
    check_stop();
    // Robots without effectors have no goal error; the worst state counts as far as it is worse than others.
    const double error =
        std::fmax(errors.goal_mean, errors.shape_mean) + std::fmax(errors.goal_max, errors.shape_max) / largest_to_mean;
    if (chosen && !(error < least)) continue;
    if (std::isfinite(error)) least = error;
    chosen = &strains;
    best = std::move(tried);
  }
  whole_ = std::exchange(all_, std::move(best));
  note(fmt::format(
      "solids: {} modes leave out {:.2g} % of the strains, in the norm of energy; they are fitted to the forces {} {} "
      "training snapshots{}, with a predicted error of {:.2g} % of the displacement ({:.2g} % before the fit; ridge "
      "{:g})",
      chosen->modes.count, 100 * fit.left_out, fit.closed ? "that hold" : "of the elements in", fit.states,
      fit.closed ? " in equilibrium" : "", 100 * chosen->missed, 100 * fit.missed, chosen->ridge));
  result_.report.seconds.selection += now() - start;
}

ModelRow ReductionJob::row(const std::string& label, const ReducedModel& linearised, const ReferenceStates& reference,
                           double seconds, const std::optional<ErrorSummary>& known) {
  ReducedModel room;
  const ReducedModel& model = as_it_moves(linearised, room);
  ModelRow line;
  line.label = label;
  line.modes = model.modes;
  for (const ReducedField& field : model.fields) {
    line.strain_modes += field.strains.count;
    if (field.strains.count > 0) continue;
    line.elements += kept_elements(field).count();
    line.units += field.units();
    line.points += field.points();
    line.tolerance = field.tolerance;
    line.residual = std::max(line.residual, field.residual);
  }
  line.errors = known ? *known : evaluate_errors(model, modes_.vectors, reference);
  line.rate = measure_rate(*reduced_mechanics(model), 100000, seconds, recipe_.seed + 7);
  check_stop();
  return line;
}

// Elements against error on the validation set, from the largest tolerance to all elements.
void ReductionJob::trace_curve() {
  mark_ = now();
  validation_.search_branches(false);  // models of too few elements are wrong, not elsewhere
  const std::vector<double>& tolerances = selecting_.tolerances;
  const std::size_t curve = tolerances.size();
  for (std::size_t t = curve; t-- > 0;) {
    progress_("validation", static_cast<double>(curve - t), static_cast<double>(curve + 4), "selection set");
    result_.report.curve.push_back(row(recipe_.elements > 0 ? "elements" : fmt::format("tau {:.3g}", tolerances[t]),
                                       restrict_to(all_, domains_[t]), validation_.equilibria,
                                       0.05 * settings_.rate_seconds));
  }
  // Domains of membranes are compared with all membranes, beside solids as the model has them.
  const bool beside_strains = whole_.modes > 0 && !strains_alone();
  result_.report.curve.push_back(row("all elements", beside_strains ? all_ : whole(), validation_.equilibria, 0,
                                     beside_strains ? std::nullopt : floor_));
  floor_ = result_.report.curve.back().errors;
}

// The accepted domain, of the curve's row, or the first larger one with the error asked for; if none has it, the one
// with the least.
std::size_t ReductionJob::larger_domain(int accepted) {
  const std::vector<ModelRow>& rows = result_.report.curve;
  const AskedError asked = *asked_error(recipe_);
  const std::size_t curve = domains_.size();
  std::size_t best = curve - 1 - extent(accepted);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = extent(accepted), tried = 0; k < curve && tried < domains_tried; ++k) {
    if (k > extent(accepted) && rows[k].units <= rows[k - 1].units) continue;
    if (rows[k].errors.elsewhere > rows.back().errors.elsewhere) continue;
    ++tried;
    progress_("validation", static_cast<double>(curve), static_cast<double>(curve + 4),
              fmt::format("{} units", rows[k].units));
    check_stop();
    const std::size_t domain = curve - 1 - k;
    const ReducedModel restricted = restrict_to(all_, domains_[domain]);
    ReducedModel room;
    const double share =
        validation_.shares(as_it_moves(restricted, room), modes_.vectors, rows[k].errors, asked, share_of_elements)
            .largest();
    if (share < least) {
      least = share;
      best = domain;
    }
    if (share <= 1) break;
  }
  return best;
}

// Of the model, and of the small one beside it.
std::pair<std::size_t, std::size_t> ReductionJob::choose_domains() {
  const std::vector<double>& tolerances = selecting_.tolerances;
  const std::size_t curve = tolerances.size();
  if (wanted_) {
    const auto index_of = [&](double tolerance) {
      return static_cast<std::size_t>(std::find(tolerances.begin(), tolerances.end(), tolerance) - tolerances.begin());
    };
    return {index_of(*wanted_), index_of(small_force * *wanted_)};
  }
  if (strains_alone()) return {0, 0};
  // The curve begins with the largest tolerance.
  const std::vector<ModelRow>& rows = result_.report.curve;
  const bool strains = recipe_.solids == FieldForm::strains;
  const int accepted = accept(rows, recipe_.ecsw_acceptance, strains),
            loose = accept(rows, std::max(small_acceptance, recipe_.ecsw_acceptance), strains);
  if (accepted < 0)
    note(fmt::format("no choice of elements came within {:.3g} % of the errors of all elements: the largest is kept",
                     100 * recipe_.ecsw_acceptance));
  if (recipe_.modes_by_error)
    return {larger_domain(accepted < 0 ? static_cast<int>(curve) - 1 : accepted),
            loose < 0 ? 0 : curve - 1 - static_cast<std::size_t>(loose)};
  return {accepted < 0 ? 0 : curve - 1 - static_cast<std::size_t>(accepted),
          loose < 0 ? 0 : curve - 1 - static_cast<std::size_t>(loose)};
}

// Errors on the test set and rates; the model is the last row.
void ReductionJob::make_table(std::size_t best, std::size_t small) {
  const std::size_t curve = domains_.size();
  progress_("validation", static_cast<double>(curve), static_cast<double>(curve + 4), "full model");
  std::vector<ModelRow>& table = result_.report.table;
  ModelRow line;
  line.label = "full";
  {
    // One thread, as every rate of the table.
    const SingleThreaded one;
    FullMechanics mechanics(full_);
    line.rate = measure_rate(mechanics, 2000, 2 * settings_.rate_seconds, recipe_.seed + 7);
  }
  table.push_back(line);
  table.push_back(row("POD only", whole(), test_, settings_.rate_seconds));
  if (test_.branches) test_.branches->search(false);
  table.push_back(row("hyper-reduced (small)", restrict_to(all_, domains_[small]), test_, settings_.rate_seconds));
  // With a number of elements that was given a model may be wrong everywhere: it is compared with what is known.
  if (test_.branches) test_.branches->search(recipe_.elements == 0);
  result_.model = restrict_to(all_, domains_[best]);
  table.push_back(row("hyper-reduced", result_.model, test_, settings_.rate_seconds));
  result_.model.errors = table.back().errors;
  all_ = {};
  whole_ = {};
}

// Test states in which the model has found another equilibrium than the full one.
void ReductionJob::report_branches() {
  if (!test_.branches) return;
  for (int s = 0; s < test_.count; ++s)
    for (const ReferenceStates& other : test_.branches->of(s))
      result_.report.branches.push_back(
          {without_push(full_.robot, test_.commands[extent(s)]), goal_distance(full_.robot, test_, s, other, 0)});
  const std::vector<Branch>& branches = result_.report.branches;
  if (branches.empty()) return;
  const int elsewhere = result_.model.errors.elsewhere;
  double apart = 0;
  for (const Branch& branch : branches) apart = std::max(apart, branch.apart);
  const std::string at_effectors =
      full_.robot.effectors.empty() ? "" : fmt::format(", up to {:.3g} mm apart at the effectors", 1e3 * apart);
  std::string compared;
  if (elsewhere > 0) {
    ReferenceStates from_rest = test_;
    from_rest.branches.reset();
    compared = fmt::format(
        ": in {} of {} test states the model is compared with another one than the full model has found from rest; "
        "compared with those its mean errors are {}",
        elsewhere, test_.count, mean_errors_text(evaluate_errors(result_.model, modes_.vectors, from_rest)));
  }
  note(fmt::format("the robot has several equilibria for one command{}{}", at_effectors, compared));
}

// Compliance of the skin at each contact point, of the body and in the model's modes.
void ReductionJob::add_compliance() {
  if (full_.robot.collision_points == 0) return;
  ReducedModel& model = result_.model;
  FullMechanics body(full_);
  ReducedMechanics own(model);
  model.full_compliance = point_compliance(body);
  model.own_compliance = point_compliance(own);
  if (!model.full_compliance.empty() && !model.own_compliance.empty()) return;
  model.full_compliance.clear();
  model.own_compliance.clear();
}

UnseenPath ReductionJob::unseen_path() {
  // The tangent of strain modes is nearer to that of Newton's method than the full model's in one linearisation, whose
  // steps may be off by more than the model (decision 0049).
  const bool converged = recipe_.solids == FieldForm::strains && closes(full_.robot);
  const StepScheme scheme = converged ? StepScheme::newton : StepScheme::one_linearisation;
  if (converged)
    note("along the unseen path the full model takes converged steps (Newton's method), the model its own");
  if (!along_commands()) return {full_, settings_.dynamic_steps, recipe_.seed + 11, progress_, scheme};
  const auto table = std::make_shared<const Actuation>(training_table(recipe_.along, full_.robot));
  const VariedCommands unseen(*table, recipe_.along.variation, all_runs, recipe_.seed);
  const auto steps = std::llround(table->end() / full_.robot.time_step);
  return {full_, static_cast<int>(std::min<long long>(settings_.dynamic_steps, steps)),
          [table, unseen](double time) { return unseen.at(time); }, progress_, scheme};
}

// Along a path that was not trained on.
void ReductionJob::compare_in_motion() {
  ReduceReport& report = result_.report;
  const bool friction = slides_with_friction(full_.robot), shaken = shaken_in_time(full_.robot);
  if (shaken) {
    const char* with = friction ? " with friction" : "";
    if (along_commands())
      note(fmt::format("the model was trained and measured along variations of '{}'{}", recipe_.along.file, with));
    else
      note(
          fmt::format("the robot is free-floating in contact with obstacles: it was trained on transient "
                      "trajectories{}, {} steps of {:.3g} ms for each state, and measured on such{}",
                      friction && recipe_.friction == ShakingFriction::none ? " without friction" : with,
                      recipe_.sweep_steps, 1e3 * full_.robot.time_step, with));
  }
  const UnseenPath path = unseen_path();
  report.dynamic = path.compare(result_.model);
  lost_in_motion_ = report.dynamic.failed && !path.failed();
  const auto& where = report.dynamic.where;
  if (full_.robot.floating && !report.dynamic.failed)
    note(
        fmt::format("along the unseen path the reduced body is turned by up to {:.2g} degrees against the full "
                    "one{}, which its goal error there does not count",
                    where.turned * 180 / std::numbers::pi, on_frame() ? "" : " (its rotations are linearised)"));
  if (full_.robot.floating && !on_frame() && recipe_.rigid_motion == RigidMotionForm::frame)
    note(
        "rigid_motion = \"frame\" is not supported where constraints, cables or forces end in space: the rotations of "
        "this model are linearised");
  if (const ErrorSummary& errors = result_.model.errors; shaken)
    note(
        fmt::format("on the test set the reduced body is turned by {:.2g} degrees against the full one on average, by "
                    "{:.2g} at most, and {:.3g} mm beside it on average, {:.3g} mm at most",
                    errors.turned_mean * 180 / std::numbers::pi, errors.turned_max * 180 / std::numbers::pi,
                    1e3 * errors.strayed_mean, 1e3 * errors.strayed_max));
  if (shaken && !report.dynamic.failed)
    note(
        fmt::format("the full body goes {:.3g} mm away along that path, and the reduced one is at most {:.3g} mm "
                    "beside it",
                    1e3 * where.travelled, 1e3 * where.strayed));
  report.seconds.validation = now() - mark_;
}

// What a remedy adds where the error is the default, which keys of the recipe's own take away.
std::string kept_error(const ReductionScene& recipe) {
  return recipe.error_is_default ? fmt::format(", with error = \"{:g} %\"", 100 * *recipe.error) : "";
}

// As a remedy.
std::string ReductionJob::more_states() const {
  if (along_commands())
    return fmt::format("a smaller variation, or longer commands in [reduce]{}", kept_error(recipe_));
  if (can_double_ && recipe_.doublings < most_doublings)
    return fmt::format("{}doublings = {} in [reduce]",
                       states_help_ ? "" : "smaller ranges of the actuators, a larger error, or ",
                       recipe_.doublings + 1);
  return fmt::format("states = {} in [reduce] or more{}", 2 * recipe_.states, kept_error(recipe_));
}

// True, and that is told: too much of the actuation box is where the body folds up.
bool ReductionJob::limited_by_reach() {
  if (out_of_reach_ <= much_out_of_reach) return false;
  result_.report.limited_by = fmt::format(
      "commands out of reach: {:.0f} % of the test states were, where the body folds up", 100 * out_of_reach_);
  result_.report.remedy =
      "smaller ranges of the actuators, or control = \"force\" for cables that pull against each other";
  return true;
}

// What keeps a model from the error asked for, by the errors of the models before it in the chain.
void ReductionJob::find_limit(const AskedError& asked) {
  ReduceReport& report = result_.report;
  const ErrorSummary& errors = result_.model.errors;
  if (errors.failed > 0) {
    report.limited_by =
        fmt::format("the reduced model does not solve {} of {} test states", errors.failed, errors.states);
    report.remedy = along_commands() ? "commands that move less, or a smaller variation"
                                     : "smaller ranges of the actuators, or more states";
    if (recipe_.solids == FieldForm::strains) report.remedy += ", or solids = \"elements\"";
  } else if (share_of(report.table.at(1).errors, asked) <= 1) {  // POD only
    const bool strains = recipe_.solids == FieldForm::strains;
    report.limited_by = fmt::format("the {}: with all elements the errors are within the limit",
                                    strains ? "strain modes" : "choice of elements");
    report.remedy = strains ? more_states() + ", or solids = \"elements\""
                            : fmt::format("elements_acceptance = {:.2g} in [reduce]", 0.3 * recipe_.ecsw_acceptance);
  } else if (limited_by_reach()) {
    return;
  } else if (recipe_.modes_by_error && projects_equilibria() && best_shape_ > shown_by_modes * asked.mean) {
    report.limited_by =
        fmt::format("the training states: their modes leave an error of {:.2g} % in unseen ones", 100 * best_shape_);
    report.remedy = more_states();
  } else if (recipe_.modes_by_error) {
    report.limited_by =
        fmt::format("equilibria of the model that the full model has not, though {} modes can show its own to {:.2g} %",
                    modes_.modes, 100 * best_shape_);
    report.remedy =
        "smaller ranges of the actuators where the body buckles or snaps, or a smaller --error for more modes";
  } else {
    report.limited_by = fmt::format("the {} modes", modes_.modes);
    report.remedy = "no modes_tolerance and no max_modes in [reduce]: as many modes as the error asks for";
  }
}

// Whether the model's errors let it be written.
void ReductionJob::judge() {
  ReduceReport& report = result_.report;
  const ErrorSummary& errors = result_.model.errors;
  const auto exceeds = [&](const char* what, double error, const std::optional<double>& limit) {
    // Written so that an error that is not a number (no effector moves) is rejected too.
    if (!limit || error <= *limit) return false;
    report.refused =
        fmt::format("mean {} error {:.3g} % exceeds its limit of {:.3g} %", what, 100 * error, 100 * *limit);
    return true;
  };
  if (exceeds("goal", errors.goal_mean, recipe_.goal_error_limit) ||
      exceeds("shape", errors.shape_mean, recipe_.shape_error_limit))
    return;
  if (const auto asked = asked_error(recipe_); asked && share_of(errors, *asked) > 1) {
    report.refused =
        fmt::format("its errors on test states, {} on average and {:.3g} % at most, exceed {:.3g} % and {:.3g} %",
                    mean_errors_text(errors), 100 * std::fmax(errors.goal_max, errors.shape_max), 100 * asked->mean,
                    100 * asked->largest);
    report.forcible = true;
    find_limit(*asked);
    return;
  }
  if (test_.branches && errors.elsewhere > most_elsewhere * errors.states) {
    report.refused =
        fmt::format("in {} of {} test states it is in another equilibrium than the full model has found from rest",
                    errors.elsewhere, errors.states);
    report.forcible = true;
    report.limited_by = "the many equilibria that the robot has for one command";
    report.remedy = "smaller ranges of the actuators where the body buckles or snaps";
    return;
  }
  const double in_motion = report.dynamic.goal_mean, most = motion_to_equilibria * recipe_.error.value_or(0);
  if (validation_.has_trajectories() && report.dynamic.steps > 0 && (lost_in_motion_ || in_motion > most)) {
    report.refused = lost_in_motion_
                         ? "it fails along an unseen trajectory, which the full model does not"
                         : fmt::format("its mean error at the effectors in motion, {:.3g} %, exceeds {:.3g} %",
                                       100 * in_motion, 100 * most);
    report.forcible = true;
    if (limited_by_reach()) return;
    report.limited_by = "motion that is not among the training states";
    report.remedy = can_double_ ? more_states()
                                : fmt::format("trajectories = {} in [reduce]", 2 * std::max(1, recipe_.trajectories));
    return;
  }
  if (error_level(errors) != ErrorLevel::too_large) return;
  report.refused = fmt::format("its mean error on test states is {} (more than {:g} %)", mean_errors_text(errors),
                               100 * refused_error);
  report.forcible = true;
}

Reduction ReductionJob::run() {
  const double start = mark_;
  {
    TrainingSet training;
    ColumnBlocks displacements;
    do {
      begin();
      training = take_snapshots();
      displacements = basis_columns(full_, training.folder, training.snapshots, recipe_.rigid_motion,
                                    settings_.snapshots.ranks.size);
      if (!find_modes(training, displacements)) return std::move(result_);
      read_references();
      mark_ = now();
      project_model(training);
      add_modes(training, displacements);
    } while (add_states(training, displacements));
    if (const auto& search = result_.report.state_search; search.size() > 1)
      note(fmt::format(
          "training states were added from {} to {}: mean errors on the validation set are {} instead of {}",
          search.front().states, search.back().states, mean_errors_text(search.back().errors),
          mean_errors_text(search.front().errors)));
    for (const std::string& text : modes_.notes) note(text);
    if (!membrane_note_.empty()) note(membrane_note_);
    const TrainingStates states = make_training(training, displacements);
    plan_tolerances();
    select_elements(states);
    fit_strains(states);
  }
  trace_curve();
  const auto [best, small] = choose_domains();
  make_table(best, small);
  report_branches();
  add_compliance();
  if (on_frame()) result_.model = put_on_frame(std::move(result_.model));
  compare_in_motion();
  judge();
  result_.solids = recipe_.solids;
  result_.report.seconds.total = now() - start;
  return std::move(result_);
}

}  // namespace

namespace {

std::string in_words(const Reduction& reduction) {
  const ModelRow& row = reduction.report.table.back();
  return fmt::format("{} modes, {}, errors of {}, {:.3g} steps/s{}", row.modes,
                     row.strain_modes > 0 ? fmt::format("{} strain modes", row.strain_modes)
                                          : fmt::format("{} elements", row.elements),
                     mean_errors_text(row.errors), row.rate.steps_per_s,
                     reduction.report.refused.empty() ? "" : fmt::format(" ({})", reduction.report.refused));
}

// By the arithmetic of a step, which unlike its time is the same each time. The cheaper model, unless it misses the error
// asked for and the other does not; where none is asked for, unless its errors are the larger ones.
bool prefers_strains(const Reduction& elements, const Reduction& strains, bool asked) {
  const auto work = [](const Reduction& of) { return reduced_step_work(of.model).total(); };
  const auto mean = [](const Reduction& of) {
    return std::fmax(of.model.errors.goal_mean, of.model.errors.shape_mean);
  };
  const bool strains_are_cheaper = work(strains) < work(elements);
  const Reduction &cheaper = strains_are_cheaper ? strains : elements,
                  &other = strains_are_cheaper ? elements : strains;
  const bool misses = !cheaper.report.refused.empty() && other.report.refused.empty();
  const bool is_worse = !asked && other.report.refused.empty() && mean(cheaper) > mean(other);
  return strains_are_cheaper != (misses || is_worse);
}

// By elements first: who stops the second has the states of both.
Reduction reduce_by_both(const Scene& scene, const FullModel& full, const ReduceSettings& settings,
                         const Progress& progress) {
  Scene by_elements = scene, by_strains = scene;
  by_elements.reduction.solids = FieldForm::elements;
  by_strains.reduction.solids = FieldForm::strains;
  std::string why_not = no_solid_strains(full);
  if (why_not.empty() && gives_elements(by_strains.reduction, full))
    throw InputError("a number of elements, or their tolerance, is in conflict with solids \"fastest\"",
                     "solids \"elements\", or neither elements nor tolerance");
  Reduction elements = ReductionJob(by_elements, full, settings, progress).run(), strains;
  if (why_not.empty()) {
    try {
      strains = ReductionJob(by_strains, full, settings, progress).run();
    } catch (const RunError& error) {
      why_not = error.what();
    }
  }
  if (settings.snapshots.ranks.rank > 0) return elements;
  if (!why_not.empty()) {
    elements.report.notes.push_back(
        fmt::format("solids by elements: strain modes were not tried to the end ({})", why_not));
    return elements;
  }
  const bool taken = prefers_strains(elements, strains, asked_error(scene.reduction).has_value());
  Reduction &chosen = taken ? strains : elements, &other = taken ? elements : strains;
  chosen.report.notes.push_back(fmt::format("solids by {}; by {} the model has {}", taken ? "strain modes" : "elements",
                                            taken ? "elements" : "strain modes", in_words(other)));
  chosen.report.seconds += other.report.seconds;
  return std::move(chosen);
}

}  // namespace

Reduction reduce(const Scene& scene, const FullModel& full, const ReduceSettings& settings, const Progress& progress) {
  if (settings.fastest_solids) return reduce_by_both(scene, full, settings, progress);
  return ReductionJob(scene, full, settings, progress).run();
}

}  // namespace supple

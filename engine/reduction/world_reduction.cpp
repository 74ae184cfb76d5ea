#include "engine/reduction/world_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include <numeric>

#include "engine/io/model_file.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/elements/selection.hpp"
#include "engine/reduction/elements/training.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "engine/reduction/world_runs.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/units.hpp"
#include "engine/scene/writer.hpp"
#include "engine/step/equilibrium.hpp"
#include "engine/step/step_rate.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

constexpr int most_rounds = 8;
constexpr int most_training_states = 240;  // that elements are chosen on, of all instances of a kind
// Of the first round; each next one has a third and a half.
constexpr double first_modes_tolerance = 1e-2, first_elements_tolerance = 1e-2;
// Share of the compliance where parts touch that their modes lack: of the first round; each next one has a half.
constexpr double first_contact_share = 0.1;
constexpr int most_contact_modes = 200;

// Full states of one kind of part.
struct Collected {
  std::vector<int> parts;
  std::vector<double> q, multipliers;  // [count][nv], [count][rows of the part]
  int count = 0;
};

// Of the whole in one equilibrium.
struct Reached {
  Control control;
  WorldMoment moment;
};

// Of the whole along commands.
struct TestRun {
  VariedCommands commands;
  std::vector<WorldMoment> moments;
};

// What the reduced world is measured on: one of both.
struct Tests {
  WorldMoment settled;
  std::vector<Reached> equilibria;
  std::vector<TestRun> runs;
  int every = 1;  // states kept of runs
  std::vector<const WorldMoment*> moments() const {
    std::vector<const WorldMoment*> all;
    for (const Reached& reached : equilibria) all.push_back(&reached.moment);
    for (const TestRun& run : runs)
      for (const WorldMoment& moment : run.moments) all.push_back(&moment);
    return all;
  }
};

class World {
 public:
  explicit World(const AssemblyScene& scene) : robot_(scene), solver_(robot_.mechanics(), {}), state_(rest()) {}

  AssemblyRobot& robot() { return robot_; }
  const Robot& whole() { return robot_.mechanics().robot(); }
  // Continues from the last equilibrium, or begins again at rest.
  bool solve(const Control& control) {
    for (const bool again : {false, true}) {
      State trial = again ? rest() : state_;
      if (solver_.solve(control, trial).status != StepStatus::ok) continue;
      state_ = std::move(trial);
      return true;
    }
    return false;
  }
  void restart() { state_ = rest(); }
  const State& state() const { return state_; }
  Reached reached(const Control& control) { return {control, moment_of(robot_, state_)}; }

 private:
  State rest() { return rest_state(robot_.mechanics()); }

  AssemblyRobot robot_;
  Equilibrium solver_;
  State state_;
};

void check_stop(const Progress& progress) {
  if (progress.stopped()) throw Interrupted("stopped; nothing is kept", "the same command again");
}

double distance(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i] - b[i], a[i] - b[i]);
  return std::sqrt(sum);
}

// Mean, median and largest of errors relative to a mean displacement.
void summarise(std::vector<double> errors, double scale, double* mean, double* median, double* largest) {
  for (double& error : errors) error /= scale;
  std::ranges::sort(errors);
  *mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  *median = errors[errors.size() / 2];
  *largest = errors.back();
}

Rate rate_of(std::vector<double> seconds, double time_step) {
  Rate rate;
  rate.steps = static_cast<int>(seconds.size());
  static_cast<StepRate&>(rate) = step_rate(std::move(seconds), 1, time_step);
  return rate;
}

std::vector<Collected> kinds_of(const AssemblyRobot& robot) {
  std::vector<Collected> kinds;
  std::map<std::string, std::size_t> known;
  const std::vector<PartScene>& parts = robot.scene().parts;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].scene.empty()) continue;
    const auto [at, is_new] = known.try_emplace(fs::weakly_canonical(parts[k].scene).string(), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[at->second].parts.push_back(static_cast<int>(k));
  }
  return kinds;
}

void collect(AssemblyRobot& robot, const State& state, std::vector<Collected>& kinds) {
  AssemblyMechanics& mechanics = robot.mechanics();
  for (Collected& kind : kinds)
    for (const int part : kind.parts) {
      const FullModel& full = *robot.full(part);
      const auto q = state.q.begin() + mechanics.first_coordinate(part);
      kind.q.insert(kind.q.end(), q, q + full.coordinates.nv);
      for (const int row : mechanics.rows_of(part)) kind.multipliers.push_back(state.multipliers[extent(row)]);
      ++kind.count;
    }
}

std::vector<Sample> samples_of(const SamplingPlan& plan) {
  std::vector<Sample> samples;
  for (const SamplePath& path : plan.paths) samples.insert(samples.end(), path.samples.begin(), path.samples.end());
  return samples;
}

ReductionScene recipe_of(const WorldRecipe& recipe) {
  ReductionScene own;
  own.states = recipe.states;
  own.seed = recipe.seed;
  own.max_modes = recipe.max_modes;
  return own;
}

// touched: where its parts touch other bodies.
ReducedModel reduced_kind(const AssemblyRobot& robot, const Collected& kind, const PointWeights& touched,
                          const WorldRecipe& recipe, const WorldRow& row, const Progress& progress,
                          std::vector<std::string>& notes) {
  const FullModel& own = *robot.full(kind.parts.front());
  const Scene scene = robot.part_scene(kind.parts.front());
  // Without the points of its skin, which the world that a model is put into adds again; with obstacles.
  std::optional<FullModel> alone;
  if (!scene.obstacles.empty() ||
      std::ranges::any_of(kind.parts, [&](int part) { return !robot.touching_skin(part).surface.nodes.empty(); })) {
    alone = build_full_model(scene);
    alone->robot.implicit_velocity = own.robot.implicit_velocity;
    alone->robot.implicit_position = own.robot.implicit_position;
  }
  const FullModel& full = alone ? *alone : own;
  const int nv = full.coordinates.nv;
  ReductionScene settings = recipe_of(recipe);
  settings.pod_tolerance = row.modes_tolerance;
  // A third of what is allowed is for contact modes.
  if (touched.touching > 0 && recipe.max_modes > 0) settings.max_modes = std::max(1, recipe.max_modes * 2 / 3);
  const ColumnBlocks columns{nv, {kind.count}, [&](int, std::vector<double>&) { return std::span(kind.q); }};
  SnapshotBasis basis = snapshot_basis(full, columns, settings);
  if (touched.touching > 0) {
    const int most = recipe.max_modes > 0 ? recipe.max_modes - basis.modes : most_contact_modes;
    ContactModes contact =
        join_contact_modes(own, std::move(basis.vectors), basis.modes, touched, std::max(0, most), row.contact_share);
    basis.vectors = std::move(contact.basis);
    basis.modes += contact.count;
  }
  ReducedModel all = by_points(project(full, basis.vectors, basis.modes, all_elements(full)));
  // Of a model that is used alone: where they are for the first of these parts at rest, in its axes.
  const State rest = rest_state(robot.mechanics());
  const Pose pose = robot.mechanics().body_pose(kind.parts.front(), rest.q, rest.motions);
  for (PlacedObstacle& obstacle : all.robot.obstacles)
    obstacle.pose = {transpose(pose.rotation) * obstacle.pose.rotation,
                     transpose(pose.rotation) * (obstacle.pose.position - pose.position)};
  // Elements on an even part of the states.
  const int states = std::min(kind.count, most_training_states);
  TrainingStates training;
  std::vector<double> multipliers;
  const std::size_t rows = kind.multipliers.size() / extent(kind.count);
  const std::vector<double> alpha = project_states(basis.vectors, nv, basis.modes, kind.q, kind.count);
  for (; training.count < states; ++training.count) {
    // Not every so-many-th: states of a kind's parts follow each other.
    const int s = static_cast<int>(static_cast<long>(training.count) * kind.count / states);
    const auto a = alpha.begin() + static_cast<std::ptrdiff_t>(extent(s, basis.modes));
    training.states.insert(training.states.end(), a, a + basis.modes);
    const auto m = kind.multipliers.begin() + static_cast<std::ptrdiff_t>(extent(s) * rows);
    multipliers.insert(multipliers.end(), m, m + static_cast<std::ptrdiff_t>(rows));
  }
  training.metric = displacement_metric(all, training.states, multipliers, training.count);
  std::vector<IntegrationDomain> domains;
  for (int field = 0; field < static_cast<int>(all.fields.size()); ++field) {
    SelectedDomains selected = select_domains(all, field, training, {.tolerances = {row.elements_tolerance}}, progress,
                                              [&] { check_stop(progress); });
    domains.push_back(std::move(selected.domains.front()));
    notes.insert(notes.end(), selected.notes.begin(), selected.notes.end());
  }
  const SceneIdentity identity = identify(scene);
  Provenance& provenance = all.provenance;
  provenance.version = version();
  provenance.scene_name = scene.name;
  provenance.scene_text = write_scene(scene);
  provenance.scene_hash = identity.scene;
  provenance.mesh_hash = identity.mesh;
  provenance.snapshots = kind.count;
  provenance.pod_tolerance = row.modes_tolerance;
  provenance.pod_error = basis.pod.truncation_error;
  provenance.seed = recipe.seed;
  all.singular_values = basis.pod.singular_values;
  return restrict_to(all, domains);
}

AssemblyScene with_models(AssemblyScene scene, const WorldReduction& reduction, const std::string& folder) {
  for (PartScene& part : scene.parts)
    for (const WorldReduction::Kind& kind : reduction.kinds)
      if (!part.scene.empty() && fs::equivalent(part.scene, kind.scene)) {
        part.scene.clear();
        part.model = (fs::path(folder) / kind.file).string();
        break;
      }
  return scene;
}

// Forces between bodies that differ: root of the sum of squares over pairs of bodies [N].
double force_distance(const std::vector<BodyTouch>& a, const std::vector<BodyTouch>& b) {
  double sum = 0;
  const auto other = [](const std::vector<BodyTouch>& among, const BodyTouch& touch) {
    return std::ranges::find_if(among,
                                [&](const BodyTouch& t) { return t.first == touch.first && t.second == touch.second; });
  };
  for (const BodyTouch& touch : a) {
    const auto at = other(b, touch);
    const Vec3d difference = at == b.end() ? touch.force : touch.force - at->force;
    sum += dot(difference, difference);
  }
  for (const BodyTouch& touch : b)
    if (other(a, touch) == a.end()) sum += dot(touch.force, touch.force);
  return std::sqrt(sum);
}

void measure_forces(const std::vector<const WorldMoment*>& references,
                    const std::vector<std::optional<WorldMoment>>& found, WorldRow& row) {
  double scale = 0, median = 0;
  int touching = 0;
  std::vector<double> errors;
  for (const WorldMoment* reference : references)
    if (!reference->touches.empty()) {
      scale += force_distance(reference->touches, {});
      ++touching;
    }
  if (!(scale > 0)) {
    // Where the full robot touches nothing the reduced one should not either.
    if (std::ranges::any_of(found, [](const auto& now) { return now && !now->touches.empty(); }))
      row.force_mean = row.force_max = 1;
    return;
  }
  scale /= touching;
  for (std::size_t k = 0; k < references.size(); ++k) {
    if (!found[k])
      errors.push_back(scale);
    else if (!references[k]->touches.empty() || !found[k]->touches.empty())
      errors.push_back(force_distance(found[k]->touches, references[k]->touches));
  }
  summarise(errors, scale, &row.force_mean, &median, &row.force_max);
  row.errors.sets.front() = {forces_along_commands, row.force_mean, median, row.force_max};
}

// The errors of the reduced world, and its rate along runs.
void measure(World& reduced, const Tests& tests, const Progress& progress, WorldRow& row, Rate& rate) {
  std::vector<std::optional<WorldMoment>> found;
  reduced.restart();
  for (const Reached& reference : tests.equilibria) {
    check_stop(progress);
    found.emplace_back();
    if (reduced.solve(reference.control)) found.back() = reduced.reached(reference.control).moment;
    progress("validating", static_cast<int>(found.size()), static_cast<int>(tests.equilibria.size()));
  }
  std::vector<double> seconds;
  for (std::size_t k = 0; k < tests.runs.size(); ++k) {
    const TestRun& run = tests.runs[k];
    const std::size_t before = found.size();
    const RanWorld ran = run_world(reduced.robot(), run.commands, tests.every, [&](const State& state, bool kept) {
      check_stop(progress);
      if (kept) found.emplace_back(moment_of(reduced.robot(), state));
    });
    found.resize(before + run.moments.size());
    seconds.insert(seconds.end(), ran.seconds.begin(), ran.seconds.end());
    progress("validating", static_cast<int>(k) + 1, static_cast<int>(tests.runs.size()));
  }
  if (!seconds.empty()) rate = rate_of(std::move(seconds), reduced.robot().scene().time_step);
  const std::vector<const WorldMoment*> references = tests.moments();
  ErrorSummary& errors = row.errors;
  errors.states = static_cast<int>(references.size());
  std::vector<double> goals, shapes;
  double goal_scale = 0, shape_scale = 0;
  for (const WorldMoment* reference : references) {
    goal_scale += distance(reference->goals, tests.settled.goals) / errors.states;
    shape_scale += distance(reference->skin, tests.settled.skin) / errors.states;
  }
  for (std::size_t k = 0; k < references.size(); ++k) {
    if (!found[k]) ++errors.failed;
    goals.push_back(found[k] ? distance(found[k]->goals, references[k]->goals) : goal_scale);
    shapes.push_back(found[k] ? distance(found[k]->skin, references[k]->skin) : shape_scale);
  }
  errors.worst_state = static_cast<int>(std::ranges::max_element(goals) - goals.begin());
  summarise(goals, goal_scale, &errors.goal_mean, &errors.goal_median, &errors.goal_max);
  summarise(shapes, shape_scale, &errors.shape_mean, &errors.shape_median, &errors.shape_max);
  if (tests.runs.empty()) return;
  errors.sets.assign(1, {.name = forces_along_commands});
  measure_forces(references, found, row);
}

int elements_of(const ReducedModel& model) {
  int count = 0;
  for (const ReducedField& field : model.fields) count += kept_elements(field).count();
  return count;
}

// As the scene's file, or the folder that it has to itself, is called, with a number if another kind is called so.
std::string file_name(const std::string& scene, const std::string& world,
                      const std::vector<WorldReduction::Kind>& others) {
  const fs::path file = fs::weakly_canonical(scene);
  const bool of_folder =
      file.filename() == "scene.toml" && file.parent_path() != fs::weakly_canonical(world).parent_path();
  const std::string stem = (of_folder ? file.parent_path().filename() : file.stem()).string();
  std::string name = stem + ".rom.h5";
  for (int k = 2; std::ranges::count(others, name, &WorldReduction::Kind::file) > 0; ++k)
    name = fmt::format("{}-{}.rom.h5", stem, k);
  return name;
}

std::vector<std::pair<std::string, Interval>> ranges_of(const Robot& robot) {
  std::vector<std::pair<std::string, Interval>> ranges;
  for (const ActuatorRow& actuator : robot.actuators) ranges.emplace_back(actuator.name, actuator.range);
  for (const MotionInput& motion : robot.motions) ranges.emplace_back(motion.name, motion.range);
  return ranges;
}

std::string world_scene_text(const AssemblyScene& scene, const WorldReduction& reduction, const std::string& folder) {
  const auto relative = [&](const std::string& file) {
    return fs::relative(fs::absolute(file), fs::absolute(folder)).generic_string();
  };
  const auto angles = [](const Vec3d& x) {
    constexpr double degree = std::numbers::pi / 180;
    return fmt::format("[\"{:.17g} deg\", \"{:.17g} deg\", \"{:.17g} deg\"]", x[0] / degree, x[1] / degree,
                       x[2] / degree);
  };
  std::string text =
      fmt::format("# Reduced parts of {} by `supple reduce`.\ninclude = \"{}\"\n", scene.name, relative(scene.file));
  const AssemblyScene reduced = with_models(scene, reduction, folder);
  for (const PartScene& part : reduced.parts) {
    text += fmt::format("\n[[part]]\nname = \"{}\"\n", part.name);
    if (part.scene.empty())
      text += fmt::format("model = \"{}\"\n", relative(part.model));
    else
      text += fmt::format("scene = \"{}\"\n", relative(part.scene));
    if (!part.on.empty()) text += fmt::format("on = \"{}\"\n", part.on);
    const Vec3d &x = part.translation, &r = part.rotation;
    if (!(x == Vec3d{{0, 0, 0}})) text += fmt::format("translation = [{:.17g}, {:.17g}, {:.17g}]\n", x[0], x[1], x[2]);
    if (!(r == Vec3d{{0, 0, 0}})) text += "rotation = " + angles(r) + "\n";
    if (!part.collides)
      text += "collision = \"none\"\n";
    else if (part.friction != 0)
      text += fmt::format("friction = {:.17g}\n", part.friction);
    if (part.touching && part.touching->kind == Region::Kind::box) {
      const Vec3d &a = part.touching->lower, &b = part.touching->upper;
      text += fmt::format("box = [[{:.17g}, {:.17g}, {:.17g}], [{:.17g}, {:.17g}, {:.17g}]]\n", a[0], a[1], a[2], b[0],
                          b[1], b[2]);
    } else if (part.touching) {
      const Vec3d& x = part.touching->centre;
      text += fmt::format("sphere = {{ centre = [{:.17g}, {:.17g}, {:.17g}], radius = {:.17g} }}\n", x[0], x[1], x[2],
                          part.touching->radius);
    }
    if (part.self_contact) text += "self_contact = true\n";
  }
  return text;
}

}  // namespace

void check_world(const AssemblyRobot& robot, const WorldRecipe& recipe) {
  const AssemblyScene& scene = robot.scene();
  if (kinds_of(robot).empty())
    throw InputError("no part of the scene is full (each has a model already)",
                     "scene = ... instead of model = ... in [[part]]", {scene.file, 0, 0, ""});
  for (std::size_t k = 0; k < scene.parts.size(); ++k) {
    const FullModel* full = robot.full(static_cast<int>(k));
    if (full == nullptr) continue;
    if (full->robot.floating)
      throw InputError(fmt::format("part '{}' is free-floating (its scene fixes no node)", scene.parts[k].name),
                       "`supple reduce` the scene of the part, and model = ... here", scene.parts[k].place);
    if (!full->robot.motions.empty())
      throw InputError(fmt::format("part '{}' has regions with a prescribed motion", scene.parts[k].name),
                       "`supple reduce` the scene of the part, and model = ... here", scene.parts[k].place);
  }
  const Robot& whole = robot.mechanics().robot();
  if (!scene.obstacles.empty() && recipe.along.file.empty())
    throw InputError("parts touch obstacles of the whole, and are trained on equilibria without them",
                     "actuation = \"commands.csv\" in [reduce], which trains them along commands in time",
                     scene.obstacles.front().place);
  if (!recipe.along.file.empty()) {
    for (const Collected& kind : kinds_of(robot))
      for (const int part : kind.parts)
        if (robot.touching_skin(part).surface.nodes != robot.touching_skin(kind.parts.front()).surface.nodes)
          throw InputError(fmt::format("parts '{}' and '{}' have one scene and touch others with different faces",
                                       scene.parts[extent(kind.parts.front())].name, scene.parts[extent(part)].name),
                           "the same box, sphere and collision for both, or a scene file of its own for one",
                           scene.parts[extent(part)].place);
    return;
  }
  if (robot.moves_freely() && whole.touches())
    throw InputError(
        "equilibria of bodies that move freely depend on how they came to touch, and parts are trained on "
        "equilibria",
        "actuation = \"commands.csv\" in [reduce], which trains them along commands in time; or collision = \"none\" "
        "where contact does not matter",
        {scene.file, 0, 0, ""});
  for (const auto& [name, range] : ranges_of(whole))
    if (!(range.lower > -unlimited && range.upper < unlimited))
      throw InputError(fmt::format("the input '{}' has no range", name), "range = [lower, upper]",
                       {scene.file, 0, 0, ""});
  if (whole.actuators.empty() && whole.motions.empty())
    throw InputError("the scene has no input to be trained with", "an actuator, or a [[rigid.motion]]",
                     {scene.file, 0, 0, ""});
}

namespace {

// What training has found, and what the reduced world is measured on.
struct Training {
  std::vector<Collected> kinds;
  std::vector<PointWeights> touched;  // of the kinds
  Tests tests;
};

Training train_on_equilibria(World& full, const WorldRecipe& recipe, const Progress& progress, WorldReduction& result) {
  const Robot& whole = full.whole();
  Training training{kinds_of(full.robot()), {}, {}};
  training.touched.resize(training.kinds.size());
  const Control zero = zero_control(full.robot().mechanics());
  if (!full.solve(zero))
    throw RunError("the scene has no equilibrium with all commands at zero", "`supple check` reports why");
  Tests& tests = training.tests;
  tests.settled = full.reached(zero).moment;
  collect(full.robot(), full.state(), training.kinds);
  const std::vector<Sample> samples = samples_of(make_plan(whole, recipe_of(recipe)));
  for (std::size_t k = 0; k < samples.size(); ++k) {
    check_stop(progress);
    if (full.solve(control_of(whole, samples[k])))
      collect(full.robot(), full.state(), training.kinds);
    else
      ++result.failed_states;
    progress("training states", static_cast<int>(k) + 1, static_cast<int>(samples.size()));
  }
  result.states = static_cast<int>(samples.size()) + 1 - result.failed_states;
  std::vector<Sample> draws = uniform_draws(whole, recipe.validation_states, recipe.seed + 0x9e3779b97f4a7c15ULL);
  order_by_walk(whole, draws);
  full.restart();
  for (std::size_t k = 0; k < draws.size(); ++k) {
    check_stop(progress);
    const Control control = control_of(whole, draws[k]);
    if (full.solve(control)) tests.equilibria.push_back(full.reached(control));
    progress("test states", static_cast<int>(k) + 1, static_cast<int>(draws.size()));
  }
  if (tests.equilibria.empty()) throw RunError("no test state of the whole converged", "smaller ranges of the inputs");
  if (tests.equilibria.size() < draws.size())
    result.notes.push_back(fmt::format("{} of {} test states did not converge on the full scene and are left out",
                                       draws.size() - tests.equilibria.size(), draws.size()));
  if (result.failed_states > 0)
    result.notes.push_back(
        fmt::format("{} of {} training states did not converge", result.failed_states, samples.size()));
  result.full = measure_rate(full.robot().mechanics(), 2000, 1, recipe.seed);
  return training;
}

// Runs 0 and on train, those after them are unseen.
Training train_along(World& full, const Actuation& table, const WorldRecipe& recipe, const Progress& progress,
                     WorldReduction& result) {
  result.notes = table.notes();
  AssemblyRobot& robot = full.robot();
  Training training{kinds_of(robot), {}, {}};
  Tests& tests = training.tests;
  tests.settled = moment_of(robot, rest_state(robot.mechanics()));
  const auto steps = static_cast<int>(std::llround(table.end() / robot.scene().time_step));
  tests.every = (steps + recipe.states - 1) / recipe.states;
  TouchWeights touched(robot);
  std::vector<double> seconds;
  constexpr int runs = training_runs + test_runs;
  for (int run = 0; run < runs; ++run) {
    const bool trains = run < training_runs;
    const VariedCommands commands(table, recipe.along.variation, run, recipe.seed);
    std::vector<WorldMoment> moments;
    int done = 0;
    const RanWorld ran = run_world(robot, commands, tests.every, [&](const State& state, bool kept) {
      check_stop(progress);
      progress(fmt::format("{} run {}", trains ? "training" : "test", trains ? run + 1 : run - training_runs + 1),
               done++, steps);
      if (!kept) return;
      if (trains) {
        collect(robot, state, training.kinds);
        touched.add(state);
        ++result.states;
      } else {
        moments.push_back(moment_of(robot, state));
      }
    });
    if (ran.status != StepStatus::ok)
      throw RunError(fmt::format("the full scene stops at {} of run {}: {}",
                                 format_quantity(ran.failed_at, Dimension::time), run + 1, describe(ran.status)),
                     "a smaller time_step, slower commands, or less variation");
    seconds.insert(seconds.end(), ran.seconds.begin(), ran.seconds.end());
    if (!trains) tests.runs.push_back({commands, std::move(moments)});
  }
  result.full = rate_of(std::move(seconds), robot.scene().time_step);
  for (const Collected& kind : training.kinds) {
    training.touched.push_back(touched.of(kind.parts));
    if (training.touched.back().touching > most_contact_points)
      throw InputError(
          fmt::format("{} points of part '{}' come near something ({} are the most)", training.touched.back().touching,
                      robot.scene().parts[extent(kind.parts.front())].name, most_contact_points),
          "box or sphere in its [[part]]: faces that touch others; spacing in [contact]: points at obstacles",
          robot.scene().parts[extent(kind.parts.front())].place);
  }
  return training;
}

}  // namespace

WorldReduction reduce_world(const AssemblyScene& scene, const WorldRecipe& recipe, const std::string& folder,
                            const Progress& progress) {
  const auto begun = std::chrono::steady_clock::now();
  World full(scene);
  check_world(full.robot(), recipe);
  std::optional<Actuation> table;
  if (!recipe.along.file.empty()) table = training_table(recipe.along, full.whole());
  WorldReduction result;
  const Training training =
      table ? train_along(full, *table, recipe, progress, result) : train_on_equilibria(full, recipe, progress, result);
  const Tests& tests = training.tests;
  const auto moved = [&](const std::vector<Vec3d> WorldMoment::*of) {
    return std::ranges::any_of(tests.moments(),
                               [&](const WorldMoment* moment) { return distance(moment->*of, tests.settled.*of) > 0; });
  };
  if (!moved(&WorldMoment::goals) || !moved(&WorldMoment::skin))
    throw RunError(moved(&WorldMoment::skin) ? "no input moves the effectors" : "no input strains the parts",
                   "effectors that move; ranges of the inputs that are more than one value");
  for (const Collected& kind : training.kinds) {
    const std::string& file = scene.parts[extent(kind.parts.front())].scene;
    result.kinds.push_back({file, file_name(file, scene.file, result.kinds), {}});
  }

  std::vector<WorldReduction::Kind> best;
  for (int round = 0; round < most_rounds && !result.reached; ++round) {
    WorldRow row;
    row.modes_tolerance = first_modes_tolerance * std::pow(3, -round);
    row.elements_tolerance = first_elements_tolerance * std::pow(2, -round);
    row.contact_share = first_contact_share * std::pow(2, -round);
    for (std::size_t k = 0; k < training.kinds.size(); ++k) {
      check_stop(progress);
      progress(fmt::format("modes and elements, round {}", round + 1), static_cast<int>(k),
               static_cast<int>(training.kinds.size()));
      WorldReduction::Kind& kind = result.kinds[k];
      kind.model =
          reduced_kind(full.robot(), training.kinds[k], training.touched[k], recipe, row, progress, result.notes);
      row.modes.push_back(kind.model.modes);
      row.elements.push_back(elements_of(kind.model));
      write_model(kind.model, (fs::path(folder) / kind.file).string());
    }
    World reduced(with_models(scene, result, folder));
    Rate rate;
    measure(reduced, tests, progress, row, rate);
    result.rows.push_back(row);
    result.reached = row.error() <= recipe.error && row.force_mean <= recipe.force_error;
    const auto miss = [&](const WorldRow& of) {
      return std::max(of.error() / recipe.error, of.force_mean / recipe.force_error);
    };
    if (best.empty() || miss(row) < miss(result.row())) {
      best = result.kinds;
      result.taken = round;
      result.reduced = rate;
    }
    if (recipe.max_modes > 0 && std::ranges::all_of(row.modes, [&](int m) { return m >= recipe.max_modes; }) &&
        round > 0)
      break;
  }
  result.kinds = std::move(best);
  for (WorldReduction::Kind& kind : result.kinds) {
    kind.model.errors = result.row().errors;
    write_model(kind.model, (fs::path(folder) / kind.file).string());
  }
  if (tests.runs.empty()) {
    World reduced(with_models(scene, result, folder));
    result.reduced = measure_rate(reduced.robot().mechanics(), 100000, 1, recipe.seed);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result;
}

void write_world(const AssemblyScene& scene, const WorldReduction& reduction, const std::string& folder) {
  const fs::path target = folder;
  std::error_code problem;
  fs::create_directories(target, problem);
  for (const WorldReduction::Kind& kind : reduction.kinds) write_model(kind.model, (target / kind.file).string());
  std::ofstream file(target / "scene.toml");
  file << world_scene_text(scene, reduction, folder);
  if (!file.flush())
    throw RunError(fmt::format("'{}' cannot be written", (target / "scene.toml").string()), "another disk");
}

}  // namespace supple

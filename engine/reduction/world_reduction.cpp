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
#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

constexpr int most_rounds = 8;
constexpr int most_training_states = 240;  // that elements are chosen on, of all instances of a kind
// Of the first round; each next one has a third and a half.
constexpr double first_modes_tolerance = 1e-2, first_elements_tolerance = 1e-2;

// Full states of one kind of part.
struct Collected {
  std::vector<int> parts;
  std::vector<double> q, multipliers;  // [count][nv], [count][rows of the part]
  int count = 0;
};

// Of the whole in one equilibrium.
struct Reached {
  Control control;
  std::vector<Vec3d> goals;  // effectors, or where there are none all reported points
  std::vector<Vec3d> skin;   // of the parts
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
  Reached reached(const Control& control) {
    Reached now{control, {}, {}};
    std::vector<double> y(extent(whole().outputs()));
    robot_.mechanics().evaluate_outputs(state_.q, state_.motions, y);
    const auto add = [&](int point) {
      now.goals.push_back({{y[extent(3, point)], y[extent(3, point) + 1], y[extent(3, point) + 2]}});
    };
    for (const Effector& effector : whole().effectors) add(effector.point);
    if (whole().effectors.empty())
      for (const NamedPoint& point : whole().reported_points()) add(point.point);
    now.skin = robot_.skin(state_.q, state_.motions);
    return now;
  }

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

void collect(World& world, std::vector<Collected>& kinds) {
  AssemblyMechanics& mechanics = world.robot().mechanics();
  for (Collected& kind : kinds)
    for (const int part : kind.parts) {
      const FullModel& full = *world.robot().full(part);
      const auto q = world.state().q.begin() + mechanics.first_coordinate(part);
      kind.q.insert(kind.q.end(), q, q + full.coordinates.nv);
      for (const int row : mechanics.rows_of(part)) kind.multipliers.push_back(world.state().multipliers[extent(row)]);
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

ReducedModel reduced_kind(const AssemblyRobot& robot, const Collected& kind, const WorldRecipe& recipe,
                          const WorldRow& row, const Progress& progress, std::vector<std::string>& notes) {
  const FullModel& full = *robot.full(kind.parts.front());
  const int nv = full.coordinates.nv;
  ReductionScene own = recipe_of(recipe);
  own.pod_tolerance = row.modes_tolerance;
  const ColumnBlocks columns{nv, {kind.count}, [&](int, std::vector<double>&) { return std::span(kind.q); }};
  const SnapshotBasis basis = snapshot_basis(full, columns, own);
  ReducedModel all = by_points(project(full, basis.vectors, basis.modes, all_elements(full)));
  // Elements on an even part of the states.
  const int every = (kind.count + most_training_states - 1) / most_training_states;
  TrainingStates training;
  std::vector<double> multipliers;
  const std::size_t rows = kind.multipliers.size() / extent(kind.count);
  const std::vector<double> alpha = project_states(basis.vectors, nv, basis.modes, kind.q, kind.count);
  for (int s = 0; s < kind.count; s += every, ++training.count) {
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
  const Scene scene = read_scene(robot.scene().parts[extent(kind.parts.front())].scene);
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

ErrorSummary errors_of(World& reduced, const Reached& settled, const std::vector<Reached>& references,
                       const Progress& progress) {
  ErrorSummary errors;
  errors.states = static_cast<int>(references.size());
  std::vector<double> goals, shapes;
  double goal_scale = 0, shape_scale = 0;
  for (const Reached& reference : references) {
    goal_scale += distance(reference.goals, settled.goals) / errors.states;
    shape_scale += distance(reference.skin, settled.skin) / errors.states;
  }
  reduced.restart();
  for (std::size_t k = 0; k < references.size(); ++k) {
    check_stop(progress);
    const Reached& reference = references[k];
    if (!reduced.solve(reference.control)) {
      ++errors.failed;
      goals.push_back(goal_scale);
      shapes.push_back(shape_scale);
    } else {
      const Reached now = reduced.reached(reference.control);
      goals.push_back(distance(now.goals, reference.goals));
      shapes.push_back(distance(now.skin, reference.skin));
    }
    progress("validating", static_cast<int>(k) + 1, errors.states);
  }
  summarise(goals, goal_scale, &errors.goal_mean, &errors.goal_median, &errors.goal_max);
  summarise(shapes, shape_scale, &errors.shape_mean, &errors.shape_median, &errors.shape_max);
  errors.worst_state = static_cast<int>(std::ranges::max_element(goals) - goals.begin());
  return errors;
}

int elements_of(const ReducedModel& model) {
  int count = 0;
  for (const ReducedField& field : model.fields) count += kept_elements(field).count();
  return count;
}

// As the scene is called, with a number if another kind is called so.
std::string file_name(const std::string& scene, const std::vector<WorldReduction::Kind>& others) {
  const std::string stem = fs::path(scene).stem().string();
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
    if (part.self_contact) text += "self_contact = true\n";
  }
  return text;
}

}  // namespace

void check_world(const AssemblyRobot& robot) {
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
  if (!scene.obstacles.empty())
    throw InputError("parts are not trained in contact with obstacles of the whole yet",
                     "`supple reduce` the scene of each part with its [[obstacle]], and model = ... here",
                     scene.obstacles.front().place);
  if (robot.moves_freely() && whole.touches())
    throw InputError(
        "equilibria of bodies that move freely depend on how they came to touch, and parts are trained on "
        "equilibria",
        "collision = \"none\" where contact does not matter; or `supple reduce` the scene of each part",
        {scene.file, 0, 0, ""});
  for (const auto& [name, range] : ranges_of(whole))
    if (!(range.lower > -unlimited && range.upper < unlimited))
      throw InputError(fmt::format("the input '{}' has no range", name), "range = [lower, upper]",
                       {scene.file, 0, 0, ""});
  if (whole.actuators.empty() && whole.motions.empty())
    throw InputError("the scene has no input to be trained with", "an actuator, or a [[rigid.motion]]",
                     {scene.file, 0, 0, ""});
}

WorldReduction reduce_world(const AssemblyScene& scene, const WorldRecipe& recipe, const std::string& folder,
                            const Progress& progress) {
  const auto begun = std::chrono::steady_clock::now();
  World full(scene);
  check_world(full.robot());
  const Robot& whole = full.whole();
  WorldReduction result;
  std::vector<Collected> kinds = kinds_of(full.robot());

  const Control zero = zero_control(full.robot().mechanics());
  if (!full.solve(zero))
    throw RunError("the scene has no equilibrium with all commands at zero", "`supple check` reports why");
  const Reached settled = full.reached(zero);
  collect(full, kinds);
  const std::vector<Sample> samples = samples_of(make_plan(whole, recipe_of(recipe)));
  for (std::size_t k = 0; k < samples.size(); ++k) {
    check_stop(progress);
    if (full.solve(control_of(whole, samples[k])))
      collect(full, kinds);
    else
      ++result.failed_states;
    progress("training states", static_cast<int>(k) + 1, static_cast<int>(samples.size()));
  }
  result.states = static_cast<int>(samples.size()) + 1 - result.failed_states;
  std::vector<Sample> draws = uniform_draws(whole, recipe.validation_states, recipe.seed + 0x9e3779b97f4a7c15ULL);
  order_by_walk(whole, draws);
  std::vector<Reached> references;
  full.restart();
  for (std::size_t k = 0; k < draws.size(); ++k) {
    check_stop(progress);
    const Control control = control_of(whole, draws[k]);
    if (full.solve(control)) references.push_back(full.reached(control));
    progress("test states", static_cast<int>(k) + 1, static_cast<int>(draws.size()));
  }
  if (references.empty()) throw RunError("no test state of the whole converged", "smaller ranges of the inputs");
  const auto moved = [&](const std::vector<Vec3d> Reached::*of) {
    return std::ranges::any_of(references,
                               [&](const Reached& reached) { return distance(reached.*of, settled.*of) > 0; });
  };
  if (!moved(&Reached::goals) || !moved(&Reached::skin))
    throw RunError(moved(&Reached::skin) ? "no input moves the effectors" : "no input strains or moves the parts",
                   "effectors that move; ranges of the inputs that are more than one value");
  if (references.size() < draws.size())
    result.notes.push_back(fmt::format("{} of {} test states did not converge on the full scene and are left out",
                                       draws.size() - references.size(), draws.size()));
  if (result.failed_states > 0)
    result.notes.push_back(
        fmt::format("{} of {} training states did not converge", result.failed_states, samples.size()));
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const std::string& file = scene.parts[extent(kinds[k].parts.front())].scene;
    result.kinds.push_back({file, file_name(file, result.kinds), {}});
  }

  std::vector<WorldReduction::Kind> best;
  for (int round = 0; round < most_rounds && !result.reached; ++round) {
    WorldRow row;
    row.modes_tolerance = first_modes_tolerance * std::pow(3, -round);
    row.elements_tolerance = first_elements_tolerance * std::pow(2, -round);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      check_stop(progress);
      progress(fmt::format("modes and elements, round {}", round + 1), static_cast<int>(k),
               static_cast<int>(kinds.size()));
      WorldReduction::Kind& kind = result.kinds[k];
      kind.model = reduced_kind(full.robot(), kinds[k], recipe, row, progress, result.notes);
      row.modes.push_back(kind.model.modes);
      row.elements.push_back(elements_of(kind.model));
      write_model(kind.model, (fs::path(folder) / kind.file).string());
    }
    World reduced(with_models(scene, result, folder));
    row.errors = errors_of(reduced, settled, references, progress);
    result.rows.push_back(row);
    result.reached = row.error() <= recipe.error;
    if (best.empty() || row.error() < result.rows[extent(result.taken)].error()) {
      best = result.kinds;
      result.taken = round;
    }
    if (recipe.max_modes > 0 && std::ranges::all_of(row.modes, [&](int m) { return m >= recipe.max_modes; }) &&
        round > 0)
      break;
  }
  result.kinds = std::move(best);
  for (WorldReduction::Kind& kind : result.kinds) {
    kind.model.errors = result.rows[extent(result.taken)].errors;
    write_model(kind.model, (fs::path(folder) / kind.file).string());
  }
  World reduced(with_models(scene, result, folder));
  result.full = measure_rate(full.robot().mechanics(), 2000, 1, recipe.seed);
  result.reduced = measure_rate(reduced.robot().mechanics(), 100000, 1, recipe.seed);
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

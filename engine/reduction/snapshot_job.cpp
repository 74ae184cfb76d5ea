#include "engine/reduction/snapshot_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <thread>

#include "engine/model/element_fields.hpp"
#include "engine/reduction/claims.hpp"
#include "engine/reduction/greedy.hpp"
#include "engine/reduction/jobs.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

SamplingPlan draws(const Robot& robot, int count, const ReductionScene& recipe, std::uint64_t seed) {
  SamplingPlan plan;
  plan.kind = "uniform";
  std::vector<Sample> samples = uniform_draws(robot, count, seed);
  if (shaken_in_time(robot)) {
    plan.converged = false;
    plan.paths = paths_through(robot, samples, recipe.sweep_steps);
    for (SamplePath& path : plan.paths) path.friction = slides_with_friction(robot);
    return plan;
  }
  // Independent states: every path is one state from rest.
  for (Sample& sample : samples) plan.paths.push_back({{std::move(sample)}});
  return plan;
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

// Workers share paths by claims, or in fixed parts where the file system has no locks.
std::vector<std::string> share_of_worker(const std::string& folder, int k, int jobs) {
  Claims claims(folder);
  (void)claims.enter();
  if (claims.available()) return {"--worker"};
  return {"--shard", fmt::format("{}/{}", k, jobs)};
}

void compute_in_workers(const std::vector<SetPlan>& sets, const Scene& scene, const SnapshotJob& job, int jobs,
                        const Progress& progress) {
  double total = 0;
  for (const SetPlan& set : sets) total += set.plan->states();
  const std::string copy = write_scene_copy(scene, job.folder);
  run_workers(
      job.executable, jobs, job.folder,
      [&](int k) {
        std::vector<std::string> words{"snapshots", copy, "-o", job.folder, "--resume", "--jobs", "1", "--quiet"};
        std::ranges::copy(share_of_worker(sets.front().folder, k, jobs), std::back_inserter(words));
        if (job.with_validation) words.push_back("--with-validation");
        for (std::string& word : words_of(job.batch)) words.push_back(std::move(word));
        return words;
      },
      "snapshots", total, [&] { return states_present(sets); }, progress);
}

// Of several ranks each sees its own states only: what is told is how many there are in the folder, once a second.
Progress progress_of_folder(const std::vector<SetPlan>& sets, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  double total = 0;
  for (const SetPlan& set : sets) total += set.plan->states();
  return {[&sets, &progress, total, last = Clock::time_point()](const std::string& stage, double, double,
                                                                const std::string& detail) mutable {
            if (Clock::now() - last < std::chrono::seconds(1)) return;
            last = Clock::now();
            progress(stage, states_present(sets), total, detail);
          },
          progress.stop};
}

// One that leaves the rest to others.
bool is_part(const SnapshotJob& job) {
  return job.shards > 1 || job.worker;
}

// What the sets lack, in worker processes or this one. The number of paths that others are left at work on.
int compute_missing(const FullModel& model, const Scene& scene, const SceneIdentity& identity,
                    const std::vector<SetPlan>& sets, const SnapshotJob& job, const Progress& progress) {
  if (job.jobs > 1 && !job.executable.empty()) {
    std::size_t missing = 0;
    for (const SetPlan& set : sets) missing += missing_paths(set.folder, identity, *set.plan).size();
    const int jobs = std::min<int>(job.jobs, static_cast<int>(missing));
    if (jobs > 1) compute_in_workers(sets, scene, job, jobs, progress);
  }
  const Progress shown = job.ranks.size > 1 ? progress_of_folder(sets, progress) : progress;
  const auto compute = [&](bool wait) {
    int left = 0;
    for (const SetPlan& set : sets)
      left +=
          compute_paths(model, scene, identity, *set.plan, set.folder, {job.shard, job.shards, wait}, shown, job.batch)
              .left;
    return left;
  };
  const int left = compute(/*wait=*/false);
  return left == 0 || is_part(job) ? left : compute(/*wait=*/true);
}

// States of a round of greedy sampling: enough to be shared among jobs, few enough for the next model to know better.
constexpr int least_round = 16;
constexpr double round_growth = 0.25;

bool is_complete(const SamplingPlan& plan, const ReductionScene& recipe) {
  const int present = plan.states();
  return plan.most_states <= present ||
         (recipe.states_tolerance && !plan.predictions.empty() && plan.predictions.back().states == present &&
          plan.predictions.back().error <= *recipe.states_tolerance);
}

// Chooses a greedy plan's next states from those it has; false where it is complete.
bool choose_more(const FullModel& model, const ReductionScene& recipe, const SceneIdentity& identity,
                 const std::string& folder, SamplingPlan& plan, const Progress& progress) {
  const int present = plan.states(), left = plan.most_states - present;
  const SnapshotSet set =
      read_snapshots(folder, identity, plan, model.coordinates.nv, model.robot.rows(), /*with_q=*/false);
  const int round = std::min(left, std::max(least_round, static_cast<int>(round_growth * present)));
  GreedyChoice choice = choose_samples(model, recipe, folder, set, round, progress);
  if (plan.predictions.empty() || plan.predictions.back().states != present)
    plan.predictions.push_back({present, choice.predicted_error});
  const bool more = !is_complete(plan, recipe);
  if (more) {
    order_by_walk(model.robot, choice.samples);
    std::ranges::move(paths_through(model.robot, choice.samples, recipe.sweep_steps, states_per_greedy_path),
                      std::back_inserter(plan.paths));
  }
  store_plan(folder, identity, plan);
  return more;
}

// The same for runs that share a folder: one chooses, the others take over what it has chosen.
bool grow(const FullModel& model, const ReductionScene& recipe, const SceneIdentity& identity,
          const std::string& folder, SamplingPlan& plan, const Progress& progress) {
  if (is_complete(plan, recipe)) return false;
  Claims claims(folder);
  while (!claims.claim_plan()) {
    if (progress.stopped()) throw Interrupted("stopped while another run chooses states", "the same command again");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const int before = plan.states();
  plan = grown_plan(folder, identity, plan);
  if (plan.states() > before) return true;
  return !is_complete(plan, recipe) && choose_more(model, recipe, identity, folder, plan, progress);
}

// At work in all sets.
std::shared_ptr<const std::vector<Claims>> presence(const std::vector<SetPlan>& sets, const Progress& progress) {
  auto present = std::make_shared<std::vector<Claims>>();
  for (const SetPlan& set : sets) {
    try {
      present->emplace_back(set.folder);
    } catch (const InputError&) {
      return nullptr;  // it can be read all the same
    }
    while (!present->back().enter()) {
      if (progress.stopped())
        throw Interrupted("stopped while another run was at work there", "the same command again");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  return present;
}

}  // namespace

std::vector<SetPlan> sets_of(const SamplingPlans& plans, const std::string& folder, bool with_validation) {
  std::vector<SetPlan> sets{{(fs::path(folder) / "training").string(), &plans.training}};
  if (with_validation) {
    sets.push_back({(fs::path(folder) / "selection").string(), &plans.selection});
    sets.push_back({(fs::path(folder) / "test").string(), &plans.test});
  }
  return sets;
}

const FullModel& without_friction(const FullModel& model, std::optional<FullModel>& copy) {
  if (model.robot.obstacles.empty()) return model;
  copy = model;
  for (PlacedObstacle& obstacle : copy->robot.obstacles) obstacle.friction = 0;
  return *copy;
}

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
  const auto start = std::chrono::steady_clock::now();
  for (const ElementField& field : model.fields)
    if (!has_exact_tangent(field.law))
      throw InputError(
          "reduction needs converged equilibria, and rotations from element edges have no exact tangent to find them "
          "with",
          "rotation = \"polar\"", scene.bodies.front().materials.front().place);
  check_floating(scene, whole.robot);
  const SceneIdentity identity = identify(scene);
  SamplingPlans plans = make_plans(whole.robot, scene.reduction);
  const std::vector<SetPlan> sets = sets_of(plans, job.folder, job.with_validation);
  const std::string& training = sets.front().folder;
  if (job.existing == ExistingFolder::resume) plans.training = grown_plan(training, identity, plans.training);
  const auto prepare = [&](ExistingFolder existing) {
    std::error_code error;
    fs::create_directories(job.folder, error);
    // All sets are replaced, or none.
    std::map<std::string, Claims> alone;
    for (const SetPlan& set : sets)
      if (existing == ExistingFolder::replace && fs::exists(fs::path(set.folder) / "plan.json"))
        if (!alone.emplace(set.folder, set.folder).first->second.alone()) throw in_use(set.folder);
    for (const SetPlan& set : sets)
      prepare_snapshot_folder(set.folder, identity, *set.plan, existing, progress, alone.contains(set.folder));
  };
  // The first rank alone may find a folder there; the others find its own.
  together(job.ranks, [&] {
    if (job.ranks.rank == 0) prepare(job.existing);
  });
  SnapshotTotals totals;
  together(job.ranks, [&] {
    if (job.ranks.rank > 0) {
      plans.training = grown_plan(training, identity, plans.training);
      prepare(ExistingFolder::resume);
    }
    totals.present = presence(sets, progress);
    if (totals.present) totals.locks = std::ranges::all_of(*totals.present, &Claims::available);
    do totals.left = compute_missing(whole, scene, identity, sets, job, progress);
    while (!is_part(job) && grow(model, scene.reduction, identity, training, plans.training, progress));
  });
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!is_part(job) && job.ranks.rank == 0)
    for (const SetPlan& set : sets) {
      const SnapshotSet read =
          read_snapshots(set.folder, identity, *set.plan, model.coordinates.nv, model.robot.rows(), /*with_q=*/false);
      totals.states += read.count;
      totals.failed += read.failed;
      totals.factorisations += read.factorisations;
    }
  return totals;
}

}  // namespace supple

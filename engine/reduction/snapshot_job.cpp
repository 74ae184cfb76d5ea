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
#include "engine/reduction/greedy.hpp"
#include "engine/reduction/snapshots/claims.hpp"
#include "engine/reduction/snapshots/jobs.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

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

// States of a round of greedy sampling: enough to be shared among jobs, few enough for the next model to know better.
constexpr int least_round = 16;
constexpr double round_growth = 0.25;

bool is_complete(const SamplingPlan& plan, const ReductionScene& recipe) {
  const int present = plan.states();
  return plan.most_states <= present ||
         (recipe.states_tolerance && !plan.predictions.empty() && plan.predictions.back().states == present &&
          plan.predictions.back().error <= *recipe.states_tolerance);
}

// One call of compute_snapshots: what it works on, and its stages in their order.
class Job {
 public:
  Job(const FullModel& model, const Scene& scene, const SnapshotJob& job, const Progress& progress)
      : model_(model),
        scene_(scene),
        job_(job),
        progress_(progress),
        identity_(identify(scene)),
        plans_(make_plans(model.robot, scene.reduction)),
        sets_(sets_of(plans_, job.folder, job.with_validation)) {}

  void open_folders();
  void enter();
  void compute();
  SnapshotTotals totals() const;

 private:
  // One that leaves the rest to others.
  bool is_part() const { return job_.shards > 1 || job_.worker; }
  const std::string& training_folder() const { return sets_.front().folder; }
  void take_over_plan() { plans_.training = grown_plan(training_folder(), identity_, plans_.training); }
  void prepare(ExistingFolder existing) const;
  void compute_in_workers(int jobs) const;
  int compute_here(bool wait) const;
  int compute_missing() const;
  bool choose_more();
  bool grow();

  const FullModel& model_;
  const Scene& scene_;
  const SnapshotJob& job_;
  const Progress& progress_;
  SceneIdentity identity_;
  SamplingPlans plans_;
  std::vector<SetPlan> sets_;  // of plans_, training first
  // What totals() returns and enter() and compute() find.
  std::shared_ptr<const std::vector<Claims>> present_;
  int left_ = 0;
};

// The first rank alone may find a folder there; the others find its own.
void Job::open_folders() {
  if (job_.existing == ExistingFolder::resume) take_over_plan();
  together(job_.ranks, [&] {
    if (job_.ranks.rank == 0) prepare(job_.existing);
  });
}

void Job::prepare(ExistingFolder existing) const {
  std::error_code error;
  fs::create_directories(job_.folder, error);
  // All sets are replaced, or none.
  std::map<std::string, Claims> alone;
  for (const SetPlan& set : sets_)
    if (existing == ExistingFolder::replace && fs::exists(fs::path(set.folder) / "plan.json"))
      if (!alone.emplace(set.folder, set.folder).first->second.alone()) throw in_use(set.folder);
  for (const SetPlan& set : sets_)
    prepare_snapshot_folder(set.folder, identity_, *set.plan, existing, progress_, alone.contains(set.folder));
}

// At work in all sets, so that no other run replaces them.
void Job::enter() {
  if (job_.ranks.rank > 0) {
    take_over_plan();
    prepare(ExistingFolder::resume);
  }
  auto present = std::make_shared<std::vector<Claims>>();
  for (const SetPlan& set : sets_) {
    try {
      present->emplace_back(set.folder);
    } catch (const InputError&) {
      return;  // it can be read all the same
    }
    while (!present->back().enter()) {
      if (progress_.stopped())
        throw Interrupted("stopped while another run was at work there", "the same command again");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  present_ = std::move(present);
}

// Round by round where the plan is greedy.
void Job::compute() {
  do left_ = compute_missing();
  while (!is_part() && grow());
}

// In worker processes or this one. The number of paths that others are left at work on.
int Job::compute_missing() const {
  if (job_.jobs > 1 && !job_.program.empty()) {
    std::size_t missing = 0;
    for (const SetPlan& set : sets_) missing += missing_paths(set.folder, identity_, *set.plan).size();
    const int jobs = std::min<int>(job_.jobs, static_cast<int>(missing));
    if (jobs > 1) compute_in_workers(jobs);
  }
  const int left = compute_here(/*wait=*/false);
  return left == 0 || is_part() ? left : compute_here(/*wait=*/true);
}

void Job::compute_in_workers(int jobs) const {
  double total = 0;
  for (const SetPlan& set : sets_) total += set.plan->states();
  const std::string copy = write_scene_copy(scene_, job_.folder);
  const std::string threads = std::to_string(std::max(1, most_threads() / jobs));  // those of all are the processors
  run_workers(
      job_.program, jobs, job_.folder,
      [&](int k) {
        std::vector<std::string> words{"snapshots", copy, "-o",      job_.folder, "--resume",
                                       "--jobs",    "1",  "--quiet", "--threads", threads};
        std::ranges::copy(share_of_worker(training_folder(), k, jobs), std::back_inserter(words));
        if (job_.with_validation) words.push_back("--with-validation");
        for (std::string& word : words_of(job_.batch)) words.push_back(std::move(word));
        return words;
      },
      "snapshots", total, [&] { return states_present(sets_); }, progress_);
}

int Job::compute_here(bool wait) const {
  const Progress shown = job_.ranks.size > 1 ? progress_of_folder(sets_, progress_) : progress_;
  int left = 0;
  for (const SetPlan& set : sets_)
    left += compute_paths(model_, scene_, identity_, *set.plan, set.folder, {job_.shard, job_.shards, wait}, shown,
                          job_.batch)
                .left;
  return left;
}

// Chooses a greedy plan's next states; false where it is complete. Of runs that share a folder one chooses, the others
// take over what it has chosen.
bool Job::grow() {
  if (is_complete(plans_.training, scene_.reduction)) return false;
  Claims claims(training_folder());
  while (!claims.claim_plan()) {
    if (progress_.stopped()) throw Interrupted("stopped while another run chooses states", "the same command again");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const int before = plans_.training.states();
  take_over_plan();
  if (plans_.training.states() > before) return true;
  return !is_complete(plans_.training, scene_.reduction) && choose_more();
}

// From the present states, without friction, as the model will be trained.
bool Job::choose_more() {
  std::optional<FullModel> copy;
  const FullModel& model = without_friction(model_, copy);
  SamplingPlan& plan = plans_.training;
  const int present = plan.states(), left = plan.most_states - present;
  const SnapshotSet set = read_snapshots(training_folder(), identity_, plan, model.coordinates.nv, model.robot.rows(),
                                         /*with_q=*/false);
  const int round = std::min(left, std::max(least_round, static_cast<int>(round_growth * present)));
  GreedyChoice choice = choose_samples(model, scene_.reduction, training_folder(), set, round, progress_);
  if (plan.predictions.empty() || plan.predictions.back().states != present)
    plan.predictions.push_back({present, choice.predicted_error});
  const bool more = !is_complete(plan, scene_.reduction);
  if (more) {
    order_by_walk(model.robot, choice.samples);
    std::ranges::move(paths_through(model.robot, choice.samples, scene_.reduction.sweep_steps, states_per_greedy_path),
                      std::back_inserter(plan.paths));
  }
  store_plan(training_folder(), identity_, plan);
  return more;
}

// Of the whole folder; a part of a job leaves counting to whoever shares it out.
SnapshotTotals Job::totals() const {
  SnapshotTotals totals;
  totals.left = left_;
  totals.present = present_;
  if (present_) totals.locks = std::ranges::all_of(*present_, &Claims::available);
  if (is_part() || job_.ranks.rank > 0) return totals;
  for (const SetPlan& set : sets_) {
    const SnapshotSet read =
        read_snapshots(set.folder, identity_, *set.plan, model_.coordinates.nv, model_.robot.rows(), /*with_q=*/false);
    totals.states += read.count;
    totals.failed += read.failed;
    totals.short_of += static_cast<int>(read.out_of_reach.size());
    totals.factorisations += read.factorisations;
  }
  return totals;
}

}  // namespace

void check_states(const FullModel& model, const Scene& scene) {
  for (const ElementField& field : model.fields)
    if (!has_exact_tangent(field.law))
      throw InputError(
          "reduction needs converged equilibria, and rotations from element edges have no exact tangent to find them "
          "with",
          "rotation = \"polar\"", scene.bodies.front().materials.front().place);
  check_floating(scene, model.robot);
}

SnapshotTotals compute_snapshots(const FullModel& model, const Scene& scene, const SnapshotJob& settings,
                                 const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  check_states(model, scene);
  Job job(model, scene, settings, progress);
  job.open_folders();
  together(settings.ranks, [&] {
    job.enter();
    job.compute();
  });
  SnapshotTotals totals = job.totals();
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return totals;
}

}  // namespace supple

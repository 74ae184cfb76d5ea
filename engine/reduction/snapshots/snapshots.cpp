#include "engine/reduction/snapshots/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>

#include "engine/io/hdf5_file.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/full/shared_elements.hpp"
#include "engine/model/parameters.hpp"
#include "engine/reduction/snapshots/claims.hpp"
#include "engine/reduction/snapshots/path_queue.hpp"
#include "engine/reduction/snapshots/pushes.hpp"
#include "engine/scene/writer.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/hash.hpp"
#include "solvers/sparse/lockstep.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

// From state to state along a path. A jump that takes more and smaller increments is better made from rest: of 300
// states of the coarse tentacle 12 were lost when all was tried from the state before, none now, for 28 % fewer
// factorisations.
constexpr EquilibriumSettings quick_continuation{.smallest_increment = 0.25, .patient_iterations = 0};

// Of a sample that is out of reach: the share of the way that was followed at which it is replaced, the first of these
// with a stable equilibrium, and the least that is worth a state.
constexpr double replaced_at[] = {0.8, 0.5}, least_way = 0.1;

constexpr const char* plan_format = "supple snapshots 2";
constexpr std::chrono::milliseconds poll{100};  // for locks and paths of others

std::string plan_text(const SceneIdentity& identity, const SamplingPlan& plan) {
  nlohmann::ordered_json json;
  json["format"] = plan_format;
  json["scene_hash"] = hash_hex(identity.scene);
  json["mesh_hash"] = hash_hex(identity.mesh);
  json["sampling"] = plan.kind;
  json["converged"] = plan.converged;
  json["states"] = plan.states();
  for (std::size_t k = 0; k < plan.paths.size(); ++k) {
    json["paths"].push_back({{"file", fs::path(path_file("", static_cast<int>(k))).filename().string()},
                             {"states", plan.paths[k].samples.size()},
                             {"hash", hash_hex(path_identity(identity, plan.converged, plan.paths[k]))},
                             {"commands", plan.paths[k].samples}});
    if (plan.paths[k].friction) json["paths"].back()["friction"] = true;
    if (plan.paths[k].in_time) json["paths"].back()["in_time"] = true;
  }
  for (const SamplingPlan::Prediction& prediction : plan.predictions)
    json["predictions"].push_back({{"states", prediction.states}, {"error", prediction.error}});
  return json.dump(1) + "\n";
}

std::string plan_file(const std::string& folder) {
  return (fs::path(folder) / "plan.json").string();
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Whether a folder holds anything that none of its users puts there before the plan.
bool holds_other_files(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name != "claims" && name.rfind("plan.json", 0) != 0) return true;
  }
  return false;
}

void check_format(const std::string& file, const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto found = json.is_object() ? json.find("format") : json.end();
  if (json.is_object() && found != json.end() && found->is_string() && *found != plan_format)
    throw InputError(fmt::format("the snapshots in '{}' have the format '{}' (this version of Supple knows '{}')",
                                 fs::path(file).parent_path().string(), found->get<std::string>(), plan_format),
                     "the version that made them, or another folder with -o", {file, 0, 0, ""});
}

// Where one of the stored plan and this one begins with the other: the paths that are stored. Neither grows by itself.
std::optional<std::size_t> paths_of_both(const std::string& stored, const SceneIdentity& identity,
                                         const SamplingPlan& plan) {
  if (plan.most_states > 0) return std::nullopt;
  const nlohmann::json here = nlohmann::json::parse(stored, nullptr, /*allow_exceptions=*/false),
                       there = nlohmann::json::parse(plan_text(identity, plan));
  if (!here.is_object()) return std::nullopt;
  const auto same = [](const nlohmann::json& a, const nlohmann::json& b, const char* key) {
    const auto x = a.find(key), y = b.find(key);
    return x != a.end() && y != b.end() && *x == *y;
  };
  for (const char* key : {"scene_hash", "mesh_hash", "sampling"})
    if (!same(here, there, key)) return std::nullopt;
  const auto a = here.find("paths"), b = there.find("paths");
  if (a == here.end() || !a->is_array() || b == there.end()) return std::nullopt;
  for (std::size_t k = 0; k < std::min(a->size(), b->size()); ++k)
    if (!(*a)[k].is_object() || !same((*a)[k], (*b)[k], "hash")) return std::nullopt;
  return a->size();
}

void wait_for_others(const Progress& progress) {
  if (progress.stopped()) throw Interrupted("stopped while another run was at work there", "the same command again");
  std::this_thread::sleep_for(poll);
}

}  // namespace

bool is_path_of(const std::string& file, std::uint64_t identity) {
  try {
    return fs::exists(file) && Hdf5File(file, Hdf5File::Mode::read).read_text("/identity") == hash_hex(identity);
  } catch (const InputError&) {
    return false;  // cut off or foreign: computed again
  }
}

std::uint64_t path_identity(const SceneIdentity& identity, bool converged, const SamplePath& path) {
  std::uint64_t hash = hash_bytes(&identity, sizeof identity);
  const bool equilibria = converged && !path.in_time;
  hash = hash_bytes(&equilibria, sizeof equilibria, hash);
  for (const Sample& sample : path.samples) hash = hash_bytes(sample.data(), sample.size() * sizeof(double), hash);
  if (path.friction) hash = hash_bytes(&path.friction, sizeof path.friction, hash);
  return hash;
}

SceneIdentity identify(const Scene& scene) {
  Scene essential = scene;
  // Only what changes states. Where the samples lie and how they are solved is in the plan; where points are looked at
  // changes nothing.
  essential.reduction = ReductionScene{};  // and its text, whose keys may grow in number, is cut off
  essential.name = "scene";
  essential.duration = 1;
  essential.effectors.clear();
  essential.probes.clear();
  essential.sensors.clear();
  const BodyScene& body = scene.bodies.front();
  std::string text = write_scene(essential, fs::path(body.mesh_file).parent_path().string());
  text.resize(std::min(text.size(), text.find("\n[reduce]")));
  // Of the mesh alone where that is all the scene names.
  const std::vector<std::string> files = input_files(essential);
  std::string hashes;
  for (const std::string& file : files) hashes += hash_hex(hash_file(file));
  return {hash_text(text), files.size() == 1 ? hash_file(files.front()) : hash_text(hashes)};
}

InputError in_use(const std::string& folder) {
  return {"another run is computing in '" + folder + "' (what it works on cannot be replaced)",
          "stop it, wait for it, or another folder with -o",
          {plan_file(folder), 0, 0, ""}};
}

std::string path_file(const std::string& folder, int path) {
  return (fs::path(folder) / fmt::format("path_{:04}.h5", path)).string();
}

void prepare_snapshot_folder(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan,
                             ExistingFolder existing, const Progress& progress, bool alone) {
  const std::string stored = plan_file(folder), text = plan_text(identity, plan);
  if (existing == ExistingFolder::resume && text_of(stored) == text) return;  // also where nothing can be written
  // In this order: a plan that another process is writing just now is none that is missing.
  if (holds_other_files(folder) && !fs::exists(stored))
    throw InputError("'" + folder + "' is not empty and holds no snapshots", "give a new folder with -o",
                     {folder, 0, 0, ""});
  std::error_code error;
  fs::create_directories(folder, error);
  Claims claims(folder);
  while (!claims.claim_plan()) wait_for_others(progress);
  if (fs::exists(stored) && existing != ExistingFolder::replace) {
    if (existing == ExistingFolder::refuse)
      throw InputError("'" + folder + "' already holds snapshots",
                       "--resume to continue with them, --force to start over, or another -o", {stored, 0, 0, ""});
    const std::string present = text_of(stored);
    check_format(stored, present);
    if (const std::optional<std::size_t> paths = paths_of_both(present, identity, plan)) {
      if (*paths < plan.paths.size()) write_file(stored, text);
      return;
    }
    // A greedy plan may have grown meanwhile.
    if (present != text && grown_plan(folder, identity, plan).states() <= plan.states())
      throw InputError("the snapshots in '" + folder + "' belong to another scene, mesh or sampling",
                       fmt::format("another folder, or `supple snapshots SCENE -o {} --force` to start over", folder),
                       {stored, 0, 0, ""});
    return;
  }
  if (fs::exists(stored)) {
    if (!alone && !claims.alone()) throw in_use(folder);
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("path_", 0) == 0) fs::remove(entry.path(), error);
    }
  }
  write_file(stored, text);
}

SamplingPlan grown_plan(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan) {
  if (plan.most_states == 0) return plan;
  SamplingPlan grown = plan;
  const std::string text = text_of(plan_file(folder));
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    grown.paths.clear();
    for (const nlohmann::json& path : json.at("paths"))
      grown.paths.push_back({path.at("commands").get<std::vector<Sample>>()});
    if (json.contains("predictions"))
      for (const nlohmann::json& prediction : json.at("predictions"))
        grown.predictions.push_back({prediction.at("states").get<int>(), prediction.at("error").get<double>()});
  } catch (const nlohmann::json::exception&) {
    return plan;  // none, or damaged
  }
  const auto same = [](const SamplePath& a, const SamplePath& b) { return a.samples == b.samples; };
  const bool begins = grown.paths.size() >= plan.paths.size() &&
                      std::equal(plan.paths.begin(), plan.paths.end(), grown.paths.begin(), same);
  return begins && grown.states() <= plan.most_states && plan_text(identity, grown) == text ? grown : plan;
}

void store_plan(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan) {
  write_file(plan_file(folder), plan_text(identity, plan));
}

std::vector<int> missing_paths(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan) {
  std::vector<int> missing;
  for (std::size_t k = 0; k < plan.paths.size(); ++k)
    if (!is_path_of(path_file(folder, static_cast<int>(k)), path_identity(identity, plan.converged, plan.paths[k])))
      missing.push_back(static_cast<int>(k));
  return missing;
}

namespace {

// The states of one path after the other.
class PathSolver {
 public:
  PathSolver(const FullModel& model, const Scene& scene, const SceneIdentity& identity, const SamplingPlan& plan,
             const FullMechanics::MakeSolver& make_solver, const EvaluateElements& evaluate = {})
      : changing_(model),
        model_(changing_.model()),
        identity_(identity),
        plan_(plan),
        mechanics_(model_, make_solver, evaluate),
        patient_(mechanics_, from_rest(model.robot)),
        quick_(mechanics_, quick_continuation),
        stepper_(mechanics_, {.scheme = StepScheme::one_linearisation, .time_step = scene.time_step}) {}

  // Seconds of one core for the path's first and second equilibrium, and for time steps from there.
  StateSeconds measure(const SamplePath& path) {
    constexpr int steps = 2;  // the first does what is done once
    StateSeconds seconds;
    const auto timed = [](double& into, const auto& work) {
      const auto start = std::chrono::steady_clock::now();
      work();
      into = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    mechanics_.set_friction(path.friction);
    State state = rest_state(mechanics_);
    int iterations = 0;
    Sample sample = path.samples.front();
    if (plan_.converged && !path.in_time) {
      timed(seconds.from_rest, [&] { (void)find_equilibrium(sample, true, state, iterations); });
      seconds.followed = seconds.from_rest;
      if (path.samples.size() > 1) {
        sample = path.samples[1];
        timed(seconds.followed, [&] { (void)find_equilibrium(sample, false, state, iterations); });
      }
    }
    const Control control = control_of(model_.robot, sample);
    for (int k = 0; k < steps; ++k) timed(seconds.step, [&] { (void)step(control, state, iterations); });
    return seconds;
  }
  // Path after path until the queue is empty.
  void work(PathQueue& queue) {
    while (const std::optional<int> path = queue.take()) compute(*path, queue);
  }
  const FullMechanics& mechanics() const { return mechanics_; }

 private:
  void compute(int index, PathQueue& queue) {
    const SamplePath& path = plan_.paths[static_cast<std::size_t>(index)];
    mechanics_.set_friction(path.friction);
    State state = rest_state(mechanics_);
    if (!path.samples.empty()) take_parameters(path.samples.front());  // of a trajectory, along which they stay
    // A trajectory fails with the equilibrium that it starts from.
    StepStatus start = StepStatus::ok;
    if (path.in_time) {
      const Sample released = released_sample(model_.robot);
      take_push(released);
      start = patient_.solve(control_of(model_.robot, released), state).status;
    }
    std::vector<double> commands, q, multipliers;
    std::vector<int> status, factorisations;
    for (Sample sample : path.samples) {
      queue.before();
      int iterations = 0;
      const StepStatus result = start != StepStatus::ok ? start
                                : plan_.converged && !path.in_time
                                    ? find_equilibrium(sample, status.empty(), state, iterations)
                                    : step(control_of(model_.robot, sample), state, iterations);
      status.push_back(static_cast<int>(result));
      factorisations.push_back(iterations);
      commands.insert(commands.end(), sample.begin(), sample.end());
      q.insert(q.end(), state.q.begin(), state.q.end());
      multipliers.insert(multipliers.end(), state.multipliers.begin(), state.multipliers.end());
      queue.after(result, sample != path.samples[status.size() - 1], iterations);
    }
    const std::size_t n = path.samples.size();
    queue.finish(index, [&](const std::string& file) {
      write_hdf5_atomically(file, [&](Hdf5File& out) {
        out.write("/identity", hash_hex(path_identity(identity_, plan_.converged, path)));
        out.write("/commands", commands, {n, path.samples.front().size()});
        out.write("/q", q, {n, static_cast<std::size_t>(model_.coordinates.nv)});
        out.write("/multipliers", multipliers, {n, static_cast<std::size_t>(model_.robot.rows())});
        out.write("/status", status, {n});
        out.write("/factorisations", factorisations, {n});
      });
    });
  }

  StepStatus step(const Control& control, State& state, int& iterations) {
    const StepReport report = stepper_.step(control, state);
    iterations = report.iterations;
    return report.status;
  }

  void take_parameters(const Sample& sample) {
    if (changing_.set(parameters_of(model_.robot, sample))) mechanics_.model_changed();
  }

  void take_push(const Sample& sample) {
    const std::vector<double> load = load_of(mechanics_, sample);
    patient_.set_load(load);
    quick_.set_load(load);
  }

  // A stable one. sample: where it is out of reach, replaced.
  StepStatus find_equilibrium(Sample& sample, bool at_rest, State& state, int& iterations) {
    take_parameters(sample);
    take_push(sample);
    const Control control = control_of(model_.robot, sample);
    EquilibriumReport report = (at_rest ? patient_ : quick_).solve(control, state);
    iterations = report.iterations;
    if (report.stable()) return report.status;
    if (!at_rest) {
      state = rest_state(mechanics_);
      report = patient_.solve(control, state);
      iterations += report.iterations;
      if (report.stable()) return report.status;
    }
    return stop_short(sample, report, state, iterations);
  }

  static StepStatus failure_of(const EquilibriumReport& report) {
    return report.status == StepStatus::ok ? StepStatus::not_converged : report.status;
  }

  // A sample that was not reached from rest, or not in a stable equilibrium, is replaced by one on the way there, with
  // the same parameters and a weaker push at the same point.
  StepStatus stop_short(Sample& sample, const EquilibriumReport& failure, State& state, int& iterations) {
    if (failure.reached < least_way) return failure_of(failure);
    const std::vector<InputRange> inputs = input_ranges(model_.robot);
    StepStatus status = failure_of(failure);
    for (const double share : replaced_at) {
      state = rest_state(mechanics_);
      Sample part = sample;
      const std::size_t commands = state.commands.size();
      for (std::size_t k = 0; k < commands + state.motions.size(); ++k) {
        const double from = k < commands ? state.commands[k] : state.motions[k - commands];
        part[k] = from + share * failure.reached * (part[k] - from);
        if (part[k] < inputs[k].range.lower || part[k] > inputs[k].range.upper) return status;
      }
      if (model_.robot.pushes > 0)
        for (std::size_t k = part.size() - 3; k < part.size(); ++k) part[k] *= std::cbrt(share * failure.reached);
      take_push(part);
      const EquilibriumReport report = patient_.solve(control_of(model_.robot, part), state);
      iterations += report.iterations;
      if (report.stable()) {
        sample = part;
        return report.status;
      }
      status = failure_of(report);
    }
    return status;
  }

  ChangingModel<FullModel> changing_;
  const FullModel& model_;
  const SceneIdentity& identity_;
  const SamplingPlan& plan_;
  FullMechanics mechanics_;
  Equilibrium patient_, quick_;
  Stepper stepper_;
};

// Robots of a batch, each with a solver of paths of its own.
class PathBatch {
 public:
  PathBatch(const FullModel& model, const Scene& scene, const SceneIdentity& identity, const SamplingPlan& plan,
            const StateBatch& batch, int most) {
    const bool shares = batch.shares_elements() && model.robot.parameters.empty();
    const auto solver = [&, this](int robot) {
      EvaluateElements evaluate;
      if (shares)
        evaluate = [this, robot](const double* u, TangentKind kind, const ElementResults& results) {
          return elements_->evaluate(robot, u, kind, results);
        };
      solvers_.push_back(std::make_unique<PathSolver>(
          model, scene, identity, plan, [this, robot] { return lockstep_->solver(robot); }, evaluate));
    };
    solver(0);
    const FullMechanics& first = solvers_.front()->mechanics();
    const auto symbolic = std::make_shared<const BatchPlan>(
        std::make_shared<const AssemblyTree>(assembly_tree(first.pattern())), batch_form(batch.device));
    const int robots = batch_size(batch, *symbolic, first, most);
    lockstep_ = std::make_unique<Lockstep>(batch.device, symbolic, robots);
    if (shares) elements_ = std::make_unique<SharedElements>(*lockstep_, model, first.node_pattern(), batch.device);
    for (int robot = 1; robot < robots; ++robot) solver(robot);
  }
  void work(PathQueue& queue) {
    lockstep_->run([&](int robot) { solvers_[static_cast<std::size_t>(robot)]->work(queue); });
  }

 private:
  std::unique_ptr<Lockstep> lockstep_;
  std::unique_ptr<SharedElements> elements_;
  std::vector<std::unique_ptr<PathSolver>> solvers_;
};

// Another run may have started over between this one's look at the plan and its claim to be at work.
void check_plan(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan) {
  const nlohmann::json json = nlohmann::json::parse(text_of(plan_file(folder)), nullptr, /*allow_exceptions=*/false);
  const auto paths = json.is_object() ? json.find("paths") : json.end();
  bool same = json.is_object() && paths != json.end() && paths->size() >= plan.paths.size();
  for (std::size_t k = 0; same && k < plan.paths.size(); ++k)
    same = (*paths)[k].is_object() &&
           (*paths)[k].value("hash", "") == hash_hex(path_identity(identity, plan.converged, plan.paths[k]));
  if (!same)
    throw InputError("'" + folder + "' has been given another plan meanwhile (another run has started over in it)",
                     "one folder for each scene", {plan_file(folder), 0, 0, ""});
}

}  // namespace

StateSeconds measure_states(const FullModel& model, const Scene& scene, const SamplingPlan& plan, double share,
                            const StateBatch& batch) {
  constexpr double least = 0.3;  // s
  std::vector<const SamplePath*> paths;
  for (const SamplePath& path : plan.paths)
    if (!path.in_time) paths.push_back(&path);
  const SceneIdentity identity;
  PathSolver solver(model, scene, identity, plan, [&] { return make_sparse_direct(batch.solver); });
  StateSeconds sum;
  double spent = 0, all = 0;
  std::size_t measured = 0;
  // Far apart: neighbours cost alike.
  std::size_t stride = std::max<std::size_t>(1, paths.size() * 382 / 1000);
  while (std::gcd(stride, paths.size()) > 1) ++stride;
  for (std::size_t at = 0; measured < paths.size() && (measured == 0 || spent < std::max(least, share * all));
       at = (at + stride) % paths.size()) {
    const StateSeconds one = solver.measure(*paths[at]);
    sum.from_rest += one.from_rest;
    sum.followed += one.followed;
    sum.step += one.step;
    ++measured;
    spent += one.from_rest + one.followed + one.step;
    all = spent / static_cast<double>(measured) * plan.states() / 2;
  }
  const double n = std::max<double>(1, static_cast<double>(measured));
  return {sum.from_rest / n, sum.followed / n, sum.step / n};
}

SnapshotRun compute_paths(const FullModel& model, const Scene& scene, const SceneIdentity& identity,
                          const SamplingPlan& plan, const std::string& folder, const PathShare& share,
                          const Progress& progress, const StateBatch& batch) {
  std::vector<int> todo;
  for (int path : missing_paths(folder, identity, plan))
    if (path % share.shards == share.shard) todo.push_back(path);
  if (todo.empty()) return {};
  Claims claims(folder);
  while (!claims.enter()) wait_for_others(progress);
  check_plan(folder, identity, plan);
  const int most = static_cast<int>(todo.size());
  PathQueue queue(identity, plan, folder, claims, std::move(todo), progress);
  const auto drain = [&](auto&& solver) {
    solver.work(queue);
    while (share.wait && queue.take_over()) {
      queue.before();
      std::this_thread::sleep_for(poll);
      solver.work(queue);
    }
  };
  if (batch.robots)
    drain(PathBatch(model, scene, identity, plan, batch, most));
  else
    drain(PathSolver(model, scene, identity, plan, [&] { return make_sparse_direct(batch.solver); }));
  return queue.run();
}

}  // namespace supple

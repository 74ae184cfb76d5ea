#include "engine/reduction/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/dynamics/equilibrium.hpp"
#include "engine/dynamics/full_mechanics.hpp"
#include "engine/io/hdf5_file.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

// From state to state along a path. A jump that takes more and smaller increments is better made from rest: of 300
// states of the coarse tentacle 12 were lost when all was tried from the state before, none now, for 28 % fewer
// factorisations.
constexpr EquilibriumSettings quick_continuation{.smallest_increment = 0.25, .patient_iterations = 0};

std::uint64_t path_identity(const SceneIdentity& identity, bool converged, const SamplePath& path) {
  std::uint64_t hash = hash_bytes(&identity, sizeof identity);
  hash = hash_bytes(&converged, sizeof converged, hash);
  for (const Sample& sample : path.samples) hash = hash_bytes(sample.data(), sample.size() * sizeof(double), hash);
  return hash;
}

std::string plan_text(const SceneIdentity& identity, const SamplingPlan& plan) {
  nlohmann::ordered_json json;
  json["format"] = "supple snapshots 1";
  json["scene_hash"] = hash_hex(identity.scene);
  json["mesh_hash"] = hash_hex(identity.mesh);
  json["sampling"] = plan.kind;
  json["converged"] = plan.converged;
  json["states"] = plan.states();
  for (std::size_t k = 0; k < plan.paths.size(); ++k)
    json["paths"].push_back({{"file", fs::path(path_file("", static_cast<int>(k))).filename().string()},
                             {"states", plan.paths[k].samples.size()},
                             {"hash", hash_hex(path_identity(identity, plan.converged, plan.paths[k]))},
                             {"commands", plan.paths[k].samples}});
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

bool is_path_of(const std::string& file, std::uint64_t identity) {
  try {
    return fs::exists(file) && Hdf5File(file, Hdf5File::Mode::read).read_text("/identity") == hash_hex(identity);
  } catch (const InputError&) {
    return false;  // cut off or foreign: computed again
  }
}

}  // namespace

SceneIdentity identify(const Scene& scene) {
  Scene essential = scene;
  // Only what changes states. Where the samples lie and how they are solved is in the plan; where points are looked at
  // changes nothing.
  essential.reduction = ReductionScene{};  // and its text, whose keys may grow in number, is cut off
  essential.name = "scene";
  essential.duration = 1;
  essential.effectors.clear();
  essential.probes.clear();
  const BodyScene& body = scene.bodies.front();
  std::string text = write_scene(essential, fs::path(body.mesh_file).parent_path().string());
  text.resize(std::min(text.size(), text.find("\n[reduce]")));
  // Of the mesh alone where that is all the scene names.
  const std::vector<std::string> files = input_files(scene);
  std::string hashes;
  for (const std::string& file : files) hashes += hash_hex(hash_file(file));
  return {hash_text(text), files.size() == 1 ? hash_file(files.front()) : hash_text(hashes)};
}

std::string path_file(const std::string& folder, int path) {
  return (fs::path(folder) / fmt::format("path_{:04}.h5", path)).string();
}

void prepare_snapshot_folder(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan,
                             ExistingFolder existing) {
  const std::string stored = plan_file(folder), text = plan_text(identity, plan);
  std::error_code error;
  if (fs::exists(stored) && existing != ExistingFolder::replace) {
    if (existing == ExistingFolder::refuse)
      throw InputError("'" + folder + "' already holds snapshots",
                       "--resume to go on with them, --force to start over, or another -o", {stored, 0, 0, ""});
    if (text_of(stored) != text)
      throw InputError("the snapshots in '" + folder + "' belong to another scene, mesh or sampling",
                       "another folder with -o, or --force to start over", {stored, 0, 0, ""});
    return;
  }
  if (existing == ExistingFolder::replace && fs::exists(stored)) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("path_", 0) == 0) fs::remove(entry.path(), error);
    }
  } else if (fs::exists(folder) && !fs::is_empty(folder, error)) {
    throw InputError("'" + folder + "' is not empty and holds no snapshots", "give a new folder with -o",
                     {folder, 0, 0, ""});
  }
  fs::create_directories(folder, error);
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

SnapshotRun compute_paths(const FullModel& model, const Scene& scene, const SceneIdentity& identity,
                          const SamplingPlan& plan, const std::string& folder, int shard, int shards,
                          const Progress& progress) {
  SnapshotRun run;
  const auto start = std::chrono::steady_clock::now();
  std::vector<int> todo;
  int states = 0;
  for (int path : missing_paths(folder, identity, plan))
    if (path % shards == shard) {
      todo.push_back(path);
      states += static_cast<int>(plan.paths[static_cast<std::size_t>(path)].samples.size());
    }
  if (todo.empty()) return run;
  FullMechanics mechanics(model);
  Equilibrium patient(mechanics, {}), quick(mechanics, quick_continuation);
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = scene.time_step});
  const auto rows = static_cast<std::size_t>(model.robot.rows()), nv = static_cast<std::size_t>(model.coordinates.nv);
  for (int index : todo) {
    const SamplePath& path = plan.paths[static_cast<std::size_t>(index)];
    State state = rest_state(mechanics);
    Control control;
    std::vector<double> commands, q, multipliers;
    std::vector<int> status, factorisations;
    for (const Sample& sample : path.samples) {
      if (progress.stopped())
        throw Interrupted(fmt::format("stopped with {} of {} states of this run done", run.states, states),
                          "the same command with --resume");
      control = control_of(model.robot, sample);
      StepStatus result;
      int iterations;
      if (plan.converged) {
        const bool at_rest = status.empty();
        const EquilibriumReport report = (at_rest ? patient : quick).solve(control, state);
        result = report.status;
        iterations = report.iterations;
        if (result != StepStatus::ok && !at_rest) {
          state = rest_state(mechanics);
          const EquilibriumReport again = patient.solve(control, state);
          result = again.status;
          iterations += again.iterations;
        }
      } else {
        const StepReport report = stepper.step(control, state);
        result = report.status;
        iterations = report.iterations;
      }
      if (result != StepStatus::ok) ++run.failed;
      ++run.states;
      run.factorisations += iterations;
      status.push_back(static_cast<int>(result));
      factorisations.push_back(iterations);
      commands.insert(commands.end(), sample.begin(), sample.end());
      q.insert(q.end(), state.q.begin(), state.q.end());
      multipliers.insert(multipliers.end(), state.multipliers.begin(), state.multipliers.end());
      progress("snapshots", run.states, states, run.failed ? fmt::format("{} failed", run.failed) : std::string());
    }
    const std::size_t n = path.samples.size();
    write_hdf5_atomically(path_file(folder, index), [&](Hdf5File& file) {
      file.write("/identity", hash_hex(path_identity(identity, plan.converged, path)));
      file.write("/commands", commands, {n, model.robot.actuators.size() + model.robot.motions.size()});
      file.write("/q", q, {n, nv});
      file.write("/multipliers", multipliers, {n, rows});
      file.write("/status", status, {n});
      file.write("/factorisations", factorisations, {n});
    });
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

namespace {

constexpr double block_bytes = 2.5e8;

// What `read` finds in a path's file; a damaged file is an error that says what to do.
template <class Read>
auto read_path(const Hdf5File& file, const Read& read) {
  try {
    return read(file);
  } catch (const InputError& error) {
    throw InputError(error.what(),
                     "delete this file: `supple reduce` and `supple snapshots --resume` compute its states again",
                     error.place());
  }
}

}  // namespace

std::vector<double> read_displacements(const std::string& folder, const SnapshotSet& set, int nv, int first,
                                       int count) {
  SUPPLE_EXPECT(first >= 0 && first + count <= set.count);
  const auto length = static_cast<std::size_t>(nv);
  std::vector<double> q, path;
  q.reserve(length * static_cast<std::size_t>(count));
  int read = -1;
  for (int s = first; s < first + count; ++s) {
    const SnapshotSet::Source source = set.source[static_cast<std::size_t>(s)];
    if (source.path != read) {
      const Hdf5File file(path_file(folder, source.path), Hdf5File::Mode::read);
      path = read_path(file, [&](const Hdf5File& f) {
        const std::size_t n = f.read_ints("/status").size();
        return f.read_doubles("/q", {n, length});
      });
      read = source.path;
    }
    const auto from = path.begin() + static_cast<long>(source.sample) * nv;
    q.insert(q.end(), from, from + nv);
  }
  return q;
}

ColumnBlocks displacement_blocks(const std::string& folder, const SnapshotSet& set, int nv) {
  const int most = std::max(1, static_cast<int>(block_bytes / 8 / std::max(1, nv)));
  ColumnBlocks blocks;
  blocks.rows = nv;
  for (int first = 0; first < set.count; first += most) blocks.counts.push_back(std::min(most, set.count - first));
  blocks.read = [folder, &set, nv, most, counts = blocks.counts](int k, std::vector<double>& storage) {
    storage = read_displacements(folder, set, nv, k * most, counts[static_cast<std::size_t>(k)]);
    return std::span<const double>(storage);
  };
  return blocks;
}

SnapshotSet read_snapshots(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan, int nv,
                           int rows, bool with_q) {
  SnapshotSet set;
  for (std::size_t k = 0; k < plan.paths.size(); ++k) {
    const SamplePath& path = plan.paths[k];
    const std::size_t n = path.samples.size();
    const Hdf5File file(path_file(folder, static_cast<int>(k)), Hdf5File::Mode::read);
    if (file.read_text("/identity") != hash_hex(path_identity(identity, plan.converged, path)))
      throw InputError("'" + file.path() + "' belongs to another scene, mesh or sampling",
                       "compute the snapshots again (`supple snapshots --force`)", {file.path(), 0, 0, ""});
    std::vector<int> status, factorisations;
    std::vector<double> q, multipliers;
    read_path(file, [&](const Hdf5File& f) {
      status = f.read_ints("/status", {n});
      factorisations = f.read_ints("/factorisations", {n});
      if (with_q) q = f.read_doubles("/q", {n, static_cast<std::size_t>(nv)});
      multipliers = f.read_doubles("/multipliers", {n, static_cast<std::size_t>(rows)});
      return 0;
    });
    for (std::size_t i = 0; i < n; ++i) {
      set.factorisations += factorisations[i];
      if (status[i] != 0) {
        ++set.failed;
        continue;
      }
      ++set.count;
      set.source.push_back({static_cast<int>(k), static_cast<int>(i)});
      set.commands.push_back(path.samples[i]);
      if (with_q)
        set.q.insert(set.q.end(), q.begin() + static_cast<long>(i) * nv, q.begin() + static_cast<long>(i + 1) * nv);
      set.multipliers.insert(set.multipliers.end(), multipliers.begin() + static_cast<long>(i) * rows,
                             multipliers.begin() + static_cast<long>(i + 1) * rows);
    }
  }
  return set;
}

}  // namespace supple

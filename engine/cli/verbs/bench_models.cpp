#include "engine/cli/verbs/bench_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "engine/cli/shell/terminal.hpp"
#include "engine/io/model_file.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/hash.hpp"
#include "kernels/base/version.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

// States to train on, corners apart: for the tentacle's eight actuators 64 leave an error of 9 %, 128 of 6 %.
constexpr int least_states = 64, states_per_actuator = 16;
constexpr int test_states = 12;  // behind the error that is printed

// The scene with what its model is made from. A model that misses the scene's limits is measured all the same: its
// error stands beside its rate.
Scene smaller(Scene scene) {
  ReductionScene& recipe = scene.reduction;
  recipe.states =
      std::min(recipe.states, std::max(least_states, states_per_actuator * static_cast<int>(scene.actuators.size())));
  recipe.validation_states = std::min(recipe.validation_states, test_states);
  recipe.goal_error_limit.reset();
  recipe.shape_error_limit.reset();
  return scene;
}

bool is_of(const ReducedModel& model, const Scene& scene) {
  const SceneIdentity identity = identify(scene);
  return model.provenance.scene_hash == identity.scene && model.provenance.mesh_hash == identity.mesh;
}

ReducedModel make_model(Scene scene, const std::string& file, int jobs, const Progress& progress) {
  std::error_code error;
  const std::string folder = fs::path(file).parent_path().string();
  fs::create_directories(folder, error);
  if (error)
    throw InputError(fmt::format("cannot create the folder '{}' ({})", folder, error.message()), "--models DIR");
  ReduceSettings settings;
  settings.snapshots.folder = file + ".snapshots";
  settings.snapshots.jobs = jobs;
  settings.snapshots.program = this_program();
  // Rates and paths are of no interest here, only the model and its error.
  settings.rate_seconds = 0;
  settings.dynamic_steps = 0;
  const FullModel full = build_full_model(scene);
  const auto tell = [&](const std::string& stage, double done, double total, const std::string& detail) {
    progress(fmt::format("model of {}: {}", scene.name, stage), done, total, detail);
  };
  ReducedModel model;
  try {
    model = reduce(scene, full, settings, {tell, progress.stop}).model;
  } catch (const Interrupted&) {
    throw Interrupted(fmt::format("interrupted, finished states are in '{}'", settings.snapshots.folder),
                      "the same command again (continues)");
  }
  write_model(model, file);
  fs::remove_all(settings.snapshots.folder, error);
  return model;
}

}  // namespace

std::string default_model_folder() {
  // Relative ones are to be ignored (XDG Base Directory Specification).
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return fmt::format("{}/supple/bench", cache);
  const char* home = std::getenv("HOME");
  if (!home || home[0] != '/')
    throw InputError("there is no folder to keep models in (HOME is not set)", "--models DIR");
  return fmt::format("{}/.cache/supple/bench", home);
}

std::string kept_model_file(const Scene& scene, const std::string& folder) {
  const Scene recipe = smaller(scene);
  const std::string mesh = recipe.bodies.front().mesh_file;
  const std::string key = fmt::format("{}\n{}\n{} {}\n", write_scene(recipe, fs::path(mesh).parent_path().string()),
                                      hash_hex(hash_file(mesh)), version(), model_format_version);
  std::string name = scene.name;
  std::replace(name.begin(), name.end(), '/', '-');
  return fmt::format("{}/{}-{}.rom.h5", folder, name, hash_hex(hash_text(key)));
}

ReducedModel kept_model(const Scene& scene, const std::string& folder, int jobs, std::vector<std::string>& notes,
                        const Progress& progress) {
  check_reducible(scene);
  const std::string file = kept_model_file(scene, folder);
  std::error_code error;
  if (fs::exists(file, error)) {
    std::string damage = "it is another scene's";
    try {
      ReducedModel model = read_model(file);
      if (is_of(model, scene)) return model;
    } catch (const InputError& problem) {
      damage = problem.what();
    }
    notes.push_back(fmt::format("'{}' was made again: {}", file, damage));
  }
  return make_model(smaller(scene), file, jobs, progress);
}

}  // namespace supple::cli

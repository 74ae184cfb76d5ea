#pragma once
// What the parts of the module supple._core share.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/scene/scene.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/progress.hpp"

namespace supple {
struct Variations;  // engine/mechanics/variations.hpp
}

namespace supple::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_units(nb::module_& module);
void bind_scene(nb::module_& module);
void bind_model(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_rollout(nb::module_& module);
void bind_statics(nb::module_& module);
void bind_predictive_control(nb::module_& module);
void bind_state_estimator(nb::module_& module);
void bind_error_estimator(nb::module_& module);
void bind_reduction(nb::module_& module);
void bind_recording(nb::module_& module);
void bind_command_line(nb::module_& module);

// A scene, of one body or of several, and its full-order model once that is needed.
class SceneOfPython {
 public:
  explicit SceneOfPython(Scene scene) : scene_(std::move(scene)) {}
  explicit SceneOfPython(AssemblyScene scene) : several_(std::move(scene)) {}
  // Of one body. Throws InputError.
  const Scene& scene() const;
  // Null: of one body.
  const AssemblyScene* several() const { return several_ ? &*several_ : nullptr; }
  const std::string& name() const { return several_ ? several_->name : scene_->name; }
  const std::string& file() const { return several_ ? several_->file : scene_->file; }
  // Reads the meshes at the first call; with the lock. Throws InputError.
  std::shared_ptr<const FullModel> full();
  const AssemblyRobot& robot_of_several();

 private:
  std::optional<Scene> scene_;  // one of both
  std::optional<AssemblyScene> several_;
  std::shared_ptr<const FullModel> full_;
  std::shared_ptr<const AssemblyRobot> robot_;
};

inline std::size_t count(int number) {
  return static_cast<std::size_t>(number);
}

template <class List>
std::vector<std::string> names_in(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.push_back(entry.name);
  return names;
}

// "length", "force", ...: what quantity() calls a dimension.
std::string word_of(Dimension dimension);

// dict, list, str, int, float, bool or None.
nb::object to_python(const nlohmann::ordered_json& json);
// dict[str, Any] of an object.
using Table = nb::typed<nb::dict, nb::str, nb::any>;
inline Table table_of(const nlohmann::ordered_json& json) {
  return nb::borrow<Table>(to_python(json));
}

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
// The numbers of an array of this shape; None: none. Throws TypeError, ValueError.
std::vector<double> numbers_of(nb::handle given, const char* name, std::initializer_list<std::size_t> shape);

// A NumPy array that shows these numbers and keeps `owner` alive; of const T it is read-only.
template <class T>
using Array = nb::ndarray<nb::numpy, T>;
template <class T>
Array<T> view(T* data, std::initializer_list<std::size_t> shape, nb::handle owner) {
  return Array<T>(data, shape, owner);
}
// A NumPy array with numbers of its own.
template <class T>
Array<T> array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return Array<T>(kept->data(), shape, owner);
}

inline Array<double> copy(std::span<const double> values, std::initializer_list<std::size_t> shape) {
  return array(std::vector<double>(values.begin(), values.end()), shape);
}

// Long work without the interpreter's lock that Python watches and may stop: by a signal (Ctrl-C) or an exception of
// its callback(stage, fraction, detail).
class Watch {
 public:
  explicit Watch(nb::object callback = nb::none());
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  const Progress& progress() const { return progress_; }
  // Whether the work is to end.
  bool stopped();
  // With the lock: throws what stopped the work, if anything did.
  void rethrow();

 private:
  struct State;
  std::unique_ptr<State> state_;
  Progress progress_;
};

// work(stopped) without the interpreter's lock, which ends with Interrupted where stopped() is true; raises what stopped it.
template <class Work>
void run_watched(const Work& work) {
  Watch watch;
  {
    const nb::gil_scoped_release unlocked;
    try {
      work([&watch] { return watch.stopped(); });
    } catch (const Interrupted&) {
      // What stopped it is raised below.
    }
  }
  watch.rethrow();
}

// In what robots differ, each an array or None.
struct GivenVariations {
  nb::object gravity = nb::none(), material_scale = nb::none(), friction = nb::none(), density = nb::none(),
             rayleigh_mass = nb::none(), rayleigh_stiffness = nb::none();
  // Throws TypeError, ValueError.
  Variations numbers(std::size_t robots, std::size_t regions, std::size_t obstacles) const;
};

}  // namespace supple::python

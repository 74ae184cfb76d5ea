// Scenes: from a file or a text, checked, and built into a full-order model.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/scene_facts.hpp"
#include "engine/mesh/read.hpp"
#include "engine/run/actuation.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/hash.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

std::shared_ptr<const FullModel> SceneOfPython::full() {
  if (full_) return full_;
  std::shared_ptr<const FullModel> built;
  {
    const nb::gil_scoped_release unlocked;
    built = std::make_shared<const FullModel>(build_full_model(scene_));
  }
  if (!full_) full_ = built;  // another thread may have been faster
  return full_;
}

namespace {

// How the robot moves, and how it is reduced.
std::string fingerprint(const Scene& scene) {
  const std::filesystem::path mesh = scene.bodies.front().mesh_file;
  return hash_hex(hash_text(hash_hex(scene_fingerprint(scene)) +
                            without_defaults(write_scene(scene, mesh.parent_path().string()))));
}

}  // namespace

void bind_scene(nb::module_& module) {
  nb::class_<SceneOfPython>(module, "Scene", "A robot, its actuators and its surroundings, as a scene file has them.")
      .def(
          "__init__",
          [](SceneOfPython* self, const std::filesystem::path& path) {
            new (self) SceneOfPython(read_scene(path.string()));
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"),
          "Reads a scene file, or the scene.toml of a folder.")
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& name) { return SceneOfPython(parse_scene(text, name)); },
          nb::arg("text"), nb::arg("name") = "scene.toml",
          "A scene from TOML text. `name` stands for the file in messages; paths of meshes start from its folder.")
      .def_prop_ro("name", [](const SceneOfPython& self) { return self.scene().name; })
      .def_prop_ro(
          "text", [](const SceneOfPython& self) { return write_scene(self.scene()); },
          "The scene as TOML in SI units, every default written out.")
      .def_prop_ro(
          "fingerprint", [](const SceneOfPython& self) { return fingerprint(self.scene()); },
          "Hash of the scene, with its recipe, and of the files that it names, wherever they lie.")
      .def_prop_ro("actuators", [](const SceneOfPython& self) { return names_in(self.scene().actuators); })
      .def_prop_ro("effectors", [](const SceneOfPython& self) { return names_in(self.scene().effectors); })
      .def_prop_ro(
          "summary", [](SceneOfPython& self) { return table_of(cli::scene_json(self.scene(), *self.full())); },
          "Figures of the scene and of its mesh, which is read now, as `supple info --json` has them.")
      .def_prop_ro(
          "notes", [](SceneOfPython& self) { return self.full()->notes; },
          "What building the full-order model found, for the user.")
      .def("__repr__", [](const SceneOfPython& self) { return "<supple.Scene '" + self.scene().name + "'>"; });
}

}  // namespace supple::python

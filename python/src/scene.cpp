// Scenes: from a file or a text, checked, and built into a full-order model.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/assembly_facts.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/mesh/read.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/hash.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

// Built without the lock: then another thread may have been faster.
template <class Built, class Build>
const std::shared_ptr<const Built>& built_once(std::shared_ptr<const Built>& kept, const Build& build) {
  if (kept) return kept;
  std::shared_ptr<const Built> built;
  {
    const nb::gil_scoped_release unlocked;
    built = build();
  }
  if (!kept) kept = built;
  return kept;
}

}  // namespace

const Scene& SceneOfPython::scene() const {
  if (several_)
    throw InputError("this is of a scene of one body, and '" + several_->name + "' is of several",
                     "the scene of one of its parts");
  return *scene_;
}

std::shared_ptr<const FullModel> SceneOfPython::full() {
  const Scene& one = scene();
  return built_once(full_, [&] { return std::make_shared<const FullModel>(build_full_model(one)); });
}

const AssemblyRobot& SceneOfPython::robot_of_several() {
  return *built_once(robot_, [&] { return std::make_shared<const AssemblyRobot>(*several_); });
}

namespace {

nlohmann::ordered_json several_json(const AssemblyRobot& robot) {
  return cli::assembly_json(robot, cli::notes_on_bodies(robot));
}

std::string with_commands(const std::string& text, const TrainingCommands& along) {
  return hash_hex(hash_text(along.file.empty() ? text : text + hash_hex(hash_file(along.file))));
}

// How the robot moves, and how it is reduced.
std::string fingerprint(const Scene& scene) {
  const std::filesystem::path mesh = scene.bodies.front().mesh_file;
  return with_commands(
      hash_hex(scene_fingerprint(scene)) + without_defaults(write_scene(scene, mesh.parent_path().string())),
      scene.reduction.along);
}

}  // namespace

void bind_scene(nb::module_& module) {
  nb::class_<SceneOfPython>(module, "Scene", "A robot, its actuators and its surroundings, as a scene file has them.")
      .def(
          "__init__",
          [](SceneOfPython* self, const std::filesystem::path& path) {
            if (is_assembly(path.string()))
              new (self) SceneOfPython(read_assembly(path.string()));
            else
              new (self) SceneOfPython(read_scene(path.string()));
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"),
          "Reads a scene file, or the scene.toml of a folder: of one body or of several.")
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& name) { return SceneOfPython(parse_scene(text, name)); },
          nb::arg("text"), nb::arg("name") = "scene.toml",
          "A scene of one body from TOML text. `name` stands for the file in messages; paths of meshes start from its "
          "folder.")
      .def_prop_ro("name", &SceneOfPython::name)
      .def_prop_ro("file", &SceneOfPython::file, "The file that it was read from.")
      .def_prop_ro(
          "several_bodies", [](const SceneOfPython& self) { return self.several() != nullptr; },
          "Whether it is a scene of several bodies.")
      .def_prop_ro(
          "text", [](const SceneOfPython& self) { return write_scene(self.scene()); },
          "The scene of one body as TOML in SI units, every default written out.")
      .def_prop_ro(
          "fingerprint",
          [](SceneOfPython& self) {
            return self.several() != nullptr
                       ? with_commands(hash_hex(self.robot_of_several().fingerprint()), self.several()->reduction.along)
                       : fingerprint(self.scene());
          },
          "Hash of the scene, with its recipe, and of the files that it names, wherever they lie.")
      .def_prop_ro("actuators",
                   [](SceneOfPython& self) {
                     return self.several() != nullptr ? names_in(self.robot_of_several().mechanics().robot().actuators)
                                                      : names_in(self.scene().actuators);
                   })
      .def_prop_ro("effectors",
                   [](SceneOfPython& self) {
                     return self.several() != nullptr ? names_in(self.robot_of_several().mechanics().robot().effectors)
                                                      : names_in(self.scene().effectors);
                   })
      .def_prop_ro(
          "summary",
          [](SceneOfPython& self) {
            return table_of(self.several() != nullptr ? several_json(self.robot_of_several())
                                                      : cli::scene_json(self.scene(), *self.full()));
          },
          "Figures of the scene and of its mesh, which is read now, as `supple info --json` has them.")
      .def_prop_ro(
          "notes",
          [](SceneOfPython& self) {
            return self.several() != nullptr ? cli::notes_on_bodies(self.robot_of_several()) : self.full()->notes;
          },
          "What building the full-order model found, for the user.")
      .def("__repr__", [](const SceneOfPython& self) { return "<supple.Scene '" + self.name() + "'>"; });
}

}  // namespace supple::python

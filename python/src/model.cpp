// Reduced models: read, written, described.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/reports/page_facts.hpp"
#include "engine/cli/reports/robot_facts.hpp"
#include "engine/io/flat_file.hpp"
#include "engine/io/model_file.hpp"
#include "engine/io/runtime_file.hpp"
#include "engine/model/changes.hpp"
#include "engine/model/parameters.hpp"
#include "engine/reduction/model_errors.hpp"
#include "kernels/base/atomic_file.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

void check_target(const std::filesystem::path& path, bool overwrite) {
  if (!overwrite && std::filesystem::exists(path))
    throw InputError("'" + path.string() + "' exists already", "another name, or overwrite=True");
}

void save(const ReducedModel& model, const std::filesystem::path& path, bool overwrite) {
  check_target(path, overwrite);
  write_model(model, path.string());
}

void export_to(const ReducedModel& model, const std::filesystem::path& path, const std::string& format,
               bool overwrite) {
  check_target(path, overwrite);
  if (format == "page")
    write_file(path.string(), cli::robot_page(model));
  else if (format == "runtime")
    write_runtime_file(model, path.string());
  else
    throw InputError("there is no format '" + format + "'", "\"page\" or \"runtime\"");
}

nb::bytes to_bytes(const ReducedModel& model) {
  FlatSink file;
  write_model_data(model, file);
  const std::string bytes = file.bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

void from_bytes(ReducedModel* self, const nb::bytes& bytes) {
  new (self) ReducedModel(read_runtime_bytes({bytes.c_str(), bytes.size()}, "model in memory"));
}

nb::object parameters_of_model(const ReducedModel& self) {
  nlohmann::ordered_json table = nlohmann::ordered_json::object();
  for (const Parameter& parameter : self.robot.parameters) {
    nlohmann::ordered_json one = cli::parameter_json(parameter);
    one.erase("name");
    table[parameter.name] = std::move(one);
  }
  return table_of(table);
}

std::vector<double> named_parameters(const ReducedModel& self, const std::map<std::string, double>& values) {
  std::vector<NamedValue> named;
  for (const auto& [name, value] : values) named.push_back({name, value});
  return parameters_by_name(self.robot, named);
}

ReducedModel at_named_parameters(const ReducedModel& self, const std::map<std::string, double>& values) {
  return at_parameters(self, named_parameters(self, values));
}

nb::object scale_of_parameters(const ReducedModel& self, const std::map<std::string, double>& values) {
  for (const auto& [name, value] : values)
    for (const Parameter& parameter : self.robot.parameters)
      if (parameter.name == name && parameter.kind != ParameterKind::stiffness)
        throw InputError("'" + name + "' is no stiffness, which factors on moduli are of",
                         "Simulation.set_parameters(), or set_variations(density=...)");
  std::vector<double> scale = region_factors(self, named_parameters(self, values));
  const std::size_t regions = scale.size();
  return nb::cast(array(std::move(scale), {regions}));
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<ReducedModel>(module, "Model", "A hyper-reduced model: what `supple reduce` makes of a scene.")
      .def_static(
          "load", [](const std::filesystem::path& path) { return read_model(path.string()); }, nb::arg("path"),
          nb::sig("def load(path: str | os.PathLike[str]) -> Model"), nb::call_guard<nb::gil_scoped_release>(),
          "Reads a model file. Raises InputError for a file that is not one, or is damaged.")
      .def("save", &save, nb::arg("path"), nb::arg("overwrite") = false,
           nb::sig("def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None"),
           nb::call_guard<nb::gil_scoped_release>(), "Writes the model to one file, aside first, then renamed.")
      .def("export", &export_to, nb::arg("path"), nb::arg("format"), nb::arg("overwrite") = false,
           nb::sig("def export(self, path: str | os.PathLike[str], format: typing.Literal[\"page\", \"runtime\"], "
                   "overwrite: bool = False) -> None"),
           nb::call_guard<nb::gil_scoped_release>(),
           "Writes a page for a browser, in which the robot runs, or a file for the runtime in C. "
           "Raises CapabilityError for a page where the package was built without it.")
      .def("__getstate__", &to_bytes)
      .def("__setstate__", &from_bytes)
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: object) -> Model"), "The model itself, which never changes.")
      .def_prop_ro("name", [](const ReducedModel& self) { return self.robot.name; })
      .def_ro("modes", &ReducedModel::modes, "Number of modes.")
      .def_prop_ro(
          "elements",
          [](const ReducedModel& self) {
            int elements = 0;
            for (const ReducedField& field : self.fields) elements += field.units();
            return elements;
          },
          "Number of elements (of hexahedra: points) of the reduced integration domain.")
      .def_prop_ro("actuators", [](const ReducedModel& self) { return names_in(self.robot.actuators); })
      .def_prop_ro("motions", [](const ReducedModel& self) { return names_in(self.robot.motions); })
      .def_prop_ro("effectors", [](const ReducedModel& self) { return names_in(self.robot.effectors); })
      .def_prop_ro("obstacles", [](const ReducedModel& self) { return names_in(self.robot.obstacles); })
      .def_prop_ro("parameters", &parameters_of_model,
                   nb::sig("def parameters(self) -> dict[str, dict[str, typing.Any]]"),
                   "Of each [[parameter]] its type, range and value, by name.")
      .def("with_parameters", &at_named_parameters, nb::arg("values"),
           nb::sig("def with_parameters(self, values: typing.Mapping[str, float]) -> Model"),
           "The model at other values of its parameters: factors, by name; the others stay 1. Raises InputError for a "
           "name that is not there, a value outside its range, and of a model that is not at 1.")
      .def(
          "with_obstacles",
          [](const ReducedModel& self, const std::filesystem::path& path) {
            ReducedModel changed = self;
            take_obstacles(path.string(), changed);
            return changed;
          },
          nb::arg("path"), nb::sig("def with_obstacles(self, path: str | os.PathLike[str]) -> Model"),
          nb::call_guard<nb::gil_scoped_release>(),
          "The model among the [[obstacle]] tables of a TOML file instead of its own obstacles. Raises InputError "
          "where the model has no collision points ([reduce] pushes gives it some), or its body is free-floating.")
      .def("material_scale", &scale_of_parameters, nb::arg("values"),
           nb::sig("def material_scale(self, values: typing.Mapping[str, float]) "
                   "-> typing.Annotated[numpy.typing.NDArray[numpy.float64], dict(shape=(None,))]"),
           "What such values of its stiffnesses are to the regions of the body: a row [regions] of material_scale as "
           "Simulation.set_variations() has it, with which robots of a batch differ. Raises InputError for a "
           "parameter that is no stiffness.")
      .def_prop_ro(
          "errors", [](const ReducedModel& self) { return table_of(cli::errors_json(self.errors)); },
          "Errors against the full-order model on the test set, as fractions of the mean displacement.")
      .def_prop_ro(
          "warning", [](const ReducedModel& self) { return distrust(self); },
          "Why not to trust the model, or an empty text.")
      .def_prop_ro(
          "summary", [](const ReducedModel& self) { return table_of(cli::model_json(self)); },
          "What the model holds, as `supple info --json` has it.")
      .def_prop_ro(
          "scene", [](const ReducedModel& self) { return self.provenance.scene_text; },
          "The scene that the model was made of, as TOML.")
      .def("__repr__", [](const ReducedModel& self) {
        return "<supple.Model '" + self.robot.name + "': " + std::to_string(self.modes) + " modes, " +
               cli::errors_text(self) + ">";
      });
}

}  // namespace supple::python

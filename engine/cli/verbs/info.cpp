// supple info: what a file holds, or what this program is.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/reports/recording_facts.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/verbs/assembly.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mesh/read.hpp"
#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader.hpp"

namespace supple::cli {

namespace {

bool ends_with_any(const std::string& path, std::initializer_list<const char*> endings) {
  for (const char* ending : endings)
    if (path.ends_with(ending)) return true;
  return false;
}

void info_of_program(nlohmann::ordered_json& json, bool quiet) {
  const auto facts = build_facts();
  for (const auto& [label, value] : facts) json["program"][label] = value;
  if (!quiet) print_facts(facts);
}

void info_of_mesh(const std::string& path, const std::string& unit, nlohmann::ordered_json& json, bool quiet) {
  const double metres = unit.empty() ? 0 : parse_unit(unit, Dimension::length, {"--unit", 0, 0, ""});
  Mesh mesh = read_mesh(path);
  const MeshReport report = check_mesh(mesh);
  json["mesh"] = mesh_json(report);
  json["groups"] = nlohmann::ordered_json::object();
  Facts facts{{"mesh", path}};
  for (auto& fact : mesh_facts(report, metres)) facts.push_back(std::move(fact));
  for (const CellGroup& group : mesh.groups) {
    facts.emplace_back("group", fmt::format("{}: {} {}", group.name, group.cells.size(),
                                            group.type == CellType::triangle      ? "triangles"
                                            : group.type == CellType::tetrahedron ? "tetrahedra"
                                                                                  : "hexahedra"));
    json["groups"][group.name] = group.cells.size();
  }
  for (const std::string& note : report.notes) facts.emplace_back("note", note);
  if (!quiet) print_facts(facts);
}

void info_of_scene(const std::string& path, nlohmann::ordered_json& json, bool quiet) {
  if (is_assembly(path)) {
    info_of_assembly(path, json, quiet);
    return;
  }
  const Scene scene = read_scene(path);
  const FullModel model = build_full_model(scene);
  json["scene"] = scene_json(scene, model);
  if (!quiet) print_facts(scene_facts(scene, model));
}

void info_of_model(const std::string& path, nlohmann::ordered_json& json, bool quiet) {
  const ReducedModel model = read_model(path);
  json["model"] = model_json(model);
  if (!quiet) print_facts(model_facts(model));
}

void info_of_recording(const std::string& path, nlohmann::ordered_json& json, bool quiet) {
  const RecordingSummary summary = summarise_recording(path);
  json["recording"] = recording_json(summary);
  if (!quiet) print_facts(recording_facts(summary));
}

}  // namespace

Command info_command() {
  Command command;
  command.name = "info";
  command.description = "say what a scene, a mesh, a model or a recording holds, or what this program is";
  command.examples =
      "  supple info\n"
      "  supple info assets/diamond\n"
      "  supple info assets/diamond/diamond_coarse.msh --unit mm\n"
      "  supple info diamond.rom.h5\n"
      "  supple info diamond-001.rec.h5\n";
  command.declare = [](Options& options) -> Run {
    struct Arguments {
      std::string file, unit;
    };
    const auto arguments = std::make_shared<Arguments>();
    options.positional("FILE", arguments->file,
                       "scene (.toml, or its folder), mesh (.msh, .vtu, .vtk), reduced model (.h5) or recording "
                       "(.rec.h5)",
                       false);
    options.text("--unit", arguments->unit, "UNIT", "unit of length of a mesh file, for instance mm");
    return [arguments](Context& context) {
      check_json_target(context);
      nlohmann::ordered_json json = machine_facts(context, "cpu");
      const std::string& file = arguments->file;
      std::error_code error;
      if (file.empty())
        info_of_program(json, context.common.quiet);
      else if (std::filesystem::is_directory(file, error) || ends_with_any(file, {".toml"}))
        info_of_scene(file, json, context.common.quiet);
      else if (is_recording_file(file) || ends_with_any(file, {".rec.h5"}))
        info_of_recording(file, json, context.common.quiet);
      else if (is_model_file(file) || ends_with_any(file, {".h5"}))
        info_of_model(file, json, context.common.quiet);
      else
        info_of_mesh(file, arguments->unit, json, context.common.quiet);
      write_json(context, json);
      return 0;
    };
  };
  return command;
}

}  // namespace supple::cli

// supple export: meshes and skins for other programs; reduced models for SOFA.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/page_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/verbs/change_options.hpp"
#include "engine/cli/verbs/export_sofa.hpp"
#include "engine/io/model_file.hpp"
#include "engine/io/runtime_file.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/write.hpp"
#include "engine/model/changes.hpp"
#include "engine/model/full_model.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  std::string input, output, format;
  ModelChanges changes;
  SofaExport sofa;
};

struct Geometry {
  Mesh mesh;        // without elements where there is only a skin
  Surface surface;  // outwards
};

// In metres, at rest, in the frame of the scene.
Geometry read_geometry(const std::string& file) {
  Geometry geometry;
  if (is_model_file(file)) {
    const ReducedModel model = read_model(file);
    geometry.surface.nodes = model.skin.rest;
    geometry.surface.triangles = model.skin.triangles;
    return geometry;
  }
  std::error_code error;
  if (file.ends_with(".toml") || std::filesystem::is_directory(file, error)) {
    const BodyScene body = read_scene(file).bodies.front();
    geometry.mesh = read_mesh(body.mesh_file);
    place_mesh(body, geometry.mesh);
  } else {
    geometry.mesh = read_mesh(file);
  }
  (void)check_mesh(geometry.mesh);
  geometry.surface = boundary_surface(geometry.mesh).surface;
  return geometry;
}

// One flat file for the runtime, or a page with the runtime.
int export_to_runtime(Context& context, const Arguments& arguments) {
  refuse_existing(arguments.output, context.common.force);
  if (!is_model_file(arguments.input))
    throw InputError(
        fmt::format("'{}' is not a reduced model, and --format {} is for those", arguments.input, arguments.format),
        "a .rom.h5 written by `supple reduce`");
  if (arguments.format == "page" && !arguments.output.ends_with(".html"))
    throw InputError(fmt::format("'{}' is no name of a page", arguments.output), "a name that ends in .html");
  ReducedModel model = read_model(arguments.input);
  take_changes(arguments.changes, model);
  if (arguments.format == "page")
    write_file(arguments.output, robot_page(model));
  else
    write_runtime_file(model, arguments.output);
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["file"] = arguments.output;
  json["modes"] = model.modes;
  json["bytes"] = std::filesystem::file_size(arguments.output);
  write_json(context, json);
  if (!context.common.quiet) fmt::print("written to {}\n", arguments.output);
  return 0;
}

int export_file(Context& context, const Arguments& arguments) {
  check_json_target(context);
  const std::string& output = arguments.output;
  if (output.empty()) throw InputError("`supple export` needs -o FILE", "supple export --help");
  const bool runs = arguments.format == "runtime" || arguments.format == "page";
  if (!arguments.changes.none() && !runs)
    throw InputError("--parameter and --obstacles go with --format runtime or page", "leave them out");
  if (arguments.format == "sofa") {
    SofaExport sofa = arguments.sofa;
    sofa.model = arguments.input;
    sofa.folder = output;
    return export_to_sofa(context, sofa);
  }
  if (runs) return export_to_runtime(context, arguments);
  refuse_existing(output, context.common.force);
  const Geometry geometry = read_geometry(arguments.input);
  const bool solid = geometry.mesh.element_count() > 0;
  if (output.ends_with(".stl"))
    write_stl(output, geometry.surface);
  else if (output.ends_with(".vtu") && solid)
    write_vtu(output, geometry.mesh.nodes, geometry.mesh);
  else if (output.ends_with(".vtu"))
    write_vtu(output, geometry.surface);
  else if (output.ends_with(".msh") && solid)
    write_msh(output, geometry.mesh);
  else
    throw InputError(fmt::format("'{}' cannot be written from '{}'", output, arguments.input),
                     solid ? "a name that ends in .vtu, .msh or .stl" : "a name that ends in .vtu or .stl");
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["file"] = output;
  json["nodes"] = solid ? geometry.mesh.nodes.size() : geometry.surface.nodes.size();
  json["elements"] = geometry.mesh.element_count();
  json["triangles"] = geometry.surface.triangles.size();
  write_json(context, json);
  if (!context.common.quiet) fmt::print("written to {}\n", output);
  return 0;
}

}  // namespace

Command export_command() {
  Command command;
  command.name = "export";
  command.description = "write a mesh, a skin or a reduced model for other programs";
  command.examples =
      "  supple export assets/diamond -o diamond.vtu\n"
      "  supple export diamond.rom.h5 -o skin.stl\n"
      "  supple export diamond.rom.h5 --format runtime -o diamond.supple\n"
      "  supple export diamond.rom.h5 --format page -o diamond.html\n"
      "  supple export diamond.rom.h5 --format sofa --scene assets/diamond -o diamond_sofa\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("FILE", arguments->input, "scene (metres, in its frame), mesh (as it is) or reduced model");
    options.text("-o,--output", arguments->output, "FILE",
                 ".vtu (ParaView), .msh (gmsh) or .stl (the skin); with --format page .html, with sofa a folder");
    options.choice(
        "--format", arguments->format, {"runtime", "page", "sofa"},
        "of a reduced model, instead of a mesh: one file for the runtime (supple.h), a page for a browser in which it "
        "runs, or text files of SOFA's ModelOrderReduction");
    declare_changes(options, arguments->changes);
    options.text("--scene", arguments->sofa.scene, "SCENE", "sofa: the scene that the model was made from");
    options.text("--snapshots", arguments->sofa.snapshots, "DIR",
                 "sofa: states of its reduction, which give its modes; without it NAME.snapshots");
    options.text("--modes", arguments->sofa.modes, "FILE", "sofa: modes.txt of its import, instead of states");
    options.flag("--five-decimals", arguments->sofa.five_decimals, "sofa: numbers as SOFA's own tools round them");
    return [arguments](Context& context) { return export_file(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

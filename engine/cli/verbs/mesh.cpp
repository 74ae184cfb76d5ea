// supple mesh: a volume mesh of a surface or of CAD, by gmsh.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/io/run_program.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/closed_surface.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/write.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string file, output, unit = "mm", angle = "40 deg";
  std::optional<double> size;
  bool curved = false;
};

constexpr const char* install_gmsh = "apt-get install gmsh, or scripts/setup.sh --dev";

class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "supple-mesh-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw RunError("no temporary folder can be made", "TMPDIR on a disk with room");
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

bool is_cad(const std::string& file) {
  std::string ending = fs::path(file).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".step" || ending == ".stp" || ending == ".iges" || ending == ".igs" || ending == ".brep";
}

// As gmsh takes it: in quotes, which may not stand in a name.
std::string quoted(const std::string& path) {
  if (path.find_first_of("\"\\\n") != std::string::npos)
    throw InputError(fmt::format("'{}' has a quotation mark, a backslash or a line end", path), "another file name");
  return '"' + path + '"';
}

// What is wrong with a surface that shall be filled; also its volume [file's unit^3].
double check_surface(const std::string& file, Facts& facts) {
  Surface surface = read_surface(file);
  for (const std::string& note : surface.notes) facts.emplace_back("repair", note);
  const ClosedSurfaceReport report = orient_closed_surface(surface.nodes, surface.triangles);
  if (!report.closed())
    throw InputError(fmt::format("the surface is not closed: {}", describe(report, surface.nodes)),
                     "repair it, for instance in MeshLab or Blender (close holes, remove doubles)", {file, 0, 0, ""});
  facts.emplace_back("surface", fmt::format("{} triangles, {} closed part{}", surface.triangles.size(), report.parts,
                                            report.parts > 1 ? "s" : ""));
  if (report.turned > 0) facts.emplace_back("repair", fmt::format("{} triangles were turned", report.turned));
  return enclosed_volume(surface.nodes, surface.triangles);
}

// The body within the surfaces; what they enclose inside of each other is void.
std::string script_of(const Arguments& arguments, double size, double angle) {
  const std::string file = quoted(fs::absolute(arguments.file).string());
  std::string script;
  if (is_cad(arguments.file))
    // Lengths of CAD files come with their unit.
    script = fmt::format("SetFactory(\"OpenCASCADE\");\nGeometry.OCCTargetUnit = \"{}\";\nv() = ShapeFromFile({});\n",
                         arguments.unit == "m" ? "M" : "MM", file);
  else
    script = fmt::format(
        "Merge {};\nClassifySurfaces{{{:.6g}, 1, 1, Pi}};\nCreateGeometry;\nSurface Loop(1) = Surface{{:}};\nVolume(1) "
        "= {{1}};\n",
        file, angle);
  return script + fmt::format(
                      "Mesh.MeshSizeMin = {0:.9g};\nMesh.MeshSizeMax = {0:.9g};\nMesh.MeshSizeExtendFromBoundary "
                      "= 0;\nMesh.ElementOrder = {1};\nMesh.HighOrderOptimize = {2};\nPhysical Volume(\"body\") "
                      "= Volume{{:}};\n",
                      size, arguments.curved ? 2 : 1, arguments.curved ? 2 : 0);
}

// The last lines of what gmsh reported as errors.
std::string errors_of(const std::string& log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line))
    if (const auto at = line.find("Error"); at != std::string::npos) last = line.substr(line.find(':', at) + 1);
  const auto first = last.find_first_not_of(' ');
  return first == std::string::npos ? "it gave no reason" : last.substr(first);
}

// Adds the parts of the boundary as groups of triangles: "outside" and "cavity", "cavity-2", ..., the largest first.
void name_boundary(Mesh& mesh) {
  const std::vector<Face> faces = boundary_faces(mesh);
  const std::vector<int> part = connected_parts(faces);
  std::map<int, std::vector<std::array<int, 3>>> parts;
  for (std::size_t f = 0; f < faces.size(); ++f) {
    const auto& nodes = faces[f].nodes;  // corners alone: the mesh's triangles have no nodes of edges
    auto& triangles = parts[part[f]];
    triangles.push_back({nodes[0], nodes[1], nodes[2]});
    if (faces[f].count == 4) triangles.push_back({nodes[0], nodes[2], nodes[3]});
  }
  // Outwards of the body: the outer parts enclose a positive volume, voids a negative one.
  std::vector<std::pair<double, std::vector<std::array<int, 3>>>> sorted;
  for (auto& [first, triangles] : parts)
    sorted.emplace_back(enclosed_volume(mesh.nodes, triangles), std::move(triangles));
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  mesh.triangles.clear();
  std::erase_if(mesh.groups, [](const CellGroup& group) { return group.type == CellType::triangle; });
  CellGroup outside{"outside", CellType::triangle, {}};
  std::vector<CellGroup> voids;
  for (const auto& [volume, triangles] : sorted) {
    CellGroup* group = &outside;
    if (volume < 0) {
      voids.push_back({voids.empty() ? "cavity" : fmt::format("cavity-{}", voids.size() + 1), CellType::triangle, {}});
      group = &voids.back();
    }
    for (const auto& triangle : triangles) {
      group->cells.push_back(static_cast<int>(mesh.triangles.size()));
      mesh.triangles.push_back(triangle);
    }
  }
  mesh.groups.push_back(std::move(outside));
  for (CellGroup& group : voids) mesh.groups.push_back(std::move(group));
}

int make_mesh(Context& context, const Arguments& arguments) {
  check_json_target(context);
  if (!arguments.size) throw InputError("no size of the elements is given", "--size \"3 mm\"");
  const double unit = parse_unit(arguments.unit, Dimension::length);
  if (is_cad(arguments.file) && arguments.unit != "mm" && arguments.unit != "m")
    throw InputError("CAD is written in mm or m", "--unit mm or --unit m");
  const double angle = parse_quantity(arguments.angle, Dimension::angle);
  const std::string output =
      arguments.output.empty() ? fs::path(arguments.file).stem().string() + ".msh" : arguments.output;
  check_target("-o", output);
  refuse_existing(output, context.common.force);
  std::error_code error;
  if (!fs::is_regular_file(arguments.file, error))
    throw InputError("cannot read the file", "check the path", {arguments.file, 0, 0, ""});
  Facts facts;
  double volume = 0;
  if (!is_cad(arguments.file)) {
    if (arguments.curved)
      throw InputError("--curved goes with CAD: the triangles of a surface file are flat",
                       "a .step file, or leave it out (scenes have elements of second order all the same)");
    volume = check_surface(arguments.file, facts);
  }

  const WorkFolder folder;
  const std::string script = folder.file("body.geo"), log = folder.file("log"), made = folder.file("body.msh");
  write_file(script, script_of(arguments, *arguments.size / unit, angle));
  if (run_program({"gmsh", "-version"}) != 0)
    throw CapabilityError("gmsh is not installed, which makes the mesh", install_gmsh);
  const int code = run_program({"gmsh", script, "-3", "-nt", "1", "-format", "msh41", "-o", made}, log);
  if (code != 0 || !fs::is_regular_file(made, error))
    throw InputError(fmt::format("gmsh could not fill it: {}", errors_of(log)),
                     "a repaired surface (no self-intersections), another --size, or the CAD file",
                     {arguments.file, 0, 0, ""});
  Mesh mesh = read_mesh(made);
  mesh.name = output;
  const MeshReport report = check_mesh(mesh);
  name_boundary(mesh);
  write_msh(output, mesh);

  double filled = 0;
  for (int e = 0; e < mesh.element_count(); ++e) filled += element_volume(mesh, e);
  for (auto& fact : mesh_facts(report, unit)) facts.push_back(std::move(fact));
  if (volume > 0) {
    const double share = filled / std::abs(volume) - 1;
    facts.emplace_back("volume", fmt::format("{:+.2f} % of what the surface encloses", 100 * share));
  }
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["mesh"] = mesh_json(report);
  json["file"] = output;
  for (const CellGroup& group : mesh.groups) {
    facts.emplace_back("group", fmt::format("{}: {} {}", group.name, group.cells.size(),
                                            group.type == CellType::triangle ? "triangles" : "elements"));
    json["groups"][group.name] = group.cells.size();
  }
  write_json(context, json);
  if (context.common.quiet) return 0;
  print_facts(facts);
  if (report.components > 1)
    print_warning("the parts are not connected: each must be held by a fixed region of its own");
  fmt::print("written to {}; in a scene: mesh = {{file = \"{}\", unit = \"{}\"}}\n", output,
             fs::path(output).filename().string(), arguments.unit);
  return 0;
}

}  // namespace

Command mesh_command() {
  Command command;
  command.name = "mesh";
  command.description = "fill a surface or a CAD part with elements (by gmsh)";
  command.examples =
      "  supple mesh part.stl --size \"3 mm\"\n"
      "  supple mesh part.step --size \"4 mm\" --curved -o part.msh\n"
      "\n"
      "Surfaces (.stl, .obj) must be closed; what closed parts enclose within another one stays void: groups "
      "\"cavity\",\n"
      "\"cavity-2\", ... of the mesh are their walls, \"outside\" is the rest of its surface.\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("FILE", arguments->file, "closed surface (.stl, .obj) or CAD (.step, .iges, .brep)");
    options.quantity("--size", arguments->size, Dimension::length, "LENGTH", "edge length of the elements");
    options.text("--unit", arguments->unit, "UNIT", "of the file's lengths, and of the mesh (mm)");
    options.text("--angle", arguments->angle, "ANGLE",
                 "between triangles of a surface file: larger ones are edges that stay (40 deg)");
    options.flag("--curved", arguments->curved, "elements of second order on the curved faces of CAD");
    options.text("-o,--output", arguments->output, "FILE", "the mesh; without it NAME.msh");
    return [arguments](Context& context) { return make_mesh(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

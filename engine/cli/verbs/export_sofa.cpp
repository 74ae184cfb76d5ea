#include "engine/cli/verbs/export_sofa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/snapshot_folder.hpp"
#include "engine/io/model_file.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/basis/model_basis.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/scene/reader.hpp"
#include "engine/sofa/sofa_import.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

// The recipe that the model was made with: a scene may have another seed, tolerance or number of modes, which options
// of `supple reduce` replace.
ReductionScene recipe_of(const ReducedModel& model, const Scene& scene) {
  ReductionScene recipe = scene.reduction;
  try {
    recipe = parse_scene(model.provenance.scene_text, "").reduction;
  } catch (const InputError&) {  // of a version whose scenes are read no more
  }
  recipe.seed = model.provenance.seed;
  return recipe;
}

// The modes again from the snapshots that they were made of.
std::vector<double> basis_of_snapshots(Scene scene, const FullModel& full, const ReducedModel& model,
                                       const std::string& folder) {
  scene.reduction = recipe_of(model, scene);
  const TrainingSet training = read_training(full, scene, folder);
  const ColumnBlocks displacements =
      basis_columns(full, training.folder, training.snapshots, scene.reduction.rigid_motion);
  return model_basis(full, training, displacements, scene.reduction).vectors;
}

void refuse_files(const std::string& folder, bool force) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    throw InputError(fmt::format("'{}' is a file, not a folder", folder), "another name");
  if (!force && fs::is_directory(folder, error) && !fs::is_empty(folder, error))
    throw InputError(fmt::format("the folder '{}' is not empty", folder), "another one, or --force to write into it");
}

}  // namespace

int export_to_sofa(Context& context, const SofaExport& arguments) {
  if (arguments.scene.empty())
    throw InputError("--format sofa needs --scene SCENE, for the mesh (a reduced model has none)",
                     "the scene that the model was made from");
  if (!arguments.modes.empty() && !arguments.snapshots.empty())
    throw InputError("--modes and --snapshots do not go together", "one of the two");
  if (!is_model_file(arguments.model))
    throw InputError(fmt::format("--format sofa: '{}' is not a reduced model", arguments.model),
                     "a .rom.h5 of `supple reduce` or `supple import-sofa`");
  refuse_files(arguments.folder, context.common.force);
  const ReducedModel model = read_model(arguments.model);
  if (!context.common.quiet) print_warning(distrust(model));
  if (model.on_frame)
    throw InputError(
        "a free-floating model on a frame cannot be written for SOFA (its formats hold modes, and no frame)",
        "rigid_motion = \"linearised\" in [reduce]", {arguments.model, 0, 0, ""});
  if (!model.robot.motions.empty())
    throw InputError(
        "a model with prescribed motions cannot be written for SOFA (its formats hold modes, and no motion)",
        "a scene whose [[fix]] regions have no motion", {arguments.model, 0, 0, ""});
  if (std::ranges::any_of(model.fields, [](const ReducedField& field) { return field.unit == DomainUnit::point; }))
    throw InputError(
        "a model of single points cannot be written for SOFA (its formats hold one weight for each element)",
        "`supple reduce` again with unit = \"element\" in [reduce]; its snapshots can be used again",
        {arguments.model, 0, 0, ""});
  if (std::ranges::any_of(model.fields, [](const ReducedField& field) { return field.strains.count > 0; }))
    throw InputError(
        "a model with strain modes cannot be written for SOFA (its formats hold elements and weights)",
        "`supple reduce` again with solids and membranes = \"elements\" in [reduce]; its snapshots can be used again",
        {arguments.model, 0, 0, ""});
  const Scene scene = read_scene(arguments.scene);
  if (identify(scene).mesh != model.provenance.mesh_hash)
    throw InputError("the model was made from another mesh than the scene's", "the scene that it was made from",
                     {arguments.scene, 0, 0, ""});
  const FullModel full = build_full_model(scene);
  check_sofa_elements(scene, full);
  if (full.robot.viscous > 0)
    throw InputError("SOFA's force fields are not viscous, and materials of this scene are",
                     "a scene without prony and retardation_time: equilibria are the same", scene.bodies.front().place);
  const std::vector<int> node_of_file = nodes_of_file(scene);

  std::vector<double> basis;
  std::string source = arguments.modes;
  if (!source.empty()) {
    basis = free_rows(full, node_of_file, read_sofa_modes(source));
  } else {
    source = arguments.snapshots.empty() ? default_snapshots(arguments.model) : arguments.snapshots;
    std::error_code error;
    if (!fs::is_directory(source, error))
      throw InputError(fmt::format("a model file holds its modes at the skin only, and there are no states in '{}' to "
                                   "make them again",
                                   source),
                       "--snapshots DIR of its reduction, or --modes modes.txt of its import");
    basis = basis_of_snapshots(scene, full, model, source);
  }
  basis = verified_basis(model, full, std::move(basis), source);
  std::error_code error;
  fs::create_directories(arguments.folder, error);
  const std::vector<std::string> files =
      export_sofa(model, full, node_of_file, basis,
                  arguments.five_decimals ? SofaDigits::five_decimals : SofaDigits::exact, arguments.folder);
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["folder"] = arguments.folder;
  json["files"] = files;
  json["modes"] = model.modes;
  json["nodes"] = node_of_file.size();
  write_json(context, json);
  if (!context.common.quiet) fmt::print("written to {}: {}\n", arguments.folder, fmt::join(files, ", "));
  return 0;
}

}  // namespace supple::cli

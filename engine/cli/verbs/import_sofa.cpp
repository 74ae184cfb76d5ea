// supple import-sofa: a reduced model from the text files of SOFA's ModelOrderReduction.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/verbs/snapshot_folder.hpp"
#include "engine/io/model_file.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/scene/reader.hpp"
#include "engine/sofa/sofa_import.hpp"

namespace supple::cli {

namespace {

struct Arguments {
  std::string scene, modes, output, snapshots;
  std::vector<std::string> rid, weights;
  bool orthonormalise = false, validate = false;
};

std::string place_of(const Place& place) {
  if (place.file.empty()) return "";
  const std::string name = std::filesystem::path(place.file).filename().string();
  return place.line > 0 ? fmt::format(" ({}:{})", name, place.line) : fmt::format(" ({})", name);
}

void print_audit(const Audit& audit) {
  std::vector<std::vector<std::string>> rows{{"check", "", "finding"}};
  for (const AuditLine& line : audit)
    rows.push_back(
        {line.check, line.level == AuditLevel::good ? "" : describe(line.level), line.finding + place_of(line.place)});
  fmt::print("{}", format_table(rows));
  for (const AuditLine& line : audit)
    if (line.level == AuditLevel::warning && !line.remedy.empty()) fmt::print("{}: try {}\n", line.check, line.remedy);
}

nlohmann::ordered_json audit_json(const Audit& audit) {
  auto json = nlohmann::ordered_json::array();
  for (const AuditLine& line : audit) {
    nlohmann::ordered_json entry{{"check", line.check}, {"level", describe(line.level)}, {"finding", line.finding}};
    entry["value"] = std::isfinite(line.value) ? nlohmann::ordered_json(line.value) : nlohmann::ordered_json();
    if (!line.remedy.empty()) entry["remedy"] = line.remedy;
    if (!line.place.file.empty()) {
      entry["file"] = line.place.file;
      entry["line"] = line.place.line;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

// What `supple reduce` measures, on the same states.
ErrorSummary validate(const Scene& scene, const FullModel& full, const SofaImport& import, const ReducedModel& model,
                      const std::string& folder, bool quiet) {
  const SamplingPlan plan = make_plans(full.robot, scene.reduction).test;
  const SceneIdentity identity = identify(scene);
  const std::string test = (std::filesystem::path(folder) / "test").string();
  prepare_snapshot_folder(test, identity, plan, ExistingFolder::resume);
  const InterruptGuard guard;
  ProgressBar bar(quiet);
  (void)compute_paths(full, scene, identity, plan, test, {}, bar.progress());
  const ReferenceStates reference =
      reference_states(full, read_snapshots(test, identity, plan, full.coordinates.nv, full.robot.rows()));
  if (reference.count == 0)
    throw RunError("no test state of the full model converged", "`supple simulate` the scene; smaller actuator ranges");
  return evaluate_errors(model, import.basis, reference);
}

void check_arguments(const Context& context, const Arguments& arguments) {
  check_json_target(context);
  const char* const help = "supple import-sofa --help";
  if (arguments.modes.empty()) throw InputError("`supple import-sofa` needs --modes FILE", help);
  if (arguments.output.empty()) throw InputError("`supple import-sofa` needs -o FILE", help);
  if (arguments.rid.empty() || arguments.rid.size() != arguments.weights.size())
    throw InputError(
        fmt::format("--rid is given {} times, --weights {} times", arguments.rid.size(), arguments.weights.size()),
        "one pair of files for each force field of the scene");
  check_target("-o", arguments.output);
  refuse_existing(arguments.output, context.common.force);
}

int import_files(Context& context, const Arguments& arguments) {
  check_arguments(context, arguments);
  Scene scene = read_scene(arguments.scene);
  if (context.common.seed) scene.reduction.seed = *context.common.seed;
  if (arguments.validate) check_reducible(scene);
  const FullModel full = build_full_model(scene);
  check_sofa_elements(scene, full);
  if (arguments.validate)
    for (const ElementField& field : full.fields)
      if (!has_exact_tangent(field.law))
        throw InputError(
            "--validate needs converged equilibria, and rotations from element edges have no exact tangent",
            "rotation = \"polar\" in the scene, or no --validate", scene.bodies.front().materials.front().place);
  const SofaModes modes = read_sofa_modes(arguments.modes);
  std::vector<SofaDomain> domains;
  std::string source = std::filesystem::path(arguments.modes).filename().string();
  for (std::size_t f = 0; f < arguments.rid.size(); ++f) {
    domains.push_back(read_sofa_domain(arguments.rid[f], arguments.weights[f]));
    for (const std::string& file : {arguments.rid[f], arguments.weights[f]})
      source += fmt::format(", {}", std::filesystem::path(file).filename().string());
  }
  const SofaImport import = import_sofa(full, nodes_of_file(scene), modes, domains, arguments.orthonormalise);
  if (!context.common.quiet) print_audit(import.audit);
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["file"] = arguments.output;
  json["audit"] = audit_json(import.audit);
  if (const AuditLine* error = import.error()) {
    write_json(context, json);
    throw InputError(fmt::format("{}: {}", error->check, error->finding), error->remedy, error->place);
  }
  ReducedModel model = imported_model(scene, full, import, source);
  if (arguments.validate) {
    const std::string folder = arguments.snapshots.empty() ? default_snapshots(arguments.output) : arguments.snapshots;
    model.errors = validate(scene, full, import, model, folder, context.common.quiet);
  }
  write_model(model, arguments.output);
  json.update(model_json(model));
  write_json(context, json);
  if (context.common.quiet) return 0;
  print_facts({{"written to", arguments.output}, {"errors", errors_text(model)}});
  return 0;
}

}  // namespace

Command import_sofa_command() {
  Command command;
  command.name = "import-sofa";
  command.description = "make a reduced model of SOFA's modes, elements and weights, and audit them";
  command.examples =
      "  supple import-sofa my_robot --modes modes.txt --rid reducedFF_model_0_RID.txt \\\n"
      "      --weights reducedFF_model_0_weight.txt -o my_robot.rom.h5\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("SCENE", arguments->scene, "scene file with the mesh that SOFA had, nodes in the same order");
    options.text("--modes", arguments->modes, "FILE", "modes.txt");
    options.texts("--rid", arguments->rid, "FILE", "*_RID.txt, elements of the domain of a force field");
    options.texts("--weights", arguments->weights, "FILE", "*_weight.txt, weights of all its elements");
    options.text("-o,--output", arguments->output, "FILE", "the model");
    options.flag("--orthonormalise", arguments->orthonormalise, "make the modes orthonormal; what they span stays");
    options.flag("--validate", arguments->validate, "measure the errors against the full model, as `supple reduce`");
    options.text("--snapshots", arguments->snapshots, "DIR",
                 "where --validate keeps its states; without it NAME.snapshots");
    return [arguments](Context& context) { return import_files(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli

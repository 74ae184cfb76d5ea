#include "engine/sofa/sofa_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/mesh/check.hpp"
#include "engine/mesh/read.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"

namespace supple {

namespace {

void check_domains(const FullModel& model, const std::vector<SofaDomain>& domains) {
  if (domains.size() != model.fields.size()) {
    std::string names;
    for (const ElementField& field : model.fields) names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
    throw InputError(fmt::format("{} pairs of files for {} force fields of the scene ({})", domains.size(),
                                 model.fields.size(), names),
                     "--rid and --weights once for each, in this order; springs need none");
  }
  for (std::size_t f = 0; f < domains.size(); ++f)
    if (static_cast<int>(domains[f].weights.size()) != model.fields[f].elements())
      throw InputError(fmt::format("{} weights (the force field {} of the scene has {} elements)",
                                   domains[f].weights.size(), model.fields[f].name, model.fields[f].elements()),
                       "the pair of the body's own force field, from the mesh of this scene; the pair of springs that "
                       "hold nodes is not needed",
                       {domains[f].weight_file, 1, 0, ""});
}

// Names of files may hold anything, a comment may not.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
  return text;
}

}  // namespace

void check_sofa_elements(const Scene& scene, const FullModel& model) {
  const BodyScene& body = scene.bodies.front();
  if (model.mesh.order() == 2)
    throw InputError("SOFA's files hold modes and weights of elements of first order", "order = 1 in [body]",
                     body.place);
  if (std::ranges::any_of(model.fields, [](const ElementField& field) { return field.part != LawPart::whole; }))
    throw InputError("SOFA's files hold one force field for hexahedra, and dilatation = \"mean\" makes two of it",
                     "dilatation = \"points\" in [body]", body.place);
  for (const MembraneScene& membrane : body.membranes)
    if (membrane.threads)
      throw InputError("SOFA has no force field for layers of threads", "a scene without them", membrane.place);
  if (!body.rods.empty())
    throw InputError("SOFA's files hold one force field of elements with weights, and rods have none there",
                     "a scene without [[body.rod]]", body.rods.front().place);
}

std::vector<int> nodes_of_file(const Scene& scene) {
  const BodyScene& body = scene.bodies.front();
  Mesh mesh = read_mesh(body.mesh_file);
  place_mesh(body, mesh);
  return check_mesh(mesh).node_of_original;
}

std::vector<double> free_rows(const FullModel& model, std::span<const int> node_of_file, const SofaModes& modes) {
  if (static_cast<std::size_t>(modes.rows) != 3 * node_of_file.size())
    throw InputError(fmt::format("the modes have {} rows, of {} nodes (the mesh of the scene has {} nodes, so {} rows)",
                                 modes.rows, modes.rows / 3, node_of_file.size(), 3 * node_of_file.size()),
                     "a scene with the very mesh that SOFA loaded, its nodes in the same order",
                     {modes.file, 1, 0, ""});
  const int nv = model.coordinates.nv;
  std::vector<double> basis(extent(nv, modes.modes), 0.0);
  for (std::size_t i = 0; i < node_of_file.size(); ++i) {
    const int unknown = node_of_file[i] < 0 ? -1 : model.node_unknown[static_cast<std::size_t>(node_of_file[i])];
    if (unknown < 0) continue;
    for (int m = 0; m < modes.modes; ++m)
      std::copy_n(modes.values.begin() + static_cast<long>(extent(m, modes.rows) + 3 * i), 3,
                  basis.begin() + static_cast<long>(extent(m, nv) + extent(3, unknown)));
  }
  return basis;
}

const AuditLine* SofaImport::error() const {
  const auto found =
      std::find_if(audit.begin(), audit.end(), [](const AuditLine& line) { return line.level == AuditLevel::error; });
  return found == audit.end() ? nullptr : &*found;
}

SofaImport import_sofa(const FullModel& model, std::span<const int> node_of_file, const SofaModes& modes,
                       const std::vector<SofaDomain>& domains, bool orthonormalise_them) {
  const int nv = model.coordinates.nv;
  SofaImport result;
  result.modes = modes.modes;
  result.basis = free_rows(model, node_of_file, modes);
  check_domains(model, domains);
  const auto append = [&](Audit lines) {
    for (AuditLine& line : lines) result.audit.push_back(std::move(line));
  };
  append(audit_basis(result.basis, nv, modes.modes, has_five_decimals(modes.values)));
  if (orthonormalise_them) {
    // Errors of the columns are corrected here.
    for (AuditLine& line : result.audit)
      if (line.level > AuditLevel::note) line.level = AuditLevel::note;
    const Orthonormalised now = orthonormalise(result.basis, nv, modes.modes);
    double change = 0;
    for (std::size_t k = 0; k < now.kept.size(); ++k)
      for (std::size_t i = 0; i < static_cast<std::size_t>(nv); ++i)
        change = std::max(change, std::abs(now.basis[extent(static_cast<int>(k), nv) + i] -
                                           result.basis[extent(now.kept[k], nv) + i]));
    result.audit.push_back(
        {"orthonormalised",
         AuditLevel::note,
         fmt::format("{} of {} columns, their values changed by at most {:.2g}", now.kept.size(), modes.modes, change),
         "",
         change,
         {}});
    result.modes = static_cast<int>(now.kept.size());
    result.basis = now.basis;
  }
  append(audit_nodes(modes, model, node_of_file));
  for (std::size_t f = 0; f < domains.size(); ++f) append(audit_domain(domains[f], model.fields[f]));
  if (result.modes == 0)
    result.audit.push_back({"modes", AuditLevel::error, "no column moves a free node", "", 0, {modes.file, 1, 0, ""}});
  if (result.error() != nullptr) {
    result.basis.clear();
    return result;
  }
  for (const SofaDomain& from : domains) {
    IntegrationDomain domain;
    domain.tolerance = domain.residual = unknown_tolerance;
    for (const int e : from.elements) {
      const double xi = from.weights[static_cast<std::size_t>(e)];
      if (xi == 0) continue;
      domain.elements.push_back(e);
      domain.xi.push_back(xi);
    }
    result.domains.push_back(std::move(domain));
  }
  return result;
}

ReducedModel imported_model(const Scene& scene, const FullModel& model, const SofaImport& import,
                            const std::string& source) {
  SUPPLE_EXPECT(import.error() == nullptr);
  ReducedModel reduced = project(model, import.basis, import.modes, import.domains);
  reduced.robot.pushes = 0;  // whatever SOFA trained it with
  const SceneIdentity identity = identify(scene);
  Provenance& provenance = reduced.provenance;
  provenance.version = version();
  provenance.scene_name = scene.name;
  provenance.scene_text = fmt::format("# imported from files of SOFA: {}\n", one_line(source));
  for (const AuditLine& line : import.audit)
    if (line.level > AuditLevel::good)
      provenance.scene_text +=
          fmt::format("# {}{}: {}\n", line.level == AuditLevel::warning ? "warning: " : "", line.check, line.finding);
  provenance.scene_text += write_scene(scene);
  provenance.scene_hash = identity.scene;
  provenance.mesh_hash = identity.mesh;
  provenance.seed = scene.reduction.seed;
  ErrorSummary& errors = reduced.errors;
  errors.goal_mean = errors.goal_median = errors.goal_max = std::nan("");
  errors.shape_mean = errors.shape_median = errors.shape_max = std::nan("");
  return reduced;
}

std::vector<std::string> provenance_notes(const Provenance& provenance) {
  std::vector<std::string> notes;
  std::istringstream lines(provenance.scene_text);
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");) notes.push_back(line.substr(2));
  return notes;
}

}  // namespace supple

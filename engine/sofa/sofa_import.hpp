#pragma once
// Between SOFA's text files (sofa_files.hpp) and reduced models. SOFA's modes cover all nodes of its mesh, ours the
// nodes that are free to move; both are displacements from rest in the frame of the scene, without a unit.

#include "engine/reduction/basis/project.hpp"
#include "engine/sofa/sofa_audit.hpp"

namespace supple {

// Node i of the scene's mesh file is node [i] of the model's mesh, -1 where no element uses it. Reads the mesh.
std::vector<int> nodes_of_file(const Scene& scene);
/// Throws InputError where the elements of a scene's model are not those of SOFA's files.
void check_sofa_elements(const Scene& scene, const FullModel& model);

// The rows of the nodes that are free to move, nv x modes, column-major. Throws InputError unless the modes have three
// rows for each node of the file.
std::vector<double> free_rows(const FullModel& model, std::span<const int> node_of_file, const SofaModes& modes);

// Basis and domains for project(); empty when the audit has an error.
struct SofaImport {
  Audit audit;
  int modes = 0;
  std::vector<double> basis;  // nv x modes, column-major
  std::vector<IntegrationDomain> domains;
  const AuditLine* error() const;  // the first one, or null
};

// One domain for each force field of the model, in its order. orthonormalise: make Phi^T Phi = I (the span stays).
// Throws InputError where the files have other numbers of nodes, elements or force fields than the model.
SofaImport import_sofa(const FullModel& model, std::span<const int> node_of_file, const SofaModes& modes,
                       const std::vector<SofaDomain>& domains, bool orthonormalise);

// project(), with what is known of an imported model: errors never measured, and the findings of the audit as comments
// before the scene's text (provenance_notes reads them). source: "modes.txt, a_RID.txt, a_weight.txt".
ReducedModel imported_model(const Scene& scene, const FullModel& model, const SofaImport& import,
                            const std::string& source);

// Comment lines at the beginning of the scene's text, without their "# ".
std::vector<std::string> provenance_notes(const Provenance& provenance);

// ---- the way back

// The basis of `model`, which a model file does not hold, from candidates that span it: `basis` itself or
// `basis` orthonormalised. Whether it is the one is decided by projecting it again. Returns nv x modes, column-major.
// Throws InputError, naming `source`, if the model does not come out to 1e-8 of its largest numbers.
std::vector<double> verified_basis(const ReducedModel& model, const FullModel& full, std::vector<double> basis,
                                   const std::string& source);

// Writes modes.txt, for each force field reducedFF_<name>_<number>_RID.txt and _weight.txt, and README.txt into
// `folder`, which must exist; existing files are replaced. basis: nv x modes. Returns the names of the files. Throws
// InputError if one cannot be written.
std::vector<std::string> export_sofa(const ReducedModel& model, const FullModel& full,
                                     std::span<const int> node_of_file, std::span<const double> basis,
                                     SofaDigits digits, const std::string& folder);

}  // namespace supple

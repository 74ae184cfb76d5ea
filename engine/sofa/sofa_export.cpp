#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "engine/sofa/sofa_import.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"

namespace supple {

namespace {

constexpr double agreement = 1e-8;

// Kept elements as numbers within their fields. Throws InputError if the scene has other fields.
std::vector<IntegrationDomain> domains_of(const ReducedModel& model, const FullModel& full) {
  const auto refuse = [] {
    throw InputError("the force fields of the model are not those of the scene", "the scene the model was made from");
  };
  if (model.fields.size() != full.fields.size()) refuse();
  std::vector<IntegrationDomain> domains;
  for (std::size_t f = 0; f < model.fields.size(); ++f) {
    const ReducedField& kept = model.fields[f];
    SUPPLE_EXPECT(kept.unit == DomainUnit::element);
    const std::vector<int>& all = full.fields[f].element;  // ascending
    if (kept.name != full.fields[f].name || kept.total_elements != full.fields[f].elements()) refuse();
    IntegrationDomain domain{{}, kept.xi, kept.tolerance, kept.residual};
    for (const int e : kept.element) {
      const auto at = std::lower_bound(all.begin(), all.end(), e);
      if (at == all.end() || *at != e) refuse();
      domain.elements.push_back(static_cast<int>(at - all.begin()));
    }
    domains.push_back(std::move(domain));
  }
  return domains;
}

// max |a - b| / max |a|; infinite where the lengths differ.
template <class Vector>
double difference(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(a[i]));
  }
  return worst == 0 ? 0 : worst / largest;
}

double difference(const ReducedModel& a, const ReducedModel& b) {
  double worst = std::max({difference(a.mass, b.mass), difference(a.gravity, b.gravity),
                           difference(a.outputs, b.outputs), difference(a.skin.modes, b.skin.modes)});
  for (std::size_t f = 0; f < a.fields.size(); ++f)
    worst =
        std::max({worst, difference(a.fields[f].G, b.fields[f].G), difference(a.fields[f].weight, b.fields[f].weight)});
  return worst;
}

std::string file_name(const std::string& text) {
  std::string name = text;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') c = '_';
  return name;
}

std::string readme(const ReducedModel& model, const FullModel& full, int file_nodes, SofaDigits digits,
                   const std::vector<std::string>& pairs) {
  std::string text = fmt::format(
      "Reduced model of '{}', written by supple {} in the text formats of SOFA's ModelOrderReduction plugin.\n\n"
      "modes.txt      {} rows (x, y, z of node 0, of node 1, ...) and {} columns (modes).\n",
      model.robot.name, version(), 3 * file_nodes, model.modes);
  for (std::size_t f = 0; f < pairs.size(); ++f)
    text += fmt::format(
        "{0}_RID.txt     {1} elements of the force field, counted from 0\n"
        "{0}_weight.txt  one weight for each of its {2} elements\n",
        pairs[f], model.fields[f].element.size(), model.fields[f].total_elements);
  text += fmt::format(
      "\nNodes     In the order of the mesh file of the scene, all {} of them; zero where the scene holds the node. "
      "SOFA has\n"
      "          to load the same file; a loader that reorders nodes or elements makes these files useless.\n"
      "Frame     That of the scene: after unit, rotation, scale and translation of [body] mesh. The loader in SOFA "
      "needs the\n"
      "          same rotation and translation.\n"
      "Units     Modes and weights have none. A displacement is a mode times its coordinate: coordinates are in the "
      "unit of\n"
      "          length of the SOFA scene (millimetres there, metres here).\n"
      "Weights   Multiply force and stiffness of the elements of the domain. Mass and gravity take all nodes.\n"
      "Mass      Here {:.9g} kg in all. Set the same mass in SOFA, distributed in the same way.\n"
      "Supports  Held nodes do not move in any mode: no springs are needed on them.\n"
      "Law       Choose the same material in SOFA: {}.\n"
      "Numbers   {}\n",
      file_nodes, full.total_mass, model.fields.empty() ? std::string("none") : model.fields[0].name,
      digits == SofaDigits::exact ? "With all their digits."
                                  : "Rounded to five decimals: the modes are orthonormal to about 1e-5 only.");
  return text;
}

}  // namespace

std::vector<double> verified_basis(const ReducedModel& model, const FullModel& full, std::vector<double> basis,
                                   const std::string& source) {
  const int nv = full.coordinates.nv;
  const std::vector<IntegrationDomain> domains = domains_of(model, full);
  const int columns = static_cast<int>(basis.size() / static_cast<std::size_t>(std::max(1, nv)));
  double best = HUGE_VAL;
  const auto matches = [&](const std::vector<double>& candidate) {
    if (candidate.size() != extent(nv, model.modes)) return false;
    const double found = difference(model, project(full, candidate, model.modes, domains));
    best = std::min(best, found);
    return found <= agreement;
  };
  if (matches(basis)) return basis;
  std::vector<double> orthonormal = orthonormalise(basis, nv, columns).basis;
  if (matches(orthonormal)) return orthonormal;
  throw InputError(std::isfinite(best)
                       ? fmt::format("these are not the modes of the model (projected, they differ by {:.2g})", best)
                       : fmt::format("these are not the modes of the model ({} columns, the model has {} modes)",
                                     columns, model.modes),
                   "what the model was made from: --modes FILE of its import, or --snapshots DIR of its reduction",
                   {source, 0, 0, ""});
}

std::vector<std::string> export_sofa(const ReducedModel& model, const FullModel& full,
                                     std::span<const int> node_of_file, std::span<const double> basis,
                                     SofaDigits digits, const std::string& folder) {
  const int nv = full.coordinates.nv, rows = 3 * static_cast<int>(node_of_file.size());
  SUPPLE_EXPECT(basis.size() == extent(nv, model.modes));
  std::vector<double> values(extent(rows, model.modes), 0.0);
  for (std::size_t i = 0; i < node_of_file.size(); ++i) {
    const int unknown = node_of_file[i] < 0 ? -1 : full.node_unknown[static_cast<std::size_t>(node_of_file[i])];
    if (unknown < 0) continue;
    for (int m = 0; m < model.modes; ++m)
      std::copy_n(basis.begin() + static_cast<long>(extent(m, nv) + extent(3, unknown)), 3,
                  values.begin() + static_cast<long>(extent(m, rows) + 3 * i));
  }
  std::vector<std::string> files, pairs;
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file((std::filesystem::path(folder) / name).string(), text);
    files.push_back(name);
  };
  write("modes.txt", format_sofa_modes(values, rows, model.modes, digits));
  const std::vector<IntegrationDomain> domains = domains_of(model, full);
  for (std::size_t f = 0; f < domains.size(); ++f) {
    pairs.push_back(fmt::format("reducedFF_{}_{}", file_name(model.fields[f].name), f));
    std::vector<double> weights(static_cast<std::size_t>(model.fields[f].total_elements), 0.0);
    for (std::size_t k = 0; k < domains[f].elements.size(); ++k)
      weights[static_cast<std::size_t>(domains[f].elements[k])] = domains[f].xi[k];
    write(pairs[f] + "_RID.txt", format_sofa_elements(domains[f].elements));
    write(pairs[f] + "_weight.txt", format_sofa_weights(weights, digits));
  }
  write("README.txt", readme(model, full, static_cast<int>(node_of_file.size()), digits, pairs));
  return files;
}

}  // namespace supple

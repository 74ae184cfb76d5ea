#pragma once
// What is wrong, or worth knowing, about a basis and its integration domains that came from SOFA's text files. Columns
// (modes) and elements count from 0, as in the files.

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/sofa/sofa_files.hpp"
#include "kernels/base/error.hpp"

namespace supple {

// An error is what no model can be made from.
enum class AuditLevel { good, note, warning, error };
const char* describe(AuditLevel level);

struct AuditLine {
  std::string check;  // what was looked at, a few words
  AuditLevel level = AuditLevel::good;
  std::string finding;
  std::string remedy;                                       // of warnings and errors; may be empty
  double value = std::numeric_limits<double>::quiet_NaN();  // the number behind the finding, where there is one
  Place place;                                              // in the files, where it is one line
};
using Audit = std::vector<AuditLine>;

// max |Phi^T Phi - I|, columns that are near each other, columns near the span of those before them. basis: rows x
// modes, column-major. rounded: its numbers have five decimals.
Audit audit_basis(std::span<const double> basis, int rows, int modes, bool rounded);

// Values at the nodes that the model does not let move (they are not taken over) and at nodes without an element.
// node_of_file: node i of the file is node node_of_file[i] of the model's mesh, -1 if it has none.
Audit audit_nodes(const SofaModes& modes, const FullModel& model, std::span<const int> node_of_file);

// Elements and weights of one force field: empty, repeated, out of range; weights that are zero or negative inside of
// the domain, or not zero outside; their sums against the number of elements and the volume.
Audit audit_domain(const SofaDomain& domain, const ElementField& field);

// All numbers are multiples of 1e-5: written with "%10.5f".
bool has_five_decimals(std::span<const double> values);

// Modified Gram-Schmidt, every column twice (Giraud, Langou & Rozloznik 2005: twice is enough). Columns of which less
// than 1e-6 of their length is left are dropped.
struct Orthonormalised {
  std::vector<double> basis;  // rows x kept.size()
  std::vector<int> kept;      // columns of the original
  std::vector<double>
      remaining;  // of every original column: the part of its length outside of the span of those before
};
Orthonormalised orthonormalise(std::span<const double> basis, int rows, int modes);

}  // namespace supple

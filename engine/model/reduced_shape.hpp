#pragma once
// For display: where the nodes of a reduced model are, those of its skin and of its interior, and which elements it
// keeps.

#include <span>
#include <vector>

#include "engine/model/reduced_model.hpp"

namespace supple {

// u = Phi q + Psi c at the nodes whose rows are given (ReducedSkin, ReducedInterior), i over the 3 components of each:
//   out[i] = sum_m modes[i][m] q[m] + sum_m inputs[i][m] motions[m]   [m]
// modes [3 nodes][r], inputs [3 nodes][m]. A sum is taken from the first mode to the last; nothing is allocated.
void displacements(std::span<const double> modes, std::span<const double> inputs, std::span<const double> q,
                   std::span<const double> motions, std::span<double> out);

// The elements that units of a field are of, each once, in the order in which they come first.
struct KeptElements {
  std::vector<int> first;    // [elements] their first unit
  std::vector<int> of_unit;  // [units] place of the unit's element in `first`
  int count() const { return static_cast<int>(first.size()); }
};
KeptElements kept_elements(const ReducedField& field);

}  // namespace supple

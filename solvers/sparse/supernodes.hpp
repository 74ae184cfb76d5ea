#pragma once
// Symbolic analysis of a sparse Cholesky factorisation, in blocks of a pattern: elimination tree, columns of the factor
// that share their rows gathered into supernodes, small ones merged where that adds few zeros (relaxed amalgamation, as
// in Ashcraft & Grimes 1989).

#include <vector>

#include "solvers/sparse/symmetric_matrix.hpp"

namespace supple {

struct Supernodes {
  std::vector<int> place;                 // [blocks] when a block is eliminated
  std::vector<int> first;                 // [supernodes + 1] of the blocks in the order of elimination
  std::vector<std::ptrdiff_t> row_start;  // [supernodes + 1]
  std::vector<int> row;                   // rows below a supernode's own, in the order of elimination, ascending
  std::vector<int> row_in_parent;  // the same rows, counted in the front of the parent: its own rows, then those below
  std::vector<int> parent;         // supernode, -1 for a root; parents come after their children
  int count() const { return static_cast<int>(parent.size()); }
  int own(int s) const { return first[s + 1] - first[s]; }
  int below(int s) const { return static_cast<int>(row_start[s + 1] - row_start[s]); }
};

Supernodes find_supernodes(const SymmetricPattern& pattern);

}  // namespace supple

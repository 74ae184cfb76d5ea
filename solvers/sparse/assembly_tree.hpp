#pragma once
// What every multifrontal factorisation of a pattern shares: supernodes, the tree in which their fronts are assembled,
// and where the blocks of A go. One analysis serves one matrix (multifrontal.hpp) and batches (batched_cholesky.hpp).

#include <cstddef>
#include <functional>
#include <vector>

#include "solvers/sparse/supernodes.hpp"

namespace supple {

struct AssemblyTree : Supernodes {
  /// A block of A in a front: at (row, column) of the front, in blocks.
  struct Entry {
    int column, block;  // of the pattern, the block counted in its column
    int front_row, front_column;
    bool transposed;
  };

  SymmetricPattern pattern;
  std::vector<int> child, sibling;  // of a supernode: its first child, the next child of its parent; -1
  std::vector<int> level;           // depth below the root
  std::vector<int> entry_start;     // [supernodes + 1]
  std::vector<Entry> entries;
};

AssemblyTree assembly_tree(const SymmetricPattern& pattern);

/// Updates of supernodes on even and on odd levels lie in two stores: those of one supernode's children are together in
/// one while its own goes to the other.
struct UpdatePlaces {
  std::vector<std::ptrdiff_t> start;  // [supernodes] in the store of its level
  std::ptrdiff_t size[2] = {0, 0};
};
/// Supernode after supernode: the children of one lie on top of a stack.
UpdatePlaces stacked_updates(const AssemblyTree& tree, const std::function<std::ptrdiff_t(int)>& size);
/// Level after level: those of a level side by side.
UpdatePlaces updates_by_level(const AssemblyTree& tree, const std::function<std::ptrdiff_t(int)>& size);

}  // namespace supple

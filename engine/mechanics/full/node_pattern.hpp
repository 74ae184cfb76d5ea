#pragma once
// Sparsity of the full system over free nodes, and the gather lists that assemble it: each 3x3 block knows the element
// contributions that add up to it, so assembly is a gather in fixed order and needs no atomics.

#include <vector>

#include "engine/model/full_model.hpp"
#include "solvers/sparse/symmetric_matrix.hpp"

namespace supple {

struct NodePattern {
  // Lower blocks (row >= column) by columns, rows ascending, diagonal first.
  std::vector<int> column_start;  // [free nodes + 1]
  std::vector<int> row;           // [blocks]
  // Contributions: element blocks (offset into the element-stiffness buffer, in blocks of 9 doubles; bit 0 of `source`
  // = transposed).
  std::vector<int> contribution_start;  // [blocks + 1]
  std::vector<long> source;             // 2 * offset + transposed
  SymmetricPattern scalar;              // the same, three unknowns per node
  // Position in scalar's values of entry (r, c) of a block, r >= c on the diagonal.
  int position(int block, int column, int r, int c) const {
    const int k = block - column_start[static_cast<std::size_t>(column)];
    return scalar.column_start[static_cast<std::size_t>(3 * column + c)] + 3 * k + r - c;
  }
  // Block (i, j), i >= j; -1 if absent.
  int find(int i, int j) const;
};

// Element-stiffness buffer: per field and element the node pairs a <= b in order (0,0), (0,1), ... each a 3x3 block
// row-major. field_offset[f] = first block of field f.
std::vector<long> element_block_offsets(const FullModel& model);
inline int pair_count(int nodes) {
  return nodes * (nodes + 1) / 2;
}

// extra: sets of mesh nodes that are fully coupled (cable attachments through their geometric stiffness).
NodePattern build_node_pattern(const FullModel& model, const std::vector<std::vector<int>>& extra);

}  // namespace supple

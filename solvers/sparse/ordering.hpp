#pragma once
// Order of elimination of a symmetric sparse matrix: nested dissection (METIS) of the graph of its blocks, with a fixed
// seed. The graph of a solid's nodes has a ninth of the edges of its unknowns' graph and the same dissections.

#include <vector>

#include "solvers/sparse/symmetric_matrix.hpp"

namespace supple {

/// Both triangles of the pattern's blocks, without the diagonal: neighbours of i are neighbour[start[i] ..
/// start[i + 1]).
struct BlockGraph {
  int n = 0;
  std::vector<int> start, neighbour;
};
BlockGraph block_graph(const SymmetricPattern& pattern);

/// place[i]: when block i is eliminated, from 0. Throws RunError where METIS runs out of memory.
std::vector<int> nested_dissection(const BlockGraph& graph);

}  // namespace supple

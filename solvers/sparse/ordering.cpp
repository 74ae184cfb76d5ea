#include "solvers/sparse/ordering.hpp"

#include <metis.h>

#include <mutex>
#include <numeric>

#include "kernels/base/error.hpp"

namespace supple {

BlockGraph block_graph(const SymmetricPattern& pattern) {
  const int b = pattern.block;
  BlockGraph graph;
  graph.n = pattern.n / b;
  // Column b j holds the diagonal block first, then whole blocks.
  const auto for_each_edge = [&](auto visit) {
    for (int j = 0; j < graph.n; ++j)
      for (int k = pattern.column_start[b * j] + b; k < pattern.column_start[b * j + 1]; k += b)
        visit(j, pattern.row[k] / b), visit(pattern.row[k] / b, j);
  };
  graph.start.assign(graph.n + 1, 0);
  for_each_edge([&](int from, int) { ++graph.start[from + 1]; });
  std::partial_sum(graph.start.begin(), graph.start.end(), graph.start.begin());
  std::vector<int> next(graph.start.begin(), graph.start.end() - 1);
  graph.neighbour.resize(graph.start.back());
  for_each_edge([&](int from, int to) { graph.neighbour[next[from]++] = to; });
  return graph;
}

std::vector<int> nested_dissection(const BlockGraph& graph) {
  std::vector<int> result(graph.n);
  std::iota(result.begin(), result.end(), 0);
  if (graph.neighbour.empty()) return result;  // diagonal: METIS does not support a graph without edges
  idx_t n = graph.n;
  std::vector<idx_t> start(graph.start.begin(), graph.start.end()),
      neighbour(graph.neighbour.begin(), graph.neighbour.end()), order(graph.n), place(graph.n);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  // METIS draws from the C library's random numbers, which all threads share, and sets signal handlers.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (METIS_NodeND(&n, start.data(), neighbour.data(), nullptr, options, order.data(), place.data()) != METIS_OK)
    throw RunError("no elimination order for the sparse matrix (METIS ran out of memory)", "use a coarser mesh");
  result.assign(place.begin(), place.end());
  return result;
}

}  // namespace supple

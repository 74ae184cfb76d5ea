#include "solvers/sparse/supernodes.hpp"

#include <algorithm>
#include <numeric>

#include "solvers/sparse/ordering.hpp"

namespace supple {
namespace {

// Neighbours of every block in the order of elimination.
BlockGraph renumbered(const BlockGraph& graph, const std::vector<int>& place) {
  BlockGraph out;
  out.n = graph.n;
  std::vector<int> order(graph.n);
  for (int i = 0; i < graph.n; ++i) order[place[i]] = i;
  out.start.push_back(0);
  for (int k = 0; k < graph.n; ++k) {
    for (int e = graph.start[order[k]]; e < graph.start[order[k] + 1]; ++e)
      out.neighbour.push_back(place[graph.neighbour[e]]);
    out.start.push_back(static_cast<int>(out.neighbour.size()));
  }
  return out;
}

// Liu's algorithm with path compression.
std::vector<int> elimination_tree(const BlockGraph& graph) {
  std::vector<int> parent(graph.n, -1), ancestor(graph.n, -1);
  for (int k = 0; k < graph.n; ++k)
    for (int e = graph.start[k]; e < graph.start[k + 1]; ++e)
      for (int i = graph.neighbour[e]; i != -1 && i < k;) {
        const int next = ancestor[i];
        ancestor[i] = k;
        if (next == -1) parent[i] = k;
        i = next;
      }
  return parent;
}

// position[k] of block k when children come right before their parents.
std::vector<int> postorder(const std::vector<int>& parent) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> child(n, -1), sibling(n, -1), position(n), stack;
  for (int k = n - 1; k >= 0; --k)
    if (parent[k] >= 0) sibling[k] = child[parent[k]], child[parent[k]] = k;
  int next = 0;
  for (int root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int k = stack.back();
      if (child[k] >= 0) {
        stack.push_back(child[k]);
        child[k] = sibling[child[k]];
      } else {
        position[k] = next++;
        stack.pop_back();
      }
    }
  }
  return position;
}

// Rows of every column of the factor, the diagonal among them: row i's columns are those met from its neighbours up to
// i.
std::vector<int> column_counts(const BlockGraph& graph, const std::vector<int>& parent) {
  std::vector<int> count(graph.n, 1), met(graph.n, -1);
  for (int i = 0; i < graph.n; ++i) {
    met[i] = i;
    for (int e = graph.start[i]; e < graph.start[i + 1]; ++e)
      for (int k = graph.neighbour[e]; k < i && met[k] != i; k = parent[k]) {
        met[k] = i;
        ++count[k];
      }
  }
  return count;
}

// Columns that become one supernode.
struct Span {
  int first, columns, rows;  // rows: of the first column, the diagonal among them
  double entries;            // of the factor before merging
  double stored() const { return columns * (rows - 0.5 * (columns - 1)); }
};

// Is it worth storing zeros for larger dense blocks? The rule is CHOLMOD's, in unknowns; on diamonds of 4 and 70
// thousand tetrahedra times of most other bounds lie within the noise of a shared machine.
bool worth_merging(const Span& merged, int block) {
  const double zeros = 1 - merged.entries / merged.stored();
  const int width = merged.columns * block;
  return width <= 12 || (width <= 24 && zeros < 0.8) || (width <= 48 && zeros < 0.3) || zeros < 0.1;
}

std::vector<Span> merged_columns(const std::vector<int>& parent, const std::vector<int>& count, int block) {
  std::vector<Span> spans;
  for (int k = 0; k < static_cast<int>(parent.size()); ++k) {
    if (k > 0 && parent[k - 1] == k && count[k] == count[k - 1] - 1) {
      ++spans.back().columns;
      spans.back().entries += count[k];
    } else {
      spans.push_back({k, 1, count[k], static_cast<double>(count[k])});
    }
  }
  std::vector<Span> merged;
  for (Span span : spans) {
    // The span before it ends right where this one begins; it can only be its last child.
    while (!merged.empty()) {
      const Span& child = merged.back();
      const int above = parent[child.first + child.columns - 1];
      if (above < span.first || above >= span.first + span.columns) break;
      const Span both{child.first, child.columns + span.columns, child.columns + span.rows,
                      child.entries + span.entries};
      if (!worth_merging(both, block)) break;
      span = both;
      merged.pop_back();
    }
    merged.push_back(span);
  }
  return merged;
}

}  // namespace

Supernodes find_supernodes(const SymmetricPattern& pattern) {
  const BlockGraph original = block_graph(pattern);
  Supernodes result;
  result.place = nested_dissection(original);
  BlockGraph graph = renumbered(original, result.place);
  std::vector<int> parent = elimination_tree(graph);
  const std::vector<int> position = postorder(parent);
  for (int& k : result.place) k = position[k];
  graph = renumbered(original, result.place);
  parent = elimination_tree(graph);

  std::vector<int> supernode_of(graph.n);
  for (const Span& span : merged_columns(parent, column_counts(graph, parent), pattern.block)) {
    std::fill_n(supernode_of.begin() + span.first, span.columns, static_cast<int>(result.first.size()));
    result.first.push_back(span.first);
  }
  const int count = static_cast<int>(result.first.size());
  result.first.push_back(graph.n);
  result.parent.assign(count, -1);
  result.row_start.push_back(0);
  std::vector<int> met(graph.n, -1);
  std::vector<std::vector<int>> children(count);
  for (int s = 0; s < count; ++s) {
    const int end = result.first[s + 1];
    std::vector<int> rows;
    const auto add = [&](int row) {
      if (row < end || met[row] == s) return;
      met[row] = s;
      rows.push_back(row);
    };
    for (int e = graph.start[result.first[s]]; e < graph.start[end]; ++e) add(graph.neighbour[e]);
    for (int child : children[s])
      for (std::ptrdiff_t k = result.row_start[child]; k < result.row_start[child + 1]; ++k) add(result.row[k]);
    std::sort(rows.begin(), rows.end());
    result.row.insert(result.row.end(), rows.begin(), rows.end());
    result.row_start.push_back(static_cast<std::ptrdiff_t>(result.row.size()));
    if (rows.empty()) continue;
    result.parent[s] = supernode_of[rows.front()];
    children[result.parent[s]].push_back(s);
  }
  result.row_in_parent.resize(result.row.size());
  for (int s = 0; s < count; ++s) {
    const int p = result.parent[s];
    if (p < 0) continue;
    std::ptrdiff_t at = result.row_start[p];
    for (std::ptrdiff_t k = result.row_start[s]; k < result.row_start[s + 1]; ++k) {
      if (result.row[k] < result.first[p + 1]) {
        result.row_in_parent[k] = result.row[k] - result.first[p];
        continue;
      }
      while (result.row[at] < result.row[k]) ++at;
      result.row_in_parent[k] = result.own(p) + static_cast<int>(at - result.row_start[p]);
    }
  }
  return result;
}

}  // namespace supple

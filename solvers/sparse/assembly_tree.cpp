#include "solvers/sparse/assembly_tree.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/base/contract.hpp"

namespace supple {
namespace {

void place_entries(AssemblyTree& tree) {
  const SymmetricPattern& pattern = tree.pattern;
  const int b = pattern.block, nodes = pattern.n / b, count = tree.count();
  std::vector<int> supernode_of(nodes);
  for (int s = 0; s < count; ++s)
    std::fill(supernode_of.begin() + tree.first[s], supernode_of.begin() + tree.first[s + 1], s);
  const auto for_each_block = [&](auto visit) {
    for (int j = 0; j < nodes; ++j)
      for (int k = 0, row = pattern.column_start[b * j]; row < pattern.column_start[b * j + 1]; ++k, row += b)
        visit(j, k, pattern.row[row] / b);
  };
  const auto owner = [&](int i, int j) { return supernode_of[std::min(tree.place[i], tree.place[j])]; };
  tree.entry_start.assign(count + 1, 0);
  for_each_block([&](int j, int, int i) { ++tree.entry_start[owner(i, j) + 1]; });
  std::partial_sum(tree.entry_start.begin(), tree.entry_start.end(), tree.entry_start.begin());
  tree.entries.resize(tree.entry_start.back());
  std::vector<int> next(tree.entry_start.begin(), tree.entry_start.end() - 1);
  for_each_block([&](int j, int k, int i) {
    const int s = owner(i, j), high = std::max(tree.place[i], tree.place[j]);
    AssemblyTree::Entry entry{j, k, high - tree.first[s], std::min(tree.place[i], tree.place[j]) - tree.first[s],
                              tree.place[i] < tree.place[j]};
    if (high >= tree.first[s + 1]) {
      const auto begin = tree.row.begin() + tree.row_start[s], end = tree.row.begin() + tree.row_start[s + 1];
      entry.front_row = tree.own(s) + static_cast<int>(std::lower_bound(begin, end, high) - begin);
    }
    tree.entries[next[s]++] = entry;
  });
}

}  // namespace

AssemblyTree assembly_tree(const SymmetricPattern& pattern) {
  SUPPLE_EXPECT(pattern.n % pattern.block == 0);
  AssemblyTree tree;
  static_cast<Supernodes&>(tree) = find_supernodes(pattern);
  tree.pattern = pattern;
  const int count = tree.count();
  tree.child.assign(count, -1);
  tree.sibling.assign(count, -1);
  tree.level.assign(count, 0);
  for (int s = count - 1; s >= 0; --s) {
    const int p = tree.parent[s];
    if (p < 0) continue;
    tree.level[s] = tree.level[p] + 1;
    tree.sibling[s] = tree.child[p];
    tree.child[p] = s;
  }
  place_entries(tree);
  return tree;
}

UpdatePlaces stacked_updates(const AssemblyTree& tree, const std::function<std::ptrdiff_t(int)>& size) {
  UpdatePlaces places;
  places.start.assign(tree.count(), 0);
  std::ptrdiff_t top[2] = {0, 0};
  const auto left = [&](int s) { return tree.parent[s] < 0 ? 0 : size(s); };
  for (int s = 0; s < tree.count(); ++s) {
    const int mine = tree.level[s] % 2;
    for (int child = tree.child[s]; child >= 0; child = tree.sibling[child]) top[1 - mine] -= left(child);
    places.start[s] = top[mine];
    top[mine] += left(s);
    places.size[mine] = std::max(places.size[mine], top[mine]);
  }
  return places;
}

UpdatePlaces updates_by_level(const AssemblyTree& tree, const std::function<std::ptrdiff_t(int)>& size) {
  UpdatePlaces places;
  std::vector<std::ptrdiff_t> top;
  for (int s = 0; s < tree.count(); ++s) {
    const std::size_t level = tree.level[s];
    if (top.size() <= level) top.resize(level + 1, 0);
    places.start.push_back(top[level]);
    if (tree.parent[s] >= 0) top[level] += size(s);
  }
  for (std::size_t level = 0; level < top.size(); ++level)
    places.size[level % 2] = std::max(places.size[level % 2], top[level]);
  return places;
}

}  // namespace supple

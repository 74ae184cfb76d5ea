#include "engine/mechanics/full/node_pattern.hpp"

#include <algorithm>

namespace supple {

std::vector<long> element_block_offsets(const FullModel& model) {
  std::vector<long> offsets{0};
  for (const ElementField& field : model.fields)
    offsets.push_back(offsets.back() + static_cast<long>(field.elements()) * pair_count(field.nodes_per_element));
  return offsets;
}

int NodePattern::find(int i, int j) const {
  const auto begin = row.begin() + column_start[static_cast<std::size_t>(j)];
  const auto end = row.begin() + column_start[static_cast<std::size_t>(j) + 1];
  const auto it = std::lower_bound(begin, end, i);
  return it != end && *it == i ? static_cast<int>(it - row.begin()) : -1;
}

NodePattern build_node_pattern(const FullModel& model, const std::vector<std::vector<int>>& extra) {
  struct Contribution {
    int row, column;
    long source;  // -1: structural only
  };
  const std::vector<long> offsets = element_block_offsets(model);
  std::vector<Contribution> all;
  const int n = static_cast<int>(model.free_nodes.size());
  for (int i = 0; i < n; ++i) all.push_back({i, i, -1});
  for (std::size_t f = 0; f < model.fields.size(); ++f) {
    const ElementField& field = model.fields[f];
    const int npe = field.nodes_per_element;
    for (int e = 0; e < field.elements(); ++e) {
      long block = offsets[f] + static_cast<long>(e) * pair_count(npe);
      for (int a = 0; a < npe; ++a)
        for (int b = a; b < npe; ++b, ++block) {
          const int i = model.node_unknown[static_cast<std::size_t>(field.node[static_cast<std::size_t>(e * npe + a)])];
          const int j = model.node_unknown[static_cast<std::size_t>(field.node[static_cast<std::size_t>(e * npe + b)])];
          if (i < 0 || j < 0) continue;
          // The block is K_ab (rows of a, columns of b): as it is when i > j, transposed when it lands above the
          // diagonal.
          if (i >= j)
            all.push_back({i, j, 2 * block});
          else
            all.push_back({j, i, 2 * block + 1});
        }
    }
  }
  for (const std::vector<int>& nodes : extra)
    for (int a : nodes)
      for (int b : nodes) {
        const int i = model.node_unknown[static_cast<std::size_t>(a)],
                  j = model.node_unknown[static_cast<std::size_t>(b)];
        if (i >= 0 && j >= 0 && i > j) all.push_back({i, j, -1});
      }
  // Consistent mass couples exactly the nodes of an element: already there.
  std::sort(all.begin(), all.end(), [](const Contribution& x, const Contribution& y) {
    return std::tie(x.column, x.row, x.source) < std::tie(y.column, y.row, y.source);
  });
  NodePattern pattern;
  pattern.column_start.assign(static_cast<std::size_t>(n) + 1, 0);
  pattern.contribution_start.push_back(0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool first = k == 0 || all[k].column != all[k - 1].column || all[k].row != all[k - 1].row;
    if (first) {
      if (k > 0) pattern.contribution_start.push_back(static_cast<int>(pattern.source.size()));
      pattern.row.push_back(all[k].row);
      ++pattern.column_start[static_cast<std::size_t>(all[k].column) + 1];
    }
    if (all[k].source >= 0) pattern.source.push_back(all[k].source);
  }
  pattern.contribution_start.push_back(static_cast<int>(pattern.source.size()));
  for (int j = 0; j < n; ++j)
    pattern.column_start[static_cast<std::size_t>(j) + 1] += pattern.column_start[static_cast<std::size_t>(j)];

  SymmetricPattern& s = pattern.scalar;
  s.n = 3 * n;
  s.block = 3;
  s.column_start.push_back(0);
  for (int j = 0; j < n; ++j)
    for (int c = 0; c < 3; ++c) {
      for (int k = pattern.column_start[static_cast<std::size_t>(j)];
           k < pattern.column_start[static_cast<std::size_t>(j) + 1]; ++k) {
        const int i = pattern.row[static_cast<std::size_t>(k)];
        for (int r = i == j ? c : 0; r < 3; ++r) s.row.push_back(3 * i + r);
      }
      s.column_start.push_back(static_cast<int>(s.row.size()));
    }
  return pattern;
}

}  // namespace supple

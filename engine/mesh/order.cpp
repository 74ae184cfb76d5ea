#include "engine/mesh/order.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"

namespace supple {

void set_order(Mesh& mesh, int order) {
  SUPPLE_EXPECT(order == 1 || order == 2);
  if (order == 1) mesh.edge_nodes.clear();
  if (order == mesh.order()) return;
  auto& edges = mesh.edge_nodes;
  for (int e = 0; e < mesh.element_count(); ++e) {
    std::array<int, 8> corners;
    const int count = element_corners(mesh, e, corners);
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      if (corners[k] < 0 || corners[k] >= static_cast<int>(mesh.nodes.size()))
        throw InputError("element " + std::to_string(e) + " names node " + std::to_string(corners[k]) + " of " +
                             std::to_string(mesh.nodes.size()),
                         "nodes are numbered from 0", {mesh.name, 0, 0, ""});
    for (const CellEdge& edge : cell_edges(count)) {
      const auto [a, b] =
          std::minmax(corners[static_cast<std::size_t>(edge[0])], corners[static_cast<std::size_t>(edge[1])]);
      edges.push_back({a, b, -1});
    }
  }
  const auto ends = [](const EdgeNode& edge) { return std::array{edge.a, edge.b}; };
  std::sort(edges.begin(), edges.end(), [&](const EdgeNode& x, const EdgeNode& y) { return ends(x) < ends(y); });
  const auto same = [&](const EdgeNode& x, const EdgeNode& y) { return ends(x) == ends(y); };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  for (EdgeNode& edge : edges) {
    edge.node = static_cast<int>(mesh.nodes.size());
    const Vec3d middle =
        0.5 * (mesh.nodes[static_cast<std::size_t>(edge.a)] + mesh.nodes[static_cast<std::size_t>(edge.b)]);
    mesh.nodes.push_back(middle);
  }
}

}  // namespace supple

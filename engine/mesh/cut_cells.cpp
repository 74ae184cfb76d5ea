#include "engine/mesh/cut_cells.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Nodes of a face, each once.
std::vector<int> distinct(const Face& face, const std::array<int, 8>& cell) {
  std::vector<int> nodes;
  for (int k = 0; k < face.count; ++k) {
    const int node = cell[extent(face.nodes[extent(k)])];
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

class Cutter {
 public:
  explicit Cutter(Mesh& mesh) : mesh_(mesh), second_(mesh.order() == 2) {}

  void cut_all() {
    std::vector<int> first;
    for (const auto& cell : mesh_.hexahedra) {
      first.push_back(static_cast<int>(mesh_.tetrahedra.size()));
      cut(cell);
    }
    first.push_back(static_cast<int>(mesh_.tetrahedra.size()));
    for (CellGroup& group : mesh_.groups) {
      if (group.type != CellType::hexahedron) continue;
      std::vector<int> parts;
      for (const int cell : group.cells)
        for (int t = first[extent(cell)]; t < first[extent(cell) + 1]; ++t) parts.push_back(t);
      const auto same = std::ranges::find_if(mesh_.groups, [&](const CellGroup& other) {
        return other.name == group.name && other.type == CellType::tetrahedron;
      });
      if (same == mesh_.groups.end()) {
        group = {group.name, CellType::tetrahedron, std::move(parts)};
      } else {
        same->cells.insert(same->cells.end(), parts.begin(), parts.end());
        group.cells.clear();
      }
    }
    std::erase_if(mesh_.groups,
                  [](const CellGroup& group) { return group.type == CellType::hexahedron && group.cells.empty(); });
    mesh_.hexahedra.clear();
    for (const auto& [ends, node] : added_) mesh_.edge_nodes.push_back({ends.first, ends.second, node});
    std::ranges::sort(mesh_.edge_nodes, {}, [](const EdgeNode& e) { return std::pair{e.a, e.b}; });
  }

 private:
  void cut(const std::array<int, 8>& cell) {
    const int corner = *std::ranges::min_element(cell);
    const std::size_t first = mesh_.tetrahedra.size();
    double volume = 0;
    for (const Face& side : cell_faces(8)) {
      std::vector<int> face = distinct(side, cell);
      if (face.size() < 3) continue;
      std::rotate(face.begin(), std::ranges::min_element(face), face.end());
      if (second_ && face.size() == 4) add_middle(face[0], face[2], face, ring(face));
      if (face.front() == corner) continue;
      for (std::size_t k = 2; k < face.size(); ++k) {
        mesh_.tetrahedra.push_back({face[0], face[k], face[k - 1], corner});
        volume += tetrahedron_volume(mesh_, static_cast<int>(mesh_.tetrahedra.size()) - 1);
      }
    }
    if (second_) add_inner(cell, corner);
    // A wedge of VTK's and one of gmsh's are mirrored.
    for (std::size_t t = first; t < mesh_.tetrahedra.size() && volume < 0; ++t)
      std::swap(mesh_.tetrahedra[t][0], mesh_.tetrahedra[t][1]);
  }

  using Edges = std::vector<std::pair<int, int>>;

  static Edges ring(const std::vector<int>& face) {
    Edges edges;
    for (std::size_t k = 0; k < face.size(); ++k) edges.emplace_back(face[k], face[(k + 1) % face.size()]);
    return edges;
  }

  // From the corner through the middle of a hexahedron.
  void add_inner(const std::array<int, 8>& cell, int corner) {
    std::vector<int> nodes(cell.begin(), cell.end()), sorted = nodes;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) return;
    const auto* at = trilinear_corner(static_cast<int>(std::ranges::find(nodes, corner) - nodes.begin()));
    Edges edges;
    for (const CellEdge& edge : cell_edges(8)) edges.emplace_back(cell[extent(edge[0])], cell[extent(edge[1])]);
    for (int k = 0; k < 8; ++k) {
      const int* other = trilinear_corner(k);
      if (other[0] == -at[0] && other[1] == -at[1] && other[2] == -at[2])
        add_middle(corner, cell[extent(k)], nodes, edges);
    }
  }

  // The node of the new edge a b: in the middle of a serendipity face (4 edges) or cell (12).
  void add_middle(int a, int b, const std::vector<int>& corners, const Edges& edges) {
    const std::pair ends = std::minmax(a, b);
    if (added_.contains(ends) || edge_node(mesh_, a, b) >= 0) return;
    Vec3d middle{{0, 0, 0}};
    for (const int corner : corners) middle = middle - 0.25 * mesh_.nodes[extent(corner)];
    for (const auto& [i, j] : edges) {
      const int node = edge_node(mesh_, i, j);
      if (node < 0) return;  // an error of the mesh, which check_mesh() reports
      middle = middle + (edges.size() == 4 ? 0.5 : 0.25) * mesh_.nodes[extent(node)];
    }
    added_[ends] = static_cast<int>(mesh_.nodes.size());
    mesh_.nodes.push_back(middle);
  }

  Mesh& mesh_;
  bool second_;
  std::map<std::pair<int, int>, int> added_;
};

}  // namespace

void cut_into_tetrahedra(Mesh& mesh) {
  Cutter(mesh).cut_all();
}

}  // namespace supple

#include "engine/mesh/cells.hpp"

#include <algorithm>

#include "engine/mesh/cut_cells.hpp"

namespace supple {

namespace {

constexpr CellEdge quadrilateral_edges[4] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
constexpr CellEdge gmsh_tetrahedron_edges[6] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}};
constexpr CellEdge gmsh_hexahedron_edges[12] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                                {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
constexpr CellEdge wedge_edges[9] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}};
constexpr CellEdge gmsh_wedge_edges[9] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}};
constexpr CellEdge pyramid_edges[8] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}};
constexpr CellEdge gmsh_pyramid_edges[8] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 4}, {2, 3}, {2, 4}, {3, 4}};

}  // namespace

CellKind vtk_cell(int type) {
  switch (type) {
    case 1:
      return {CellUse::ignored, 1, "vertex"};
    case 2:
      return {CellUse::ignored, 0, "vertex set"};
    case 3:
      return {CellUse::ignored, 2, "line"};
    case 4:
      return {CellUse::ignored, 0, "polyline"};
    case 5:
      return {CellUse::triangle, 3, "triangle"};
    case 9:
      return {CellUse::quadrilateral, 4, "quadrilateral"};
    case 10:
      return {CellUse::tetrahedron, 4, "tetrahedron"};
    case 11:
      return {CellUse::voxel, 8, "voxel"};
    case 12:
      return {CellUse::hexahedron, 8, "hexahedron"};
    case 13:
      return {CellUse::wedge, 6, "wedge"};
    case 14:
      return {CellUse::pyramid, 5, "pyramid"};
    case 21:
      return {CellUse::ignored, 3, "quadratic line"};
    case 22:
      return {CellUse::triangle, 6, "quadratic triangle", cell_edges(3), 3};
    case 23:
      return {CellUse::quadrilateral, 8, "quadratic quadrilateral", quadrilateral_edges, 4};
    case 24:
      return {CellUse::tetrahedron, 10, "quadratic tetrahedron", cell_edges(4), 4};
    case 25:
      return {CellUse::hexahedron, 20, "quadratic hexahedron", cell_edges(8), 8};
    case 26:
      return {CellUse::wedge, 15, "quadratic wedge", wedge_edges, 6};
    case 27:
      return {CellUse::pyramid, 13, "quadratic pyramid", pyramid_edges, 5};
    case 28:
      return {CellUse::quadrilateral, 9, "biquadratic quadrilateral", quadrilateral_edges, 4};
    case 29:
      return {CellUse::hexahedron, 27, "triquadratic hexahedron", cell_edges(8), 8};
    case 32:
      return {CellUse::wedge, 18, "biquadratic-quadratic wedge", wedge_edges, 6};
    case 42:
      return {CellUse::unsupported, 0, "polyhedron"};
    default:
      return {};
  }
}

CellKind gmsh_cell(int type) {
  switch (type) {
    case 1:
      return {CellUse::ignored, 2, "line"};
    case 2:
      return {CellUse::triangle, 3, "triangle"};
    case 3:
      return {CellUse::quadrilateral, 4, "quadrilateral"};
    case 4:
      return {CellUse::tetrahedron, 4, "tetrahedron"};
    case 5:
      return {CellUse::hexahedron, 8, "hexahedron"};
    case 6:
      return {CellUse::wedge, 6, "prism"};
    case 7:
      return {CellUse::pyramid, 5, "pyramid"};
    case 8:
      return {CellUse::ignored, 3, "quadratic line"};
    case 9:
      return {CellUse::triangle, 6, "quadratic triangle", cell_edges(3), 3};
    case 10:
      return {CellUse::quadrilateral, 9, "quadratic quadrilateral", quadrilateral_edges, 4};
    case 11:
      return {CellUse::tetrahedron, 10, "quadratic tetrahedron", gmsh_tetrahedron_edges, 4};
    case 12:
      return {CellUse::hexahedron, 27, "quadratic hexahedron", gmsh_hexahedron_edges, 8};
    case 13:
      return {CellUse::wedge, 18, "quadratic prism", gmsh_wedge_edges, 6};
    case 14:
      return {CellUse::pyramid, 14, "quadratic pyramid", gmsh_pyramid_edges, 5};
    case 15:
      return {CellUse::ignored, 1, "vertex"};
    case 16:
      return {CellUse::quadrilateral, 8, "quadratic quadrilateral", quadrilateral_edges, 4};
    case 17:
      return {CellUse::hexahedron, 20, "quadratic hexahedron", gmsh_hexahedron_edges, 8};
    case 18:
      return {CellUse::wedge, 15, "quadratic prism", gmsh_wedge_edges, 6};
    case 19:
      return {CellUse::pyramid, 13, "quadratic pyramid", gmsh_pyramid_edges, 5};
    default:
      return {};
  }
}

void refuse_cell(const CellKind& kind, int type, const Place& place) {
  const std::string what = std::string(kind.name) + ", type " + std::to_string(type);
  throw InputError(
      "a cell is not supported (" + what + ")",
      "mesh the body with tetrahedra, hexahedra, wedges or pyramids, of order 1 or 2 (gmsh -3 makes tetrahedra)",
      place);
}

AddedCell MeshBuilder::add(const CellKind& kind, const int* n) {
  for (std::size_t e = 0; e < kind.edges.size(); ++e) {
    const auto [a, b] = std::minmax(n[kind.edges[e][0]], n[kind.edges[e][1]]);
    mesh_.edge_nodes.push_back({a, b, n[static_cast<std::size_t>(kind.corners) + e]});
  }
  if (!kind.edges.empty()) inner_nodes_ += kind.node_count - kind.corners - static_cast<int>(kind.edges.size());
  switch (kind.use) {
    case CellUse::triangle:
      mesh_.triangles.push_back({n[0], n[1], n[2]});
      return {CellType::triangle, static_cast<int>(mesh_.triangles.size()) - 1, 1};
    case CellUse::quadrilateral:
      mesh_.triangles.push_back({n[0], n[1], n[2]});
      mesh_.triangles.push_back({n[0], n[2], n[3]});
      quadrilaterals_.push_back(static_cast<int>(mesh_.triangles.size()) - 2);
      return {CellType::triangle, static_cast<int>(mesh_.triangles.size()) - 2, 2};
    case CellUse::tetrahedron:
      mesh_.tetrahedra.push_back({n[0], n[1], n[2], n[3]});
      return {CellType::tetrahedron, static_cast<int>(mesh_.tetrahedra.size()) - 1, 1};
    case CellUse::hexahedron:
      mesh_.hexahedra.push_back({n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]});
      return {CellType::hexahedron, static_cast<int>(mesh_.hexahedra.size()) - 1, 1};
    case CellUse::voxel:
      mesh_.hexahedra.push_back({n[0], n[1], n[3], n[2], n[4], n[5], n[7], n[6]});
      return {CellType::hexahedron, static_cast<int>(mesh_.hexahedra.size()) - 1, 1};
    case CellUse::wedge:
      mesh_.hexahedra.push_back({n[0], n[1], n[2], n[2], n[3], n[4], n[5], n[5]});
      ++wedges_;
      return {CellType::hexahedron, static_cast<int>(mesh_.hexahedra.size()) - 1, 1};
    case CellUse::pyramid:
      mesh_.hexahedra.push_back({n[0], n[1], n[2], n[3], n[4], n[4], n[4], n[4]});
      ++pyramids_;
      return {CellType::hexahedron, static_cast<int>(mesh_.hexahedra.size()) - 1, 1};
    case CellUse::ignored:
    case CellUse::unsupported:
      break;
  }
  ++ignored_[kind.name];
  return {};
}

// Sorted, each once.
void MeshBuilder::sort_edges() {
  const auto key = [](const EdgeNode& edge) { return std::array{edge.a, edge.b, edge.node}; };
  auto& edges = mesh_.edge_nodes;
  std::sort(edges.begin(), edges.end(), [&](const EdgeNode& x, const EdgeNode& y) { return key(x) < key(y); });
  const auto same = [&](const EdgeNode& x, const EdgeNode& y) { return key(x) == key(y); };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  for (std::size_t i = 1; i < edges.size(); ++i)
    if (edges[i].a == edges[i - 1].a && edges[i].b == edges[i - 1].b)
      throw InputError("the edge between nodes " + std::to_string(edges[i].a) + " and " + std::to_string(edges[i].b) +
                           " has two nodes of second order, " + std::to_string(edges[i - 1].node) + " and " +
                           std::to_string(edges[i].node),
                       "merge them (gmsh: Coherence Mesh), or save the mesh with linear cells (gmsh -order 1)",
                       {mesh_.name, 0, 0, ""});
}

// Wedges and pyramids, and the hexahedra beside them.
void MeshBuilder::cut_cells() {
  const auto count = [](int n, const char* kind) {
    return n == 0 ? "" : std::to_string(n) + " " + kind + (n == 1 ? ", " : "s, ");
  };
  const int hexahedra = static_cast<int>(mesh_.hexahedra.size()) - wedges_ - pyramids_;
  const std::size_t before = mesh_.tetrahedra.size();
  std::string cells = count(wedges_, "wedge") + count(pyramids_, "pyramid");
  if (hexahedra > 0) cells += std::to_string(hexahedra) + (hexahedra == 1 ? " hexahedron, " : " hexahedra, ");
  cells.resize(cells.size() - 2);
  cut_into_tetrahedra(mesh_);
  // Quadrilaterals along the same diagonals.
  for (const int first : quadrilaterals_) {
    auto &one = mesh_.triangles[static_cast<std::size_t>(first)],
         &other = mesh_.triangles[static_cast<std::size_t>(first) + 1];
    const int a = one[0], b = one[1], c = one[2], d = other[2];
    if (std::min(b, d) > std::min(a, c)) continue;
    one = {b, c, d};
    other = {b, d, a};
  }
  mesh_.notes.push_back("cut into " + std::to_string(mesh_.tetrahedra.size() - before) + " tetrahedra: " + cells +
                        (hexahedra > 0 ? " (so that faces match)" : ""));
}

Mesh MeshBuilder::finish() {
  sort_edges();
  if (wedges_ + pyramids_ > 0) cut_cells();
  if (inner_nodes_ > 0)
    mesh_.notes.push_back(
        "left out the nodes inside faces and cells of second order: elements have nodes at corners "
        "and on edges");
  for (const auto& [kind, count] : ignored_)
    mesh_.notes.push_back("left out " + std::to_string(count) + (count == 1 ? " cell" : " cells") + " of the kind " +
                          kind);
  if (!quadrilaterals_.empty())
    mesh_.notes.push_back("split " + std::to_string(quadrilaterals_.size()) +
                          (quadrilaterals_.size() == 1 ? " quadrilateral" : " quadrilaterals") +
                          " into two triangles each");
  if (mesh_.element_count() == 0 && mesh_.triangles.empty())
    throw InputError(
        "the mesh has no tetrahedra, hexahedra or triangles",
        "in gmsh, mesh in 3D (gmsh -3) and put the volume in a physical group, or save all cells (-save_all)",
        {mesh_.name, 0, 0, ""});
  return std::move(mesh_);
}

}  // namespace supple

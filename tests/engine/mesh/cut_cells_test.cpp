// Meshes with wedges and pyramids, which are cut into tetrahedra with all that they hang together with.
#include "engine/mesh/cut_cells.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/geometry.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple {
namespace {

// Corners of cells, in the order of VTK but for wedges, which are those of gmsh: 4, 5, 6 or 8.
struct Cells {
  std::vector<Vec3d> nodes;
  std::vector<std::vector<int>> cells;
};

// 3 x 2 x 1 hexahedra over a box of 3 x 2 x 1, the last two layers of which are one of wedges and one of pyramids and
// tetrahedra, with nodes numbered at random.
Cells mixed(unsigned seed) {
  Cells box;
  const auto at = [](int x, int y, int z) { return x + 4 * (y + 3 * z); };
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) box.nodes.push_back({{1.0 * x, 1.0 * y, 1.0 * z}});
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 2; ++y) {
      const int h[8] = {at(x, y, 0), at(x + 1, y, 0), at(x + 1, y + 1, 0), at(x, y + 1, 0),
                        at(x, y, 1), at(x + 1, y, 1), at(x + 1, y + 1, 1), at(x, y + 1, 1)};
      if (x == 0) {
        box.cells.push_back({h, h + 8});
      } else if (x == 1) {
        box.cells.push_back({h[0], h[1], h[2], h[4], h[5], h[6]});
        box.cells.push_back({h[0], h[2], h[3], h[4], h[6], h[7]});
      } else {
        const int middle = static_cast<int>(box.nodes.size());
        box.nodes.push_back({{x + 0.5, y + 0.5, 0.5}});
        const int faces[6][4] = {{0, 1, 2, 3}, {4, 7, 6, 5}, {0, 4, 5, 1}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}};
        for (int f = 0; f < 6; ++f) {
          const int* q = faces[f];
          if (f == 3) {  // on the boundary of the box
            box.cells.push_back({h[q[0]], h[q[1]], h[q[2]], middle});
            box.cells.push_back({h[q[0]], h[q[2]], h[q[3]], middle});
          } else {
            box.cells.push_back({h[q[0]], h[q[1]], h[q[2]], h[q[3]], middle});
          }
        }
      }
    }
  std::vector<int> number(box.nodes.size());
  std::iota(number.begin(), number.end(), 0);
  std::mt19937 rng(seed);
  std::ranges::shuffle(number, rng);
  std::vector<Vec3d> nodes(box.nodes.size());
  for (std::size_t i = 0; i < number.size(); ++i) nodes[static_cast<std::size_t>(number[i])] = box.nodes[i];
  box.nodes = nodes;
  for (auto& cell : box.cells)
    for (int& node : cell) node = number[static_cast<std::size_t>(node)];
  return box;
}

// The order of edges in the two formats, by the number of corners.
const std::map<std::size_t, std::vector<std::array<int, 2>>> vtk_edges{
    {4, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
    {5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}},
    {6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}}},
    {8, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}}};
const std::map<std::size_t, std::vector<std::array<int, 2>>> gmsh_edges{
    {4, {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}}},
    {5, {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 4}, {2, 3}, {2, 4}, {3, 4}}},
    {6, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}}},
    {8, {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}}}};

// A quadratic map, which elements of second order follow exactly.
Vec3d curved(const Vec3d& x) {
  return {{x[0] + 0.03 * x[1] * x[1], x[1] + 0.02 * x[0] * x[2], x[2] + 0.01 * x[0] * x[0] - 0.02 * x[1] * x[2]}};
}

struct Written {
  Cells cells;
  std::vector<Vec3d> straight;  // of all nodes, before the map
};

// Nodes on edges added, all nodes mapped.
Written second_order(Cells cells, const std::map<std::size_t, std::vector<std::array<int, 2>>>& edges) {
  std::map<std::array<int, 2>, int> known;
  for (auto& cell : cells.cells) {
    const std::vector<int> corners = cell;
    for (const auto& edge : edges.at(corners.size())) {
      const auto [a, b] =
          std::minmax(corners[static_cast<std::size_t>(edge[0])], corners[static_cast<std::size_t>(edge[1])]);
      const auto [at, is_new] = known.try_emplace({a, b}, static_cast<int>(cells.nodes.size()));
      if (is_new)
        cells.nodes.push_back(0.5 *
                              (cells.nodes[static_cast<std::size_t>(a)] + cells.nodes[static_cast<std::size_t>(b)]));
      cell.push_back(at->second);
    }
  }
  Written written{cells, cells.nodes};
  for (Vec3d& x : written.cells.nodes) x = curved(x);
  return written;
}

std::string vtk(const Cells& cells) {
  std::string text = fmt::format(
      "# vtk DataFile Version 3.0\nmixed\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n", cells.nodes.size());
  for (const Vec3d& x : cells.nodes) text += fmt::format("{:.17g} {:.17g} {:.17g}\n", x[0], x[1], x[2]);
  std::size_t numbers = 0;
  for (const auto& cell : cells.cells) numbers += cell.size() + 1;
  text += fmt::format("CELLS {} {}\n", cells.cells.size(), numbers);
  for (const auto& cell : cells.cells) text += fmt::format("{} {}\n", cell.size(), fmt::join(cell, " "));
  text += fmt::format("CELL_TYPES {}\n", cells.cells.size());
  const std::map<std::size_t, int> types{{4, 10}, {5, 14}, {6, 13}, {8, 12}, {10, 24}, {13, 27}, {15, 26}, {20, 25}};
  for (const auto& cell : cells.cells) text += fmt::format("{}\n", types.at(cell.size()));
  return text;
}

// Group 1 "front" of the first half of the cells, 2 "back" of the others, 3 "skin" of quadrilaterals.
std::string gmsh(const Cells& cells, const std::vector<std::array<int, 4>>& skin = {}) {
  std::string text =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 1 \"front\"\n3 2 \"back\"\n2 3 "
      "\"skin\"\n$EndPhysicalNames\n";
  text += fmt::format("$Nodes\n{}\n", cells.nodes.size());
  for (std::size_t i = 0; i < cells.nodes.size(); ++i)
    text += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", i + 1, cells.nodes[i][0], cells.nodes[i][1], cells.nodes[i][2]);
  text += fmt::format("$EndNodes\n$Elements\n{}\n", cells.cells.size() + skin.size());
  for (std::size_t e = 0; e < skin.size(); ++e)
    text += fmt::format("{} 3 2 3 1 {} {} {} {}\n", cells.cells.size() + e + 1, skin[e][0] + 1, skin[e][1] + 1,
                        skin[e][2] + 1, skin[e][3] + 1);
  const std::map<std::size_t, int> types{{4, 4}, {5, 7}, {6, 6}, {8, 5}, {10, 11}, {13, 19}, {15, 18}, {20, 17}};
  for (std::size_t e = 0; e < cells.cells.size(); ++e) {
    const auto& cell = cells.cells[e];
    text += fmt::format("{} {} 2 {} 1", e + 1, types.at(cell.size()), e < cells.cells.size() / 2 ? 1 : 2);
    for (const int node : cell) text += fmt::format(" {}", node + 1);
    text += "\n";
  }
  return text + "$EndElements\n";
}

double volume_of(const Mesh& mesh, const std::vector<int>& elements) {
  double volume = 0;
  for (const int e : elements) volume += element_volume(mesh, e);
  return volume;
}

std::vector<int> all_of(const Mesh& mesh) {
  std::vector<int> elements(static_cast<std::size_t>(mesh.element_count()));
  std::iota(elements.begin(), elements.end(), 0);
  return elements;
}

// Faces match: the only ones of one element are those of the box, all but the 2 triangles of its end twice as many as
// quadrilaterals.
void expect_whole(const Mesh& mesh) {
  EXPECT_TRUE(mesh.hexahedra.empty());
  const std::vector<Face> faces = all_faces(mesh);
  const FaceGroups groups = group_faces(faces);
  int alone = 0;
  for (std::size_t g = 0; g + 1 < groups.begin.size(); ++g) {
    const int count = groups.begin[g + 1] - groups.begin[g];
    EXPECT_LE(count, 2);
    if (count == 1) ++alone;
  }
  EXPECT_EQ(alone, 2 * (2 * 3 * 2 + 2 * 3 + 2 * 2));
  for (int t = 0; t < mesh.element_count(); ++t) EXPECT_GT(tetrahedron_volume(mesh, t), 0);
}

TEST(CutCells, FacesMatchHoweverNodesAreNumbered) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Mesh mesh = parse_mesh(vtk(mixed(seed)), "mixed.vtk");
    expect_whole(mesh);
    EXPECT_NEAR(volume_of(mesh, all_of(mesh)), 6, 1e-12);
    // 2 hexahedra, 4 wedges, 2 x 5 pyramids, 2 x 2 tetrahedra
    EXPECT_EQ(mesh.tetrahedra.size(), 2u * 6 + 4 * 3 + 10 * 2 + 4);
    ASSERT_EQ(mesh.notes.size(), 1u);
    EXPECT_EQ(mesh.notes[0], "cut into 44 tetrahedra: 4 wedges, 10 pyramids, 2 hexahedra (so that faces match)");
  }
}

TEST(CutCells, WedgesMayBeMirrored) {
  Cells cells = mixed(3);
  for (auto& cell : cells.cells)
    if (cell.size() == 6) std::swap_ranges(cell.begin(), cell.begin() + 3, cell.begin() + 3);
  const Mesh mesh = parse_mesh(vtk(cells), "mixed.vtk");
  expect_whole(mesh);
}

TEST(CutCells, GroupsFollow) {
  const Cells cells = mixed(5);
  const Mesh mesh = parse_mesh(gmsh(cells), "mixed.msh");
  expect_whole(mesh);
  double volume = 0;
  for (const CellGroup& group : mesh.groups) {
    EXPECT_EQ(group.type, CellType::tetrahedron);
    volume += volume_of(mesh, group.cells);
  }
  EXPECT_NEAR(volume, 6, 1e-12);
  EXPECT_EQ(mesh.groups.size(), 2u);  // tetrahedra of the file and of cut cells in one
}

// Quadrilaterals of the file on the boundary are cut as the cells behind them.
TEST(CutCells, QuadrilateralsFollow) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Cells cells = mixed(seed);
    std::vector<std::array<int, 4>> skin;
    for (const auto& cell : cells.cells) {
      if (cell.size() == 8) skin.push_back({cell[0], cell[3], cell[7], cell[4]});
      const auto height = [&](std::size_t k) { return cells.nodes[static_cast<std::size_t>(cell[k])][2]; };
      if (cell.size() == 5 && height(0) == height(1) && height(1) == height(2))
        skin.push_back({cell[0], cell[1], cell[2], cell[3]});
    }
    ASSERT_EQ(skin.size(), 6u);
    const Mesh mesh = parse_mesh(gmsh(cells, skin), "mixed.msh");
    ASSERT_EQ(mesh.triangles.size(), 12u);
    std::vector<std::array<int, 3>> boundary;
    const auto sorted = [](std::array<int, 3> t) {
      std::ranges::sort(t);
      return t;
    };
    for (const Face& face : boundary_faces(mesh))
      boundary.push_back(sorted({face.nodes[0], face.nodes[1], face.nodes[2]}));
    for (const auto& triangle : mesh.triangles)
      EXPECT_NE(std::ranges::find(boundary, sorted(triangle)), boundary.end()) << seed;
  }
}

// Nodes of second order lie where a quadratic map takes the middles of edges: those of the file, and the new ones on
// diagonals, since serendipity functions hold all quadratics.
TEST(CutCells, OfSecondOrderEdgesStayCurved) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Written for_vtk = second_order(mixed(seed), vtk_edges), for_gmsh = second_order(mixed(seed), gmsh_edges);
    for (const Mesh& mesh :
         {parse_mesh(vtk(for_vtk.cells), "mixed.vtk"), parse_mesh(gmsh(for_gmsh.cells), "mixed.msh")}) {
      EXPECT_EQ(mesh.order(), 2);
      const Cells straight = mixed(seed);
      for (const EdgeNode& edge : mesh.edge_nodes) {
        const Vec3d middle =
            0.5 * (straight.nodes[static_cast<std::size_t>(edge.a)] + straight.nodes[static_cast<std::size_t>(edge.b)]);
        EXPECT_LT(norm(mesh.nodes[static_cast<std::size_t>(edge.node)] - curved(middle)), 1e-14);
      }
      Mesh checked = mesh;
      EXPECT_EQ(check_mesh(checked).flipped, 0);  // throws where an edge has no node
    }
  }
}

}  // namespace
}  // namespace supple

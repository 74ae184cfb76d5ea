// Elements of second order: their functions and quadrature, and meshes of them in files and in memory.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/embedding.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/order.hpp"
#include "engine/mesh/reference_element.hpp"
#include "engine/mesh/select.hpp"
#include "engine/mesh/write.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple {
namespace {

using test::expect_input_error;
using test::replaced;
using test::TemporaryFolder;

class ReferenceElement : public testing::TestWithParam<int> {
 protected:
  int nodes() const { return GetParam(); }
  // Places of the nodes in the reference cell.
  std::vector<Vec3d> places() const {
    const int corners = corner_count(nodes());
    std::vector<Vec3d> x;
    if (corners == 4)
      x = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
    else
      for (int k = 0; k < 8; ++k)
        x.push_back({{trilinear_corner(k)[0] * 1.0, trilinear_corner(k)[1] * 1.0, trilinear_corner(k)[2] * 1.0}});
    if (nodes() > corners)
      for (const CellEdge& edge : cell_edges(corners))
        x.push_back(0.5 * (x[static_cast<std::size_t>(edge[0])] + x[static_cast<std::size_t>(edge[1])]));
    return x;
  }
};

TEST_P(ReferenceElement, FunctionsAreOneAtTheirNodeAndZeroAtTheOthers) {
  const std::vector<Vec3d> x = places();
  ASSERT_EQ(x.size(), static_cast<std::size_t>(nodes()));
  for (std::size_t b = 0; b < x.size(); ++b) {
    const auto N = shape_functions(nodes(), x[b]);
    for (std::size_t a = 0; a < x.size(); ++a) EXPECT_NEAR(N[a], a == b ? 1 : 0, 1e-15);
  }
}

TEST_P(ReferenceElement, GradientsAreTheDerivatives) {
  for (const Vec3d& xi : {Vec3d{{0.1, 0.2, 0.3}}, Vec3d{{0.4, 0.05, 0.15}}}) {
    const auto G = shape_gradients(nodes(), xi);
    const double h = 1e-6;
    for (int k = 0; k < 3; ++k) {
      Vec3d up = xi, down = xi;
      up[k] += h;
      down[k] -= h;
      const auto above = shape_functions(nodes(), up), below = shape_functions(nodes(), down);
      // Cubic along a coordinate at most: truncation 1e-12, rounding 1e-10.
      for (std::size_t a = 0; a < static_cast<std::size_t>(nodes()); ++a)
        EXPECT_NEAR(G[a][k], (above[a] - below[a]) / (2 * h), 1e-9);
    }
  }
}

// Integral of x^i y^j z^k over the reference cell.
double monomial(int corners, int i, int j, int k) {
  if (corners == 4) return std::tgamma(i + 1) * std::tgamma(j + 1) * std::tgamma(k + 1) / std::tgamma(i + j + k + 4);
  const auto along = [](int n) { return n % 2 == 1 ? 0.0 : 2.0 / (n + 1); };
  return along(i) * along(j) * along(k);
}

void expect_exact(std::span<const QuadraturePoint> points, int corners, int degree) {
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; i + j <= degree; ++j)
      for (int k = 0; i + j + k <= degree; ++k) {
        double sum = 0;
        for (const QuadraturePoint& p : points)
          sum += p.weight * std::pow(p.xi[0], i) * std::pow(p.xi[1], j) * std::pow(p.xi[2], k);
        EXPECT_NEAR(sum, monomial(corners, i, j, k), 1e-14) << i << j << k;
      }
}

TEST_P(ReferenceElement, QuadratureIsExactToItsDegree) {
  const int corners = corner_count(nodes());
  expect_exact(stiffness_points(nodes()), corners, nodes() == 4 ? 1 : nodes() == 10 ? 2 : nodes() == 8 ? 3 : 5);
  if (nodes() == 10 || nodes() == 20) expect_exact(mass_points(nodes()), corners, 5);
}

INSTANTIATE_TEST_SUITE_P(Nodes, ReferenceElement, testing::Values(4, 8, 10, 20));

// A box of second order, bent so that its sides are curved.
Mesh bent(bool hexahedra) {
  Mesh mesh = hexahedra ? box_hexahedra({{0, 0, 0}}, {{1, 0.5, 0.5}}, 3, 2, 2)
                        : box_tetrahedra({{0, 0, 0}}, {{1, 0.5, 0.5}}, 3, 2, 2);
  set_order(mesh, 2);
  for (Vec3d& x : mesh.nodes) x[2] += 0.2 * x[0] * x[0];
  return mesh;
}

class SecondOrder : public testing::TestWithParam<bool> {};

TEST_P(SecondOrder, RaisingAndLoweringTheOrderGivesTheMeshBack) {
  const Mesh linear =
      GetParam() ? box_hexahedra({{0, 0, 0}}, {{1, 1, 1}}, 2, 2, 2) : box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 2, 2, 2);
  Mesh mesh = linear;
  set_order(mesh, 2);
  // 2 x 2 x 2 cells have 3 * 2 * 9 edges along the axes, and 3 * 12 diagonals of faces and 8 of cells.
  EXPECT_EQ(mesh.edge_nodes.size(), GetParam() ? 54u : 54u + 36u + 8u);
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.order, 2);
  EXPECT_EQ(report.components, 1);
  EXPECT_EQ(report.unused_nodes, 0);
  EXPECT_NEAR(report.volume, 1, 1e-14);
  set_order(mesh, 1);
  EXPECT_EQ(check_mesh(mesh).unused_nodes, static_cast<int>(GetParam() ? 54 : 98));
  EXPECT_EQ(mesh.nodes, linear.nodes);
}

TEST_P(SecondOrder, VolumeAndBoundaryAreThoseOfTheCurvedBody) {
  Mesh mesh = bent(GetParam());
  const MeshReport report = check_mesh(mesh);
  EXPECT_NEAR(report.volume, 0.25, 1e-14);  // a shear along z keeps it
  const BoundarySurface boundary = boundary_surface(mesh);
  // Four triangles a face of three corners, six a quadrilateral.
  EXPECT_EQ(boundary.surface.triangles.size(), 32u * (GetParam() ? 6 : 8));
  double volume = 0;
  for (const auto& t : boundary.surface.triangles) {
    const auto x = [&](std::size_t k) { return boundary.surface.nodes[static_cast<std::size_t>(t[k])]; };
    volume += dot(x(0), cross(x(1), x(2))) / 6;
  }
  // Chords of the same parabola above and below; six triangles of a quadrilateral lie another way above than below.
  EXPECT_NEAR(volume, 0.25, GetParam() ? 1e-3 : 1e-12);
}

TEST_P(SecondOrder, PointsAreFoundAndCarriedAlong) {
  const Mesh mesh = bent(GetParam());
  const Embedding embedding(mesh);
  for (const Vec3d& at : {Vec3d{{0.31, 0.22, 0.13}}, Vec3d{{0.77, 0.4, 0.05}}, Vec3d{{0.5, 0.25, 0.25}}}) {
    const Vec3d x{{at[0], at[1], at[2] + 0.2 * at[0] * at[0]}};
    const EmbeddedPoint point = embedding.locate(x);
    EXPECT_TRUE(point.inside);
    EXPECT_EQ(point.node_count, GetParam() ? 20 : 10);
    EXPECT_LT(norm(embedded_position(point, mesh.nodes) - x), 1e-14);
    // A quadratic field of the reference shape is carried exactly: back to where the body was straight.
    std::vector<Vec3d> straight = mesh.nodes;
    for (Vec3d& y : straight) y[2] -= 0.2 * y[0] * y[0];
    EXPECT_LT(norm(embedded_position(point, straight) - at), 1e-14);
  }
  const EmbeddedPoint outside = embedding.locate({{-0.1, 0.2, 0.2}});
  EXPECT_FALSE(outside.inside);
  EXPECT_NEAR(outside.distance, 0.1, 1e-12);
  EXPECT_LT(norm(embedded_position(outside, mesh.nodes) - Vec3d{{-0.1, 0.2, 0.2}}), 1e-14);
}

TEST_P(SecondOrder, FilesHoldIt) {
  const TemporaryFolder folder;
  Mesh mesh = bent(GetParam());
  const std::vector<int> side = nodes_of_group(mesh, "x-");
  EXPECT_EQ(side.size(), GetParam() ? 21u : 25u);  // 9 corners, 12 edges, 4 diagonals that are edges of elements
  for (const std::string name : {"body.msh", "body.vtu"}) {
    const std::string file = folder.file(name);
    if (name.ends_with("msh"))
      write_msh(file, mesh);
    else
      write_vtu(file, mesh.nodes, mesh);
    Mesh read = read_mesh(file);
    EXPECT_EQ(check_mesh(read).order, 2) << name;
    ASSERT_EQ(read.element_count(), mesh.element_count()) << name;
    for (int e = 0; e < mesh.element_count(); ++e) {
      std::array<int, max_element_nodes> is{}, was{};
      ASSERT_EQ(element_nodes(read, e, is), element_nodes(mesh, e, was));
      EXPECT_EQ(is, was) << name << ", element " << e;
    }
    if (name.ends_with("msh")) {
      EXPECT_EQ(nodes_of_group(read, "x-"), side);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SecondOrder, testing::Bool(),
                         [](const auto& info) { return info.param ? "Hexahedra" : "Tetrahedra"; });

// As gmsh writes it: the last two nodes are those of the edges 23 and 13, in VTK's order 13 and 23.
const std::string gmsh_tetrahedron =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 0 0\n6 .5 .5 0\n"
    "7 0 .5 0\n8 0 0 .5\n9 0 .5 .5\n10 .5 0 .5\n$EndNodes\n$Elements\n1\n1 11 2 0 1 1 2 3 4 5 6 7 8 9 10\n"
    "$EndElements\n";

void expect_middles(Mesh mesh, std::size_t edges) {
  EXPECT_EQ(check_mesh(mesh).order, 2);
  ASSERT_EQ(mesh.edge_nodes.size(), edges);
  for (const EdgeNode& edge : mesh.edge_nodes) {
    const Vec3d middle =
        0.5 * (mesh.nodes[static_cast<std::size_t>(edge.a)] + mesh.nodes[static_cast<std::size_t>(edge.b)]);
    EXPECT_EQ(mesh.nodes[static_cast<std::size_t>(edge.node)], middle);
  }
}

// Corners of a unit element, then the middles of its edges in the order of a format's manual.
struct Written {
  std::vector<Vec3d> corners;
  std::vector<std::array<std::size_t, 2>> edges;
  std::vector<Vec3d> nodes() const {
    std::vector<Vec3d> all = corners;
    for (const auto& [a, b] : edges) all.push_back(0.5 * (corners[a] + corners[b]));
    return all;
  }
};
const std::vector<Vec3d> unit_tetrahedron = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
const std::vector<Vec3d> unit_cube = {{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}},
                                      {{0, 0, 1}}, {{1, 0, 1}}, {{1, 1, 1}}, {{0, 1, 1}}};

// Gmsh's reference manual, "Node ordering": Hexahedron20.
TEST(SecondOrderFiles, NodesOfEdgesAreInTheOrderOfGmsh) {
  expect_middles(parse_mesh(gmsh_tetrahedron, "one.msh"), 6);
  const Written cube{unit_cube,
                     {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}}};
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n20\n", element = "1 17 2 0 1";
  int number = 0;
  for (const Vec3d& x : cube.nodes()) {
    text += fmt::format("{} {} {} {}\n", ++number, x[0], x[1], x[2]);
    element += fmt::format(" {}", number);
  }
  expect_middles(parse_mesh(text + "$EndNodes\n$Elements\n1\n" + element + "\n$EndElements\n", "one.msh"), 12);
}

// VTK's vtkQuadraticTetra and vtkQuadraticHexahedron.
TEST(SecondOrderFiles, NodesOfEdgesAreInTheOrderOfVtk) {
  const Written tetrahedron{unit_tetrahedron, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
  const Written cube{unit_cube,
                     {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
  for (const auto& [written, type] : {std::pair(tetrahedron, 24), std::pair(cube, 25)}) {
    const std::vector<Vec3d> nodes = written.nodes();
    std::string text = fmt::format(
        "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n", nodes.size());
    std::string cell = fmt::format("{}", nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      text += fmt::format("{} {} {}\n", nodes[i][0], nodes[i][1], nodes[i][2]);
      cell += fmt::format(" {}", i);
    }
    text += fmt::format("CELLS 1 {}\n{}\nCELL_TYPES 1\n{}\n", nodes.size() + 1, cell, type);
    expect_middles(parse_mesh(text, "one.vtk"), written.edges.size());
  }
}

TEST(SecondOrderFiles, WrongOnesAreRefused) {
  // The node of an edge beyond its end: folded.
  Mesh folded = parse_mesh(replaced(gmsh_tetrahedron, "5 .5 0 0", "5 1.5 0 0"), "folded.msh");
  expect_input_error([&] { (void)check_mesh(folded); }, 0, "folded");
  // A linear element beside one of second order.
  Mesh mixed = parse_mesh(replaced(replaced(gmsh_tetrahedron, "$Elements\n1\n", "$Elements\n2\n"), "$EndElements",
                                   "2 4 2 0 1 2 3 4 11\n$EndElements")
                              .replace(gmsh_tetrahedron.find("10\n1 0 0 0"), 2, "11")
                              .replace(gmsh_tetrahedron.find("$EndNodes"), 0, "11 1 1 1\n"),
                          "mixed.msh");
  expect_input_error([&] { (void)check_mesh(mixed); }, 0, "first order");
}

}  // namespace
}  // namespace supple

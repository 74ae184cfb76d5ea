#include "engine/mesh/check.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/mesh/generate.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/select.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

Mesh two_tetrahedra() {
  Mesh mesh;
  mesh.nodes = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{1, 1, 1}}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  return mesh;
}

void refuse(Mesh mesh, const std::string& part) {
  expect_input_error([&] { check_mesh(mesh); }, 0, part);
}

TEST(CheckMesh, ReportsABox) {
  for (const bool hexahedra : {false, true}) {
    const Vec3d lower{{0, 0, 0}}, upper{{2, 1, 1}};
    Mesh mesh = hexahedra ? box_hexahedra(lower, upper, 4, 2, 2) : box_tetrahedra(lower, upper, 4, 2, 2);
    const MeshReport report = check_mesh(mesh);
    EXPECT_NEAR(report.volume, 2, 1e-13);
    EXPECT_EQ(report.nodes, 45);
    EXPECT_EQ(report.tetrahedra + report.hexahedra, hexahedra ? 16 : 96);
    EXPECT_EQ(report.boundary_faces, hexahedra ? 40 : 80);
    EXPECT_EQ(report.components, 1);
    EXPECT_EQ(report.flipped + report.unused_nodes + report.duplicate_nodes + report.slivers, 0);
    EXPECT_EQ(report.upper, upper);
    EXPECT_TRUE(report.notes.empty());
    EXPECT_TRUE(!hexahedra || report.min_quality > 1 - 1e-12);
  }
}

TEST(CheckMesh, FlipsNegativeElements) {
  Mesh mesh = two_tetrahedra();
  std::swap(mesh.tetrahedra[0][0], mesh.tetrahedra[0][1]);
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.flipped, 1);
  EXPECT_NEAR(report.volume, 1.0 / 6 + 1.0 / 3, 1e-15);
  EXPECT_GT(tetrahedron_volume(mesh, 0), 0);
  Mesh box = box_hexahedra({{0, 0, 0}}, {{1, 1, 1}}, 1, 1, 1);
  for (std::size_t k = 0; k < 4; ++k) std::swap(box.hexahedra[0][k], box.hexahedra[0][k + 4]);
  EXPECT_EQ(check_mesh(box).flipped, 1);
  EXPECT_NEAR(hexahedron_volume(box, 0), 1, 1e-15);
}

TEST(CheckMesh, DropsUnusedNodesAndKeepsGroups) {
  Mesh mesh = two_tetrahedra();
  mesh.nodes.insert(mesh.nodes.begin(), Vec3d{{9, 9, 9}});
  for (auto& t : mesh.tetrahedra)
    for (int& node : t) ++node;
  mesh.triangles = {{0, 1, 2}, {1, 3, 2}};
  mesh.groups = {{"wall", CellType::triangle, {0, 1}}, {"body", CellType::tetrahedron, {1}}};
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.unused_nodes, 1);
  EXPECT_EQ(report.dropped_triangles, 1);
  EXPECT_EQ(report.node_of_original, (std::vector<int>{-1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(mesh.groups[0].cells, std::vector<int>{0});
  EXPECT_EQ(mesh.triangles[0], (std::array<int, 3>{0, 2, 1}));
  EXPECT_EQ(nodes_of_group(mesh, "body"), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(report.notes.size(), 2u);
}

TEST(CheckMesh, CountsPartsCopiesAndSlivers) {
  Mesh mesh = two_tetrahedra();
  mesh.nodes.insert(mesh.nodes.end(), {{{0, 0, 0}}, {{-1, 0, 0}}, {{0, -1, 0}}, {{-1, -1, 1e-3}}});
  mesh.tetrahedra.push_back({5, 6, 7, 8});
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.components, 2);
  EXPECT_EQ(report.duplicate_nodes, 1);
  EXPECT_EQ(report.slivers, 1);
  EXPECT_EQ(report.worst_element, 2);
}

TEST(CheckMesh, QualityOfTheRegularTetrahedronIsOne) {
  Mesh mesh;
  mesh.nodes = {{{1, 1, 1}}, {{1, -1, -1}}, {{-1, 1, -1}}, {{-1, -1, 1}}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  EXPECT_NEAR(check_mesh(mesh).min_quality, 1, 1e-14);
}

TEST(CheckMesh, RefusesWhatCannotBeMended) {
  Mesh mesh = two_tetrahedra();
  mesh.tetrahedra[1][3] = 5;
  refuse(mesh, "does not exist");
  mesh.tetrahedra[1][3] = 2;
  refuse(mesh, "uses a node twice");
  mesh = two_tetrahedra();
  mesh.nodes[3] = {{0.3, 0.3, 1e-14}};
  refuse(mesh, "has no volume");
  mesh = two_tetrahedra();
  mesh.tetrahedra.push_back({3, 2, 1, 0});
  refuse(mesh, "have the same nodes");
  mesh = two_tetrahedra();
  mesh.nodes.push_back({{2, 2, 2}});
  mesh.tetrahedra.push_back({1, 2, 3, 5});
  refuse(mesh, "3 elements share one face");
  mesh = two_tetrahedra();
  mesh.nodes[0][1] = std::numeric_limits<double>::quiet_NaN();
  refuse(mesh, "not a usable number");
  mesh = two_tetrahedra();
  mesh.groups = {{"body", CellType::tetrahedron, {2}}};
  refuse(mesh, "group \"body\"");
  mesh.tetrahedra.clear();
  refuse(mesh, "empty");
  Mesh box = box_hexahedra({{0, 0, 0}}, {{1, 1, 1}}, 1, 1, 1);
  std::swap(box.hexahedra[0][0], box.hexahedra[0][1]);
  refuse(box, "folded");
}

TEST(Transform, RotatesAboutXThenYThenZ) {
  const double right = std::numbers::pi / 2;
  const Vec3d x = apply({{{right, 0, right}}, {{1, 2, 3}}, 2}, {{0, 1, 0}});  // y -> z by x, z stays
  EXPECT_NEAR(norm(x - Vec3d{{1, 2, 5}}), 0, 1e-15);
  const Vec3d y = apply({{{right, right, 0}}, {{0, 0, 0}}, 1}, {{0, 1, 0}});  // y -> z, z -> x
  EXPECT_NEAR(norm(y - Vec3d{{1, 0, 0}}), 0, 1e-15);
  Mesh mesh = two_tetrahedra();
  transform_mesh(mesh, 1e-3, {{{0, 0, 0}}, {{0, 0, 1}}, 1});
  EXPECT_NEAR(norm(mesh.nodes[4] - Vec3d{{1e-3, 1e-3, 1.001}}), 0, 1e-15);
  expect_input_error([&] { transform_mesh(mesh, 0, {}); }, 0, "unit");
  expect_input_error([&] { transform_mesh(mesh, 1, {{{0, 0, 0}}, {{0, 0, 0}}, -1}); }, 0, "scale");
}

TEST(Select, BoxesSpheresAndGroups) {
  const Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 2, 2, 2);
  EXPECT_EQ(nodes_in_box(mesh, {{0, 0, 0}}, {{0, 1, 1}}).size(), 9u);
  EXPECT_EQ(nodes_in_box(mesh, {{-1, -1, 1e-12}}, {{2, 2, 0.2}}).size(), 9u);  // within rounding of the plane z = 0
  EXPECT_EQ(nodes_in_sphere(mesh, {{0, 0, 0}}, 0.5).size(), 4u);
  EXPECT_EQ(elements_in_box(mesh, {{0, 0, 0}}, {{0.5, 1, 1}}).size(), 24u);
  EXPECT_EQ(nodes_of_group(mesh, "x-"), nodes_in_box(mesh, {{0, 0, 0}}, {{0, 1, 1}}));
  EXPECT_EQ(elements_of_group(mesh, "body").size(), 48u);
  expect_input_error([&] { elements_of_group(mesh, "x-"); }, 0, "only triangles");
  EXPECT_EQ(triangles_of_group(mesh, "x-").size(), 8u);
  expect_input_error([&] { triangles_of_group(mesh, "body"); }, 0, "holds no triangle");
  expect_input_error([&] { nodes_of_group(mesh, "bodi"); }, 0, "\"body\"");
  try {
    nodes_of_group(mesh, "bodi");
  } catch (const InputError& error) {
    EXPECT_EQ(error.suggestion(), "did you mean \"body\"?");
  }
}

TEST(Generate, RefusesImpossibleBoxes) {
  expect_input_error([] { box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 0, 1, 1); }, 0, "at least one cell");
  expect_input_error([] { box_hexahedra({{0, 0, 0}}, {{1, 0, 1}}, 1, 1, 1); }, 0, "lower < upper");
  expect_input_error([] { box_hexahedra({{0, 0, 0}}, {{1, 1, 1}}, 100000, 100000, 100000); }, 0, "too many");
}

}  // namespace
}  // namespace supple::test

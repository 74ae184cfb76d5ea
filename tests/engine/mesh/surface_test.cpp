#include <cmath>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/write.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

const std::string stl_text =
    "solid two\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\n"
    "facet normal nan nan nan\n outer loop\n  vertex 1 0 0\n  vertex 1 1 -0\n  vertex 0 1 0\n "
    "endloop\nendfacet\nendsolid two\n";

void refuse(const std::string& text, const std::string& name, int line, const std::string& part) {
  expect_input_error([&] { parse_surface(text, name); }, line, part);
}

TEST(Stl, TextMergesEqualCorners) {
  const Surface surface = parse_surface(stl_text, "a.stl");
  EXPECT_EQ(surface.nodes.size(), 4u);
  ASSERT_EQ(surface.triangles.size(), 2u);
  EXPECT_EQ(surface.triangles[1], (std::array<int, 3>{1, 3, 2}));
}

TEST(Stl, BinaryRoundTripsAndMayStartWithSolid) {
  const TemporaryFolder folder;
  const Surface box = boundary_surface(box_hexahedra({{0, 0, 0}}, {{1, 2, 4}}, 2, 2, 2)).surface;
  write_stl(folder.file("a.stl"), box);
  const Surface read = read_surface(folder.file("a.stl"));
  EXPECT_EQ(read.nodes.size(), box.nodes.size());
  EXPECT_EQ(read.triangles.size(), box.triangles.size());
  std::string bytes(80, ' ');
  bytes.replace(0, 5, "solid");
  put(bytes, std::uint32_t{1});
  for (const float x : {0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f}) put(bytes, x);
  put(bytes, std::uint16_t{0});
  EXPECT_EQ(parse_surface(bytes, "b.stl").triangles.size(), 1u);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(parse_surface(bytes.substr(0, length), "cut.stl"), InputError);
}

TEST(Stl, RefusesBadFilesWithTheLine) {
  refuse(replaced(stl_text, "vertex 1 0 0", "vertex 1 0 a"), "a.stl", 5, "not a number");
  refuse(replaced(stl_text, "endloop", "vertex"), "a.stl", 7, "expected endloop");
  refuse("solid\nendsolid\n", "a.stl", 0, "no triangles");
  refuse("", "a.stl", 0, "empty");
  refuse("what", "a.xyz", 0, "format is not known");
}

TEST(Obj, ReadsFacesOfEveryForm) {
  const Surface surface = parse_surface(
      "# box\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nf 1 2 3 4\nf 1/1 2/1 3/1\nf 1//1 "
      "2//1 3//1\n"
      "f -4/1/1 -3/1/1 -2/1/1 # comment\nf 1 1 2\n",
      "a.obj");
  EXPECT_EQ(surface.nodes.size(), 4u);
  ASSERT_EQ(surface.triangles.size(), 5u);
  EXPECT_EQ(surface.triangles[1], (std::array<int, 3>{0, 2, 3}));
  for (std::size_t t = 2; t < 5; ++t) EXPECT_EQ(surface.triangles[t], (std::array<int, 3>{0, 1, 2}));
  ASSERT_EQ(surface.notes.size(), 1u);
}

TEST(Obj, RefusesBadFilesWithTheLine) {
  refuse("v 0 0 0\nv 1 0 0\nf 1 2 3\n", "a.obj", 3, "uses vertex 3");
  refuse("v 0 0 0\nv 1 0 0\nf 1 2 0\n", "a.obj", 3, "uses vertex 0");
  refuse("v 0 0 0\nv 1 0 0\nf 1 2\n", "a.obj", 3, "fewer than three");
  refuse("v 0 0\nf 1 1 1\n", "a.obj", 1, "found nothing more");
  refuse("v 0 0 0\nf a b c\n", "a.obj", 2, "not a whole number");
}

TEST(Boundary, IsClosedAndOutward) {
  for (const bool hexahedra : {false, true}) {
    const Vec3d lower{{0, 0, 0}}, upper{{1, 2, 3}};
    const Mesh mesh = hexahedra ? box_hexahedra(lower, upper, 2, 3, 2) : box_tetrahedra(lower, upper, 2, 3, 2);
    const BoundarySurface boundary = boundary_surface(mesh);
    EXPECT_EQ(boundary.surface.triangles.size(), mesh.triangles.size());
    EXPECT_EQ(boundary.element.size(), boundary.surface.triangles.size());
    double volume = 0;  // divergence theorem: sum a . (b x c) / 6
    for (const auto& t : boundary.surface.triangles) {
      const auto at = [&](std::size_t k) { return boundary.surface.nodes[static_cast<std::size_t>(t[k])]; };
      volume += dot(at(0), cross(at(1), at(2))) / 6;
    }
    EXPECT_NEAR(volume, 6, 1e-12);
    ASSERT_EQ(boundary.mesh_node.size(), boundary.surface.nodes.size());
    for (std::size_t i = 0; i < boundary.mesh_node.size(); ++i)
      EXPECT_EQ(mesh.nodes[static_cast<std::size_t>(boundary.mesh_node[i])], boundary.surface.nodes[i]);
  }
}

}  // namespace
}  // namespace supple::test

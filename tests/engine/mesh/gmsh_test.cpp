#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

void expect_groups(const Mesh& mesh) {
  ASSERT_EQ(mesh.groups.size(), 2u);
  EXPECT_EQ(mesh.groups[0].name, "wall");
  EXPECT_EQ(mesh.groups[0].type, CellType::triangle);
  EXPECT_EQ(mesh.groups[0].cells, std::vector<int>{0});
  EXPECT_EQ(mesh.groups[1].name, "soft body");
  EXPECT_EQ(mesh.groups[1].type, CellType::tetrahedron);
  EXPECT_EQ(mesh.groups[1].cells, (std::vector<int>{0, 1}));
}

void refuse(const std::string& text, int line, const std::string& part) {
  expect_input_error([&] { parse_mesh(text, "bad.msh"); }, line, part);
}

TEST(Gmsh, ReadsVersion2) {
  const Mesh mesh = parse_mesh(msh_2, "a.msh");
  expect_example(mesh);
  expect_groups(mesh);
  ASSERT_EQ(mesh.notes.size(), 2u);  // a line and a vertex left out
  EXPECT_NE(mesh.notes[0].find("1 cell of the kind line"), std::string::npos);
}

TEST(Gmsh, ReadsVersion4) {
  const Mesh mesh = parse_mesh(msh_4, "a.msh");
  expect_example(mesh);
  expect_groups(mesh);
}

TEST(Gmsh, ReadsWindowsLineEnds) {
  std::string text;
  for (const char c : msh_4) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_groups(parse_mesh(text, "a.msh"));
}

TEST(Gmsh, ReadsVersion2BinaryOfBothByteOrders) {
  for (const bool big : {false, true}) {
    std::string b = "$MeshFormat\n2.2 1 8\n";
    const auto number = [&](int value) { put(b, value, big); };
    number(1);
    b += "\n$EndMeshFormat\n$Nodes\n4\n";
    for (int i = 0; i < 4; ++i) {
      number(10 * i + 1);
      for (int k = 1; k <= 3; ++k) put(b, i == k ? 1.0 : 0.0, big);
    }
    b += "\n$EndNodes\n$Elements\n1\n";
    for (const int value : {4, 1, 2, 99, 5, 5, 1, 11, 21, 31}) number(value);
    b += "\n$EndElements\n";
    const Mesh mesh = parse_mesh(b, "b.msh");
    ASSERT_EQ(mesh.tetrahedra.size(), 1u);
    EXPECT_EQ(mesh.tetrahedra[0], (std::array<int, 4>{0, 1, 2, 3}));
    ASSERT_EQ(mesh.groups.size(), 1u);
    EXPECT_EQ(mesh.groups[0].name, "5");
    for (std::size_t length = 0; length < b.find("$EndElements"); ++length)
      EXPECT_THROW(parse_mesh(b.substr(0, length), "b.msh"), InputError) << length;
  }
}

TEST(Gmsh, ReadsVersion4Binary) {
  std::string b = "$MeshFormat\n4.1 1 8\n";
  const auto size = [&](std::uint64_t value) { put(b, value); };
  put(b, 1);
  b += "\n$EndMeshFormat\n$Entities\n";
  size(0), size(0), size(0), size(1);
  put(b, 3);
  for (int k = 0; k < 6; ++k) put(b, 0.0);
  size(2), put(b, 8), put(b, 9), size(0);
  b += "\n$EndEntities\n$Nodes\n";
  size(1), size(8), size(1), size(8), put(b, 3), put(b, 3), put(b, 0), size(8);
  for (std::uint64_t i = 1; i <= 8; ++i) size(i);
  for (const double z : {0.0, 1.0})
    for (const auto& [x, y] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}})
      put(b, x), put(b, y), put(b, z);
  b += "\n$EndNodes\n$Elements\n";
  size(1), size(1), size(1), size(1), put(b, 3), put(b, 3), put(b, 5), size(1), size(77);
  for (std::uint64_t i = 1; i <= 8; ++i) size(i);
  b += "\n$EndElements\n";
  const Mesh mesh = parse_mesh(b, "b.msh");
  ASSERT_EQ(mesh.hexahedra.size(), 1u);
  EXPECT_EQ(mesh.hexahedra[0], (std::array<int, 8>{0, 1, 2, 3, 4, 5, 6, 7}));
  ASSERT_EQ(mesh.groups.size(), 2u);  // one volume in two groups
  EXPECT_EQ(mesh.groups[1].type, CellType::hexahedron);
}

TEST(Gmsh, MergesTheCopiesVersion2WritesForSeveralGroups) {
  const Mesh mesh = parse_mesh(replaced(msh_2, "5 4 2 1 1 20 3000 40 50", "5 4 2 2 1 10 20 3000 40"), "a.msh");
  EXPECT_EQ(mesh.tetrahedra.size(), 1u);
  EXPECT_EQ(mesh.groups.size(), 3u);
}

TEST(Gmsh, RefusesBadFilesWithTheLine) {
  refuse(replaced(msh_2, "2.2 0 8", "3.7 0 8"), 2, "MSH version \"3.7\"");
  refuse(replaced(msh_2, "0 0 1\n", "0 0 one\n"), 14, "not a number");
  refuse(replaced(msh_2, "0 0 1\n", "0 0 inf\n"), 14, "not a finite number");
  refuse(replaced(msh_2, "$Nodes\n5", "$Nodes\n500000000"), 10, "the rest of the file has only");
  refuse(replaced(msh_2, "$Nodes\n5", "$Nodes\n-5"), 10, "negative");
  refuse(replaced(msh_2, "$Nodes\n5", "$Nodes\n4"), 15, "expected $EndNodes");
  refuse(replaced(msh_2, "20 1 0 0\n", "10 1 0 0\n"), 12, "defined twice");
  refuse(replaced(msh_2, "40 50\n$End", "40 51\n$End"), 23, "there is no such node");
  refuse(replaced(msh_2, "5 4 2 1 1 20 3000 40 50", "5 29 2 1 1 20 3000 40 50"), 23, "not supported");
  refuse(replaced(msh_2, "\"wall\"", "wall"), 6, "name in quotes");
  refuse(replaced(msh_4, "2 1 1 3\n10", "2 1 1 300000\n10"), 17, "the rest of the file has only");
  refuse(msh_2.substr(0, msh_2.find("$Elements")), 16, "no section $Elements");
  refuse(msh_2.substr(0, msh_2.size() - 40), 22, "expected");
}

TEST(Gmsh, EveryCutFileIsAnInputError) {
  for (const std::string& text : {msh_2, msh_4})
    for (std::size_t length = 0; length < text.find("$EndElements") + 11; ++length)
      EXPECT_THROW(parse_mesh(std::string_view(text).substr(0, length), "cut.msh"), InputError) << length;
}

}  // namespace
}  // namespace supple::test

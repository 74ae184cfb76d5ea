#include "engine/mesh/write.hpp"

#include <gtest/gtest.h>

#include <pugixml.hpp>

#include "engine/mesh/check.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/scanner.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

TEST(WriteMsh, RoundTripsNodesCellsAndGroups) {
  const TemporaryFolder folder;
  for (const bool hexahedra : {false, true}) {
    const Vec3d lower{{0, 0.1, 0}}, upper{{1.0 / 3, 1, 1}};
    Mesh mesh = hexahedra ? box_hexahedra(lower, upper, 3, 2, 2) : box_tetrahedra(lower, upper, 3, 2, 2);
    mesh.groups.push_back({"tip", mesh.groups[0].type, {1, 3}});  // cells in two groups
    write_msh(folder.file("a.msh"), mesh);
    const Mesh read = read_mesh(folder.file("a.msh"));
    EXPECT_EQ(read.nodes, mesh.nodes);
    EXPECT_EQ(read.tetrahedra, mesh.tetrahedra);
    EXPECT_EQ(read.hexahedra, mesh.hexahedra);
    EXPECT_EQ(read.triangles, mesh.triangles);
    ASSERT_EQ(read.groups.size(), mesh.groups.size());
    for (const CellGroup& group : mesh.groups) {
      const auto same = [&](const CellGroup& g) {
        return g.name == group.name && g.type == group.type && g.cells == group.cells;
      };
      EXPECT_EQ(std::count_if(read.groups.begin(), read.groups.end(), same), 1) << group.name;
    }
  }
}

TEST(WriteVtu, RoundTripsBothEncodings) {
  const TemporaryFolder folder;
  for (const bool compress : {false, true})
    for (const bool hexahedra : {false, true}) {
      const Vec3d lower{{0, 0, 0}}, upper{{1, 1, 1.0 / 7}};
      const Mesh mesh = hexahedra ? box_hexahedra(lower, upper, 12, 11, 9) : box_tetrahedra(lower, upper, 12, 11, 9);
      std::vector<VtuField> fields{{"u", VtuField::On::nodes, 3, std::vector<double>(3 * mesh.nodes.size(), 0.5)},
                                   {"stress & strain", VtuField::On::cells, 1,
                                    std::vector<double>(static_cast<std::size_t>(mesh.element_count()), 2)}};
      write_vtu(folder.file("a.vtu"), mesh.nodes, mesh, fields, {compress});
      const Mesh read = read_mesh(folder.file("a.vtu"));
      EXPECT_EQ(read.nodes, mesh.nodes);
      EXPECT_EQ(read.tetrahedra, mesh.tetrahedra);
      EXPECT_EQ(read.hexahedra, mesh.hexahedra);
      pugi::xml_document document;
      ASSERT_TRUE(document.load_file(folder.file("a.vtu").c_str()));
      const auto piece = document.child("VTKFile").child("UnstructuredGrid").child("Piece");
      EXPECT_STREQ(piece.child("CellData").child("DataArray").attribute("Name").value(), "stress & strain");
    }
}

TEST(WriteVtu, WritesSurfacesAndRefusesWrongLengths) {
  const TemporaryFolder folder;
  Surface surface;
  surface.nodes = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}};
  surface.triangles = {{0, 1, 2}};
  write_vtu(folder.file("s.vtu"), surface);
  EXPECT_EQ(read_mesh(folder.file("s.vtu")).triangles, surface.triangles);
  expect_input_error(
      [&] {
        write_vtu(folder.file("s.vtu"), surface, {{"x", VtuField::On::nodes, 3, {1, 2}}});
      },
      0, "9 wanted");
  expect_input_error([&] { write_vtu("/nowhere/s.vtu", surface); }, 0, "cannot write");
}

TEST(PvdWriter, FileIsCompleteAfterEveryStep) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("frames"));
  PvdWriter writer(folder.file("run.pvd"));
  for (int step = 0; step <= 3; ++step) {
    pugi::xml_document document;
    ASSERT_TRUE(document.load_file(folder.file("run.pvd").c_str()));
    const auto sets = document.child("VTKFile").child("Collection").children("DataSet");
    EXPECT_EQ(std::distance(sets.begin(), sets.end()), step);
    for (const auto& set : sets) EXPECT_EQ(std::string(set.attribute("file").value()).rfind("frames/", 0), 0u);
    writer.add(0.01 * step, folder.file("frames/" + std::to_string(step) + ".vtu"));
  }
}

}  // namespace
}  // namespace supple::test

#pragma once
// Small files of each format and what the tests of readers share.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/mesh/read.hpp"
#include "kernels/base/error.hpp"

namespace supple::test {

// Expects an InputError at `line` (0 = none) whose message contains `part` and which says what to try.
template <class Function>
void expect_input_error(Function function, int line, const std::string& part) {
  try {
    function();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "message: " << error.what();
    EXPECT_EQ(error.place().line, line) << error.report();
    EXPECT_FALSE(error.suggestion().empty());
    return;
  }
  ADD_FAILURE() << "no InputError; expected: " << part;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// A folder of the test's own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "supple_mesh_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Appends numbers as raw bytes.
template <class T>
void put(std::string& bytes, T value, bool big_endian = false) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big))
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
  bytes.append(raw, sizeof(T));
}

// One tetrahedron of four with sparse tags, a skin triangle, a line and a point.
inline const std::string msh_2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n2\n2 7 \"wall\"\n3 1 \"soft body\"\n$EndPhysicalNames\n"
    "$Nodes\n5\n10 0 0 0\n20 1 0 0\n3000 0 1 0\n40 0 0 1\n50 1 1 1\n$EndNodes\n"
    "$Elements\n5\n1 15 2 0 1 10\n2 1 2 0 1 10 20\n3 2 2 7 1 10 3000 20\n4 4 2 1 1 10 20 3000 40\n5 4 2 1 1 20 3000 40 "
    "50\n$EndElements\n";

inline const std::string msh_4 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n2\n2 7 \"wall\"\n3 1 \"soft body\"\n$EndPhysicalNames\n"
    "$Entities\n1 0 1 1\n1 0 0 0 0\n1 0 0 0 1 1 0 1 7 0\n1 0 0 0 1 1 1 1 1 1 -1\n$EndEntities\n"
    "$Nodes\n2 5 10 3000\n2 1 1 3\n10\n20\n3000\n0 0 0 0.5 0.5\n1 0 0 0.5 0.5\n0 1 0 0.5 0.5\n3 1 0 2\n40\n50\n0 0 "
    "1\n1 1 1\n$EndNodes\n"
    "$Elements\n3 4 1 5\n0 1 15 1\n1 10\n2 1 2 1\n3 10 3000 20\n3 1 4 2\n4 10 20 3000 40\n5 20 3000 40 "
    "50\n$EndElements\n";

inline const std::string vtk_old =
    "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    "POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n"
    "CELLS 4 17\n2 0 1\n3 0 2 1\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 4\n3\n5\n10\n10\n";

inline const std::string vtk_new =
    "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    "POINTS 5 float\n0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1\nMETADATA\nINFORMATION 0\n\n"
    "CELLS 5 13\nOFFSETS vtktypeint64\n0 2 5 9 13\nCONNECTIVITY vtktypeint64\n0 1 0 2 1\n0 1 2 3\n1 2 3 4\n"
    "CELL_TYPES 4\n3\n5\n10\n10\nCELL_DATA 4\nFIELD FieldData 1\nx 1 4 int\n1 2 3 4\n";

inline const std::string vtu_text =
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" "
    "byte_order=\"BigEndian\">\n<UnstructuredGrid>\n"
    "<Piece NumberOfPoints=\"5\" NumberOfCells=\"4\">\n<Points>\n<DataArray type=\"Float32\" NumberOfComponents=\"3\" "
    "format=\"ascii\">\n"
    "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n</DataArray>\n</Points>\n<Cells>\n"
    "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">\n0 1\n0 2 1\n0 1 2 3\n1 2 3 4\n</DataArray>\n"
    "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">\n2 5 9 13\n</DataArray>\n"
    "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n3 5 10 "
    "10\n</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";

// The mesh all of the examples above hold.
inline void expect_example(const Mesh& mesh) {
  ASSERT_EQ(mesh.nodes.size(), 5u);
  EXPECT_EQ(mesh.nodes[2], (Vec3d{{0, 1, 0}}));
  EXPECT_EQ(mesh.nodes[4], (Vec3d{{1, 1, 1}}));
  ASSERT_EQ(mesh.tetrahedra.size(), 2u);
  EXPECT_EQ(mesh.tetrahedra[0], (std::array<int, 4>{0, 1, 2, 3}));
  EXPECT_EQ(mesh.tetrahedra[1], (std::array<int, 4>{1, 2, 3, 4}));
  ASSERT_EQ(mesh.triangles.size(), 1u);
  EXPECT_EQ(mesh.triangles[0], (std::array<int, 3>{0, 2, 1}));
  EXPECT_TRUE(mesh.hexahedra.empty());
  EXPECT_FALSE(mesh.notes.empty());
}

}  // namespace supple::test

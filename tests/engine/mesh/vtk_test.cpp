#include <zlib.h>

#include "engine/mesh/base64.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

void refuse(const std::string& text, int line, const std::string& part) {
  expect_input_error([&] { parse_mesh(text, "bad.vtk"); }, line, part);
}

TEST(LegacyVtk, ReadsBothLayoutsOfText) {
  expect_example(parse_mesh(vtk_old, "a.vtk"));
  expect_example(parse_mesh(vtk_new, "a.vtk"));
}

TEST(LegacyVtk, ReadsBothLayoutsOfBinary) {
  for (const bool old : {true, false}) {
    std::string b =
        "# vtk DataFile Version 4.2\ntitle\nBINARY\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n";
    put(b, 3.5, true);
    b += "\nPOINTS 5 double\n";
    for (const double x : {0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1.}) put(b, x, true);
    if (old) {
      b += "\nCELLS 4 17\n";
      for (const int i : {2, 0, 1, 3, 0, 2, 1, 4, 0, 1, 2, 3, 4, 1, 2, 3, 4}) put(b, i, true);
    } else {
      b += "\nCELLS 5 13\nOFFSETS vtktypeint64\n";
      for (const std::int64_t i : {0, 2, 5, 9, 13}) put(b, i, true);
      b += "\nCONNECTIVITY vtktypeint64\n";
      for (const std::int64_t i : {0, 1, 0, 2, 1, 0, 1, 2, 3, 1, 2, 3, 4}) put(b, i, true);
    }
    b += "\nCELL_TYPES 4\n";
    for (const int i : {3, 5, 10, 10}) put(b, i, true);
    expect_example(parse_mesh(b + "\nCELL_DATA 4\n", "a.vtk"));
    for (std::size_t length = 0; length < b.size(); ++length)
      EXPECT_THROW(parse_mesh(std::string_view(b).substr(0, length), "cut.vtk"), InputError) << length;
  }
}

TEST(LegacyVtk, ReadsHexahedraVoxelsAndQuadrilaterals) {
  const std::string text =
      "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n"
      "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1\nCELLS 3 23\n8 0 1 2 3 4 5 6 7\n8 0 1 3 2 4 5 7 6\n4 0 1 3 "
      "2\nCELL_TYPES 3\n11\n12\n9\n";
  const Mesh mesh = parse_mesh(text, "a.vtk");
  ASSERT_EQ(mesh.hexahedra.size(), 2u);
  EXPECT_EQ(mesh.hexahedra[0], mesh.hexahedra[1]);
  EXPECT_EQ(mesh.triangles.size(), 2u);
}

TEST(LegacyVtk, RefusesBadFilesWithTheLine) {
  refuse(replaced(vtk_old, "ASCII", "ASCIL"), 3, "expected ASCII or BINARY");
  refuse(replaced(vtk_old, "UNSTRUCTURED_GRID", "POLYDATA"), 4, "only UNSTRUCTURED_GRID");
  refuse(replaced(vtk_old, "POINTS 5", "POINTS 99999999"), 5, "the rest of the file has only");
  refuse(replaced(vtk_old, "0 0 1\n1 1 1", "0 0 x\n1 1 1"), 9, "not a number");
  refuse(replaced(vtk_old, "4 1 2 3 4\nC", "4 1 2 3 5\nC"), 15, "uses node 5");
  refuse(replaced(vtk_old, "4 1 2 3 4\nC", "9 1 2 3 4\nC"), 15, "more than the section holds");
  refuse(replaced(vtk_old, "10\n10\n", "10\n42\n"), 20, "not supported");
  refuse(replaced(vtk_old, "10\n10\n", "10\n12\n"), 20, "has 4 nodes");
  refuse(replaced(vtk_old, "CELL_TYPES 4", "CELL_TYPES 3"), 16, "3 cell types for 4 cells");
  refuse(replaced(vtk_new, "0 2 5 9 13", "0 2 5 4 13"), 13, "out of order");
  refuse(replaced(vtk_new, "1 2 3 4\nCELL", "1 2 3 8\nCELL"), 17, "uses node 8");
}

// The example with its arrays in binary; layout[0]: inline or appended, zlib or not, order of bytes, width of headers.
struct Layout {
  bool appended, raw, zlib, big, wide;
};

std::string header(const std::vector<std::uint64_t>& numbers, const Layout& layout) {
  std::string bytes;
  for (const auto n : numbers)
    layout.wide ? put(bytes, n, layout.big) : put(bytes, static_cast<std::uint32_t>(n), layout.big);
  return bytes;
}

std::string payload(const std::string& bytes, const Layout& layout) {
  const auto text = [&](const std::string& part) { return layout.raw ? part : encode_base64(part); };
  if (!layout.zlib) return text(header({bytes.size()}, layout) + bytes);
  const std::size_t half = bytes.size() / 2 + 1;
  std::vector<std::uint64_t> head{2, half, bytes.size() - half};
  std::string packed;
  for (const auto& part : {bytes.substr(0, half), bytes.substr(half)}) {
    std::string out(part.size() + 100, '\0');
    uLongf size = out.size();
    compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(part.data()), part.size());
    packed += out.substr(0, size);
    head.push_back(size);
  }
  return text(header(head, layout)) + text(packed);
}

std::string binary_vtu(const Layout& layout) {
  std::string points, connectivity, offsets, types, appended;
  for (const double x : {0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1.}) put(points, x, layout.big);
  for (const std::int64_t i : {0, 1, 0, 2, 1, 0, 1, 2, 3, 1, 2, 3, 4}) put(connectivity, i, layout.big);
  for (const int i : {2, 5, 9, 13}) put(offsets, i, layout.big);
  for (const std::uint8_t i : {3, 5, 10, 10}) put(types, i);
  const auto array = [&](const std::string& start, const std::string& bytes) {
    if (!layout.appended) return start + " format=\"binary\">\n  " + payload(bytes, layout) + "\n</DataArray>\n";
    const std::string element = start + " format=\"appended\" offset=\"" + std::to_string(appended.size()) + "\"/>\n";
    appended += payload(bytes, layout);
    return element;
  };
  std::string text = std::string("<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"") +
                     (layout.big ? "BigEndian" : "LittleEndian") + "\" header_type=\"" +
                     (layout.wide ? "UInt64" : "UInt32") + "\"" +
                     (layout.zlib ? " compressor=\"vtkZLibDataCompressor\"" : "") +
                     ">\n<UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"4\">\n<Points>";
  text += array("<DataArray type=\"Float64\" NumberOfComponents=\"3\"", points) + "</Points><Cells>";
  text += array("<DataArray type=\"Int64\" Name=\"connectivity\"", connectivity);
  text += array("<DataArray type=\"Int32\" Name=\"offsets\"", offsets);
  text += array("<DataArray type=\"UInt8\" Name=\"types\"", types) + "</Cells></Piece></UnstructuredGrid>\n";
  if (layout.appended)
    text += std::string("<AppendedData encoding=\"") + (layout.raw ? "raw" : "base64") + "\">\n _" + appended +
            "\n</AppendedData>\n";
  return text + "</VTKFile>\n";
}

TEST(Vtu, ReadsText) {
  expect_example(parse_mesh(vtu_text, "named.vtk"));
}

TEST(Vtu, ReadsEveryBinaryLayout) {
  for (int bits = 0; bits < 32; ++bits) {
    const Layout layout{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
    if (layout.raw && !layout.appended) continue;
    const std::string text = binary_vtu(layout);
    SCOPED_TRACE(bits);
    expect_example(parse_mesh(text, "a.vtu"));
    for (std::size_t length = 0; length + 12 < text.size(); length += 7) {
      try {
        parse_mesh(std::string_view(text).substr(0, length), "cut.vtu");
      } catch (const InputError&) {
        continue;
      }
      EXPECT_TRUE(layout.appended && length > text.find("<AppendedData")) << length;
    }
  }
}

TEST(Vtu, RefusesBadFilesWithTheLine) {
  refuse(replaced(vtu_text, "</Cells>", "</Cell>"), 27, "not well formed");
  refuse(replaced(vtu_text, "\"UnstructuredGrid\"", "\"PolyData\""), 2, "only UnstructuredGrid");
  refuse(replaced(vtu_text, "0 0 1\n1 1 1", "0 0 x\n1 1 1"), 10, "not a number");
  refuse(replaced(vtu_text, "1 2 3 4\n<", "1 2 3 9\n<"), 19, "uses node 9");
  refuse(replaced(vtu_text, "2 5 9 13", "2 5 4 13"), 22, "out of order");
  refuse(replaced(vtu_text, "3 5 10 10", "3 5 10 42"), 25, "not supported");
  refuse(replaced(vtu_text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"900000000000\""), 6, "announced");
  refuse(replaced(vtu_text, "\"UInt8\"", "\"Bits\""), 24, "not a number type");
  refuse(replaced(vtu_text, "byte_order", "compressor=\"vtkLZ4DataCompressor\" byte_order"), 2, "only zlib");
}

TEST(Base64, RoundTripsAndStopsAtTheLimit) {
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("ab"), std::string("abc"), std::string("\0\xff\x10z", 4)}) {
    EXPECT_EQ(decode_base64(encode_base64(bytes), 100), bytes);
    EXPECT_EQ(decode_base64(encode_base64(bytes) + encode_base64("next"), 100), bytes + "next");
    EXPECT_EQ(decode_base64(encode_base64(bytes), 1), bytes.substr(0, 1));
  }
}

TEST(Formats, UnknownAndMissingFilesSayWhatToDo) {
  expect_input_error([] { parse_mesh("", "a.msh"); }, 0, "empty");
  expect_input_error([] { parse_mesh("hello", "a.msh"); }, 0, "format is not known");
  expect_input_error([] { parse_mesh("solid x\nendsolid\n", "a.stl"); }, 0, "this is a surface");
  expect_input_error([] { read_mesh("/nowhere/a.msh"); }, 0, "no such file");
  expect_input_error([] { read_mesh("/tmp"); }, 0, "folder");
}

}  // namespace
}  // namespace supple::test

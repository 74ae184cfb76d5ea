// VTK XML unstructured grids. https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html
#include <algorithm>
#include <limits>

#include "engine/mesh/cells.hpp"
#include "engine/mesh/vtu_data.hpp"

namespace supple {
namespace {

// Cuts <AppendedData> off, whose raw bytes are not XML, and notes where its data begins. Returns the text that is XML.
std::string cut_appended(std::string_view bytes, VtuEncoding& encoding) {
  const std::size_t tag = bytes.find("<AppendedData");
  if (tag == std::string_view::npos) return std::string(bytes);
  const std::size_t close = bytes.find('>', tag);
  const std::size_t underscore = close == std::string_view::npos ? close : bytes.find('_', close);
  if (underscore == std::string_view::npos) {
    const Scanner at(bytes, encoding.file, tag);
    at.fail("AppendedData has no data (no underscore)", "export the mesh again");
  }
  encoding.appended_base64 = bytes.substr(tag, close - tag).find("base64") != std::string_view::npos;
  encoding.appended = bytes.substr(underscore + 1);
  return std::string(bytes.substr(0, tag)) + "</VTKFile>";
}

void read_encoding(const pugi::xml_node& file, VtuEncoding& encoding) {
  const Place place = place_of(file, encoding);
  const std::string order = file.attribute("byte_order").as_string("LittleEndian");
  const std::string header = file.attribute("header_type").as_string("UInt32");
  const std::string compressor = file.attribute("compressor").value();
  encoding.big_endian = order == "BigEndian";
  encoding.wide_header = header == "UInt64";
  encoding.compressed = !compressor.empty();
  if (order != "BigEndian" && order != "LittleEndian")
    throw InputError("byte_order is " + quoted(order) + " (neither LittleEndian nor BigEndian)",
                     "export the mesh again", place);
  if (header != "UInt32" && header != "UInt64")
    throw InputError("header_type is " + quoted(header) + " (neither UInt32 nor UInt64)", "export the mesh again",
                     place);
  if (encoding.compressed && compressor != "vtkZLibDataCompressor")
    throw InputError("compressor " + quoted(compressor) + " cannot be read (only zlib can)",
                     "export with compressor zlib or none; meshio convert in.vtu out.vtu does it", place);
}

class VtuReader {
 public:
  VtuReader(std::string_view bytes, const std::string& name) : builder_(name) {
    encoding_.bytes = bytes;
    encoding_.file = name;
  }
  Mesh read();

 private:
  void read_piece(const pugi::xml_node& piece);
  VtuArray array(const pugi::xml_node& parent, const char* name);
  std::int64_t declared(const pugi::xml_node& piece, const char* attribute);

  VtuEncoding encoding_;
  MeshBuilder builder_;
};

std::int64_t VtuReader::declared(const pugi::xml_node& piece, const char* attribute) {
  const std::int64_t value = piece.attribute(attribute).as_llong(-1);
  if (value < 0)
    throw InputError(std::string("a Piece has no valid ") + attribute, "export the mesh again",
                     place_of(piece, encoding_));
  return value;
}

VtuArray VtuReader::array(const pugi::xml_node& parent, const char* name) {
  for (const pugi::xml_node& child : parent.children("DataArray"))
    if (*name == '\0' || std::string_view(child.attribute("Name").value()) == name)
      return read_vtu_array(child, encoding_);
  throw InputError(std::string("there is no DataArray ") + (*name == '\0' ? "of points" : quoted(name)),
                   "export the mesh again", place_of(parent, encoding_));
}

void VtuReader::read_piece(const pugi::xml_node& piece) {
  const std::int64_t points = declared(piece, "NumberOfPoints"), cells = declared(piece, "NumberOfCells");
  if (points == 0 && cells == 0) return;
  const auto wrong_length = [&](const char* what, std::size_t found, std::int64_t wanted, const Place& place) {
    throw InputError(
        std::string(what) + ": " + std::to_string(found) + " numbers (" + std::to_string(wanted) + " announced)",
        "export the mesh again", place);
  };
  Mesh& mesh = builder_.mesh();
  const std::size_t first_node = mesh.nodes.size();

  const VtuArray coordinates = array(piece.child("Points"), "");
  if (coordinates.size() / 3 != static_cast<std::size_t>(points) || coordinates.size() % 3 != 0)
    wrong_length("points", coordinates.size(), points < (std::int64_t{1} << 60) ? 3 * points : points,
                 coordinates.element);
  if (first_node + static_cast<std::size_t>(points) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("the mesh has more points than an int can count", "use a coarser mesh", coordinates.element);
  for (std::size_t i = 0; i < coordinates.size(); i += 3) {
    const auto x = [&](std::size_t k) {
      return coordinates.is_real ? coordinates.reals[i + k] : static_cast<double>(coordinates.integers[i + k]);
    };
    mesh.nodes.push_back({{x(0), x(1), x(2)}});
  }

  const pugi::xml_node cell_node = piece.child("Cells");
  const VtuArray connectivity = array(cell_node, "connectivity");
  const VtuArray offsets = array(cell_node, "offsets");
  const VtuArray types = array(cell_node, "types");
  for (const VtuArray* integers : {&connectivity, &offsets, &types})
    if (integers->is_real)
      throw InputError("connectivity, offsets and types must be whole numbers", "export the mesh again",
                       integers->element);
  if (offsets.size() != static_cast<std::size_t>(cells))
    wrong_length("offsets", offsets.size(), cells, offsets.element);
  if (types.size() != static_cast<std::size_t>(cells)) wrong_length("types", types.size(), cells, types.element);

  std::vector<int> nodes;
  std::int64_t begin = 0;
  for (std::size_t c = 0; c < offsets.size(); ++c) {
    const std::int64_t end = offsets.integers[c];
    if (end < begin || static_cast<std::uint64_t>(end) > connectivity.size())
      throw InputError(
          "offset " + std::to_string(end) + " of cell " + std::to_string(c) + " is out of order or past the end",
          "export the mesh again", offsets.place(c));
    const std::int64_t type = types.integers[c];
    const CellKind kind = vtk_cell(type > 0 && type < 256 ? static_cast<int>(type) : 0);
    if (kind.use == CellUse::unsupported) refuse_cell(kind, static_cast<int>(type), types.place(c));
    if (kind.node_count != 0 && end - begin != kind.node_count)
      throw InputError("cell " + std::to_string(c) + " has " + std::to_string(end - begin) + " nodes (a " + kind.name +
                           " has " + std::to_string(kind.node_count) + ")",
                       "export the mesh again", offsets.place(c));
    nodes.clear();
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t node = connectivity.integers[static_cast<std::size_t>(k)];
      if (node < 0 || node >= points)
        throw InputError("cell " + std::to_string(c) + " uses node " + std::to_string(node) + " (nodes are 0 to " +
                             std::to_string(points - 1) + ")",
                         "export the mesh again", connectivity.place(static_cast<std::size_t>(k)));
      nodes.push_back(static_cast<int>(node) + static_cast<int>(first_node));
    }
    builder_.add(kind, nodes.data());
    begin = end;
  }
}

Mesh VtuReader::read() {
  const std::string text = cut_appended(encoding_.bytes, encoding_);
  pugi::xml_document document;
  // No conversion of line ends or escapes: offsets must stay those of the file.
  const auto result =
      document.load_buffer(text.data(), text.size(), pugi::parse_minimal | pugi::parse_cdata, pugi::encoding_utf8);
  if (!result) {
    const Scanner at(encoding_.bytes, encoding_.file,
                     static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)));
    at.fail(std::string("the XML is not well formed (") + result.description() + ")", "export the mesh again");
  }
  const pugi::xml_node file = document.child("VTKFile");
  const Scanner top(encoding_.bytes, encoding_.file);
  if (!file) top.fail("the XML has no element VTKFile", "use .vtu, legacy .vtk or gmsh .msh");
  const std::string type = file.attribute("type").value();
  if (type != "UnstructuredGrid" || !file.child("UnstructuredGrid"))
    throw InputError("the file holds " + quoted(type) + " (only UnstructuredGrid can be read)",
                     "in ParaView apply the filter Append Datasets, which makes an unstructured grid, and save as .vtu",
                     place_of(file, encoding_));
  read_encoding(file, encoding_);
  for (const pugi::xml_node& piece : file.child("UnstructuredGrid").children("Piece")) read_piece(piece);
  return builder_.finish();
}

}  // namespace

Mesh parse_vtu(std::string_view bytes, const std::string& name) {
  return VtuReader(bytes, name).read();
}

}  // namespace supple

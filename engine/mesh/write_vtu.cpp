#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "engine/mesh/base64.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/write.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string header_bytes(std::vector<std::uint64_t> numbers) {
  return bytes_of(numbers);
}

// See the reader for the layout. Blocks of 64 KiB, VTK's own choice being 32 KiB.
std::string encode_payload(const std::string& bytes, bool compress_blocks) {
  if (!compress_blocks) return encode_base64(header_bytes({bytes.size()}) + bytes);
  constexpr std::size_t block = 65536;
  const std::size_t blocks = (bytes.size() + block - 1) / block;
  std::vector<std::uint64_t> head{blocks, block, bytes.size() % block};
  std::string packed;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t size = std::min(block, bytes.size() - b * block);
    uLongf got = compressBound(static_cast<uLong>(size));
    const std::size_t old = packed.size();
    packed.resize(old + got);
    compress2(reinterpret_cast<Bytef*>(packed.data() + old), &got,
              reinterpret_cast<const Bytef*>(bytes.data() + b * block), static_cast<uLong>(size), Z_BEST_SPEED);
    packed.resize(old + got);
    head.push_back(got);
  }
  return encode_base64(header_bytes(head)) + encode_base64(packed);
}

struct VtuCells {
  std::vector<std::int64_t> connectivity, offsets;
  std::vector<std::uint8_t> types;
  template <class Cells>
  void add(const Cells& cells, std::uint8_t type) {
    for (const auto& cell : cells) {
      connectivity.insert(connectivity.end(), cell.begin(), cell.end());
      offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
      types.push_back(type);
    }
  }
};

std::string data_array(const char* type, const std::string& name, int components, const std::string& bytes,
                       bool compress_blocks) {
  return fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">{}</DataArray>\n",
                     type, escaped(name), components, encode_payload(bytes, compress_blocks));
}

void write_cells(const std::string& path, const std::vector<Vec3d>& nodes, const VtuCells& cells,
                 const std::vector<VtuField>& fields, bool pack) {
  for (const VtuField& field : fields) {
    const std::size_t items = field.on == VtuField::On::nodes ? nodes.size() : cells.types.size();
    if (field.components < 1 || field.values.size() != items * static_cast<std::size_t>(field.components))
      throw InputError(fmt::format("field \"{}\" has {} values ({} wanted: {} items of {} components)", field.name,
                                   field.values.size(), items * static_cast<std::size_t>(std::max(field.components, 0)),
                                   items, field.components),
                       "give every node or cell its values", {path, 0, 0, ""});
  }
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" "
      "header_type=\"UInt64\"{}>\n"
      "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
      std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian",
      pack ? " compressor=\"vtkZLibDataCompressor\"" : "", nodes.size(), cells.types.size());
  for (const auto& [on, section] :
       {std::pair{VtuField::On::nodes, "PointData"}, std::pair{VtuField::On::cells, "CellData"}}) {
    text += fmt::format("<{}>\n", section);
    for (const VtuField& field : fields)
      if (field.on == on) text += data_array("Float64", field.name, field.components, bytes_of(field.values), pack);
    text += fmt::format("</{}>\n", section);
  }
  static_assert(sizeof(Vec3d) == 3 * sizeof(double));
  text += "<Points>\n" + data_array("Float64", "Points", 3, bytes_of(nodes), pack) + "</Points>\n<Cells>\n";
  text += data_array("Int64", "connectivity", 1, bytes_of(cells.connectivity), pack);
  text += data_array("Int64", "offsets", 1, bytes_of(cells.offsets), pack);
  text += data_array("UInt8", "types", 1, bytes_of(cells.types), pack);
  text += "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  write_file(path, text);
}

constexpr const char* pvd_footer = "</Collection>\n</VTKFile>\n";

}  // namespace

void write_vtu(const std::string& path, const std::vector<Vec3d>& nodes, const Mesh& mesh,
               const std::vector<VtuField>& fields, const VtuSettings& settings) {
  if (nodes.size() != mesh.nodes.size())
    throw InputError(fmt::format("{} positions for a mesh of {} nodes", nodes.size(), mesh.nodes.size()),
                     "give every node a position", {path, 0, 0, ""});
  VtuCells cells;
  if (mesh.order() == 1) {
    cells.add(mesh.tetrahedra, 10);
    cells.add(mesh.hexahedra, 12);
  }
  for (int e = 0; e < mesh.element_count() && mesh.order() == 2; ++e) {
    std::array<int, max_element_nodes> cell;
    const int count = element_nodes(mesh, e, cell);
    cells.add(std::array{std::span(cell).first(static_cast<std::size_t>(count))}, count == 10 ? 24 : 25);
  }
  if (mesh.element_count() == 0) cells.add(mesh.triangles, 5);
  write_cells(path, nodes, cells, fields, settings.compress);
}

void write_vtu(const std::string& path, const Surface& surface, const std::vector<VtuField>& fields,
               const VtuSettings& settings) {
  VtuCells cells;
  cells.add(surface.triangles, 5);
  write_cells(path, surface.nodes, cells, fields, settings.compress);
}

PvdWriter::PvdWriter(const std::string& path) : path_(path) {
  write_file(path,
             std::string("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n") +
                 pvd_footer);
  file_.open(path, std::ios::in | std::ios::out | std::ios::binary | std::ios::ate);
  footer_ = file_.tellp() - static_cast<std::streamoff>(std::string(pvd_footer).size());
}

void PvdWriter::add(double time, const std::string& vtu_path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(path_, error).parent_path();
  std::filesystem::path name =
      std::filesystem::absolute(vtu_path, error).lexically_normal().lexically_relative(folder.lexically_normal());
  if (name.empty()) name = vtu_path;
  const std::string entry = fmt::format("<DataSet timestep=\"{}\" group=\"\" part=\"0\" file=\"{}\"/>\n", time,
                                        escaped(name.generic_string()));
  file_.seekp(footer_);
  file_ << entry + pvd_footer << std::flush;
  if (!file_)
    throw InputError("cannot write the file", "check that its folder exists and the disk is not full",
                     {path_, 0, 0, ""});
  footer_ += static_cast<std::streamoff>(entry.size());
}

}  // namespace supple

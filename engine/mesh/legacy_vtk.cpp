// Legacy VTK unstructured grids, text and binary (big endian).
// https://docs.vtk.org/en/latest/vtk_file_formats/vtk_legacy_file_format.html
#include <algorithm>
#include <cctype>
#include <cmath>

#include "engine/mesh/cells.hpp"

namespace supple {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::size_t size_of(const std::string& type) {
  if (type == "double" || type == "long" || type == "unsigned_long" || type == "vtktypeint64" ||
      type == "vtktypeuint64" || type == "vtkidtype")
    return 8;
  if (type == "float" || type == "int" || type == "unsigned_int" || type == "vtktypeint32") return 4;
  if (type == "short" || type == "unsigned_short") return 2;
  if (type == "char" || type == "unsigned_char") return 1;
  return 0;
}

class LegacyReader {
 public:
  LegacyReader(std::string_view bytes, const std::string& name) : in_(bytes, name), builder_(name) {}
  Mesh read();

 private:
  void read_points();
  void read_cells();
  void read_offsets_and_connectivity(int offsets, int entries);
  void read_types();
  void skip_field();
  void skip_metadata();
  void add_node_of_cell(std::int64_t node, std::size_t entry);
  void build();

  // Binary numbers start right after the end of the keyword's line.
  void enter_numbers() {
    if (!binary_) return;
    in_.line();
    in_.set_text(false);
  }
  std::string number_type() {
    const std::string type = lower(in_.word("a number type"));
    if (size_of(type) == 0) in_.fail("number type " + quoted(type) + " is not known", "save as text (ASCII)");
    return type;
  }
  double real(const std::string& type);
  std::int64_t integer(std::size_t size) {
    if (!binary_) return in_.integer("a whole number");
    return size == 8 ? in_.binary<std::int64_t>(swap_, "a number") : in_.binary<std::int32_t>(swap_, "a number");
  }

  Scanner in_;
  MeshBuilder builder_;
  bool binary_ = false;
  const bool swap_ = std::endian::native == std::endian::little;
  bool has_points_ = false, has_cells_ = false, has_types_ = false;
  std::vector<std::size_t> offsets_{0};
  std::vector<int> connectivity_;
  std::vector<int> types_;
};

double LegacyReader::real(const std::string& type) {
  double value = 0;
  if (!binary_)
    value = in_.real("a coordinate");
  else if (type == "double")
    value = in_.binary<double>(swap_, "a coordinate");
  else if (type == "float")
    value = in_.binary<float>(swap_, "a coordinate");
  else
    in_.fail("binary points of type " + quoted(type) + " cannot be read", "save the points as float or double");
  if (!std::isfinite(value)) in_.fail("a coordinate is not a finite number", "export the mesh again");
  return value;
}

void LegacyReader::read_points() {
  const std::int64_t announced = in_.integer("the number of points");
  const std::string type = number_type();
  enter_numbers();
  const int n = in_.checked_count(announced, "the number of points", binary_ ? 3 * size_of(type) : 6);
  builder_.mesh().nodes.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const Vec3d x{{real(type), real(type), real(type)}};
    builder_.mesh().nodes.push_back(x);
  }
  has_points_ = true;
}

// Since 5.1: CELLS (cells + 1) (entries), then OFFSETS type, CONNECTIVITY type.
void LegacyReader::read_offsets_and_connectivity(int offsets, int entries) {
  for (const bool first : {true, false}) {
    const char* keyword = first ? "offsets" : "connectivity";
    in_.set_text(true);
    if (lower(in_.word(keyword)) != keyword)
      in_.fail(std::string("expected ") + (first ? "OFFSETS" : "CONNECTIVITY"), "export the mesh again");
    const std::size_t size = size_of(number_type());
    if (binary_ && size < 4) in_.fail("whole numbers of this type cannot be read", "save as text (ASCII)");
    enter_numbers();
    const int n = in_.checked_count(first ? offsets : entries, "the number of entries", binary_ ? size : 2);
    for (int i = 0; i < n; ++i) {
      const std::int64_t value = integer(size);
      if (!first) add_node_of_cell(value, connectivity_.size());
      if (!first || i == 0) continue;
      if (value < 0 || value > entries || static_cast<std::size_t>(value) < offsets_.back())
        in_.fail("offset " + std::to_string(value) + " is out of order or past the end", "export the mesh again");
      offsets_.push_back(static_cast<std::size_t>(value));
    }
  }
}

void LegacyReader::add_node_of_cell(std::int64_t node, std::size_t entry) {
  const std::size_t nodes = builder_.mesh().nodes.size();
  if (node < 0 || static_cast<std::uint64_t>(node) >= nodes)
    in_.fail("entry " + std::to_string(entry) + " of the cells uses node " + std::to_string(node) + " (there are " +
                 std::to_string(nodes) + " nodes)",
             "export the mesh again");
  connectivity_.push_back(static_cast<int>(node));
}

void LegacyReader::read_cells() {
  if (has_cells_) in_.fail("a second section CELLS", "keep one mesh per file");
  has_cells_ = true;
  const int cells = in_.count("the number of cells", 1);
  const int entries = in_.count("the number of entries", 1);
  const std::size_t end_of_line = in_.position();
  if (lower(in_.peek()) == "offsets") return read_offsets_and_connectivity(cells, entries);
  // Before: each cell is its number of nodes, then the nodes.
  in_.seek(end_of_line);
  enter_numbers();
  in_.checked_count(entries, "the number of entries", binary_ ? 4 : 2);
  int used = 0;
  for (int c = 0; c < cells; ++c) {
    const std::int64_t n = integer(4);
    if (n < 0 || n >= entries - used)
      in_.fail("a cell has " + std::to_string(n) + " nodes (more than the section holds)", "export the mesh again");
    used += static_cast<int>(n) + 1;
    for (std::int64_t k = 0; k < n; ++k) {
      add_node_of_cell(integer(4), connectivity_.size());
    }
    offsets_.push_back(connectivity_.size());
  }
}

void LegacyReader::read_types() {
  if (has_types_) in_.fail("a second section CELL_TYPES", "keep one mesh per file");
  has_types_ = true;
  const int n = in_.count("the number of cell types", 1);
  if (static_cast<std::size_t>(n) + 1 != offsets_.size())
    in_.fail("there are " + std::to_string(n) + " cell types for " + std::to_string(offsets_.size() - 1) + " cells",
             "export the mesh again");
  enter_numbers();
  for (int c = 0; c < n; ++c) {
    const std::int64_t type = integer(4);
    const CellKind kind = vtk_cell(type > 0 && type < 256 ? static_cast<int>(type) : 0);
    if (kind.use == CellUse::unsupported) refuse_cell(kind, static_cast<int>(type), in_.place());
    const auto begin = offsets_[static_cast<std::size_t>(c)], end = offsets_[static_cast<std::size_t>(c) + 1];
    if (kind.node_count != 0 && end - begin != static_cast<std::size_t>(kind.node_count))
      in_.fail("cell " + std::to_string(c) + " has " + std::to_string(end - begin) + " nodes (a " + kind.name +
                   " has " + std::to_string(kind.node_count) + ")",
               "export the mesh again");
    types_.push_back(static_cast<int>(type));
  }
}

// FIELD name arrays, then for each: name components tuples type, and the numbers.
void LegacyReader::skip_field() {
  in_.word("a field's name");
  const int arrays = in_.count("the number of arrays", 1);
  for (int a = 0; a < arrays; ++a) {
    in_.set_text(true);
    if (lower(in_.peek()) == "metadata") skip_metadata();
    in_.word("an array's name");
    const std::int64_t components = in_.count("the number of components", 1),
                       tuples = in_.count("the number of tuples", 1);
    const std::string type = lower(in_.word("a number type"));
    if (binary_) {
      const std::size_t size = size_of(type);
      if (size == 0) in_.fail("a field of type " + quoted(type) + " cannot be read", "save as text (ASCII)");
      enter_numbers();
      in_.take(size * static_cast<std::size_t>(components * tuples), "a field");
    } else {
      for (std::int64_t i = 0; i < components * tuples; ++i) in_.word("a value");
    }
  }
}

// METADATA lasts to the next empty line.
void LegacyReader::skip_metadata() {
  in_.line();
  while (in_.remaining() > 0 && !in_.line().empty()) continue;
}

void LegacyReader::build() {
  for (std::size_t c = 0; c < types_.size(); ++c) builder_.add(vtk_cell(types_[c]), connectivity_.data() + offsets_[c]);
}

Mesh LegacyReader::read() {
  in_.at_end();
  in_.line();  // # vtk DataFile Version x.y
  in_.line();  // title
  const std::string mode = lower(in_.word("ASCII or BINARY"));
  if (mode != "ascii" && mode != "binary")
    in_.fail("expected ASCII or BINARY, found " + quoted(mode),
             "the third line of a legacy VTK file is one of the two");
  binary_ = mode == "binary";
  while (!in_.at_end()) {
    in_.set_text(true);
    const std::string section = lower(in_.word("a section"));
    if (section == "dataset") {
      const std::string kind = lower(in_.word("a kind of dataset"));
      if (kind != "unstructured_grid")
        in_.fail("the file holds " + quoted(kind) + " (only UNSTRUCTURED_GRID can be read)",
                 "in ParaView apply the filter Append Datasets, which makes an unstructured grid, and save as .vtu");
    } else if (section == "points") {
      if (has_points_) in_.fail("a second section POINTS", "keep one mesh per file");
      read_points();
    } else if (section == "cells") {
      if (!has_points_) in_.fail("CELLS come before POINTS", "export the mesh again");
      read_cells();
    } else if (section == "cell_types") {
      read_types();
    } else if (section == "field") {
      skip_field();
    } else if (section == "metadata") {
      skip_metadata();
    } else if (section == "cell_data" || section == "point_data") {
      break;
    } else {
      in_.fail("expected POINTS, CELLS or CELL_TYPES, found " + quoted(section), "export the mesh again");
    }
  }
  if (!has_points_ || !has_cells_ || !has_types_)
    in_.fail("POINTS, CELLS or CELL_TYPES is missing", "export the mesh again");
  build();
  return builder_.finish();
}

}  // namespace

Mesh parse_legacy_vtk(std::string_view bytes, const std::string& name) {
  return LegacyReader(bytes, name).read();
}

}  // namespace supple

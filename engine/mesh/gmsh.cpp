// gmsh's MSH 2.2 and 4.1, text and binary. https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>

#include "engine/mesh/cells.hpp"

namespace supple {
namespace {

using DimTag = std::pair<int, std::int64_t>;

class GmshReader {
 public:
  GmshReader(std::string_view bytes, const std::string& name) : in_(bytes, name), builder_(name) {}
  Mesh read();

 private:
  void read_format();
  void read_names();
  void read_entities();
  void read_nodes_2();
  void read_nodes_4();
  void read_elements_2();
  void read_elements_4();
  void add_node(std::int64_t tag);
  void add_cell(const CellKind& kind, int type, const std::vector<std::int64_t>& physical);
  void expect(const char* word);
  void skip_section(const std::string& section);
  void enter_binary();
  void make_groups();

  // One number of the body of a section, in the file's encoding. bytes(): the least space one takes.
  std::int64_t small() { return binary_ ? in_.binary<std::int32_t>(swap_, "a number") : in_.integer("a whole number"); }
  std::int64_t large() {
    if (!binary_) return in_.integer("a whole number");
    const auto value = in_.binary<std::uint64_t>(swap_, "a number");
    return value > std::uint64_t{1} << 62 ? -1 : static_cast<std::int64_t>(value);
  }
  double real() {
    if (!binary_) return in_.real("a coordinate");
    const double value = in_.binary<double>(swap_, "a coordinate");
    if (!std::isfinite(value)) in_.fail("a coordinate is not a finite number", "export the mesh again");
    return value;
  }
  std::size_t bytes(std::size_t in_binary) const { return binary_ ? in_binary : 2; }
  int count(const char* what, std::size_t binary_bytes_each, std::size_t numbers_each) {
    return in_.checked_count(large(), what, binary_ ? binary_bytes_each : 2 * numbers_each);
  }

  Scanner in_;
  MeshBuilder builder_;
  bool version_4_ = false, binary_ = false, swap_ = false;
  bool nodes_read_ = false, elements_read_ = false;
  std::map<DimTag, std::string> names_;
  std::map<DimTag, std::vector<std::int64_t>> entity_groups_;
  std::unordered_map<std::int64_t, int> node_of_tag_;
  std::map<std::pair<DimTag, CellType>, std::vector<int>> groups_;
  std::map<std::vector<int>, AddedCell>
      known_cells_;  // only of version 2, where a cell is repeated for each of its groups
};

void GmshReader::expect(const char* word) {
  in_.set_text(true);
  const std::string_view found = in_.word(word);
  if (found != word)
    in_.fail(std::string("expected ") + word + ", found " + quoted(found) + " (the section above has another length)",
             "export the mesh again from gmsh");
}

void GmshReader::skip_section(const std::string& section) {
  const std::string end = "$End" + section.substr(1);
  const std::size_t found = in_.rest().find(end);
  if (found == std::string_view::npos)
    in_.fail("section " + quoted(section) + " has no " + quoted(end), "export the mesh again");
  in_.seek(in_.position() + found + end.size());
}

// Binary bodies start right after the end of the line.
void GmshReader::enter_binary() {
  if (!binary_) return;
  in_.line();
  in_.set_text(false);
}

void GmshReader::read_format() {
  const std::string version(in_.word("the format's version"));
  const std::int64_t binary = in_.integer("the file type");
  if (version != "2.2" && version != "4.1" && version != "2" && version != "2.1")
    in_.fail("MSH version " + quoted(version) + " cannot be read (2.2 and 4.1 can)",
             "convert it: gmsh in.msh -save -format msh41 -o out.msh");
  version_4_ = version == "4.1";
  const std::int64_t size = in_.integer("the data size");
  if (binary != 0 && binary != 1) in_.fail("the file type is neither 0 (text) nor 1 (binary)", "export the mesh again");
  if (size != 8)
    in_.fail("numbers of " + std::to_string(size) + " bytes cannot be read (8 can)", "save as text: gmsh -bin 0");
  if (binary == 1) {
    binary_ = true;
    enter_binary();
    const auto one = in_.binary<std::int32_t>(false, "the byte order mark");
    swap_ = one != 1;
    if (swap_ && Scanner::swapped(one) != 1)
      in_.fail("the byte order mark is wrong", "save as text: gmsh in.msh -save -bin 0 -o out.msh");
  }
  expect("$EndMeshFormat");
}

void GmshReader::read_names() {
  const int n = in_.count("the number of physical names", 6);
  for (int i = 0; i < n; ++i) {
    const auto dimension = in_.integer("a dimension");
    const auto tag = in_.integer("a group's tag");
    if (dimension < 0 || dimension > 3) in_.fail("a dimension must be 0 to 3", "export the mesh again");
    if (in_.peek().empty() || in_.peek().front() != '"') in_.fail("expected a name in quotes", "write 3 1 \"body\"");
    const std::string_view line = in_.line();
    const std::size_t close = line.rfind('"');
    if (close == 0 || close == std::string_view::npos) in_.fail("a name has no closing quote", "write 3 1 \"body\"");
    names_[{static_cast<int>(dimension), tag}] = std::string(line.substr(1, close - 1));
  }
  expect("$EndPhysicalNames");
}

void GmshReader::read_entities() {
  enter_binary();
  int counts[4];
  for (int dim = 0; dim < 4; ++dim) counts[dim] = count("the number of entities", 12, 2);
  for (int dim = 0; dim < 4; ++dim)
    for (int i = 0; i < counts[dim]; ++i) {
      const std::int64_t tag = small();
      for (int k = 0; k < (dim == 0 ? 3 : 6); ++k) real();
      auto& groups = entity_groups_[{dim, tag}];
      const int physical = count("the number of physical groups", 4, 1);
      if (physical + groups.size() > 1000)
        in_.fail("an entity is in more than 1000 physical groups", "export the mesh again");
      for (int k = 0; k < physical; ++k) groups.push_back(std::llabs(small()));
      const int bounding = dim == 0 ? 0 : count("the number of bounding entities", 4, 1);
      for (int k = 0; k < bounding; ++k) small();
    }
  expect("$EndEntities");
}

void GmshReader::add_node(std::int64_t tag) {
  const Vec3d x{{real(), real(), real()}};
  builder_.mesh().nodes.push_back(x);
  if (!node_of_tag_.emplace(tag, static_cast<int>(builder_.mesh().nodes.size()) - 1).second)
    in_.fail("node " + std::to_string(tag) + " is defined twice", "export the mesh again");
}

void GmshReader::read_nodes_2() {
  const int n = in_.count("the number of nodes", binary_ ? 28 : 8);
  builder_.mesh().nodes.reserve(static_cast<std::size_t>(n));
  enter_binary();
  for (int i = 0; i < n; ++i) add_node(small());
  expect("$EndNodes");
}

void GmshReader::read_nodes_4() {
  enter_binary();
  const int blocks = count("the number of blocks of nodes", 20, 4);
  const int total = count("the number of nodes", 32, 4);
  large(), large();  // least and largest tag
  builder_.mesh().nodes.reserve(static_cast<std::size_t>(total));
  std::vector<std::int64_t> tags;
  for (int b = 0; b < blocks; ++b) {
    const std::int64_t dim = small();
    small();
    const std::int64_t parametric = small();
    if (dim < 0 || dim > 3 || parametric < 0 || parametric > 1)
      in_.fail("a block of nodes has a wrong header", "export the mesh again");
    const int n = count("the number of nodes of a block", 32, 4);
    tags.resize(static_cast<std::size_t>(n));
    for (auto& tag : tags) tag = large();
    for (const auto tag : tags) {
      add_node(tag);
      for (std::int64_t k = 0; k < parametric * dim; ++k) real();
    }
  }
  expect("$EndNodes");
}

// Reads the nodes of one cell and files it under its groups.
void GmshReader::add_cell(const CellKind& kind, int type, const std::vector<std::int64_t>& physical) {
  if (kind.use == CellUse::unsupported) refuse_cell(kind, type, in_.place());
  std::vector<int> nodes(static_cast<std::size_t>(kind.node_count));
  for (int& node : nodes) {
    const std::int64_t tag = version_4_ ? large() : small();
    const auto found = node_of_tag_.find(tag);
    if (found == node_of_tag_.end())
      in_.fail("a cell uses node " + std::to_string(tag) + " (there is no such node)", "export the mesh again");
    node = found->second;
  }
  AddedCell added;
  const bool may_repeat = !version_4_ && !physical.empty() && kind.use != CellUse::ignored;
  if (const auto known = may_repeat ? known_cells_.find(nodes) : known_cells_.end(); known != known_cells_.end()) {
    const std::pair<DimTag, CellType> key{{known->second.type == CellType::triangle ? 2 : 3, physical.front()},
                                          known->second.type};
    const auto& members = groups_[key];
    // The same cell in another group is that cell; a cell that is twice in one group is an error of check_mesh.
    if (members.empty() || !std::binary_search(members.begin(), members.end(), known->second.first))
      added = known->second;
  }
  if (added.count == 0) {
    added = builder_.add(kind, nodes.data());
    if (may_repeat) known_cells_.emplace(std::move(nodes), added);
  }
  for (const std::int64_t tag : physical) {
    if (added.count == 0) break;
    auto& members = groups_[{{added.type == CellType::triangle ? 2 : 3, tag}, added.type}];
    for (int k = 0; k < added.count; ++k) {
      const int cell = added.first + k;
      // Kept sorted: almost always at the end.
      if (members.empty() || members.back() < cell)
        members.push_back(cell);
      else if (const auto at = std::lower_bound(members.begin(), members.end(), cell); *at != cell)
        members.insert(at, cell);
    }
  }
}

void GmshReader::read_elements_2() {
  const int n = in_.count("the number of elements", 8);
  enter_binary();
  std::vector<std::int64_t> physical;
  for (int done = 0; done < n;) {
    std::int64_t type = 0, tags = 0, block = 1;
    if (binary_) {
      type = small(), block = small(), tags = small();
      if (block < 1 || block > n - done) in_.fail("a block of elements has a wrong length", "export the mesh again");
    } else {
      small();
      type = small(), tags = small();
    }
    const CellKind kind = gmsh_cell(type > 0 && type < 1000 ? static_cast<int>(type) : 0);
    const int tag_count = in_.checked_count(tags, "the number of tags", bytes(4));
    for (std::int64_t k = 0; k < block; ++k, ++done) {
      if (binary_) small();
      physical.clear();
      for (int t = 0; t < tag_count; ++t) {
        const std::int64_t tag = std::llabs(small());
        if (t == 0 && tag != 0) physical.push_back(tag);
      }
      add_cell(kind, static_cast<int>(type), physical);
    }
  }
  expect("$EndElements");
}

void GmshReader::read_elements_4() {
  enter_binary();
  const int blocks = count("the number of blocks of elements", 20, 4);
  count("the number of elements", 16, 2);
  large(), large();
  for (int b = 0; b < blocks; ++b) {
    const std::int64_t dim = small(), entity = small(), type = small();
    const CellKind kind = gmsh_cell(type > 0 && type < 1000 ? static_cast<int>(type) : 0);
    const int n = count("the number of elements of a block", 16, 2);
    const auto groups = entity_groups_.find({static_cast<int>(dim), entity});
    const std::vector<std::int64_t> physical =
        groups == entity_groups_.end() ? std::vector<std::int64_t>{} : groups->second;
    for (int k = 0; k < n; ++k) {
      large();
      add_cell(kind, static_cast<int>(type), physical);
    }
  }
  expect("$EndElements");
}

void GmshReader::make_groups() {
  for (auto& [key, cells] : groups_) {
    const auto& [dim_tag, type] = key;
    if (cells.empty()) continue;
    const auto name = names_.find(dim_tag);
    builder_.mesh().groups.push_back(
        {name == names_.end() ? std::to_string(dim_tag.second) : name->second, type, std::move(cells)});
  }
  int low = 0;
  for (const auto& [dim_tag, name] : names_) low += dim_tag.first < 2 ? 1 : 0;
  if (low > 0) builder_.mesh().notes.push_back("left out " + std::to_string(low) + " groups of points and lines");
}

Mesh GmshReader::read() {
  if (in_.rest().starts_with("\xEF\xBB\xBF")) in_.seek(3);
  bool format_read = false;
  while (!in_.at_end()) {
    const std::string section(in_.word("a section"));
    if (section == "$NOD" || section == "$ELM")
      in_.fail("MSH version 1 cannot be read (2.2 and 4.1 can)",
               "convert it: gmsh in.msh -save -format msh41 -o out.msh");
    if (section.front() != '$')
      in_.fail("expected a section such as $Nodes, found " + quoted(section), "export the mesh again");
    const bool body = section == "$Entities" || section == "$Nodes" || section == "$Elements";
    if (body && !format_read)
      in_.fail("section " + section + " comes before $MeshFormat", "export the mesh again from gmsh");
    if (section == "$MeshFormat") {
      if (format_read) in_.fail("a second $MeshFormat", "keep one mesh per file");
      read_format();
      format_read = true;
    } else if (section == "$PhysicalNames") {
      read_names();
    } else if (section == "$Entities" && version_4_) {
      read_entities();
    } else if (section == "$Nodes") {
      if (std::exchange(nodes_read_, true)) in_.fail("a second section $Nodes", "keep one mesh per file");
      version_4_ ? read_nodes_4() : read_nodes_2();
    } else if (section == "$Elements") {
      if (!nodes_read_) in_.fail("section $Elements comes before $Nodes", "export the mesh again from gmsh");
      if (std::exchange(elements_read_, true)) in_.fail("a second section $Elements", "keep one mesh per file");
      version_4_ ? read_elements_4() : read_elements_2();
    } else {
      if (section == "$PartitionedEntities")
        builder_.mesh().notes.push_back("the mesh is partitioned: its groups are not read");
      skip_section(section);
    }
  }
  if (!elements_read_)
    in_.fail("the file has no section $Elements", "mesh the model and save it again: gmsh -3 model.geo");
  make_groups();
  return builder_.finish();
}

}  // namespace

Mesh parse_gmsh(std::string_view bytes, const std::string& name) {
  return GmshReader(bytes, name).read();
}

}  // namespace supple

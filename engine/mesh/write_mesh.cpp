#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "engine/mesh/cells.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/scanner.hpp"
#include "engine/mesh/write.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple {
namespace {

// Physical tag of each named group: groups of the same name and dimension share it.
std::map<std::pair<int, std::string>, int> physical_tags(const Mesh& mesh) {
  std::map<std::pair<int, std::string>, int> tags;
  for (const CellGroup& group : mesh.groups)
    tags.emplace(std::pair{group.type == CellType::triangle ? 2 : 3, group.name}, static_cast<int>(tags.size()) + 1);
  return tags;
}

template <class Cells>
void append_cells(std::string& text, int& element, const Mesh& mesh, const Cells& cells, CellType type, int gmsh_type,
                  int quadratic_type, const std::map<std::pair<int, std::string>, int>& tags) {
  const std::span<const CellEdge> edges = gmsh_cell(quadratic_type).edges;
  std::vector<std::vector<int>> tags_of_cell(cells.size());
  for (const CellGroup& group : mesh.groups)
    if (group.type == type)
      for (const int cell : group.cells)
        tags_of_cell.at(static_cast<std::size_t>(cell))
            .push_back(tags.at({type == CellType::triangle ? 2 : 3, group.name}));
  auto out = std::back_inserter(text);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (tags_of_cell[c].empty()) tags_of_cell[c].push_back(0);
    std::vector<int> on_edges;
    for (const CellEdge& edge : edges)
      on_edges.push_back(
          edge_node(mesh, cells[c][static_cast<std::size_t>(edge[0])], cells[c][static_cast<std::size_t>(edge[1])]));
    // A triangle that is half of a quadrilateral has no node on its diagonal.
    const bool quadratic = mesh.order() == 2 && std::ranges::find(on_edges, -1) == on_edges.end();
    if (!quadratic) on_edges.clear();
    for (const int tag : tags_of_cell[c]) {
      fmt::format_to(out, "{} {} 2 {} {}", ++element, quadratic ? quadratic_type : gmsh_type, tag, tag == 0 ? 1 : tag);
      for (const int node : cells[c]) fmt::format_to(out, " {}", node + 1);
      for (const int node : on_edges) fmt::format_to(out, " {}", node + 1);
      text += '\n';
    }
  }
}

}  // namespace

void write_msh(const std::string& path, const Mesh& mesh) {
  const auto tags = physical_tags(mesh);
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  auto out = std::back_inserter(text);
  if (!tags.empty()) {
    fmt::format_to(out, "$PhysicalNames\n{}\n", tags.size());
    for (const auto& [key, tag] : tags) fmt::format_to(out, "{} {} \"{}\"\n", key.first, tag, key.second);
    text += "$EndPhysicalNames\n";
  }
  fmt::format_to(out, "$Nodes\n{}\n", mesh.nodes.size());
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    fmt::format_to(out, "{} {} {} {}\n", i + 1, mesh.nodes[i][0], mesh.nodes[i][1], mesh.nodes[i][2]);
  std::string cells;
  int count = 0;
  append_cells(cells, count, mesh, mesh.triangles, CellType::triangle, 2, 9, tags);
  append_cells(cells, count, mesh, mesh.tetrahedra, CellType::tetrahedron, 4, 11, tags);
  append_cells(cells, count, mesh, mesh.hexahedra, CellType::hexahedron, 5, 17, tags);
  fmt::format_to(out, "$EndNodes\n$Elements\n{}\n", count);
  text += cells;
  text += "$EndElements\n";
  write_file(path, text);
}

void write_stl(const std::string& path, const Surface& surface) {
  std::string bytes(80, ' ');
  bytes.replace(0, 14, "Supple surface");
  const auto put = [&bytes](auto value) {
    if constexpr (std::endian::native == std::endian::big) value = Scanner::swapped(value);
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes.append(raw, sizeof(value));
  };
  const auto put_vector = [&](const Vec3d& x) {
    for (int k = 0; k < 3; ++k) put(static_cast<float>(x[k]));
  };
  put(static_cast<std::uint32_t>(surface.triangles.size()));
  for (const auto& t : surface.triangles) {
    const auto at = [&](std::size_t k) -> const Vec3d& { return surface.nodes.at(static_cast<std::size_t>(t[k])); };
    const Vec3d normal = cross(at(1) - at(0), at(2) - at(0));
    put_vector(norm(normal) > 0 ? normalized(normal) : Vec3d{{0, 0, 0}});
    for (std::size_t k = 0; k < 3; ++k) put_vector(at(k));
    put(std::uint16_t{0});
  }
  write_file(path, bytes);
}

}  // namespace supple

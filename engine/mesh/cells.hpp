#pragma once
// What the readers share: the cell types of VTK and gmsh, and the mesh being put together. Internal to engine/mesh.

#include <map>
#include <span>
#include <string>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/reference_element.hpp"
#include "engine/mesh/scanner.hpp"

namespace supple {

enum class CellUse { triangle, quadrilateral, tetrahedron, hexahedron, voxel, wedge, pyramid, ignored, unsupported };

struct CellKind {
  CellUse use = CellUse::unsupported;
  int node_count = 0;  // 0: any number
  const char* name = "unknown cell";
  /// Second order: the edges whose nodes follow the corners, in the order of the file. What follows these, nodes inside
  /// faces and cells, is left out.
  std::span<const CellEdge> edges = {};
  int corners = 0;  // of second order
};

CellKind vtk_cell(int type);
CellKind gmsh_cell(int type);

// Throws the InputError for a cell that cannot be used.
[[noreturn]] void refuse_cell(const CellKind& kind, int type, const Place& place);

// Where a cell went: indices [first, first + count) of the array of its type; count = 0 if it was left out.
struct AddedCell {
  CellType type = CellType::tetrahedron;
  int first = 0;
  int count = 0;
};

class MeshBuilder {
 public:
  explicit MeshBuilder(const std::string& name) { mesh_.name = name; }
  Mesh& mesh() { return mesh_; }
  // nodes: kind.node_count indices, already checked.
  AddedCell add(const CellKind& kind, const int* nodes);
  // Mesh with notes about what was left out or cut. InputError if it has no cell, or an edge two nodes.
  Mesh finish();

 private:
  void sort_edges();
  void cut_cells();

  Mesh mesh_;
  std::map<std::string, int> ignored_;
  std::vector<int> quadrilaterals_;  // their first triangles
  int inner_nodes_ = 0, wedges_ = 0, pyramids_ = 0;
};

// One function per format; the caller has recognised it.
Mesh parse_gmsh(std::string_view bytes, const std::string& name);
Mesh parse_vtu(std::string_view bytes, const std::string& name);
Mesh parse_legacy_vtk(std::string_view bytes, const std::string& name);
Surface parse_stl(std::string_view bytes, const std::string& name);
Surface parse_obj(std::string_view bytes, const std::string& name);

}  // namespace supple

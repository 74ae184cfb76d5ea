#include "engine/mesh/cells.hpp"

namespace supple {

CellKind vtk_cell(int type) {
  switch (type) {
    case 1:
      return {CellUse::ignored, 1, "vertex"};
    case 2:
      return {CellUse::ignored, 0, "vertex set"};
    case 3:
      return {CellUse::ignored, 2, "line"};
    case 4:
      return {CellUse::ignored, 0, "polyline"};
    case 5:
      return {CellUse::triangle, 3, "triangle"};
    case 9:
      return {CellUse::quadrilateral, 4, "quadrilateral"};
    case 10:
      return {CellUse::tetrahedron, 4, "tetrahedron"};
    case 11:
      return {CellUse::voxel, 8, "voxel"};
    case 12:
      return {CellUse::hexahedron, 8, "hexahedron"};
    case 13:
      return {CellUse::unsupported, 6, "wedge"};
    case 14:
      return {CellUse::unsupported, 5, "pyramid"};
    case 21:
      return {CellUse::unsupported, 3, "quadratic line"};
    case 22:
      return {CellUse::unsupported, 6, "quadratic triangle"};
    case 23:
      return {CellUse::unsupported, 8, "quadratic quadrilateral"};
    case 24:
      return {CellUse::unsupported, 10, "quadratic tetrahedron"};
    case 25:
      return {CellUse::unsupported, 20, "quadratic hexahedron"};
    case 29:
      return {CellUse::unsupported, 27, "triquadratic hexahedron"};
    case 42:
      return {CellUse::unsupported, 0, "polyhedron"};
    default:
      return {};
  }
}

CellKind gmsh_cell(int type) {
  switch (type) {
    case 1:
      return {CellUse::ignored, 2, "line"};
    case 2:
      return {CellUse::triangle, 3, "triangle"};
    case 3:
      return {CellUse::quadrilateral, 4, "quadrilateral"};
    case 4:
      return {CellUse::tetrahedron, 4, "tetrahedron"};
    case 5:
      return {CellUse::hexahedron, 8, "hexahedron"};
    case 6:
      return {CellUse::unsupported, 6, "prism"};
    case 7:
      return {CellUse::unsupported, 5, "pyramid"};
    case 8:
      return {CellUse::unsupported, 3, "quadratic line"};
    case 9:
      return {CellUse::unsupported, 6, "quadratic triangle"};
    case 10:
      return {CellUse::unsupported, 9, "quadratic quadrilateral"};
    case 11:
      return {CellUse::unsupported, 10, "quadratic tetrahedron"};
    case 12:
      return {CellUse::unsupported, 27, "quadratic hexahedron"};
    case 15:
      return {CellUse::ignored, 1, "vertex"};
    case 16:
      return {CellUse::unsupported, 8, "quadratic quadrilateral"};
    case 17:
      return {CellUse::unsupported, 20, "quadratic hexahedron"};
    default:
      return {};
  }
}

void refuse_cell(const CellKind& kind, int type, const Place& place) {
  const std::string what = std::string(kind.name) + ", type " + std::to_string(type);
  if (std::string_view(kind.name).find("quadratic") != std::string_view::npos)
    throw InputError(
        "cells of second order are not supported (" + what + ")",
        "save the mesh with linear cells: gmsh -order 1 -3 model.geo, or Tools > Set order 1 in gmsh's window", place);
  throw InputError("a cell is not supported (" + what + ")",
                   "mesh the body with linear tetrahedra or hexahedra only (gmsh -3 makes tetrahedra)", place);
}

AddedCell MeshBuilder::add(const CellKind& kind, const int* n) {
  switch (kind.use) {
    case CellUse::triangle:
      mesh_.triangles.push_back({n[0], n[1], n[2]});
      return {CellType::triangle, static_cast<int>(mesh_.triangles.size()) - 1, 1};
    case CellUse::quadrilateral:
      mesh_.triangles.push_back({n[0], n[1], n[2]});
      mesh_.triangles.push_back({n[0], n[2], n[3]});
      ++quadrilaterals_;
      return {CellType::triangle, static_cast<int>(mesh_.triangles.size()) - 2, 2};
    case CellUse::tetrahedron:
      mesh_.tetrahedra.push_back({n[0], n[1], n[2], n[3]});
      return {CellType::tetrahedron, static_cast<int>(mesh_.tetrahedra.size()) - 1, 1};
    case CellUse::hexahedron:
      mesh_.hexahedra.push_back({n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]});
      return {CellType::hexahedron, static_cast<int>(mesh_.hexahedra.size()) - 1, 1};
    case CellUse::voxel:
      mesh_.hexahedra.push_back({n[0], n[1], n[3], n[2], n[4], n[5], n[7], n[6]});
      return {CellType::hexahedron, static_cast<int>(mesh_.hexahedra.size()) - 1, 1};
    case CellUse::ignored:
    case CellUse::unsupported:
      break;
  }
  ++ignored_[kind.name];
  return {};
}

Mesh MeshBuilder::finish() {
  for (const auto& [kind, count] : ignored_)
    mesh_.notes.push_back("left out " + std::to_string(count) + (count == 1 ? " cell" : " cells") + " of the kind " +
                          kind);
  if (quadrilaterals_ > 0)
    mesh_.notes.push_back("split " + std::to_string(quadrilaterals_) +
                          (quadrilaterals_ == 1 ? " quadrilateral" : " quadrilaterals") + " into two triangles each");
  if (mesh_.element_count() == 0 && mesh_.triangles.empty())
    throw InputError(
        "the mesh has no tetrahedra, hexahedra or triangles",
        "in gmsh, mesh in 3D (gmsh -3) and put the volume in a physical group, or save all cells (-save_all)",
        {mesh_.name, 0, 0, ""});
  return std::move(mesh_);
}

}  // namespace supple

#pragma once
// Mesh and surface files. Formats are told by content, not by the file's ending; coordinates stay in the file's unit.
// Every defect of a file is an InputError with file and, in text formats, line; no count in a file is believed before
// it is compared with the file's size.

#include <string>
#include <string_view>

#include "engine/mesh/mesh.hpp"

namespace supple {

/// gmsh .msh 2.2 and 4.1 (text and binary, physical groups become groups), VTK XML .vtu (text, base64, appended, zlib)
/// and legacy VTK unstructured grids (text and binary, cells of both the old and the 5.1 layout). Linear tetrahedra,
/// hexahedra (also voxels) and triangles are kept, quadrilaterals become two triangles, vertices and lines are left out
/// and counted in Mesh::notes; other cells are errors. Call check_mesh (check.hpp) before using the mesh.
Mesh read_mesh(const std::string& path);
/// The same for a file in memory; `name` is used in messages.
Mesh parse_mesh(std::string_view bytes, const std::string& name);

/// STL (text and binary; vertices with equal coordinates are merged) and OBJ (v and f; polygons are split into a fan).
/// Triangles with two equal corners are dropped and counted in Surface::notes.
Surface read_surface(const std::string& path);
Surface parse_surface(std::string_view bytes, const std::string& name);

}  // namespace supple

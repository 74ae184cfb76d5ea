#pragma once
// Nodes and elements of a mesh by place or by name, in ascending order.

#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace supple {

// Boundaries belong to the region, with a tolerance of 1e-9 of the mesh's size, so that a rotated node is still on its
// plane. Elements are chosen by their centroids.
std::vector<int> nodes_in_box(const Mesh& mesh, const Vec3d& lower, const Vec3d& upper);
std::vector<int> nodes_in_sphere(const Mesh& mesh, const Vec3d& centre, double radius);
std::vector<int> elements_in_box(const Mesh& mesh, const Vec3d& lower, const Vec3d& upper);
std::vector<int> elements_in_sphere(const Mesh& mesh, const Vec3d& centre, double radius);

// Nodes of all cells (triangles too) of the groups with this name, those of their edges too. Throws InputError, with
// the names there are, if there is none.
std::vector<int> nodes_of_group(const Mesh& mesh, const std::string& name);
// Elements (tetrahedra first, then hexahedra). Throws InputError also if the group holds only triangles.
std::vector<int> elements_of_group(const Mesh& mesh, const std::string& name);
// Triangles of the mesh. Throws InputError also if the group holds none.
std::vector<int> triangles_of_group(const Mesh& mesh, const std::string& name);

}  // namespace supple

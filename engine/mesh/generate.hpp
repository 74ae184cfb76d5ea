#pragma once
// Structured meshes of a box: tests, benchmarks and the cantilever.

#include "engine/mesh/mesh.hpp"

namespace supple {

// nx ny nz cells, nodes with x running fastest. Groups: "body", and the sides "x-", "x+", "y-", "y+", "z-", "z+" as
// outward triangles. Throws InputError unless lower < upper, every count is at least 1, and nodes and elements can be
// counted by an int. Six tetrahedra per cell around its diagonal (Kuhn's division): conforming, all of equal volume.
Mesh box_tetrahedra(const Vec3d& lower, const Vec3d& upper, int nx, int ny, int nz);
Mesh box_hexahedra(const Vec3d& lower, const Vec3d& upper, int nx, int ny, int nz);

}  // namespace supple

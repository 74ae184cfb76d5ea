#pragma once
// A mesh with elements of half the size.

#include "engine/mesh/mesh.hpp"

namespace supple {

// Every edge is halved: eight elements for each, of the same order and on the same curved shape, groups with them. A
// tetrahedron becomes its four corners and an octahedron, cut along its shortest diagonal (J. Bey, Tetrahedral grid
// refinement, 1995, cuts always along the same one).
Mesh refined(const Mesh& mesh);

}  // namespace supple

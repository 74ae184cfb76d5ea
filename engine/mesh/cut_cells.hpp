#pragma once
// Cells that are no elements, cut into tetrahedra.

#include "engine/mesh/mesh.hpp"

namespace supple {

/// Cuts all hexahedra of a mesh into tetrahedra, those too that stand for other cells by naming nodes more than once: a
/// wedge (0 1 2 2 3 4 5 5), a pyramid (0 1 2 3 4 4 4 4). From the corner with the smallest number to the triangles of
/// the faces without it, faces cut along the diagonal from their own smallest: neighbours agree, whatever they are (J.
/// Dompierre, P. Labbe, M.-G. Vallet, R. Camarero, How to subdivide pyramids, prisms and hexahedra into tetrahedra,
/// 1999). A wedge becomes three, a pyramid two, a hexahedron six. Groups follow. Of second order: diagonals get nodes
/// where the cell's shape functions have their middle.
void cut_into_tetrahedra(Mesh& mesh);

}  // namespace supple

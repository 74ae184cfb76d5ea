#pragma once
// Between meshes of first and second order.

#include "engine/mesh/mesh.hpp"

namespace supple {

// Elements of this order, 1 or 2: a node in the middle of every edge is added behind the others, or nodes of edges are
// taken away (unused nodes stay until check_mesh drops them). A mesh that has the order is left as it is.
void set_order(Mesh& mesh, int order);

}  // namespace supple

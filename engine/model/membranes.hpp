#pragma once
// The membranes of a body: triangles of one quadrature point on the faces of its elements, with the body's nodes. At
// the point, with the in-plane gradients g_a of the linear shape functions and the normal n at rest,
//   F = I + sum_a u_a g_a^T = F_s + n n^T,
// F_s the surface's gradient; a law of membranes reads F_s alone, through the frame (e1, e2, n) of the point.

#include "engine/model/full_model.hpp"

namespace supple {

// A field for all sheets of the body and one for all layers of threads, where there are any; triangles membrane by
// membrane, in the order of the mesh; region and parameters are the membranes', of both kinds in both fields.
// Throws InputError: a membrane without triangles, on triangles that are no faces of elements, on those of
// another sheet; threads across a face that have no direction in it.
std::vector<ElementField> build_membrane_fields(const BodyScene& body, const Mesh& mesh);

}  // namespace supple

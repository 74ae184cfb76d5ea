#pragma once
// From a floating model whose basis begins with six linearised rigid modes (eq. 22 of the paper) to one whose shapes are
// on a frame that moves freely.

#include "engine/model/reduced_model.hpp"

namespace supple {

/// Drops the rigid modes: the rest are shapes, orthogonal to them. Elements, weights and strain modes stay. The model
/// is floating, on no frame, and has its inertia.
ReducedModel put_on_frame(ReducedModel model);

}  // namespace supple

#pragma once
// From a floating model whose basis begins with six linearised rigid modes (eq. 22 of the paper) to one whose shapes are
// on a frame that moves freely.

#include "engine/model/reduced_model.hpp"

namespace supple {

/// Whether an actuator ends in space, or its force has a direction there.
bool pulls_from_space(const ActuatorRow& actuator);
/// Whether a floating robot can be on a frame: nothing of it ends in space. Constraints, cables and forces that do would
/// go along with the frame.
bool can_be_on_frame(const Robot& robot);

/// Drops the rigid modes: the rest are shapes, orthogonal to them. Elements, weights and strain modes stay. The model
/// is floating, on no frame, and has its inertia.
ReducedModel put_on_frame(ReducedModel model);

}  // namespace supple

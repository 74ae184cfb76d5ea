#pragma once
// The fraction of a body's contact compliance that its modes represent. Locally: the displacement that a force on one
// collision point causes at that point at rest (rest_response.hpp), of the full model and of the reduced one.
// Compliance that the modes lack is missing in every simulation of the reduced model: a point of the skin is too stiff
// under a contact force.
//
// An estimate: the body has turned and stiffened since, and neighbouring points are pushed together. Goury & Duriez
// 2018, section V, name the limit. docs/theory/reduction.md#contact-outside-the-modes

#include <optional>

#include "engine/mechanics/mechanics.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/model/state.hpp"

namespace supple {

// Compliance of each collision point at rest [points x 3 x 3, m/N]. Empty where K is singular there.
std::vector<double> point_compliance(Mechanics& mechanics);

// Of the forces of contact in a state.
struct OutsideModes {
  double depth = 0;  // largest displacement of a point that the modes lack [m]
  double share = 0;  // of the work of the forces: what they would do on the displacements that the modes lack
};
// A share above this is worth a warning.
inline constexpr double outside_modes_warning = 0.1;
// None: the model does not know (its file is older, or its stiffness singular), or nothing presses.
std::optional<OutsideModes> outside_modes(const ReducedModel& model, const State& state, int robot = 0);

}  // namespace supple

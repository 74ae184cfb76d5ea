#pragma once
// Shapes of a robot: for ParaView, and where its skin is.

#include <functional>
#include <vector>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/run/contact_record.hpp"
#include "engine/run/result_folder.hpp"

namespace supple::cli {

// The deformed mesh with the nodes' `displacement` [m] and the elements' `volume_ratio` (1 at rest, negative where
// turned inside out). `mechanics` must outlive what is returned.
WriteShape full_shape_writer(const FullMechanics& mechanics);

// The deformed skin with the nodes' `displacement` [m]. `model` must outlive what is returned.
WriteShape reduced_shape_writer(const ReducedModel& model);

SkinOf full_skin(const FullMechanics& mechanics);
SkinOf reduced_skin(const ReducedModel& model);

}  // namespace supple::cli

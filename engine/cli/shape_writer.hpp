#pragma once
// Shapes of a robot for ParaView.

#include "engine/cli/result_folder.hpp"
#include "engine/dynamics/full_mechanics.hpp"

namespace supple::cli {

// The deformed mesh with the nodes' `displacement` [m] and the elements' `volume_ratio` (1 at rest, negative where
// turned inside out). `mechanics` must outlive what is returned.
WriteShape full_shape_writer(const FullMechanics& mechanics);

}  // namespace supple::cli

#pragma once
// Whether what was computed from a scene still belongs to it.

#include <cstdint>

#include "engine/scene/scene.hpp"

namespace supple {

// Of everything that decides how the robot moves but the integrator and the time step, which runs have of their own:
// two runs with equal fingerprints, integrators, time steps and commands are the same run. Reads the mesh file.
std::uint64_t scene_fingerprint(Scene scene);

}  // namespace supple

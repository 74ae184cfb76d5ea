#pragma once
// Whether what was computed from a scene still belongs to it.

#include <cstdint>
#include <string>

#include "engine/scene/assembly_scene.hpp"

namespace supple {

// Of everything that decides how the robot moves but the integrator and the time step, which runs have of their own:
// two runs with equal fingerprints, integrators, time steps and commands are the same run. Reads the mesh file.
std::uint64_t scene_fingerprint(Scene scene);
// The same of several bodies; of the scene itself, every byte counts. Reads the files of its parts.
std::uint64_t assembly_fingerprint(const AssemblyScene& scene);

// The text of write_scene without defaults: a key that is added to the format later does not change it while it is not
// used, and a default that is written out does not change it either.
std::string without_defaults(const std::string& written);

}  // namespace supple

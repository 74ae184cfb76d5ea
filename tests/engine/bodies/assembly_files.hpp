#pragma once
// Scenes of several bodies that tests write as text.

#include <fstream>
#include <string>

#include "engine/scene/assembly_scene.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::assemblies {

/// As scene.toml in the folder, beside the files that it names.
inline AssemblyScene scene_of(const reduced_bodies::TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder / "scene.toml") << text;
  return read_assembly(folder / "scene.toml");
}

}  // namespace supple::assemblies

#pragma once
// Scene -> TOML, canonical: SI, one spelling for equal scenes, defaults that were filled in written out. For hashing,
// `supple info`, and copying a scene into a model file.

#include <string>

#include "engine/scene/scene.hpp"

namespace supple {

// parse_scene(write_scene(s)) equals s up to places and Scene::file. Mesh paths are absolute, or, given a folder,
// relative to it: a hash of that text does not depend on where the scene lies.
std::string write_scene(const Scene& scene, const std::string& mesh_folder = {});

}  // namespace supple

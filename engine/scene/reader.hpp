#pragma once
// Scene files (TOML, docs/reference/scene.md) to Scene. The first file to read here: reader.cpp follows the file from
// top to bottom; keys.cpp lists the keys; units.hpp reads quantities; document.hpp is TOML with places and includes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scene/document.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

// `path`: a scene file, or a folder with a scene.toml in it. The mesh must exist; it is not opened.
// Errors: InputError with file, line, column and a remedy for everything that is wrong with the text; CapabilityError
// without the unit database.
Scene read_scene(const std::string& path);
// The same of a document that was read before.
Scene read_scene(const Document& document, const std::string& file);
// The file that a path names.
std::string scene_file(const std::string& path);

// The same from text in memory. `name` stands for the file in messages and in Scene::file, and mesh paths start from
// its folder. Neither includes nor the existence of the mesh are looked at.
Scene parse_scene(std::string_view text, const std::string& name);

// The [[obstacle]] tables of a file, which may be a scene or have nothing else. Throws InputError as read_scene does, and
// where there are none.
struct ObstacleFile {
  std::vector<ObstacleScene> obstacles;
  std::uint64_t hash = 0;  // of the file with what it includes, and of the surfaces it names
};
ObstacleFile read_obstacles(const std::string& path);

// What a reduction needs beyond a simulation: at least one command (actuator or motion) and one effector, every command
// with a finite range. Errors: InputError at the entry that lacks it.
void check_reducible(const Scene& scene);

}  // namespace supple

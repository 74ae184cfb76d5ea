#include "engine/scene/fingerprint.hpp"

#include <filesystem>

#include "engine/scene/writer.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

std::uint64_t scene_fingerprint(Scene scene) {
  // What does not move the robot: how long it is simulated, how it would be reduced.
  scene.duration = 1;
  scene.reduction = {};
  scene.integrator = {};
  scene.time_step = 1;
  std::string text;
  for (const std::string& file : input_files(scene)) text += hash_hex(hash_file(file));
  text += write_scene(scene, std::filesystem::path(scene.bodies.front().mesh_file).parent_path().string());
  return hash_text(text);
}

}  // namespace supple

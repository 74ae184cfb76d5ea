#include "engine/scene/fingerprint.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

using Range = std::pair<std::size_t, std::size_t>;  // begin and end in a text

// What could be left out of a written scene: its lines, and in them ", key = value" of inline tables.
std::vector<Range> parts(const std::string& text) {
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::vector<Range> found;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    found.emplace_back(begin, end);
    std::size_t entry = 0;
    bool quoted = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (text[i] == '\\') ++i;
      if (text[i] == '"') quoted = !quoted;
      if (quoted) continue;
      const bool next =
          text.compare(i, 2, ", ") == 0 && text.compare(text.find_first_not_of(letters, i + 2), 3, " = ") == 0;
      if (entry != 0 && (next || text[i] == '}')) found.emplace_back(entry, i);
      if (next) entry = i;
    }
  }
  return found;
}

// Of what follows `before` in a written scene: what has to be said.
std::string needed(const std::string& before, std::string text) {
  const auto meaning = [&](const std::string& rest) {
    try {
      return write_scene(parse_scene(before + rest, "/scene.toml"));
    } catch (const InputError&) {
      return std::string();
    }
  };
  const std::string whole = meaning(text);
  if (whole.empty()) return text;
  // From the end: what is left out changes no part before it.
  for (std::size_t k = parts(text).size(); k-- > 0;) {
    const auto [begin, end] = parts(text)[k];
    std::string shorter = text;
    shorter.erase(begin, end - begin);
    if (meaning(shorter) == whole) text = std::move(shorter);
  }
  return text;
}

}  // namespace

// One table after the other, each with the body's alone: in time that grows with the scene and not with its square.
std::string without_defaults(const std::string& written) {
  const auto next_table = [&](std::size_t at) { return std::min(written.find("\n[", at), written.size() - 1) + 1; };
  std::size_t end = 0;
  do end = next_table(end);
  while (written.compare(end, 5, "[body") == 0 || written.compare(end, 6, "[[body") == 0);
  const std::string body = written.substr(0, end);
  std::string text = needed("", body);
  for (std::size_t begin = end; begin < written.size(); begin = end) {
    end = next_table(begin);
    text += needed(body, written.substr(begin, end - begin));
  }
  return text;
}

std::uint64_t scene_fingerprint(Scene scene) {
  // What does not move the robot: how long it is simulated, how it would be reduced.
  scene.duration = 1;
  scene.reduction = {};
  ask_for_default_error(scene.reduction);  // of a scene without the table
  scene.integrator = {};
  scene.time_step = 1;
  std::string text;
  for (const std::string& file : input_files(scene)) text += hash_hex(hash_file(file));
  const std::string folder = std::filesystem::path(scene.bodies.front().mesh_file).parent_path().string();
  text += without_defaults(write_scene(scene, folder));
  return hash_text(text);
}

std::uint64_t assembly_fingerprint(const AssemblyScene& scene) {
  std::string text;
  for (const std::string& file : scene.files) text += hash_hex(hash_file(file));
  for (const ObstacleScene& obstacle : scene.obstacles)
    if (obstacle.surface) text += hash_hex(hash_file(obstacle.surface->file));
  for (const RigidScene& rigid : scene.rigids)
    if (rigid.surface) text += hash_hex(hash_file(rigid.surface->file));
  for (const PartScene& part : scene.parts)
    text += part.scene.empty() ? hash_hex(hash_file(part.model)) : hash_hex(scene_fingerprint(read_scene(part.scene)));
  return hash_text(text);
}

}  // namespace supple

// Scenes of several bodies.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <set>

#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

bool lists_bodies(const Document& document) {
  return document.root.find("part") != nullptr || document.root.find("rigid") != nullptr;
}

std::string read_path_of(const TableReader& table, std::string_view key) {
  const std::string text = table.text(key);
  const fs::path file = fs::path(table.place(key).file).parent_path() / text;
  std::error_code error;
  if (!fs::exists(file, error))
    table.fail(
        key, fmt::format("'{}' does not exist", file.string()),
        key == "model" ? "make it: supple reduce SCENE -o MODEL" : "the path starts from the scene file's folder");
  return file.string();
}

PartScene read_part(const TableReader& table) {
  PartScene part;
  part.place = table.place();
  part.name = table.identifier("name");
  if (table.has("scene") == table.has("model"))
    table.fail(table.has("model") ? "model" : "scene",
               fmt::format("part '{}' has {} scene and model", part.name, table.has("scene") ? "both" : "neither"),
               "scene = \"finger/scene.toml\", or model = \"finger.rom.h5\"");
  if (table.has("scene")) part.scene = read_path_of(table, "scene");
  if (table.has("model")) part.model = read_path_of(table, "model");
  part.on = table.text("on");
  part.translation = table.vector("translation", {});
  part.rotation = table.vector("rotation", {});
  part.friction = table.quantity("friction", part.friction);
  enum class Collision { skin, none };
  part.collides = table.choice("collision", Collision::skin) == Collision::skin;
  if (!part.collides)
    refuse(table, "a part that touches no other", "collision", {"friction", "self_contact", "box", "sphere"});
  if (has_region(table)) part.touching = read_region(table, fmt::format("part '{}'", part.name));
  part.self_contact = table.boolean("self_contact", part.self_contact);
  return part;
}

WorldRecipe read_recipe(const TableReader& table) {
  WorldRecipe recipe;
  recipe.error = table.quantity("error", recipe.error);
  recipe.states = static_cast<int>(table.integer("states", recipe.states, 1'000'000));
  recipe.max_modes = static_cast<int>(table.integer("max_modes", recipe.max_modes, 10'000));
  recipe.validation_states = static_cast<int>(table.integer("validation_states", recipe.validation_states, 1'000'000));
  recipe.along = read_training_commands(table);
  recipe.force_error = table.quantity("force_error", recipe.force_error);
  if (recipe.along.file.empty())
    refuse(table, "training on equilibria", "way of training (actuation)", {"force_error"});
  else
    refuse(table, "training along commands", "way of training", {"validation_states"});
  recipe.seed = static_cast<std::uint64_t>(
      table.integer("seed", static_cast<std::int64_t>(recipe.seed), std::numeric_limits<std::int64_t>::max()));
  return recipe;
}

void check_surface_exists(const TableReader& table, const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    table.fail("surface", fmt::format("the surface '{}' does not exist", file),
               "check the path; it starts from the scene file's folder");
}

void refuse_region(const TableReader& contact) {
  for (const std::string_view key : {"box", "sphere", "group", "surface"})
    if (contact.has(key))
      contact.fail(key,
                   fmt::format("[contact] of several bodies has a {}, and does not say of which part",
                               key == "surface" ? "surface" : "region"),
                   "[contact] with it in the scene of the part");
}

}  // namespace

bool is_assembly(const std::string& path) {
  return lists_bodies(read_document(scene_file(path)));
}

AssemblyScene read_assembly(const std::string& path) {
  const Document document = read_document(scene_file(path));
  const TableReader table(document, document.root, document.root.at, scene_table("several bodies"));
  AssemblyScene scene;
  scene.file = scene_file(path);
  for (const SourceFile& file : document.files) scene.files.push_back(file.path);
  scene.name = table.has("name") ? table.text("name") : fs::path(scene.file).stem().string();
  scene.gravity = table.vector("gravity", scene.gravity);
  scene.time_step = table.quantity("time_step", scene.time_step);
  scene.duration = table.quantity("duration", scene.duration);
  scene.integrator = table.choice("integrator", scene.integrator);
  scene.implicit_velocity = read_implicit_factor(table, "implicit_velocity");
  scene.implicit_position = read_implicit_factor(table, "implicit_position");
  for (const TableReader& rigid : table.tables("rigid")) {
    scene.rigids.push_back(read_rigid(rigid));
    if (const auto& surface = scene.rigids.back().surface) check_surface_exists(rigid, surface->file);
  }
  for (const TableReader& part : table.tables("part")) scene.parts.push_back(read_part(part));
  for (const TableReader& link : table.tables("link")) scene.links.push_back(read_link(link));
  for (const TableReader& effector : table.tables("effector")) scene.effectors.push_back(read_body_effector(effector));
  for (const TableReader& obstacle : table.tables("obstacle")) {
    scene.obstacles.push_back(read_obstacle(obstacle));
    if (const auto& surface = scene.obstacles.back().surface) check_surface_exists(obstacle, surface->file);
  }
  if (table.has("reduce")) scene.reduction = read_recipe(table.table("reduce"));
  if (table.has("contact")) {
    const TableReader contact = table.table("contact");
    refuse_region(contact);
    scene.contact = read_contact(contact);
  }
  std::set<std::string> names = {"world"};
  const auto add = [&](const std::string& name, const Place& place) {
    if (!names.insert(name).second)
      throw InputError(fmt::format("the name '{}' is taken", name), "another name", place);
  };
  for (const RigidScene& rigid : scene.rigids) add(rigid.name, rigid.place);
  for (const PartScene& part : scene.parts) add(part.name, part.place);
  for (const LinkScene& link : scene.links) add(link.name, link.place);
  for (const BodyEffectorScene& of : scene.effectors) add(of.effector.name, of.effector.place);
  for (const ObstacleScene& obstacle : scene.obstacles) add(obstacle.name, obstacle.place);
  return scene;
}

void refuse_assembly(const Document& document, const std::string& file) {
  if (!lists_bodies(document)) return;
  const Member* member =
      document.root.find("part") != nullptr ? document.root.find("part") : document.root.find("rigid");
  throw InputError(fmt::format("'{}' has several bodies ([[part]], [[rigid]]), which this does not take yet", file),
                   "supple simulate, reduce, inverse, check, info, view and render do; or the scene of one part",
                   document.place(member->at));
}

}  // namespace supple

// Obstacles of a scene, and how the body touches them.
#include <fmt/format.h>

#include <cmath>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

// Angles (a, b, 0) of Ry(b) Rx(a), which turns z to (cos a sin b, -sin a, cos a cos b).
Vec3d rotation_to(const Vec3d& axis) {
  return {{std::atan2(-axis[1], std::hypot(axis[0], axis[2])), std::atan2(axis[0], axis[2]), 0}};
}

void require(const TableReader& table, const ObstacleScene& obstacle, std::string_view key, std::string_view example) {
  if (!table.has(key))
    table.fail(key, fmt::format("obstacle '{}' has no {}", obstacle.name, key), fmt::format("{} = {}", key, example));
}

void read_measures(const TableReader& table, ObstacleScene* obstacle) {
  const ObstacleShape shape = obstacle->shape;
  const bool tube = shape == ObstacleShape::tube;
  const bool flat_ends = shape == ObstacleShape::cylinder || tube;
  const bool has_length = shape == ObstacleShape::capsule || flat_ends;
  const std::string word(choice_words("[[obstacle]]", "type")[static_cast<std::size_t>(shape)]);
  const auto only = [&](bool wanted, std::string_view key) {
    if (!wanted) refuse(table, "a " + word, "type", {key});
    return wanted;
  };
  if (only(shape == ObstacleShape::sphere || has_length, "radius")) {
    require(table, *obstacle, "radius", "\"10 mm\"");
    obstacle->radius = table.quantity("radius", 0);
  }
  if (only(has_length, "length")) {
    require(table, *obstacle, "length", "\"100 mm\"");
    obstacle->length = table.quantity("length", 0);
    if (flat_ends && obstacle->length == 0)
      table.fail("length", fmt::format("{} '{}' has no length", word, obstacle->name), "a value above 0");
  }
  if (only(tube, "thickness")) {
    require(table, *obstacle, "thickness", "\"2 mm\"");
    obstacle->thickness = table.quantity("thickness", 0);
  }
  if (only(shape == ObstacleShape::box, "size")) {
    require(table, *obstacle, "size", "[\"100 mm\", \"100 mm\", \"10 mm\"]");
    obstacle->size = table.vector("size", {});
    for (int k = 0; k < 3; ++k)
      if (!(obstacle->size[k] > 0))
        table.fail("size", fmt::format("box '{}' has no size along {}", obstacle->name, "xyz"[k]),
                   "three lengths above 0");
  }
  if (only(shape == ObstacleShape::mesh, "surface")) {
    require(table, *obstacle, "surface", "{file = \"obstacle.stl\", unit = \"mm\"}");
    obstacle->surface = read_placed_file(table.table("surface"));
  }
  if (only(shape != ObstacleShape::sphere, "rotation")) obstacle->rotation = table.vector("rotation", {});
  if (only(has_length || shape == ObstacleShape::plane, "axis") && table.has("axis")) {
    refuse(table, "an obstacle with an axis", "direction", {"rotation"});
    obstacle->rotation = rotation_to(unit_vector(table, "axis", table.vector("axis", {})));
  }
  if (tube && table.has("inside"))
    table.fail("inside",
               fmt::format("inside means nothing to a tube (the body may be in '{}' or around it)", obstacle->name),
               "leave it out; for the inside of a closed pipe type = \"cylinder\"");
  if (only(shape != ObstacleShape::plane, "inside")) obstacle->inside = table.boolean("inside", obstacle->inside);
}

}  // namespace

ObstacleScene read_obstacle(const TableReader& table) {
  ObstacleScene obstacle;
  obstacle.place = table.place();
  obstacle.name = table.identifier("name");
  obstacle.shape = table.choice("type", obstacle.shape);
  read_measures(table, &obstacle);
  obstacle.position = table.vector("position", obstacle.position);
  obstacle.friction = table.quantity("friction", obstacle.friction);
  obstacle.max_force = table.quantity("max_force", obstacle.max_force);
  return obstacle;
}

ContactScene read_contact(const TableReader& table) {
  ContactScene contact;
  contact.place = table.place();
  contact.distance = table.quantity("distance", contact.distance);
  contact.spacing = table.quantity("spacing", contact.spacing);
  if (has_region(table)) contact.region = read_region(table, "[contact]");
  if (table.has("surface")) {
    for (const std::string_view key : {"spacing", "group"})
      if (table.has(key))
        table.fail(key, fmt::format("{} means nothing to a surface (its corners are the points)", key),
                   "leave it out, or the surface; box and sphere choose among its corners");
    contact.surface = read_placed_file(table.table("surface"));
  }
  return contact;
}

}  // namespace supple

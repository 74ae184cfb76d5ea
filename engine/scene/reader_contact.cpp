// Obstacles of a scene, and how the body touches them.
#include <fmt/format.h>

#include <cmath>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

constexpr const char* shape_names[] = {"a plane", "a sphere", "a capsule", "a box", "a cylinder", "a mesh"};

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
  const bool round =
      shape == ObstacleShape::sphere || shape == ObstacleShape::capsule || shape == ObstacleShape::cylinder;
  const bool has_axis =
      shape == ObstacleShape::plane || shape == ObstacleShape::capsule || shape == ObstacleShape::cylinder;
  const auto only = [&](bool wanted, std::string_view key) {
    if (!wanted) refuse(table, shape_names[static_cast<int>(shape)], "type", {key});
    return wanted;
  };
  if (only(round, "radius")) {
    require(table, *obstacle, "radius", "\"10 mm\"");
    obstacle->radius = table.quantity("radius", 0);
  }
  if (only(round && shape != ObstacleShape::sphere, "length")) {
    require(table, *obstacle, "length", "\"100 mm\"");
    obstacle->length = table.quantity("length", 0);
    if (shape == ObstacleShape::cylinder && obstacle->length == 0)
      table.fail("length", fmt::format("cylinder '{}' has no length", obstacle->name), "a value above 0");
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
  if (only(has_axis, "axis") && table.has("axis")) {
    refuse(table, "an obstacle with an axis", "direction", {"rotation"});
    obstacle->rotation = rotation_to(unit_vector(table, "axis", table.vector("axis", {})));
  }
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
  return obstacle;
}

ContactScene read_contact(const TableReader& table) {
  ContactScene contact;
  contact.place = table.place();
  contact.distance = table.quantity("distance", contact.distance);
  contact.spacing = table.quantity("spacing", contact.spacing);
  if (has_region(table)) contact.region = read_region(table, "[contact]");
  return contact;
}

}  // namespace supple

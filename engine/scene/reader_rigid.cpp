// Rigid bodies of a scene of several bodies.
#include <fmt/format.h>

#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

void read_shape(const TableReader& table, RigidScene* rigid) {
  rigid->shape = table.choice("type", rigid->shape);
  const RigidShape shape = rigid->shape;
  const bool has_length = shape == RigidShape::capsule || shape == RigidShape::cylinder;
  const std::string word(choice_words("[[rigid]]", "type")[static_cast<std::size_t>(shape)]);
  // Whether to read it: a box that is not named has no size unless it is given.
  const auto wanted = [&](bool wants, std::string_view key, std::string_view example) {
    if (!wants) {
      refuse(table, "a " + word, "type", {key});
    } else if (!table.has(key) && table.has("type")) {
      table.fail(key, fmt::format("rigid body '{}' has no {} (it is a {})", rigid->name, key, word),
                 fmt::format("{} = {}", key, example));
    }
    return wants && table.has(key);
  };
  if (wanted(shape == RigidShape::box, "size", "[\"80 mm\", \"80 mm\", \"10 mm\"]")) {
    rigid->size = table.vector("size", {});
    for (int k = 0; k < 3; ++k)
      if (!((*rigid->size)[k] > 0))
        table.fail("size", fmt::format("rigid body '{}' has no extent along an axis", rigid->name),
                   "size = [\"80 mm\", \"80 mm\", \"10 mm\"]");
  }
  if (wanted(shape == RigidShape::sphere || has_length, "radius", "\"10 mm\""))
    rigid->radius = table.quantity("radius", 0);
  if (wanted(has_length, "length", "\"100 mm\"")) {
    rigid->length = table.quantity("length", 0);
    if (shape == RigidShape::cylinder && rigid->length == 0)
      table.fail("length", fmt::format("cylinder '{}' has no length", rigid->name), "a value above 0");
  }
  if (wanted(shape == RigidShape::mesh, "surface", "{file = \"body.stl\", unit = \"mm\"}"))
    rigid->surface = read_placed_file(table.table("surface"));
}

MotionScene read_motion(const TableReader& table) {
  MotionScene motion;
  motion.place = table.place();
  motion.name = table.identifier("name");
  motion.kind = table.choice("type", motion.kind);
  motion.direction = unit_vector(table, "direction", table.vector("direction", {}));
  if (motion.kind == MotionKind::translation) refuse(table, "a translation", "type", {"centre"});
  motion.centre = table.vector("centre", motion.centre);
  motion.range =
      table.interval("range", motion.range, motion.kind == MotionKind::rotation ? Dimension::angle : Dimension::length);
  return motion;
}

void read_motions(const TableReader& table, RigidScene* rigid) {
  if (!table.has_text("motion")) {
    refuse(table, table.has("motion") ? "a list of motions" : "a rigid body without a motion", "motion",
           {"direction", "range"});
    for (const TableReader& motion : table.tables("motion")) {
      rigid->motions.push_back(read_motion(motion));
      for (std::size_t k = 0; k + 1 < rigid->motions.size(); ++k)
        if (rigid->motions[k].name == rigid->motions.back().name)
          motion.fail("name", fmt::format("'{}' has a motion '{}' already", rigid->name, rigid->motions[k].name),
                      "another name");
    }
    return;
  }
  MotionScene motion;
  motion.place = table.place("motion");
  motion.name = table.identifier("motion");
  if (!table.has("direction"))
    table.fail("direction", fmt::format("motion '{}' has no direction", motion.name), "direction = [0, 0, 1]");
  motion.direction = unit_vector(table, "direction", table.vector("direction", {}));
  motion.range = table.interval("range", motion.range, Dimension::length);
  rigid->motions = {motion};
}

void check_hold(const TableReader& table, const RigidScene& rigid) {
  if (rigid.held && !rigid.motions.empty())
    table.fail("held", "a rigid body is held or driven, not both", "one of held and motion");
  if (rigid.held && !rigid.on.empty())
    table.fail("held",
               fmt::format("'{}' is held, and carried by '{}' (it moves with what carries it)", rigid.name, rigid.on),
               fmt::format("one of held and on; or held = true of '{}'", rigid.on));
  const bool free = !rigid.held && rigid.motions.empty() && rigid.on.empty();
  if (free && (!rigid.mass || !rigid.has_shape()))
    table.fail(rigid.mass ? "size" : "mass",
               fmt::format("rigid body '{}' moves freely and has no {}", rigid.name, rigid.mass ? "size" : "mass"),
               rigid.mass ? "size = [\"80 mm\", \"80 mm\", \"10 mm\"], or another type of shape"
                          : "mass = \"200 g\", or held = true");
  if (!rigid.on.empty() && rigid.motions.empty() && rigid.mass && !rigid.has_shape())
    table.fail("size", fmt::format("rigid body '{}' has a mass and no shape (it has no inertia)", rigid.name),
               "size = [\"80 mm\", \"80 mm\", \"10 mm\"], or another type of shape");
}

}  // namespace

RigidScene read_rigid(const TableReader& table) {
  RigidScene rigid;
  rigid.place = table.place();
  rigid.name = table.identifier("name");
  rigid.on = table.text("on");
  rigid.translation = table.vector("translation", {});
  rigid.rotation = table.vector("rotation", {});
  rigid.held = table.boolean("held", false);
  rigid.mass = table.optional_quantity("mass");
  read_shape(table, &rigid);
  read_motions(table, &rigid);
  check_hold(table, rigid);
  rigid.friction = table.quantity("friction", rigid.friction);
  enum class Collision { shape, none };
  rigid.collides = table.choice("collision", Collision::shape) == Collision::shape;
  if (!rigid.collides) refuse(table, "a body that touches no other", "collision", {"friction"});
  for (const TableReader& point : table.tables("point")) {
    rigid.points.push_back({point.identifier("name"), point.vector("point", {}), "", point.place()});
    for (std::size_t k = 0; k + 1 < rigid.points.size(); ++k)
      if (rigid.points[k].name == rigid.points.back().name)
        point.fail("name", fmt::format("'{}' has a point '{}' already", rigid.name, rigid.points[k].name),
                   "another name");
  }
  return rigid;
}

}  // namespace supple

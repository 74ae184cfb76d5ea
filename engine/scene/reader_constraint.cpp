// Constraints of a scene.
#include <fmt/format.h>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

void read_segment(const TableReader& table, ConstraintScene* constraint) {
  const bool limit = constraint->kind == ConstraintKind::limit;
  const std::string what = fmt::format("{} '{}'", limit ? "limit" : "distance", constraint->name);
  refuse(table, limit ? "a limit" : "a distance", "type", {"point", "position", "directions", "normal"});
  if (!table.has("points"))
    table.fail("points", what + " has no points", "points = [[x, y, z], [x, y, z]], or one of them and an anchor");
  const Path path = read_path(table, what, "anchor");
  if (path.points.size() + (path.end ? 1 : 0) > 2)
    table.fail("points",
               fmt::format("{} has {} ends (it is a straight segment)", what, path.points.size() + (path.end ? 1 : 0)),
               "two points, or one and an anchor");
  constraint->points = path.points;
  constraint->anchor = path.end;
  constraint->attachment_radius = path.attachment_radius;
  if (table.has("length")) constraint->length = table.quantity("length", 0);
  if (!limit) {
    refuse(table, "a distance", "type", {"bound"});
    // Its direction is lost where the length vanishes.
    if (constraint->length == 0.0)
      table.fail("length", what + " has no length (its direction would be lost)",
                 "a length above 0; type = \"fixed-point\" holds a point");
  }
  constraint->bound = table.choice("bound", constraint->bound);
}

void read_held_point(const TableReader& table, ConstraintScene* constraint) {
  const bool plane = constraint->kind == ConstraintKind::plane;
  const char* owner = plane ? "a plane" : "a fixed point";
  refuse(table, owner, "type", {"points", "anchor", "length", "bound"});
  refuse(table, owner, "type", {plane ? "directions" : "normal"});
  if (!table.has("point"))
    table.fail("point", fmt::format("constraint '{}' has no point", constraint->name), "point = [x, y, z]");
  constraint->points = {table.vector("point", {})};
  constraint->attachment_radius = table.quantity("attachment_radius", 0);
  if (table.has("position")) constraint->position = table.vector("position", {});
  if (!plane) {
    constraint->directions = read_directions(table, constraint->directions);
    return;
  }
  if (!table.has("normal"))
    table.fail("normal", fmt::format("plane '{}' has no normal", constraint->name), "normal = [0, 0, 1]");
  constraint->directions = {unit_vector(table, "normal", table.vector("normal", {}))};
}

void read_spring(const TableReader& table, ConstraintScene* constraint) {
  if (table.has("compliance") && table.has("stiffness"))
    table.fail("stiffness", fmt::format("constraint '{}' has both a compliance and a stiffness", constraint->name),
               "one of them");
  constraint->compliance =
      table.has("stiffness") ? 1 / table.quantity("stiffness", 1) : table.quantity("compliance", 0);
  constraint->damping_time = table.quantity("damping_time", 0);
  const bool limit = constraint->kind == ConstraintKind::limit, spring = constraint->compliance > 0;
  constraint->form = table.choice("as", spring && !limit ? ConstraintForm::force : ConstraintForm::constraint);
  if (constraint->form == ConstraintForm::constraint) return;
  if (!spring)
    table.fail("as", fmt::format("constraint '{}' is hard (it is no spring whose force is known)", constraint->name),
               "compliance = \"1 mm/N\", or as = \"constraint\"");
  if (limit)
    table.fail("as",
               fmt::format("limit '{}' is one-sided (when it pulls is not known before the step)", constraint->name),
               "as = \"constraint\"");
}

}  // namespace

ConstraintScene read_constraint(const TableReader& table) {
  ConstraintScene constraint;
  constraint.place = table.place();
  constraint.name = table.identifier("name");
  constraint.kind = table.choice("type", constraint.kind);
  if (constraint.kind == ConstraintKind::distance || constraint.kind == ConstraintKind::limit)
    read_segment(table, &constraint);
  else
    read_held_point(table, &constraint);
  read_spring(table, &constraint);
  return constraint;
}

}  // namespace supple

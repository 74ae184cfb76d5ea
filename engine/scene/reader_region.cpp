#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

constexpr std::array<std::string_view, 3> region_kinds{"box", "sphere", "group"};

}  // namespace

void refuse(const TableReader& table, std::string_view owner, std::string_view chosen_by,
            std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (table.has(name))
      table.fail(name, fmt::format("{} means nothing to {}", name, owner),
                 fmt::format("leave it out, or choose another {}", chosen_by));
}

TrainingCommands read_training_commands(const TableReader& table) {
  TrainingCommands commands;
  commands.place = table.place("actuation");
  // Read by what trains with it, and by nothing else.
  if (table.has("actuation")) {
    if (table.text("actuation").empty()) table.fail("actuation", "no file is named", "\"commands.csv\"");
    const std::filesystem::path folder = std::filesystem::path(commands.place.file).parent_path();
    commands.file = std::filesystem::absolute(folder / table.text("actuation")).lexically_normal().string();
  } else {
    refuse(table, "training without commands over time", "way of training (actuation)", {"variation"});
  }
  commands.variation = table.quantity("variation", commands.variation);
  return commands;
}

bool has_region(const TableReader& table) {
  for (const std::string_view kind : region_kinds)
    if (table.has(kind)) return true;
  return false;
}

Region read_region(const TableReader& table, std::string_view title) {
  Region region;
  region.place = table.place();
  std::string_view chosen;
  for (const std::string_view kind : region_kinds) {
    if (!table.has(kind)) continue;
    if (!chosen.empty())
      table.fail(kind, fmt::format("{} has both {} and {}", title, chosen, kind),
                 "one of them; write two entries for two regions");
    chosen = kind;
  }
  if (chosen.empty())
    table.fail("box", fmt::format("{} has no region", title),
               "one of box = [lower, upper], sphere = {centre, radius}, group = \"name\"");
  if (chosen == "box") {
    region.kind = Region::Kind::box;
    std::tie(region.lower, region.upper) = table.corners("box");
  } else if (chosen == "sphere") {
    const TableReader sphere = table.table("sphere");
    region.kind = Region::Kind::sphere;
    region.centre = sphere.vector("centre", {});
    region.radius = sphere.quantity("radius", 0);
  } else {
    region.kind = Region::Kind::group;
    region.group = table.text("group");
  }
  return region;
}

SurfaceScene read_placed_file(const TableReader& table) {
  namespace fs = std::filesystem;
  SurfaceScene placed;
  placed.place = table.place();
  const fs::path folder = fs::path(table.place("file").file).parent_path();
  placed.file = fs::absolute(folder / table.text("file")).lexically_normal().string();
  if (table.has("unit")) placed.unit = parse_unit(table.text("unit"), Dimension::length, table.place("unit"));
  placed.transform.scale = table.quantity("scale", placed.transform.scale);
  placed.transform.rotation = table.vector("rotation", placed.transform.rotation);
  placed.transform.translation = table.vector("translation", placed.transform.translation);
  return placed;
}

Vec3d unit_vector(const TableReader& table, std::string_view key, const Vec3d& v) {
  const double largest = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])});
  if (!(largest > 0) || !std::isfinite(largest))
    table.fail(key, fmt::format("{} has no length", key), key == "direction" ? "direction = [0, 0, 1]" : "[0, 0, 1]");
  if (std::abs(norm(v) - 1) <= 1e-12) return v;
  return normalized(
      Vec3d{{v[0] / largest, v[1] / largest, v[2] / largest}});  // squares that neither over- nor underflow
}

}  // namespace supple

// docs/reference/scene.md from the list of keys.
#include <fmt/format.h>

#include "engine/scene/keys.hpp"

namespace supple {
namespace {

std::string value_type(const Key& key) {
  const std::string of(dimension_name(key.dimension).substr(dimension_name(key.dimension).find(' ') + 1));
  std::string type;
  switch (key.kind) {
    case ValueKind::text:
      return key.dimension == Dimension::length ? "unit of length" : "text";
    case ValueKind::choice:
      for (const std::string_view word : split_choices(key.choices))
        type += fmt::format("{}`\"{}\"`", type.empty() ? "" : ", ", word);
      return type;
    case ValueKind::integer:
      return fmt::format("whole number, at least {}", key.least);
    case ValueKind::boolean:
      return "`true` or `false`";
    case ValueKind::quantity:
      type = key.dimension == Dimension::number ? "number" : of;
      if (key.bound == Bound::positive) type += " above 0";
      if (key.bound == Bound::non_negative) type += ", at least 0";
      if (key.name == "noise") return "quantity of what is measured, at least 0";
      if (key.name == "bias") return "quantity of what is measured";
      return key.name == "rate" ? "speed, flow, or rate of force or pressure; above 0" : type;
    case ValueKind::vector:
      return fmt::format("[x, y, z], each {}", dimension_name(key.dimension));
    case ValueKind::vectors:
      return fmt::format("list of [x, y, z], each {}", dimension_name(key.dimension));
    case ValueKind::interval:
      return "[lower, upper]";
    case ValueKind::box:
      return "[lower corner, upper corner]";
    case ValueKind::table:
      return "table, below";
    case ValueKind::text_or_tables:
      return "text, or list of tables, below";
    case ValueKind::tables:
      break;
  }
  return "list of tables, below";
}

}  // namespace

std::string scene_reference_markdown() {
  std::string text = R"(# Scene files

Generated from `engine/scene/keys.cpp`; a test compares.

A scene is a TOML file. A quantity is a text with its unit, `"450 kPa"`, `"40 mm"`, `"-9.81 m/s^2"`, or a bare number in SI (m, kg,
s, N, Pa, rad). Units are those of UDUNITS-2 with `deg` and `rev`; a wrong dimension is an error, and so is an unknown key.
`inf` leaves an end of a range open. Z is up. Paths start from the folder of the file that has them. Names of actuators, motions,
constraints, effectors, probes, sensors and obstacles are all different.

)";
  const auto add = [&](const TableKeys& table) {
    if (table.title == "the scene")
      text += "## Top of the file\n\n";
    else if (table.title == "several bodies")
      text += "## Several bodies\n\n";
    else
      text += fmt::format("## `{}`\n\n", table.title);
    text += fmt::format("{}\n\n| key | value | without it | meaning |\n|---|---|---|---|\n", table.meaning);
    for (const Key& key : table.keys) {
      const bool literal = !key.fallback.ends_with("bilateral [-inf, inf]") &&
                           (key.fallback.find_first_of("\"[0123456789") == 0 || key.fallback == "true" ||
                            key.fallback == "false" || key.fallback == "inf");
      text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, value_type(key),
                          literal ? fmt::format("`{}`", key.fallback) : std::string(key.fallback), key.meaning);
    }
    text += "\n";
  };
  for (const TableKeys& table : scene_tables()) add(table);
  for (const TableKeys& table : assembly_tables()) add(table);
  text.pop_back();
  return text;
}

}  // namespace supple

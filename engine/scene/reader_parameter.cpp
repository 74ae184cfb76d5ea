// Parameters of a scene.
#include <fmt/format.h>

#include <cmath>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

// The number of a material or membrane, from 1.
int read_owner(const TableReader& table, std::string_view key, std::size_t count, const std::string& name) {
  const std::int64_t number = table.integer(key, 0, 1'000'000);
  if (number > static_cast<std::int64_t>(count))
    table.fail(key,
               fmt::format("parameter '{}' is of {} {}, and the body has {}", name, key, number,
                           count == 0 ? "none" : std::to_string(count)),
               count == 0 ? fmt::format("without {}", key) : fmt::format("{} = 1 to {}", key, count));
  return static_cast<int>(number);
}

}  // namespace

ParameterScene read_parameter(const TableReader& table, const BodyScene& body) {
  ParameterScene parameter;
  parameter.place = table.place();
  parameter.name = table.identifier("name");
  parameter.kind = table.choice("type", parameter.kind);
  parameter.range = table.interval("range", parameter.range, Dimension::number);
  const Interval& range = parameter.range;
  if (!(range.lower > 0) || !std::isfinite(range.upper))
    table.fail("range", fmt::format("the range of parameter '{}' is not of factors above 0", parameter.name),
               "range = [0.5, 2]");
  if (!(range.lower <= 1 && range.upper >= 1))
    table.fail("range",
               fmt::format("the range of parameter '{}', {:g} to {:g}, leaves out 1 (the scene as it stands)",
                           parameter.name, range.lower, range.upper),
               "other values in the scene, and a range about 1");
  if (range.lower == range.upper)
    table.fail("range", fmt::format("parameter '{}' has no range", parameter.name), "range = [0.5, 2]");
  const std::string what = fmt::format("a parameter of type {}", table.text("type"));
  if (parameter.kind != ParameterKind::stiffness) refuse(table, what, "type", {"material", "membrane"});
  if (parameter.kind != ParameterKind::stretch) {
    refuse(table, what, "type", {"direction", "from", "to", "about"});
    if (table.has("material") && table.has("membrane"))
      table.fail("membrane", fmt::format("parameter '{}' is of both a material and a membrane", parameter.name),
                 "one of them");
    parameter.material = read_owner(table, "material", body.materials.size(), parameter.name);
    parameter.membrane = read_owner(table, "membrane", body.membranes.size(), parameter.name);
    return parameter;
  }
  if (!table.has("direction"))
    table.fail("direction", fmt::format("stretch '{}' has no direction", parameter.name), "direction = [0, 0, 1]");
  parameter.direction = unit_vector(table, "direction", table.vector("direction", {}));
  if (table.has("from")) parameter.from = table.vector("from", {});
  if (table.has("to")) parameter.to = table.vector("to", {});
  if (table.has("about")) parameter.about = table.vector("about", {});
  return parameter;
}

}  // namespace supple

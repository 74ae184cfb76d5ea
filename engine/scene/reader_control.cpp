// Actuators and effectors of a scene.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

// Of the parallelepiped of the unit vectors: below it a row would nearly repeat another one.
constexpr double least_independence = 1e-3;

void read_force_place(const TableReader& table, ActuatorScene* force) {
  refuse(table, "a force", "type", {"points", "pull_point", "surface", "pressure"});
  if (table.has("point")) {
    if (has_region(table))
      table.fail("point", fmt::format("force '{}' has both a point and a region", force->name), "one of them");
    force->points = {table.vector("point", {})};
    force->attachment_radius = table.quantity("attachment_radius", 0);
  } else {
    if (!has_region(table))
      table.fail("point", fmt::format("force '{}' has neither a point nor a region", force->name),
                 "point = [x, y, z], or one of box = [lower, upper], sphere = {centre, radius}, group = \"name\"");
    refuse(table, "a force on a region", "place", {"attachment_radius"});
    force->region = read_region(table, "[[actuator]]");
  }
  if (!table.has("direction"))
    table.fail("direction", fmt::format("force '{}' has no direction", force->name), "direction = [0, 0, 1]");
  force->direction = unit_vector(table, "direction", table.vector("direction", {}));
}

void read_cavity_walls(const TableReader& table, ActuatorScene* cavity) {
  refuse(table, "a cavity", "type", {"point", "points", "pull_point", "direction", "attachment_radius", "force"});
  if (table.has("surface") && has_region(table))
    table.fail("surface", fmt::format("cavity '{}' has both a surface and a region", cavity->name), "one of them");
  if (table.has("surface")) {
    cavity->surface = read_placed_file(table.table("surface"));
  } else {
    if (!has_region(table))
      table.fail("group", fmt::format("cavity '{}' has no walls", cavity->name),
                 "group = \"name\" of the mesh, box = [lower, upper], sphere = {centre, radius}, or surface = {file = "
                 "\"cavity.stl\", unit = \"mm\"}");
    cavity->region = read_region(table, "[[actuator]]");
  }
}

// The words of the scene; of a cavity, volume and pressure stand for displacement and force.
enum class ControlWord { displacement, force, volume, pressure, gas, supply };

ActuatorControl read_control(const TableReader& table, const ActuatorScene& actuator) {
  const bool cavity = actuator.kind == ActuatorKind::cavity;
  const ControlWord word = table.choice("control", cavity                                 ? ControlWord::pressure
                                                   : actuator.kind == ActuatorKind::cable ? ControlWord::displacement
                                                                                          : ControlWord::force);
  if (cavity != (word >= ControlWord::volume))
    table.fail(
        "control",
        fmt::format("a {} is not controlled by {}", cavity ? "cavity" : "cable or a force", table.text("control")),
        cavity ? "\"pressure\", \"volume\", \"gas\" or \"supply\"" : "\"displacement\" or \"force\"");
  return static_cast<ActuatorControl>(static_cast<int>(word) - (cavity ? 2 : 0));
}

void read_gas(const TableReader& table, ActuatorScene* cavity) {
  const bool supply = cavity->control == ActuatorControl::supply;
  if (!supply && cavity->control != ActuatorControl::gas) {
    refuse(table, "an actuator without gas", "control", {"atmosphere", "dead_volume", "resistance"});
    return;
  }
  cavity->atmosphere = table.quantity("atmosphere", cavity->atmosphere);
  cavity->dead_volume = table.quantity("dead_volume", 0);
  if (!supply) {
    refuse(table, "gas that is put in", "control", {"resistance"});
  } else if (!table.has("resistance")) {
    table.fail("control", fmt::format("the line that supplies '{}' has no resistance", cavity->name),
               "resistance = \"10 kPa s/mL\"; without any, control = \"pressure\"");
  }
  cavity->resistance = table.quantity("resistance", 0);
}

void read_friction(const TableReader& table, ActuatorScene* cable) {
  if (cable->kind != ActuatorKind::cable)
    return refuse(table, "an actuator that is no cable", "type", {"friction", "slip_length"});
  cable->friction = table.quantity("friction", 0);
  cable->slip_length = table.quantity("slip_length", cable->slip_length);
  if (table.has("slip_length") && cable->friction == 0)
    table.fail("slip_length", fmt::format("cable '{}' has a slip_length and no friction", cable->name),
               "friction = 0.2, or no slip_length");
  if (cable->friction > 0 && cable->bilateral)
    table.fail("bilateral", fmt::format("cable '{}' rubs and pushes (friction is that of a taut cable)", cable->name),
               "bilateral = false, or no friction");
  if (cable->friction > 0 && cable->points.size() + (cable->pull_point ? 1 : 0) < 3)
    table.fail("friction", fmt::format("cable '{}' is straight (it turns nowhere)", cable->name),
               "more points, or no friction");
}

void read_limits(const TableReader& table, ActuatorScene* actuator) {
  const bool cavity = actuator->kind == ActuatorKind::cavity, by_force = commands_force(actuator->control),
             gas = actuator->control == ActuatorControl::gas,
             has_gas = gas || actuator->control == ActuatorControl::supply;
  // Nothing sucks at gas more than a vacuum.
  const Interval all = has_gas               ? Interval{-actuator->atmosphere, unlimited}
                       : actuator->bilateral ? Interval{}
                                             : Interval{0, unlimited};
  const std::string_view multiplier = cavity ? "pressure" : "force";
  actuator->range =
      table.interval("range", gas ? Interval{0, 0} : all, command_dimension(actuator->kind, actuator->control));
  actuator->rate = table.quantity("rate", unlimited, rate_dimension(actuator->kind, actuator->control));
  actuator->force = table.interval(multiplier, all, multiplier_dimension(actuator->kind));
  if (has_gas && (actuator->force.lower < all.lower || (by_force && actuator->range.lower < all.lower)))
    table.fail(actuator->force.lower < all.lower ? "pressure" : "range",
               fmt::format("'{}' is sucked at by more than the atmosphere", actuator->name),
               fmt::format("{} or more", format_quantity(all.lower, Dimension::stress)));
  const auto only_one_way = [&](std::string_view name, Interval* limits) {
    if (actuator->bilateral) return;
    if (limits->lower == -unlimited || (has_gas && !table.has(name))) limits->lower = 0;
    if (limits->lower >= 0 && limits->upper >= 0) return;
    const char* kind = actuator->kind == ActuatorKind::cable   ? "cable"
                       : actuator->kind == ActuatorKind::force ? "force"
                                                               : "cavity";
    const char* why = actuator->kind == ActuatorKind::cable   ? "a cable only pulls"
                      : actuator->kind == ActuatorKind::force ? "it acts one way only"
                                                              : "it is not sucked at";
    table.fail(name, fmt::format("{} of {} '{}' is negative ({})", name, kind, actuator->name, why),
               "bilateral = true");
  };
  only_one_way(multiplier, &actuator->force);
  if (by_force) only_one_way("range", &actuator->range);
}

void read_volume_walls(const TableReader& table, const std::vector<ActuatorScene>& actuators, EffectorScene* volume) {
  refuse(table, "a volume", "type",
         {"point", "directions", "lever", "points", "pull_point", "attachment_radius", "cable"});
  const int given = (table.has("cavity") ? 1 : 0) + (table.has("surface") ? 1 : 0) + (has_region(table) ? 1 : 0);
  if (given != 1)
    table.fail(given == 0            ? "type"
               : table.has("cavity") ? "cavity"
                                     : "surface",
               fmt::format("volume '{}' has {}", volume->name, given == 0 ? "no walls" : "walls said twice"),
               "one of cavity = \"name of an actuator\", group = \"name\" of the mesh, box = [lower, upper], sphere = "
               "{centre, radius}, surface = {file = \"cavity.stl\", unit = \"mm\"}");
  if (table.has("cavity")) {
    const ActuatorScene& cavity =
        named_actuator(table, actuators, "cavity", ActuatorKind::cavity, "volume", "group = \"name\"");
    volume->region = cavity.region;
    volume->surface = cavity.surface;
  } else if (table.has("surface")) {
    volume->surface = read_placed_file(table.table("surface"));
  } else {
    volume->region = read_region(table, "[[effector]]");
  }
}

void read_length(const TableReader& table, const std::vector<ActuatorScene>& actuators, EffectorScene* length) {
  refuse(table, "a length", "type", {"point", "box", "sphere", "group", "directions", "lever", "cavity", "surface"});
  const Path path = read_length_path(table, actuators, length->name);
  length->points = path.points;
  length->pull_point = path.end;
  length->attachment_radius = path.attachment_radius;
}

}  // namespace

const ActuatorScene& named_actuator(const TableReader& table, const std::vector<ActuatorScene>& actuators,
                                    std::string_view key, ActuatorKind kind, std::string_view measure,
                                    const char* otherwise) {
  const char* const word = kind == ActuatorKind::cable ? "cable" : kind == ActuatorKind::cavity ? "cavity" : "force";
  const std::string name = table.text(key);
  std::vector<std::string> names;
  for (const ActuatorScene& actuator : actuators) {
    if (actuator.kind != kind) continue;
    if (actuator.name == name) return actuator;
    names.push_back(actuator.name);
  }
  const auto is_named = [&](const ActuatorScene& actuator) { return actuator.name == name; };
  if (std::any_of(actuators.begin(), actuators.end(), is_named))
    table.fail(key, fmt::format("'{}' is no {} (it has no {})", name, word, measure), otherwise);
  const std::string near = nearest_word(name, names);
  table.fail(
      key,
      fmt::format("there is no {} '{}'{}", word, name, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)),
      names.empty() ? otherwise : fmt::format("{} = \"{}\"", key, names.front()));
}

Path read_length_path(const TableReader& table, const std::vector<ActuatorScene>& actuators, const std::string& name) {
  if (table.has("cable")) {
    refuse(table, "a length with a cable", "path", {"points", "pull_point", "attachment_radius"});
    const ActuatorScene& cable =
        named_actuator(table, actuators, "cable", ActuatorKind::cable, "length", "points = [[x, y, z], ...]");
    return {cable.points, cable.pull_point, cable.attachment_radius};
  }
  if (!table.has("points"))
    table.fail("points", fmt::format("length '{}' has no path", name),
               "points = [[x, y, z], ...], or cable = \"name of an actuator\"");
  return read_path(table, fmt::format("length '{}'", name), "pull_point");
}

Path read_path(const TableReader& table, const std::string& what, std::string_view end) {
  Path path;
  path.points = table.vectors("points");
  if (table.has(end)) path.end = table.vector(end, {});
  path.attachment_radius = table.quantity("attachment_radius", 0);
  if (path.points.size() + (path.end ? 1 : 0) < 2)
    table.fail("points", fmt::format("{} has one point (it needs two)", what),
               fmt::format("{} = [x, y, z], or more points", end));
  check_steps(table, what, path.points);
  if (path.end && !path.points.empty() && !(norm(*path.end - path.points.back()) > 0))
    table.fail(end,
               fmt::format("points {} and {} of {} are the same", path.points.size(), path.points.size() + 1, what),
               "remove one of them");
  return path;
}

void check_steps(const TableReader& table, const std::string& what, const std::vector<Vec3d>& points) {
  for (std::size_t i = 1; i < points.size(); ++i)
    if (!(norm(points[i] - points[i - 1]) > 0))
      table.fail("points", fmt::format("points {} and {} of {} are the same", i, i + 1, what), "remove one of them");
}

std::vector<Vec3d> read_directions(const TableReader& table, std::vector<Vec3d> fallback) {
  if (!table.has("directions")) return fallback;
  std::vector<Vec3d> directions = table.vectors("directions");
  if (directions.size() > 3)
    table.fail("directions", fmt::format("{} directions (there are three)", directions.size()), "three at most");
  for (Vec3d& direction : directions) direction = unit_vector(table, "directions", direction);
  const double size = directions.size() == 3   ? std::abs(dot(directions[0], cross(directions[1], directions[2])))
                      : directions.size() == 2 ? norm(cross(directions[0], directions[1]))
                                               : 1;
  if (!(size > least_independence))
    table.fail("directions", "the directions depend on each other (one follows from the others)",
               "leave one out; [[1, 0, 0], [0, 1, 0]] are independent");
  return directions;
}

ActuatorScene read_actuator(const TableReader& table) {
  ActuatorScene actuator;
  actuator.place = table.place();
  actuator.name = table.identifier("name");
  actuator.kind = table.choice("type", actuator.kind);
  if (actuator.kind == ActuatorKind::cable) {
    refuse(table, "a cable", "type", {"point", "box", "sphere", "group", "direction", "surface", "pressure"});
    if (!table.has("points"))
      table.fail("points", fmt::format("cable '{}' has no points", actuator.name),
                 "points = [[x, y, z]] and a pull_point, or more points");
    const Path path = read_path(table, fmt::format("cable '{}'", actuator.name), "pull_point");
    actuator.points = path.points;
    actuator.pull_point = path.end;
    actuator.attachment_radius = path.attachment_radius;
  } else if (actuator.kind == ActuatorKind::force) {
    read_force_place(table, &actuator);
  } else {
    read_cavity_walls(table, &actuator);
  }
  actuator.control = read_control(table, actuator);
  read_gas(table, &actuator);
  actuator.bilateral =
      table.boolean("bilateral", actuator.kind == ActuatorKind::force || actuator.control == ActuatorControl::gas ||
                                     actuator.control == ActuatorControl::supply);
  read_friction(table, &actuator);
  read_limits(table, &actuator);
  actuator.samples = static_cast<int>(table.integer("samples", actuator.samples, 1000));
  return actuator;
}

EffectorScene read_effector(const TableReader& table, const std::vector<ActuatorScene>& actuators) {
  EffectorScene effector;
  effector.place = table.place();
  effector.name = table.identifier("name");
  effector.kind = table.choice("type", effector.kind);
  effector.weight = table.quantity("weight", effector.weight);
  effector.exact = table.boolean("exact", effector.exact);
  switch (effector.kind) {
    case EffectorKind::position:
      refuse(table, "a position", "type",
             {"lever", "points", "pull_point", "attachment_radius", "cable", "cavity", "surface"});
      if (table.has("point")) effector.point = table.vector("point", {});
      if (has_region(table))
        effector.region = read_region(table, "[[effector]]");
      else if (!effector.point)
        table.fail("point", fmt::format("position '{}' has neither a point nor a region", effector.name),
                   "point = [x, y, z], or one of box = [lower, upper], sphere = {centre, radius}, group = \"name\"");
      effector.directions = read_directions(table, effector.directions);
      break;
    case EffectorKind::orientation:
      refuse(table, "an orientation", "type",
             {"point", "points", "pull_point", "attachment_radius", "cable", "cavity", "surface"});
      effector.region = read_region(table, "[[effector]]");
      effector.directions = read_directions(table, effector.directions);
      effector.lever = table.quantity("lever", effector.lever);
      break;
    case EffectorKind::length:
      read_length(table, actuators, &effector);
      break;
    case EffectorKind::volume:
      read_volume_walls(table, actuators, &effector);
      break;
  }
  return effector;
}

}  // namespace supple

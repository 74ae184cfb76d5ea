// Sensors of a scene.
#include <fmt/format.h>

#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

void refuse_path(const TableReader& table, const std::string& what) {
  refuse(table, what, "type", {"points", "pull_point", "attachment_radius", "cable"});
}

const char* example_of(SensorKind kind) {
  return kind == SensorKind::tension ? "actuator = \"name of a cable\""
         : kind == SensorKind::force ? "actuator = \"name of a force\""
                                     : "actuator = \"name of a cavity\"";
}

// pressure, volume, tension or force.
void read_actuator_of(const TableReader& table, const std::vector<ActuatorScene>& actuators, const std::string& what,
                      SensorScene* sensor) {
  refuse_path(table, what);
  refuse(table, what, "type", {"point", "box", "sphere", "group", "direction", "measure"});
  const char* const example = example_of(sensor->kind);
  if (!table.has("actuator"))
    table.fail("actuator", fmt::format("{} sensor '{}' has no actuator", table.text("type"), sensor->name), example);
  const ActuatorKind kind = sensor->kind == SensorKind::tension ? ActuatorKind::cable
                            : sensor->kind == SensorKind::force ? ActuatorKind::force
                                                                : ActuatorKind::cavity;
  sensor->actuator = named_actuator(table, actuators, "actuator", kind, table.text("type"), example).name;
}

void read_place(const TableReader& table, const std::string& what, SensorScene* sensor) {
  refuse_path(table, what);
  refuse(table, what, "type", {"actuator", "direction", "measure"});
  if (table.has("point")) sensor->point = table.vector("point", {});
  if (has_region(table))
    sensor->region = read_region(table, "[[sensor]]");
  else if (!sensor->point)
    table.fail("point",
               fmt::format("{} sensor '{}' has neither a point nor a region", table.text("type"), sensor->name),
               "point = [x, y, z], or one of box = [lower, upper], sphere = {centre, radius}, group = \"name\"");
}

}  // namespace

SensorScene read_sensor(const TableReader& table, const std::vector<ActuatorScene>& actuators) {
  SensorScene sensor;
  sensor.place = table.place();
  sensor.name = table.identifier("name");
  sensor.kind = table.choice("type", sensor.kind);
  const std::string what = fmt::format("a sensor of type {}", table.text("type"));
  switch (sensor.kind) {
    case SensorKind::length: {
      refuse(table, what, "type", {"point", "box", "sphere", "group", "actuator", "direction", "measure"});
      const Path path = read_length_path(table, actuators, sensor.name);
      sensor.points = path.points;
      sensor.pull_point = path.end;
      sensor.attachment_radius = path.attachment_radius;
      break;
    }
    case SensorKind::strain:
      refuse_path(table, what);
      refuse(table, what, "type", {"box", "sphere", "group", "actuator"});
      if (!table.has("point"))
        table.fail("point", fmt::format("strain sensor '{}' has no point", sensor.name), "point = [x, y, z]");
      if (!table.has("direction"))
        table.fail("direction", fmt::format("strain sensor '{}' has no direction", sensor.name),
                   "direction = [1, 0, 0]: along the fibre at rest");
      sensor.point = table.vector("point", {});
      sensor.direction = unit_vector(table, "direction", table.vector("direction", {}));
      sensor.measure = table.choice("measure", sensor.measure);
      break;
    case SensorKind::pressure:
    case SensorKind::volume:
    case SensorKind::tension:
    case SensorKind::force:
      read_actuator_of(table, actuators, what, &sensor);
      break;
    case SensorKind::position:
    case SensorKind::accelerometer:
      read_place(table, what, &sensor);
      break;
    case SensorKind::gyroscope:
      read_place(table, what, &sensor);
      if (sensor.point && sensor.region)
        table.fail("point", fmt::format("gyroscope '{}' has both a point and a region", sensor.name), "one of them");
      break;
    case SensorKind::contact_force:
      refuse_path(table, what);
      refuse(table, what, "type", {"point", "actuator", "direction", "measure"});
      if (has_region(table)) sensor.region = read_region(table, "[[sensor]]");
      break;
  }
  const Dimension dimension = sensor_dimension(sensor.kind);
  sensor.noise = table.quantity("noise", sensor.noise, dimension);
  sensor.bias = table.quantity("bias", sensor.bias, dimension);
  sensor.delay = table.quantity("delay", sensor.delay);
  return sensor;
}

}  // namespace supple

#include "engine/cli/reports/robot_facts.hpp"
#include "engine/scene/keys.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/cli/reports/scene_facts.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/model/effectors.hpp"
#include "engine/model/sensors.hpp"
#include "engine/scene/integrator.hpp"
#include "engine/scene/keys.hpp"

namespace supple::cli {

namespace {

constexpr const char* actuator_types[] = {"cable", "force", "cavity", "motor", "linear motor"};
constexpr const char* effector_types[] = {"position", "orientation", "length", "volume"};
constexpr double degrees = 180 / std::numbers::pi;

std::string format_direction(const Vec3d& e) {
  const auto plain = [](double x) { return std::abs(x) < 5e-5 ? 0.0 : x; };  // no "-0", no "1e-17"
  return fmt::format("({:.4g}, {:.4g}, {:.4g})", plain(e[0]), plain(e[1]), plain(e[2]));
}

std::string_view type_of(const Obstacle& obstacle) {
  return choice_words("[[obstacle]]", "type")[static_cast<std::size_t>(obstacle.shape())];
}

bool are_axes(const std::vector<Vec3d>& directions) {
  return directions == EffectorScene{}.directions;
}

std::string describe(const Effector& effector) {
  std::string text = effector_types[static_cast<int>(effector.kind)];
  if (effector.kind == EffectorKind::volume)
    text += " of " + format_quantity(effector.rest_volume, Dimension::volume) + " at rest";
  if (!effector.scalar() && !are_axes(effector.directions))
    for (std::size_t i = 0; i < effector.directions.size(); ++i)
      text += (i == 0 ? " along " : " and ") + format_direction(effector.directions[i]);
  if (effector.weight != 1) text += fmt::format(", weight {:.4g}", effector.weight);
  if (effector.exact) text += ", exact";
  return text;
}

std::vector<std::string> constraint_cells(const Robot& robot, const ConstraintRow& row, const char* form) {
  const auto at = [&](int p) { return format_point(robot.rest_points[static_cast<std::size_t>(row.first_point + p)]); };
  std::string text;
  if (is_obeyed(row)) return {row.name, at(0) + " held at " + format_point(row.place), "hard, obeyed by all modes"};
  if (row.value == ConstraintRow::Value::length) {
    text = fmt::format("{} {} from {} to {}",
                       !row.one_sided ? "distance of"
                       : row.side > 0 ? "at most"
                                      : "at least",
                       format_quantity(row.rest_length, Dimension::length), at(0),
                       row.anchor ? format_point(*row.anchor) : at(1));
  } else if (row.value == ConstraintRow::Value::slide) {
    text = "travel of a slider";
  } else if (row.value == ConstraintRow::Value::aligned) {
    text = "axes of a joint";
  } else if (row.value == ConstraintRow::Value::angle) {
    text = "angle of a hinge";
  } else {
    text = fmt::format("{} held along {} at {}", at(0), format_direction(row.direction), format_point(row.place));
  }
  const Dimension per = row.value == ConstraintRow::Value::angle ? Dimension::turn_stiffness : Dimension::stiffness;
  std::string spring =
      row.compliance > 0 ? fmt::format("{}, as {}", format_quantity(1 / row.compliance, per), form) : "hard";
  if (row.damping_time > 0) spring += ", damping time " + format_quantity(row.damping_time, Dimension::time);
  return {row.name, text, spring};
}

nlohmann::ordered_json constraint_json(const ConstraintRow& row, const char* form) {
  nlohmann::ordered_json json{{"name", row.name},
                              {"as", form},
                              {"compliance", row.compliance},
                              {"damping_time", row.damping_time},
                              {"one_sided", row.one_sided},
                              {"obeyed", is_obeyed(row)}};
  if (row.value == ConstraintRow::Value::length) json["length"] = row.rest_length;
  if (row.one_sided) json["bound"] = row.side > 0 ? "longest" : "shortest";
  if (row.value == ConstraintRow::Value::along) json["direction"] = vector_json(row.direction);
  return json;
}

}  // namespace

nlohmann::ordered_json vector_json(const Vec3d& x) {
  return {x[0], x[1], x[2]};
}

namespace {

// What commands a cavity.
std::string describe_cavity(const ActuatorRow& cavity) {
  switch (cavity.control) {
    case ActuatorControl::displacement:
      return "volume gained";
    case ActuatorControl::force:
      return "pressure";
    case ActuatorControl::gas:
      return cavity.range.lower == cavity.range.upper ? "sealed" : "gas put in";
    case ActuatorControl::supply:
      return "supplied through " + format_quantity(cavity.gas.resistance, Dimension::flow_resistance);
  }
  return "";
}

}  // namespace

std::string describe(const ActuatorRow& actuator) {
  const bool by_force = actuator.control == ActuatorControl::force;
  if (actuator.kind == ActuatorKind::cable)
    return fmt::format("cable, {}{}{}", by_force ? "tension" : "length pulled",
                       actuator.friction > 0 ? fmt::format(", friction {:g}", actuator.friction) : "",
                       actuator.bilateral ? ", pushes too" : "");
  if (actuator.kind == ActuatorKind::cavity)
    return fmt::format("cavity of {}, {}{}", format_quantity(actuator.rest_volume, Dimension::volume),
                       describe_cavity(actuator), actuator.bilateral ? ", suction too" : "");
  if (actuator.is_motor()) {
    const Dimension per = actuator.kind == ActuatorKind::motor ? Dimension::turn_stiffness : Dimension::stiffness;
    return fmt::format("motor of a joint, {}{}", by_force ? multiplier_word(actuator.kind) : value_word(actuator.kind),
                       actuator.compliance > 0 ? ", servo of " + format_quantity(1 / actuator.compliance, per) : "");
  }
  return fmt::format("force along {}, {}{}", format_direction(actuator.direction),
                     by_force ? "commanded" : "as a displacement needs it", actuator.bilateral ? "" : ", one way only");
}

std::string describe(const MotionInput& motion) {
  if (motion.rotation) return "turns a rigid body";
  return motion.rigid ? "moves a fixed region, the body goes with it" : "moves a fixed region";
}

nlohmann::ordered_json actuator_json(const ActuatorRow& actuator) {
  nlohmann::ordered_json json{{"type", actuator_types[static_cast<int>(actuator.kind)]},
                              {"control", command_word(actuator.kind, actuator.control)},
                              {"bilateral", actuator.bilateral}};
  if (actuator.kind == ActuatorKind::cavity) {
    json["rest_volume"] = actuator.rest_volume;
    json["rest_area"] = actuator.rest_area;
  }
  if (actuator.has_gas()) {
    json["atmosphere"] = actuator.gas.atmosphere;
    json["dead_volume"] = actuator.gas.dead_volume;
  }
  if (actuator.control == ActuatorControl::supply) json["resistance"] = actuator.gas.resistance;
  if (actuator.friction > 0) json["friction"] = actuator.friction;
  if (actuator.kind == ActuatorKind::force) json["direction"] = vector_json(actuator.direction);
  return json;
}

std::vector<std::vector<std::string>> constraints_table(const Robot& robot) {
  std::vector<std::vector<std::string>> rows;
  for (const ConstraintRow& row : robot.constraints) rows.push_back(constraint_cells(robot, row, "constraint"));
  for (const ConstraintRow& row : robot.springs) rows.push_back(constraint_cells(robot, row, "force"));
  return rows;
}

nlohmann::ordered_json constraints_json(const Robot& robot) {
  auto json = nlohmann::ordered_json::array();
  for (const ConstraintRow& row : robot.constraints) json.push_back(constraint_json(row, "constraint"));
  for (const ConstraintRow& row : robot.springs) json.push_back(constraint_json(row, "force"));
  return json;
}

std::string step_text(const Robot& robot, double time_step, Integrator integrator) {
  std::string text = fmt::format("{}, {}", format_quantity(time_step, Dimension::time), integrator_name(integrator));
  if (robot.implicit_velocity != 1 || robot.implicit_position != 1)
    text +=
        fmt::format(", implicit velocity {:.4g}, position {:.4g}", robot.implicit_velocity, robot.implicit_position);
  return text;
}

std::vector<std::string> effector_cells(const Robot& robot, const Effector& effector) {
  const Vec3d& x = robot.rest_points[static_cast<std::size_t>(effector.point)];
  return {effector.name, describe(effector),
          fmt::format("{} {}", effector.kind == EffectorKind::length ? "from" : "at", format_point(x))};
}

nlohmann::ordered_json effector_json(const Robot& robot, const Effector& effector) {
  nlohmann::ordered_json json{{"name", effector.name},
                              {"type", effector_types[static_cast<int>(effector.kind)]},
                              {"point", vector_json(robot.rest_points[static_cast<std::size_t>(effector.point)])},
                              {"weight", effector.weight},
                              {"exact", effector.exact}};
  if (effector.kind == EffectorKind::orientation) json["lever"] = effector.lever;
  if (effector.kind == EffectorKind::length) {
    json["rest_length"] = effector.rest_length;
  } else if (effector.kind == EffectorKind::volume) {
    json["rest_volume"] = effector.rest_volume;
    json["rest_area"] = effector.rest_area;
  } else {
    json["directions"] = nlohmann::ordered_json::array();
    for (const Vec3d& e : effector.directions) json["directions"].push_back(vector_json(e));
  }
  return json;
}

std::string effector_text(const Robot& robot, int e, std::span<const double> y) {
  const Effector& effector = robot.effectors[static_cast<std::size_t>(e)];
  Vec3d state;
  effector_state(robot, e, y, state.v);
  switch (effector.kind) {
    case EffectorKind::orientation: {
      const double angle = norm(state);
      return fmt::format("turned by {:.4g} deg{}", degrees * angle,
                         degrees * angle < 5e-5 ? "" : " about " + format_direction((1 / angle) * state));
    }
    case EffectorKind::length:
      return fmt::format("shortened by {}", format_quantity(state[0], Dimension::length));
    case EffectorKind::volume:
      return fmt::format("{}, {:+.4g} mL from rest", format_quantity(state[0], Dimension::volume),
                         1e6 * (state[0] - effector.rest_volume));
    case EffectorKind::position:
      break;
  }
  const Vec3d& rest = robot.rest_points[static_cast<std::size_t>(effector.point)];
  return fmt::format("{}, {} from rest", format_point(state), format_quantity(norm(state - rest), Dimension::length));
}

std::vector<std::string> sensor_cells(const Robot& robot, const Sensor& sensor) {
  const auto at = [&](int k) {
    return format_point(robot.rest_points[static_cast<std::size_t>(sensor.first_point + k)]);
  };
  std::string place;
  switch (sensor.kind) {
    case SensorKind::length:
      place = fmt::format("of a path from {} to {}", at(0),
                          sensor.pull_point ? format_point(*sensor.pull_point) : at(sensor.point_count - 1));
      break;
    case SensorKind::strain: {
      const Vec3d& d = robot.rest_points[static_cast<std::size_t>(sensor.first_point)];
      place = fmt::format("{}, along {} at rest",
                          sensor.measure == StrainMeasure::engineering ? "engineering" : "Green-Lagrange",
                          format_direction(d));
      break;
    }
    case SensorKind::position:
    case SensorKind::accelerometer:
      place = "at " + at(0);
      break;
    case SensorKind::gyroscope:
      break;
    case SensorKind::contact_force:
      place = fmt::format("on {} collision points", sensor.collision_points.size());
      break;
    default:
      place = "of " + robot.actuators[static_cast<std::size_t>(sensor.actuator)].name;
  }
  const Dimension dimension = sensor_dimension(sensor.kind);
  std::string errors;
  const auto add = [&](const char* what, double value, Dimension of) {
    if (value != 0) errors += fmt::format("{}{} {}", errors.empty() ? "" : ", ", what, format_quantity(value, of));
  };
  add("noise", sensor.noise, dimension);
  add("bias", sensor.bias, dimension);
  add("delay", sensor.delay, Dimension::time);
  return {sensor.name, fmt::format("{}{}{}", sensor_word(sensor.kind), place.empty() ? "" : " ", place), errors};
}

nlohmann::ordered_json sensor_json(const Robot& robot, const Sensor& sensor) {
  nlohmann::ordered_json json{{"name", sensor.name},
                              {"type", sensor_word(sensor.kind)},
                              {"unit", si_unit(sensor_dimension(sensor.kind))},
                              {"numbers", sensor_size(sensor)},
                              {"noise", sensor.noise},
                              {"bias", sensor.bias},
                              {"delay", sensor.delay}};
  if (sensor.actuator >= 0) json["actuator"] = robot.actuators[static_cast<std::size_t>(sensor.actuator)].name;
  return json;
}

std::vector<std::string> parameter_cells(const Parameter& parameter) {
  const std::string of = parameter.material >= 0   ? fmt::format(" of material {}", parameter.material + 1)
                         : parameter.membrane >= 0 ? fmt::format(" of membrane {}", parameter.membrane + 1)
                                                   : "";
  std::string value = fmt::format("{:g} to {:g}", parameter.range.lower, parameter.range.upper);
  if (parameter.value != 1) value += fmt::format(", now {:g}", parameter.value);
  return {parameter.name,
          std::string(choice_words("[[parameter]]", "type")[static_cast<std::size_t>(parameter.kind)]) + of, value};
}

nlohmann::ordered_json parameter_json(const Parameter& parameter) {
  nlohmann::ordered_json json{{"name", parameter.name},
                              {"type", choice_words("[[parameter]]", "type")[static_cast<std::size_t>(parameter.kind)]},
                              {"range", {parameter.range.lower, parameter.range.upper}},
                              {"value", parameter.value}};
  if (parameter.material >= 0) json["material"] = parameter.material + 1;
  if (parameter.membrane >= 0) json["membrane"] = parameter.membrane + 1;
  return json;
}

nlohmann::ordered_json sensors_json(const Robot& robot, std::span<const double> readings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  std::size_t first = 0;
  for (const Sensor& sensor : robot.sensors) {
    const auto size = static_cast<std::size_t>(sensor_size(sensor));
    const std::span<const double> own = readings.subspan(first, size);
    json[sensor.name] = size == 1 ? nlohmann::ordered_json(own[0])
                                  : nlohmann::ordered_json(std::vector<double>(own.begin(), own.end()));
    first += size;
  }
  return json;
}

std::vector<std::string> obstacle_cells(const PlacedObstacle& placed) {
  const Obstacle& obstacle = placed.obstacle;
  const auto length = [](double x) { return format_quantity(x, Dimension::length); };
  const Mat3d& R = placed.pose.rotation;
  const std::string axis = format_direction({{R(0, 2), R(1, 2), R(2, 2)}});
  std::string text = obstacle.side() == Obstacle::Side::inside ? "inside of a " : "";
  text += type_of(obstacle);
  switch (obstacle.shape()) {
    case Obstacle::Shape::plane:
      text += ", normal " + axis;
      break;
    case Obstacle::Shape::sphere:
      text += fmt::format(", radius {}", length(obstacle.radius()));
      break;
    case Obstacle::Shape::capsule:
    case Obstacle::Shape::cylinder:
      text +=
          fmt::format(", radius {}, length {}, axis {}", length(obstacle.radius()), length(obstacle.length()), axis);
      break;
    case Obstacle::Shape::tube:
      text += fmt::format(", inner radius {}, wall {}, length {}, axis {}", length(obstacle.radius()),
                          length(obstacle.thickness()), length(obstacle.length()), axis);
      break;
    case Obstacle::Shape::box:
      text += fmt::format(", {} x {} x {}", length(obstacle.size()[0]), length(obstacle.size()[1]),
                          length(obstacle.size()[2]));
      break;
    case Obstacle::Shape::mesh:
      text += fmt::format(" of {} triangles", obstacle.surface()->triangles.size());
      break;
  }
  std::string limits = fmt::format("friction {:.4g}", placed.friction);
  if (placed.max_force < unlimited)
    limits += fmt::format(", at most {} in inverse control", format_quantity(placed.max_force, Dimension::force));
  return {placed.name, text, "at " + format_point(placed.pose.position), limits};
}

nlohmann::ordered_json obstacle_json(const PlacedObstacle& placed) {
  const Obstacle& obstacle = placed.obstacle;
  nlohmann::ordered_json json{{"name", placed.name},
                              {"type", type_of(obstacle)},
                              {"inside", obstacle.side() == Obstacle::Side::inside},
                              {"position", vector_json(placed.pose.position)},
                              {"rotation", placed.pose.rotation.m},
                              {"friction", placed.friction}};
  if (obstacle.radius() > 0) json["radius"] = obstacle.radius();
  if (placed.max_force < unlimited) json["max_force"] = placed.max_force;
  if (obstacle.thickness() > 0) json["thickness"] = obstacle.thickness();
  if (obstacle.length() > 0 || obstacle.shape() == Obstacle::Shape::capsule) json["length"] = obstacle.length();
  if (obstacle.shape() == Obstacle::Shape::box) json["size"] = vector_json(obstacle.size());
  if (obstacle.surface()) json["triangles"] = obstacle.surface()->triangles.size();
  return json;
}

std::string contact_text(const Robot& robot) {
  return fmt::format(
      "{} points, kept at a distance of {}{}", robot.collision_points,
      format_quantity(robot.contact_distance, Dimension::length),
      robot.pushes > 0 ? ", pushed in training by up to " + format_quantity(robot.pushes, Dimension::force) : "");
}

nlohmann::ordered_json contact_json(const Robot& robot) {
  nlohmann::ordered_json json{{"points", robot.collision_points}, {"distance", robot.contact_distance}};
  if (robot.pushes > 0) json["pushes"] = robot.pushes;
  return json;
}

}  // namespace supple::cli

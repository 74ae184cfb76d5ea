#include "engine/model/sensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/model/effectors.hpp"
#include "engine/model/rows.hpp"
#include "engine/model/touches.hpp"
#include "engine/scene/keys.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr int most_components = 5;

// Names of a sensor's numbers after its own.
std::span<const char* const> components(SensorKind kind) {
  static constexpr const char* length[] = {"length"};
  static constexpr const char* strain[] = {"strain"};
  static constexpr const char* pressure[] = {"pressure"};
  static constexpr const char* volume[] = {"volume"};
  static constexpr const char* tension[] = {"tension"};
  static constexpr const char* force[] = {"force"};
  static constexpr const char* position[] = {"x", "y", "z"};
  static constexpr const char* accelerometer[] = {"acceleration x", "acceleration y", "acceleration z"};
  static constexpr const char* gyroscope[] = {"rate x", "rate y", "rate z"};
  static constexpr const char* contact[most_components] = {"force x", "force y", "force z", "normal force",
                                                           "tangential force"};
  switch (kind) {
    case SensorKind::length:
      return length;
    case SensorKind::strain:
      return strain;
    case SensorKind::pressure:
      return pressure;
    case SensorKind::volume:
      return volume;
    case SensorKind::tension:
      return tension;
    case SensorKind::force:
      return force;
    case SensorKind::position:
      return position;
    case SensorKind::accelerometer:
      return accelerometer;
    case SensorKind::gyroscope:
      return gyroscope;
    case SensorKind::contact_force:
      break;
  }
  return contact;
}

Vec3d vector_in(std::span<const double> values, std::size_t i) {
  return {{values[3 * i], values[3 * i + 1], values[3 * i + 2]}};
}

void put(const Vec3d& x, std::span<double> out) {
  for (int k = 0; k < 3; ++k) out[extent(k)] = x[k];
}

// memory: x, v.
Vec3d specific_force(const Sensor& sensor, std::span<const double> y, const Vec3d& gravity, double h,
                     std::span<double> memory) {
  const Vec3d x = vector_in(y, extent(sensor.first_point));
  const Vec3d v = h > 0 ? (1 / h) * (x - vector_in(memory, 0)) : Vec3d{{0, 0, 0}};
  const Vec3d a = h > 0 ? (1 / h) * (v - vector_in(memory, 1)) : Vec3d{{0, 0, 0}};
  put(x, memory);
  put(v, memory.subspan(3));
  return transpose(region_rotation(y, sensor.first_point + 1)) * (a - gravity);
}

// memory: R, row by row.
Vec3d angular_velocity(const Sensor& sensor, std::span<const double> y, double h, std::span<double> memory) {
  const Mat3d R = region_rotation(y, sensor.first_point);
  Vec3d omega{{0, 0, 0}};
  if (h > 0) {
    Mat3d before;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) before(i, j) = memory[extent(3 * i + j)];
    omega = (1 / h) * vector_of_rotation(transpose(before) * R);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) memory[extent(3 * i + j)] = R(i, j);
  return omega;
}

// memory: the sensor's points. Normals are those where the step began, as its laws have them.
void contact_force(const Robot& robot, const Sensor& sensor, const State& state, std::span<const double> y, int b,
                   double h, std::span<double> memory, std::span<double> value) {
  Vec3d sum{{0, 0, 0}};
  double normal = 0, tangential = 0;
  for (const Touch& touch : touches(robot, state, y, {}, b)) {
    const auto found = std::ranges::lower_bound(sensor.collision_points, touch.point);
    if (found == sensor.collision_points.end() || *found != touch.point) continue;
    const auto index = static_cast<std::size_t>(found - sensor.collision_points.begin());
    const PlacedObstacle& placed = robot.obstacles[extent(touch.obstacle)];
    const Vec3d n = placed.obstacle.at(placed.pose, h > 0 ? vector_in(memory, index) : touch.at).normal;
    const double along = dot(touch.force, n);
    sum = sum + touch.force;
    normal += along;
    tangential += norm(touch.force - along * n);
  }
  const std::span<const double> own = y.subspan(extent(b, robot.outputs()), extent(robot.outputs()));
  for (std::size_t i = 0; i < sensor.collision_points.size(); ++i)
    put(vector_in(own, extent(robot.first_collision_point + sensor.collision_points[i])), memory.subspan(3 * i));
  put(sum, value);
  value[3] = normal;
  value[4] = tangential;
}

}  // namespace

std::string_view sensor_word(SensorKind kind) {
  return choice_words("[[sensor]]", "type")[static_cast<std::size_t>(kind)];
}

int sensor_size(const Sensor& sensor) {
  return static_cast<int>(components(sensor.kind).size());
}

int sensor_memory(const Sensor& sensor) {
  switch (sensor.kind) {
    case SensorKind::accelerometer:
      return 6;
    case SensorKind::gyroscope:
      return 9;
    case SensorKind::contact_force:
      return 3 * static_cast<int>(sensor.collision_points.size());
    default:
      return 0;
  }
}

std::vector<SensorNumber> sensor_numbers(const Robot& robot) {
  std::vector<SensorNumber> numbers;
  for (std::size_t s = 0; s < robot.sensors.size(); ++s) {
    const Sensor& sensor = robot.sensors[s];
    int component = 0;
    for (const char* name : components(sensor.kind))
      numbers.push_back(
          {fmt::format("{} {}", sensor.name, name), static_cast<int>(s), component++, sensor_dimension(sensor.kind)});
  }
  return numbers;
}

void evaluate_sensor(const Robot& robot, const Sensor& sensor, const State& state, std::span<const double> y, int b,
                     const Vec3d& gravity, double h, std::span<double> memory, std::span<double> value) {
  SUPPLE_EXPECT(static_cast<int>(memory.size()) == sensor_memory(sensor) &&
                static_cast<int>(value.size()) == sensor_size(sensor));
  const std::span<const double> own = y.subspan(extent(b, robot.outputs()), extent(robot.outputs()));
  switch (sensor.kind) {
    case SensorKind::length:
      value[0] = path_length(own, sensor.first_point, sensor.point_count, sensor.pull_point, nullptr);
      break;
    case SensorKind::strain: {
      const Vec3d f = vector_in(own, extent(sensor.first_point));
      value[0] = sensor.measure == StrainMeasure::green_lagrange ? (dot(f, f) - 1) / 2 : norm(f) - 1;
      break;
    }
    case SensorKind::pressure:
    case SensorKind::tension:
    case SensorKind::force:
      value[0] = state.multipliers[extent(b, robot.rows()) + extent(sensor.actuator)];
      break;
    case SensorKind::volume: {
      const ActuatorRow& cavity = robot.actuators[extent(sensor.actuator)];
      value[0] = cavity.rest_volume + volume_gained(cavity, row_coordinates(cavity, own), {});
      break;
    }
    case SensorKind::position:
      put(vector_in(own, extent(sensor.first_point)), value);
      break;
    case SensorKind::accelerometer:
      put(specific_force(sensor, own, gravity, h, memory), value);
      break;
    case SensorKind::gyroscope:
      put(angular_velocity(sensor, own, h, memory), value);
      break;
    case SensorKind::contact_force:
      contact_force(robot, sensor, state, y, b, h, memory, value);
      break;
  }
}

}  // namespace supple

#pragma once
// Sensors for bars of tests.

#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::sensor_bodies {

inline SensorScene sensor(const std::string& name, SensorKind kind) {
  SensorScene sensor;
  sensor.name = name;
  sensor.kind = kind;
  return sensor;
}

inline SensorScene at_point(const std::string& name, SensorKind kind, const Vec3d& point) {
  SensorScene of = sensor(name, kind);
  of.point = point;
  return of;
}

inline SensorScene strain(const std::string& name, const Vec3d& point, const Vec3d& direction,
                          StrainMeasure measure = StrainMeasure::green_lagrange) {
  SensorScene of = at_point(name, SensorKind::strain, point);
  of.direction = normalized(direction);
  of.measure = measure;
  return of;
}

inline SensorScene path(const std::string& name, const std::vector<Vec3d>& points) {
  SensorScene of = sensor(name, SensorKind::length);
  of.points = points;
  return of;
}

inline SensorScene of_actuator(const std::string& name, SensorKind kind, const std::string& actuator) {
  SensorScene of = sensor(name, kind);
  of.actuator = actuator;
  return of;
}

// The last tenth of the bar of reduced_bodies.hpp turns with it.
inline SensorScene in_the_end(const std::string& name, SensorKind kind) {
  SensorScene of = sensor(name, kind);
  of.region = boxes::box_region({{0.15, -1, -1}}, {{1, 1, 1}});
  return of;
}

// One of each kind that a bar with cables has, as reduced_bodies::bar_scene.
inline std::vector<SensorScene> of_a_bar(const Scene& bar) {
  return {path("stretch", {{{0.02, 0.05, 0.1}}, {{0.15, 0.05, 0.1}}, {{0.28, 0.05, 0.1}}}),
          strain("bend", {{0.1, 0.05, 0.09}}, {{1, 0, 0}}),
          strain("shear", {{0.12, 0.05, 0.05}}, {{1, 0.5, 1}}, StrainMeasure::engineering),
          of_actuator("pull", SensorKind::tension, bar.actuators[0].name),
          at_point("place", SensorKind::position, {{0.29, 0.05, 0.05}}),
          at_point("corner", SensorKind::accelerometer, {{0.28, 0.08, 0.02}}),
          in_the_end("imu", SensorKind::accelerometer),
          in_the_end("gyro", SensorKind::gyroscope)};
}

// The readings' numbers of one name, "imu acceleration x".
inline double reading(const std::vector<SensorNumber>& numbers, std::span<const double> values,
                      const std::string& name) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i].name == name) return values[i];
  ADD_FAILURE() << name;
  return 0;
}

}  // namespace supple::sensor_bodies

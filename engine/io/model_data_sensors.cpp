// The group /robot/sensors of a model file.
#include <algorithm>
#include <cmath>

#include "engine/io/model_data_parts.hpp"

namespace supple {

namespace {

// In the order of their enumerations.
constexpr std::string_view sensor_words[] = {"length", "strain",   "pressure",      "volume",    "tension",
                                             "force",  "position", "accelerometer", "gyroscope", "contact-force"};
constexpr std::string_view measure_words[] = {"green-lagrange", "engineering"};

constexpr int most_sensors = 100'000;

int points_asked(SensorKind kind) {
  switch (kind) {
    case SensorKind::strain:
    case SensorKind::position:
      return 1;
    case SensorKind::accelerometer:
      return 4;
    case SensorKind::gyroscope:
      return 3;
    default:
      return 0;
  }
}

// Whether a sensor of this kind reads an actuator of that one.
bool reads(SensorKind kind, ActuatorKind actuator) {
  if (kind == SensorKind::tension) return actuator == ActuatorKind::cable;
  if (kind == SensorKind::force) return actuator == ActuatorKind::force;
  return actuator == ActuatorKind::cavity;
}

bool of_actuator(SensorKind kind) {
  return kind == SensorKind::pressure || kind == SensorKind::volume || kind == SensorKind::tension ||
         kind == SensorKind::force;
}

void write_sensor(DataSink& file, const std::string& at, const Sensor& sensor) {
  file.write(at + "/name", sensor.name);
  file.write(at + "/kind", std::string(sensor_words[static_cast<int>(sensor.kind)]));
  file.write(at + "/errors", Numbers{sensor.noise, sensor.bias, sensor.delay}, {3});
  if (of_actuator(sensor.kind)) file.write(at + "/actuator", static_cast<std::int64_t>(sensor.actuator));
  if (sensor.point_count > 0) file.write(at + "/points", std::vector<int>{sensor.first_point, sensor.point_count}, {2});
  if (sensor.kind == SensorKind::strain)
    file.write(at + "/measure", std::string(measure_words[static_cast<int>(sensor.measure)]));
  if (sensor.pull_point)
    file.write(at + "/pull_point", Numbers{(*sensor.pull_point)[0], (*sensor.pull_point)[1], (*sensor.pull_point)[2]},
               {3});
  if (sensor.kind == SensorKind::contact_force)
    file.write(at + "/collision_points", sensor.collision_points, {sensor.collision_points.size()});
}

Sensor read_sensor(const DataSource& file, const Checked& checked, const Robot& robot, const std::string& at) {
  Sensor sensor;
  sensor.name = file.read_text(at + "/name");
  sensor.kind = static_cast<SensorKind>(checked.word(at + "/kind", sensor_words));
  const std::vector<double> errors = checked.doubles(at + "/errors", {3});
  sensor.noise = errors[0];
  sensor.bias = errors[1];
  sensor.delay = errors[2];
  checked.require(sensor.noise >= 0 && sensor.delay >= 0, at + "/errors", "are negative");
  if (of_actuator(sensor.kind)) {
    sensor.actuator = checked.count(at + "/actuator", 0, static_cast<int>(robot.actuators.size()) - 1);
    checked.require(reads(sensor.kind, robot.actuators[static_cast<std::size_t>(sensor.actuator)].kind),
                    at + "/actuator", "is of another kind");
  }
  if (file.has(at + "/pull_point")) sensor.pull_point = points_of(checked.doubles(at + "/pull_point", {3})).front();
  const int asked = points_asked(sensor.kind);
  if (sensor.kind == SensorKind::length || asked > 0) {
    const std::vector<int> pair = file.read_ints(at + "/points", {2});
    sensor.first_point = pair[0];
    sensor.point_count = pair[1];
    const int points = static_cast<int>(robot.rest_points.size());
    checked.require(sensor.first_point >= 0 && sensor.point_count >= 1 && sensor.point_count <= points &&
                        sensor.first_point <= points - sensor.point_count,
                    at + "/points", "names points that are not there");
    checked.require(asked > 0 ? sensor.point_count == asked : sensor.pull_point || sensor.point_count >= 2,
                    at + "/points", "are too few or too many");
  }
  if (sensor.kind == SensorKind::strain)
    sensor.measure = static_cast<StrainMeasure>(checked.word(at + "/measure", measure_words));
  if (sensor.kind != SensorKind::contact_force) return sensor;
  sensor.collision_points = file.read_ints(at + "/collision_points");
  const std::vector<int>& own = sensor.collision_points;
  checked.require(
      !own.empty() && std::ranges::is_sorted(own) && own.front() >= 0 && own.back() < robot.collision_points,
      at + "/collision_points", "are not those of the robot");
  return sensor;
}

}  // namespace

void write_sensors(DataSink& file, const Robot& robot) {
  if (robot.sensors.empty()) return;  // as files were before there were any
  file.write("/robot/sensors/count", static_cast<std::int64_t>(robot.sensors.size()));
  for (std::size_t i = 0; i < robot.sensors.size(); ++i)
    write_sensor(file, "/robot/sensors/" + entry_name(i), robot.sensors[i]);
}

void read_sensors(const DataSource& file, const Checked& checked, Robot& robot) {
  if (!file.has("/robot/sensors/count")) return;
  const int count = checked.count("/robot/sensors/count", 0, most_sensors);
  for (int i = 0; i < count; ++i)
    robot.sensors.push_back(
        read_sensor(file, checked, robot, "/robot/sensors/" + entry_name(static_cast<std::size_t>(i))));
}

}  // namespace supple

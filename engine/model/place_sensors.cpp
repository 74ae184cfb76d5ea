#include "engine/model/place_sensors.hpp"

#include <algorithm>

#include "engine/mesh/select.hpp"
#include "engine/model/element_fields.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr Vec3d axes[] = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};

// The columns of the deformation gradient of its region, or of its point where it has no region.
int place_axes(const SensorScene& scene, const std::string& what, PointPlacer& placer) {
  if (scene.region) return placer.add_fit(*scene.region, what, scene.place);
  const int first = placer.add_fibre(*scene.point, axes[0], what, scene.place);
  for (const int k : {1, 2}) (void)placer.add_fibre(*scene.point, axes[k], what, scene.place);
  return first;
}

int place_point(const SensorScene& scene, const std::string& what, PointPlacer& placer) {
  if (scene.point) return placer.add(*scene.point, scene.region, what, scene.place);
  return placer.add_mean(*scene.region, what, scene.place);
}

int actuator_of(const SensorScene& scene, const std::string& what, const Robot& robot) {
  const auto found = std::ranges::find(robot.actuators, scene.actuator, &ActuatorRow::name);
  if (found == robot.actuators.end())
    throw InputError(what + " is of an actuator '" + scene.actuator + "' that the scene does not have",
                     "the name of an actuator", scene.place);
  return static_cast<int>(found - robot.actuators.begin());
}

Sensor placed(const SensorScene& scene, PointPlacer& placer, const Robot& robot) {
  const std::string what = "sensor '" + scene.name + "'";
  Sensor sensor;
  sensor.name = scene.name;
  sensor.kind = scene.kind;
  sensor.measure = scene.measure;
  sensor.noise = scene.noise;
  sensor.bias = scene.bias;
  sensor.delay = scene.delay;
  const auto require = [&](bool given, const char* problem, const char* remedy) {
    if (!given) throw InputError(what + problem, remedy, scene.place);
  };
  const auto require_place = [&] {
    require(scene.point || scene.region, " has neither a point nor a region", "one of them");
  };
  switch (scene.kind) {
    case SensorKind::length:
      sensor.pull_point = scene.pull_point;
      sensor.first_point =
          placer.add_path(scene.points, scene.pull_point, scene.attachment_radius, what, scene.place).first_point;
      sensor.point_count = static_cast<int>(scene.points.size());
      break;
    case SensorKind::strain:
      require(scene.point.has_value(), " has no point", "point = [x, y, z]");
      require(std::abs(norm(scene.direction) - 1) < 1e-9, " has no direction of length 1", "direction = [1, 0, 0]");
      sensor.first_point = placer.add_fibre(*scene.point, scene.direction, what, scene.place);
      sensor.point_count = 1;
      break;
    case SensorKind::position:
      require_place();
      sensor.first_point = place_point(scene, what, placer);
      sensor.point_count = 1;
      break;
    case SensorKind::accelerometer:
      require_place();
      sensor.first_point = place_point(scene, what, placer);
      (void)place_axes(scene, what, placer);
      sensor.point_count = 4;
      break;
    case SensorKind::gyroscope:
      require_place();
      sensor.first_point = place_axes(scene, what, placer);
      sensor.point_count = 3;
      break;
    case SensorKind::pressure:
    case SensorKind::volume:
    case SensorKind::tension:
    case SensorKind::force:
      sensor.actuator = actuator_of(scene, what, robot);
      break;
    case SensorKind::contact_force:
      break;  // find_contact_sensors()
  }
  return sensor;
}

// Collision points, counted from the first, in a region of the mesh or of space.
std::vector<int> collision_points_in(const Region& region, const FullModel& model, const std::string& what,
                                     bool of_surface, const Place& place) {
  const Robot& robot = model.robot;
  if (of_surface && region.kind == Region::Kind::group)
    throw InputError(what + " has a group of the mesh, and collision points are corners of a surface",
                     "box = [lower, upper], or sphere = {centre, radius}", place);
  std::vector<int> chosen;
  if (of_surface) {
    Mesh points;
    for (int k = 0; k < robot.collision_points; ++k)
      points.nodes.push_back(robot.rest_points[extent(robot.first_collision_point + k)]);
    chosen = nodes_in(region, points);
  } else {
    std::vector<bool> inside(model.mesh.nodes.size(), false);
    for (const int node : nodes_in(region, model.mesh)) inside[extent(node)] = true;
    for (int k = 0; k < robot.collision_points; ++k) {
      const Interpolation& point = model.interpolation[extent(robot.first_collision_point + k)];
      SUPPLE_EXPECT(point.node.size() == 1);
      if (inside[extent(point.node.front())]) chosen.push_back(k);
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

void place_sensors(const Scene& scene, PointPlacer& placer, Robot& robot) {
  for (const SensorScene& sensor : scene.sensors) robot.sensors.push_back(placed(sensor, placer, robot));
}

void find_contact_sensors(const Scene& scene, FullModel& model) {
  for (std::size_t s = 0; s < scene.sensors.size(); ++s) {
    const SensorScene& sensor = scene.sensors[s];
    if (sensor.kind != SensorKind::contact_force) continue;
    const std::string what = "sensor '" + sensor.name + "'";
    if (model.robot.collision_points == 0)
      throw InputError(what + " measures contact, and there is no obstacle",
                       "[[obstacle]] or pushes, or no such sensor", sensor.place);
    std::vector<int>& points = model.robot.sensors[s].collision_points;
    points = collision_points_in(sensor.region.value_or(Region{}), model, what, scene.contact.surface.has_value(),
                                 sensor.place);
    if (points.empty())
      throw InputError("the region of " + what + " holds no collision point",
                       "another region, or none: all collision points ([contact] has them)", sensor.place);
  }
}

}  // namespace supple

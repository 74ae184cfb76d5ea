// What a robot touches: the groups /robot/obstacles and /robot/contact of a model file.

#include <cmath>
#include <limits>

#include "engine/io/model_data_parts.hpp"
#include "engine/scene/keys.hpp"
#include "kernels/base/error.hpp"

namespace supple {

namespace {

constexpr int most_obstacles = 10000;

// As scenes say them.
std::vector<std::string_view> shape_words() {
  return choice_words("[[obstacle]]", "type");
}

void write_obstacle(DataSink& file, const std::string& at, const PlacedObstacle& placed) {
  const Obstacle& obstacle = placed.obstacle;
  const Vec3d size = obstacle.size(), &position = placed.pose.position;
  file.write(at + "/name", placed.name);
  file.write(at + "/shape", std::string(shape_words()[static_cast<std::size_t>(obstacle.shape())]));
  file.write(at + "/inside", static_cast<std::int64_t>(obstacle.side() == Obstacle::Side::inside));
  file.write(at + "/measures", Numbers{obstacle.radius(), obstacle.length(), size[0], size[1], size[2]}, {5});
  file.write(at + "/rotation", Numbers(placed.pose.rotation.m, placed.pose.rotation.m + 9), {3, 3});
  file.write(at + "/position", Numbers{position[0], position[1], position[2]}, {3});
  if (obstacle.shape() == Obstacle::Shape::tube) file.write(at + "/thickness", obstacle.thickness());
  file.write(at + "/friction", placed.friction);
  if (placed.max_force != unlimited) file.write(at + "/max_force", placed.max_force);
  if (const Surface* surface = obstacle.surface()) {
    file.write(at + "/nodes", flat_points(surface->nodes), {surface->nodes.size(), 3});
    write_triangles(file, at + "/triangles", surface->triangles);
  }
}

Surface read_surface(const DataSource& file, const Checked& checked, const std::string& at) {
  const auto rows = [&](const std::string& object) {
    const auto shape = file.shape(object);
    checked.require(shape.size() == 2 && shape[1] == 3, object, "has a wrong shape");
    return shape;
  };
  Surface surface;
  surface.nodes = points_of(checked.doubles(at + "/nodes", rows(at + "/nodes")));
  const auto shape = rows(at + "/triangles");
  const auto corners = file.read_ints(at + "/triangles", shape);
  for (std::size_t t = 0; t < shape[0]; ++t)
    surface.triangles.push_back({corners[3 * t], corners[3 * t + 1], corners[3 * t + 2]});
  return surface;
}

Obstacle read_shape(const DataSource& file, const Checked& checked, const std::string& at) {
  const auto shape = static_cast<Obstacle::Shape>(checked.word(at + "/shape", shape_words()));
  const auto side = checked.count(at + "/inside", 0, 1) == 1 ? Obstacle::Side::inside : Obstacle::Side::outside;
  const auto m = checked.doubles(at + "/measures", {5});
  try {
    switch (shape) {
      case Obstacle::Shape::plane:
        checked.require(side == Obstacle::Side::outside, at + "/inside", "is said of a plane");
        return Obstacle::plane();
      case Obstacle::Shape::sphere:
        return Obstacle::sphere(m[0], side);
      case Obstacle::Shape::capsule:
        return Obstacle::capsule(m[0], m[1], side);
      case Obstacle::Shape::box:
        return Obstacle::box({{m[2], m[3], m[4]}}, side);
      case Obstacle::Shape::cylinder:
        return Obstacle::cylinder(m[0], m[1], side);
      case Obstacle::Shape::tube:
        checked.require(side == Obstacle::Side::outside, at + "/inside", "is said of a tube");
        return Obstacle::tube(m[0], checked.number(at + "/thickness"), m[1]);
      case Obstacle::Shape::mesh:
        break;
    }
    return Obstacle::mesh(read_surface(file, checked, at), side);
  } catch (const InputError& error) {
    if (!error.place().file.empty()) throw;
    checked.require(false, at, std::string("is impossible: ") + error.what());
    throw;
  }
}

PlacedObstacle read_obstacle(const DataSource& file, const Checked& checked, const std::string& at) {
  const auto rotation = checked.doubles(at + "/rotation", {3, 3});
  ObstaclePose pose;
  std::copy(rotation.begin(), rotation.end(), pose.rotation.m);
  const Mat3d skew = transpose(pose.rotation) * pose.rotation - Mat3d::identity();
  checked.require(dot(skew, skew) < 1e-12 && determinant(pose.rotation) > 0, at + "/rotation", "is none");
  pose.position = points_of(checked.doubles(at + "/position", {3})).front();
  const double friction = checked.number(at + "/friction");
  checked.require(friction >= 0, at + "/friction", "is negative");
  const double max_force = file.has(at + "/max_force") ? checked.number(at + "/max_force") : unlimited;
  checked.require(max_force > 0, at + "/max_force", "is not above 0");
  return {file.read_text(at + "/name"), read_shape(file, checked, at), pose, friction, max_force};
}

}  // namespace

void write_contact(DataSink& file, const ReducedModel& model) {
  const Robot& robot = model.robot;
  if (robot.obstacles.empty() && robot.collision_points == 0) return;
  if (!robot.obstacles.empty()) file.write("/robot/obstacles/count", static_cast<std::int64_t>(robot.obstacles.size()));
  for (std::size_t i = 0; i < robot.obstacles.size(); ++i)
    write_obstacle(file, "/robot/obstacles/" + entry_name(i), robot.obstacles[i]);
  if (robot.pushes > 0) file.write("/robot/contact/pushes", robot.pushes);
  file.write("/robot/contact/points", std::vector<int>{robot.first_collision_point, robot.collision_points}, {2});
  file.write("/robot/contact/distance", robot.contact_distance);
  const std::size_t points = model.full_compliance.size() / 9;
  if (points == 0) return;
  file.write("/robot/contact/full_compliance", model.full_compliance, {points, 9});
  file.write("/robot/contact/own_compliance", model.own_compliance, {points, 9});
}

void read_contact(const DataSource& file, const Checked& checked, ReducedModel& model) {
  Robot& robot = model.robot;
  if (!file.has("/robot/contact") && !file.has("/robot/obstacles")) return;
  const int obstacles = file.has("/robot/obstacles") ? checked.count("/robot/obstacles/count", 1, most_obstacles) : 0;
  for (int i = 0; i < obstacles; ++i)
    robot.obstacles.push_back(
        read_obstacle(file, checked, "/robot/obstacles/" + entry_name(static_cast<std::size_t>(i))));
  const auto points = file.read_ints("/robot/contact/points", {2});
  const int all = static_cast<int>(robot.rest_points.size());
  checked.require(points[0] >= 0 && points[1] >= 1 && points[1] <= all && points[0] <= all - points[1],
                  "/robot/contact/points", "names points that are not there");
  checked.require(points[1] <= std::numeric_limits<int>::max() / 3 / std::max(1, obstacles), "/robot/contact/points",
                  "and obstacles are too many pairs");
  robot.first_collision_point = points[0];
  robot.collision_points = points[1];
  robot.contact_distance = checked.number("/robot/contact/distance");
  checked.require(robot.contact_distance >= 0, "/robot/contact/distance", "is negative");
  if (file.has("/robot/contact/pushes")) {
    robot.pushes = checked.number("/robot/contact/pushes");
    checked.require(robot.pushes > 0, "/robot/contact/pushes", "is not above 0");
  }
  checked.require(obstacles > 0 || robot.pushes > 0, "/robot/contact", "has neither obstacles nor pushes");
  if (!file.has("/robot/contact/full_compliance")) return;
  const std::vector<std::size_t> shape{static_cast<std::size_t>(points[1]), 9};
  model.full_compliance = checked.doubles("/robot/contact/full_compliance", shape);
  model.own_compliance = checked.doubles("/robot/contact/own_compliance", shape);
}

}  // namespace supple

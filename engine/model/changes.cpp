#include "engine/model/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/model/collision_points.hpp"
#include "engine/model/parameters.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

void put_there(const std::string& file, const char* remedy, Robot& robot) {
  const ObstacleFile read = read_obstacles(file);
  const Place whole{file, 0, 0, ""};
  if (robot.collision_points == 0)
    throw InputError(fmt::format("'{}' has no collision points, by which it would touch obstacles", robot.name), remedy,
                     whole);
  if (robot.implicit_position != 1 && robot.integrator != Integrator::quasi_static)
    throw InputError(
        "implicit_position is below 1 in contact with obstacles (a body would end within what it meets at speed)",
        "implicit_position = 1 in its scene", whole);
  const std::size_t most = extent(std::numeric_limits<int>::max() / 3 / robot.collision_points);
  if (read.obstacles.size() > most)
    throw InputError(fmt::format("{} obstacles are too many", read.obstacles.size()), "fewer", whole);
  std::vector<PlacedObstacle> placed;
  for (const ObstacleScene& obstacle : read.obstacles) placed.push_back(place_obstacle(obstacle));
  robot.obstacles = std::move(placed);
  robot.other_obstacles = read.hash;
}

void take_obstacles(const std::string& file, FullModel& model) {
  put_there(file, "[reduce] pushes or an [[obstacle]] in its scene", model.robot);
}

template <class Model>
void take(const ModelChanges& changes, Model& model) {
  take_parameters(changes.parameters, model);
  if (!changes.obstacles.empty()) take_obstacles(changes.obstacles, model);
}

}  // namespace

void take_obstacles(const std::string& file, ReducedModel& model) {
  if (model.robot.floating)
    throw InputError(
        fmt::format("'{}' is free-floating (a model of such a robot is trained in contact with its own obstacles)",
                    model.robot.name),
        "them in its scene, and `supple reduce` again", {file, 0, 0, ""});
  put_there(file, "[reduce] pushes or an [[obstacle]] in its scene, and `supple reduce` again", model.robot);
  model.provenance.scene_text = fmt::format("# with the obstacles of {}\n", file) + model.provenance.scene_text;
}

void take_changes(const ModelChanges& changes, ReducedModel& model) {
  take(changes, model);
}

void take_changes(const ModelChanges& changes, FullModel& model) {
  take(changes, model);
}

void refuse_changes(const ModelChanges& changes, const std::string& file) {
  if (!changes.none())
    throw InputError(
        fmt::format("{} is for robots of one body", changes.parameters.empty() ? "--obstacles" : "--parameter"),
        "leave it out", {file, 0, 0, ""});
}

std::uint64_t with_changes(std::uint64_t hash, const Robot& robot) {
  hash = with_parameters(hash, robot);
  return robot.other_obstacles == 0 ? hash : hash_bytes(&robot.other_obstacles, sizeof robot.other_obstacles, hash);
}

}  // namespace supple

#include "engine/cli/reports/page_facts.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/reports/robot_facts.hpp"
#include "engine/io/web_page.hpp"
#include "engine/model/obstacle_surfaces.hpp"

namespace supple::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double display_grid = 1.0 / (1 << 22);  // m, of obstacles

Json range_json(const Interval& range) {
  if (!std::isfinite(range.lower) || !std::isfinite(range.upper)) return nullptr;
  return {range.lower, range.upper};
}

Json page_actuator(const ActuatorRow& actuator) {
  Json json = actuator_json(actuator);
  json["name"] = actuator.name;
  json["range"] = range_json(actuator.range);
  std::vector<int> points(static_cast<std::size_t>(actuator.point_count));
  std::iota(points.begin(), points.end(), actuator.first_point);
  json["points"] = points;
  if (actuator.pull_point) json["pull_point"] = vector_json(*actuator.pull_point);
  return json;
}

Json page_obstacle(const PlacedObstacle& placed, const Surface& surface) {
  const Obstacle::Shape shape = placed.obstacle.shape();
  const bool open = placed.obstacle.side() == Obstacle::Side::inside || shape == Obstacle::Shape::plane ||
                    shape == Obstacle::Shape::tube;
  Json json{{"name", placed.name}, {"see_through", open}, {"nodes", Json::array()}, {"triangles", Json::array()}};
  for (const Vec3d& x : surface.nodes)
    for (const double value : x.v) json["nodes"].push_back(std::round(value / display_grid) * display_grid);
  for (const auto& triangle : surface.triangles)
    for (const int node : triangle) json["triangles"].push_back(node);
  return json;
}

// Lengths in metres; of actuators without limits `range` is null.
Json page_json(const ReducedModel& model) {
  const Robot& robot = model.robot;
  int kept = 0, elements = 0;
  for (const ReducedField& field : model.fields) {
    kept += static_cast<int>(field.element.size());
    elements += field.total_units();
  }
  Json json{{"name", model.provenance.scene_name},
            {"nodes", model.provenance.nodes},
            {"modes", model.modes},
            {"kept", kept},
            {"elements", elements},
            {"first_collision_point", robot.first_collision_point},
            {"actuators", Json::array()},
            {"motions", Json::array()},
            {"effectors", Json::array()},
            {"obstacles", Json::array()}};
  for (const ActuatorRow& actuator : robot.actuators) json["actuators"].push_back(page_actuator(actuator));
  for (const MotionInput& motion : robot.motions)
    json["motions"].push_back(
        {{"name", motion.name}, {"control", "displacement"}, {"range", range_json(motion.range)}});
  for (const Effector& effector : robot.effectors) json["effectors"].push_back(effector_json(robot, effector));
  const std::vector<Surface> surfaces = obstacle_surfaces(robot, model.skin.rest);
  for (std::size_t o = 0; o < surfaces.size(); ++o)
    json["obstacles"].push_back(page_obstacle(robot.obstacles[o], surfaces[o]));
  return json;
}

}  // namespace

std::string robot_page(const ReducedModel& model) {
  return web_page(model, page_json(model).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace supple::cli

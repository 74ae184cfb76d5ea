#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/mesh/check.hpp"
#include "engine/mesh/order.hpp"
#include "engine/mesh/read.hpp"
#include "engine/model/collision_points.hpp"
#include "engine/model/dependent_constraints.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/full_model.hpp"
#include "engine/model/parameters.hpp"
#include "engine/model/place_sensors.hpp"
#include "engine/model/rods.hpp"
#include "engine/model/rows.hpp"
#include "kernels/base/contract.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {

namespace {

void fix_nodes(const BodyScene& body, FullModel& model) {
  const std::size_t n = model.mesh.nodes.size();
  std::vector<bool> held(n, false);
  std::vector<double> spring(n, 0.0);
  model.node_motion.assign(n, -1);
  for (const FixScene& fix : body.fixes) {
    const std::vector<int> nodes = nodes_in(fix.region, model.mesh);
    const Place& place = fix.region.place.file.empty() ? fix.place : fix.region.place;
    if (nodes.empty())
      throw InputError("this fixed region holds no node",
                       "move or enlarge it; lengths are in metres after unit, rotation and translation", place);
    std::vector<MotionInput>& motions = model.robot.motions;
    int motion = -1;
    if (!fix.motion.empty()) {
      const double length = norm(fix.motion_direction);
      if (!(length > 0)) throw InputError("a moving region needs a direction", "direction = [1, 0, 0]", place);
      // Regions that name the same motion move together.
      const auto known =
          std::find_if(motions.begin(), motions.end(), [&](const MotionInput& m) { return m.name == fix.motion; });
      motion = static_cast<int>(known - motions.begin());
      if (known == motions.end())
        motions.push_back({fix.motion, (1 / length) * fix.motion_direction, fix.motion_range});
    }
    for (int node : nodes) {
      const auto i = static_cast<std::size_t>(node);
      if (fix.stiffness < unlimited) {
        spring[i] += fix.stiffness;
      } else {
        held[i] = true;
        model.node_motion[i] = motion;
      }
    }
  }
  model.node_unknown.assign(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    if (held[i]) continue;
    model.node_unknown[i] = static_cast<int>(model.free_nodes.size());
    model.free_nodes.push_back(static_cast<int>(i));
    model.node_spring.push_back(spring[i]);
  }
  if (model.free_nodes.empty())
    throw InputError("every node of the body is fixed", "make the fixed regions smaller", body.place);
  model.coordinates.add(CoordinateBlock::Kind::nodes, body.name, 3 * static_cast<int>(model.free_nodes.size()));
}

bool held_nowhere(const FullModel& model) {
  return model.free_nodes.size() == model.mesh.nodes.size() &&
         std::all_of(model.node_spring.begin(), model.node_spring.end(), [](double k) { return k == 0; });
}

// A motion is rigid where it is the only one, moves everything that is held, and no spring or constraint holds the body
// elsewhere.
void mark_rigid_motion(FullModel& model, bool constrained) {
  if (model.robot.motions.size() != 1 || constrained) return;
  bool rigid = std::all_of(model.node_spring.begin(), model.node_spring.end(), [](double k) { return k == 0; });
  for (std::size_t i = 0; i < model.node_motion.size(); ++i)
    if (model.node_unknown[i] < 0 && model.node_motion[i] < 0) rigid = false;
  model.robot.motions.front().rigid = rigid;
}

void add_actuator(const ActuatorScene& scene, PointPlacer& placer, Robot& robot) {
  ActuatorRow row;
  row.name = scene.name;
  row.kind = scene.kind;
  row.control = scene.control;
  row.bilateral = scene.bilateral;
  row.range = scene.range;
  row.force = scene.force;
  row.rate = scene.rate;
  row.samples = scene.samples;
  row.gas = {scene.atmosphere, scene.dead_volume, scene.resistance};
  row.friction = scene.friction;
  row.slip_length = scene.slip_length;
  if (scene.kind == ActuatorKind::cable) {
    row.pull_point = scene.pull_point;
    const PlacedPath path = placer.add_path(scene.points, scene.pull_point, scene.attachment_radius,
                                            "cable '" + scene.name + "'", scene.place);
    row.first_point = path.first_point;
    row.point_count = static_cast<int>(scene.points.size());
    row.rest_length = path.length;
  } else if (scene.kind == ActuatorKind::force) {
    const std::string what = "force '" + scene.name + "'";
    const double length = norm(scene.direction);
    if (!(length > 0)) throw InputError(what + " has no direction", "direction = [0, 0, 1]", scene.place);
    row.direction = std::abs(length - 1) > 1e-12 ? (1 / length) * scene.direction : scene.direction;
    if (!scene.region && scene.points.size() != 1)
      throw InputError(what + " has neither a point nor a region", "one of them", scene.place);
    row.first_point = scene.region ? placer.add_surface_mean(*scene.region, what, scene.place)
                                   : placer.add(scene.points.front(), scene.attachment_radius, what, scene.place);
    row.point_count = 1;
    if (!placer.moves(row.first_point))
      throw InputError(what + " acts on held nodes only (it can do nothing)", "another point or region", scene.place);
  }
  robot.actuators.push_back(std::move(row));
}

// Of an actuator or an effector.
template <class SceneTable>
PointPlacer::Walls find_walls(const SceneTable& scene, const std::string& what, PointPlacer& placer) {
  if (scene.surface.has_value() == scene.region.has_value())
    throw InputError(what + " needs either a surface or a region", "one of them", scene.place);
  PointPlacer::Walls walls;
  if (scene.region) {
    walls = placer.find_walls(*scene.region, what, scene.place);
  } else {
    walls = placer.find_walls(placed_surface(*scene.surface), what, scene.place);
  }
  if (!placer.moves(walls))
    throw InputError("the walls of " + what + " are held everywhere (nothing can change its volume)",
                     "another region, or smaller fixed regions", scene.place);
  return walls;
}

// Their corners come last among the mapped points: a reduced model does without them.
template <class Row>
void add_walls(const PointPlacer::Walls& walls, PointPlacer& placer, Row& row) {
  row.first_point = placer.add_corners(walls);
  row.point_count = static_cast<int>(walls.corners.size());
  row.triangles = walls.triangles;
  row.rest_volume = walls.volume;
  row.rest_area = walls.area;
}

void add_contact(const Scene& scene, FullModel& model, PointPlacer& placer) {
  Robot& robot = model.robot;
  robot.pushes = scene.reduction.pushes;
  if (scene.obstacles.empty() && robot.pushes == 0) return;
  for (const ObstacleScene& obstacle : scene.obstacles) robot.obstacles.push_back(place_obstacle(obstacle));
  robot.contact_distance = scene.contact.distance;
  robot.first_collision_point = static_cast<int>(robot.rest_points.size());
  const Place& place = !scene.contact.place.file.empty() ? scene.contact.place
                       : scene.obstacles.empty()         ? scene.reduction.place
                                                         : scene.obstacles.front().place;
  if (scene.contact.surface) {
    const SurfaceScene& surface = *scene.contact.surface;
    const std::vector<Vec3d> corners = surface_corners(surface, placer.size());
    const std::vector<Vec3d> chosen = points_in(scene.contact.region, corners);
    robot.collision_points = placer.add_free(chosen, "the collision surface", surface.place);
    if (robot.collision_points == 0)
      throw InputError(fmt::format("no corner of the collision surface can be touched ({} of {} are in the "
                                   "region{})",
                                   chosen.size(), corners.size(), chosen.empty() ? "" : ", and held"),
                       chosen.empty() ? "another region in [contact], or none; is the unit of the surface right?"
                                      : "corners of parts that no [[body.fix]] holds",
                       place);
  } else {
    const std::vector<int> nodes = spaced_nodes(model.mesh, outer_nodes(scene, model), scene.contact.spacing);
    if (nodes.empty())
      throw InputError("no node of the body can be touched (none of its outer surface is free and in the region)",
                       "another region in [contact], or none", place);
    robot.collision_points = static_cast<int>(nodes.size());
    for (const int node : nodes) placer.add_node(node);
  }
  for (std::string& note : notes_on_contact(robot)) model.notes.push_back(std::move(note));
}

void add_constraint(const ConstraintScene& scene, PointPlacer& placer, Robot& robot) {
  const std::string what = "constraint '" + scene.name + "'";
  ConstraintRow row;
  row.name = scene.name;
  row.compliance = scene.compliance;
  row.damping_time = scene.damping_time;
  row.one_sided = scene.kind == ConstraintKind::limit;
  SUPPLE_EXPECT(scene.form == ConstraintForm::constraint || (scene.compliance > 0 && !row.one_sided));
  std::vector<ConstraintRow>& rows = scene.form == ConstraintForm::force ? robot.springs : robot.constraints;
  bool moves = false;
  const auto placed = [&](int first, int count) {
    row.first_point = first;
    row.point_count = count;
    for (int p = 0; p < count; ++p) moves = moves || placer.moves(first + p);
    if (!moves) throw InputError(what + " acts on held nodes only (it can do nothing)", "other points", scene.place);
  };
  if (scene.kind == ConstraintKind::distance || scene.kind == ConstraintKind::limit) {
    const PlacedPath path = placer.add_path(scene.points, scene.anchor, scene.attachment_radius, what, scene.place);
    placed(path.first_point, static_cast<int>(scene.points.size()));
    row.value = ConstraintRow::Value::length;
    row.anchor = scene.anchor;
    row.rest_length = scene.length.value_or(path.length);
    if (path.length <= shortest_segment)
      throw InputError(what + " has its points at one place (it has no direction there)", "points that are apart",
                       scene.place);
    row.side = row.one_sided && scene.bound == LengthBound::shortest ? -1 : 1;
    rows.push_back(row);
    return;
  }
  placed(placer.add(scene.points.front(), scene.attachment_radius, what, scene.place), 1);
  row.place = scene.position.value_or(robot.rest_points[static_cast<std::size_t>(row.first_point)]);
  const bool axes = scene.directions == ConstraintScene{}.directions;
  for (std::size_t k = 0; k < scene.directions.size(); ++k) {
    row.direction = scene.directions[k];
    if (scene.directions.size() > 1)
      row.name = fmt::format("{} {}", scene.name, axes ? std::string(1, "xyz"[k]) : fmt::format("{}", k + 1));
    rows.push_back(row);
  }
}

// Walls of a volume are found here and added later.
void add_effector(const EffectorScene& scene, PointPlacer& placer, Robot& robot, PointPlacer::Walls& walls) {
  Effector row;
  row.name = scene.name;
  row.kind = scene.kind;
  row.weight = scene.weight;
  row.exact = scene.exact;
  const std::string what = "effector '" + scene.name + "'";
  if (scene.kind == EffectorKind::length) {
    row.pull_point = scene.pull_point;
    const PlacedPath path = placer.add_path(scene.points, scene.pull_point, scene.attachment_radius, what, scene.place);
    row.point = row.first_point = path.first_point;
    row.point_count = static_cast<int>(scene.points.size());
    row.rest_length = path.length;
  } else if (scene.kind == EffectorKind::volume) {
    walls = find_walls(scene, what, placer);
    row.point = placer.add_mean(walls);
  } else {
    row.directions = scene.directions;
    SUPPLE_EXPECT(!row.directions.empty() && row.directions.size() <= 3);
    if (scene.kind == EffectorKind::position && scene.point) {
      row.point = placer.add(*scene.point, scene.region, what, scene.place);
    } else if (scene.kind == EffectorKind::position && !scene.region) {
      throw InputError(what + " has neither a point nor a region", "one of them", scene.place);
    } else {
      const Region region = scene.region.value_or(Region{});
      row.point = placer.add_mean(region, what, scene.place);
      if (scene.kind == EffectorKind::orientation) {
        row.lever = scene.lever;
        row.first_point = placer.add_fit(region, what, scene.place);
        row.point_count = 3;
      }
    }
  }
  robot.effectors.push_back(std::move(row));
}

}  // namespace

void place_mesh(const BodyScene& body, Mesh& mesh) {
  transform_mesh(mesh, body.mesh_unit, body.transform);
  set_order(mesh, body.order);
}

FullModel build_full_model(const Scene& scene, Mesh mesh) {
  if (scene.bodies.size() != 1)
    throw InputError("a scene needs exactly one body so far", "one [body] table", {scene.file, 0, 0, ""});
  const BodyScene& body = scene.bodies.front();
  FullModel model;
  place_mesh(body, mesh);
  const MeshReport report = check_mesh(mesh);
  model.notes = report.notes;
  model.mesh = std::move(mesh);
  model.total_volume = report.volume;

  Robot& robot = model.robot;
  robot.name = scene.name;
  robot.gravity = scene.gravity;
  robot.time_step = scene.time_step;
  robot.integrator = scene.integrator;
  robot.implicit_velocity = scene.implicit_velocity;
  robot.implicit_position = scene.implicit_position;
  robot.rayleigh_mass = body.rayleigh_mass;
  robot.rayleigh_stiffness = body.rayleigh_stiffness;
  fix_nodes(body, model);
  mark_rigid_motion(model, !scene.constraints.empty());
  robot.floating = held_nowhere(model);
  model.fields = build_element_fields(body, model.mesh);
  robot.viscous = viscous_numbers(model.fields);
  for (const ElementField& field : model.fields)
    if (scene.integrator != Integrator::implicit_euler && !has_exact_tangent(field.law))
      throw InputError("Newton's method needs the exact tangent, which rotations from element edges do not have",
                       "rotation = \"polar\", or integrator = \"implicit-euler\"", body.materials.front().place);
  model.mass = build_mass(body, model.mesh, model.fields, model.total_mass);

  PointPlacer placer(model, norm(report.upper - report.lower));
  add_rods(body, placer, model);
  if (scene.actuators.size() > static_cast<std::size_t>(max_box_complementarity))
    throw InputError(fmt::format("the scene has {} actuators, at most {} are possible", scene.actuators.size(),
                                 max_box_complementarity),
                     "fewer actuators", scene.actuators.back().place);
  for (const ActuatorScene& actuator : scene.actuators) add_actuator(actuator, placer, robot);
  std::vector<Place> row_places;
  for (const ConstraintScene& constraint : scene.constraints) {
    add_constraint(constraint, placer, robot);
    if (robot.rows() > max_box_complementarity)
      throw InputError(
          fmt::format("the scene has more than {} rows of actuators and constraints", max_box_complementarity),
          "fewer of them, or springs with as = \"force\"", constraint.place);
    row_places.resize(robot.constraints.size(), constraint.place);
  }
  if (const int row = dependent_constraint(model); row >= 0)
    throw InputError("constraint '" + robot.constraints[static_cast<std::size_t>(row)].name +
                         "' asks for what others before it ask for already, or is in conflict with them",
                     "leave one of them out, or give it a compliance", row_places[static_cast<std::size_t>(row)]);
  std::vector<PointPlacer::Walls> volumes(scene.effectors.size());
  for (std::size_t i = 0; i < volumes.size(); ++i) add_effector(scene.effectors[i], placer, robot, volumes[i]);
  for (const PointScene& probe : scene.probes)
    robot.probes.push_back(
        {probe.name, probe.set, placer.add(probe.point, probe.region, "probe '" + probe.name + "'", probe.place)});
  place_sensors(scene, placer, robot);
  placer.note_outside();
  add_contact(scene, model, placer);
  find_contact_sensors(scene, model);
  for (std::size_t i = 0; i < scene.actuators.size(); ++i)
    if (scene.actuators[i].kind == ActuatorKind::cavity) {
      ActuatorRow& row = robot.actuators[i];
      add_walls(find_walls(scene.actuators[i], "cavity '" + row.name + "'", placer), placer, row);
      const double content = row.rest_volume + row.gas.dead_volume;
      if (row.control == ActuatorControl::gas && !(row.range.lower > -content))
        throw InputError("the range of '" + row.name + "' takes out more gas than is in it (" +
                             format_quantity(content, Dimension::volume) + ")",
                         "a lower end above -" + format_quantity(content, Dimension::volume), scene.actuators[i].place);
    }
  for (std::size_t i = 0; i < volumes.size(); ++i)
    if (scene.effectors[i].kind == EffectorKind::volume) add_walls(volumes[i], placer, robot.effectors[i]);
  place_parameters(scene, model);
  return model;
}

FullModel build_full_model(const Scene& scene) {
  if (scene.bodies.size() != 1)
    throw InputError("a scene needs exactly one body so far", "one [body] table", {scene.file, 0, 0, ""});
  return build_full_model(scene, read_mesh(scene.bodies.front().mesh_file));
}

}  // namespace supple

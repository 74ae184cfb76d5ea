#include "engine/mechanics/assembly/assembly_robot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/model_file.hpp"
#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/model/collision_points.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/element_stress.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

std::vector<std::optional<RigidSolid>> solids_of(const AssemblyScene& scene) {
  std::vector<std::optional<RigidSolid>> solids;
  for (const RigidScene& rigid : scene.rigids) solids.push_back(rigid_solid(rigid));
  return solids;
}

bool same_region(const std::optional<Region>& a, const std::optional<Region>& b) {
  if (!a || !b) return !a && !b;
  return a->kind == b->kind && a->lower == b->lower && a->upper == b->upper && a->centre == b->centre &&
         a->radius == b->radius;
}

}  // namespace

AssemblyRobot::AssemblyRobot(AssemblyScene scene)
    : scene_(std::move(scene)),
      solids_(solids_of(scene_)),
      layout_(lay_out_rigids(scene_, solids_)),
      touching_(touching_bodies(scene_, layout_)) {
  Assembly assembly;
  assembly.name = scene_.name;
  assembly.gravity = scene_.gravity;
  assembly.time_step = scene_.time_step;
  assembly.integrator = scene_.integrator;
  assembly.implicit_velocity = scene_.implicit_velocity;
  assembly.implicit_position = scene_.implicit_position;
  assembly.frames = layout_.frames;
  for (std::size_t r = 0; r < scene_.rigids.size(); ++r) {
    const RigidLayout::Seat& seat = layout_.seats[r];
    Assembly::Probe probe{scene_.rigids[r].name, "", {}};
    probe.point.frame = seat.frame;
    probe.point.position = seat.offset.position;
    if (seat.moves) assembly.probes.push_back(probe);
  }
  for (const PartScene& part : scene_.parts) add_part(part, assembly);
  for (const LinkScene& link : scene_.links) add_link(link, assembly);
  for (const BodyEffectorScene& effector : scene_.effectors) add_effector(effector, assembly);
  add_surfaces(assembly);
  add_contact(assembly);
  fingerprint_ = assembly_fingerprint(scene_);
  mechanics_ = std::make_unique<AssemblyMechanics>(std::move(assembly));
}

void AssemblyRobot::add_part(const PartScene& part, Assembly& assembly) {
  Part own;
  Assembly::Body body;
  body.name = part.name;
  body.place = pose_in(part.translation, part.rotation);
  if (!part.on.empty()) {
    const int rigid = find_rigid(scene_, part.on);
    if (rigid < 0)
      throw InputError(fmt::format("part '{}' is on '{}', which is no rigid body of the scene", part.name, part.on),
                       fmt::format("[[rigid]] with name = \"{}\"", part.on), part.place);
    const RigidLayout::Seat& seat = layout_.seats[extent(rigid)];
    body.frame = seat.frame;
    body.place = seat.offset * body.place;
  }
  own.touches = touching_.has(static_cast<int>(parts_.size()));
  if (const PartModel* same = same_model(part, own.touches))
    static_cast<PartModel&>(own) = *same;
  else if (part.scene.empty())
    read_reduced(part, own);
  else
    build_full(part, own);
  refuse_carrier(part, own.moves_freely);
  if (own.on_frame) {
    body.frame = static_cast<int>(assembly.frames.size());
    assembly.frames.push_back({.name = part.name,
                               .pose = body.place,
                               .hold = Assembly::Hold::free,
                               .inertia = {},
                               .motions = {},
                               .carrier = -1});
    body.place = {};
  }
  if (own.full)
    own.mechanics = std::make_unique<FullMechanics>(*own.full);
  else
    own.mechanics = std::make_unique<ReducedMechanics>(*own.reduced);
  body.inertia = own.full ? body_inertia(*own.full) : body_inertia(*own.reduced);
  if (own.touches && own.touching.surface.triangles.empty())
    throw InputError(fmt::format("part '{}' has no skin to touch other bodies with", part.name),
                     "collision = \"none\", or a model with its skin", part.place);
  body.mechanics = own.mechanics.get();
  assembly.bodies.push_back(std::move(body));
  parts_.push_back(std::move(own));
}

const AssemblyRobot::PartModel* AssemblyRobot::same_model(const PartScene& part, bool touches) const {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const PartScene& other = scene_.parts[k];
    if (other.scene == part.scene && other.model == part.model && parts_[k].touches == touches &&
        same_region(other.touching, part.touching))
      return &parts_[k];
  }
  return nullptr;
}

Scene AssemblyRobot::scene_of(const PartScene& part) const {
  Scene scene = read_scene(part.scene);
  scene.parameters.clear();    // a part is as its scene stands
  scene.reduction.pushes = 0;  // and touches the obstacles of the whole
  add_obstacles(part, scene);
  return scene;
}

Scene AssemblyRobot::part_scene(int part) const {
  return scene_of(scene_.parts[extent(part)]);
}

void AssemblyRobot::build_full(const PartScene& part, PartModel& own) const {
  Scene scene = scene_of(part);
  auto model = std::make_shared<FullModel>(build_full_model(scene));
  take_implicit_factors(model->robot);
  own.moves_freely = model->robot.floating;
  model->robot.obstacles.clear();
  if (own.touches) own.touching = add_skin_points(part, scene, *model);
  BoundarySurface skin = boundary_surface(model->mesh);
  own.skin = std::move(skin.mesh_node);
  own.triangles = std::move(skin.surface.triangles);
  own.full = std::move(model);
}

void AssemblyRobot::read_reduced(const PartScene& part, PartModel& own) const {
  auto model = std::make_shared<ReducedModel>(read_model(part.model));
  take_implicit_factors(model->robot);
  const bool without = scene_.obstacles.empty();
  if (without ? !model->robot.obstacles.empty() : model->robot.collision_points == 0)
    throw InputError(
        without ? fmt::format("part '{}' was reduced in contact with obstacles, and the whole has none", part.name)
                : fmt::format("part '{}' touches no obstacle (it was reduced without, and has no collision points)",
                              part.name),
        without ? "[[obstacle]] in the scene of the whole, or a model reduced without"
                : "a model reduced from its scene with [[obstacle]] or [reduce] pushes, or the scene instead",
        part.place);
  for (const Sensor& sensor : model->robot.sensors)
    if (without && sensor.kind == SensorKind::contact_force)
      throw InputError(fmt::format("sensor '{}' of part '{}' measures contact, and the whole has no obstacle",
                                   sensor.name, part.name),
                       "[[obstacle]] in the scene of the whole, or a model without that sensor", part.place);
  own.moves_freely = model->robot.floating;
  own.on_frame = model->on_frame;
  if (own.on_frame) *model = *shape_model(*model);
  model->robot.obstacles.clear();
  if (own.touches) own.touching = add_skin_points(part, *model);
  own.triangles = model->skin.triangles;
  own.reduced = std::move(model);
}

// Parts that ask for none have those of the whole.
void AssemblyRobot::take_implicit_factors(Robot& robot) const {
  if (robot.implicit_velocity != 1 || robot.implicit_position != 1) return;
  robot.implicit_velocity = scene_.implicit_velocity;
  robot.implicit_position = scene_.implicit_position;
}

void AssemblyRobot::refuse_carrier(const PartScene& part, bool moves_freely) {
  if (moves_freely && !part.on.empty())
    throw InputError(
        fmt::format("part '{}' is on '{}' and is free-floating (its scene fixes no node)", part.name, part.on),
        "[[fix]] in its scene, or the part without `on`: it moves freely", part.place);
}

void AssemblyRobot::add_obstacles(const PartScene& part, Scene& scene) const {
  if (!scene.obstacles.empty())
    throw InputError(
        fmt::format("part '{}' has obstacles of its own (among several bodies they are those of the whole)", part.name),
        "[[obstacle]] in the scene of the whole, and none in that of the part", part.place);
  if (scene_.obstacles.empty()) return;
  if (scene.contact.distance != 0 && scene.contact.distance != scene_.contact.distance)
    throw InputError(fmt::format("the scene of part '{}' has another contact distance than the whole", part.name),
                     "distance in [contact] of the whole alone", part.place);
  scene.obstacles = scene_.obstacles;
  scene.contact.distance = scene_.contact.distance;
  if (scene.contact.spacing == 0 && !scene.contact.surface) scene.contact.spacing = scene_.contact.spacing;
}

// Points of parts as their models have them; vertices of the shapes that move freely: no obstacle moves another.
void AssemblyRobot::add_contact(Assembly& assembly) const {
  if (scene_.obstacles.empty()) return;
  for (const ObstacleScene& obstacle : scene_.obstacles) assembly.obstacles.push_back(place_obstacle(obstacle));
  Assembly::Point point;
  for (point.body = 0; point.body < static_cast<int>(assembly.bodies.size()); ++point.body) {
    const Robot& own = assembly.bodies[extent(point.body)].mechanics->robot();
    for (int k = 0; k < own.collision_points; ++k) {
      point.output = own.first_collision_point + k;
      assembly.collision_points.push_back(point);
    }
  }
  for (std::size_t r = 0; r < scene_.rigids.size(); ++r) {
    const RigidLayout::Seat& seat = layout_.seats[r];
    if (!seat.free || !solids_[r]) continue;
    if (!solids_[r]->flat)
      throw InputError(
          fmt::format("spheres and capsules that move freely do not touch [[obstacle]]s yet (here '{}' does)",
                      scene_.rigids[r].name),
          "a [[rigid]] with held = true and the obstacle's shape instead of the obstacle", scene_.rigids[r].place);
    for (const Vec3d& corner : solids_[r]->contact.rest)
      assembly.collision_points.push_back(
          {.frame = seat.frame, .body = -1, .output = 0, .position = seat.offset(corner), .vector = false});
  }
  if (assembly.collision_points.empty())
    throw InputError("nothing can touch the obstacles (all rigid bodies are held or driven, and there is no part)",
                     "a part, or a rigid body that moves freely", scene_.obstacles.front().place);
}

void AssemblyRobot::add_surfaces(Assembly& assembly) const {
  const auto parts = static_cast<int>(scene_.parts.size());
  for (const int number : touching_.bodies) {
    Assembly::BodySurface body;
    Pose pose;
    if (number < parts) {
      const PartScene& scene = scene_.parts[extent(number)];
      const PartSkin& skin = parts_[extent(number)].touching;
      const Assembly::Body& own = assembly.bodies[extent(number)];
      pose = assembly.frames[extent(own.frame)].pose * own.place;
      body.name = scene.name;
      body.surface = make_collision_surface(skin.surface);
      body.friction = scene.friction;
      body.touches_itself = scene.self_contact;
      for (int k = 0; k < body.surface.vertices(); ++k)
        body.vertices.push_back(
            {.frame = -1, .body = number, .output = skin.first_output + k, .position = {}, .vector = false});
    } else {
      const RigidScene& scene = scene_.rigids[extent(number - parts)];
      const RigidLayout::Seat& seat = layout_.seats[extent(number - parts)];
      pose = seat.rest;
      body.name = scene.name;
      body.surface = solids_[extent(number - parts)]->contact;
      body.friction = scene.friction;
      for (const Vec3d& x : body.surface.rest)
        body.vertices.push_back(
            {.frame = seat.frame, .body = -1, .output = 0, .position = seat.offset(x), .vector = false});
    }
    for (Vec3d& x : body.surface.rest) x = pose(x);
    assembly.surfaces.push_back(std::move(body));
  }
  assembly.never_touching = touching_.never_touching;
  assembly.contact_distance =
      scene_.contact.distance > 0 ? scene_.contact.distance : default_contact_distance(assembly.surfaces);
}

std::pair<std::span<const double>, std::span<const double>> AssemblyRobot::own_values(std::size_t part,
                                                                                      std::span<const double> q,
                                                                                      std::span<const double> c) const {
  const Mechanics& own = *parts_[part].mechanics;
  const int body = static_cast<int>(part);
  return {q.subspan(extent(mechanics_->first_coordinate(body)), extent(own.coordinates().nq)),
          c.subspan(extent(mechanics_->first_motion(body)), own.robot().motions.size())};
}

std::vector<double> AssemblyRobot::stress(std::span<const double> q, std::span<const double> c) const {
  std::vector<double> all;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto [own_q, own_c] = own_values(part, q, c);
    std::vector<double> stress;
    if (parts_[part].reduced) {
      stress = von_mises(*parts_[part].reduced, own_q, own_c);
    } else {
      std::vector<double> u(3 * parts_[part].full->mesh.nodes.size());
      node_displacements(*parts_[part].full, own_q, own_c, u);
      stress = von_mises(*parts_[part].full, u);
    }
    all.insert(all.end(), stress.begin(), stress.end());
  }
  return all;
}

std::vector<Vec3d> AssemblyRobot::part_skin(int part, std::span<const double> q, std::span<const double> c) const {
  const Part& own = parts_[extent(part)];
  const auto [own_q, own_c] = own_values(extent(part), q, c);
  std::vector<Vec3d> nodes;
  if (own.reduced) {
    nodes = own.reduced->skin.rest;
    std::vector<double> u(3 * nodes.size());
    displacements(*own.reduced, own.reduced->skin, own_q, own_c, u);
    for (std::size_t i = 0; i < u.size(); ++i) nodes[i / 3][static_cast<int>(i % 3)] += u[i];
    return nodes;
  }
  std::vector<double> u(3 * own.full->mesh.nodes.size());
  node_displacements(*own.full, own_q, own_c, u);
  for (const int node : own.skin) {
    const std::size_t k = 3 * extent(node);
    nodes.push_back(own.full->mesh.nodes[extent(node)] + Vec3d{{u[k], u[k + 1], u[k + 2]}});
  }
  return nodes;
}

const Surface& AssemblyRobot::shape(int rigid) const {
  static const Surface none;
  return solids_[extent(rigid)] ? solids_[extent(rigid)]->picture : none;
}

Pose AssemblyRobot::rigid_pose(int rigid, std::span<const double> q, std::span<const double> c) const {
  const RigidLayout::Seat& seat = layout_.seats[extent(rigid)];
  return mechanics_->frame_pose(seat.frame, q, c) * seat.offset;
}

bool AssemblyRobot::moves_freely() const {
  return std::ranges::any_of(parts_, &Part::moves_freely) ||
         std::ranges::any_of(layout_.seats, &RigidLayout::Seat::free);
}

Surface AssemblyRobot::surface(std::span<const double> q, std::span<const double> c) const {
  Surface out;
  const auto add = [&](const std::vector<std::array<int, 3>>& triangles, int first) {
    for (const std::array<int, 3>& t : triangles) out.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  };
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    add(parts_[part].triangles, static_cast<int>(out.nodes.size()));
    const Pose pose = mechanics_->body_pose(static_cast<int>(part), q, c);
    for (const Vec3d& x : part_skin(static_cast<int>(part), q, c)) out.nodes.push_back(pose(x));
  }
  for (int r = 0; r < static_cast<int>(scene_.rigids.size()); ++r) {
    const Surface& own = shape(r);
    add(own.triangles, static_cast<int>(out.nodes.size()));
    const Pose pose = rigid_pose(r, q, c);
    for (const Vec3d& x : own.nodes) out.nodes.push_back(pose(x));
  }
  return out;
}

std::vector<Vec3d> AssemblyRobot::skin(std::span<const double> q, std::span<const double> c) const {
  std::vector<Vec3d> nodes;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Pose pose = mechanics_->body_pose(static_cast<int>(part), q, c);
    for (const Vec3d& x : part_skin(static_cast<int>(part), q, c)) nodes.push_back(pose(x));
  }
  for (int r = 0; r < static_cast<int>(scene_.rigids.size()); ++r) {
    if (!layout_.seats[extent(r)].free) continue;
    const Pose pose = rigid_pose(r, q, c);
    for (const Vec3d& x : shape(r).nodes) nodes.push_back(pose(x));
  }
  return nodes;
}

bool AssemblyRobot::exact_tangent() const {
  const auto exact = [](const auto& fields) {
    return std::ranges::all_of(fields, [](const auto& field) { return has_exact_tangent(field.law); });
  };
  return std::ranges::all_of(
      parts_, [&](const Part& part) { return part.full ? exact(part.full->fields) : exact(part.reduced->fields); });
}

std::vector<std::string> AssemblyRobot::part_texts() const {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < parts_.size(); ++k)
    texts.push_back(parts_[k].full ? fmt::format("full model, {} unknowns, {:.4g} g", parts_[k].full->coordinates.nv,
                                                 1e3 * parts_[k].full->total_mass)
                                   : fmt::format("reduced model, {} modes", parts_[k].reduced->modes));
  return texts;
}

}  // namespace supple

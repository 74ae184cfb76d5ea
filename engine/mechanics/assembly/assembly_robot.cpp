#include "engine/mechanics/assembly/assembly_robot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/model_file.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/model/collision_points.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

Pose pose_in(const Vec3d& translation, const Vec3d& rotation) {
  return {translation, rotation_matrix({.rotation = rotation})};
}

// Of a homogeneous box about its centre.
RigidInertia box_inertia(double mass, const Vec3d& size) {
  RigidInertia box{mass, {{0, 0, 0}}, Mat3d::zero()};
  for (int k = 0; k < 3; ++k) box.inertia(k, k) = mass / 12 * (dot(size, size) - size[k] * size[k]);
  return box;
}

Assembly::Frame frame_of(const RigidScene& rigid) {
  Assembly::Frame frame{rigid.name, pose_in(rigid.translation, rigid.rotation), Assembly::Hold::free, {}, {}};
  if (rigid.mass && rigid.size) frame.inertia = box_inertia(*rigid.mass, *rigid.size);
  if (rigid.held) frame.hold = Assembly::Hold::fixed;
  if (!rigid.motion.empty()) {
    frame.hold = Assembly::Hold::driven;
    frame.motions = {{rigid.motion, rigid.direction, rigid.range, true}};
  }
  return frame;
}

}  // namespace

AssemblyRobot::AssemblyRobot(AssemblyScene scene) : scene_(std::move(scene)) {
  Assembly assembly;
  assembly.name = scene_.name;
  assembly.gravity = scene_.gravity;
  assembly.time_step = scene_.time_step;
  assembly.integrator = scene_.integrator;
  assembly.frames.push_back({"world", {}, Assembly::Hold::fixed, {}, {}});
  for (const RigidScene& rigid : scene_.rigids) {
    assembly.frames.push_back(frame_of(rigid));
    Assembly::Probe probe{rigid.name, "", {}};
    probe.point.frame = static_cast<int>(assembly.frames.size()) - 1;
    if (!rigid.held) assembly.probes.push_back(probe);
  }
  for (const PartScene& part : scene_.parts) add_part(part, assembly);
  for (const LinkScene& link : scene_.links) add_link(link, assembly);
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
    const auto rigid = std::ranges::find(scene_.rigids, part.on, &RigidScene::name);
    if (rigid == scene_.rigids.end())
      throw InputError(fmt::format("part '{}' is on '{}', which is no rigid body of the scene", part.name, part.on),
                       fmt::format("[[rigid]] with name = \"{}\"", part.on), part.place);
    body.frame = frame_of_rigid(static_cast<int>(rigid - scene_.rigids.begin()));
  }
  if (!part.scene.empty()) {
    Scene scene = read_scene(part.scene);
    add_obstacles(part, scene);
    own.full = std::make_unique<FullModel>(build_full_model(scene));
    own.full->robot.obstacles.clear();
    own.mechanics = std::make_unique<FullMechanics>(*own.full);
    body.inertia = body_inertia(*own.full);
    BoundarySurface skin = boundary_surface(own.full->mesh);
    own.skin = std::move(skin.mesh_node);
    own.triangles = std::move(skin.surface.triangles);
  } else {
    own.reduced = std::make_unique<ReducedModel>(read_model(part.model));
    if (scene_.obstacles.empty() != own.reduced->robot.obstacles.empty())
      throw InputError(
          scene_.obstacles.empty()
              ? fmt::format("part '{}' was reduced in contact with obstacles, and the whole has none", part.name)
              : fmt::format("part '{}' touches no obstacle (it was reduced without, and has no collision points)",
                            part.name),
          scene_.obstacles.empty() ? "[[obstacle]] in the scene of the whole, or a model reduced without"
                                   : "a model reduced from its scene with [[obstacle]], or the scene instead",
          part.place);
    own.reduced->robot.obstacles.clear();
    own.mechanics = std::make_unique<ReducedMechanics>(*own.reduced);
    body.inertia = body_inertia(*own.reduced);
    own.triangles = own.reduced->skin.triangles;
  }
  body.mechanics = own.mechanics.get();
  assembly.bodies.push_back(std::move(body));
  parts_.push_back(std::move(own));
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

// Points of parts as their models have them; corners of the boxes that move freely: no obstacle moves another.
void AssemblyRobot::add_contact(Assembly& assembly) const {
  if (scene_.obstacles.empty()) return;
  for (const ObstacleScene& obstacle : scene_.obstacles) assembly.obstacles.push_back(place_obstacle(obstacle));
  assembly.contact_distance = scene_.contact.distance;
  Assembly::Point point;
  for (point.body = 0; point.body < static_cast<int>(assembly.bodies.size()); ++point.body) {
    const Robot& own = assembly.bodies[extent(point.body)].mechanics->robot();
    for (int k = 0; k < own.collision_points; ++k) {
      point.output = own.first_collision_point + k;
      assembly.collision_points.push_back(point);
    }
  }
  for (int rigid = 0; rigid < static_cast<int>(scene_.rigids.size()); ++rigid) {
    const int frame = frame_of_rigid(rigid);
    if (assembly.frames[extent(frame)].hold != Assembly::Hold::free) continue;
    for (const Vec3d& corner : box(rigid).nodes)
      assembly.collision_points.push_back(
          {.frame = frame, .body = -1, .output = 0, .position = corner, .vector = false});
  }
  if (assembly.collision_points.empty())
    throw InputError("nothing can touch the obstacles (all rigid bodies are held or driven, and there is no part)",
                     "a part, or a rigid body that moves freely", scene_.obstacles.front().place);
}

// "palm", "palm:hook", "finger-1:tip".
Assembly::Point AssemblyRobot::point(const LinkScene& link, const std::string& text) const {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string owner = text.substr(0, colon), name = colon < text.size() ? text.substr(colon + 1) : "";
  Assembly::Point point;
  const auto fail = [&](const std::string& suggestion) {
    throw InputError(fmt::format("link '{}' names '{}', which is no point of the scene", link.name, text), suggestion,
                     link.place);
  };
  const auto rigid = std::ranges::find(scene_.rigids, owner, &RigidScene::name);
  if (rigid != scene_.rigids.end()) {
    point.frame = frame_of_rigid(static_cast<int>(rigid - scene_.rigids.begin()));
    if (name.empty()) return point;
    const auto at = std::ranges::find(rigid->points, name, &PointScene::name);
    if (at == rigid->points.end()) fail(fmt::format("[[rigid.point]] with name = \"{}\"", name));
    point.position = at->point;
    return point;
  }
  const auto part = std::ranges::find(scene_.parts, owner, &PartScene::name);
  if (part == scene_.parts.end()) fail("\"part:point\", the name of a part or a rigid body before the colon");
  point.body = static_cast<int>(part - scene_.parts.begin());
  for (const NamedPoint& at : parts_[extent(point.body)].mechanics->robot().reported_points())
    if (at.name == name) {
      point.output = at.point;
      return point;
    }
  fail(fmt::format("an effector or a probe of '{}'", owner));
  return point;
}

void AssemblyRobot::add_link(const LinkScene& scene, Assembly& assembly) const {
  Assembly::Link link;
  link.points = {point(scene, scene.from), point(scene, scene.to)};
  if (scene.from == scene.to)
    throw InputError(fmt::format("link '{}' has one point twice", scene.name), "two points", scene.place);
  const auto placed = [&](const Assembly::Point& at) {
    return at.body < 0 && assembly.frames[extent(at.frame)].hold != Assembly::Hold::free;
  };
  if (link.points[0].body < 0 && link.points[1].body < 0 && link.points[0].frame == link.points[1].frame)
    throw InputError(fmt::format("link '{}' ties '{}' to '{}' (both are on one rigid body, whose points keep their "
                                 "distances)",
                                 scene.name, scene.from, scene.to),
                     "a point of another body at one of its ends", scene.place);
  if (placed(link.points[0]) && placed(link.points[1]))
    throw InputError(fmt::format("link '{}' ties '{}' to '{}' (both are held or driven, so that it can move neither)",
                                 scene.name, scene.from, scene.to),
                     "a rigid body with a mass, or a point of a part, at one of its ends", scene.place);
  link.row.name = scene.name;
  link.row.compliance = scene.compliance;
  link.row.damping_time = scene.damping_time;
  link.row.one_sided = scene.kind == LinkKind::limit;
  link.as_force = scene.form == ConstraintForm::force;
  const auto at_rest = [&](const Assembly::Point& at) {
    if (at.body < 0) return assembly.frames[extent(at.frame)].pose(at.position);
    const Assembly::Body& body = assembly.bodies[extent(at.body)];
    return (assembly.frames[extent(body.frame)].pose *
            body.place)(body.mechanics->robot().rest_points[extent(at.output)]);
  };
  const double rest = norm(at_rest(link.points[0]) - at_rest(link.points[1]));
  if (scene.kind == LinkKind::joint) {
    // A hard joint would snap together in the first step; places are given to a few digits.
    if (scene.compliance == 0 && rest > 1e-4)
      throw InputError(fmt::format("the joint '{}' has its points {:.3g} mm apart", scene.name, 1e3 * rest),
                       "translation and rotation that bring them together, or a stiffness: a spring", scene.place);
    for (int k = 0; k < 3; ++k) {
      link.row.name = fmt::format("{} {}", scene.name, "xyz"[k]);
      link.row.direction = {{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}};
      assembly.links.push_back(link);
    }
    return;
  }
  if (rest <= shortest_segment)
    throw InputError(fmt::format("link '{}' has its points at one place (it has no direction there)", scene.name),
                     "points that are apart, or type = \"joint\"", scene.place);
  link.row.value = ConstraintRow::Value::length;
  link.row.rest_length = scene.length.value_or(rest);
  assembly.links.push_back(link);
}

std::vector<Vec3d> AssemblyRobot::own_skin(std::size_t part, std::span<const double> q,
                                           std::span<const double> c) const {
  const Part& own = parts_[part];
  const int body = static_cast<int>(part);
  const Robot& robot = own.mechanics->robot();
  const std::span<const double> own_q =
      q.subspan(extent(mechanics_->first_coordinate(body)), extent(own.mechanics->coordinates().nq));
  const std::span<const double> own_c = c.subspan(extent(mechanics_->first_motion(body)), robot.motions.size());
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

Surface AssemblyRobot::box(int rigid) const {
  const std::optional<Vec3d>& size = scene_.rigids[extent(rigid)].size;
  if (!size) return {};
  Surface out;
  out.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                   {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  const Vec3d half = 0.5 * *size;
  for (int k = 0; k < 8; ++k)
    out.nodes.push_back(
        {{(k & 1) != 0 ? half[0] : -half[0], (k & 2) != 0 ? half[1] : -half[1], (k & 4) != 0 ? half[2] : -half[2]}});
  return out;
}

Surface AssemblyRobot::surface(std::span<const double> q, std::span<const double> c) const {
  Surface out;
  const auto add = [&](const std::vector<std::array<int, 3>>& triangles, int first) {
    for (const std::array<int, 3>& t : triangles) out.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  };
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    add(parts_[part].triangles, static_cast<int>(out.nodes.size()));
    const Pose pose = mechanics_->body_pose(static_cast<int>(part), q, c);
    for (const Vec3d& x : own_skin(part, q, c)) out.nodes.push_back(pose(x));
  }
  for (int r = 0; r < static_cast<int>(scene_.rigids.size()); ++r) {
    const Surface own = box(r);
    add(own.triangles, static_cast<int>(out.nodes.size()));
    const Pose pose = mechanics_->frame_pose(frame_of_rigid(r), q, c);
    for (const Vec3d& x : own.nodes) out.nodes.push_back(pose(x));
  }
  return out;
}

std::vector<Vec3d> AssemblyRobot::skin(std::span<const double> q, std::span<const double> c) const {
  std::vector<Vec3d> nodes;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Pose pose = mechanics_->body_pose(static_cast<int>(part), q, c);
    for (const Vec3d& x : own_skin(part, q, c)) nodes.push_back(pose(x));
  }
  for (int r = 0; r < static_cast<int>(scene_.rigids.size()); ++r) {
    if (mechanics_->assembly().frames[extent(frame_of_rigid(r))].hold != Assembly::Hold::free) continue;
    const Pose pose = mechanics_->frame_pose(frame_of_rigid(r), q, c);
    for (const Vec3d& x : box(r).nodes) nodes.push_back(pose(x));
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

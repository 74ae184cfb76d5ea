// Links of a scene of several bodies.

#include <fmt/format.h>

#include <algorithm>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

Vec3d rest_place(const Assembly::Point& at, const Assembly& assembly) {
  if (at.body < 0) return assembly.frames[extent(at.frame)].pose(at.position);
  const Assembly::Body& body = assembly.bodies[extent(at.body)];
  return (assembly.frames[extent(body.frame)].pose *
          body.place)(body.mechanics->robot().rest_points[extent(at.output)]);
}

}  // namespace

// "palm", "palm:hook", "finger-1:tip".
Assembly::Point AssemblyRobot::point(const std::string& what, const Place& place, const std::string& text) const {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string owner = text.substr(0, colon), name = colon < text.size() ? text.substr(colon + 1) : "";
  Assembly::Point point;
  const auto fail = [&](const std::string& suggestion) {
    throw InputError(fmt::format("{} names '{}', which is no point of the scene", what, text), suggestion, place);
  };
  if (const int number = find_rigid(scene_, owner); number >= 0) {
    const RigidScene& rigid = scene_.rigids[extent(number)];
    const RigidLayout::Seat& seat = layout_.seats[extent(number)];
    point.frame = seat.frame;
    point.position = seat.offset.position;
    if (name.empty()) return point;
    const auto at = std::ranges::find(rigid.points, name, &PointScene::name);
    if (at == rigid.points.end()) fail(fmt::format("[[rigid.point]] with name = \"{}\"", name));
    point.position = seat.offset(at->point);
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

void AssemblyRobot::add_ball(Assembly::Link link, const std::string& name, Assembly& assembly) {
  for (int k = 0; k < 3; ++k) {
    link.row.name = fmt::format("{} {}", name, "xyz"[k]);
    link.row.direction = {{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}};
    assembly.links.push_back(link);
  }
}

void AssemblyRobot::add_link(const LinkScene& scene, Assembly& assembly) const {
  Assembly::Link link;
  const std::string what = fmt::format("link '{}'", scene.name);
  link.points = {point(what, scene.place, scene.from), point(what, scene.place, scene.to)};
  if (scene.from == scene.to)
    throw InputError(fmt::format("link '{}' has one point twice", scene.name), "two points", scene.place);
  const auto placed = [&](const Assembly::Point& at) {
    return at.body < 0 && assembly.frames[extent(at.frame)].hold != Assembly::Hold::free;
  };
  if (link.points[0].body < 0 && link.points[1].body < 0 && link.points[0].frame == link.points[1].frame)
    throw InputError(
        fmt::format("link '{}' ties '{}' to '{}' (both are on one rigid body, or on two that are welded, whose "
                    "points keep their distances)",
                    scene.name, scene.from, scene.to),
        "a point of another body at one of its ends", scene.place);
  if (placed(link.points[0]) && placed(link.points[1]))
    throw InputError(fmt::format("link '{}' ties '{}' to '{}' (both are held or driven, so that it can move neither)",
                                 scene.name, scene.from, scene.to),
                     "a rigid body with a mass, or a point of a part, at one of its ends", scene.place);
  const double rest = norm(rest_place(link.points[0], assembly) - rest_place(link.points[1], assembly));
  // A hard joint would snap together in the first step; places are given to a few digits.
  if (scene.joins() && scene.compliance == 0 && rest > 1e-4)
    throw InputError(
        fmt::format("the {} '{}' has its points {:.3g} mm apart", link_word(scene.kind), scene.name, 1e3 * rest),
        scene.kind == LinkKind::joint ? "translation and rotation that bring them together, or a stiffness: a spring"
                                      : "translation and rotation that bring them together",
        scene.place);
  if (scene.kind == LinkKind::hinge || scene.kind == LinkKind::slider || scene.kind == LinkKind::weld) {
    add_joint(scene, link.points, assembly);
    return;
  }
  link.row.name = scene.name;
  link.row.compliance = scene.compliance;
  link.row.damping_time = scene.damping_time;
  link.row.one_sided = scene.kind == LinkKind::limit;
  link.as_force = scene.form == ConstraintForm::force;
  if (scene.kind == LinkKind::joint) {
    add_ball(link, scene.name, assembly);
    return;
  }
  if (rest <= shortest_segment)
    throw InputError(fmt::format("link '{}' has its points at one place (it has no direction there)", scene.name),
                     "points that are apart, or type = \"joint\"", scene.place);
  link.row.value = ConstraintRow::Value::length;
  link.row.rest_length = scene.length.value_or(rest);
  assembly.links.push_back(link);
}

void AssemblyRobot::add_effector(const BodyEffectorScene& scene, Assembly& assembly) const {
  Assembly::Led led;
  Effector& effector = led.effector;
  effector.name = scene.effector.name;
  effector.kind = scene.effector.kind;
  effector.directions = scene.effector.directions;
  effector.lever = scene.effector.lever;
  effector.weight = scene.effector.weight;
  effector.exact = scene.effector.exact;
  led.point = point(fmt::format("effector '{}'", effector.name), scene.effector.place, scene.at);
  if (effector.kind == EffectorKind::orientation) led.vectors = vectors_at(led.point, scene, assembly);
  assembly.effectors.push_back(std::move(led));
}

// Axes of the world at rest, on a rigid body; the axes of a part at an effector of its own.
std::vector<Assembly::Point> AssemblyRobot::vectors_at(const Assembly::Point& at, const BodyEffectorScene& scene,
                                                       const Assembly& assembly) const {
  std::vector<Assembly::Point> vectors(3, at);
  const int first = at.body < 0 ? 0 : orientation_at(at, assembly);
  if (first < 0)
    throw InputError(fmt::format("orientation '{}' is that of '{}', a point of a part (which has none)",
                                 scene.effector.name, scene.at),
                     "[[effector]] with type = \"orientation\" and a region in the scene of the part",
                     scene.effector.place);
  for (int k = 0; k < 3; ++k) {
    Assembly::Point& vector = vectors[extent(k)];
    vector.vector = true;
    vector.output = first + k;
    if (at.body >= 0) continue;
    Vec3d axis{{0, 0, 0}};
    axis[k] = 1;
    vector.position = transpose(assembly.frames[extent(at.frame)].pose.rotation) * axis;
    vector.output = 0;
  }
  return vectors;
}

int AssemblyRobot::orientation_at(const Assembly::Point& at, const Assembly& assembly) {
  for (const Effector& effector : assembly.bodies[extent(at.body)].mechanics->robot().effectors)
    if (effector.kind == EffectorKind::orientation && effector.point == at.output) return effector.first_point;
  return -1;
}

}  // namespace supple

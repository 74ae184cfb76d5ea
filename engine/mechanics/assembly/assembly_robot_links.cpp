// Links of a scene of several bodies.

#include <fmt/format.h>

#include <algorithm>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

// "palm", "palm:hook", "finger-1:tip".
Assembly::Point AssemblyRobot::point(const LinkScene& link, const std::string& text) const {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string owner = text.substr(0, colon), name = colon < text.size() ? text.substr(colon + 1) : "";
  Assembly::Point point;
  const auto fail = [&](const std::string& suggestion) {
    throw InputError(fmt::format("link '{}' names '{}', which is no point of the scene", link.name, text), suggestion,
                     link.place);
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

void AssemblyRobot::add_link(const LinkScene& scene, Assembly& assembly) const {
  Assembly::Link link;
  link.points = {point(scene, scene.from), point(scene, scene.to)};
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

}  // namespace supple

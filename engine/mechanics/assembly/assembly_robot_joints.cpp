// Hinges, sliders and welds of a scene of several bodies, their limits, springs, dampers and motors.
//
// Both bodies carry unit vectors e_0 (the axis), e_1, e_2 that are the same at rest, and meet at a point each:
//   hinge    the points are one, e_0 of one stays across e_1 and e_2 of the other
//   slider   the points are one but along e_0, all three vectors stay the same: (e_i . e_j' - e_j . e_i')/2 = 0
//   weld     the points are one, and the vectors

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/contact/proximity.hpp"

namespace supple {

namespace {

using Value = ConstraintRow::Value;

// A damper is a spring that takes this long to move what its damper resists: it holds nothing.
constexpr double damper_time = 1e9;  // s

// One of a joint's two bodies: its point, and vectors that turn with it.
struct JointEnd {
  Assembly::Point at;
  Mat3d axes;        // of the body, in the world at rest
  int vectors = -1;  // of a part: the first of three mapped vectors, which are its axes at rest
  bool soft() const { return at.body >= 0; }
  Vec3d axis(int k) const { return {{axes(0, k), axes(1, k), axes(2, k)}}; }
  // The vector that is `direction` in the world at rest: of a part, one of its axes.
  Assembly::Point along(const Vec3d& direction) const {
    Assembly::Point point = at;
    point.vector = true;
    if (!soft()) {
      point.position = transpose(axes) * direction;
      return point;
    }
    int nearest = 0;
    for (int k = 1; k < 3; ++k)
      if (dot(axis(k), direction) > dot(axis(nearest), direction)) nearest = k;
    point.output = vectors + nearest;
    return point;
  }
};

// vectors: those of a part at the point, or -1.
JointEnd end_of(const LinkScene& link, const std::string& text, const Assembly::Point& at, int vectors,
                const Assembly& assembly) {
  JointEnd end{.at = at, .axes = Mat3d::identity(), .vectors = vectors};
  if (!end.soft()) {
    end.axes = assembly.frames[extent(at.frame)].pose.rotation;
    return end;
  }
  const Assembly::Body& body = assembly.bodies[extent(at.body)];
  end.axes = assembly.frames[extent(body.frame)].pose.rotation * body.place.rotation;
  if (vectors < 0)
    throw InputError(
        fmt::format("the {} '{}' is at '{}', a point of a part (which has no orientation)", link_word(link.kind),
                    link.name, text),
        "[[effector]] with type = \"orientation\" and a region in the scene of the part; or type = \"joint\"",
        link.place);
  return end;
}

// e_0, e_1, e_2: of a part those of its axes.
std::array<Vec3d, 3> common_vectors(const LinkScene& link, const Vec3d& axis, const JointEnd& body) {
  std::array<Vec3d, 3> e{axis};
  if (!body.soft()) {
    const Mat3d frame = frame_on(axis);
    for (int k = 1; k < 3; ++k) e[extent(k)] = {{frame(k, 0), frame(k, 1), frame(k, 2)}};
    return e;
  }
  for (int k = 0; k < 3; ++k)
    if (std::abs(std::abs(dot(body.axis(k), axis)) - 1) < 1e-9) {
      for (int i = 0; i < 3; ++i) e[extent(i)] = body.axis((k + i) % 3);
      return e;
    }
  throw InputError(
      fmt::format("the axis of the {} '{}' is none of the axes of its part", link_word(link.kind), link.name),
      "an axis of the part, or a rigid body that is welded to it at the other end", link.place);
}

}  // namespace

void AssemblyRobot::add_joint(const LinkScene& scene, const std::vector<Assembly::Point>& points,
                              Assembly& assembly) const {
  const auto end = [&](const std::string& text, const Assembly::Point& at) {
    return end_of(scene, text, at, at.body < 0 ? -1 : orientation_at(at, assembly), assembly);
  };
  const JointEnd from = end(scene.from, points[0]), to = end(scene.to, points[1]);
  if (from.soft() && to.soft())
    throw InputError(fmt::format("the {} '{}' holds two parts to each other", link_word(scene.kind), scene.name),
                     "a rigid body between them", scene.place);
  const JointEnd &rigid = from.soft() ? to : from, &other = from.soft() ? from : to;
  // A rigid body has axes of its own where it is welded to another one.
  Mat3d own_axes = from.axes;
  if (const int number = find_rigid(scene_, scene.from.substr(0, scene.from.find(':'))); number >= 0)
    own_axes = layout_.seats[extent(number)].rest.rotation;
  const Vec3d axis = scene.moves() ? own_axes * scene.axis : other.axis(0);
  const std::array<Vec3d, 3> e = common_vectors(scene, axis, other);
  const auto add = [&](const std::string& name, const ConstraintRow& row, const std::vector<Assembly::Point>& at,
                       bool as_force = false) {
    assembly.links.push_back({row, at, as_force});
    assembly.links.back().row.name = scene.name + " " + name;
  };
  ConstraintRow row;
  if (scene.kind == LinkKind::slider) {
    row.value = Value::slide;
    for (int k = 1; k < 3; ++k) add(fmt::format("across {}", k), row, {rigid.along(e[extent(k)]), from.at, to.at});
  } else {
    add_ball({row, {from.at, to.at}}, scene.name, assembly);
  }
  row = {};
  row.value = Value::aligned;
  if (scene.kind == LinkKind::hinge)
    for (int k = 1; k < 3; ++k) add(fmt::format("turn {}", k), row, {rigid.along(e[0]), other.along(e[extent(k)])});
  else
    for (int k = 0; k < 3; ++k) {
      const Vec3d &u = e[extent((k + 1) % 3)], &v = e[extent((k + 2) % 3)];
      add(fmt::format("turn {}", k + 1), row, {rigid.along(u), other.along(v), rigid.along(v), other.along(u)});
    }
  if (!scene.moves()) return;

  // The coordinate.
  ConstraintRow coordinate;
  coordinate.value = scene.kind == LinkKind::hinge ? Value::angle : Value::slide;
  const Assembly::Point u = rigid.along(axis);
  const std::vector<Assembly::Point> at =
      scene.kind == LinkKind::hinge ? std::vector{u, from.along(e[1]), to.along(e[1])} : std::vector{u, from.at, to.at};
  row = coordinate;
  row.one_sided = true;
  row.origin = scene.range.lower;
  if (scene.range.lower > -unlimited) add("lower limit", row, at);
  row.origin = scene.range.upper;
  row.side = -1;
  if (scene.range.upper < unlimited) add("upper limit", row, at);
  row = coordinate;
  row.origin = scene.rest;
  row.compliance = 1 / scene.stiffness;
  if (scene.stiffness > 0) add("spring", row, at, true);
  row.origin = 0;
  row.compliance = damper_time / scene.damping;
  row.damping_time = damper_time;
  if (scene.damping > 0) add("damper", row, at, true);
  if (scene.motor) assembly.motors.push_back({motor_row(scene, coordinate), at});
}

ActuatorRow AssemblyRobot::motor_row(const LinkScene& scene, const ConstraintRow& coordinate) {
  const MotorScene& motor = *scene.motor;
  ActuatorRow row;
  row.name = scene.name;
  row.kind = scene.kind == LinkKind::hinge ? ActuatorKind::motor : ActuatorKind::linear_motor;
  row.joint = coordinate;
  row.bilateral = true;
  row.range = motor.range;
  row.rate = motor.rate;
  row.force = motor.effort;
  row.control = motor.control == MotorControl::torque || motor.control == MotorControl::force
                    ? ActuatorControl::force
                    : ActuatorControl::displacement;
  if (motor.control == MotorControl::servo) row.compliance = 1 / motor.stiffness;
  return row;
}

}  // namespace supple

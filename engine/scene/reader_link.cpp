// Links and effectors of a scene of several bodies.
#include <fmt/format.h>

#include <numbers>

#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader_parts.hpp"

namespace supple {

namespace {

constexpr double widest_angle = 170 * std::numbers::pi / 180;

// A hinge's angle jumps at half a turn.
Interval angle_range(const TableReader& table, std::string_view key, const Interval& range) {
  for (const double end : {range.lower, range.upper})
    if (std::abs(end) < unlimited && std::abs(end) > widest_angle * (1 + 1e-12))
      table.fail(key, fmt::format("{} goes to {}", key, format_quantity(end, Dimension::angle)),
                 "at most 170 deg both ways; a body that is turned on and on: [[rigid.motion]] with type = "
                 "\"rotation\", or control = \"torque\"");
  return range;
}

MotorScene read_motor(const TableReader& table, const LinkScene& link) {
  MotorScene motor;
  motor.place = table.place();
  const bool turns = link.kind == LinkKind::hinge;
  if (!table.has("control"))
    table.fail("control", fmt::format("the motor of '{}' has no control", link.name),
               turns ? "control = \"angle\", \"torque\" or \"servo\"" : "control = \"travel\", \"force\" or \"servo\"");
  motor.control = table.choice("control", motor.control);
  const bool of_hinge = motor.control == MotorControl::angle || motor.control == MotorControl::torque;
  if (motor.control != MotorControl::servo && of_hinge != turns)
    table.fail("control",
               fmt::format("'{}' is a {}, whose motor has no {}", link.name, turns ? "hinge" : "slider",
                           table.text("control")),
               turns ? "\"angle\", \"torque\" or \"servo\"" : "\"travel\", \"force\" or \"servo\"");
  const bool by_effort = motor.control == MotorControl::torque || motor.control == MotorControl::force;
  const ActuatorKind kind = turns ? ActuatorKind::motor : ActuatorKind::linear_motor;
  const ActuatorControl control = by_effort ? ActuatorControl::force : ActuatorControl::displacement;
  const bool bounded = turns && !by_effort;
  motor.range = table.interval("range", bounded ? Interval{-widest_angle, widest_angle} : Interval{},
                               command_dimension(kind, control));
  if (bounded) motor.range = angle_range(table, "range", motor.range);
  motor.rate = table.quantity("rate", unlimited, rate_dimension(kind, control));
  const std::string_view effort = turns ? "torque" : "force";
  refuse(table, turns ? "the motor of a hinge" : "the motor of a slider", "type", {turns ? "force" : "torque"});
  if (by_effort) refuse(table, fmt::format("a motor that is told its {}", effort), "control", {effort});
  motor.effort = table.interval(effort, motor.effort, multiplier_dimension(kind));
  if (motor.control != MotorControl::servo) {
    refuse(table, "a motor that is no servo", "control", {"stiffness"});
  } else {
    const Dimension per = turns ? Dimension::turn_stiffness : Dimension::stiffness;
    if (!table.has("stiffness"))
      table.fail("stiffness", fmt::format("the servo of '{}' has no stiffness", link.name),
                 turns ? "stiffness = \"0.5 N m/rad\"" : "stiffness = \"500 N/m\"");
    motor.stiffness = table.quantity("stiffness", 0, per);
  }
  return motor;
}

// What a hinge or a slider has along its coordinate.
void read_coordinate(const TableReader& table, LinkScene* link) {
  const bool turns = link->kind == LinkKind::hinge;
  if (!table.has("axis"))
    table.fail("axis", fmt::format("'{}' has no axis (it is a {})", link->name, link_word(link->kind)),
               "axis = [0, 0, 1]");
  link->axis = unit_vector(table, "axis", table.vector("axis", {}));
  link->range = table.interval("range", link->range, turns ? Dimension::angle : Dimension::length);
  if (turns) {
    link->range = angle_range(table, "range", link->range);
    if ((link->range.lower == -unlimited) != (link->range.upper == unlimited))
      table.fail("range", fmt::format("the hinge '{}' has a limit at one end (its angle jumps at 180 deg)", link->name),
                 "limits at both ends: [\"-90 deg\", \"170 deg\"]");
  }
  link->stiffness = table.quantity("stiffness", 0, turns ? Dimension::turn_stiffness : Dimension::stiffness);
  if (!table.has("stiffness")) refuse(table, "a joint without a spring", "stiffness", {"rest"});
  link->rest = table.quantity("rest", 0, turns ? Dimension::angle : Dimension::length);
  link->damping = table.quantity("damping", 0, turns ? Dimension::turn_damping : Dimension::damping);
  if (table.has("motor")) link->motor = read_motor(table.table("motor"), *link);
}

}  // namespace

std::string_view link_word(LinkKind kind) {
  return choice_words("[[link]]", "type")[static_cast<std::size_t>(kind)];
}

LinkScene read_link(const TableReader& table) {
  LinkScene link;
  link.place = table.place();
  link.name = table.identifier("name");
  link.kind = table.choice("type", link.kind);
  link.from = table.text("from");
  link.to = table.text("to");
  const std::string what = fmt::format("a {}", link_word(link.kind));
  if (link.joins()) refuse(table, what, "type", {"length"});
  if (!link.moves()) refuse(table, what, "type", {"axis", "range", "rest", "damping", "motor"});
  if (link.moves() || link.kind == LinkKind::weld) refuse(table, what, "type", {"compliance", "damping_time"});
  if (link.kind == LinkKind::weld) refuse(table, what, "type", {"stiffness"});
  if (link.moves()) {
    read_coordinate(table, &link);
    return link;
  }
  link.length = table.optional_quantity("length");
  if (table.has("compliance") && table.has("stiffness"))
    table.fail("stiffness", fmt::format("link '{}' has both a compliance and a stiffness", link.name), "one of them");
  link.compliance = table.has("stiffness") ? 1 / table.quantity("stiffness", 1) : table.quantity("compliance", 0);
  link.damping_time = table.quantity("damping_time", 0);
  if (link.compliance > 0 && link.kind != LinkKind::limit) link.form = ConstraintForm::force;
  return link;
}

BodyEffectorScene read_body_effector(const TableReader& table) {
  BodyEffectorScene of;
  EffectorScene& effector = of.effector;
  effector.place = table.place();
  effector.name = table.identifier("name");
  effector.kind = table.choice("type", effector.kind);
  of.at = table.text("at");
  if (of.at.empty()) table.fail("at", fmt::format("effector '{}' has no place", effector.name), "at = \"palm:hook\"");
  effector.directions = read_directions(table, effector.directions);
  if (effector.kind == EffectorKind::position) refuse(table, "a position", "type", {"lever"});
  effector.lever = table.quantity("lever", effector.lever);
  effector.weight = table.quantity("weight", effector.weight);
  effector.exact = table.boolean("exact", effector.exact);
  return of;
}

}  // namespace supple

#include "engine/cli/reports/assembly_facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cli/reports/robot_facts.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/collision/surface_gaps.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/model/collision_points.hpp"

namespace supple::cli {

namespace {

std::string touching_text(const Assembly& assembly) {
  std::vector<std::string> names;
  for (const Assembly::BodySurface& body : assembly.surfaces) names.push_back(body.name);
  return fmt::format("{}, kept {} apart", fmt::join(names, ", "),
                     format_quantity(assembly.contact_distance, Dimension::length));
}

std::string link_details(const LinkScene& link) {
  std::string text = link.compliance > 0 ? ", a spring" : "";
  const bool turns = link.kind == LinkKind::hinge;
  if (link.range.lower > -unlimited || link.range.upper < unlimited)
    text +=
        fmt::format(", from {} to {}", format_quantity(link.range.lower, turns ? Dimension::angle : Dimension::length),
                    format_quantity(link.range.upper, turns ? Dimension::angle : Dimension::length));
  if (link.stiffness > 0)
    text += ", spring of " + format_quantity(link.stiffness, turns ? Dimension::turn_stiffness : Dimension::stiffness);
  if (link.damping > 0)
    text += ", damper of " + format_quantity(link.damping, turns ? Dimension::turn_damping : Dimension::damping);
  if (link.motor) text += ", with a motor";
  return text;
}

}  // namespace

std::vector<std::string> notes_on_bodies(const AssemblyRobot& robot) {
  std::vector<std::string> notes;
  const AssemblyMechanics& mechanics = robot.mechanics();
  const Robot& whole = mechanics.robot();
  if (whole.surfaces) {
    std::vector<double> x;
    for (int v = 0; v < whole.surfaces->vertices(); ++v) {
      const Vec3d& at = whole.rest_points[static_cast<std::size_t>(whole.first_surface_point + v)];
      x.insert(x.end(), at.v, at.v + 3);
    }
    for (const SurfaceGap& gap : overlaps(*whole.surfaces, x))
      notes.push_back(fmt::format(
          "'{}' and '{}' overlap at rest by {} near {}: contact moves them apart only where they "
          "are less than {} inside each other",
          whole.surface_names[static_cast<std::size_t>(gap.first)],
          whole.surface_names[static_cast<std::size_t>(gap.second)], format_quantity(-gap.gap, Dimension::length),
          format_point(gap.point), format_quantity(whole.contact_distance, Dimension::length)));
  }
  const Assembly& assembly = mechanics.assembly();
  if (norm(assembly.gravity) == 0 || !whole.constraints.empty() || !whole.springs.empty() || whole.touches())
    return notes;
  for (const Assembly::Frame& frame : assembly.frames)
    if (frame.hold == Assembly::Hold::free)
      notes.push_back(fmt::format("nothing holds '{}', and there is nothing that it could fall on", frame.name));
  return notes;
}

Facts assembly_facts(const AssemblyRobot& robot, const std::vector<std::string>& notes) {
  const AssemblyScene& scene = robot.scene();
  const Robot& whole = robot.mechanics().robot();
  Facts facts{{"robot", scene.name}, {"coordinates", fmt::format("{}", robot.mechanics().coordinates().nv)}};
  for (const RigidScene& rigid : scene.rigids)
    facts.emplace_back("rigid",
                       fmt::format("{}: {}{}{}", rigid.name, rigid.hold(), rigid.on.empty() ? "" : ", on " + rigid.on,
                                   rigid.mass ? ", " + format_quantity(*rigid.mass, Dimension::mass) : ""));
  const std::vector<std::string> texts = robot.part_texts();
  for (std::size_t k = 0; k < scene.parts.size(); ++k)
    facts.emplace_back("part", fmt::format("{}: {}{}", scene.parts[k].name, texts[k],
                                           scene.parts[k].on.empty() ? "" : ", on " + scene.parts[k].on));
  for (const LinkScene& link : scene.links)
    facts.emplace_back("link", fmt::format("{}: {} of {} and {}{}", link.name, link_word(link.kind), link.from, link.to,
                                           link_details(link)));
  for (const Input& input : inputs_of(whole))
    facts.emplace_back("input", input.dimension == Dimension::angle ? input.name + ", an angle" : input.name);
  for (const NamedPoint& point : whole.reported_points())
    facts.emplace_back("output", fmt::format("{} at {}", point.name,
                                             format_point(whole.rest_points[static_cast<std::size_t>(point.point)])));
  for (const Sensor& sensor : whole.sensors)
    facts.emplace_back("sensor", fmt::format("{}", fmt::join(sensor_cells(whole, sensor), "  ")));
  if (!robot.mechanics().assembly().surfaces.empty())
    facts.emplace_back("contact between", touching_text(robot.mechanics().assembly()));
  for (const PlacedObstacle& obstacle : whole.obstacles)
    facts.emplace_back("obstacle", fmt::format("{}", fmt::join(obstacle_cells(obstacle), "  ")));
  if (!whole.obstacles.empty()) facts.emplace_back("contact", contact_text(whole));
  for (const std::string& note : notes_on_contact(whole)) facts.emplace_back("note", note);
  for (const std::string& note : notes) facts.emplace_back("note", note);
  facts.emplace_back("time step", step_text(whole, scene.time_step, scene.integrator));
  return facts;
}

nlohmann::ordered_json assembly_json(const AssemblyRobot& robot, const std::vector<std::string>& notes) {
  const AssemblyScene& scene = robot.scene();
  nlohmann::ordered_json json{{"name", scene.name}, {"coordinates", robot.mechanics().coordinates().nv}};
  for (const RigidScene& rigid : scene.rigids)
    json["rigids"].push_back({{"name", rigid.name}, {"kind", rigid.hold()}, {"on", rigid.on}});
  for (const PartScene& part : scene.parts) json["parts"].push_back({{"name", part.name}, {"on", part.on}});
  for (const LinkScene& link : scene.links) json["links"].push_back(link.name);
  for (const Input& input : inputs_of(robot.mechanics().robot())) json["inputs"].push_back(input.name);
  for (const NamedPoint& point : robot.mechanics().robot().reported_points()) json["outputs"].push_back(point.name);
  for (const Sensor& sensor : robot.mechanics().robot().sensors)
    json["sensors"].push_back(sensor_json(robot.mechanics().robot(), sensor));
  for (const Assembly::BodySurface& body : robot.mechanics().assembly().surfaces) json["touching"].push_back(body.name);
  for (const PlacedObstacle& obstacle : robot.mechanics().robot().obstacles)
    json["obstacles"].push_back(obstacle_json(obstacle));
  for (const std::string& note : notes) json["notes"].push_back(note);
  return json;
}

}  // namespace supple::cli

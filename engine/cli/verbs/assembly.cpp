#include "engine/cli/verbs/assembly.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/robot_facts.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/collision/surface_gaps.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/mesh/write.hpp"
#include "engine/model/collision_points.hpp"
#include "engine/run/actuation.hpp"
#include "engine/step/equilibrium.hpp"

namespace supple::cli {

namespace {

WriteShape shape_writer(const AssemblyRobot& robot) {
  const State rest = rest_state(robot.mechanics());
  return [&robot, start = robot.surface(rest.q, rest.motions).nodes](const std::string& path, const State& state) {
    const Surface now = robot.surface(state.q, state.motions);
    std::vector<double> u;
    for (std::size_t i = 0; i < now.nodes.size(); ++i)
      for (int k = 0; k < 3; ++k) u.push_back(now.nodes[i][k] - start[i][k]);
    write_vtu(path, now, {{"displacement", VtuField::On::nodes, 3, std::move(u)}});
  };
}

std::string touching_text(const Assembly& assembly) {
  std::vector<std::string> names;
  for (const Assembly::BodySurface& body : assembly.surfaces) names.push_back(body.name);
  return fmt::format("{}, kept {} apart", fmt::join(names, ", "),
                     format_quantity(assembly.contact_distance, Dimension::length));
}

// Bodies that intersect at rest, and frames that fall without anything to fall on.
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
  for (const Assembly::BodySurface& body : robot.mechanics().assembly().surfaces) json["touching"].push_back(body.name);
  for (const PlacedObstacle& obstacle : robot.mechanics().robot().obstacles)
    json["obstacles"].push_back(obstacle_json(obstacle));
  for (const std::string& note : notes) json["notes"].push_back(note);
  return json;
}

bool free_among_obstacles(const AssemblyRobot& robot) {
  return robot.moves_freely() && robot.mechanics().robot().touches();
}

// Looks for the equilibrium under gravity with all commands at zero. A body that moves freely and that no spring holds
// has none, and is simulated in time all the same. Throws InputError if none is found where there must be one.
std::string try_equilibrium(AssemblyRobot& robot, nlohmann::ordered_json& json) {
  json = {{"status", "not looked for"}};
  if (!robot.exact_tangent()) return "not looked for: rotations from element edges have no exact tangent";
  if (free_among_obstacles(robot))
    return "not computed: how bodies that move freely come to lie on obstacles or each other depends on the way there";
  State state = rest_state(robot.mechanics());
  const EquilibriumReport report = Equilibrium(robot.mechanics(), {}).solve(zero_control(robot.mechanics()), state);
  json = {{"status", describe(report.status)},
          {"iterations", report.iterations},
          {"residual", report.residual},
          {"negative_pivots", report.negative_pivots}};
  if (report.status == StepStatus::ok) {
    std::string text = fmt::format("found in {} iterations, residual {:.1e}", report.iterations, report.residual);
    if (report.negative_pivots > 0)
      text += robot.mechanics().robot().constraints.empty()
                  ? "\nit is unstable: the robot would turn or buckle away from it"
                  : "\nwithout its hard links it would be unstable: the robot would turn or buckle away from it";
    return text;
  }
  const bool flat = !robot.moves_freely();
  const bool loose = report.status == StepStatus::singular || report.status == StepStatus::unbalanced;
  if (flat || !loose || robot.scene().integrator == Integrator::quasi_static)
    throw InputError(fmt::format("no equilibrium under gravity with all commands at zero: {}", describe(report.status)),
                     flat || !loose ? "check each part alone: supple check PART"
                                    : "springs that hold every body that moves freely, or another integrator",
                     {robot.scene().file, 0, 0, ""});
  return fmt::format(
      "none found: {}\nquasi-static and --settle need one: springs that hold every body that moves freely",
      describe(report.status));
}

}  // namespace

int simulate_assembly(Context& context, const SessionArguments& arguments, SessionPlan& plan) {
  if (arguments.keep_tangent)
    throw InputError("robots of several bodies do not keep tangents yet", "without --keep-tangent");
  AssemblyScene scene = read_assembly(plan.model);
  if (plan.integrator) scene.integrator = integrator_of(*plan.integrator);
  if (plan.time_step) scene.time_step = *plan.time_step;
  AssemblyRobot robot(scene);
  if (!robot.exact_tangent() && (arguments.settle || scene.integrator != Integrator::implicit_euler))
    throw InputError("this needs the exact tangent, which rotations from element edges do not have",
                     "rotation = \"polar\" in the materials of the parts");
  if (!context.common.quiet)
    for (const std::string& note : notes_on_bodies(robot)) print_warning(note);
  if (arguments.settle && free_among_obstacles(robot))
    throw InputError(
        "equilibria of bodies that move freely are not computed in contact with obstacles yet, nor with "
        "each other",
        "without --settle they come to rest in time; or collision = \"none\" of parts and rigid bodies");
  const MechanicsTeam team(robot.mechanics());
  Subject subject{team,           "simulate",          scene.name, scene.file, robot.fingerprint(),
                  scene.duration, shape_writer(robot), {}};
  subject.skin = [&robot](const State& state) { return robot.skin(state.q, state.motions); };
  DriveSettings settings;
  settings.integrator = scene.integrator;
  settings.time_step = scene.time_step;
  if (arguments.stream) return converse(arguments, plan, subject, settings);
  const SessionResult result = perform(context, arguments, plan, subject, settings);
  nlohmann::ordered_json json = session_json(context, subject, result);
  json["scene"] = scene.file;
  write_json(context, json);
  if (!context.common.quiet) print_session(plan, subject, result);
  return 0;
}

int check_assembly(Context& context, const std::string& file) {
  AssemblyRobot robot(read_assembly(file));
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  const std::vector<std::string> notes = notes_on_bodies(robot);
  json["scene"] = assembly_json(robot, notes);
  if (!context.common.quiet) print_facts(assembly_facts(robot, notes));
  const std::string text = try_equilibrium(robot, json["equilibrium"]);
  if (!context.common.quiet) {
    print_facts({{"equilibrium", text}});
    fmt::print("{} is fit to be simulated.\n", file);
  }
  write_json(context, json);
  return 0;
}

void info_of_assembly(const std::string& file, nlohmann::ordered_json& json, bool quiet) {
  const AssemblyRobot robot(read_assembly(file));
  const std::vector<std::string> notes = notes_on_bodies(robot);
  json["scene"] = assembly_json(robot, notes);
  if (!quiet) print_facts(assembly_facts(robot, notes));
}

}  // namespace supple::cli

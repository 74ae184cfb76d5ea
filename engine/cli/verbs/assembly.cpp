#include "engine/cli/verbs/assembly.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cli/reports/assembly_facts.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/mesh/write.hpp"
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
  refuse_changes(arguments.changes, plan.model);
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
  if (arguments.stream) return converse(context, arguments, plan, subject, settings);
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
